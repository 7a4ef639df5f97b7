//! `/proc/diskstats` and `/sys/block/*/stat`: counters of Linux block devices, one or more snapshots per file.
//!
//! Lines with times may be between snapshots: `TS` and seconds, `date`, ISO times, `/proc/uptime`. Otherwise the caller
//! provides the interval.

use jiff::civil::DateTime;
use plimsoll_language::label;
use plimsoll_units::Span;

use crate::builder::Builder;
use crate::form::{Form, Head, LineFormat, Resemblance};
use crate::reading::{Class, Counted, Doubt, Origin};
use crate::refusal::{InputFault, Refusal};
use crate::sampled::{DeviceCounters, SampleInterval, SampledColumn, Wraps};
use crate::text::timestamp::{self, Stamp};
use crate::text::{MILLI, SECTOR, integer};

/// Snapshots of `/proc/diskstats`, or of `/sys/block/*/stat`.
pub(crate) const FORM: Form = Form::lines("diskstats", "/proc/diskstats", resembles, |input| {
    Box::new(Diskstats {
        pace: SampleInterval::new(input),
        counters: DeviceCounters::new(&COLUMNS, Wraps::At32Bits),
        at: None,
        age: None,
        heading: None,
        timed: false,
        last: 0,
    })
});

fn resembles(head: &Head<'_>) -> Resemblance {
    let (mut rows, mut bare, mut others) = (0, 0, 0);
    for text in head.text().lines().take(200).filter(|line| !line.trim().is_empty()) {
        match line(text) {
            DiskstatsLine::Row { name: Some(_), .. } | DiskstatsLine::Heading(_) => rows += 1,
            DiskstatsLine::Row { name: None, .. } => bare += 1,
            DiskstatsLine::At(_) | DiskstatsLine::Age(_) => {}
            DiskstatsLine::Short | DiskstatsLine::Other => others += 1,
        }
    }
    match (rows, bare, others) {
        (1.., _, others) if rows + bare > others => Resemblance::Is { marks: 3 },
        (0, 1.., 0) => Resemblance::Is { marks: 1 },
        (1.., ..) => Resemblance::Near { marks: 1, missing: "counters of a device in most of its lines" },
        _ => Resemblance::None,
    }
}

struct Diskstats {
    pace: SampleInterval,
    counters: DeviceCounters,
    /// The time of the current snapshot, and the uptime of the host.
    at: Option<DateTime>,
    age: Option<Span>,
    /// The device in the last heading, for lines without a name.
    heading: Option<String>,
    /// True once a snapshot has a time.
    timed: bool,
    last: u64,
}

impl LineFormat for Diskstats {
    fn line(&mut self, text: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        if text.trim_ascii().is_empty() {
            return Ok(());
        }
        self.last = number;
        match line(text) {
            DiskstatsLine::Row { name, numbers, count } => {
                let name = name.or(self.heading.as_deref()).unwrap_or_default().to_owned();
                if self.counters.has(&name) {
                    self.take(out);
                }
                self.counters.add(&name, number, values(&numbers, count));
                if !matches!(count, 4 | 11 | 15 | 17..) {
                    out.skip(number, Doubt::UnknownCounters { count });
                }
            }
            DiskstatsLine::Heading(name) => self.heading = Some(name.to_owned()),
            DiskstatsLine::At(at) => {
                self.take(out);
                self.at = Some(out.instant(at));
            }
            DiskstatsLine::Age(age) => {
                self.take(out);
                self.age = Some(age);
            }
            DiskstatsLine::Short => out.skip(number, Doubt::lacking("a row", "its counters")),
            DiskstatsLine::Other => out.caution_once(Some(Origin::line(number)), Doubt::lacking("lines", "counters")),
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.take(out);
        out.end_at(self.last);
        let samples = self.counters.samples;
        out.require(samples > 0, InputFault::missing("counters of a device", &["cat /proc/diskstats"]))?;
        let listed = self.counters.devices().list(samples, out);
        out.require(listed > 0, InputFault::LoopDevicesOnly)?;
        out.require(samples < 2 || self.timed, Doubt::UntimedSamples { items: label!("snapshots") })
    }
}

impl Diskstats {
    /// Emits the current snapshot.
    fn take(&mut self, out: &mut Builder) {
        if self.counters.is_empty() {
            return;
        }
        let (at, age) = match (self.at.take(), self.age.take()) {
            (None, None) => self.pace.next(),
            existing => existing,
        };
        self.timed |= at.is_some() || age.is_some();
        self.counters.close(at, age, out);
        self.heading = None;
    }
}

/// Maximum counters that a kernel prints.
const MAX_COUNTERS: usize = 17;

#[derive(Debug, PartialEq)]
enum DiskstatsLine<'a> {
    /// Counters; those of sysfs may lack a device name.
    Row {
        name: Option<&'a str>,
        numbers: [u64; MAX_COUNTERS],
        count: usize,
    },
    /// The sysfs file of the following line.
    Heading(&'a str),
    /// The time of the next snapshot.
    At(Stamp),
    /// The uptime of the host.
    Age(Span),
    /// A device with too few counters.
    Short,
    Other,
}

fn line(text: &str) -> DiskstatsLine<'_> {
    let text = text.trim_ascii();
    if let Some(row) = of_proc(text) {
        return row;
    }
    if let Some(row) = of_sysfs(text) {
        return row;
    }
    time(text)
}

fn of_proc(text: &str) -> Option<DiskstatsLine<'_>> {
    let mut words = text.split_ascii_whitespace();
    let major = integer(words.next()?.as_bytes())?;
    integer(words.next()?.as_bytes())?;
    let name = words.next()?;
    let begins = name.as_bytes().first().is_some_and(u8::is_ascii_alphabetic);
    if !begins || major > 0xffff || name.contains(':') {
        return None;
    }
    Some(match parse_numbers(words) {
        (numbers, count @ (4 | 11..)) => DiskstatsLine::Row { name: Some(name), numbers, count },
        _ => DiskstatsLine::Short,
    })
}

fn of_sysfs(text: &str) -> Option<DiskstatsLine<'_>> {
    if let Some(path) = text.strip_prefix("==> ").and_then(|text| text.strip_suffix(" <==")) {
        return device(path).map(DiskstatsLine::Heading);
    }
    if let Some((path, rest)) = text.split_once(':').filter(|(path, _)| path.starts_with('/')) {
        let name = device(path)?;
        return Some(match parse_numbers(rest.split_ascii_whitespace()) {
            (numbers, count @ 11..) => DiskstatsLine::Row { name: Some(name), numbers, count },
            _ => DiskstatsLine::Short,
        });
    }
    if let Some(name) = device(text) {
        return Some(DiskstatsLine::Heading(name));
    }
    let (numbers, count) = parse_numbers(text.split_ascii_whitespace());
    matches!(count, 11 | 15 | 17).then_some(DiskstatsLine::Row { name: None, numbers, count })
}

/// The device of a path such as `/sys/block/sda/stat`.
fn device(path: &str) -> Option<&str> {
    path.starts_with('/').then_some(())?;
    path.strip_suffix("/stat")?.rsplit('/').next().filter(|name| !name.is_empty())
}

/// Numbers up to the first other word.
fn parse_numbers<'a>(words: impl Iterator<Item = &'a str>) -> ([u64; MAX_COUNTERS], usize) {
    let (mut numbers, mut count) = ([0; MAX_COUNTERS], 0);
    for word in words {
        let Some(value) = integer(word.as_bytes()) else { break };
        if let Some(place) = numbers.get_mut(count) {
            *place = value;
        }
        count += 1;
    }
    (numbers, count)
}

/// A line between snapshots.
fn time(text: &str) -> DiskstatsLine<'_> {
    if text.len() > 200 {
        return DiskstatsLine::Other;
    }
    let bare =
        text.trim_start_matches(['#', '*', '-', '=', '+', ' ', '[']).trim_end_matches(['#', '*', '-', '=', ' ', ']']);
    let marks = ["TS ", "ts ", "zzz ", "timestamp: ", "timestamp=", "Time: ", "time: ", "Date: ", "date: "];
    let stamp = marks.iter().find_map(|mark| bare.strip_prefix(mark)).unwrap_or(bare).trim_start_matches('*');
    let mut words = stamp.splitn(2, ' ');
    let (first, rest) = (words.next().unwrap_or_default(), words.next().unwrap_or_default().trim());
    let seconds = first.parse::<f64>().ok();
    if let (Some(up), Some(_)) =
        (seconds, rest.parse::<f64>().ok().filter(|_| first.contains('.') && rest.contains('.')))
    {
        return if up > 0.0 && up < 1e10 { DiskstatsLine::Age(Span::from_secs_f64(up)) } else { DiskstatsLine::Other };
    }
    let at = timestamp::parse(stamp).or_else(|| timestamp::parse(first));
    at.map_or(DiskstatsLine::Other, DiskstatsLine::At)
}

/// The kernel's counters in order; merged requests and operations in flight are not used.
const COLUMNS: [SampledColumn; 13] = [
    SampledColumn("reads", Counted::Operations(Class::Read), 1.0),
    SampledColumn("sectors read", Counted::Bytes(Class::Read), SECTOR),
    SampledColumn("ms reading", Counted::OperationSeconds(Class::Read), MILLI),
    SampledColumn("writes", Counted::Operations(Class::Write), 1.0),
    SampledColumn("sectors written", Counted::Bytes(Class::Write), SECTOR),
    SampledColumn("ms writing", Counted::OperationSeconds(Class::Write), MILLI),
    SampledColumn("ms busy", Counted::BusySeconds(Class::All), MILLI),
    SampledColumn("ms weighted", Counted::QueueSeconds(Class::All), MILLI),
    SampledColumn("discards", Counted::Operations(Class::Discard), 1.0),
    SampledColumn("sectors discarded", Counted::Bytes(Class::Discard), SECTOR),
    SampledColumn("ms discarding", Counted::OperationSeconds(Class::Discard), MILLI),
    SampledColumn("flushes", Counted::Operations(Class::Flush), 1.0),
    SampledColumn("ms flushing", Counted::OperationSeconds(Class::Flush), MILLI),
];

/// Positions of [`COLUMNS`] in a row.
const POSITIONS: [usize; 13] = [0, 2, 3, 4, 6, 7, 9, 10, 11, 13, 14, 15, 16];

/// The values of a row with this number of counters: partitions of old kernels have four, others depend on the kernel
/// version.
fn values(numbers: &[u64; MAX_COUNTERS], count: usize) -> Vec<Option<f64>> {
    let value = |position: usize| match count {
        4 => [0, 2, 4, 6].iter().position(|of| *of == position).map(|at| numbers[at] as f64),
        ..15 => (position < 11).then(|| numbers[position] as f64),
        15 | 16 => (position < 15).then(|| numbers[position] as f64),
        _ => Some(numbers[position] as f64),
    };
    POSITIONS.map(value).to_vec()
}

#[cfg(test)]
mod tests {
    use super::{DiskstatsLine, Span, line, timestamp};

    fn row(text: &str) -> (Option<String>, usize, u64) {
        match line(text) {
            DiskstatsLine::Row { name, numbers, count } => (name.map(str::to_owned), count, numbers[0]),
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
        assert_eq!(line("8 0 sda 5 2 3"), DiskstatsLine::Short);
        assert_eq!(line("==> /sys/block/nvme0n1/stat <=="), DiskstatsLine::Heading("nvme0n1"));
    }

    #[test]
    fn times_between_snapshots_are_read() {
        let check = |text: &str, expected: &str| match line(text) {
            DiskstatsLine::At(at) => {
                assert_eq!(DiskstatsLine::At(at), DiskstatsLine::At(timestamp::parse(expected).unwrap()), "{text}");
            }
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
        assert_eq!(line("350735.47 234388.90"), DiskstatsLine::Age(Span::from_secs_f64(350_735.47)));
        assert_eq!(line("something else"), DiskstatsLine::Other);
    }
}
