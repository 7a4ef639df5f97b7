//! Measurement of storage and models: the loads of a sweep, the backends that execute them, and findings about the
//! result.
//!
//! [`LoadOptions`] and [`SweepOptions`] become a [`MeasurePlan`], which [`sweep::run`] executes on a [`Backend`];
//! [`Replaying`] is a recorded load.

pub mod backend;
pub mod checks;
mod error;
mod monitor;
mod options;
mod plan;
mod preset;
pub mod probe;
mod replay;
pub mod sweep;
mod words;

pub use backend::{AccessPath, Backend, Storage, Virtual};
pub use error::MeasureError;
pub use monitor::{Monitor, PointProgress, Unattended};
pub use options::{EffortLevel, LoadOptions, ReplayOptions, SweepOptions};
pub use plan::{Effort, Grid, MAX_BUFFER_MEMORY, MeasurePlan, TargetKind};
pub use preset::{BUILT_IN, Preset, Template};
pub use replay::Replaying;
pub use sweep::SweepResult;
pub use words::{BlockSizes, InvalidValue, PatternWord, Percent, WorkingSet};
