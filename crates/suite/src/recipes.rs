//! The classic benchmarks, each a recipe of its own.

pub mod crystaldiskmark;
