//! The replay of the volumes of a bucket: usage, limits, credits and backlog of each volume, point by point.
//!
//! Integers only, so that the same points give the same bytes on every machine and in every partitioning. Pure: no
//! clock, file or engine.

mod bucket;
mod histogram;
mod limit;
mod state;

pub use bucket::{Bucket, MetricColumn, PointSlices, Rules};
pub use histogram::Histogram;
pub use limit::{Counts, Kinds, LevelLimits, LevelWaits, MAX_CREDIT_LIMITS, MAX_LEVELS, ReplayLimit};
pub use state::{BusiestPoint, DamagedState, PINNED_PERCENT, Point, PointDemand, TimeReversed, VolumeState};
