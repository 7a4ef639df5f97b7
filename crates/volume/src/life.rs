//! What becomes of a volume while it lives: its level follows its load, and rests when nobody uses it.
//!
//! State machines that are told the time and return levels; nothing here serves a request.

mod autotune;
mod detached;
mod ladder;

pub use autotune::{Autotune, Policy, Seen};
pub use detached::Detached;
pub use ladder::{Ladder, LadderError, Rung};
