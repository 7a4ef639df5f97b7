//! Tables of samples with commas, semicolons or tabs: what somebody exports out of any monitoring, one row for each time.
//!
//! The first row names the columns; what is known of each follows from the words of its name:
//!
//! - the time: `time`, `timestamp`, `date`, `datetime`, `ts`, at the end of each window;
//! - `read`, `write` or neither (`total`), with `iops` or `ops`: operations a second; `bytes`, `kb`, `kib`, `mb`, `mib`,
//!   `throughput`: bytes a second, in that unit (`mb` is 10^6, `mib` 2^20); `latency` or `await`: time of an operation, in
//!   `us`, `ms` or `s`, milliseconds where none is named; `queue` or `depth`: operations in flight;
//! - `device`, `disk`, `volume`, `lun`: the part; `host`, `server`, `vm`; `database`, `db`.
//!
//! A column that has no meaning by these words is left out, and listed.

mod columns;
mod snapshots;

use std::sync::Arc;

use jiff::civil::DateTime;
use plimsoll_units::Span;

use self::columns::{Column, Columns, cells};
use crate::builder::Builder;
use crate::figure::{Class, Measure, Origin, Scope, Window};
use crate::format::{Form, Input, Resemblance, Takes};
use crate::kind::Kind;
use crate::lines::{LineFormat, Lines};
use crate::reading::Fate;
use crate::refusal::Refusal;
use crate::series::Spacing;
use crate::timestamp;

pub(crate) use snapshots::FORM as SNAPSHOTS;

const KIND: Kind = Kind { id: "table", name: "table of samples" };

/// Tables of samples.
pub(crate) const FORM: Form = Form {
    kind: KIND,
    takes: Takes::Text,
    resembles,
    open: |input| Box::new(Lines::new(Samples { input: input.clone(), ..Samples::default() })),
};

fn resembles(head: &[u8]) -> Resemblance {
    let text = String::from_utf8_lossy(head);
    let Some(columns) = text.lines().find(|line| !line.trim().is_empty()).and_then(Columns::of) else {
        return Resemblance::None;
    };
    match (columns.time().is_some(), columns.rates()) {
        (true, 1..) => Resemblance::Is { marks: 2 },
        (true, 0) => Resemblance::Near { marks: 1, missing: "column such as read_iops" },
        (false, 2..) => Resemblance::Near { marks: 1, missing: "column of the time" },
        _ => Resemblance::None,
    }
}

#[derive(Default)]
struct Samples {
    input: Input,
    columns: Option<Columns>,
    /// Rows wait until the distance of the first ones is known.
    waiting: Vec<Row>,
    length: Option<Span>,
    last: Option<DateTime>,
    fields: Vec<Arc<str>>,
    broken: Option<u64>,
    line: u64,
}

struct Row {
    line: u64,
    at: DateTime,
    scope: Scope,
    /// By column.
    values: Vec<Option<f64>>,
}

impl LineFormat for Samples {
    fn kind(&self) -> Kind {
        KIND
    }

    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        if line.trim().is_empty() {
            return Ok(());
        }
        self.line = number;
        let Some(columns) = &self.columns else {
            let columns = Columns::of(line);
            self.fields = columns.iter().flat_map(Columns::names).map(|name| Arc::from(name.as_str())).collect();
            self.columns = columns;
            return Ok(());
        };
        match row(columns, line, number, out) {
            Some(row) if self.length.is_some() => self.put(&row, out),
            Some(row) => {
                self.waiting.push(row);
                if self.waiting.len() >= Self::LOOK {
                    self.settle(out);
                }
            }
            None => {
                self.broken = Some(number);
                out.caution(Some(Origin::line(number)), "a row without its time or its values: left out");
            }
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.settle(out);
        for column in self.columns.iter().flat_map(Columns::unknown) {
            out.part(column, Fate::Ignored);
        }
        if self.broken == Some(self.line) {
            out.part("last line", Fate::Broken);
        }
        let unusable = |what: &str| Err(Refusal::Unusable { kind: KIND, origin: None, what: what.to_owned() });
        match (self.length, out.count()) {
            (None, _) if !self.waiting.is_empty() => {
                unusable("one row, and no word of how long its time was: say the interval")
            }
            (_, 0) => {
                unusable("no row has a time and a value that can be read: name the columns time, read_iops, write_iops")
            }
            _ => Ok(()),
        }
    }
}

impl Samples {
    /// Rows that are looked at for their distance.
    const LOOK: usize = 10_000;

    /// Hands over the rows that wait, when it is known how long their windows are.
    fn settle(&mut self, out: &mut Builder) {
        if self.length.is_none() {
            let mut spacing = Spacing::default();
            spacing.learn(self.waiting.iter().map(|row| row.at));
            self.length = spacing.length(self.input.interval);
        }
        if self.length.is_some() {
            for row in std::mem::take(&mut self.waiting) {
                self.put(&row, out);
            }
        }
    }

    fn put(&mut self, row: &Row, out: &mut Builder) {
        let (Some(columns), Some(length)) = (&self.columns, self.length) else { return };
        if self.last.is_some_and(|last| row.at < last) {
            out.caution_once(Some(Origin::line(row.line)), "the times go back: sort the rows by time");
        }
        self.last = Some(row.at);
        // Monitoring stamps a sample when it was taken: behind its window.
        let begin = timestamp::before(row.at, length);
        let window = out.window(Window { begin, length });
        let scope = out.scope(row.scope.clone());
        for ((column, value), field) in columns.iter().zip(&row.values).zip(&self.fields) {
            if let (Column::Figure { class, measure, unit }, Some(value)) = (column, value) {
                let origin = Origin { line: row.line, table: None, field: Arc::clone(field) };
                out.mean((scope, window), *class, *measure, value * unit, origin);
            }
        }
    }
}

fn row(columns: &Columns, line: &str, number: u64, out: &mut Builder) -> Option<Row> {
    let mut scope = Scope::default();
    let (mut at, mut values) = (None, Vec::with_capacity(columns.len()));
    for (column, cell) in columns.iter().zip(cells(line, columns.separator())) {
        let cell = cell.trim();
        values.push(match column {
            Column::Figure { .. } => columns.numerals().number(cell).filter(|value| value.is_finite()),
            _ => None,
        });
        match column {
            Column::Time => at = timestamp::parse(cell).map(|at| out.instant(at)),
            Column::Part => cell.clone_into(&mut scope.part),
            Column::Host => cell.clone_into(&mut scope.host),
            Column::Database => cell.clone_into(&mut scope.database),
            Column::Figure { .. } | Column::Unknown => {}
        }
    }
    let is_whole = values.len() == columns.len() && values.iter().any(Option::is_some);
    Some(Row { line: number, at: at.filter(|_| is_whole)?, scope, values })
}

/// True for a class and measure that ask something of storage.
fn is_rate(class: Class, measure: Measure) -> bool {
    class != Class::Other && matches!(measure, Measure::Iops | Measure::Throughput)
}
