//! Control planes of clouds with the real clients: the oci CLI, the aws CLI and Terraform.

mod aws_cli;
mod commands;
pub mod oci;
mod oci_cli;
mod terraform;
