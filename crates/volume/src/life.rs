//! What becomes of a volume while it lives: its level follows its load, and time costs money.
//!
//! State machines that are told the time and return changes of a model; nothing here serves a request.

mod autotune;
mod detached;
mod ladder;
mod meter;

pub use autotune::{Autotune, Policy, Seen};
pub use detached::Detached;
pub use ladder::{Ladder, LadderError, Rung};
pub use meter::{Meter, Metered, Millionths, Prices};
