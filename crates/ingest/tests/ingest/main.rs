//! Tests of the crate, as one program.

mod account;
mod anonymize;
mod atop;
mod awr;
mod bench;
mod bench_real;
mod clouds;
mod core;
mod database_samples;
mod diskstats;
mod emit;
mod fuzz;
mod hosts;
mod miner;
mod mysql;
mod nmon;
mod packed;
mod postgres;
mod prometheus;
mod read;
mod samples;
mod series;
mod snapshots;
mod table_series;
mod trace_samples;
mod traces;
