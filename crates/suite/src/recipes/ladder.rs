//! A statement at rising concurrency: time per execution, executions per minute, and the binding limit.
//!
//! Follows the ladder of full table scans in an article on Azure disks.

mod print;
mod published;
mod statement;
mod verdicts;

use std::str::FromStr;
use std::sync::Arc;

use plimsoll_analyse::{Precision, closed};
use plimsoll_database::System;
use plimsoll_load::Pace;
use plimsoll_record::{Bins, DatabaseSide, DelayAndQueue, Listing, StepQuantity, Verdict};
use plimsoll_units::{Bytes, Span};

use super::target::TargetError;
use crate::ground::Facts;
use crate::options::{FlagError, OptionsError, SuiteOptions, Surroundings};
use crate::recipe::{CompletedStep, Recipe, database_result};
use crate::session_run::session_run;
use crate::sql::{SessionWork, SessionsResult, SessionsStep, StatementsStep, TransactionKind};
use crate::step::{Step, Work};

use statement::{Executions, ResultCheck, filling, full_scan, is_reading};

/// Maximum number of executions with separate columns.
const MAX_COLUMNS: u64 = 12;
/// Maximum ratio of the saturation point of a fitted queue to the sessions of the last rung.
const MAX_EXTRAPOLATION: f64 = 3.0;
/// Maximum number of sessions of a rung.
const MAX_SESSIONS: u32 = 1024;

/// Time bounds that determine the slice length of a rung that ends after a number of executions.
const SHOWN: (Span, Span) = (Span::from_secs(4), Span::from_secs(120));

/// An SQL script from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlScript {
    /// Name of the file.
    pub name: String,
    /// Statements.
    pub sql: String,
}

impl FromStr for SqlScript {
    type Err = FlagError;

    /// Reads the file.
    fn from_str(path: &str) -> Result<Self, FlagError> {
        let sql = std::fs::read_to_string(path);
        let sql = sql.map_err(|error| FlagError::Script { path: path.to_owned(), error })?;
        Ok(Self { name: path.into(), sql })
    }
}

/// Sessions of each rung, ascending: `1..6,9,12`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rungs(pub Vec<u32>);

/// Maximum number of rungs, against typing errors.
const MAX_RUNGS: usize = 100;

impl FromStr for Rungs {
    type Err = FlagError;

    fn from_str(text: &str) -> Result<Self, FlagError> {
        let wrong = || FlagError::Rungs(text.to_owned());
        let number = |part: &str| part.trim().parse::<u32>().ok().filter(|number| *number > 0);
        let mut rungs = Vec::new();
        for part in text.split(',') {
            let (from, to) = match part.split_once("..") {
                Some((from, to)) => (number(from), number(to)),
                None => (number(part), number(part)),
            };
            let (from, to) = from.zip(to).filter(|(from, to)| from <= to).ok_or_else(wrong)?;
            rungs.extend((from..=to).take(MAX_RUNGS + 1));
            if rungs.len() > MAX_RUNGS {
                return Err(FlagError::RungCount { text: text.to_owned(), max: MAX_RUNGS });
            }
        }
        if rungs.is_sorted_by(|a, b| a < b) { Ok(Self(rungs)) } else { Err(wrong()) }
    }
}

/// End of a rung.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Until {
    /// A number of executions.
    Turns(u64),
    /// A time.
    Time(Span),
}

/// Options of the ladder.
#[derive(Clone, Debug, clap::Args)]
pub struct LadderOptions {
    /// File with the statement or script, which runs on your own tables; by default a full scan of a generated table
    /// per session
    #[arg(long, value_name = "FILE")]
    pub sql: Option<SqlScript>,
    /// Allow the statement to write. YOUR TABLES ARE CHANGED. By default its sessions are read-only
    #[arg(long = "allow-writes", requires = "sql")]
    pub may_write: bool,
    /// Approximate size of each generated table; larger than all caches, so that reads reach the storage
    #[arg(long, value_name = "SIZE", default_value = "256MiB", conflicts_with = "sql")]
    pub table: Bytes,
    /// Numbers of concurrent sessions, in steps: 1..12, or 1,2,4,8, or both
    #[arg(long = "concurrency", value_name = "RUNGS", default_value = "1..6,9,12")]
    pub rungs: Rungs,
    /// Executions per session in each step
    #[arg(long, value_name = "TIMES", default_value_t = 6, conflicts_with = "measure")]
    pub turns: u64,
    /// Duration of each step, instead of a number of executions
    #[arg(long, value_name = "TIME")]
    pub measure: Option<Span>,
    /// File with statements that run once before the first step, such as creating and filling tables
    #[arg(long, value_name = "FILE")]
    pub setup: Option<SqlScript>,
    /// File with statements that run once after the last step
    #[arg(long, value_name = "FILE")]
    pub teardown: Option<SqlScript>,
    /// Show the table of the article for comparison: a full scan in Oracle on an Azure disk, 2014
    #[arg(long)]
    pub beside_article: bool,
}

impl SuiteOptions for LadderOptions {
    fn sessions(&self) -> u32 {
        self.rungs.0.last().copied().unwrap_or(1)
    }

    fn uses_own_tables(&self) -> bool {
        self.sql.is_none()
    }

    fn writes(&self) -> bool {
        self.uses_own_tables() || self.may_write || self.setup.is_some() || self.teardown.is_some()
    }

    fn recipe(&self, _surroundings: &Surroundings, facts: &Facts) -> Result<Box<dyn Recipe>, OptionsError> {
        Ok(Box::new(Ladder::new(self.clone(), facts)?))
    }
}

impl LadderOptions {
    /// Size of the built-in table; `None` with a script.
    fn table_size(&self) -> Option<Bytes> {
        self.sql.is_none().then_some(self.table)
    }

    fn until(&self) -> Until {
        self.measure.map_or(Until::Turns(self.turns), Until::Time)
    }
}

/// A statement at rising concurrency.
pub struct Ladder {
    options: LadderOptions,
    sql: Arc<str>,
    /// Statement executed first in each session.
    opening: Option<&'static str>,
    /// Whether sessions are read-only.
    read_only: bool,
    steps: Vec<Step>,
    /// Results by rung.
    result_checks: Vec<Arc<ResultCheck>>,
}

/// A completed rung.
struct Rung<'a> {
    sessions: u32,
    observed: &'a SessionsResult,
    /// Times of all executions, and of each turn.
    all: Bins,
    turns: Vec<Bins>,
    /// Executions in the window of the counters.
    counted: u64,
}

impl Ladder {
    /// The recipe on a ground with these facts.
    ///
    /// # Errors
    /// No rungs, rungs that do not ascend, no statement, no database, or a system without a built-in table.
    pub fn new(options: LadderOptions, facts: &Facts) -> Result<Self, OptionsError> {
        let Some((system, ref about)) = facts.database else {
            return Err(TargetError::NoDatabase(facts.subject.name.clone()).into());
        };
        check(&options)?;
        let once = |name: &str, script: &SqlScript| {
            Step::statements(name, StatementsStep::of(vec![script.sql.clone()])).uncounted()
        };
        let mut steps: Vec<Step> = options.setup.iter().map(|setup| once("Set-up", setup)).collect();
        let is_script = options.sql.is_some();
        let read_only = is_script && !options.may_write && !about.created;
        let (sql, opening) = if let Some(script) = &options.sql {
            (script.sql.clone(), None)
        } else {
            let max = options.rungs.0.iter().copied().max().unwrap_or(1);
            steps.extend(filling(system, options.table, max).ok_or(LadderError::System(system))?);
            (full_scan().to_owned(), opening_sql(system))
        };
        let mut result_checks = vec![Arc::new(ResultCheck::default())];
        for _ in 1..options.rungs.0.len() {
            result_checks.push(Arc::new(result_checks[0].beside()));
        }
        let mut ladder = Self { options, sql: sql.into(), opening, read_only, steps, result_checks };
        let rungs: Vec<Step> = (0..ladder.options.rungs.0.len()).map(|index| ladder.rung(index)).collect();
        let teardown = ladder.options.teardown.as_ref().map(|teardown| once("Tear-down", teardown));
        ladder.steps.extend(rungs.into_iter().chain(teardown));
        Ok(ladder)
    }

    /// Number of executions with separate columns; `None` if there are too many, or time ends a rung.
    fn columns(&self) -> Option<u64> {
        match self.options.until() {
            Until::Turns(turns) if turns <= MAX_COLUMNS => Some(turns),
            _ => None,
        }
    }

    fn kinds(&self) -> Vec<TransactionKind> {
        let writes = !is_reading(&self.sql);
        match self.columns() {
            Some(turns) => {
                (1..=turns).map(|turn| TransactionKind { name: format!("SQL{turn}"), writes, is_part: false }).collect()
            }
            None => vec![TransactionKind { name: "SQL".into(), writes, is_part: false }],
        }
    }

    fn rung(&self, index: usize) -> Step {
        let sessions = self.options.rungs.0[index];
        let kinds = self.kinds();
        let work = Executions {
            sql: Arc::clone(&self.sql),
            opening: self.opening,
            read_only: self.read_only,
            own_tables: self.options.sql.is_none(),
            kinds: kinds.len() as u64,
            result_check: Arc::clone(&self.result_checks[index]),
        };
        let (turns, least, max) = match self.options.until() {
            Until::Turns(turns) => (Some(turns), SHOWN.0, SHOWN.1),
            Until::Time(time) => (None, time, time),
        };
        let step = SessionsStep {
            sessions,
            pace: Pace::Closed { depth: sessions },
            kinds,
            work: SessionWork::Transactions(Arc::new(work)),
            turns,
            warm_up: Span::ZERO,
            least,
            max,
            precision: Precision::default(),
            objective: None,
            checkpoint: true,
            seed: 1,
        };
        let plural = if sessions == 1 { "" } else { "s" };
        Step::sessions(format!("{sessions} session{plural}"), step).measuring(StepQuantity::StatementExecutions)
    }
}

impl Ladder {
    /// Planned executions of a rung; `None` if time ends it.
    fn planned(&self, rung: &Rung<'_>) -> Option<u64> {
        match self.options.until() {
            Until::Turns(turns) => Some(turns * u64::from(rung.sessions)),
            Until::Time(_) => None,
        }
    }

    /// Fitted delay and queue of the complete rungs; `None` without a queue.
    fn fitted(&self, rungs: &[Rung<'_>]) -> Option<DelayAndQueue> {
        let is_finished = |rung: &&Rung<'_>| self.planned(rung).is_none_or(|planned| rung.all.count >= planned);
        let points: Vec<(u32, f64)> =
            rungs.iter().filter(is_finished).map(|rung| (rung.sessions, rung.rate())).collect();
        let observed = MAX_EXTRAPOLATION * f64::from(points.last()?.0);
        closed::fit(&points).filter(|fitted| closed::saturation(fitted) <= observed)
    }
}

impl Rung<'_> {
    /// Mean time of an execution.
    fn mean(&self) -> Span {
        self.all.mean().unwrap_or_default()
    }

    /// Executions per second by Little's law: sessions divided by the mean time.
    fn rate(&self) -> f64 {
        f64::from(self.sessions) / self.mean().as_secs_f64().max(1e-9)
    }
}

/// The rungs so far; the last may be incomplete.
fn completed_rungs(done: &[CompletedStep]) -> Vec<Rung<'_>> {
    done.iter().filter(|done| done.step.counts).filter_map(rung).collect()
}

fn rung(done: &CompletedStep) -> Option<Rung<'_>> {
    let (Work::Sessions(step), Some(observed)) = (&done.step.work, done.result.sessions()) else { return None };
    let mut turns = vec![Bins::default(); step.kinds.len()];
    for counter in observed.series.iter().flat_map(|slice| &slice.tally.0) {
        if let Some(turn) = turns.get_mut(usize::from(counter.stream)) {
            turn.merge(&counter.response);
        }
    }
    let mut all = Bins::default();
    for turn in &turns {
        all.merge(turn);
    }
    let counted = session_run(step, observed).run.total.operations();
    (!all.is_empty()).then_some(Rung { sessions: step.sessions, observed, all, turns, counted })
}

/// Options without a measurable ladder.
#[rustfmt::skip]
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
enum LadderError {
    #[error("no table is made for {0}: give --sql with a statement on a table of yours")] System(System),
    #[error("the ladder needs rising numbers of sessions: give --concurrency 1..12 or 1,2,4,8")] Rungs,
    #[error("a rung has at most {MAX_SESSIONS} sessions: give --concurrency less")] Sessions,
    #[error("a session has to execute something: give --turns 1 or more")] Turns,
    #[error("a rung needs some time: give --measure 10s")] Time,
    #[error("{0}: the file has no statement")] Script(String),
    #[error("the table is too small: give --table 1MiB or more")] Table,
}

fn check(options: &LadderOptions) -> Result<(), LadderError> {
    let rungs = &options.rungs.0;
    if rungs.is_empty() || rungs[0] == 0 || !rungs.is_sorted_by(|a, b| a < b) {
        return Err(LadderError::Rungs);
    }
    if rungs.last().is_some_and(|max| *max > MAX_SESSIONS) {
        return Err(LadderError::Sessions);
    }
    match options.until() {
        Until::Turns(0) => return Err(LadderError::Turns),
        Until::Time(time) if time.is_zero() => return Err(LadderError::Time),
        _ => {}
    }
    match &options.sql {
        Some(script) if script.sql.trim().is_empty() => Err(LadderError::Script(script.name.clone())),
        None if options.table < Bytes::mib(1) => Err(LadderError::Table),
        _ => Ok(()),
    }
}

/// Setting that makes concurrent scans independent, as in the article.
const fn opening_sql(system: System) -> Option<&'static str> {
    match system {
        System::Postgres => Some("SET synchronize_seqscans = off; SET max_parallel_workers_per_gather = 0"),
        _ => None,
    }
}

impl Recipe for Ladder {
    fn name(&self) -> &'static str {
        "ladder"
    }

    fn follows(&self) -> String {
        published::FOLLOWS.into()
    }

    fn settings(&self) -> Vec<(String, String)> {
        let rungs: Vec<String> = self.options.rungs.0.iter().map(u32::to_string).collect();
        let statement = match &self.options.sql {
            Some(script) => script.name.clone(),
            None => format!("{} on a table of {} for each session", self.sql, self.options.table),
        };
        let until = match self.options.until() {
            Until::Turns(turns) => ("executions".to_owned(), format!("{turns} of each session")),
            Until::Time(time) => ("time of a rung".to_owned(), time.to_string()),
        };
        let opening = self.opening.map(|sql| ("each session begins with".to_owned(), sql.to_owned()));
        let reading = self.read_only.then(|| ("each session".to_owned(), "only reads".to_owned()));
        let both = [("statement".to_owned(), statement), ("sessions".to_owned(), rungs.join(", ")), until];
        both.into_iter().chain(opening).chain(reading).collect()
    }

    fn data_size(&self) -> Bytes {
        match self.options.sql {
            None => Bytes::new(
                self.options.table.get() * u64::from(self.options.rungs.0.iter().copied().max().unwrap_or(1)),
            ),
            Some(_) => Bytes::default(),
        }
    }

    fn data_key(&self) -> Option<String> {
        let last = self.options.rungs.0.last().filter(|_| self.options.sql.is_none())?;
        Some(format!("tables {last}, each of {}", self.options.table))
    }

    fn steps(&self) -> &[Step] {
        &self.steps
    }

    fn listings(&self, done: &[CompletedStep], _facts: &Facts) -> Vec<Listing> {
        let rungs = completed_rungs(done);
        if rungs.is_empty() {
            return Vec::new();
        }
        let mut listings =
            vec![Listing { title: "Response and throughput".into(), text: print::table(&rungs, self.columns()) }];
        if self.options.beside_article {
            listings.push(Listing { title: published::TITLE.into(), text: print::beside(&rungs) });
        }
        listings
    }

    fn verdicts(&self, done: &[CompletedStep], facts: &Facts) -> Vec<Verdict> {
        verdicts::verdicts(self, &completed_rungs(done), facts)
    }

    fn database_result(&self, done: &[CompletedStep], facts: &Facts) -> DatabaseSide {
        DatabaseSide { fitted: self.fitted(&completed_rungs(done)), ..database_result(done, facts) }
    }

    fn has_failed(&self, _done: &[CompletedStep]) -> bool {
        // A user's statement may return different rows; the built-in statement must not.
        self.options.sql.is_none() && self.result_checks.iter().any(|observed| observed.differing() > 0)
    }
}

#[cfg(test)]
mod tests;
