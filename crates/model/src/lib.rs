//! When a storage product would answer.
//!
//! A [`Model`] is a state machine that is told the time. It never sleeps, reads no clock and sees no byte, so that the
//! same model serves a simulation in virtual time and an emulated volume in real time. `no_std`: the same calls give
//! the same answers on every machine.
#![no_std]

extern crate alloc;

mod agenda;
pub mod analytic;
mod array;
mod bank;
mod buffer;
mod cache;
mod chain;
mod cold;
mod curve;
mod difference;
mod disk;
mod limit;
mod link;
mod notation;
mod prefetch;
mod pressure;
mod program;
mod show;
mod spec;
mod stall;
mod station;
mod valid;
mod variate;
mod window;
mod write_back;

pub use chain::Chain;
pub use notation::{NotationError, parse};
pub use spec::{ChainSpec, Demand, DiskSpec, Duplex, Flushing, Invalid, Layout, Named, Rate, Service, StageSpec};

use alloc::vec::Vec;

use plimsoll_units::{Instant, Op, Slot};

/// Which stage of a model, counted from the side where operations enter, those inside of a stage after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stage(pub u8);

/// When an operation comes back, and what held it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The slot that it was submitted with.
    pub slot: Slot,
    /// The moment of the answer.
    pub at: Instant,
    /// The stage that held it longest: the limit that binds.
    pub bound_by: Stage,
}

/// Something about a product that can be changed while it serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A limit stage gets another rate.
    Rate {
        /// The stage.
        stage: Stage,
        /// Its rate from now on.
        rate: Rate,
    },
}

/// A change that the model cannot make; nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// There is no such stage.
    NoSuchStage(Stage),
    /// The stage has no rate of that unit.
    NoSuchRate(Stage),
}

impl core::fmt::Display for Refused {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NoSuchStage(Stage(n)) => write!(f, "there is no stage {n}"),
            Self::NoSuchRate(Stage(n)) => write!(f, "stage {n} has no rate of that unit"),
        }
    }
}

impl core::error::Error for Refused {}

/// When a storage product answers each operation.
///
/// Time never goes back between calls. The laws that every model obeys are in `tests/laws.rs`; the most important:
/// being drained late, early or needlessly changes no answer.
pub trait Model {
    /// Takes an operation in at `now`. The slot must be free: not submitted, or drained since.
    fn submit(&mut self, now: Instant, slot: Slot, op: &Op);

    /// The moment at which something happens next, so that draining before it is useless; `None` when nothing will.
    fn wake_at(&self) -> Option<Instant>;

    /// Appends all answers up to `now`, in order of time.
    fn drain(&mut self, now: Instant, answers: &mut Vec<Answer>);

    /// Changes the product from `now` on; operations in flight are answered all the same.
    fn change(&mut self, now: Instant, change: &Change) -> Result<(), Refused>;
}
