//! The level of a volume over time: what it costs and whom it holds up when it stays, follows the load, or follows the
//! hour of the day.
//!
//! A demand is replayed window by window against the levels of a configuration, as a fluid: within a window the rate is
//! even, so peaks shorter than a window are not seen, and what a level does not let through waits for its turn. The rule
//! that follows the load is the emulator's own state machine.

mod asked;
mod levels;
mod replay;

pub use asked::{Asked, asked_over_time};
pub use levels::{Level, Levels, NoLevels};
pub use replay::{LevelReplay, Rule, compare, replay};
