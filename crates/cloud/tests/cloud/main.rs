//! Control planes of clouds over a running service.
#![allow(clippy::print_stderr, clippy::unwrap_used, reason = "a test that is skipped says why")]

mod captured;
mod docker;
mod ec2;
mod fixture;
mod instance_metadata;
mod lifecycle;
mod restart;
mod safety;
