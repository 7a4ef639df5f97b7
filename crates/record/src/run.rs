//! One run: one offered load, and what was seen of it.

use plimsoll_load::Pace;
use plimsoll_units::{Instant, Span};
use serde::{Deserialize, Serialize};

use crate::figures::Figures;
use crate::finding::Finding;
use crate::histogram::Bins;
use crate::tally::Tally;

/// A piece of a run's time with what completed in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Slice {
    /// From the start of the run, in nanoseconds.
    #[serde(rename = "start_ns")]
    pub start: Instant,
    /// Its length in nanoseconds.
    #[serde(rename = "span_ns")]
    pub span: Span,
    /// What completed in it.
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

/// One offered load and what was seen of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Run {
    /// How the leading stream (the first) was paced. Curves are ordered by this, never by what was achieved.
    pub offered: Pace,
    /// Time at the start that is in no figure, in nanoseconds.
    #[serde(rename = "warm_up_ns")]
    pub warm_up: Span,
    /// The time that the figures cover, in nanoseconds.
    #[serde(rename = "span_ns")]
    pub span: Span,
    /// What completed after the warm-up, by stream and kind, the backlog that drained after the offered time included.
    /// The time above does not cover that: rates are in the figures.
    pub total: Tally,
    /// Operations that had arrived but were never issued, because the run was ended while a queue stood. Their wait
    /// so far is counted in the response times, as a lower bound.
    #[serde(default)]
    pub unserved: u64,
    /// The run in slices of time, warm-up included; empty for the sum of slots.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<Slice>,
    /// How far the generator overslept the moment of each operation of an open load. Not part of the response times: an
    /// operation that was slept through is intended when the generator woke.
    #[serde(default, skip_serializing_if = "Bins::is_empty")]
    pub lateness: Bins,
    /// What the generator itself used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<CpuTime>,
    /// Simulated and emulated runs: the limits that held the answers, as `[name, share of operations]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bound_by: Vec<(String, f64)>,
    /// Means, percentiles and their intervals.
    pub figures: Figures,
    /// What makes this run questionable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}
