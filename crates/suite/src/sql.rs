//! Database steps of a suite as data, and their results.
//!
//! A recipe provides statements and transactions, and never opens a session. Independent of the drivers.

use std::sync::Arc;

use plimsoll_analyse::Precision;
use plimsoll_database::{Failure, ObjectChanges, Row, Session, Value};
use plimsoll_load::Pace;
use plimsoll_record::{
    Bins, CpuTime, DatabaseCounters, Finding, Objective, SessionLimit, SessionTimes, Slice, StorageSide,
};
use plimsoll_units::Span;

#[derive(Clone, Debug, PartialEq)]
pub enum SqlRequest {
    Text {
        sql: String,
        /// Expected number of rows; `None` if not checked.
        rows: Option<u64>,
    },
    /// A statement that is prepared at its first execution.
    Prepared {
        /// The statement, with `?` for its parameters.
        sql: Arc<str>,
        values: Vec<Value>,
        /// Expected number of rows; `None` if not checked.
        rows: Option<u64>,
    },
    /// A query whose rows become part of the result.
    Query(String),
    /// Closes the session and opens another.
    Reconnect,
}

impl SqlRequest {
    /// Statements as text, without a check of the rows.
    pub fn text(sql: impl Into<String>) -> Self {
        Self::Text { sql: sql.into(), rows: None }
    }
}

/// Requests of item N of a step, from 0; timed together.
pub type RequestsAt = Arc<dyn Fn(u64) -> Vec<SqlRequest> + Send + Sync>;

/// Statements in sequence, in a single session or distributed over several.
#[derive(Clone)]
pub struct StatementsStep {
    /// Number of items.
    pub count: u64,
    /// The requests of each item.
    pub at: RequestsAt,
    /// Time after which no further item is started; the recipe extrapolates. `None` for no limit.
    pub limit: Option<Span>,
    /// Number of sessions that share them: more than 1 where the order does not matter, as in loading.
    pub sessions: u32,
    /// Items per transaction; 0 for autocommit.
    pub transaction: u64,
}

impl StatementsStep {
    /// Items in a single session with autocommit and without a time limit.
    pub fn new(count: u64, at: impl Fn(u64) -> Vec<SqlRequest> + Send + Sync + 'static) -> Self {
        Self { count, at: Arc::new(at), limit: None, sessions: 1, transaction: 0 }
    }

    /// An item per statement, in order.
    pub fn of(statements: Vec<String>) -> Self {
        let count = statements.len() as u64;
        Self::new(count, move |index| vec![SqlRequest::text(statements[index as usize].clone())])
    }
}

impl std::fmt::Debug for StatementsStep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} statements", self.count)
    }
}

/// A unit of work executed by a loop inside the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkUnit {
    pub kind: u8,
    /// Start, from the start of the call.
    pub began: Span,
    pub took: Span,
}

pub trait ServerLoop: Send + Sync {
    /// The statement with which session `session`, from 0, works for about `burst`.
    fn call(&self, session: u32, seed: u64, burst: Span) -> String;

    /// Parses the rows of the statement. `None` if malformed.
    fn units(&self, rows: &[Row]) -> Option<Vec<WorkUnit>>;
}

pub trait Transactions: Send + Sync {
    /// The kind of the next transaction, from a random number.
    fn pick(&self, random: u64) -> u8;

    /// The kind of transaction number `turn`, from 0, of a session (closed load) or of all arrivals (open load); by
    /// default the pick of the random number.
    fn pick_at(&self, _turn: u64, random: u64) -> u8 {
        self.pick(random)
    }

    /// Sets up session `number`, from 0: prepares statements and applies settings.
    fn open(&self, session: &mut dyn Session, number: u32) -> Result<Box<dyn TransactionRunner>, Failure>;
}

/// Executes transactions in a session.
pub trait TransactionRunner: Send {
    /// Executes a transaction. Returns a digest of its rows if they must be equal each time.
    fn run(&mut self, session: &mut dyn Session, kind: u8, random: u64) -> Result<Option<u64>, Failure>;
}

#[derive(Clone)]
pub enum SessionWork {
    /// Each session repeatedly calls a loop inside the server. Closed loads only.
    InServer(Arc<dyn ServerLoop>),
    /// Each session executes transactions.
    Transactions(Arc<dyn Transactions>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionKind {
    pub name: String,
    pub writes: bool,
    /// Whether it is a separately timed part of other transactions, such as a commit: excluded from rates and response
    /// times.
    pub is_part: bool,
}

/// A load of concurrent sessions.
#[derive(Clone)]
pub struct SessionsStep {
    pub sessions: u32,
    /// Closed load with a transaction per session, or open load whose arrivals go to any free session.
    pub pace: Pace,
    /// Kinds of transactions, by their index.
    pub kinds: Vec<TransactionKind>,
    pub work: SessionWork,
    /// Transactions per session; `None` if only time ends the step.
    pub turns: Option<u64>,
    /// Warm-up, excluded from all figures.
    pub warm_up: Span,
    /// Minimum measured time.
    pub least: Span,
    /// Maximum measured time.
    pub max: Span,
    /// Precision at which the step ends before its maximum time.
    pub precision: Precision,
    /// Objective of the response times.
    pub objective: Option<Objective>,
    /// Whether the server writes its dirty blocks first (checkpoint).
    pub checkpoint: bool,
    /// Seed of the random streams.
    pub seed: u64,
}

impl std::fmt::Debug for SessionsStep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} sessions, {:?}", self.sessions, self.pace)
    }
}

#[derive(Clone, Debug, Default)]
pub struct StatementsResult {
    /// Number of executed items.
    pub done: u64,
    /// Number of requests with an unexpected number of rows.
    pub wrong: u64,
    /// Description of the first of them.
    pub first_wrong: Option<String>,
    /// Rows of the last query.
    pub rows: Vec<Row>,
    /// Objects that were created and dropped.
    pub changes: ObjectChanges,
    /// Duration of the step.
    pub span: Span,
    /// Times of the items.
    pub each: Bins,
    /// Processor time of this program.
    pub client: CpuTime,
    /// Counters of the database over the step.
    pub counted: DatabaseCounters,
    /// Counters of the storage over the step.
    pub storage: StorageSide,
}

#[derive(Clone, Debug, Default)]
pub struct SessionsResult {
    /// Slices, warm-up included; the streams are the kinds of transactions.
    pub series: Vec<Slice>,
    /// Transactions of an open load that were never started.
    pub unserved: u64,
    /// Lateness of the generator of an open load.
    pub lateness: Bins,
    /// The part of the series that the figures below cover: start and end, from the start of the series.
    pub window: (Span, Span),
    /// Counters of the database over the window.
    pub counted: DatabaseCounters,
    /// Counters of the storage over the window.
    pub storage: StorageSide,
    /// Breakdown of the sessions' time in the window.
    pub split: Option<SessionTimes>,
    /// Processor time of this program in the window.
    pub client: Option<CpuTime>,
    /// Transactions whose rows differ from those of others of their kind.
    pub differing: u64,
    /// Binding limit, if known.
    pub limit: Option<SessionLimit>,
    /// Doubts about its figures, in addition to those that follow from the figures.
    pub findings: Vec<Finding>,
    /// Changes of the storage: time since the start of the series, and description.
    pub marks: Vec<(Span, String)>,
}

/// The statements below each line `-- name: NAME` of an SQL file.
pub(crate) fn all_named<'a>(file: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let sections = file.split("-- name: ").filter_map(move |section| section.strip_prefix(name)?.strip_prefix('\n'));
    sections.map(str::trim_end)
}

/// The statement of this name, of which there is a single one.
pub(crate) fn named<'a>(file: &'a str, name: &str) -> &'a str {
    all_named(file, name).next().expect("the file has a statement of this name")
}

/// An SQL template with each `{name}` replaced by its value.
pub(crate) fn fill_template(template: &str, values: &[(&str, &str)]) -> String {
    let filled = |text: String, (name, value): &(&str, &str)| text.replace(&format!("{{{name}}}"), value);
    values.iter().fold(template.trim_end().to_owned(), filled)
}
