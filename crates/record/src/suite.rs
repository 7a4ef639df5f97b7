//! A suite: the steps of a classic benchmark, what was seen of each, and the file that they are kept in.

use plimsoll_load::JobSpec;
use plimsoll_units::{Instant, Span};
use serde::{Deserialize, Serialize};

use crate::curve::{Ended, FormatError, Source, Subject, check_format};
use crate::database::{DatabaseCounters, DatabaseSide, SessionRun, StorageSide};
use crate::finding::Finding;
use crate::histogram::Bins;
use crate::host::Host;
use crate::run::{CpuTime, Run};
use crate::tally::Tally;

/// The name and version of the file format of suites.
pub const SUITE_FORMAT: &str = "plimsoll.suite/1";

/// One worker of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobRun {
    /// What it asked for.
    pub job: JobSpec,
    /// What issued its operations, such as `io_uring` or `sync`.
    pub engine: String,
    /// Past the page cache, or through it.
    pub direct: bool,
    /// When it began, in nanoseconds from the beginning of the step.
    #[serde(rename = "began_ns")]
    pub began: Instant,
    /// Until its last operation came back, in nanoseconds.
    #[serde(rename = "span_ns")]
    pub span: Span,
    /// All that it did; the stream is its index in the step.
    pub total: Tally,
    /// Processor time of its thread; absent in virtual time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<CpuTime>,
}

/// What a step did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum StepWork {
    /// Operations on blocks.
    Io {
        /// Its workers, in their order.
        jobs: Vec<JobRun>,
        /// All of them together.
        run: Box<Run>,
        /// From the first beginning to the last end, in nanoseconds: what classic figures divide by.
        #[serde(rename = "span_ns")]
        span: Span,
    },
    /// Operations on files.
    Files {
        /// How many.
        files: u64,
        /// How long it took, in nanoseconds.
        #[serde(rename = "span_ns")]
        span: Span,
        /// Time for each.
        each: Bins,
        /// Processor time.
        cpu: CpuTime,
    },
    /// Statements of one session, one after the other.
    Statements(Box<Statements>),
    /// Sessions of a database side by side.
    #[serde(rename = "crowd")]
    Sessions(Box<SessionRun>),
    /// It could not be done.
    Skipped {
        /// Why.
        why: String,
    },
}

/// Statements of one session, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Statements {
    /// How many were to be run.
    pub asked: u64,
    /// How many were run: fewer where the time was over first.
    pub done: u64,
    /// How many did not bring the rows that they should have.
    #[serde(default)]
    pub wrong: u64,
    /// How long they took, in nanoseconds.
    #[serde(rename = "span_ns")]
    pub span: Span,
    /// Time for each.
    pub each: Bins,
    /// Processor time of this program.
    pub client: CpuTime,
    /// What the database counted over them.
    pub counted: DatabaseCounters,
    /// What the storage showed over them.
    pub storage: StorageSide,
}

/// One step of a suite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepRun {
    /// What it is called.
    pub name: String,
    /// Which of its repetitions, from 1.
    pub round: u32,
    /// Its figures count; otherwise it prepared or warmed up.
    pub counts: bool,
    /// What its number really measures; empty where the name says it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub measures: String,
    /// What it did.
    pub work: StepWork,
}

/// A layout that people know, as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Listing {
    /// What it is the layout of, such as `CSV 1.98`.
    pub title: String,
    /// Its lines.
    pub text: String,
}

/// Steps of a classic benchmark on one target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SuiteRun {
    /// [`SUITE_FORMAT`].
    pub format: String,
    /// Program and version.
    pub made_by: String,
    /// When it began, RFC 3339 in UTC; absent for simulated ones.
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
    /// The suite's name, such as `bonnie`.
    pub suite: String,
    /// What it follows, in one line.
    pub follows: String,
    /// How it was set, as `(name, value)`.
    pub settings: Vec<(String, String)>,
    /// The steps, in the order in which they were made.
    pub steps: Vec<StepRun>,
    /// What a database was, and what came of its load as a whole; absent for storage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<Box<DatabaseSide>>,
    /// The classic layouts of its figures.
    pub listings: Vec<Listing>,
    /// What was concluded, in sentences with their figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verdicts: Vec<String>,
    /// What makes the whole questionable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

impl SuiteRun {
    /// Reads a suite from the bytes of its file.
    pub fn from_json(bytes: &[u8]) -> Result<Self, FormatError> {
        check_format(bytes, &[SUITE_FORMAT])?;
        serde_json::from_slice(bytes).map_err(FormatError::Shape)
    }

    /// The bytes of its file, ending in a newline.
    pub fn to_json(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec(self).expect("a suite has only string keys and finite shape");
        bytes.push(b'\n');
        bytes
    }
}
