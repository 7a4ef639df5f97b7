//! Control planes of clouds with the real clients: the oci CLI and the aws CLI.
#![allow(clippy::print_stderr, clippy::unwrap_used, reason = "a test that is skipped says why")]

#[path = "../volumes/home.rs"]
#[allow(dead_code)]
mod home;

mod aws_cli;
mod commands;
mod oci;
mod oci_cli;
