//! Loads: the operations that are requested of storage, their places and their times.
//!
//! Independent of the target, and without a clock: the loop that drives a load passes the time. `no_std`: the same seed gives
//! the same operations on every machine.
#![no_std]

extern crate alloc;

mod arrival;
mod job;
mod mix;
mod place;
mod replay;
mod rounds;
mod stream;

pub use arrival::{Arrival, Pace};
pub use job::{Job, JobSpec, LaneSpec, RateUnit, Sizes, Turns, Until, Work};
pub use mix::{Mix, Split};
pub use place::{Pattern, Region};
pub use replay::{Recorded, Replay, Tempo};
pub use rounds::{Repeat, Rounds};
pub use stream::{Pacer, Phase, Stream, StreamSpec, Streams, Together};

use plimsoll_units::{Instant, Op};

/// When a load wants to issue its next operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// At this moment, whatever is still in flight: an open load. The moment may have passed.
    At(Instant),
    /// As soon as a slot is free: a closed load below its depth.
    Now,
    /// Not before something completes: a closed load at its depth.
    Blocked,
    /// Never again.
    Over,
}

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All of its bytes were transferred.
    Done,
    /// It failed with this `errno` value; a transfer that fell short is `EIO`.
    Failed(i32),
}

/// What is asked of a target.
///
/// The loop calls [`Load::due`], then [`Load::take`] if that moment has come, and [`Load::completed`] once for each
/// operation taken. Time never goes back between calls.
pub trait Load {
    /// When the next operation is due. Changes nothing: asking twice gives the same answer.
    fn due(&self) -> Due;

    /// Hands out the operation that is due. Call it only after [`Due::Now`], or [`Due::At`] a moment not after `now`.
    fn take(&mut self, now: Instant) -> Op;

    /// Tells the load that an operation came back.
    fn completed(&mut self, now: Instant, op: &Op, outcome: Outcome);
}
