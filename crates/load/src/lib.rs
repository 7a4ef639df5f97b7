//! Loads: the operations requested of storage, their addresses and times.
//!
//! Independent of the target, and without a clock: the driving loop passes the time. `no_std`: a seed gives the same
//! operations on every machine.
#![deny(missing_docs)]
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
pub use job::{
    CountedOps, FlushOrder, Job, JobSpec, LaneSpec, RateUnit, RateWait, Sizes, ThinkPause, Turns, Until, WorkerOps,
};
pub use mix::{BlockMix, Mix};
pub use place::{Pattern, Region};
pub use replay::{Recorded, Replay, Tempo};
pub use rounds::{Repeat, Rounds};
pub use stream::{Pacer, Stream, StreamPhase, StreamSpec, Streams, Together};

use plimsoll_units::{Instant, Kind, Op};

/// Due time of the next operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// At this time, regardless of operations in flight: an open load. The time may have passed.
    At(Instant),
    /// When a slot is free: a closed load below its depth.
    Now,
    /// After a completion: a closed load at its depth.
    Blocked,
    /// Never again.
    Over,
}

/// Result of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpOutcome {
    /// All of its bytes were transferred.
    Done,
    /// Failed with this `errno`; a short transfer is `EIO`.
    Failed(i32),
}

/// A generator of operations for a target.
///
/// The loop calls [`Load::due`], then [`Load::take`] when that time has come, and [`Load::completed`] once for each
/// operation. Time never decreases between calls.
pub trait Load {
    /// Due time of the next operation. Has no side effects.
    fn due(&self) -> Due;

    /// Returns the due operation. Requires [`Due::Now`], or [`Due::At`] a time up to `now`.
    fn take(&mut self, now: Instant) -> Op;

    /// The kind of operation that the load waits for, if it takes no other completion before.
    fn awaited(&self) -> Option<Kind> {
        None
    }

    /// Registers the completion of an operation.
    fn completed(&mut self, now: Instant, op: &Op, outcome: OpOutcome);
}
