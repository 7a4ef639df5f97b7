//! Tests of the crate, as one program.

mod account;
mod awr;
mod clouds;
mod core;
mod diskstats;
mod packed;
mod prometheus;
mod series;
