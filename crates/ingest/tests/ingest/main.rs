//! Tests of the crate, as one program.

mod account;
mod arrays;
mod atop;
mod awr;
mod bench;
mod bench_real;
mod clouds;
mod core;
mod curves;
mod database_samples;
mod diskstats;
mod emit;
mod fio;
mod fio_samples;
mod fuzz;
mod host_tools;
mod hosts;
mod miner;
mod mysql;
mod nmon;
mod packed;
mod partial_awr;
mod postgres;
mod prometheus;
mod read;
mod round_trip;
mod samples;

mod series;
mod services;
mod snapshots;
mod table_series;
mod trace_samples;
mod traces;
mod windows;
mod zones;
