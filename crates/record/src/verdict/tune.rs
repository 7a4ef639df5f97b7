//! Verdicts of the search for better settings.

use serde::{Deserialize, Serialize};

use crate::figures::Estimate;

/// A verdict of `tune`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum TuneVerdict {
    /// Better settings.
    BetterSettings {
        /// The settings that differ from the present ones.
        settings: Vec<TunedSetting>,
        /// Ratio of the results with all of them to those with the present settings, from runs after the search, with its
        /// 95 % interval; null if the run ended before.
        ratio: Option<Estimate>,
    },
    /// No candidate was better than the present settings.
    PresentSettings {
        /// Number of compared candidates.
        compared: u64,
    },
    /// Candidates that were not accepted.
    NotBetter {
        /// The candidates, with the settings before them.
        settings: Vec<TunedSetting>,
    },
    /// Settings and values that were not tried.
    NotTried {
        /// The settings.
        settings: Vec<UntriedSetting>,
    },
    /// The best configuration of a full grid, in relation to the settings that the search chose.
    BestOfGrid {
        /// Number of configurations.
        configurations: u64,
        /// Runs of each.
        rounds: u64,
        /// The settings of the best one other than the chosen one.
        best: Vec<(String, String)>,
        /// Ratio of its results to those of the chosen settings, with a 95 % interval for all configurations together.
        ratio: Estimate,
    },
    /// A limit of the storage held the replies, so that settings cannot help.
    StorageLimit {
        /// The limit.
        limit: String,
        /// Share of the replies that it held.
        share: f64,
    },
}

/// A setting, or several that were changed together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TunedSetting {
    /// Names and values.
    pub changes: Vec<(String, String)>,
    /// Values before, in the same order.
    pub before: Vec<String>,
    /// Ratio of the results to those before, with its 95 % interval; null if unknown.
    pub ratio: Option<Estimate>,
    /// Whether the server must be restarted.
    pub needs_restart: bool,
}

/// A setting that was not tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UntriedSetting {
    /// Name.
    pub name: String,
    /// Value; null for all values.
    pub value: Option<String>,
    /// Reason.
    pub reason: UntriedReason,
}

/// Reason why a setting was not tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "reason")]
pub enum UntriedReason {
    /// This version or build of the server does not have it.
    NotInServer,
    /// It needs a restart of a server that was not created for the run.
    NeedsRestart,
    /// It acts on writes, and the load only reads.
    LoadOnlyReads,
    /// The time of the search was over.
    Budget,
    /// The grid has too many configurations.
    TooMany {
        /// Their number.
        configurations: u64,
        /// The maximum.
        max: u64,
    },
    /// The server could not be used with it.
    Refused {
        /// The server's reason.
        why: String,
    },
}
