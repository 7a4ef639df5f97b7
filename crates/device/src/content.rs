//! What writes write, and what reads must have read.
//!
//! Knows nothing about engines: it is asked for the bytes of a write before it is handed over, and told how each
//! operation ended.

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

use plimsoll_load::Outcome;
use plimsoll_units::Op;

pub use checked::{BadInterval, Blank, Checked, Checking};
pub use mismatch::{Mismatch, Mismatches, What};
pub use pattern::{Compare, Pattern, Restart};
pub use refilled::Refilled;
pub(crate) use scribe::Scribe;
pub use state::BadState;

/// Makes what is written and checks what was read. One may serve several loops at once.
pub trait Content: Send + Sync + fmt::Debug {
    /// Fills the buffer of the write `op`, which is handed over next. `number` counts the writes of one engine or worker
    /// from its seed on, so that each of them can be different. `bytes` has the operation's length, and still holds what the
    /// buffer's last operation left there. Returns a ticket that [`Content::ended`] is given.
    fn fill(&self, op: &Op, number: u64, bytes: &mut [u8]) -> u64;

    /// True when [`Content::asked`] and [`Content::ended`] have to be called. Asked once, when an engine is made.
    fn checks(&self) -> bool {
        false
    }

    /// The read `op` is handed over next. Returns a ticket that [`Content::ended`] is given.
    fn asked(&self, _op: &Op) -> u64 {
        0
    }

    /// A read or a write ended with `outcome`; `bytes` is what was read, and empty for a write. Returns the outcome that is
    /// counted: `EILSEQ` for a read that brought what it should not have.
    fn ended(&self, _op: &Op, _ticket: u64, _bytes: &[u8], outcome: Outcome) -> Outcome {
        outcome
    }
}

/// What an engine's writes write.
#[derive(Clone, Debug)]
pub enum Contents {
    /// Random data, filled in once: each write only gets new marks, so that no two pages are equal. The cheapest that
    /// neither compresses nor deduplicates by more than it was told.
    Stamped {
        /// Share of the data that compresses away, 0 to 1.
        compressible: f64,
    },
    /// Zeroes, never touched.
    Zeroes,
    /// What is made for each operation, and checked where it says so.
    Made(Arc<dyn Content>),
}
