//! atop: output of `atop -P` for programs, and its pages of text.
//!
//! The first sample of both is the mean since boot: it is dropped if others follow.

use jiff::civil::DateTime;
use plimsoll_units::Span;

use crate::builder::Builder;
use crate::form::{Form, Head, LineFormat, Resemblance};
use crate::processors::{ProcessorShares, UsedProcessors};
use crate::reading::{Class, Counted, Doubt, Fate, Origin, ReadingScope, ReadingWindow};
use crate::refusal::{InputFault, Refusal};
use crate::sampled::{self, Meaning, SampledColumn};
use crate::text::timestamp::{self, Stamp};
use crate::text::{self, KIB, MILLI, SECTOR};

struct AtopDisk {
    name: String,
    line: u64,
    values: Vec<(Meaning, f64, &'static str)>,
}

/// The disks of a sample, and its time.
#[derive(Default)]
struct AtopSample {
    host: String,
    end: Option<DateTime>,
    length: Span,
    /// True for the mean since boot.
    is_boot: bool,
    disks: Vec<AtopDisk>,
    /// Processors on which programs ran, with their line.
    used_processors: Option<(f64, ProcessorShares, u64)>,
}

/// The samples of an input; the sample since boot is held back until another one arrives.
#[derive(Default)]
struct AtopSamples {
    boot: Option<AtopSample>,
    count: u32,
    disks: u32,
    host: String,
    used: UsedProcessors,
}

impl AtopSamples {
    /// Maximum disks of a sample.
    const MAX_DISKS: usize = 10_000;

    fn put(&mut self, sample: AtopSample, out: &mut Builder) {
        if sample.disks.is_empty() {
            return;
        }
        if sample.is_boot {
            self.boot.get_or_insert(sample);
            return;
        }
        self.hand_over(&sample, out);
    }

    /// Emits the mean since boot if it is the only sample. Returns the number of rows.
    fn finish(&mut self, out: &mut Builder) -> u32 {
        if let Some(boot) = self.boot.take() {
            if self.count == 0 {
                out.caution(None, Doubt::SampleSinceStart);
                self.hand_over(&boot, out);
            } else {
                out.part("sample since the start", Fate::Ignored);
            }
        }
        self.used.emit_time(&self.host, "CPU", 1.0, out);
        self.used.emit(&self.host, "CPU", out);
        self.disks
    }

    fn hand_over(&mut self, sample: &AtopSample, out: &mut Builder) {
        if sample.length.is_zero() {
            let line = sample.disks.first().map_or(0, |disk| disk.line);
            return out.caution(Some(Origin::line(line)), Doubt::lacking("a sample", "a length"));
        }
        let length = sample.length;
        let begin = sample.end.and_then(|end| timestamp::before(end, length));
        let window = match begin {
            Some(_) => out.window(ReadingWindow { begin, length }),
            None => out.sample(ReadingWindow { begin, length }),
        };
        for disk in &sample.disks {
            let (host, part) = (sample.host.clone(), disk.name.clone());
            let scope = out.scope(ReadingScope { host, part, ..ReadingScope::default() });
            let mut origin = |field| out.origin(disk.line, &disk.name, field);
            let values = disk.values.iter().map(|(value, number, field)| (value.clone(), *number, origin(field)));
            sampled::put(values.collect::<Vec<_>>(), (scope, window), length.as_secs_f64(), out);
        }
        if let Some((used, shares, line)) = sample.used_processors {
            self.used.add_shares(used, shares, length.as_secs_f64(), line);
        }
        sample.host.clone_into(&mut self.host);
        self.count += 1;
        self.disks += sample.disks.len() as u32;
    }
}

/// Output of `atop -P`.
pub(crate) const LABELLED: Form =
    Form::lines("atop-labelled", "output of atop -P", is_labelled, |_| Box::new(Labelled::default()));

fn is_labelled(head: &Head<'_>) -> Resemblance {
    let text = head.text();
    let rows = text.lines().take(500).filter(|line| split_fields(line).is_some()).count();
    let disks = text.lines().any(|line| line.starts_with("DSK ") && split_fields(line).is_some());
    match (disks, rows, head.has("SEP\n") || head.has("SEP\r\n") || text.trim_end().ends_with("SEP")) {
        (true, ..) => Resemblance::Is { marks: 4 },
        (_, 2.., true) => Resemblance::Is { marks: 3 },
        (_, 2.., _) => Resemblance::Near { marks: 1, missing: "line DSK" },
        _ => Resemblance::None,
    }
}

/// The first fields of each line after its label: host, seconds since 1970, date, time, seconds of the sample.
struct AtopFields<'a> {
    host: &'a str,
    seconds: f64,
    length: f64,
    rest: std::str::SplitAsciiWhitespace<'a>,
}

fn split_fields(line: &str) -> Option<AtopFields<'_>> {
    let mut words = line.split_ascii_whitespace();
    words.next().filter(|label| label.len() == 3 && label.bytes().all(|byte| byte.is_ascii_alphabetic()))?;
    let (host, seconds) = (words.next()?, words.next()?.parse().ok()?);
    let (date, time) = (words.next()?, words.next()?);
    let length = words.next()?.parse().ok().filter(|length| *length >= 0.0)?;
    let is_date = date.len() == 10 && date.as_bytes()[4] == b'/' && time.contains(':');
    is_date.then_some(AtopFields { host, seconds, length, rest: words })
}

#[derive(Default)]
struct Labelled {
    sample: AtopSample,
    /// End of the current sample, in seconds since 1970.
    seconds: Option<f64>,
    samples: AtopSamples,
    others: u32,
    last: u64,
}

impl LineFormat for Labelled {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        self.last = number;
        match line.trim_end() {
            "SEP" => self.hand_over(out),
            "RESET" => {
                self.hand_over(out);
                self.sample.is_boot = true;
            }
            line if line.starts_with("DSK ") => self.disk(line, number, out),
            line if line.starts_with("CPU ") => {
                self.sample.used_processors = labelled_processors(line).map(|(used, shares)| (used, shares, number));
            }
            line => self.others += u32::from(line.starts_with("LVM ") || line.starts_with("MDD ")),
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.hand_over(out);
        let rows = self.samples.finish(out);
        if self.others > 0 {
            out.part("LVM, MDD", Fate::Ignored);
        }
        out.end_at(self.last);
        out.require(rows > 0, NO_DISKS)?;
        out.part("DSK", Fate::Read(rows));
        Ok(())
    }
}

impl Labelled {
    fn hand_over(&mut self, out: &mut Builder) {
        self.seconds = None;
        self.samples.put(std::mem::take(&mut self.sample), out);
    }

    fn disk(&mut self, line: &str, number: u64, out: &mut Builder) {
        let disk = split_fields(line).and_then(|mut fields| Some((labelled_disk(&mut fields, number)?, fields)));
        let Some((disk, fields)) = disk else {
            return out.skip(number, Doubt::lacking("a line", "its values"));
        };
        // Without separators, a new time begins a sample.
        if self.seconds.is_some_and(|seconds| (seconds - fields.seconds).abs() > 0.5) {
            self.hand_over(out);
        }
        if self.seconds.replace(fields.seconds).is_none() {
            fields.host.clone_into(&mut self.sample.host);
            self.sample.length = Span::from_secs_f64(fields.length);
            self.sample.end = timestamp::of_unix(fields.seconds);
        }
        if self.sample.disks.len() < AtopSamples::MAX_DISKS {
            self.sample.disks.push(disk);
        }
    }
}

const NO_DISKS: InputFault = InputFault::missing("lines of disks", &["atop -r FILE -P DSK"]);

/// Values of a disk after its name.
const COLUMNS: [SampledColumn; 7] = [
    SampledColumn("ms busy", Counted::BusySeconds(Class::All), MILLI),
    SampledColumn("reads", Counted::Operations(Class::Read), 1.0),
    SampledColumn("sectors read", Counted::Bytes(Class::Read), SECTOR),
    SampledColumn("writes", Counted::Operations(Class::Write), 1.0),
    SampledColumn("sectors written", Counted::Bytes(Class::Write), SECTOR),
    SampledColumn("discards", Counted::Operations(Class::Discard), 1.0),
    SampledColumn("sectors discarded", Counted::Bytes(Class::Discard), SECTOR),
];

fn labelled_disk(fields: &mut AtopFields, line: u64) -> Option<AtopDisk> {
    let name = fields.rest.next()?.to_owned();
    let mut number = || fields.rest.next()?.parse::<f64>().ok().filter(|value| *value >= 0.0);
    let numbers: [Option<f64>; 9] = std::array::from_fn(|_| number());
    // Older versions end after the writes.
    if numbers[..5].iter().any(Option::is_none) {
        return None;
    }
    let has_discards = numbers[5].is_some() && numbers[6].is_some();
    let existing = COLUMNS.iter().zip(numbers).take(if has_discards { 7 } else { 5 });
    let value = |(SampledColumn(name, counted, unit), number): (&SampledColumn, Option<f64>)| {
        Some((Meaning::Sum(counted.clone()), number? * unit, *name))
    };
    let mut values: Vec<_> = existing.filter_map(value).collect();
    let queue = numbers[8].zip(numbers[0]).map(|(queue, busy_ms)| queue * busy_ms * MILLI);
    values.extend(queue.map(|seconds| (Meaning::Sum(Counted::QueueSeconds(Class::All)), seconds, "queue while busy")));
    Some(AtopDisk { name, line, values })
}

/// Processors on which programs ran, of `CPU host seconds date time length ticks count system user nice idle wait irq
/// softirq ...`, whose times are in ticks.
fn labelled_processors(line: &str) -> Option<(f64, ProcessorShares)> {
    let AtopFields { length, rest, .. } = split_fields(line)?;
    let numbers: Vec<f64> = rest.take(9).map(|word| word.parse().ok()).collect::<Option<_>>()?;
    let [ticks_per_second, _, system, user, nice, idle, wait, irq, softirq] = numbers[..] else { return None };
    let running = system + user + nice + irq + softirq;
    Some((running / (ticks_per_second * length), processor_shares(running, idle, wait)))
}

/// Shares of the processors' time, from times in any unit.
fn processor_shares(used: f64, idle: f64, io_wait: f64) -> ProcessorShares {
    let all = used + idle + io_wait;
    ProcessorShares { used: used / all, io_wait: Some(io_wait / all) }
}

/// Processors on which programs ran, of `CPU | sys 7% | user 300% | irq 1% | idle 1289% | wait 3% |`.
fn page_processors(line: &str) -> Option<(f64, ProcessorShares)> {
    let percent = |name: &str| {
        let cell = line.split('|').map(str::trim).find_map(|cell| cell.strip_prefix(name))?;
        cell.trim().strip_suffix('%')?.parse::<f64>().ok()
    };
    let used = percent("sys ")? + percent("user ")? + percent("irq ").unwrap_or(0.0);
    let [idle, wait] = ["idle ", "wait "].map(|name| percent(name).unwrap_or(0.0));
    Some((used / 100.0, processor_shares(used, idle, wait)))
}

pub(crate) const PAGE: Form = Form::lines("atop", "pages of atop", is_page, |_| Box::new(AtopPages::default()));

fn is_page(head: &Head<'_>) -> Resemblance {
    let (heading, disks) = (head.has("ATOP - ") && head.has(" elapsed"), head.text().starts_with("DSK |"));
    let disks = disks || head.has("\nDSK |");
    Resemblance::is(4, heading && disks)
        .or(2, heading && head.has("\nCPU |"))
        .or_near(1, heading, "line of CPU or DSK")
        .or_near(1, disks, "heading `ATOP -`")
}

#[derive(Default)]
struct AtopPages {
    sample: AtopSample,
    samples: AtopSamples,
    count: u32,
    others: u32,
}

impl LineFormat for AtopPages {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        if line.starts_with("ATOP - ") {
            self.samples.put(std::mem::take(&mut self.sample), out);
            self.count += 1;
            match parse_heading(line) {
                Some((host, end, length)) => {
                    let end = end.map(|end| out.instant(end));
                    self.sample = AtopSample { host, end, length, ..AtopSample::default() };
                }
                None => out.caution(Some(Origin::line(number)), Doubt::lacking("a page", "a readable heading")),
            }
        } else if line.starts_with("DSK |") {
            match page_disk(line, number, self.sample.length) {
                Some(disk) if self.sample.disks.len() < AtopSamples::MAX_DISKS => self.sample.disks.push(disk),
                Some(_) => {}
                None => out.caution(Some(Origin::line(number)), Doubt::lacking("a disk", "its counts")),
            }
        } else if line.starts_with("CPU |") {
            self.sample.used_processors = page_processors(line).map(|(used, shares)| (used, shares, number));
        } else if line.contains("since boot ***") {
            self.sample.is_boot = true;
        } else {
            self.others += u32::from(line.starts_with("LVM |") || line.starts_with("MDD |"));
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.samples.put(std::mem::take(&mut self.sample), out);
        let rows = self.samples.finish(out);
        if self.others > 0 {
            out.part("LVM, MDD", Fate::Ignored);
        }
        out.require(rows > 0, NO_DISKS)?;
        out.part("DSK", Fate::Read(rows));
        if rows < self.count {
            out.caution(None, Doubt::IdleDisksOmitted);
        }
        Ok(())
    }
}

/// `ATOP - db1   2026/03/02  09:00:10   ----   10s elapsed`
fn parse_heading(line: &str) -> Option<(String, Option<Stamp>, Span)> {
    let mut words = line.strip_prefix("ATOP - ")?.split_ascii_whitespace();
    let host = words.next()?.to_owned();
    let end = timestamp::parse(&format!("{} {}", words.next()?, words.next()?));
    let elapsed = words.take_while(|word| *word != "elapsed").last()?;
    Some((host, end, text::elapsed(elapsed)?))
}

fn page_disk(line: &str, number: u64, length: Span) -> Option<AtopDisk> {
    let mut cells = line.split('|').skip(1).map(str::trim);
    let name = cells.next().filter(|name| !name.is_empty())?;
    let (mut reads, mut writes, mut busy, mut queue) = (None, None, None, None);
    let (mut sizes, mut rates) = ([None; 2], [None; 2]);
    for cell in cells {
        let mut words = cell.split_ascii_whitespace();
        let (Some(name), Some(value)) = (words.next(), words.next()) else { continue };
        let value = value.trim_end_matches('%').parse::<f64>().ok().filter(|value| *value >= 0.0);
        match name {
            "read" => reads = value,
            "write" => writes = value,
            "busy" => busy = value.map(|percent| (percent / 100.0).min(1.0)),
            "KiB/r" | "KiB/rd" => sizes[0] = value,
            "KiB/w" | "KiB/wr" => sizes[1] = value,
            "MBr/s" => rates[0] = value,
            "MBw/s" => rates[1] = value,
            "avq" => queue = value,
            _ => {}
        }
    }
    let mut values = vec![
        (Meaning::Sum(Counted::Operations(Class::Read)), reads?, "read"),
        (Meaning::Sum(Counted::Operations(Class::Write)), writes?, "write"),
    ];
    let seconds = length.as_secs_f64();
    for (class, count, size, rate, field) in [
        (Class::Read, reads?, sizes[0], rates[0], "KiB/r, MBr/s"),
        (Class::Write, writes?, sizes[1], rates[1], "KiB/w, MBw/s"),
    ] {
        let bytes = derive_bytes(count, size, rate, seconds);
        values.extend(bytes.map(|bytes| (Meaning::Sum(Counted::Bytes(class)), bytes, field)));
    }
    if let Some(busy) = busy {
        values.push((Meaning::Rate(Counted::BusySeconds(Class::All)), busy, "busy"));
        let queue =
            queue.map(|queue| (Meaning::Rate(Counted::QueueSeconds(Class::All)), queue * busy, "avq while busy"));
        values.extend(queue);
    }
    Some(AtopDisk { name: name.to_owned(), line: number, values })
}

/// Bytes from two rounded figures: KiB per operation, and MiB per second with a decimal. The figure with more printed
/// digits is used.
fn derive_bytes(count: f64, kib: Option<f64>, mib_s: Option<f64>, seconds: f64) -> Option<f64> {
    match (kib, mib_s) {
        (Some(kib), Some(mib_s)) if mib_s * 10.0 < kib => Some(count * kib * KIB),
        (_, Some(mib_s)) => Some(mib_s * KIB * KIB * seconds),
        (kib, None) => kib.map(|kib| count * kib * KIB),
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_units::Span;

    use super::{derive_bytes, parse_heading};

    #[test]
    fn headings_are_read() {
        let (host, end, length) = parse_heading("ATOP - db1   2026/03/02  09:00:10   ----   1m10s elapsed").unwrap();
        assert_eq!((host.as_str(), end.is_some(), length), ("db1", true, Span::from_secs(70)));
        assert_eq!(parse_heading("ATOP - db1"), None);
    }

    #[test]
    fn the_figure_with_more_digits_is_taken() {
        assert_eq!(derive_bytes(100.0, Some(8.0), Some(0.1), 10.0), Some(819_200.0));
        assert_eq!(derive_bytes(100.0, Some(8.0), Some(5.0), 10.0), Some(52_428_800.0));
        assert_eq!(derive_bytes(100.0, None, None, 10.0), None);
    }
}
