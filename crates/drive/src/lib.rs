//! The loop that submits a load to a target, and the targets that need no hardware.
//!
//! Pure: no files, kernels or clocks. A [`Target`] owns its time line; the loop only reads it.
#![deny(missing_docs)]

mod binding;
mod emulated;
mod offer;
mod page_cache;
mod simulated;

pub use binding::BindingStages;
pub use emulated::Emulated;
pub use offer::{LoopResult, Observe, Onward, Rules, drive, drive_streams};
pub use page_cache::{CacheCounters, Cached, Elevator, PageCache, StreamSet};
pub use simulated::Simulated;

use plimsoll_load::OpOutcome;
use plimsoll_model::Stage;
use plimsoll_units::{Instant, Op, Slot};

/// A completed operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The slot that it was submitted with; free from now on.
    pub slot: Slot,
    /// Completion time: the model's, or the clock reading of the batch in which it was reaped.
    pub at: Instant,
    /// Success or failure.
    pub outcome: OpOutcome,
    /// The stage that delayed it most, if the target is a model.
    pub bound_by: Option<Stage>,
}

/// Failure of a whole target, which ends the run; errors of single operations are [`OpOutcome`]s.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
#[error("{attempt}")]
pub struct Fault {
    /// The operation and its object.
    pub attempt: String,
    /// The error of the operating system.
    #[source]
    pub source: std::io::Error,
}

/// A fault with the results up to it.
#[derive(Debug)]
pub struct PartialRun<T> {
    /// The cause of the end.
    pub fault: Fault,
    /// Results until the fault.
    pub until: T,
}

/// A result, or the fault that ended it early with the result until then.
pub type Partial<T> = Result<T, Box<PartialRun<T>>>;

impl<T> PartialRun<T> {
    /// The result of a run, whole or until its fault, and the fault.
    pub fn split(ended: Partial<T>) -> (T, Option<Fault>) {
        match ended {
            Ok(complete) => (complete, None),
            Err(partial) => (partial.until, Some(partial.fault)),
        }
    }

    /// The reverse of [`Self::split`].
    ///
    /// # Errors
    /// The fault, if any, with the result.
    pub fn join(until: T, fault: Option<Fault>) -> Partial<T> {
        match fault {
            None => Ok(until),
            Some(fault) => Err(Box::new(Self { fault, until })),
        }
    }
}

impl<T: Default> PartialRun<T> {
    /// A fault before any result.
    pub fn at_once(fault: Fault) -> Box<Self> {
        Box::new(Self { fault, until: T::default() })
    }
}

impl<T> From<Box<PartialRun<T>>> for Fault {
    fn from(torn: Box<PartialRun<T>>) -> Self {
        torn.fault
    }
}

/// Executes operations and owns their time line: a ring waits in the kernel, a simulator jumps to its next event.
pub trait Target {
    /// Reads the current time.
    fn now(&mut self) -> Instant;

    /// Starts operations. Each slot must be free: never submitted, or completed since.
    fn submit(&mut self, batch: &[(Slot, Op)]) -> Result<(), Fault>;

    /// Appends completions, after waiting for at least one of them or until `until`, whichever is first. Returns the
    /// time at which the wait ended: real targets read their clock once per batch.
    fn wait(&mut self, until: Instant, completions: &mut Vec<Completion>) -> Result<Instant, Fault>;
}
