//! fio's job language and what it prints: jobs in, text out.
//!
//! Runs nothing, opens nothing and reads no clock: files, environment and the facts of a machine come in as arguments.

pub mod print;
