//! A suite: steps of a classic benchmark with their results, and its file format.

use plimsoll_load::JobSpec;
use plimsoll_units::{Instant, Span};
use serde::{Deserialize, Serialize};

use crate::curve::{EndReason, FormatError, Source, Subject, check_format};
use crate::database::{DatabaseCounters, DatabaseSide, SessionRun, StorageSide};
use crate::finding::Finding;
use crate::histogram::Bins;
use crate::host::Host;
use crate::quantity::StepQuantity;
use crate::run::{CpuTime, Run};
use crate::stored;
use crate::tally::Tally;
use crate::verdict::Verdict;

/// Name and version of the file format of suites.
pub const SUITE_FORMAT: &str = "plimsoll.suite/2";
/// The first version, with sentences as verdicts.
const FIRST_SUITE_FORMAT: &str = "plimsoll.suite/1";

/// A worker of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobRun {
    /// Specification of its operations.
    pub job: JobSpec,
    /// Mechanism that issued its operations, such as `io_uring` or `sync`.
    pub engine: String,
    /// Direct I/O; otherwise through the page cache.
    pub direct: bool,
    /// Start, in nanoseconds from the start of the step.
    #[serde(rename = "began_ns")]
    pub began: Instant,
    /// Time until the completion of its last operation, in nanoseconds.
    #[serde(rename = "span_ns")]
    pub span: Span,
    /// Counts of its operations; the stream is its index in the step.
    pub total: Tally,
    /// Processor time of its thread; absent in virtual time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<CpuTime>,
}

/// Work of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum StepWork {
    /// Block operations.
    Io {
        /// Workers in order.
        jobs: Vec<JobRun>,
        /// All workers together.
        run: Box<Run>,
        /// Time from the first start to the last end, in nanoseconds: the divisor of classic figures.
        #[serde(rename = "span_ns")]
        span: Span,
    },
    /// File operations.
    Files {
        /// Number of files.
        files: u64,
        /// Duration in nanoseconds.
        #[serde(rename = "span_ns")]
        span: Span,
        /// Time per file.
        each: Bins,
        /// Processor time.
        cpu: CpuTime,
    },
    /// Statements of a session, executed sequentially.
    Statements(Box<Statements>),
    /// Concurrent sessions of a database.
    #[serde(rename = "crowd")]
    Sessions(Box<SessionRun>),
    /// The step was not possible.
    Skipped {
        /// Reason.
        why: String,
    },
}

/// Statements of a session, executed sequentially.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Statements {
    /// Number of planned statements.
    #[serde(rename = "asked")]
    pub requested: u64,
    /// Number of executed statements: fewer than planned if the time ended first.
    pub done: u64,
    /// Number of statements with wrong rows.
    #[serde(default)]
    pub wrong: u64,
    /// Duration in nanoseconds.
    #[serde(rename = "span_ns")]
    pub span: Span,
    /// Time per statement.
    pub each: Bins,
    /// Processor time of this program.
    pub client: CpuTime,
    /// Counters of the database over the statements.
    pub counted: DatabaseCounters,
    /// Activity of the storage over the statements.
    pub storage: StorageSide,
}

/// A step of a suite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepRun {
    /// Name.
    pub name: String,
    /// Number of the repetition, from 1.
    pub round: u32,
    /// Whether its figures count; otherwise it was preparation or warm-up.
    pub counts: bool,
    /// The measured quantity; absent if the name is sufficient.
    #[serde(default, deserialize_with = "stored::read_optional", skip_serializing_if = "Option::is_none")]
    pub measures: Option<StepQuantity>,
    /// Number of writes of a commit, if the figures of the step count commits: writes with their flushes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes_each: Option<u32>,
    /// Work.
    pub work: StepWork,
}

/// The classic text output of a benchmark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Listing {
    /// Name of the layout, such as `CSV 1.98`.
    pub title: String,
    /// Text.
    pub text: String,
}

/// Steps of a classic benchmark on a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SuiteRun {
    /// Name and version of this format: [`SUITE_FORMAT`].
    #[cfg_attr(feature = "schema", schemars(extend("const" = SUITE_FORMAT)))]
    pub format: String,
    /// Program and version.
    pub made_by: String,
    /// Start, RFC 3339 in UTC; absent for simulated suites.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
    /// Total duration in nanoseconds of the target's time line.
    #[serde(rename = "wall_ns")]
    pub wall: Span,
    /// Command that repeats the suite.
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
    /// The suite's name, such as `bonnie`.
    pub suite: String,
    /// The benchmark that it follows, in a line.
    pub follows: String,
    /// Settings, as `(name, value)`.
    pub settings: Vec<(String, String)>,
    /// Steps in order of execution.
    pub steps: Vec<StepRun>,
    /// Description of the database and results of its load as a whole; absent for storage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<Box<DatabaseSide>>,
    /// Classic text outputs.
    pub listings: Vec<Listing>,
    /// Conclusions.
    #[serde(default, deserialize_with = "stored::read_list", skip_serializing_if = "Vec::is_empty")]
    pub verdicts: Vec<Verdict>,
    /// Doubts about the whole suite.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

impl SuiteRun {
    /// Parses a suite file. Sentences of earlier files become texts.
    pub fn from_json(bytes: &[u8]) -> Result<Self, FormatError> {
        check_format(bytes, &[SUITE_FORMAT, FIRST_SUITE_FORMAT])?;
        let suite: Self = serde_json::from_slice(bytes).map_err(FormatError::Shape)?;
        Ok(Self { format: SUITE_FORMAT.into(), ..suite })
    }

    /// Serialises to the file format, ending in a newline.
    pub fn to_json(&self) -> Vec<u8> {
        let mut bytes = crate::to_json_line(self);
        bytes.push(b'\n');
        bytes
    }
}
