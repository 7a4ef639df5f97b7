//! Statements in sequence, in a single session or distributed over several.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use plimsoll_database::{Answer, Database, Failure, ObjectChanges, Prepared, Row, Session};
use plimsoll_device::Clock;
use plimsoll_drive::{Fault, Observe};
use plimsoll_record::{Bins, Counting, Slice};
use plimsoll_units::{Instant, Kind, Op, Span};

use super::sessions::{Cancellations, convert_failure};
use crate::sql::{SqlRequest, StatementsResult, StatementsStep};
use crate::workers::{WorkerHandle, merge, together};

/// Length of a slice, only for progress.
const SLICE: Span = Span::from_millis(500);
/// Counted operation of every statement.
const OP: Op = Op { offset: 0, length: 0, kind: Kind::Write, stream: 0 };

/// State shared by the sessions of a step.
struct StepState<'a> {
    database: &'a dyn Database,
    step: &'a StatementsStep,
    cancels: &'a Cancellations,
    clock: Clock,
    /// Index of the next statement, or of the first of the next transaction.
    next: AtomicU64,
}

#[derive(Default)]
struct SessionResult {
    series: Vec<Slice>,
    counting: Counting,
    /// Start of the present slice.
    slice: Instant,
    wrong: u64,
    first_wrong: Option<String>,
    rows: Vec<Row>,
    changes: ObjectChanges,
    /// The failure of a statement.
    fault: Option<Fault>,
}

/// Runs all statements. Returns the result so far with the fault that ended them early.
pub(super) fn run(
    database: &dyn Database,
    step: &StatementsStep,
    observe: Observe<'_>,
) -> (StatementsResult, Option<Fault>) {
    let cancels = Cancellations::default();
    let clock = Clock::start();
    let shared = StepState { database, step, cancels: &cancels, clock, next: AtomicU64::new(0) };
    let members = (0..step.sessions.max(1)).map(|number| {
        let shared = &shared;
        move |handle: &mut WorkerHandle<'_>| Ok::<SessionResult, Fault>(shared.work(number, handle))
    });
    let mut stopped = false;
    let mine = together(members.collect(), &mut |series| shared.cancels.ask(observe, series, &mut stopped));
    let mine = match mine {
        Ok(mine) => mine,
        Err(fault) => return (StatementsResult::default(), Some(fault)),
    };
    let mut observed = StatementsResult { span: clock.now().since(Instant::ZERO), ..StatementsResult::default() };
    let (mut series, mut failed) = (Vec::new(), None);
    for one in mine {
        let one = one.unwrap_or_else(|fault| SessionResult { fault: Some(fault), ..SessionResult::default() });
        merge(&mut series, one.series);
        observed.wrong += one.wrong;
        observed.first_wrong = observed.first_wrong.or(one.first_wrong);
        observed.changes.merge(one.changes);
        if !one.rows.is_empty() {
            observed.rows = one.rows;
        }
        failed = failed.or(one.fault);
    }
    let mut each = Bins::default();
    for slice in &series {
        each.merge(&slice.tally.response());
    }
    observed.done = each.count;
    observed.each = each;
    // An interrupted step has not failed.
    (observed, failed.filter(|_| !stopped))
}

impl StepState<'_> {
    fn work(&self, number: u32, handle: &mut WorkerHandle<'_>) -> SessionResult {
        let mut mine = SessionResult::default();
        if let Err(failure) = self.statements(number, handle, &mut mine) {
            handle.stop();
            mine.fault = Some(failure);
        }
        let rest = self.clock.now().since(mine.slice);
        mine.close(rest);
        let _ = handle.observe(&mine.series);
        mine
    }

    fn statements(&self, number: u32, handle: &mut WorkerHandle<'_>, mine: &mut SessionResult) -> Result<(), Fault> {
        let opening = |failure| convert_failure("opening a session", failure);
        let mut session = PreparingSession {
            number,
            inner: self.cancels.session(self.database, number).map_err(opening)?,
            prepared: HashMap::new(),
        };
        let together = self.step.transaction.max(1);
        'all: loop {
            let first = self.next.fetch_add(together, Ordering::Relaxed);
            let past = self.step.limit.is_some_and(|limit| self.clock.now().since(Instant::ZERO) >= limit);
            if first >= self.step.count || past || handle.is_stopped() {
                break;
            }
            let last = (first + together).min(self.step.count);
            if self.step.transaction > 0 {
                session.inner.begin().map_err(|failure| convert_failure("beginning a transaction", failure))?;
            }
            for index in first..last {
                let begin = self.clock.now();
                let failed = |failure: Failure| {
                    convert_failure(format!("statement {} of {}", index + 1, self.step.count), failure)
                };
                self.statement(&mut session, index, mine).map_err(failed)?;
                let end = self.clock.now();
                while end >= mine.slice + SLICE {
                    mine.close(SLICE);
                }
                mine.counting.done(&OP, end.since(begin), end.since(begin));
                if handle.observe(&mine.series).is_break() {
                    break 'all;
                }
            }
            if self.step.transaction > 0 {
                session.inner.commit().map_err(|failure| convert_failure("committing", failure))?;
            }
        }
        Ok(())
    }

    fn statement(&self, session: &mut PreparingSession, index: u64, mine: &mut SessionResult) -> Result<(), Failure> {
        for request in (self.step.at)(index) {
            let (answer, expected) = match &request {
                SqlRequest::Text { sql, rows } => {
                    let answer = session.inner.run(sql)?;
                    mine.changes.note(sql);
                    (answer, *rows)
                }
                SqlRequest::Prepared { sql, values, rows } => {
                    let prepared = session.prepared(sql)?;
                    (session.inner.execute(prepared, values)?, *rows)
                }
                SqlRequest::Query(sql) => {
                    mine.rows = session.inner.rows(sql)?;
                    (Answer::default(), None)
                }
                SqlRequest::Reconnect => {
                    session.inner = self.cancels.session(self.database, session.number)?;
                    session.prepared.clear();
                    continue;
                }
            };
            if expected.is_some_and(|expected| expected != answer.rows) {
                mine.wrong += 1;
                mine.first_wrong.get_or_insert_with(|| wrong(&request, answer.rows));
            }
        }
        Ok(())
    }
}

struct PreparingSession {
    number: u32,
    inner: Box<dyn Session>,
    prepared: HashMap<Arc<str>, Prepared>,
}

impl PreparingSession {
    fn prepared(&mut self, sql: &Arc<str>) -> Result<Prepared, Failure> {
        if let Some(prepared) = self.prepared.get(sql) {
            return Ok(*prepared);
        }
        let prepared = self.inner.prepare(sql)?;
        self.prepared.insert(Arc::clone(sql), prepared);
        Ok(prepared)
    }
}

impl SessionResult {
    /// Closes the present slice after `span`.
    fn close(&mut self, span: Span) {
        self.series.push(Slice { start: self.slice, span, tally: self.counting.take() });
        self.slice += span;
    }
}

fn wrong(request: &SqlRequest, rows: u64) -> String {
    let (sql, expected) = match request {
        SqlRequest::Text { sql, rows } => (sql.as_str(), rows),
        SqlRequest::Prepared { sql, rows, .. } => (&**sql, rows),
        SqlRequest::Query(_) | SqlRequest::Reconnect => ("", &None),
    };
    let displayed: String = sql.chars().take(120).collect();
    format!("{} rows expected, {rows} came: {displayed}", expected.unwrap_or_default())
}
