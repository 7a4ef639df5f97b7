//! Assignment of schemas to sessions and of updates to units of work, and results of units of work.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use plimsoll_database::{Failure, Prepared, Row, Session, System, Value};
use plimsoll_units::Span;

use super::layout::SchemaLayout;
use crate::sql::{ServerLoop, SessionWork, TransactionKind, TransactionRunner, Transactions, WorkUnit};

/// Indices of the timed kinds. The commit of an update is timed separately if the loop is inside the server.
pub(super) const SELECT: u8 = 0;
pub(super) const UPDATE: u8 = 1;
pub(super) const COMMIT: u8 = 2;

/// Whether unit of work `number` updates: alternately until `update_pct` of a hundred units have updated; the rest
/// reads. Deterministic, because the share of random draws would vary in short steps.
pub(super) const fn updates(number: u64, update_pct: u32) -> bool {
    update_pct == 100 || (number % 2 == 1 && number % 100 / 2 < update_pct as u64)
}

pub(super) fn kinds(system: System) -> Vec<TransactionKind> {
    let kind = |name: &str, writes| TransactionKind { name: name.into(), writes, is_part: name == "commit" };
    if system.has_procedures() {
        vec![kind("select", false), kind("update", true), kind("commit", true)]
    } else {
        vec![kind("select", false), kind("update, with its commit", true)]
    }
}

/// Work of the sessions for this share of updates.
pub(super) fn work(layout: &Arc<SchemaLayout>, update_pct: u32) -> SessionWork {
    let layout = Arc::clone(layout);
    if layout.system.has_procedures() {
        SessionWork::InServer(Arc::new(Loop { layout, update_pct }))
    } else {
        SessionWork::Transactions(Arc::new(Turns { layout, update_pct, number: AtomicU64::new(0) }))
    }
}

/// Schema of a session, from 1: all schemas are active if there are at least as many sessions.
const fn assign_schema(session: u32, schemas: u32) -> u32 {
    session % schemas + 1
}

struct Loop {
    layout: Arc<SchemaLayout>,
    update_pct: u32,
}

impl ServerLoop for Loop {
    fn call(&self, session: u32, seed: u64, burst: Span) -> String {
        let schema = assign_schema(session, self.layout.schemas);
        self.layout.call(schema, self.update_pct, seed, burst.as_nanos() / 1000)
    }

    fn units(&self, rows: &[Row]) -> Option<Vec<WorkUnit>> {
        parse_units(rows.first()?.first()?.text()?)
    }
}

/// Parses units of work: kind, start and duration in microseconds, repeated.
fn parse_units(text: &str) -> Option<Vec<WorkUnit>> {
    let mut numbers = text.split_ascii_whitespace();
    let mut units = Vec::new();
    while let Some(kind) = numbers.next() {
        let kind = kind.parse().ok().filter(|kind| *kind <= COMMIT)?;
        // Negative times occur after the clock was set back.
        let mut span = || Some(Span::from_micros(numbers.next()?.parse::<i64>().ok()?.max(0).unsigned_abs()));
        units.push(WorkUnit { kind, began: span()?, took: span()? });
    }
    Some(units)
}

/// Units of work as transactions of this process.
struct Turns {
    layout: Arc<SchemaLayout>,
    update_pct: u32,
    number: AtomicU64,
}

impl Transactions for Turns {
    fn pick(&self, _: u64) -> u8 {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        if updates(number, self.update_pct) { UPDATE } else { SELECT }
    }

    fn open(&self, session: &mut dyn Session, number: u32) -> Result<Box<dyn TransactionRunner>, Failure> {
        let [select, update] = self.layout.select_and_update(assign_schema(number, self.layout.schemas));
        let (select, update) = (session.prepare(&select)?, session.prepare(&update)?);
        Ok(Box::new(Turn { layout: self.layout.clone(), select, update, number: 0 }))
    }
}

/// Units of work of a session.
struct Turn {
    layout: Arc<SchemaLayout>,
    select: Prepared,
    update: Prepared,
    number: u64,
}

impl Turn {
    /// End of the next range.
    fn end(&mut self, random: &mut fastrand::Rng) -> u64 {
        self.number += 1;
        match self.layout.hot_ends() {
            Some((frequency, first, count)) if self.number.is_multiple_of(frequency) => first + random.u64(..count),
            _ => {
                let (first, count) = self.layout.ends();
                first + random.u64(..count)
            }
        }
    }

    /// New content of a column.
    fn value(&self, random: &mut fastrand::Rng) -> Value {
        let mut bytes = vec![b'p'; self.layout.column as usize];
        if !self.layout.compressible {
            random.fill(&mut bytes);
        }
        Value::Bytes(bytes)
    }
}

impl TransactionRunner for Turn {
    fn run(&mut self, session: &mut dyn Session, kind: u8, random: u64) -> Result<Option<u64>, Failure> {
        let mut random = fastrand::Rng::with_seed(random);
        let end = self.end(&mut random);
        let range = [end - self.layout.work_unit, end].map(|key| Value::Int(key.cast_signed()));
        if kind == SELECT {
            session.fetch(self.select, &range)?;
            return Ok(None);
        }
        let mut values: Vec<Value> = (0..self.layout.changed).map(|_| self.value(&mut random)).collect();
        values.extend(range);
        session.begin()?;
        let done = session.execute(self.update, &values).and_then(|_| session.commit());
        if done.is_err() {
            // The first failure is reported; there may be no open transaction.
            let _ = session.rollback();
        }
        done.map(|()| None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternate_units_update_up_to_the_share() {
        for pct in (0..=50).chain([100]) {
            let of_hundred = (200..300).filter(|number| updates(*number, pct)).count();
            assert_eq!(of_hundred, pct as usize, "{pct}");
        }
        let first: Vec<bool> = (0..8).map(|number| updates(number, 3)).collect();
        assert_eq!(first, [false, true, false, true, false, true, false, false]);
    }

    #[test]
    fn server_loop_result_is_parsed() {
        let unit =
            |kind, began, took| WorkUnit { kind, began: Span::from_micros(began), took: Span::from_micros(took) };
        assert_eq!(
            parse_units("0 12 340 1 360 500 2 860 90 "),
            Some(vec![unit(0, 12, 340), unit(1, 360, 500), unit(2, 860, 90)])
        );
        assert_eq!(parse_units("0 -3 -1"), Some(vec![unit(0, 0, 0)]));
        assert_eq!(parse_units(""), Some(Vec::new()));
        for wrong in ["0 1", "3 1 2", "x", "0 1 2 0"] {
            assert_eq!(parse_units(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn sessions_cover_all_schemas() {
        assert_eq!((0..6).map(|session| assign_schema(session, 4)).collect::<Vec<_>>(), [1, 2, 3, 4, 1, 2]);
    }
}
