//! vmstat of Linux: bytes of the whole host over time, and, of `vmstat -d`, counters of its disks.
//!
//! A block of `bi` and `bo` is 1 KiB, whatever unit memory is printed in. The first line is a mean since the host was
//! started.

mod counters;

use std::sync::Arc;

use jiff::civil::DateTime;
use memchr::memmem;

use self::counters::Counters;
use super::digits;
use super::noted::Noted;
use super::timeline::Timeline;
use crate::builder::Builder;
use crate::figure::{Class, Measure, Origin, Scope};
use crate::format::{Form, Input, Resemblance, Takes};
use crate::kind::Kind;
use crate::lines::{LineFormat, Lines};
use crate::reading::Fate;
use crate::refusal::Refusal;
use crate::timestamp;

const KIND: Kind = Kind { id: "vmstat", name: "vmstat" };

/// vmstat in all of its modes that speak of disks.
pub(crate) const FORM: Form =
    Form { kind: KIND, takes: Takes::Text, resembles, open: |input| Box::new(Lines::new(Vmstat::new(input))) };

const BLOCK: f64 = 1024.0;

fn resembles(head: &[u8]) -> Resemblance {
    let mut lines = head.split(|byte| *byte == b'\n').filter(|line| line.len() < 1_000);
    let is_heading = |line: &[u8]| {
        std::str::from_utf8(line).is_ok_and(|line| Columns::read(line).is_some() || counters::is_heading(line))
    };
    if lines.any(is_heading) {
        return Resemblance::Is { marks: 4 };
    }
    let has = |text: &str| memmem::find(head, text.as_bytes()).is_some();
    match has("milli reading") || has("pages paged in") {
        true => Resemblance::Is { marks: 4 },
        false if has("-----memory---") => Resemblance::Near { marks: 2, missing: "columns `bi` and `bo`" },
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

#[derive(Debug)]
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
            columns: None,
            first: None,
            rows: 0,
            given: 0,
            noted: Noted::default(),
            numbers: Vec::new(),
            names: [Arc::from("bi"), Arc::from("bo")],
            scope: None,
            counters: Counters::new(input),
        }
    }

    fn row(&mut self, columns: Columns, line: &str, number: u64, out: &mut Builder) -> bool {
        let text = line.trim();
        let Some(end) = end_of(text, columns.count) else { return false };
        self.numbers.clear();
        if !digits::numbers(&text.as_bytes()[..end], &mut self.numbers) || self.numbers.len() != columns.count {
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
    fn kind(&self) -> Kind {
        KIND
    }

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
            Some(what) if self.given == 0 => Err(Refusal::Unusable { kind: KIND, origin: None, what: what.to_owned() }),
            _ => Ok(()),
        }
    }
}
