//! Statements, one after the other, in one session or shared by several.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use plimsoll_database::{Answer, Database, Failure, Prepared, Row, Session};
use plimsoll_device::Clock;
use plimsoll_drive::{Fault, Observe};
use plimsoll_record::{Bins, Counting, Slice};
use plimsoll_units::{Instant, Kind, Op, Span};

use super::calls::{Cancels, fault};
use crate::crew::{Tie, merge, together};
use crate::sql::{Asked, StatementsSeen, StatementsStep};

/// Length of a slice: statements are shown as they go on, not measured by it.
const SLICE: Span = Span::from_millis(500);
/// All statements are counted as this.
const OP: Op = Op { offset: 0, length: 0, kind: Kind::Write, stream: 0 };

/// What the sessions of a step share.
struct Shared<'a> {
    database: &'a dyn Database,
    step: &'a StatementsStep,
    cancels: &'a Cancels,
    clock: Clock,
    /// The next statement, or the first of the next transaction.
    next: AtomicU64,
}

/// What one session saw.
#[derive(Default)]
struct Mine {
    series: Vec<Slice>,
    counting: Counting,
    /// Where the present slice begins.
    slice: Instant,
    wrong: u64,
    first_wrong: Option<String>,
    told: Vec<Row>,
    /// A statement failed: where, and why.
    fault: Option<Fault>,
}

/// Runs them all; the fault that ended them early beside what was seen until then.
pub(super) fn run(
    database: &dyn Database,
    step: &StatementsStep,
    observe: Observe<'_>,
) -> (StatementsSeen, Option<Fault>) {
    let cancels = Cancels::default();
    let clock = Clock::start();
    let shared = Shared { database, step, cancels: &cancels, clock, next: AtomicU64::new(0) };
    let members = (0..step.sessions.max(1)).map(|number| {
        let shared = &shared;
        move |tie: &mut Tie<'_>| Ok::<Mine, Fault>(shared.work(number, tie))
    });
    let mut stopped = false;
    let mine = together(members.collect(), &mut |series| shared.cancels.ask(observe, series, &mut stopped));
    let mine = match mine {
        Ok(mine) => mine,
        Err(fault) => return (StatementsSeen::default(), Some(fault)),
    };
    let mut seen = StatementsSeen { span: clock.now().since(Instant::ZERO), ..StatementsSeen::default() };
    let (mut series, mut failed) = (Vec::new(), None);
    for one in mine {
        let one = one.unwrap_or_else(|fault| Mine { fault: Some(fault), ..Mine::default() });
        merge(&mut series, one.series);
        seen.wrong += one.wrong;
        seen.first_wrong = seen.first_wrong.or(one.first_wrong);
        if !one.told.is_empty() {
            seen.told = one.told;
        }
        failed = failed.or(one.fault);
    }
    let mut each = Bins::default();
    for slice in &series {
        each.merge(&slice.tally.response());
    }
    seen.done = each.count;
    seen.each = each;
    // What was ended because the user wants an end has not failed.
    (seen, failed.filter(|_| !stopped))
}

impl Shared<'_> {
    fn work(&self, number: u32, tie: &mut Tie<'_>) -> Mine {
        let mut mine = Mine::default();
        if let Err(failure) = self.statements(number, tie, &mut mine) {
            tie.stop();
            mine.fault = Some(failure);
        }
        let rest = self.clock.now().since(mine.slice);
        mine.close(rest);
        let _ = tie.observe(&mine.series);
        mine
    }

    fn statements(&self, number: u32, tie: &mut Tie<'_>, mine: &mut Mine) -> Result<(), Fault> {
        let opening = |failure| fault("opening a session", failure);
        let mut desk = Desk {
            number,
            session: self.cancels.session(self.database, number).map_err(opening)?,
            prepared: HashMap::new(),
        };
        let together = self.step.transaction.max(1);
        'all: loop {
            let first = self.next.fetch_add(together, Ordering::Relaxed);
            let past = self.step.limit.is_some_and(|limit| self.clock.now().since(Instant::ZERO) >= limit);
            if first >= self.step.count || past || tie.is_stopped() {
                break;
            }
            let last = (first + together).min(self.step.count);
            if self.step.transaction > 0 {
                desk.session.begin().map_err(|failure| fault("beginning a transaction", failure))?;
            }
            for index in first..last {
                let begin = self.clock.now();
                let failed =
                    |failure: Failure| fault(format!("statement {} of {}", index + 1, self.step.count), failure);
                self.statement(&mut desk, index, mine).map_err(failed)?;
                let end = self.clock.now();
                while end >= mine.slice + SLICE {
                    mine.close(SLICE);
                }
                mine.counting.done(&OP, end.since(begin), end.since(begin));
                if tie.observe(&mine.series).is_break() {
                    break 'all;
                }
            }
            if self.step.transaction > 0 {
                desk.session.commit().map_err(|failure| fault("committing", failure))?;
            }
        }
        Ok(())
    }

    fn statement(&self, desk: &mut Desk, index: u64, mine: &mut Mine) -> Result<(), Failure> {
        for asked in (self.step.at)(index) {
            let (answer, expected) = match &asked {
                Asked::Text { sql, rows } => (desk.session.run(sql)?, *rows),
                Asked::Prepared { sql, values, rows } => {
                    let prepared = desk.prepared(sql)?;
                    (desk.session.execute(prepared, values)?, *rows)
                }
                Asked::Told(sql) => {
                    mine.told = desk.session.rows(sql)?;
                    (Answer::default(), None)
                }
                Asked::Reconnect => {
                    desk.session = self.cancels.session(self.database, desk.number)?;
                    desk.prepared.clear();
                    continue;
                }
            };
            if expected.is_some_and(|expected| expected != answer.rows) {
                mine.wrong += 1;
                mine.first_wrong.get_or_insert_with(|| wrong(&asked, answer.rows));
            }
        }
        Ok(())
    }
}

/// A session with what it has prepared.
struct Desk {
    number: u32,
    session: Box<dyn Session>,
    prepared: HashMap<Arc<str>, Prepared>,
}

impl Desk {
    fn prepared(&mut self, sql: &Arc<str>) -> Result<Prepared, Failure> {
        if let Some(prepared) = self.prepared.get(sql) {
            return Ok(*prepared);
        }
        let prepared = self.session.prepare(sql)?;
        self.prepared.insert(Arc::clone(sql), prepared);
        Ok(prepared)
    }
}

impl Mine {
    /// Ends the present slice after `span`.
    fn close(&mut self, span: Span) {
        self.series.push(Slice { start: self.slice, span, tally: self.counting.take() });
        self.slice += span;
    }
}

fn wrong(asked: &Asked, rows: u64) -> String {
    let (sql, expected) = match asked {
        Asked::Text { sql, rows } => (sql.as_str(), rows),
        Asked::Prepared { sql, rows, .. } => (&**sql, rows),
        Asked::Told(_) | Asked::Reconnect => ("", &None),
    };
    let shown: String = sql.chars().take(120).collect();
    format!("{} rows expected, {rows} came: {shown}", expected.unwrap_or_default())
}
