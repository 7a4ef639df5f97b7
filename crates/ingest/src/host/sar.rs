//! sar as text: its tables of disks (`-d`), and of transfers (`-b`), processors (`-u`) and memory (`-r`) of the host.
//!
//! Times are times of day: the time of a heading is the begin of its first row, the time of a row its end.

use jiff::SignedDuration;
use jiff::civil::{Date, DateTime};

use plimsoll_language::label;

use super::disks::{Heading, NameAt};
use super::iostat::{parse_banner, processor_shares, processors};
use super::{In, Noted, Tables, Timeline};
use crate::builder::Builder;
use crate::form::{Form, FormatInput, Head, LineFormat, Resemblance};
use crate::processors::{self, UsedProcessors};
use crate::reading::{Doubt, Fate, Origin, Resource};
use crate::refusal::{InputFault, Refusal};
use crate::text::timestamp::{self, Stamp};
use crate::text::{self, KIB};

/// sar as text.
pub(crate) const FORM: Form = Form::lines("sar", "sar (text)", resembles, |input| Box::new(Sar::new(input)));

fn resembles(head: &Head<'_>) -> Resemblance {
    let text = head.text();
    let mut timed = 0;
    for line in text.lines().filter(|line| line.len() < 2_000) {
        let Some((_, rest)) = timed_line(line) else { continue };
        timed += 1;
        if SarTable::of(rest).is_some() {
            return Resemblance::Is { marks: 5 };
        }
    }
    // The tables of disks follow many others, possibly beyond the head.
    let others = ["%idle", "cswch/s", "pgpgin/s", "rxpck/s", "kbmemfree", "ldavg-1", "LINUX RESTART"];
    let is_sar = others.iter().any(|name| text.contains(name)) && timed > 1 && !text.contains("avg-cpu");
    Resemblance::is(4, is_sar && head.has("Linux "))
}

/// The time of day of a line, and the rest of it.
fn timed_line(line: &str) -> Option<(jiff::civil::Time, &str)> {
    if !line.as_bytes().first()?.is_ascii_digit() {
        return None;
    }
    let (first, rest) = line.split_once([' ', '\t'])?;
    if !(first.contains(':') || first.contains('時')) {
        return None;
    }
    let rest = rest.trim_start();
    let (next, behind) = rest.split_once([' ', '\t']).unwrap_or((rest, ""));
    let (time, twelve) = timestamp::time_of_day(first, next)?;
    Some((time, if twelve { behind.trim_start() } else { rest }))
}

/// A table, identified by its heading.
enum SarTable {
    Disks,
    Transfers(Heading),
    Processors,
    Memory,
}

impl SarTable {
    fn of(heading: &str) -> Option<Self> {
        let names = || heading.split_whitespace();
        match names().next() {
            Some("CPU") if heading.contains("%idle") => return Some(Self::Processors),
            Some("kbmemfree") if heading.contains("%memused") => return Some(Self::Memory),
            _ if !heading.contains('/') => return None,
            _ => {}
        }
        if names().any(|name| name == "rtps") {
            return Heading::of(names().map(str::to_owned).collect(), NameAt::First).map(Self::Transfers);
        }
        let has_device = names().next() == Some("DEV") || names().last() == Some("DEV");
        Heading::read(heading).filter(|_| has_device).map(|_| Self::Disks)
    }
}

#[derive(Debug, Default)]
struct Sar {
    tables: Tables,
    timeline: Timeline,
    date: Date,
    table: In,
    /// The begin of the table's next row.
    from: Option<DateTime>,
    /// The end of the current rows of devices.
    at: Option<DateTime>,
    blank: bool,
    noted: Noted,
    numbers: Vec<f64>,
    /// Columns of the present table of processors or memory.
    columns: Vec<String>,
    /// Processors of the host, those in use, and bytes of its memory with their line.
    processors: Option<f64>,
    used: UsedProcessors,
    memory: Option<(f64, u64)>,
}

impl Sar {
    fn new(input: &FormatInput) -> Self {
        let begin = input.begin.map_or(super::UNDATED, DateTime::date);
        Self { timeline: Timeline::new(input), date: begin, blank: true, ..Self::default() }
    }

    /// Ends the current sample of devices.
    fn close(&mut self, out: &mut Builder) {
        let disks = &mut self.tables.disks;
        let (Some(at), false) = (self.at.take(), disks.is_empty()) else { return disks.drop_rows() };
        let line = disks.line();
        let window = self.window(at, line, out);
        self.tables.devices(window, out);
    }

    fn window(&mut self, at: DateTime, line: u64, out: &mut Builder) -> u32 {
        let mut instant = |at: DateTime| super::instant(Stamp::on(at.date(), at.time()), out);
        let (from, until) = (self.from.map(&mut instant), instant(at));
        self.timeline.from(from);
        self.from = Some(at);
        self.timeline.sample(Some(until), from.map(|from| until.duration_since(from).as_secs_f64()), line, out)
    }

    /// The date and time of a time of day: on the next day if it is long before the last one.
    fn moment(&self, time: jiff::civil::Time) -> DateTime {
        let day = self.from.map_or(self.date, DateTime::date);
        let at = day.to_datetime(time);
        let passed = self.from.is_some_and(|from| from.duration_since(at) > SignedDuration::from_hours(12));
        if passed { at.checked_add(SignedDuration::from_hours(24)).unwrap_or(at) } else { at }
    }

    fn heading(&mut self, time: jiff::civil::Time, text: &str, out: &mut Builder) -> bool {
        // Headings end in letters and rows in digits; this is checked for each row.
        if text.as_bytes().last().is_some_and(u8::is_ascii_digit) {
            return false;
        }
        if self.table == In::Disks && self.tables.disks.heading().is(text) {
            // Headings are repeated on each page, and for each sample of a live run.
            self.close(out);
            self.from = Some(self.moment(time));
            self.tables.disks.begin(text);
            return true;
        }
        let Some(table) = SarTable::of(text) else { return false };
        self.close(out);
        self.columns = text.split_whitespace().map(str::to_owned).collect();
        self.from = Some(self.goes_on(time));
        self.table = match table {
            SarTable::Disks => {
                self.tables.disks.begin(text);
                In::Disks
            }
            SarTable::Transfers(heading) => {
                self.tables.total.put_heading(heading);
                In::Transfers
            }
            SarTable::Processors => In::Processors,
            SarTable::Memory => In::Memory,
        };
        true
    }

    /// The begin of a table: the sample of the preceding table, or the first one again, as in files.
    fn goes_on(&self, time: jiff::civil::Time) -> DateTime {
        let from = self.from.unwrap_or_else(|| self.date.to_datetime(time));
        let days = [from.date().yesterday(), Ok(from.date()), from.date().tomorrow()];
        let mut near = days.into_iter().flatten().map(|day| day.to_datetime(time));
        let is_near = |at: &DateTime| at.duration_since(from).abs() < SignedDuration::from_hours(1);
        near.find(is_near).unwrap_or_else(|| self.date.to_datetime(time))
    }

    fn row(&mut self, time: jiff::civil::Time, text: &str, number: u64, out: &mut Builder) -> bool {
        let at = self.moment(time);
        if matches!(self.table, In::Processors | In::Memory) {
            self.host_row(at, text, number);
            return true;
        }
        if self.table == In::Transfers {
            self.numbers.clear();
            let is = text::columns(text.as_bytes(), b' ', &mut self.numbers);
            if !is || self.numbers.len() != self.tables.total.heading().len() {
                return false;
            }
            let window = self.window(at, number, out);
            let numbers = std::mem::take(&mut self.numbers);
            self.tables.transfers(number, &numbers, window, out);
            self.numbers = numbers;
            return true;
        }
        if self.at.is_some_and(|last| last != at) {
            self.close(out);
        }
        self.at = Some(at);
        self.tables.disks.row(text, number)
    }

    /// Reads a row of all processors, or of memory.
    fn host_row(&mut self, at: DateTime, text: &str, number: u64) {
        if self.table == In::Memory {
            let values = self.columns.iter().zip(text.split_whitespace());
            let value = |name: &str| values.clone().find(|(column, _)| *column == name).map(|(_, value)| value);
            let number_of = |name: &str| value(name).and_then(text::parse_decimal).filter(|value| *value > 0.0);
            // The rest of the memory is free or caches, which versions count differently.
            let total = number_of("kbmemused").zip(number_of("%memused"));
            self.memory = self.memory.or(total.map(|(used, percent)| (used * KIB / (percent / 100.0), number)));
        } else if let Some(values) = text.strip_prefix("all ")
            && let Some(from) = self.from.replace(at)
            && let Some(shares) = processor_shares(&self.columns[1..], values)
        {
            self.used.add_shares(shares.used, shares, at.duration_since(from).as_secs_f64(), number);
        }
    }

    /// Emits processors and memory of the host.
    fn emit_host(&mut self, out: &mut Builder) {
        let host = self.tables.disks.host();
        self.used.emit_share(host, "CPU all", self.processors, out);
        processors::emit(Resource::HostMemory, self.memory.take(), (host, "%memused"), out);
    }

    fn untimed(&mut self, line: &str, out: &mut Builder) {
        let Some((host, version)) = parse_banner(line) else { return };
        self.close(out);
        self.emit_host(out);
        self.processors = processors(line);
        self.tables.go_on(host, out);
        out.version(version);
        let words = line.rsplit_once(')').map_or(line, |_| line.split_once(')').map_or(line, |(_, rest)| rest));
        if let Some(date) = words.split_whitespace().next().and_then(timestamp::parse_date) {
            self.date = out.date(date);
        }
        (self.table, self.from) = (In::Other, None);
    }
}

impl LineFormat for Sar {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        // A blank line precedes each heading.
        let after_blank = std::mem::replace(&mut self.blank, line.trim_start().is_empty());
        let Some((time, text)) = timed_line(line) else {
            self.untimed(line, out);
            return Ok(());
        };
        if text.contains("RESTART") {
            self.close(out);
            self.from = Some(self.moment(time));
            self.table = In::Other;
        } else if text.starts_with("COM ") || self.heading(time, text, out) {
            // A comment, or a heading with rows.
        } else if after_blank {
            self.close(out);
            self.noted.note("other tables", Fate::Ignored);
            self.table = In::Other;
        } else if self.table != In::Other && !self.row(time, text, number, out) {
            self.noted.note("rows", Fate::Broken);
            out.caution(Some(Origin::line(number)), Doubt::UnreadableItem { item: label!("row") });
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.close(out);
        self.emit_host(out);
        self.tables.end(out);
        self.noted.list(out);
        out.require(
            self.tables.has_given(),
            InputFault::missing("table of disks", &["LC_ALL=C sar -bd 10", "sar -bd -f FILE"]),
        )
    }
}
