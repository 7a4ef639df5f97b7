//! Emulated volumes as a user meets them: the real binary, served and asked.
#![allow(clippy::print_stderr, reason = "a test that is skipped says why")]

mod commands;
mod data;
mod home;
mod serve;
