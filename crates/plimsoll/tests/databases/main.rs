//! Suites on databases as a user meets them: the real binary, and servers that it makes itself.
#![allow(clippy::print_stderr, clippy::unwrap_used, reason = "a test that is skipped says why")]

mod data;
mod place;
mod stage;
