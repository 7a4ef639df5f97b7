//! Tests of the crate, as one program.

mod core;
mod packed;
