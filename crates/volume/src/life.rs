//! The automation of volumes: the level follows the load, and falls when a volume is detached.
//!
//! State machines with time as an argument that return levels; they serve no requests.

mod autotune;
mod detached;
mod ladder;

pub use autotune::{Autotune, IntervalLoad, Policy};
pub use detached::Detached;
pub use ladder::{Ladder, LadderError, LevelModel};
