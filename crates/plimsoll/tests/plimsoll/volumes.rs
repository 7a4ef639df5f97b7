//! Emulated volumes: the real binary as service and client.

mod attach;
mod commands;
mod data;
mod guest;
mod iscsi;
mod record;
mod serve;
