//! Emulated volumes: the real binary as service and client.
#![allow(clippy::print_stderr, clippy::unwrap_used, reason = "a test that is skipped says why")]

mod attach;
#[path = "../../../front/tests/front/certificates.rs"]
mod certificates;
mod commands;
mod data;
mod guest;
mod home;
mod iscsi;
#[path = "../clouds/oci.rs"]
mod oci;
mod record;
mod serve;
