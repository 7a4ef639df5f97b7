//! A run: an offered load and its results.

use plimsoll_load::Pace;
use plimsoll_units::{Instant, Span};
use serde::{Deserialize, Serialize};

use crate::figures::Figures;
use crate::finding::Finding;
use crate::histogram::Bins;
use crate::tally::Tally;

/// An interval of a run with its completions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Slice {
    /// Start, in nanoseconds from the start of the run.
    #[serde(rename = "start_ns")]
    pub start: Instant,
    /// Length in nanoseconds.
    #[serde(rename = "span_ns")]
    pub span: Span,
    /// Operations that completed in it.
    pub tally: Tally,
}

/// Processor time of the generator's threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuTime {
    /// In user mode, nanoseconds.
    #[serde(rename = "user_ns")]
    pub user: Span,
    /// In the kernel, nanoseconds.
    #[serde(rename = "system_ns")]
    pub system: Span,
}

impl CpuTime {
    /// In user mode and in the kernel.
    pub fn total(self) -> Span {
        self.user + self.system
    }
}

impl std::ops::Add for CpuTime {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { user: self.user + other.user, system: self.system + other.system }
    }
}

impl std::ops::Sub for CpuTime {
    type Output = Self;

    /// Time since an earlier reading.
    fn sub(self, before: Self) -> Self {
        Self { user: self.user - before.user, system: self.system - before.system }
    }
}

/// An offered load and its results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Run {
    /// Pace of the leading (first) stream. Curves are ordered by this, never by the achieved rate.
    pub offered: Pace,
    /// Time at the start that is excluded from all figures, in nanoseconds.
    #[serde(rename = "warm_up_ns")]
    pub warm_up: Span,
    /// Measured time in nanoseconds.
    #[serde(rename = "span_ns")]
    pub span: Span,
    /// Operations after the warm-up by stream and kind, including the backlog that drained after the end of the offered
    /// load. The measured time excludes draining, so rates are in `figures`.
    pub total: Tally,
    /// Operations that had arrived but were never issued, because the run was ended with a queue. Their wait until the
    /// end is included in the response times as a lower bound.
    #[serde(default)]
    pub unserved: u64,
    /// Time series of the run, including the warm-up; empty for a sum of slots.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<Slice>,
    /// Lateness of the generator for each operation of an open load. Not included in the response times: the intended
    /// time of an overslept operation is the wake-up.
    #[serde(default, skip_serializing_if = "Bins::is_empty")]
    pub lateness: Bins,
    /// Processor time of the generator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<CpuTime>,
    /// Binding limits of simulated and emulated runs, as `[name, share of operations]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bound_by: Vec<(String, f64)>,
    /// Means, percentiles and their intervals.
    pub figures: Figures,
    /// Doubts about this run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}
