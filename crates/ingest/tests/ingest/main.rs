//! Tests of the crate, as one program.

mod awr;
mod core;
mod packed;
