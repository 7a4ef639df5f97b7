//! Tests of the crate, as one program.

mod account;
mod awr;
mod core;
mod diskstats;
mod packed;
mod series;
