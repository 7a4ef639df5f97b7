//! Emulated volumes as a user meets them: the real binary, served and asked.
#![allow(clippy::print_stderr, clippy::unwrap_used, reason = "a test that is skipped says why")]

mod attach;
#[path = "../../../front/tests/front/certificates.rs"]
mod certificates;
mod commands;
mod data;
mod home;
mod record;
mod serve;
