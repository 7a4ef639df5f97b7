//! Automation of volumes: the level follows the load, and drops when a volume is detached.
//!
//! State machines with time as an argument, which return levels.

mod autotune;
mod detached;
mod ladder;

pub use autotune::{AutotuneState, IntervalLoad, Policy};
pub use detached::Detached;
pub use ladder::{Ladder, LadderError, LevelModel};
