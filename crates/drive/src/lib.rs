//! The one loop that offers a load to a target, and the targets that need no hardware.
//!
//! Knows nothing about files, kernels or clocks: a [`Target`] owns its time line, and the loop asks it. Pure.

mod emulated;
mod offer;
mod page_cache;
mod simulated;

pub use emulated::Emulated;
pub use offer::{Observe, Onward, Rules, Seen, drive};
pub use page_cache::{CacheSeen, Cached, Elevator, PageCache, Streams};
pub use simulated::Simulated;

use plimsoll_load::Outcome;
use plimsoll_model::Stage;
use plimsoll_units::{Instant, Op, Slot};

/// An operation came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The slot that it was submitted with; free from here on.
    pub slot: Slot,
    /// When: the model's moment, or the clock reading of the batch that it was reaped in.
    pub at: Instant,
    /// How it ended.
    pub outcome: Outcome,
    /// What held it, where a model knows.
    pub bound_by: Option<Stage>,
}

/// A target failed as a whole: not an operation's error, but the end of the run.
#[derive(Debug, thiserror::Error)]
#[error("{attempt}")]
pub struct Fault {
    /// What was attempted, on what.
    pub attempt: String,
    /// What the system said.
    #[source]
    pub source: std::io::Error,
}

/// A fault, and what was seen until it came.
#[derive(Debug)]
pub struct Torn<T> {
    /// What ended the run.
    pub fault: Fault,
    /// The run until then.
    pub until: T,
}

impl<T> From<Box<Torn<T>>> for Fault {
    fn from(torn: Box<Torn<T>>) -> Self {
        torn.fault
    }
}

/// What answers operations. It owns its time line: a ring waits in the kernel, a simulator jumps.
pub trait Target {
    /// The present moment, freshly read.
    fn now(&mut self) -> Instant;

    /// Starts operations. Each slot is free: never submitted, or completed since.
    fn submit(&mut self, batch: &[(Slot, Op)]) -> Result<(), Fault>;

    /// Appends what completed, waiting for at least one completion or until `until`, whichever is first. Returns the
    /// moment at which the waiting ended: real targets read their clock once for the whole batch.
    fn wait(&mut self, until: Instant, completions: &mut Vec<Completion>) -> Result<Instant, Fault>;
}
