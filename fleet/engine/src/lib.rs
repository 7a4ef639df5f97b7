//! The replay of volumes: usage, limits, credits and backlog of each volume, point by point.
//!
//! Integers only, so that the same points give the same bytes on every machine and in every partitioning. Pure: no
//! clock, file or engine.

mod histogram;
mod limit;
mod replay;
mod state;

pub use histogram::Histogram;
pub use limit::{Counts, Kinds, LevelLimits, LevelWaits, MAX_CREDIT_LIMITS, MAX_LEVELS, ReplayLimit};
pub use replay::{MetricColumn, PointSlices, ReplayedVolume, VolumeReplay};
pub use state::{BusiestPoint, DamagedState, PINNED_PERCENT, Point, PointDemand, TimeReversed, VolumeState};
