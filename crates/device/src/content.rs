//! The data of writes, and verification of reads.
//!
//! Independent of engines: these request the data of each write before they submit it, and report each completion.

mod block;
mod checked;
mod generations;
mod judge;
mod mismatch;
mod pattern;
mod refilled;
mod scribe;
mod state;

use std::fmt;
use std::sync::Arc;

use plimsoll_load::OpOutcome;
use plimsoll_units::Op;

pub use checked::{BadInterval, Blank, Checked, Checking};
pub use mismatch::{Mismatch, MismatchKind, Mismatches};
pub use pattern::{Compare, Pattern, Restart};
pub use refilled::Refilled;
pub(crate) use scribe::Scribe;
pub use state::BadState;

/// Generates data for writes and verifies data of reads. An instance may serve several loops at once.
pub trait Content: Send + Sync + fmt::Debug {
    /// Fills the buffer of the write `op` before it is submitted. `number` counts the writes of an engine or worker,
    /// starting at its seed. `bytes` has the length of the operation and still holds the data of the buffer's previous
    /// operation. Returns a ticket for [`Content::complete`].
    fn fill(&self, op: &Op, number: u64, bytes: &mut [u8]) -> u64;

    /// True if [`Content::begin_read`] and [`Content::complete`] must be called. Queried once, when an engine is
    /// created.
    fn checks(&self) -> bool {
        false
    }

    /// Registers the read `op` before it is submitted. Returns a ticket for [`Content::complete`].
    fn begin_read(&self, _op: &Op) -> u64 {
        0
    }

    /// Registers the completion of a read or write with `outcome`; `bytes` are the data of a read, empty for a write.
    /// Returns the outcome to count: `EILSEQ` for a mismatch.
    fn complete(&self, _op: &Op, _ticket: u64, _bytes: &[u8], outcome: OpOutcome) -> OpOutcome {
        outcome
    }
}

/// Data of an engine's writes.
#[derive(Clone, Debug)]
pub enum Contents {
    /// Random data, generated once; each write only receives new marks, so that no two pages are equal. The cheapest
    /// content that compresses exactly as configured and does not deduplicate.
    Stamped {
        /// Share of the data that compresses away, 0 to 1.
        compressible: f64,
    },
    /// Zeros, never modified.
    Zeroes,
    /// Generated for each operation, and verified if the content supports it.
    Generated(Arc<dyn Content>),
}
