//! vmstat of Linux: bytes of the whole host over time, and with `vmstat -d`, counters of its disks.
//!
//! A block of `bi` and `bo` is 1 KiB, independent of the memory unit. The first line is a mean since boot.

use std::sync::Arc;

use jiff::civil::DateTime;

use plimsoll_language::label;

use super::{Noted, Timeline, UNDATED};
use crate::builder::Builder;
use crate::form::{Form, FormatInput, Head, LineFormat, Resemblance};
use crate::processors::{ProcessorShares, UsedProcessors};
use crate::reading::{Class, Counted, Doubt, Fate, Measure, Origin, ReadingScope};
use crate::refusal::{InputFault, Refusal};
use crate::sampled::{DeviceCounters, SampleInterval, SampledColumn, Wraps};
use crate::text::{self, KIB, MILLI, SECTOR, timestamp};

/// vmstat in all modes with disks.
pub(crate) const FORM: Form = Form::lines("vmstat", "vmstat", resembles, |input| Box::new(Vmstat::new(input)));

fn resembles(head: &Head<'_>) -> Resemblance {
    let mut lines = head.text().lines().filter(|line| line.len() < 1_000);
    let is_heading = |line: &str| Columns::read(line).is_some() || is_disk_heading(line);
    let is = Resemblance::is(4, lines.any(is_heading) || head.has_any(&["milli reading", "pages paged in"]));
    is.or_near(2, head.has("-----memory---"), "columns `bi` and `bo`")
}

/// The positions of a table's columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Columns {
    count: usize,
    read: usize,
    written: usize,
    /// `id`, `wa` and `st`: percentages without programs.
    idle: [Option<usize>; 3],
}

impl Columns {
    fn read(line: &str) -> Option<Self> {
        let at = |name: &str| line.split_whitespace().position(|word| word == name);
        let (read, written) = (at("bi")?, at("bo")?);
        at("us").and(at("id"))?;
        // The zone of the times follows the columns of processors.
        let numbers = ["r", "b", "w", "p", "swpd", "free", "buff", "cache", "inact", "active", "si", "so", "bi", "bo"];
        let others = ["in", "cs", "us", "sy", "id", "wa", "st", "gu"];
        let existing = |word: &&str| numbers.contains(word) || others.contains(word);
        let count = line.split_whitespace().take_while(existing).count();
        let idle = ["id", "wa", "st"].map(|name| at(name).filter(|at| *at < count));
        (read < count && written < count).then_some(Self { count, read, written, idle })
    }
}

struct Vmstat {
    timeline: Timeline,
    columns: Option<Columns>,
    /// The first line of a run, until another follows.
    first: Option<VmstatSample>,
    rows: u64,
    given: u32,
    noted: Noted,
    numbers: Vec<f64>,
    names: [Arc<str>; 2],
    scope: Option<u32>,
    used: UsedProcessors,
    counters: Counters,
    /// The caller stated the zone of the times.
    has_zone: bool,
}

#[derive(Clone, Copy, Debug)]
struct VmstatSample {
    line: u64,
    at: Option<DateTime>,
    bytes_s: [f64; 2],
}

impl Vmstat {
    fn new(input: &FormatInput) -> Self {
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
            used: UsedProcessors::default(),
            counters: Counters::new(input),
            has_zone: input.zone.is_some(),
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
        let bytes_s = [self.numbers[columns.read] * KIB, self.numbers[columns.written] * KIB];
        let idle: f64 = columns.idle.iter().flatten().map(|column| self.numbers[*column]).sum();
        let io_wait = columns.idle[1].map(|column| self.numbers[column]);
        let shares = ProcessorShares::of_idle(idle, io_wait);
        let sample = VmstatSample { line: number, at, bytes_s };
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
        if let Some(length) = out.latest_length() {
            self.used.add_shares(shares.used, shares, length.as_secs_f64(), number);
        }
        true
    }

    fn put(&mut self, sample: VmstatSample, window: u32, out: &mut Builder) {
        let scope = *self.scope.get_or_insert_with(|| out.scope(ReadingScope::default()));
        for (index, class) in [Class::Read, Class::Write].into_iter().enumerate() {
            let origin = Origin { line: sample.line, table: None, field: Arc::clone(&self.names[index]) };
            out.mean((scope, window), class, Measure::Throughput, sample.bytes_s[index], origin);
            self.given += 1;
        }
    }
}

/// The end of the first `words` words of a text.
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
            let zone = line.split_whitespace().nth(columns.count).unwrap_or_default();
            let is_zone = zone.len() >= 3 && zone.bytes().all(|byte| byte.is_ascii_uppercase());
            if is_zone && !self.has_zone && !matches!(zone, "UTC" | "GMT") {
                out.caution_once(None, Doubt::AmbiguousZone { zone: zone.to_owned() });
            }
        } else if self.columns.is_some() && line.trim_start().starts_with(|c: char| c.is_ascii_digit()) {
            self.noted.note("rows", Fate::Broken);
            out.caution(Some(Origin::line(number)), Doubt::UnreadableItem { item: label!("row") });
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.counters.end(out);
        if self.counters.untimed > 0 && !self.counters.has_begin && out.count() > 0 {
            out.caution(None, Doubt::NoTimes);
        }
        if let Some(first) = self.first.take() {
            let window = Timeline::since_boot(None, first.line, out);
            self.put(first, window, out);
        }
        if self.given > 0 {
            out.part("io", Fate::Read(self.given));
            out.part("procs, memory, swap, system", Fate::Ignored);
            self.used.emit_share("", "us + sy", None, out);
            out.caution(None, Doubt::BytesOnly { command: "iostat -xt 10" });
            out.caution(None, Doubt::BlocksAssumed { columns: "bi, bo", bytes: 1_024 });
        }
        self.noted.list(out);
        match self.counters.fault(out) {
            Some(fault) if self.given == 0 => Err(out.unusable(fault)),
            _ => Ok(()),
        }
    }
}

/// Samples of `vmstat -d`.
struct Counters {
    pace: SampleInterval,
    in_table: bool,
    disks: DeviceCounters,
    /// The time of the current sample.
    at: Option<DateTime>,
    numbers: Vec<f64>,
    has_begin: bool,
    /// Samples whose time follows only from their interval.
    untimed: u32,
    /// A known table of another kind.
    other: bool,
}

/// The columns below `disk- ---reads--- ---writes--- ---IO---`.
fn is_disk_heading(line: &str) -> bool {
    line.starts_with("disk-") && line.contains("reads") && line.contains("writes")
}

const COLUMNS: [SampledColumn; 7] = [
    SampledColumn("reads", Counted::Operations(Class::Read), 1.0),
    SampledColumn("sectors read", Counted::Bytes(Class::Read), SECTOR),
    SampledColumn("ms of reads", Counted::OperationSeconds(Class::Read), MILLI),
    SampledColumn("writes", Counted::Operations(Class::Write), 1.0),
    SampledColumn("sectors written", Counted::Bytes(Class::Write), SECTOR),
    SampledColumn("ms of writes", Counted::OperationSeconds(Class::Write), MILLI),
    SampledColumn("seconds of I/O", Counted::BusySeconds(Class::All), 1.0),
];

/// Positions of [`COLUMNS`] in a row.
const POSITIONS: [usize; 7] = [0, 2, 3, 4, 6, 7, 9];

impl Counters {
    fn new(input: &FormatInput) -> Self {
        let mut pace = SampleInterval::new(input);
        let has_begin = pace.begin.is_some();
        // Without a date only the interval between samples is known.
        if pace.interval.is_some() {
            pace.begin.get_or_insert(UNDATED.to_datetime(jiff::civil::Time::midnight()));
        }
        let disks = DeviceCounters::new(&COLUMNS, Wraps::Never);
        Self { pace, in_table: false, disks, at: None, numbers: Vec::new(), has_begin, untimed: 0, other: false }
    }

    /// Processes a line. False if it belongs to none of these tables.
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> bool {
        if is_disk_heading(line) {
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
        // Ten counters, followed by a time with `-t`.
        let rest = rest.trim_start();
        let Some(end) = end_of(rest, 10) else { return rest.contains("merged") };
        self.numbers.clear();
        let is = text::columns(&rest.as_bytes()[..end], b' ', &mut self.numbers) && self.numbers.len() == 10;
        if name.is_empty() || !is {
            return line.contains("merged");
        }
        if self.disks.has(name) {
            self.close(out);
        }
        self.at = timestamp::parse(&rest[end..]).map(|at| out.instant(at)).or(self.at);
        self.disks.add(name, number, POSITIONS.map(|position| Some(self.numbers[position])).to_vec());
        true
    }

    /// Emits the current sample.
    fn close(&mut self, out: &mut Builder) {
        if self.disks.is_empty() {
            return;
        }
        self.untimed += u32::from(self.at.is_none());
        let (at, age) = self.pace.time(self.at.take());
        self.disks.close(at, age, out);
    }

    fn end(&mut self, out: &mut Builder) {
        self.close(out);
        if self.disks.rows > 0 {
            out.part("disks", Fate::Read(self.disks.rows));
        }
        for (name, _) in self.disks.devices().iter().filter(|(_, layer)| layer.is_none()) {
            out.part(format!("device {name}"), Fate::Ignored);
        }
        self.disks.devices().finish(out);
    }

    /// The reason of a refusal.
    fn fault(&self, out: &Builder) -> Option<InputFault> {
        if out.count() > 0 {
            return None;
        }
        Some(match self.disks.rows {
            0 if self.other => InputFault::LayeredSums,
            0 => InputFault::Incomplete { lacks: label!("row of numbers") },
            _ => InputFault::missing("two samples with times", &["vmstat -dt 10", "--interval"]),
        })
    }
}
