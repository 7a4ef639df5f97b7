//! What was worked out of the counts: estimates with intervals, the knee, the load line.

use plimsoll_load::Pace;
use plimsoll_units::Span;
use serde::{Deserialize, Serialize};

use crate::objective::Objective;

/// A value with its 95 % confidence interval, in the unit that the field's name gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// The best guess.
    pub value: f64,
    /// `[low, high]`; absent when there is too little to give one honestly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
}

impl Estimate {
    /// A value without an interval.
    pub const fn bare(value: f64) -> Self {
        Self { value, interval: None }
    }

    /// Half the interval's width over the value; `None` without an interval or with a value of zero.
    pub fn relative_half_width(&self) -> Option<f64> {
        let (low, high) = self.interval?;
        (self.value > 0.0).then(|| (high - low) / 2.0 / self.value)
    }
}

/// Whether the figures of a run describe something that would have gone on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Steadiness {
    /// The last third looks like the first.
    Steady,
    /// It was still changing at the end.
    Drifting,
    /// An open load arrived faster than it was answered: the queue grew for as long as the run lasted.
    Overloaded,
    /// A recorded load, which rises and falls as it did: not asked to be steady.
    Recorded,
    /// Too few slices to tell.
    #[default]
    Unknown,
}

/// The figures of one run over its measured time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Figures {
    /// Operations completed per second.
    pub iops: Estimate,
    /// Bytes moved per second.
    pub bytes_per_second: f64,
    /// Mean response time.
    pub mean_ns: Estimate,
    /// Median response time.
    pub p50_ns: Estimate,
    /// 99th percentile of the response time.
    pub p99_ns: Estimate,
    /// 99.9th percentile of the response time.
    pub p999_ns: Estimate,
    /// The objective's own measure of the response time, when one was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective_ns: Option<Estimate>,
    /// What `objective_ns` measures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<Objective>,
    /// Mean number of operations in flight or waiting (Little's law: throughput times response time).
    pub in_flight: f64,
    /// Whether it would have gone on so.
    pub steadiness: Steadiness,
}

/// Where more load stops paying: the point of greatest power, throughput over response time (Kleinrock 1979).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Knee {
    /// Operations per second there.
    pub iops: f64,
    /// Mean response time there.
    pub mean_ns: f64,
    /// The offered load that it was seen at.
    pub offered: Pace,
}

/// How much may be asked: the highest load that meets the objective.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "verdict")]
pub enum LoadLine {
    /// The objective binds at this load.
    At {
        /// What had to be met.
        objective: Objective,
        /// Operations per second.
        iops: Estimate,
    },
    /// The objective was still met at the highest load that the storage carried.
    Beyond {
        /// What had to be met.
        objective: Objective,
        /// The highest load seen to meet it, in operations per second.
        iops: Estimate,
    },
    /// The objective was not met at the lightest load.
    Never {
        /// What had to be met.
        objective: Objective,
        /// The least value of the objective's measure that was seen, in nanoseconds.
        #[serde(rename = "least_ns")]
        least: Span,
    },
}

impl LoadLine {
    /// What had to be met.
    pub const fn objective(&self) -> Objective {
        match *self {
            Self::At { objective, .. } | Self::Beyond { objective, .. } | Self::Never { objective, .. } => objective,
        }
    }
}
