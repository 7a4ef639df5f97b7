//! Tests of the public interface: hostile input, clients on sockets, and the conformance check.
#![allow(clippy::unwrap_used, clippy::print_stderr)] // a test's failure is a panic, and it says when it is skipped

mod certificates;
mod check;
mod corpus;
mod crash;
mod full;
mod fuse;
mod hostile;
mod initiator;
mod iscsi;
mod iscsi_crash;
mod iscsi_hostile;
mod killed;
mod long;
mod memory;
mod record;
mod serve;
mod serving;
mod tls;
#[path = "../../../volume/tests/volume/truth.rs"]
mod truth;
mod views;
mod volumes;
