//! Suites on databases: the real binary with temporary servers.
#![allow(clippy::print_stderr, clippy::unwrap_used, reason = "a test that is skipped says why")]

mod data;
mod place;
mod stage;
