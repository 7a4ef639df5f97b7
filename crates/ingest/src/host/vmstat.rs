//! vmstat of Linux: bytes of the whole host over time, and, of `vmstat -d`, counters of its disks.
//!
//! A block of `bi` and `bo` is 1 KiB, whatever unit memory is printed in. The first line is a mean since the host was
//! started.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::civil::DateTime;

use super::{Noted, Timeline, UNDATED};
use crate::builder::Builder;
use crate::form::{Form, Head, Input, LineFormat, Resemblance};
use crate::layers::{self, Layer};
use crate::reading::{Class, Fate, Measure, Origin, Scope};
use crate::refusal::Refusal;
use crate::snapshot::{Count, Counted, Snapshot};
use crate::text::{self, timestamp};

/// vmstat in all of its modes that speak of disks.
pub(crate) const FORM: Form = Form::lines("vmstat", "vmstat", resembles, |input| Box::new(Vmstat::new(input)));

const BLOCK: f64 = 1024.0;

fn resembles(head: &Head<'_>) -> Resemblance {
    let mut lines = head.text().lines().filter(|line| line.len() < 1_000);
    let is_heading = |line: &str| Columns::read(line).is_some() || is_heading(line);
    match lines.any(is_heading) || head.has("milli reading") || head.has("pages paged in") {
        true => Resemblance::Is { marks: 4 },
        false if head.has("-----memory---") => Resemblance::Near { marks: 2, missing: "columns `bi` and `bo`" },
        false => Resemblance::None,
    }
}

/// Where a table has its columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Columns {
    count: usize,
    read: usize,
    written: usize,
}

impl Columns {
    fn read(line: &str) -> Option<Self> {
        let at = |name: &str| line.split_whitespace().position(|word| word == name);
        let (read, written) = (at("bi")?, at("bo")?);
        at("us").and(at("id"))?;
        // Behind the columns of processors stands the zone of the times.
        let numbers = ["r", "b", "w", "p", "swpd", "free", "buff", "cache", "inact", "active", "si", "so", "bi", "bo"];
        let others = ["in", "cs", "us", "sy", "id", "wa", "st", "gu"];
        let known = |word: &&str| numbers.contains(word) || others.contains(word);
        let count = line.split_whitespace().take_while(known).count();
        (read < count && written < count).then_some(Self { count, read, written })
    }
}

#[derive(Debug, Default)]
struct Vmstat {
    timeline: Timeline,
    columns: Option<Columns>,
    /// The first line of a run, until it is known whether others follow.
    first: Option<Sample>,
    rows: u64,
    given: u32,
    noted: Noted,
    numbers: Vec<f64>,
    names: [Arc<str>; 2],
    scope: Option<u32>,
    counters: Counters,
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    line: u64,
    at: Option<DateTime>,
    bytes_s: [f64; 2],
}

impl Vmstat {
    fn new(input: &Input) -> Self {
        Self {
            timeline: Timeline::new(input),
            names: [Arc::from("bi"), Arc::from("bo")],
            counters: Counters::new(input),
            ..Self::default()
        }
    }

    fn row(&mut self, columns: Columns, line: &str, number: u64, out: &mut Builder) -> bool {
        let text = line.trim();
        let Some(end) = end_of(text, columns.count) else { return false };
        self.numbers.clear();
        if !text::columns(&text.as_bytes()[..end], b' ', &mut self.numbers) || self.numbers.len() != columns.count {
            return false;
        }
        let at = timestamp::parse(&text[end..]).map(|at| out.instant(at));
        let bytes_s = [self.numbers[columns.read] * BLOCK, self.numbers[columns.written] * BLOCK];
        let sample = Sample { line: number, at, bytes_s };
        self.rows += 1;
        if self.rows == 1 {
            self.first = Some(sample);
            return true;
        }
        if let Some(first) = self.first.take() {
            self.noted.note("first line, since boot", Fate::Ignored);
            self.timeline.from(first.at);
        }
        let window = self.timeline.sample(at, None, number, out);
        self.put(sample, window, out);
        true
    }

    fn put(&mut self, sample: Sample, window: u32, out: &mut Builder) {
        let scope = *self.scope.get_or_insert_with(|| out.scope(Scope::default()));
        for (index, class) in [Class::Read, Class::Write].into_iter().enumerate() {
            let origin = Origin { line: sample.line, table: None, field: Arc::clone(&self.names[index]) };
            out.mean((scope, window), class, Measure::Throughput, sample.bytes_s[index], origin);
            self.given += 1;
        }
    }
}

/// Where the first so many words of a text end.
fn end_of(text: &str, words: usize) -> Option<usize> {
    let (mut count, mut within) = (0, false);
    for (at, byte) in text.bytes().enumerate() {
        let blank = byte == b' ' || byte == b'\t';
        if blank && within && count == words {
            return Some(at);
        }
        count += usize::from(!blank && !within);
        within = !blank;
    }
    (count == words).then_some(text.len())
}

impl LineFormat for Vmstat {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        if let Some(columns) = self.columns
            && self.row(columns, line, number, out)
        {
            return Ok(());
        }
        if self.counters.line(line, number, out) || line.trim().is_empty() {
            return Ok(());
        }
        if let Some(columns) = Columns::read(line) {
            self.columns = Some(columns);
        } else if self.columns.is_some() && line.trim_start().starts_with(|c: char| c.is_ascii_digit()) {
            self.noted.note("rows", Fate::Broken);
            out.caution(Some(Origin::line(number)), "a row that cannot be read: left out");
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.counters.end(out);
        if self.counters.is_undated() && out.count() > 0 {
            out.caution(None, "it does not say its times: they are counted from 1 January 1970; say them with --begin");
        }
        if let Some(first) = self.first.take() {
            let window = Timeline::since_boot(None, first.line, out);
            self.put(first, window, out);
        }
        if self.given > 0 {
            out.part("io", Fate::Read(self.given));
            out.part("procs, memory, swap, system, cpu", Fate::Ignored);
            let text = "vmstat counts bytes, not operations: give iostat -xt 10 for the same time to know both";
            out.caution(None, text);
        }
        self.noted.tell(out);
        match self.counters.refusal(out) {
            Some(what) if self.given == 0 => Err(out.unusable(what)),
            _ => Ok(()),
        }
    }
}

/// Disks and the samples of them.
#[derive(Debug, Default)]
struct Counters {
    begin: Option<DateTime>,
    interval: Option<f64>,
    in_table: bool,
    /// Tables so far: each is a sample, but for headings that are repeated.
    samples: u32,
    seen: Vec<String>,
    disks: u32,
    left_out: Vec<String>,
    scopes: BTreeMap<u32, Layer>,
    numbers: Vec<f64>,
    undated: bool,
    /// A table of another kind that is known by name.
    other: bool,
}

/// The columns below `disk- ---reads--- ---writes--- ---IO---`.
fn is_heading(line: &str) -> bool {
    line.starts_with("disk-") && line.contains("reads") && line.contains("writes")
}

const SECTOR: f64 = 512.0;

impl Counters {
    const MOST: usize = 4_096;

    fn new(input: &Input) -> Self {
        Self { begin: input.begin, interval: input.interval.map(plimsoll_units::Span::as_secs_f64), ..Self::default() }
    }

    /// Takes a line. False when it is none of these tables.
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> bool {
        if is_heading(line) {
            self.in_table = true;
            return true;
        }
        if line.contains("milli reading") || line.contains("pages paged in") {
            self.other = true;
        }
        if !self.in_table {
            return false;
        }
        let Some((name, rest)) = line.trim_end().split_once(' ') else { return false };
        // Ten counters, and of `-t` a time behind them.
        let rest = rest.trim_start();
        let Some(end) = end_of(rest, 10) else { return rest.contains("merged") };
        self.numbers.clear();
        let is = text::columns(&rest.as_bytes()[..end], b' ', &mut self.numbers) && self.numbers.len() == 10;
        if name.is_empty() || !is {
            return line.contains("merged");
        }
        let at = timestamp::parse(&rest[end..]).map(|at| out.instant(at));
        self.disk(name, at, number, out);
        true
    }

    fn disk(&mut self, name: &str, at: Option<DateTime>, line: u64, out: &mut Builder) {
        if self.seen.iter().any(|seen| seen == name) {
            self.samples += 1;
            self.seen.clear();
        }
        if self.seen.len() < Self::MOST {
            self.seen.push(name.to_owned());
        }
        let Some(layer) = layers::whole(name) else {
            if self.left_out.len() < Self::MOST && !self.left_out.iter().any(|known| known == name) {
                self.left_out.push(name.to_owned());
            }
            return;
        };
        let passed = self.interval.map(|seconds| seconds * f64::from(self.samples));
        // Without a date of its own only the time between samples counts.
        let begin = self.begin.unwrap_or(UNDATED.to_datetime(jiff::civil::Time::midnight()));
        self.undated |= at.is_none() && self.begin.is_none();
        let at = at.or_else(|| passed.and_then(|passed| timestamp::later(begin, passed)));
        let scope = out.scope(Scope { part: name.to_owned(), ..Scope::default() });
        self.scopes.insert(scope, layer);
        let counts = self.counts(line, name, layer, out);
        let origin = out.origin(line, name, "");
        self.disks += 1;
        if at.is_some() {
            out.snapshot(Snapshot { scope, at, age: None, counts, origin });
        }
    }

    fn counts(&self, line: u64, name: &str, layer: Layer, out: &mut Builder) -> Vec<Count> {
        // Older kernels do not time the operations of arrays.
        let untimed = layer == Layer::Array && self.numbers[3] + self.numbers[7] <= 0.0;
        let columns = [
            (Counted::Operations(Class::Read), 0, 1.0, "reads"),
            (Counted::Bytes(Class::Read), 2, SECTOR, "sectors read"),
            (Counted::OperationSeconds(Class::Read), 3, 1e-3, "ms of reads"),
            (Counted::Operations(Class::Write), 4, 1.0, "writes"),
            (Counted::Bytes(Class::Write), 6, SECTOR, "sectors written"),
            (Counted::OperationSeconds(Class::Write), 7, 1e-3, "ms of writes"),
            (Counted::BusySeconds(Class::All), 9, 1.0, "seconds of I/O"),
        ];
        let count = |(counted, column, factor, field): (Counted, usize, f64, &str)| Count {
            counted,
            value: self.numbers[column] * factor,
            wraps_at: None,
            origin: out.origin(line, name, field),
        };
        columns.into_iter().filter(|(counted, ..)| !(untimed && counted.is_time())).map(count).collect()
    }

    fn end(&self, out: &mut Builder) {
        out.arrays(self.scopes.iter().map(|(scope, layer)| (*scope, *layer)));
        if self.disks > 0 {
            out.part("disks", Fate::Read(self.disks));
        }
        for name in &self.left_out {
            out.part(format!("device {name}"), Fate::Ignored);
        }
    }

    /// True when samples were placed in time by their distance alone.
    fn is_undated(&self) -> bool {
        self.undated
    }

    /// Why nothing came of it.
    fn refusal(&self, out: &Builder) -> Option<&'static str> {
        if out.count() > 0 {
            return None;
        }
        Some(match self.disks {
            0 if self.other => {
                "sums of all devices count what lies over one another twice; take vmstat -dt 10, or iostat -xt 10"
            }
            0 => "it has no row of numbers: check that it was copied completely",
            _ if self.samples == 0 => {
                "one sample of counters says no rate; take several with their times: vmstat -dt 10"
            }
            _ => "counters without times say no rate; take vmstat -dt 10, or say their distance with --interval",
        })
    }
}
