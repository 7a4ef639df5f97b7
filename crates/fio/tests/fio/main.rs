//! Tests of fio's language and output, as one program.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a failed test panics, a skipped test prints its reason")]

mod language;
mod print;
