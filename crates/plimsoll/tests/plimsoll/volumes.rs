//! Emulated volumes: the real binary as service and client.

mod attach;
mod commands;
mod data;
mod guest;
mod iscsi;
mod limits;
mod record;
mod serve;
