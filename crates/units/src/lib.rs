//! Quantities, times and operations: the vocabulary of all other crates.
//!
//! `no_std` and without allocation, so that clocks, files and threads are not accessible.
#![deny(missing_docs)]
#![no_std]

mod moment;
mod op;
mod parse;
mod rate;
mod seed;
mod size;

pub use moment::{Instant, Span};
pub use op::{Kind, Op, Slot};
pub use parse::{Malformed, Quantity};
pub use rate::{Grouped, Iops, Throughput};
pub use seed::splitmix64;
pub use size::Bytes;
