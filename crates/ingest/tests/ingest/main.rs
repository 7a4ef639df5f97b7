//! Tests of the crate, as one program.

mod account;
mod awr;
mod bench;
mod bench_real;
mod clouds;
mod core;
mod diskstats;
mod hosts;
mod miner;
mod packed;
mod prometheus;
mod series;
