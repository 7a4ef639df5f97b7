//! `/proc/diskstats` and `/sys/block/*/stat`: counters of Linux block devices, one snapshot or many in a file.
//!
//! Between snapshots there may be lines with times: `TS` and seconds, `date`, ISO times, `/proc/uptime`. Without them
//! the caller gives the interval.

use std::sync::Arc;

use jiff::civil::DateTime;
use plimsoll_units::Span;

use crate::builder::Builder;
use crate::form::{Form, Head, Input, LineFormat, Resemblance};
use crate::layers::{Devices, Layer};
use crate::reading::{Class, Fate, Origin, Window};
use crate::refusal::Refusal;
use crate::snapshot::{Count, Counted, Snapshot};
use crate::text::timestamp::{self, Stamp};
use crate::text::whole;

/// Snapshots of `/proc/diskstats`, or of `/sys/block/*/stat`.
pub(crate) const FORM: Form = Form::lines("diskstats", "/proc/diskstats", resembles, |input| {
    Box::new(Diskstats { input: input.clone(), ..Diskstats::default() })
});

fn resembles(head: &Head<'_>) -> Resemblance {
    let (mut rows, mut bare, mut others) = (0, 0, 0);
    for text in head.text().lines().take(200).filter(|line| !line.trim().is_empty()) {
        match line(text) {
            Line::Row { name: Some(_), .. } | Line::Heading(_) => rows += 1,
            Line::Row { name: None, .. } => bare += 1,
            Line::At(_) | Line::Age(_) => {}
            Line::Short | Line::Other => others += 1,
        }
    }
    match (rows, bare, others) {
        (1.., _, others) if rows + bare > others => Resemblance::Is { marks: 3 },
        (0, 1.., 0) => Resemblance::Is { marks: 1 },
        (1.., ..) => Resemblance::Near { marks: 1, missing: "counters of a device in most of its lines" },
        _ => Resemblance::None,
    }
}

#[derive(Default)]
struct Diskstats {
    input: Input,
    table: Table,
    /// When the snapshot at hand was taken.
    at: Option<DateTime>,
    age: Option<Span>,
    /// The device that a heading named, for lines that name none.
    heading: Option<String>,
    /// Snapshots that were handed over.
    count: u32,
    /// Something says when one of them was taken.
    timed: bool,
    /// The last line that says nothing.
    broken: Option<u64>,
    last: u64,
}

impl LineFormat for Diskstats {
    fn line(&mut self, text: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        if text.trim_ascii().is_empty() {
            return Ok(());
        }
        self.last = number;
        match line(text) {
            Line::Row { name, numbers, count } => {
                let name = name.or(self.heading.as_deref()).unwrap_or_default();
                if self.table.has(name) {
                    let name = name.to_owned();
                    self.take(out);
                    self.table.add(&name, number, &numbers, count);
                } else {
                    self.table.add(name, number, &numbers, count);
                }
                if !matches!(count, 4 | 11 | 15 | 17..) {
                    self.broken = Some(number);
                    let text = format!("{count} counters, where kernels have 11, 15 or 17: the last ones are left out");
                    out.caution(Some(Origin::line(number)), text);
                }
            }
            Line::Heading(name) => self.heading = Some(name.to_owned()),
            Line::At(at) => {
                self.take(out);
                self.at = Some(out.instant(at));
            }
            Line::Age(age) => {
                self.take(out);
                self.age = Some(age);
            }
            Line::Short => {
                self.broken = Some(number);
                out.caution(Some(Origin::line(number)), "a row without its counters: left out");
            }
            Line::Other => out.caution_once(Some(Origin::line(number)), "lines that are no counters: left out"),
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.take(out);
        if self.broken == Some(self.last) {
            out.part("last line", Fate::Broken);
        }
        if self.count == 0 {
            return Err(out.unusable("it has no counters of a device: give what `cat /proc/diskstats` prints"));
        }
        let devices = self.table.devices.finish(self.table.round, out);
        if devices == 0 {
            return Err(out.unusable("its devices are memory and loops alone: was it taken on the host itself?"));
        }
        if self.count > 1 && !self.timed {
            return Err(
                out.unusable("several snapshots, and no times between them: say the interval at which they were taken")
            );
        }
        Ok(())
    }
}

impl Diskstats {
    /// Hands over the snapshot at hand.
    fn take(&mut self, out: &mut Builder) {
        if self.table.is_empty() {
            return;
        }
        let interval = self.input.interval.filter(|_| self.at.is_none() && self.age.is_none());
        let at = self.at.take().or_else(|| self.counted_on());
        self.timed |= at.is_some() || self.age.is_some() || interval.is_some();
        let window = interval.filter(|_| at.is_none() && self.count > 0);
        let window = window.map(|length| out.sample(Window { begin: None, length }));
        self.table.hand_over(at, self.age.take(), window, out);
        self.heading = None;
        self.count += 1;
    }

    /// When the snapshot at hand was taken, by what the caller knows.
    fn counted_on(&self) -> Option<DateTime> {
        let begin = self.input.begin.filter(|_| self.age.is_none())?;
        let since = match (self.count, self.input.interval) {
            (0, _) => Some(0.0),
            (count, Some(interval)) => Some(interval.as_secs_f64() * f64::from(count)),
            _ => None,
        };
        timestamp::later(begin, since?)
    }
}

/// The most counters that a kernel prints.
const MOST: usize = 17;

/// What a line is.
#[derive(Debug, PartialEq)]
enum Line<'a> {
    /// Counters; those of sysfs may name no device.
    Row {
        name: Option<&'a str>,
        numbers: [u64; MOST],
        count: usize,
    },
    /// The file of sysfs that the next line was read from.
    Heading(&'a str),
    /// When the next snapshot was taken.
    At(Stamp),
    /// How long the host ran.
    Age(Span),
    /// A device with too few counters.
    Short,
    Other,
}

/// Tells what a line is, and reads it.
fn line(text: &str) -> Line<'_> {
    let text = text.trim_ascii();
    if let Some(row) = of_proc(text) {
        return row;
    }
    if let Some(row) = of_sysfs(text) {
        return row;
    }
    time(text)
}

fn of_proc(text: &str) -> Option<Line<'_>> {
    let mut words = text.split_ascii_whitespace();
    let major = whole(words.next()?.as_bytes())?;
    whole(words.next()?.as_bytes())?;
    let name = words.next()?;
    let begins = name.as_bytes().first().is_some_and(u8::is_ascii_alphabetic);
    if !begins || major > 0xffff || name.contains(':') {
        return None;
    }
    Some(match numbers(words) {
        (numbers, count @ (4 | 11..)) => Line::Row { name: Some(name), numbers, count },
        _ => Line::Short,
    })
}

fn of_sysfs(text: &str) -> Option<Line<'_>> {
    if let Some(path) = text.strip_prefix("==> ").and_then(|text| text.strip_suffix(" <==")) {
        return device(path).map(Line::Heading);
    }
    if let Some((path, rest)) = text.split_once(':').filter(|(path, _)| path.starts_with('/')) {
        let name = device(path)?;
        return Some(match numbers(rest.split_ascii_whitespace()) {
            (numbers, count @ 11..) => Line::Row { name: Some(name), numbers, count },
            _ => Line::Short,
        });
    }
    if let Some(name) = device(text) {
        return Some(Line::Heading(name));
    }
    let (numbers, count) = numbers(text.split_ascii_whitespace());
    matches!(count, 11 | 15 | 17).then_some(Line::Row { name: None, numbers, count })
}

/// The device of a path such as `/sys/block/sda/stat`.
fn device(path: &str) -> Option<&str> {
    path.starts_with('/').then_some(())?;
    path.strip_suffix("/stat")?.rsplit('/').next().filter(|name| !name.is_empty())
}

/// Numbers up to the first word that is none.
fn numbers<'a>(words: impl Iterator<Item = &'a str>) -> ([u64; MOST], usize) {
    let (mut numbers, mut count) = ([0; MOST], 0);
    for word in words {
        let Some(value) = whole(word.as_bytes()) else { break };
        if let Some(place) = numbers.get_mut(count) {
            *place = value;
        }
        count += 1;
    }
    (numbers, count)
}

/// A line between snapshots.
fn time(text: &str) -> Line<'_> {
    if text.len() > 200 {
        return Line::Other;
    }
    let bare =
        text.trim_start_matches(['#', '*', '-', '=', '+', ' ', '[']).trim_end_matches(['#', '*', '-', '=', ' ', ']']);
    let marks = ["TS ", "ts ", "zzz ", "timestamp: ", "timestamp=", "Time: ", "time: ", "Date: ", "date: "];
    let said = marks.iter().find_map(|mark| bare.strip_prefix(mark)).unwrap_or(bare).trim_start_matches('*');
    let mut words = said.splitn(2, ' ');
    let (first, rest) = (words.next().unwrap_or_default(), words.next().unwrap_or_default().trim());
    let seconds = first.parse::<f64>().ok();
    if let (Some(up), Some(_)) =
        (seconds, rest.parse::<f64>().ok().filter(|_| first.contains('.') && rest.contains('.')))
    {
        return if up > 0.0 && up < 1e10 { Line::Age(Span::from_secs_f64(up)) } else { Line::Other };
    }
    let at = timestamp::parse(said).or_else(|| timestamp::parse(first));
    at.map_or(Line::Other, Line::At)
}

/// A counter of 32 bits goes round here. Times do so on every kernel; the others only where words are so short, and those
/// that are beyond it already cannot.
const ROUND: f64 = 4_294_967_296.0;
const SECTOR: f64 = 512.0;
const MILLI: f64 = 1e-3;

/// The counters that are used: where they stand, what they count, and in which unit.
const COUNTERS: [(usize, Counted, f64, &str); 13] = [
    (0, Counted::Operations(Class::Read), 1.0, "reads"),
    (2, Counted::Bytes(Class::Read), SECTOR, "sectors read"),
    (3, Counted::OperationSeconds(Class::Read), MILLI, "ms reading"),
    (4, Counted::Operations(Class::Write), 1.0, "writes"),
    (6, Counted::Bytes(Class::Write), SECTOR, "sectors written"),
    (7, Counted::OperationSeconds(Class::Write), MILLI, "ms writing"),
    (9, Counted::BusySeconds(Class::All), MILLI, "ms busy"),
    (10, Counted::QueueSeconds(Class::All), MILLI, "ms weighted"),
    (11, Counted::Operations(Class::Discard), 1.0, "discards"),
    (13, Counted::Bytes(Class::Discard), SECTOR, "sectors discarded"),
    (14, Counted::OperationSeconds(Class::Discard), MILLI, "ms discarding"),
    (15, Counted::Operations(Class::Flush), 1.0, "flushes"),
    (16, Counted::OperationSeconds(Class::Flush), MILLI, "ms flushing"),
];

/// Partitions of old kernels have these alone.
const OF_PARTITION: [(usize, usize); 4] = [(0, 0), (1, 2), (2, 4), (3, 6)];

#[derive(Default)]
struct Table {
    devices: Devices,
    /// The last snapshot of each device, from 1.
    rounds: Vec<u32>,
    /// Names for origins.
    fields: Vec<Arc<str>>,
    rows: Vec<Row>,
    /// Snapshots that were handed over.
    round: u32,
}

struct Row {
    device: usize,
    line: u64,
    numbers: [u64; MOST],
    count: usize,
}

impl Table {
    fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// True when the snapshot at hand has this device already.
    fn has(&self, name: &str) -> bool {
        self.devices.find(name).is_some_and(|place| self.rounds[place] == self.round + 1)
    }

    /// Adds a row to the snapshot at hand.
    fn add(&mut self, name: &str, line: u64, numbers: &[u64; MOST], count: usize) {
        let Some(device) = self.devices.place(name, false) else { return };
        self.rounds.resize(self.devices.len(), 0);
        self.rounds[device] = self.round + 1;
        let mut row = Row { device, line, numbers: *numbers, count: count.min(MOST) };
        if count == 4 {
            row.numbers = [0; MOST];
            for (from, to) in OF_PARTITION {
                row.numbers[to] = numbers[from];
            }
        }
        self.rows.push(row);
    }

    /// Hands over the snapshot at hand, `window` is that since the one before, where neither says when it was
    /// taken.
    fn hand_over(&mut self, at: Option<DateTime>, age: Option<Span>, window: Option<u32>, out: &mut Builder) {
        self.devices.choose();
        if self.fields.is_empty() {
            self.fields = COUNTERS.iter().map(|(.., name)| Arc::from(*name)).collect();
        }
        let mut rows = std::mem::take(&mut self.rows);
        for row in rows.drain(..) {
            let Some((name, scope, layer)) = self.devices.taken(row.device, "", out) else { continue };
            let counts = self.counts(&row, &name, layer);
            let origin = Origin { line: row.line, table: Some(name), field: Arc::from("") };
            let taken = Snapshot { scope, at, age, counts, origin };
            match window {
                Some(window) => out.snapshot_after(window, taken),
                None => out.snapshot(taken),
            }
        }
        self.rows = rows;
        self.round += 1;
    }

    fn counts(&self, row: &Row, name: &Arc<str>, layer: Layer) -> Vec<Count> {
        // Older kernels do not time the operations of arrays.
        let untimed = layer == Layer::Array && row.numbers[3] + row.numbers[7] == 0;
        let used = COUNTERS.iter().zip(&self.fields).filter(|((place, ..), _)| match row.count {
            4 => OF_PARTITION.iter().any(|(_, to)| to == place),
            count @ (..15) => *place < 11.min(count),
            count @ (..17) => *place < 15.min(count),
            _ => true,
        });
        let count = |((place, counted, unit, _), field): (&(usize, Counted, f64, &str), &Arc<str>)| Count {
            counted: counted.clone(),
            value: row.numbers[*place] as f64 * unit,
            wraps_at: Some(ROUND * unit),
            origin: Origin { line: row.line, table: Some(Arc::clone(name)), field: Arc::clone(field) },
        };
        used.filter(|((_, counted, ..), _)| !(untimed && counted.is_time())).map(count).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Line, Span, line, timestamp};

    fn row(text: &str) -> (Option<String>, usize, u64) {
        match line(text) {
            Line::Row { name, numbers, count } => (name.map(str::to_owned), count, numbers[0]),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn rows_of_every_generation_are_rows() {
        let sda = Some("sda".to_owned());
        assert_eq!(row("   8       0 sda 5 2 3 4 5 6 7 8 9 10 11"), (sda.clone(), 11, 5));
        assert_eq!(row("8 0 sda 5 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17"), (sda.clone(), 17, 5));
        assert_eq!(row("8 0 sda 5 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18"), (sda.clone(), 18, 5));
        assert_eq!(row("   8    1 sda1 5 6 7 8").1, 4);
        assert_eq!(row("/sys/block/sda/stat:     5 2 3 4 5 6 7 8 9 10 11"), (sda, 11, 5));
        assert_eq!(row("  5 2 3 4 5 6 7 8 9 10 11 12 13 14 15"), (None, 15, 5));
        assert_eq!(line("8 0 sda 5 2 3"), Line::Short);
        assert_eq!(line("==> /sys/block/nvme0n1/stat <=="), Line::Heading("nvme0n1"));
    }

    #[test]
    fn times_between_snapshots_are_read() {
        let check = |text: &str, expected: &str| match line(text) {
            Line::At(at) => assert_eq!(Line::At(at), Line::At(timestamp::parse(expected).unwrap()), "{text}"),
            other => panic!("{text}: {other:?}"),
        };
        let nine = "2026-03-02T09:30:05Z";
        check("TS 1772443805.000000000 2026-03-02 09:30:05", nine);
        check("TS 1772443805.5 2026-03-02T10:30:05", "2026-03-02T09:30:05.5Z");
        check("# 2026-03-02 09:30:05", "2026-03-02T09:30:05");
        check("# 2026-03-02T18:30:05+09:00", nine);
        check("Mon Mar  2 09:30:05 UTC 2026", nine);
        check("zzz ***Mon Mar 2 09:30:05 UTC 2026", nine);
        check("1772443805", nine);
        assert_eq!(line("350735.47 234388.90"), Line::Age(Span::from_secs_f64(350_735.47)));
        assert_eq!(line("something else"), Line::Other);
    }
}
