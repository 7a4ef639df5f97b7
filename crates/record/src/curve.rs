//! A curve: runs of a load on a target, ordered by offered load; and its file format.

use plimsoll_language::label;
use plimsoll_load::{Pace, StreamSpec};
use plimsoll_units::{Bytes, Iops, Span};
use serde::{Deserialize, Serialize};

use crate::figures::{ClosedLine, Knee, LineBasis, LoadLine};
use crate::finding::{Finding, Weight};
use crate::host::{Device, Host};
use crate::objective::Objective;
use crate::run::Run;
use crate::slot::LoadSlot;

/// Name and version of the file format written by this version. `FIRST_FORMAT` is accepted when reading; any other
/// format is refused.
pub const FORMAT: &str = "plimsoll.curve/2";
/// The first version: without slots, and with load lines from single runs.
pub const FIRST_FORMAT: &str = "plimsoll.curve/1";

/// Burst credits of a simulated product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CreditLevel {
    /// None at any time: the figures last.
    UsedUp,
    /// Full at any time: the figures hold while credits last.
    Full,
    /// Full at the beginning, then spent and refilled by the load.
    Spent,
}

/// Origin of figures. There is no default: the creator of a curve states it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Source {
    /// On real storage.
    Measured {
        /// Mechanism that issued the operations, such as `io_uring` or `threads`.
        engine: String,
    },
    /// By a model in virtual time.
    Simulated {
        /// The model.
        model: String,
        /// Its burst credits; absent for a model without credits.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        credits: Option<CreditLevel>,
    },
    /// On a volume whose replies are delayed by a model.
    Emulated {
        /// The model.
        model: String,
    },
    /// Read from a document.
    Published {
        /// The document.
        document: String,
    },
}

impl Source {
    /// The word displayed with every figure: `measured`, `simulated`, `emulated`, `published`.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Measured { .. } => label!("measured"),
            Self::Simulated { .. } => label!("simulated"),
            Self::Emulated { .. } => label!("emulated"),
            Self::Published { .. } => label!("published"),
        }
    }

    /// The same for programs.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Measured { .. } => "measured",
            Self::Simulated { .. } => "simulated",
            Self::Emulated { .. } => "emulated",
            Self::Published { .. } => "published",
        }
    }
}

/// Target of the load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Subject {
    /// Path or model name, as given by the user.
    pub name: String,
    /// `directory`, `file`, `block device` or `model`.
    pub kind: String,
    /// Size in bytes of the range accessed by the load.
    pub size: Bytes,
    /// The underlying device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<Device>,
}

impl Subject {
    /// Kind of a result of another program.
    pub const IMPORTED: &str = "benchmark";

    /// True for a result of another program.
    pub fn is_imported(&self) -> bool {
        self.kind == Self::IMPORTED
    }
}

/// The recording of a replayed load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trace {
    /// File, as given by the user.
    pub name: String,
    /// Number of operations.
    pub operations: u64,
    /// Recorded time from the first to the last operation, in nanoseconds.
    #[serde(rename = "span_ns")]
    pub span: Span,
    /// Factor applied to the times between arrivals; absent for a replay at a queue depth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
}

/// Conditions that are the same for all runs of a curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conditions {
    /// The streams; runs differ in the pace of the first.
    pub streams: Vec<StreamSpec>,
    /// Number of loops that shared the load, each on its own thread.
    pub threads: u32,
    /// Direct I/O; otherwise through the page cache.
    pub direct: bool,
    /// Share of the written data that compresses away, 0 to 1.
    pub compressible: f64,
    /// Seed of the random streams.
    pub seed: u64,
    /// Latency objective of the load line; absent if it was chosen from the measurement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<Objective>,
    /// The recording of a replayed load; the only stream then describes it on average.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
}

/// Reason for the end of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum EndReason {
    /// Completed as planned.
    Complete,
    /// Stopped by the user; contains the runs until then, the last possibly truncated.
    Interrupted,
    /// The target failed; contains the runs until then.
    Failed,
}

/// Runs of a load on a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Curve {
    /// [`FORMAT`].
    pub format: String,
    /// Program and version.
    pub made_by: String,
    /// Start, RFC 3339 in UTC; absent for published and simulated curves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
    /// Total duration in nanoseconds of the target's time line.
    #[serde(rename = "wall_ns")]
    pub wall: Span,
    /// Command that repeats the measurement.
    pub command: Vec<String>,
    /// Reason for the end.
    pub ended: EndReason,
    /// Origin of the figures.
    pub source: Source,
    /// Target of the load.
    pub subject: Subject,
    /// Machine that generated the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<Host>,
    /// Conditions that are the same for all runs.
    pub conditions: Conditions,
    /// The runs: closed loads by depth, then open loads by rate. With slots, each run is the sum of the slots with its
    /// load.
    pub runs: Vec<Run>,
    /// Load beyond which latency grows faster than throughput.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knee: Option<Knee>,
    /// The highest load that meets the objective.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_line: Option<LoadLine>,
    /// The highest load that closed loads completed within an objective; absent without slots of closed loads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_line: Option<ClosedLine>,
    /// Basis of the load line; absent unless it was derived from slots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basis: Option<LineBasis>,
    /// The slots that the runs are sums of, in order of time; empty if the user specified the loads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slots: Vec<LoadSlot>,
    /// Doubts about the whole measurement; each run has further findings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

/// Not a curve file.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// Not JSON, or of another structure.
    #[error("not a plimsoll run file")]
    Shape(#[source] serde_json::Error),
    /// An invalid rate.
    #[error("not a plimsoll run file: it has a zero rate or zero interval")]
    Rate,
    /// An unsupported version.
    #[error("a run file of format {0:?}; this version reads {FORMAT:?}: use the version that made it")]
    Version(String),
}

/// Checks that the file has one of the formats `accepted`.
pub(crate) fn check_format(bytes: &[u8], accepted: &[&str]) -> Result<(), FormatError> {
    #[derive(Deserialize)]
    struct Head {
        format: String,
    }
    let head: Head = serde_json::from_slice(bytes).map_err(FormatError::Shape)?;
    if accepted.contains(&head.format.as_str()) { Ok(()) } else { Err(FormatError::Version(head.format)) }
}

impl Curve {
    /// A finding for which no figure describes the storage: of the whole curve, or of every run.
    pub fn void(&self) -> Option<&Finding> {
        let first = |findings: &'_ [Finding]| findings.iter().position(|finding| finding.weight() == Weight::Void);
        if let Some(index) = first(&self.findings) {
            return self.findings.get(index);
        }
        let is_void = !self.runs.is_empty() && self.runs.iter().all(|run| first(&run.findings).is_some());
        let run = self.runs.first().filter(|_| is_void)?;
        run.findings.get(first(&run.findings)?)
    }

    /// Parses a curve file.
    pub fn from_json(bytes: &[u8]) -> Result<Self, FormatError> {
        check_format(bytes, &[FORMAT, FIRST_FORMAT])?;
        let mut curve: Self = serde_json::from_slice(bytes).map_err(FormatError::Shape)?;
        // Rewritten in the current format, which is a superset of the first version.
        curve.format = FORMAT.into();
        let paces = curve.runs.iter().map(|run| run.offered);
        let paces = paces.chain(curve.slots.iter().map(|slot| slot.offered));
        let paces = paces.chain(curve.conditions.streams.iter().map(|stream| stream.pace));
        for pace in paces {
            if let Pace::Open { rate: Iops { ops, seconds }, .. } = pace
                && (ops == 0 || seconds == 0)
            {
                return Err(FormatError::Rate);
            }
        }
        Ok(curve)
    }

    /// Serialises to the file format, ending in a newline.
    pub fn to_json(&self) -> Vec<u8> {
        let mut bytes = crate::to_json_line(self);
        bytes.push(b'\n');
        bytes
    }
}
