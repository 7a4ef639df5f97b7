//! Tests of the crate, as one program.

mod account;
mod atop;
mod anonymize;
mod awr;
mod bench;
mod bench_real;
mod clouds;
mod core;
mod diskstats;
mod hosts;
mod miner;
mod nmon;
mod emit;
mod fuzz;
mod packed;
mod prometheus;
mod series;
mod table_series;
mod samples;
