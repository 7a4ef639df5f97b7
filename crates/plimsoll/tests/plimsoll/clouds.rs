//! Control planes of clouds with the real clients: the oci CLI and the aws CLI.

mod aws_cli;
mod commands;
pub mod oci;
mod oci_cli;
