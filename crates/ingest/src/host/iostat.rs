//! iostat of Linux as text: all generations of its columns, with or without times.

use plimsoll_language::label;

use super::disks::{Absent, Heading};
use super::{Follows, Noted, Reports, UNDATED};
use crate::builder::Builder;
use crate::form::{Form, FormatInput, Head, LineFormat, Resemblance};
use crate::processors::ProcessorShares;
use crate::reading::{Doubt, Fate, Origin};
use crate::refusal::{InputFault, Refusal};
use crate::text::timestamp::{self, Stamp};

/// iostat as text.
pub(crate) const FORM: Form = Form::lines("iostat", "iostat (text)", resembles, |input| Box::new(Iostat::new(input)));

fn resembles(head: &Head<'_>) -> Resemblance {
    // Marks of other programs with the same columns.
    if head.has("rtps")
        || head.has("# hostname;")
        || head.text().starts_with('{')
        || head.has("extended device statistics")
    {
        return Resemblance::None;
    }
    let mut lines = head.text().lines().filter(|line| line.len() < 1_000 && line.contains('/'));
    let banner = head.text().starts_with("Linux ") || head.has("\nLinux ");
    match lines.any(|line| Heading::read(line).is_some() && !line.contains(" DEV")) {
        true => Resemblance::Is { marks: 3 + u8::from(banner) + u8::from(head.has("avg-cpu")) },
        false if head.has("avg-cpu") => Resemblance::Near { marks: 2, missing: "table of devices (run it without -c)" },
        false => Resemblance::None,
    }
}

#[derive(Debug, Default)]
struct Iostat {
    reports: Reports,
    place: LinePlace,
    /// Blanks before a heading: the whole text may be indented.
    indent: usize,
    /// The times of the current report and of the next.
    printed: Option<Stamp>,
    coming: Option<Stamp>,
    /// Columns of processor time whose values follow, and the share in use of the next report with its line.
    processor_columns: Vec<String>,
    coming_share: Option<(ProcessorShares, u64)>,
    /// A blank line ended the rows.
    complete: bool,
    noted: Noted,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LinePlace {
    /// Before the tables of a report.
    #[default]
    Outside,
    /// Among the tables of a report.
    Report,
    /// From the heading of devices to the first line that is not a row.
    Table,
}

impl Iostat {
    fn new(input: &FormatInput) -> Self {
        Self { reports: Reports::new(input), ..Self::default() }
    }

    /// Ends the current report.
    fn close(&mut self, follows: Follows, out: &mut Builder) {
        let was_open = std::mem::take(&mut self.place) != LinePlace::Outside;
        if !was_open {
            return;
        }
        let absent = if self.complete { Absent::Idle } else { Absent::Unknown };
        let at = self.printed.map(|stamp| super::instant(stamp, out));
        self.reports.close(at, absent, follows, out);
    }

    /// Reads a line that is not a row: a heading, a time, a banner, or other text.
    fn other(&mut self, line: &str, number: u64, out: &mut Builder) {
        let text = line.trim_end();
        if text.trim_start().is_empty() {
            self.complete = true;
            return;
        }
        if self.heading(text, out) {
            return;
        }
        if let Some(shares) = processor_shares(&std::mem::take(&mut self.processor_columns), text) {
            self.noted.note("avg-cpu", Fate::Read(1));
            self.coming_share = Some((shares, number));
            return;
        }
        let in_table = self.place == LinePlace::Table;
        if in_table {
            self.place = LinePlace::Report;
        }
        if let Some(stamp) = self.time(text) {
            self.coming = Some(stamp);
        } else if let Some((host, version)) = parse_banner(text) {
            self.close(Follows::End, out);
            self.reports.run(host, processors(text), out);
            (self.printed, self.coming) = (None, None);
            out.version(version);
        } else if text.contains("%idle") || text.contains("%iowait") {
            let columns = text.split_whitespace().filter(|column| column.starts_with('%'));
            self.processor_columns = columns.map(str::to_owned).collect();
        } else if in_table && (self.reports.disks.knows(text) || is_part_of_row(text)) {
            self.noted.note("rows of devices", Fate::Broken);
            out.caution(Some(Origin::line(number)), Doubt::UnreadableItem { item: label!("row of devices") });
            self.place = LinePlace::Table;
        }
    }

    fn heading(&mut self, text: &str, out: &mut Builder) -> bool {
        let is = self.reports.disks.heading().is(text) || (text.contains('/') && Heading::read(text).is_some());
        if !is {
            return false;
        }
        if self.place != LinePlace::Outside && self.coming.is_none() && self.reports.disks.continue_with(text) {
            self.place = LinePlace::Table;
        } else {
            self.close(Follows::Report, out);
            self.printed = self.coming.take();
            self.reports.shares = self.coming_share.take();
            self.place = if self.reports.disks.begin(text) { LinePlace::Table } else { LinePlace::Report };
        }
        self.complete = false;
        self.indent = text.len() - text.trim_start().len();
        true
    }

    /// A time with its date; old versions have no date.
    fn time(&self, text: &str) -> Option<Stamp> {
        let text = text.trim_start();
        if let Some(time) = text.strip_prefix("Time: ") {
            let mut words = time.split_whitespace();
            let (time, _) = timestamp::time_of_day(words.next()?, words.next().unwrap_or_default())?;
            // Without a date only time differences are known, and midnight is passed once a day.
            let last = self.coming.or(self.printed);
            return last.map_or(Some(Stamp::on(UNDATED, time)), |last| last.next_at(time));
        }
        if text.starts_with(|first: char| first.is_ascii_digit()) { timestamp::parse(text) } else { None }
    }
}

impl LineFormat for Iostat {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        let indent = line.get(..self.indent).filter(|indent| indent.trim_start().is_empty());
        let row = &line[indent.map_or(0, str::len)..];
        let is_row = self.place == LinePlace::Table
            && !row.is_empty()
            && !self.reports.disks.heading().is(line)
            && self.reports.disks.row(row, number);
        if !is_row {
            self.other(line, number, out);
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.close(Follows::End, out);
        self.reports.end(out);
        self.noted.list(out);
        out.require(self.reports.disks.has_given(), InputFault::NoRowOfDevices)
    }
}

/// True for a name and numbers: a truncated row of a device that no complete row names.
fn is_part_of_row(text: &str) -> bool {
    let is_number = |word: &str| word.replace(',', ".").parse::<f64>().is_ok();
    let mut words = text.split_whitespace();
    words.next().is_some_and(|name| !is_number(name)) && words.next().is_some_and(is_number)
}

/// Shares of the processors' time, from a line of values below its columns.
pub(super) fn processor_shares(columns: &[String], line: &str) -> Option<ProcessorShares> {
    let values: Vec<f64> =
        line.split_whitespace().map(|word| word.replace(',', ".").parse().ok()).collect::<Option<_>>()?;
    if columns.is_empty() || values.len() != columns.len() {
        return None;
    }
    let is_idle = |column: &str| matches!(column, "%iowait" | "%steal" | "%idle");
    let used = columns.iter().zip(&values).filter(|(column, _)| !is_idle(column)).map(|(_, percent)| percent);
    let io_wait = columns.iter().zip(&values).find(|(column, _)| *column == "%iowait").map(|(_, percent)| *percent);
    Some(ProcessorShares::of_idle(100.0 - used.sum::<f64>(), io_wait))
}

/// Processors of a banner: 96 of `(96 CPU)`.
pub(super) fn processors(banner: &str) -> Option<f64> {
    let (before, _) = banner.rsplit_once(" CPU)")?;
    before.rsplit_once('(')?.1.parse().ok().filter(|processors| *processors > 0.0)
}

/// Host and system from `Linux 5.15.0 (host) 03/05/2025 _x86_64_ (96 CPU)`.
pub(super) fn parse_banner(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim_start().strip_prefix("Linux ")?;
    let (release, rest) = rest.split_once(" (")?;
    let (host, rest) = rest.split_once(')')?;
    let version = &line.trim_start()[.."Linux ".len() + release.len()];
    (rest.contains(['/', '-', '.', '年']) && !release.contains(' ')).then_some((host, version))
}
