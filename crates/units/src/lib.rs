//! Quantities, moments and one operation: the words that every other crate speaks in.
//!
//! Knows nothing about what is asked, what answers, or which clock runs. `no_std`, no allocation: a forbidden
//! clock, file or thread cannot even be named here.
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
pub use rate::{Iops, Throughput};
pub use seed::splitmix64;
pub use size::Bytes;
