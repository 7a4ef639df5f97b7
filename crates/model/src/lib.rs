//! Timing models of storage products.
//!
//! A [`Model`] is a state machine that takes the time as an argument. It never sleeps, reads no clock and sees no data,
//! so the same model serves a simulation in virtual time and an emulated volume in real time. `no_std`: the same calls
//! give the same answers on every machine.
#![deny(missing_docs)]
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
pub use valid::LimitChange;

use alloc::vec::Vec;

use plimsoll_units::{Instant, Op, Slot};

/// Index of a stage of a model, in the order in which operations pass; nested stages follow their parent. Behind all stages
/// follow the paths of those that have several ([`ChainSpec::names`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stage(pub u8);

/// Completion time of an operation, and the stage that bound it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelAnswer {
    /// The slot that it was submitted with.
    pub slot: Slot,
    /// The time of the answer.
    pub at: Instant,
    /// The stage that held it longest: the limit that binds. Of an operation that was submitted on a path, the path of
    /// that stage.
    pub bound_by: Stage,
}

/// A change of a product's parameters during operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Sets the rate of a limit stage.
    Rate {
        /// The stage.
        stage: Stage,
        /// Its new rate.
        rate: Rate,
    },
}

/// A change that the model cannot make; the model is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeError {
    /// The stage does not exist.
    NoSuchStage(Stage),
    /// The stage has no rate of that unit.
    NoSuchRate(Stage),
}

impl core::fmt::Display for ChangeError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NoSuchStage(Stage(n)) => write!(f, "there is no stage {n}"),
            Self::NoSuchRate(Stage(n)) => write!(f, "stage {n} has no rate of that unit"),
        }
    }
}

impl core::error::Error for ChangeError {}

/// The timing of a storage product.
///
/// Time never goes back between calls. `tests/laws.rs` has the laws that every model obeys; the most important is that
/// late, early or needless draining changes no answer.
pub trait Model {
    /// Accepts an operation at `now`. The slot must be free: not submitted, or drained since.
    fn submit(&mut self, now: Instant, slot: Slot, op: &Op);

    /// Time of the next event, before which draining has no effect; `None` without a pending event.
    fn wake_at(&self) -> Option<Instant>;

    /// Appends all answers up to `now`, in order of time.
    fn drain(&mut self, now: Instant, answers: &mut Vec<ModelAnswer>);

    /// Changes the product from `now` on; operations in flight are still answered.
    fn change(&mut self, now: Instant, change: &Change) -> Result<(), ChangeError>;
}
