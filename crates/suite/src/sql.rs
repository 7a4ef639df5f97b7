//! What a suite asks of a database, as data, and what was seen of it.
//!
//! A recipe gives statements and transactions; it never opens a session itself. Knows nothing about drivers.

use std::sync::Arc;

use plimsoll_analyse::Precision;
use plimsoll_database::{Failure, ObjectChanges, Row, Session, Value};
use plimsoll_load::Pace;
use plimsoll_record::{Bins, CpuTime, DatabaseCounters, Finding, Objective, Slice, Split, StorageSide};
use plimsoll_units::Span;

/// One thing that is asked of a session.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// One or several statements as text.
    Text {
        /// The statements.
        sql: String,
        /// Rows that have to come back; none where that is not checked.
        rows: Option<u64>,
    },
    /// A statement that is prepared when it is asked for the first time.
    Prepared {
        /// The statement, with `?` for its parameters.
        sql: Arc<str>,
        /// Its parameters.
        values: Vec<Value>,
        /// Rows that have to come back; none where that is not checked.
        rows: Option<u64>,
    },
    /// One statement whose rows the recipe will look at.
    Told(String),
    /// The session is closed, and another one opened.
    Reconnect,
}

impl Asked {
    /// Statements as text, whatever comes back.
    pub fn text(sql: impl Into<String>) -> Self {
        Self::Text { sql: sql.into(), rows: None }
    }
}

/// What is asked as number N of a step, from 0; timed as one.
pub type AskedAt = Arc<dyn Fn(u64) -> Vec<Asked> + Send + Sync>;

/// Statements of one session, one after the other.
#[derive(Clone)]
pub struct StatementsStep {
    /// How many.
    pub count: u64,
    /// Each of them.
    pub at: AskedAt,
    /// Time after which no more are begun; what it would have taken is for the recipe to say.
    pub limit: Option<Span>,
    /// Sessions that share them: more than 1 where order does not matter, as in loading.
    pub sessions: u32,
    /// So many are one transaction; 0 for each its own, as the server commits by itself.
    pub transaction: u64,
}

impl StatementsStep {
    /// All of them in one session, each its own transaction, without a limit.
    pub fn new(count: u64, at: impl Fn(u64) -> Vec<Asked> + Send + Sync + 'static) -> Self {
        Self { count, at: Arc::new(at), limit: None, sessions: 1, transaction: 0 }
    }

    /// These statements, in their order.
    pub fn of(statements: Vec<String>) -> Self {
        let count = statements.len() as u64;
        Self::new(count, move |index| vec![Asked::text(statements[index as usize].clone())])
    }
}

impl std::fmt::Debug for StatementsStep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} statements", self.count)
    }
}

/// A unit of work that a loop inside the server made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Index of its kind.
    pub kind: u8,
    /// When it began, from the beginning of the call.
    pub began: Span,
    /// How long it took.
    pub took: Span,
}

/// A loop inside the server.
pub trait ServerLoop: Send + Sync {
    /// The statement by which session number `session`, from 0, works for about `burst`.
    fn call(&self, session: u32, seed: u64, burst: Span) -> String;

    /// The units of work that its rows tell. None when they are something else.
    fn units(&self, rows: &[Row]) -> Option<Vec<Unit>>;
}

/// Transactions that sessions make.
pub trait Transactions: Send + Sync {
    /// The kind of the next one, by a random number.
    fn pick(&self, random: u64) -> u8;

    /// The kind of transaction number `turn`, from 0, of a session of a closed load, or among the arrivals of an open one: by
    /// default what the random number picks.
    fn pick_at(&self, _turn: u64, random: u64) -> u8 {
        self.pick(random)
    }

    /// What session number `session`, from 0, makes them with; it may prepare statements and set the session up.
    fn open(&self, session: &mut dyn Session, number: u32) -> Result<Box<dyn Taker>, Failure>;
}

/// Makes transactions in one session.
pub trait Taker: Send {
    /// Makes one. Returns a digest of what came back, where it has to be the same each time.
    fn take(&mut self, session: &mut dyn Session, kind: u8, random: u64) -> Result<Option<u64>, Failure>;
}

/// What the sessions of a crowd do.
#[derive(Clone)]
pub enum CrowdWork {
    /// Each calls a loop inside the server, again and again. Closed loads only.
    InServer(Arc<dyn ServerLoop>),
    /// Each makes transactions.
    Transactions(Arc<dyn Transactions>),
}

/// Kinds of transactions: what they are called, and whether they write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindOf {
    /// Its name.
    pub name: String,
    /// It writes.
    pub writes: bool,
    /// It is a part of others, timed by itself, as a commit is: it is counted beside them, and in no rate.
    pub is_part: bool,
}

/// Sessions side by side.
#[derive(Clone)]
pub struct CrowdStep {
    /// How many.
    pub sessions: u32,
    /// A closed load of that depth, or an open one that any free session takes from.
    pub pace: Pace,
    /// Kinds of transactions, by their index.
    pub kinds: Vec<KindOf>,
    /// What they do.
    pub work: CrowdWork,
    /// Each session makes so many and no more; otherwise time ends it.
    pub turns: Option<u64>,
    /// Time that is in no figure.
    pub warm_up: Span,
    /// Measured time before which it is not ended.
    pub least: Span,
    /// Measured time after which it is ended.
    pub most: Span,
    /// When it is known well enough.
    pub precision: Precision,
    /// What response times are judged by.
    pub objective: Option<Objective>,
    /// The server writes its dirty blocks first.
    pub checkpoint: bool,
    /// What determines random streams.
    pub seed: u64,
}

impl std::fmt::Debug for CrowdStep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} sessions, {:?}", self.sessions, self.pace)
    }
}

/// What was seen of statements.
#[derive(Clone, Debug, Default)]
pub struct StatementsSeen {
    /// How many were run.
    pub done: u64,
    /// How many did not bring the rows that they should have.
    pub wrong: u64,
    /// What was wrong with the first of these.
    pub first_wrong: Option<String>,
    /// Rows of the last that was asked to tell.
    pub told: Vec<Row>,
    /// Objects that they created and dropped.
    pub changes: ObjectChanges,
    /// How long they took.
    pub span: Span,
    /// Time for each.
    pub each: Bins,
    /// Processor time of this program.
    pub client: CpuTime,
    /// What the database counted.
    pub counted: DatabaseCounters,
    /// What the storage showed.
    pub storage: StorageSide,
}

/// What was seen of a crowd.
#[derive(Clone, Debug, Default)]
pub struct CrowdSeen {
    /// Slice by slice, warm-up included; streams are kinds.
    pub series: Vec<Slice>,
    /// Transactions of an open load that were never begun.
    pub unserved: u64,
    /// How late the generator of an open load was.
    pub lateness: Bins,
    /// The part of the series that the figures below cover: from and to, from its beginning.
    pub window: (Span, Span),
    /// What the database counted in it.
    pub counted: DatabaseCounters,
    /// What the storage showed in it.
    pub storage: StorageSide,
    /// Where sessions spent it.
    pub split: Option<Split>,
    /// Processor time of this program in it.
    pub client: Option<CpuTime>,
    /// Transactions that did not bring what others of their kind brought.
    pub differing: u64,
    /// The limit that held it, in a few words, as far as it can be told.
    pub limit: Option<String>,
    /// What makes its figures questionable, beside what they say themselves.
    pub findings: Vec<Finding>,
    /// What was changed while it ran: when, from the beginning of the series, and what.
    pub marks: Vec<(Span, String)>,
}
