//! Options of a measurement: its load, and its sweep.

use std::path::PathBuf;

use plimsoll_load::{Arrival, BlockMix, Pattern};
use plimsoll_record::Objective;
use plimsoll_units::{Iops, Span};

use crate::words::WorkingSet;

/// The load: a preset, and changes of its first stream.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadOptions {
    /// Name of a built-in preset, or path of a preset file.
    pub preset: String,
    /// Block sizes of the first stream.
    pub block_size: Option<BlockMix>,
    /// Share of reads of the first stream, 0 to 1.
    pub reads: Option<f64>,
    /// Access pattern of the first stream.
    pub pattern: Option<Pattern>,
    /// The addressed part of the space.
    pub working_set: Option<WorkingSet>,
    /// Writes are durable before they complete.
    pub durable: bool,
    /// Number of writes between flushes.
    pub flush_every: Option<u32>,
    /// Compressibility of the written data, 0 to 1.
    pub compressible: f64,
    /// Seed of the random streams.
    pub seed: u64,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            preset: "oltp".into(),
            block_size: None,
            reads: None,
            pattern: None,
            working_set: None,
            durable: false,
            flush_every: None,
            compressible: 0.0,
            seed: 1,
        }
    }
}

/// Duration and points of the sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepOptions {
    /// Objective of the load line.
    pub objective: Option<Objective>,
    /// Time limits and precision.
    pub effort: EffortLevel,
    /// Minimum warm-up of each point.
    pub warm_up: Option<Span>,
    /// Measurements per point.
    pub repetitions: u32,
    /// Only closed loads at these queue depths.
    pub depths: Option<Vec<u32>>,
    /// Maximum queue depth of the sweep.
    pub max_depth: Option<u32>,
    /// Only open loads at these arrival rates.
    pub rates: Option<Vec<Iops>>,
    /// Spacing of open arrivals.
    pub arrival: Arrival,
    /// Number of loops.
    pub threads: u32,
    /// The first failed operation ends the measurement.
    pub stop_on_error: bool,
}

impl Default for SweepOptions {
    fn default() -> Self {
        Self {
            objective: None,
            effort: EffortLevel::Standard,
            warm_up: None,
            repetitions: 1,
            depths: None,
            max_depth: None,
            rates: None,
            arrival: Arrival::Poisson,
            threads: 1,
            stop_on_error: false,
        }
    }
}

impl SweepOptions {
    /// Total measuring time, if given.
    pub const fn duration(&self) -> Option<Span> {
        match self.effort {
            EffortLevel::Within(duration) => Some(duration),
            EffortLevel::Quick | EffortLevel::Standard | EffortLevel::Thorough => None,
        }
    }
}

/// Replay of a recorded load.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayOptions {
    pub trace: PathBuf,
    /// Factor of the times between arrivals.
    pub time_scale: Option<f64>,
    /// Ignores arrival times and keeps the depths of the sweep in flight.
    pub as_fast_as_possible: bool,
    /// Omits writes and flushes.
    pub reads_only: bool,
}

/// Time limits and precision of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffortLevel {
    /// About 15 seconds, wide intervals.
    Quick,
    /// About a minute.
    Standard,
    /// Up to about 10 minutes, narrow intervals.
    Thorough,
    /// This measuring time.
    Within(Span),
}
