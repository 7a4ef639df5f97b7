//! A volume's level over time: cost and delays with a fixed level, with autotuning, and with a daily schedule.
//!
//! A demand is replayed window by window against the levels of a configuration, as a fluid: the rate within a window is
//! even, so shorter peaks are invisible, and operations above the level's limit wait. Autotuning uses the emulator's
//! own state machine.

mod demand;
mod levels;
mod replay;

pub use demand::{WindowDemand, demand_over_time};
pub use levels::{Level, Levels, NoLevels};
pub use replay::{DailyPlan, LevelReplay, Rule, compare, replay};
