//! A curve: runs of one load on one target, ordered by what was offered; and the file that it is kept in.

use plimsoll_load::{Pace, StreamSpec};
use plimsoll_units::{Bytes, Iops, Span};
use serde::{Deserialize, Serialize};

use crate::figures::{Knee, LineBasis, LoadLine};
use crate::finding::Finding;
use crate::host::{Device, Host};
use crate::objective::Objective;
use crate::run::Run;
use crate::slot::LoadSlot;

/// The name and version of the file format that is written. Files of `FIRST_FORMAT` are read, too; those of any
/// other format are refused.
pub const FORMAT: &str = "plimsoll.curve/2";
/// The first version: no slots, and load lines drawn from single runs.
pub const FIRST_FORMAT: &str = "plimsoll.curve/1";

/// How figures came to be. There is no default: whoever makes a curve says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Source {
    /// On real storage.
    Measured {
        /// What issued the operations, such as `io_uring` or `threads`.
        engine: String,
    },
    /// By a model in virtual time.
    Simulated {
        /// The model.
        model: String,
    },
    /// On a volume whose answers a model delays.
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
    /// The word that marks every figure: `measured`, `simulated`, `emulated`, `published`.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Measured { .. } => "measured",
            Self::Simulated { .. } => "simulated",
            Self::Emulated { .. } => "emulated",
            Self::Published { .. } => "published",
        }
    }
}

/// What the load was offered to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Subject {
    /// The path or the model's name, as the user gave it.
    pub name: String,
    /// `directory`, `file`, `block device` or `model`.
    pub kind: String,
    /// Bytes that the load could touch.
    pub size: Bytes,
    /// The device behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<Device>,
}

/// The recording that a load was replayed from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trace {
    /// Its file, as the user gave it.
    pub name: String,
    /// Operations in it.
    pub operations: u64,
    /// From the first to the last as recorded, in nanoseconds.
    #[serde(rename = "span_ns")]
    pub span: Span,
    /// Times between arrivals were multiplied by this; absent when operations were asked for at a depth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
}

/// What was held constant over all runs of a curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conditions {
    /// The streams; the pace of the first is what each run varies.
    pub streams: Vec<StreamSpec>,
    /// Loops that shared the load, each with its own thread.
    pub threads: u32,
    /// Direct I/O, or through the page cache.
    pub direct: bool,
    /// Share of the written data that compresses away, 0 to 1.
    pub compressible: f64,
    /// What determines the random streams.
    pub seed: u64,
    /// What the load line has to meet; absent when it was chosen from the measurement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<Objective>,
    /// The recording, when the load is one: the only stream describes it on average.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
}

/// Why the measurement ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// All that was planned was done.
    Complete,
    /// The user stopped it; the runs are those finished or cut short until then.
    Interrupted,
    /// The target failed; the runs are those until then.
    Failed,
}

/// Runs of one load on one target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Curve {
    /// [`FORMAT`].
    pub format: String,
    /// Program and version.
    pub made_by: String,
    /// When it began, RFC 3339 in UTC; absent for published and simulated curves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
    /// How long all of it took, in nanoseconds of the target's time line.
    #[serde(rename = "wall_ns")]
    pub wall: Span,
    /// The command that repeats it.
    pub command: Vec<String>,
    /// Why it ended.
    pub ended: Ended,
    /// How the figures came to be.
    pub source: Source,
    /// What the load was offered to.
    pub subject: Subject,
    /// Where the load came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<Host>,
    /// What was held constant.
    pub conditions: Conditions,
    /// The runs, closed loads by depth first, then open loads by rate. Where there are slots, each is the sum of those
    /// of one load.
    pub runs: Vec<Run>,
    /// Where more load stops paying.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knee: Option<Knee>,
    /// The highest load that meets the objective.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_line: Option<LoadLine>,
    /// What the load line stands on; absent where it was not drawn from slots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basis: Option<LineBasis>,
    /// The slots that the runs are sums of, in the order of time; none where the user named the loads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slots: Vec<LoadSlot>,
    /// What makes the whole questionable; each run has its own besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

/// A file that is not a curve.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// Not JSON, or not of this shape.
    #[error("not a plimsoll run file")]
    Shape(#[source] serde_json::Error),
    /// A rate that is none.
    #[error("not a plimsoll run file: it has a rate of nothing, or in no time")]
    Rate,
    /// A curve of another version.
    #[error("a run file of format {0:?}, and this version reads {FORMAT:?}: use the version that made it")]
    Version(String),
}

/// Refuses bytes that are no file of one of these formats and versions.
pub(crate) fn check_format(bytes: &[u8], wanted: &[&str]) -> Result<(), FormatError> {
    #[derive(Deserialize)]
    struct Head {
        format: String,
    }
    let head: Head = serde_json::from_slice(bytes).map_err(FormatError::Shape)?;
    if wanted.contains(&head.format.as_str()) { Ok(()) } else { Err(FormatError::Version(head.format)) }
}

impl Curve {
    /// Reads a curve from the bytes of its file.
    pub fn from_json(bytes: &[u8]) -> Result<Self, FormatError> {
        check_format(bytes, &[FORMAT, FIRST_FORMAT])?;
        let mut curve: Self = serde_json::from_slice(bytes).map_err(FormatError::Shape)?;
        // It is written as what it is now; the first version is a part of this one.
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

    /// The bytes of its file, ending in a newline.
    pub fn to_json(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec(self).expect("a curve has only string keys and finite shape");
        bytes.push(b'\n');
        bytes
    }
}
