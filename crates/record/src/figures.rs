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

/// The load line: the highest load that meets the objective.
///
/// Drawn from slots, it is the load at which the typical slot, of half a second or about that, meets the objective.
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
    /// The measurement does not support a number.
    Refused {
        /// What had to be met.
        objective: Objective,
        /// Why there is none.
        why: NoLine,
    },
}

/// Why a measurement does not support a load line.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "why")]
pub enum NoLine {
    /// The 95 % interval is wider than a factor of four.
    Scatter {
        /// Lower end of the interval in operations per second; the lightest load offered where it is open.
        low: f64,
        /// Upper end; the highest rate completed where it is open.
        high: f64,
        /// Measuring time in seconds after which the interval would be about a fifth to each side.
        seconds: f64,
    },
    /// The generator is too late for so short a limit.
    Generator {
        /// 99th percentile of its lateness in the median slot, in nanoseconds.
        #[serde(rename = "lateness_p99_ns")]
        lateness_p99: Span,
    },
    /// No load that was held without a pause met the objective to the end.
    NotLasting {
        /// The lightest load that was held, in operations per second.
        below: f64,
    },
}

/// Whether the load line was held without a pause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "lasting")]
pub enum Lasting {
    /// It was not tried.
    #[default]
    NotHeld,
    /// It was, and the objective was met to the end.
    Held {
        /// The load that was held, in operations per second.
        iops: f64,
        /// For how long, in seconds.
        seconds: f64,
    },
    /// Held loads were throttled below the rate of slots: the load line is the load that was held.
    BurstsOnly {
        /// The load that slots carried, in operations per second.
        burst_iops: f64,
    },
    /// Held loads were completed, but too late, at the rate of slots: the load line is the load that was held.
    MissedWhenHeld {
        /// The load that slots carried, in operations per second.
        slots_iops: f64,
    },
}

/// Why the objective of the load line is this one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "objective")]
pub enum ObjectiveOrigin {
    /// The user named it.
    #[default]
    Given,
    /// It is the shortest limit of the ladder that is at least twice the response time of the lightest load and that
    /// small changes of the tail move little.
    Chosen {
        /// 99th percentile of the lightest load, in nanoseconds.
        #[serde(rename = "light_p99_ns")]
        light_p99: Span,
    },
    /// It was chosen for an earlier run of the same subject.
    Kept,
    /// It was chosen for another curve that is shown together with this one.
    Shared,
}

/// What a load line that was drawn from slots stands on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LineBasis {
    /// Slots of open loads that count.
    pub slots: u32,
    /// Slots that missed the objective because the generator was late; they do not count.
    #[serde(default)]
    pub left_out: u32,
    /// True when so many of these lie near the line that it is only a lower bound.
    #[serde(default)]
    pub generator_bound: bool,
    /// 99th percentile of the generator's lateness in the median slot, in nanoseconds.
    #[serde(rename = "lateness_p99_ns")]
    pub lateness_p99: Span,
    /// Median measured time of a slot, in nanoseconds.
    #[serde(rename = "slot_ns")]
    pub slot: Span,
    /// Share of the slots with loads below 0.8 of the line that missed the objective, 0 to 1, and how many slots these
    /// are; absent without such slots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lapses: Option<(f64, u32)>,
    /// The highest load at and below which 19 of 20 slots meet the objective, in operations per second; absent with
    /// fewer than 20 slots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nineteen_of_twenty: Option<f64>,
    /// Rise of the median logit of the late share over the logarithm of the load, around the line.
    pub slope: f64,
    /// Load lines of the first and of the second half of the passes, in operations per second, where both have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub halves: Option<(f64, f64)>,
    /// True when the second half lies below the first by more than both intervals, and is the line.
    #[serde(default)]
    pub fell: bool,
    /// Whether it was held.
    #[serde(default)]
    pub lasting: Lasting,
    /// Why the objective is this one.
    #[serde(default)]
    pub origin: ObjectiveOrigin,
}

impl LoadLine {
    /// What had to be met.
    pub const fn objective(&self) -> Objective {
        match *self {
            Self::At { objective, .. }
            | Self::Beyond { objective, .. }
            | Self::Never { objective, .. }
            | Self::Refused { objective, .. } => objective,
        }
    }

    /// Its value with the interval, or the lower bound; `None` where no number is known.
    pub const fn iops(&self) -> Option<Estimate> {
        match *self {
            Self::At { iops, .. } | Self::Beyond { iops, .. } => Some(iops),
            Self::Never { .. } | Self::Refused { .. } => None,
        }
    }
}
