//! Features of block traces by interval: operations and bytes of each interval since the start of the trace, as written
//! by tools that reduce traces to tables (`index,ts,read_block_req_count,..`).
//!
//! `ts` is the last operation of an interval, in microseconds since the start; it determines the length of an interval.

use jiff::civil::DateTime;
use plimsoll_units::Span;

use crate::builder::Builder;
use crate::form::{Form, FormatInput, Head, LineFormat, Resemblance};
use crate::reading::{Class, Counted, Doubt, Fate, ReadingScope, ReadingWindow};
use crate::refusal::{InputFault, Refusal};
use crate::sampled::{self, Meaning};
use crate::text::table::cells;
use crate::text::timestamp;

/// Tables of features.
pub(crate) const FORM: Form =
    Form::lines("trace-features", "features of a block trace by interval", resembles, |input| {
        Box::new(Features { input: input.clone(), ..Features::default() })
    });

/// The relevant columns with their quantities.
const COLUMNS: [(&str, Counted); 4] = [
    ("read_block_req_count", Counted::Operations(Class::Read)),
    ("write_block_req_count", Counted::Operations(Class::Write)),
    ("read_io_request_size_sum", Counted::Bytes(Class::Read)),
    ("write_io_request_size_sum", Counted::Bytes(Class::Write)),
];

fn resembles(head: &Head<'_>) -> Resemblance {
    let header = head.text().lines().next().unwrap_or_default();
    let has = |name: &str| cells(header.trim_end(), ',').any(|cell| cell == name);
    let counts = has("read_block_req_count") && has("write_block_req_count");
    let is = Resemblance::is(4, counts && has("index") && has("ts"));
    is.or_near(3, counts, "columns index and ts, and a row for each interval")
}

#[derive(Default)]
struct Features {
    input: FormatInput,
    /// The positions of index, ts and the columns.
    places: Vec<Option<usize>>,
    rows: Vec<FeatureRow>,
    last: u64,
}

struct FeatureRow {
    line: u64,
    index: f64,
    /// Seconds.
    ts: f64,
    counts: [Option<f64>; COLUMNS.len()],
}

impl LineFormat for Features {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        if line.trim().is_empty() {
            return Ok(());
        }
        self.last = number;
        if self.places.is_empty() {
            let names: Vec<_> = cells(line, ',').collect();
            let required = ["index", "ts"].into_iter().chain(COLUMNS.iter().map(|(name, _)| *name));
            self.places = required.map(|required| names.iter().position(|name| name == required)).collect();
        } else if self.rows.len() >= Builder::MAX_FIGURES / COLUMNS.len() {
            return Err(Refusal::TooMany { limit: Builder::MAX_FIGURES });
        } else if let Some(row) = self.row(line, number) {
            self.rows.push(row);
        } else {
            out.skip(number, Doubt::lacking("a row", "its interval"));
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        let Some(length) = self.length(out) else {
            return Err(out.unusable(InputFault::FewIntervals));
        };
        let scope = out.scope(ReadingScope::default());
        for row in &self.rows {
            let begin = self.begin(row.index * length.as_secs_f64());
            let window = out.sample(ReadingWindow { begin, length });
            let value = |((name, counted), value): (&(&str, Counted), Option<f64>)| {
                Some((Meaning::Sum(counted.clone()), value?, out.origin(row.line, "", name)))
            };
            let values: Vec<_> = COLUMNS.iter().zip(row.counts).filter_map(value).collect();
            sampled::put(values, (scope, window), length.as_secs_f64(), out);
        }
        out.part("intervals", Fate::Read(self.rows.len() as u32));
        out.end_at(self.last);
        Ok(())
    }
}

impl Features {
    fn row(&self, line: &str, number: u64) -> Option<FeatureRow> {
        let cells: Vec<_> = cells(line, ',').collect();
        let value = |place: usize| {
            let cell = cells.get(self.places.get(place).copied().flatten()?)?;
            cell.trim().parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0)
        };
        let counts = std::array::from_fn(|index| value(index + 2));
        Some(FeatureRow { line: number, index: value(0)?, ts: value(1)? / 1e6, counts })
    }

    /// The length of an interval: from the caller if it covers the last operation of each, otherwise the number of whole
    /// minutes that does.
    fn length(&self, out: &mut Builder) -> Option<Span> {
        let shares = self.rows.iter().map(|row| row.ts / (row.index + 1.0));
        let covered_s = shares.fold(0.0, f64::max);
        let stated = self.input.interval.filter(|length| !length.is_zero() && !self.rows.is_empty());
        if self.rows.len() < 2 || stated.is_some_and(|stated| stated.as_secs_f64() >= covered_s) {
            return stated;
        }
        let minutes = (covered_s / 60.0).ceil();
        let length = Some(Span::from_secs_f64(minutes * 60.0)).filter(|length| !length.is_zero())?;
        out.caution(None, Doubt::IntervalsDerived { minutes });
        Some(length)
    }

    fn begin(&self, seconds: f64) -> Option<DateTime> {
        timestamp::later(self.input.begin?, seconds)
    }
}
