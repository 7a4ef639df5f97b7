//! Derived figures: estimates with intervals, the knee, the load line.

use plimsoll_load::Pace;
use plimsoll_units::Span;
use serde::{Deserialize, Serialize};

use crate::objective::Objective;

/// A value with its 95 % confidence interval, in the unit of the field's name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// Point estimate.
    pub value: f64,
    /// `[low, high]`; absent if the data do not suffice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
}

impl Estimate {
    /// A value without an interval.
    pub const fn bare(value: f64) -> Self {
        Self { value, interval: None }
    }

    /// Half the interval's width divided by the value; `None` without an interval or for a value of zero.
    pub fn relative_half_width(&self) -> Option<f64> {
        let (low, high) = self.interval?;
        (self.value > 0.0).then(|| (high - low) / 2.0 / self.value)
    }
}

/// Whether the figures of a run describe a steady state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Steadiness {
    /// The last third of the run agrees with the first.
    Steady,
    /// Still changing at the end.
    Drifting,
    /// An open load arrived faster than it was served: the queue grew during the whole run.
    Overloaded,
    /// A recorded load, which varies by itself: not tested.
    Recorded,
    /// Too few slices for a test.
    #[default]
    Unknown,
}

/// Figures of a run over its measured time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Figures {
    /// Operations completed per second.
    pub iops: Estimate,
    /// Bytes transferred per second.
    pub bytes_per_second: f64,
    /// Mean response time.
    pub mean_ns: Estimate,
    /// Median response time.
    pub p50_ns: Estimate,
    /// 99th percentile of the response time.
    pub p99_ns: Estimate,
    /// 99.9th percentile of the response time.
    pub p999_ns: Estimate,
    /// The objective's measure of the response time, if an objective was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective_ns: Option<Estimate>,
    /// The objective of `objective_ns`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<Objective>,
    /// Mean number of operations in flight or waiting, by Little's law: throughput times response time.
    pub in_flight: f64,
    /// Result of the steady-state test.
    pub steadiness: Steadiness,
}

/// The knee: the point of greatest power, which is throughput over response time (Kleinrock 1979).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Knee {
    /// Operations per second.
    pub iops: f64,
    /// Mean response time.
    pub mean_ns: f64,
    /// Offered load.
    pub offered: Pace,
}

/// The load line: the highest load that meets the objective.
///
/// From slots, it is the load at which the median slot (about half a second long) meets the objective.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "verdict")]
pub enum LoadLine {
    /// The objective is reached at this load.
    At {
        /// The objective.
        objective: Objective,
        /// Operations per second.
        iops: Estimate,
    },
    /// The objective was met at the highest load that the storage carried.
    Beyond {
        /// The objective.
        objective: Objective,
        /// Highest load that met it, in operations per second.
        iops: Estimate,
    },
    /// The objective was missed at the lightest load.
    Never {
        /// The objective.
        objective: Objective,
        /// Lowest observed value of the objective's measure, in nanoseconds.
        #[serde(rename = "least_ns")]
        least: Span,
    },
    /// The measurement does not support a value.
    Refused {
        /// The objective.
        objective: Objective,
        /// Reason.
        why: NoLine,
    },
}

/// Reason why a measurement does not support a load line.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "why")]
pub enum NoLine {
    /// The 95 % interval is wider than a factor of four.
    Scatter {
        /// Lower end of the interval in operations per second; the lightest offered load for an open interval.
        low: f64,
        /// Upper end; the highest completed rate for an open interval.
        high: f64,
        /// Measuring time in seconds that would narrow the interval to about ±20 %.
        seconds: f64,
    },
    /// The host withheld the processor from the generator in so many slots that too few remain.
    HostTaken {
        /// Share of the slots of open loads in which it did, 0 to 1.
        share: f64,
        /// Shares of the time in all slots of open loads.
        host: HostShares,
        /// 99th percentile of the generator's lateness in the median slot, in nanoseconds.
        #[serde(rename = "lateness_p99_ns")]
        lateness_p99: Span,
        /// Measuring time in seconds after which enough slots would remain at the same share; absent if none remained.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seconds: Option<f64>,
    },
    /// The generator's lateness is too large for such a short limit. Replaced by `host-taken`; in older files only.
    Generator {
        /// 99th percentile of its lateness in the median slot, in nanoseconds.
        #[serde(rename = "lateness_p99_ns")]
        lateness_p99: Span,
    },
    /// No load met the objective when held without a pause.
    NotLasting {
        /// The lightest held load, in operations per second.
        below: f64,
    },
}

/// Time that the host withheld from the generator, as shares of the measuring time, 0 to 1. Unknown shares are absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostShares {
    /// Stolen by the hypervisor, of all processors' time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stolen: Option<f64>,
    /// Stopped by the processor limit of a control group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled: Option<f64>,
    /// In waits of at least a millisecond for a processor that other threads used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<f64>,
}

impl HostShares {
    /// True if no share is known.
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}

/// The highest load that closed loads completed within an objective. Not a load line: a closed load slows down with its
/// storage, which hides waiting.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClosedLine {
    /// The objective; with a longer limit than that of the load line if no closed load met that.
    pub objective: Objective,
    /// Number of operations in flight.
    pub depth: u32,
    /// Operations per second completed at this depth.
    pub iops: Estimate,
    /// Number of slots at this depth.
    pub slots: u32,
    /// True if no deeper load was measured, so that more may be possible.
    #[serde(default)]
    pub is_deepest: bool,
    /// True if the host withheld the processor from the generator in slots of closed loads, too.
    #[serde(default)]
    pub is_disturbed: bool,
    /// Estimated share of the operations at this depth that were late only because the processor was withheld, 0 to 1: they
    /// do not count as late.
    #[serde(default)]
    pub delayed: f64,
}

/// Whether the load line lasts when held without a pause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "lasting")]
pub enum Lasting {
    /// Not tested.
    #[default]
    NotHeld,
    /// The objective was met until the end.
    #[serde(rename = "held")]
    Sustained {
        /// Held load, in operations per second.
        iops: f64,
        /// Duration in seconds.
        seconds: f64,
    },
    /// Held loads were throttled below the rate of slots: the load line is the load that was held.
    BurstsOnly {
        /// Load that slots carried, in operations per second.
        burst_iops: f64,
    },
    /// Held loads were completed, but too late, at the rate of slots: the load line is the load that was held.
    MissedWhenHeld {
        /// The load that slots carried, in operations per second.
        slots_iops: f64,
    },
}

/// Origin of the load line's objective.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "objective")]
pub enum ObjectiveOrigin {
    /// Given by the user.
    #[default]
    Given,
    /// The shortest limit of the ladder that is at least twice the response time of the lightest load and insensitive
    /// to small changes of the tail.
    Chosen {
        /// 99th percentile of the lightest load, in nanoseconds.
        #[serde(rename = "light_p99_ns")]
        light_p99: Span,
    },
    /// Chosen for an earlier run of the same target.
    #[serde(rename = "kept")]
    Retained,
    /// Chosen for another curve that is shown together with this curve.
    Shared,
}

/// Basis of a load line from slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LineBasis {
    /// Number of slots of open loads used.
    pub slots: u32,
    /// Number of slots in which the host withheld the processor from the generator; not used. In older files, only those
    /// of them that missed the objective.
    #[serde(default)]
    pub left_out: u32,
    /// Shares of the time in all slots of open loads.
    #[serde(default, skip_serializing_if = "HostShares::is_unknown")]
    pub host: HostShares,
    /// True if so many of the slots near the line missed because of the generator that it is only a lower bound; in older
    /// files only.
    #[serde(default)]
    pub generator_bound: bool,
    /// 99th percentile of the generator's lateness in the median slot, in nanoseconds.
    #[serde(rename = "lateness_p99_ns")]
    pub lateness_p99: Span,
    /// Median measured time of a slot, in nanoseconds.
    #[serde(rename = "slot_ns")]
    pub slot: Span,
    /// Share of the slots with loads below 0.8 of the line that missed the objective, 0 to 1, and the number of these
    /// slots; absent without such slots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lapses: Option<(f64, u32)>,
    /// Highest load up to which 19 of 20 slots meet the objective, in operations per second; absent with fewer than 20
    /// slots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nineteen_of_twenty: Option<f64>,
    /// Slope of the median logit of the late share over the logarithm of the load, near the line.
    pub slope: f64,
    /// Load lines of the first and second half of the passes, in operations per second, if both have a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub halves: Option<(f64, f64)>,
    /// True if the second half is lower than the first by more than both intervals; the line is then that of the second
    /// half.
    #[serde(default)]
    pub fell: bool,
    /// Whether it lasts.
    #[serde(default)]
    pub lasting: Lasting,
    /// Origin of the objective.
    #[serde(default)]
    pub origin: ObjectiveOrigin,
}

impl LoadLine {
    /// The objective.
    pub const fn objective(&self) -> Objective {
        match *self {
            Self::At { objective, .. }
            | Self::Beyond { objective, .. }
            | Self::Never { objective, .. }
            | Self::Refused { objective, .. } => objective,
        }
    }

    /// The value with its interval, or the lower bound; `None` without a value.
    pub const fn iops(&self) -> Option<Estimate> {
        match *self {
            Self::At { iops, .. } | Self::Beyond { iops, .. } => Some(iops),
            Self::Never { .. } | Self::Refused { .. } => None,
        }
    }
}
