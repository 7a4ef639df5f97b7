//! Tests of the crate, as one program.

mod account;
mod awr;
mod clouds;
mod bench;
mod bench_real;
mod core;
mod diskstats;
mod miner;
mod packed;
mod prometheus;
mod series;
