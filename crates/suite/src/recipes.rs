//! The suites: one module for each classic benchmark.

pub mod crystaldiskmark;
pub mod dd;
pub mod walfsync;
