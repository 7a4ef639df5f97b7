//! dstat, its successor dool, and pcp-dstat: their CSV, and their screen.
//!
//! Two lines of names precede the samples: groups such as `dsk/total` and `io/sda`, and columns such as `read`, from
//! dstat 0.7.4 on with their group (`dsk/total:read`). `dsk` is bytes a second, `io` requests a second. The first sample
//! is the mean since boot, except in pcp-dstat. Times have no year: it is in the head of the CSV only. A second run
//! appends another head, which may have other columns, or be of another host.

use jiff::SignedDuration;
use jiff::civil::{Date, DateTime};
use plimsoll_units::Span;

use crate::builder::Builder;
use crate::form::{Form, FormatInput, Head, LineFormat, Resemblance};
use crate::processors::{ProcessorShares, UsedProcessors};
use crate::reading::{Class, Doubt, Fate, Measure, Origin, ReadingScope};
use crate::refusal::{InputFault, Refusal};
use crate::text::table::cells;
use crate::text::timestamp::{self, Stamp};
use crate::text::{self, MILLI};
use crate::wide::{CounterQuantity, UNDATED_YEAR, WideColumn, WideRow, WideSamples};

/// The CSV of dstat and pcp-dstat.
pub(crate) const CSV: Form = Form::lines("dstat", "dstat (CSV)", is_csv, |input| Box::new(DstatCsv::new(input)));

/// The screen of dstat and pcp-dstat.
pub(crate) const SCREEN: Form =
    Form::lines("dstat-screen", "dstat (screen)", is_screen, |input| Box::new(DstatScreen::new(input)));

fn is_csv(head: &Head<'_>) -> Resemblance {
    let titled = head.text().lines().take(3).any(is_title);
    let has_disk = |line: &str| cells(line, separator_of(line)).skip(1).any(|cell| is_disk_group(cell.trim()));
    let has_disks = head.has_any(&["\"dsk/", "\"io/", "\"disk/"]) || titled && head.text().lines().any(has_disk);
    Resemblance::is(9, has_disks).or_near(3, titled, "columns of disks: record with dstat --time -dr --output FILE")
}

/// `"Dstat 0.7.2 CSV output"`, `"pcp-dstat 5.3.7 CSV Output"`, `"Dool 1.3.1 CSV output"`
fn is_title(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    line.contains(" csv output") && ["dstat", "dool"].iter().any(|name| line.contains(name))
}

/// The separator of cells: of spreadsheets in some languages, a semicolon.
fn separator_of(line: &str) -> char {
    if line.matches(';').count() > line.matches(',').count() { ';' } else { ',' }
}

fn is_screen(head: &Head<'_>) -> Resemblance {
    let mut lines = head.text().lines();
    let has_groups = lines.any(|line| is_groups(line) && groups_of(line).iter().any(|name| is_disk_group(name)));
    Resemblance::is(7, has_groups).or_near(2, head.has("-total-cpu-usage-"), "columns of disks: run dstat -tdr")
}

/// True for a line of groups: words between hyphens.
fn is_groups(line: &str) -> bool {
    line.trim_start().starts_with('-') && line.contains("- -") || line.trim().starts_with("-dsk/")
}

fn groups_of(line: &str) -> Vec<String> {
    line.split_whitespace().map(|word| word.trim_matches('-').to_owned()).collect()
}

fn is_disk_group(name: &str) -> bool {
    ["dsk/", "io/", "disk/"].iter().any(|start| name.starts_with(start))
}

/// The meaning of a column of a group, and its device.
fn column(group: &str, name: &str) -> Option<(String, CounterQuantity)> {
    fn same(value: f64) -> f64 {
        value
    }
    let (kind, device) = group.split_once('/').unwrap_or(("", group));
    let class = if name.contains("rea") || name.starts_with("ra") { Class::Read } else { Class::Write };
    let quantity: CounterQuantity = match (kind, name) {
        ("dsk" | "disk", "read" | "writ") => (class, Measure::Throughput, same),
        ("io", "read" | "writ") | ("dsk" | "disk", "#read" | "#writ") => (class, Measure::Iops, same),
        ("", "util") => (Class::All, Measure::Busy, |value| value / 100.0),
        ("", "rawait" | "wawait") => (class, Measure::Latency, |value| value * MILLI),
        ("", "avgqu") => (Class::All, Measure::Depth, same),
        _ => return None,
    };
    Some((if device == "total" { String::new() } else { device.to_owned() }, quantity))
}

/// True for a percentage of all processors without programs.
fn is_idle_column(group: &str, name: &str) -> bool {
    let is_total = matches!(group, "total cpu usage" | "total-cpu-usage" | "total usage" | "total-usage");
    is_total && matches!(name, "idl" | "wai" | "stl")
}

/// The part that both forms share.
#[derive(Default)]
struct DstatSamples {
    input: FormatInput,
    host: String,
    /// The time of the begin of the record, with its year.
    begun: Option<Stamp>,
    samples: Option<WideSamples>,
    /// The host and the names of the columns of `samples`.
    layout: (String, Vec<String>, Vec<Vec<String>>),
    /// The delay of the command, for samples without times.
    delay: Option<Span>,
    /// The position of the time in a row.
    time: Option<usize>,
    width: usize,
    /// The first sample is a mean since boot.
    is_since_boot: bool,
    last: Option<DateTime>,
    /// Columns of percentages of all processors without programs.
    idle: Vec<usize>,
    /// The column of idle time with I/O in flight.
    io_wait: Option<usize>,
    used: UsedProcessors,
    untimed: u32,
    has_operations: bool,
    line: u64,
}

impl DstatSamples {
    fn new(input: &FormatInput) -> Self {
        Self { input: input.clone(), is_since_boot: true, ..Self::default() }
    }

    /// Sets the columns of the following samples.
    fn names(&mut self, groups: &[String], names: &[Vec<String>], out: &mut Builder) {
        let layout = (self.host.clone(), groups.to_vec(), names.to_vec());
        if self.layout == layout {
            return;
        }
        self.layout = layout;
        let mut columns = Vec::new();
        let mut index = 0;
        self.idle.clear();
        (self.time, self.io_wait) = (None, None);
        for (group_name, names) in groups.iter().zip(names) {
            for column_name in names {
                let (group, name) = column_name.rsplit_once(':').unwrap_or((group_name.as_str(), column_name.as_str()));
                if matches!(name, "time" | "date/time" | "epoch") {
                    self.time = Some(index);
                } else if is_idle_column(group, name) {
                    self.idle.push(index);
                    self.io_wait = if name == "wai" { Some(index) } else { self.io_wait };
                } else if let Some((part, quantity)) = column(group, name) {
                    self.has_operations |= quantity.1 == Measure::Iops;
                    let scope = ReadingScope { host: self.host.clone(), part, ..ReadingScope::default() };
                    let name = format!("{group} {name}");
                    columns.push(WideColumn { index, name, scope, quantity });
                }
                index += 1;
            }
        }
        self.width = index;
        if columns.iter().any(|column| column.quantity.1 != Measure::Busy) {
            let samples = self.samples.get_or_insert_with(|| WideSamples::new(Vec::new(), self.input.interval, out));
            samples.replace(columns, out);
        }
    }

    fn row(&mut self, time: Option<&str>, values: Vec<Option<f64>>, number: u64, out: &mut Builder) {
        self.line = number;
        let Some(at) = self.at(time, out) else {
            return out.caution_once(Some(Origin::line(number)), Doubt::lacking("a sample", "a readable time"));
        };
        let Some(samples) = &mut self.samples else { return };
        if std::mem::take(&mut self.is_since_boot) {
            out.part("first sample, since boot", Fate::Ignored);
            return samples.begin(at);
        }
        let value = |index: usize| values.get(index).copied().flatten();
        let idle: Option<f64> = self.idle.iter().map(|index| value(*index)).sum();
        let io_wait = self.io_wait.and_then(value);
        samples.row(WideRow { at, line: number, values }, out);
        if let (Some(idle), Some(length)) = (idle.filter(|_| !self.idle.is_empty()), out.latest_length()) {
            let shares = ProcessorShares::of_idle(idle, io_wait);
            self.used.add_shares(shares.used, shares, length.as_secs_f64(), number);
        }
    }

    /// The time of a sample: from its column, or by the caller's interval.
    fn at(&mut self, time: Option<&str>, out: &mut Builder) -> Option<DateTime> {
        let Some(text) = time else {
            let begin = match self.begun {
                Some(begun) => out.instant(begun),
                None => self.input.begin.unwrap_or_else(|| jiff::civil::date(UNDATED_YEAR, 1, 1).at(0, 0, 0, 0)),
            };
            let seconds = self.delay.or(self.input.interval)?.as_secs_f64() * f64::from(self.untimed);
            self.untimed += 1;
            return timestamp::later(begin, seconds);
        };
        if let Some(stamp) = timestamp::parse(text) {
            return Some(out.instant(stamp));
        }
        let at = self.without_year(text)?;
        if at.year() <= UNDATED_YEAR {
            return Some(at);
        }
        // The head and the samples are in the same zone.
        let is_utc = self.begun.is_some_and(|begun| begun.parts().1);
        Some(if is_utc { at } else { out.local(at) })
    }

    /// `16-06 11:06:42`, day and month, or `Jun-16 11:06:42`.
    fn without_year(&mut self, text: &str) -> Option<DateTime> {
        let (date, clock) = text.trim().split_once(' ')?;
        let (day, month) = date.split_once(['-', '/', '.'])?;
        let (day, month) = if day.starts_with(char::is_alphabetic) { (month, day) } else { (day, month) };
        let (time, _) = timestamp::time_of_day(clock.trim(), "")?;
        let began = self.begun.map(|begun| begun.parts().0).or(self.input.begin);
        let year = self.last.or(began).map_or(UNDATED_YEAR, DateTime::year);
        let date = |year: i16| match month.parse() {
            Ok(month) => Date::new(year, month, day.parse().ok()?).ok(),
            Err(_) => timestamp::parse_date(&format!("{day}-{month}-{year}")).map(|(date, _)| date),
        };
        let mut at = date(year)?.to_datetime(time);
        // A record over the end of a year.
        if self.last.is_some_and(|last| last.duration_since(at) > SignedDuration::from_hours(24 * 180)) {
            at = date(year + 1)?.to_datetime(time);
        }
        self.last = Some(at);
        Some(at)
    }

    /// Sets the host of the following samples.
    fn begin_host(&mut self, host: &str, out: &mut Builder) {
        if host != self.host {
            self.used.emit_share(&self.host, "total cpu usage", None, out);
            host.clone_into(&mut self.host);
        }
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        let Some(samples) = &mut self.samples else {
            return Err(out.unusable(InputFault::missing("columns of disks", &["dstat --time -dr"])));
        };
        let rows = samples.finish(None, out);
        self.used.emit_share(&self.host, "total cpu usage", None, out);
        if rows > 0 && !self.has_operations {
            out.caution(None, Doubt::BytesOnly { command: "dstat --time -dr" });
        }
        out.end_at(self.line);
        out.require(rows > 0, InputFault::MeanSinceBoot)
    }
}

/// The delay in a command, `dstat [options] [delay [count]]`: a second by default.
fn delay_of(command: &str) -> Span {
    let words: Vec<&str> = command.split_whitespace().collect();
    // Lists of devices and names of files belong to the option before them.
    let takes_value =
        |word: &str| word == "--output" || matches!(word.strip_prefix('-'), Some("C" | "D" | "I" | "N" | "S"));
    let is_number =
        |index: usize| words[index].bytes().all(|byte| byte.is_ascii_digit()) && !takes_value(words[index - 1]);
    let begin = (1..words.len()).rev().take_while(|index| is_number(*index)).last();
    let seconds = begin.and_then(|index| words[index].parse().ok()).filter(|seconds| *seconds > 0);
    Span::from_secs(seconds.unwrap_or(1))
}

struct DstatCsv {
    samples: DstatSamples,
    separator: char,
    /// The groups, until the names of columns follow.
    groups: Option<Vec<String>>,
}

impl DstatCsv {
    fn new(input: &FormatInput) -> Self {
        Self { samples: DstatSamples::new(input), separator: ',', groups: None }
    }

    /// Reads a line of the head: `"Host:","db1",,,,"User:","op"`.
    fn about(&mut self, cells: &[String], out: &mut Builder) {
        for pair in cells.windows(2) {
            match pair[0].as_str() {
                "Host:" => self.samples.begin_host(&pair[1], out),
                "Cmdline:" => self.samples.delay = Some(delay_of(&pair[1])),
                "Date:" => {
                    self.samples.begun = timestamp::parse(&pair[1]);
                    (self.samples.last, self.samples.untimed) = (None, 0);
                    let zone = pair[1].rsplit(' ').next().unwrap_or_default();
                    let is_known =
                        self.samples.begun.is_some_and(|begun| begun.parts().1) || self.samples.input.zone.is_some();
                    if !is_known && zone.len() >= 3 && zone.bytes().all(|byte| byte.is_ascii_uppercase()) {
                        out.caution(None, Doubt::AmbiguousZone { zone: zone.to_owned() });
                    }
                }
                _ => {}
            }
        }
    }
}

impl LineFormat for DstatCsv {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        if line.trim().is_empty() {
            self.groups = None;
            return Ok(());
        }
        if is_title(line) {
            let title = line.trim_start_matches('"');
            self.groups = None;
            // The first fetch of pcp-dstat has no rates.
            self.samples.is_since_boot = !title.starts_with("pcp");
            out.version(title.split(" CSV").next().unwrap_or_default());
            return Ok(());
        }
        if line.contains("Author:") || line.contains("dsk/") {
            self.separator = separator_of(line);
        }
        let fields: Vec<String> = cells(line, self.separator).map(|cell| cell.trim().to_owned()).collect();
        let is_named = line.starts_with(|letter: char| letter == '"' || letter.is_alphabetic())
            && fields.iter().skip(1).all(|cell| text::parse_decimal(cell).is_none());
        if !is_named {
            if fields.len() < self.samples.width {
                out.skip(number, Doubt::RowWidth { cells: fields.len(), columns: self.samples.width });
                self.samples.line = number;
                return Ok(());
            }
            let time = self.samples.time.and_then(|time| fields.get(time)).map(String::as_str);
            let values = fields.iter().map(|cell| text::parse_decimal(cell)).collect();
            self.samples.row(time, values, number, out);
            return Ok(());
        }
        if fields.iter().any(|cell| cell.ends_with(':')) {
            self.about(&fields, out);
        } else if let Some(groups) = self.groups.take() {
            let names: Vec<Vec<String>> = fields.into_iter().map(|name| vec![name]).collect();
            self.samples.names(&groups, &names, out);
        } else {
            let mut group = String::new();
            let filled = fields.into_iter().map(|cell| {
                if !cell.is_empty() {
                    group = cell;
                }
                group.clone()
            });
            self.groups = Some(filled.collect());
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.samples.end(out)
    }
}

struct DstatScreen {
    samples: DstatSamples,
    groups: Option<Vec<String>>,
    /// The names of each group, and the segment between bars in which it is.
    names: Vec<Vec<String>>,
    /// Number of groups in each segment.
    segments: Vec<usize>,
    is_rounded: bool,
}

impl DstatScreen {
    fn new(input: &FormatInput) -> Self {
        let samples = DstatSamples::new(input);
        Self { samples, groups: None, names: Vec::new(), segments: Vec::new(), is_rounded: false }
    }

    fn names(&mut self, groups: &[String], line: &str, out: &mut Builder) {
        self.names.clear();
        self.segments.clear();
        for segment in line.split('|') {
            let of_segment: Vec<Vec<String>> =
                segment.split(':').map(|group| group.split_whitespace().map(str::to_owned).collect()).collect();
            self.segments.push(of_segment.len());
            self.names.extend(of_segment);
        }
        self.samples.names(groups, &self.names, out);
    }

    /// The cells of a sample; a time is a single cell.
    fn values(&mut self, line: &str) -> Option<(Option<String>, Vec<Option<f64>>)> {
        let (mut time, mut values) = (None, Vec::new());
        let mut group = 0;
        let segments: Vec<&str> = line.split('|').collect();
        if segments.len() != self.segments.len() {
            return None;
        }
        for (segment, count) in segments.iter().zip(&self.segments) {
            let parts: Vec<&str> = if *count > 1 { segment.split(':').collect() } else { vec![segment] };
            for part in parts.into_iter().take(*count) {
                let names = self.names.get(group)?;
                group += 1;
                if names.iter().any(|name| matches!(name.as_str(), "time" | "date/time" | "epoch")) {
                    time = Some(part.trim().to_owned());
                    values.resize(values.len() + names.len(), None);
                    continue;
                }
                let is_count = self.samples_group(group - 1).starts_with("io/");
                let words: Vec<&str> = part.split_whitespace().collect();
                if words.len() != names.len() {
                    values.resize(values.len() + names.len(), None);
                    continue;
                }
                self.is_rounded |= words.iter().any(|word| word.ends_with(['k', 'M', 'G']));
                values
                    .extend(words.iter().map(|word| if is_count { text::parse_count(word) } else { text::size(word) }));
            }
        }
        Some((time, values))
    }

    fn samples_group(&self, index: usize) -> &str {
        self.groups.as_ref().and_then(|groups| groups.get(index)).map_or("", String::as_str)
    }
}

impl LineFormat for DstatScreen {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        if is_groups(line) {
            self.groups = Some(groups_of(line));
            self.names.clear();
            return Ok(());
        }
        let Some(groups) = self.groups.clone() else { return Ok(()) };
        if !line.contains('|') && groups.len() > 1 {
            return Ok(());
        }
        if self.names.is_empty() {
            self.names(&groups, line, out);
        } else if let Some((time, values)) = self.values(line) {
            self.samples.row(time.as_deref(), values, number, out);
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        if self.is_rounded {
            out.caution(None, Doubt::RoundedValues { option: "--output FILE" });
        }
        self.samples.end(out)
    }
}
