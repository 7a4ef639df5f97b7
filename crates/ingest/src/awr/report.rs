//! The numbers of a report, each with its place.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::civil::DateTime;

use super::section::AwrSection;
use crate::reading::Resource;
use crate::text::{Numerals, time_unit, timed};

/// A value as stated in a report, with its place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StatedValue {
    pub(super) value: f64,
    pub(super) line: u64,
    /// Row and column.
    pub(super) field: String,
}

impl StatedValue {
    /// The value in a unit, in base units.
    pub(super) fn times(self, unit: f64) -> Self {
        Self { value: self.value * unit, ..self }
    }
}

/// The scope of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Reach {
    #[default]
    Instance,
    /// All or selected instances of a cluster.
    Cluster,
    /// A pluggable database, whose statistics lack the container's writes on its behalf.
    Pluggable,
}

/// A row of the table of file types or of functions: rates by direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Traffic {
    pub(super) name: String,
    pub(super) read_iops: Option<StatedValue>,
    pub(super) read_bytes_s: Option<StatedValue>,
    pub(super) write_iops: Option<StatedValue>,
    pub(super) write_bytes_s: Option<StatedValue>,
    pub(super) small_read_s: Option<StatedValue>,
    pub(super) large_read_s: Option<StatedValue>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct WaitRow {
    pub(super) name: String,
    pub(super) foreground: bool,
    pub(super) waits: f64,
    pub(super) total_s: Option<Rounded>,
    pub(super) average_s: Option<Rounded>,
    /// Oracle's class of the event, such as `User I/O`; empty if unknown.
    pub(super) class: String,
    pub(super) line: u64,
}

impl Traffic {
    /// Operations and bytes read per second.
    pub(super) fn reads(&self) -> Rates<'_> {
        [self.read_iops.as_ref(), self.read_bytes_s.as_ref()]
    }

    /// Operations and bytes written per second.
    pub(super) fn writes(&self) -> Rates<'_> {
        [self.write_iops.as_ref(), self.write_bytes_s.as_ref()]
    }
}

/// Operations and bytes per second.
pub(super) type Rates<'a> = [Option<&'a StatedValue>; 2];

impl WaitRow {
    /// Mean seconds of a wait: as printed or from the sum, whichever is more precise.
    pub(super) fn mean_s(&self) -> Option<f64> {
        let divided = self.total_s.filter(|_| self.waits > 0.0).map(|total| total.over(self.waits));
        Rounded::finer(self.average_s, divided)
    }

    /// Replaces a number of waits that is unknown: by the total over the mean, or by 0 for uncounted waits.
    pub(super) fn count_by_time(&mut self) {
        let counts = self.total_s.zip(self.average_s).filter(|(_, average)| average.value > 0.0);
        self.waits = counts.map_or(0.0, |(total, average)| (total.value / average.value).round());
        self.average_s = self.average_s.filter(|_| self.waits > 0.0);
    }

    /// Total seconds, likewise.
    pub(super) fn sum_s(&self) -> Option<f64> {
        Rounded::finer(self.total_s, self.average_s.map(|average| average.over(1.0 / self.waits.max(1.0))))
    }
}

/// A printed number, with the value of its last digit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rounded {
    pub(super) value: f64,
    pub(super) step: f64,
}

impl Rounded {
    /// A time with its unit; a bare number is in `unit`.
    pub(super) fn of(numerals: Numerals, text: &str, unit: f64) -> Option<Self> {
        let (number, unit) = timed(text, unit)?;
        let value = numerals.number(number)? * unit;
        let mark = if numerals == Numerals::Point { '.' } else { ',' };
        let decimals = number.trim().rsplit_once(mark).map_or("", |(_, decimals)| decimals);
        Some(Self { value, step: decimals.bytes().fold(unit, |step, _| step / 10.0) })
    }

    fn over(self, divisor: f64) -> Self {
        Self { value: self.value / divisor, step: self.step / divisor }
    }

    fn finer(a: Option<Self>, b: Option<Self>) -> Option<f64> {
        let finer = match (a, b) {
            (Some(a), Some(b)) => Some(if b.step < a.step { b } else { a }),
            (a, b) => a.or(b),
        };
        finer.map(|rounded| rounded.value)
    }
}

/// A row of the tables of tablespaces or files.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FileRow {
    pub(super) name: String,
    pub(super) reads: Option<StatedValue>,
    pub(super) writes: Option<StatedValue>,
    pub(super) read_s: Option<StatedValue>,
    pub(super) blocks_a_read: Option<f64>,
}

/// The events with most time, of sessions or of all processes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct TopEvents {
    /// The rows as read.
    pub(super) rows: Vec<TopRow>,
    pub(super) processor: Option<TopRow>,
    /// The completed rows.
    pub(super) waits: Vec<WaitRow>,
    /// Seconds on a processor.
    pub(super) processor_s: Option<StatedValue>,
    /// Seconds of all sessions, from the row with the largest share of them.
    pub(super) database_s: Option<StatedValue>,
    /// That share, 0 to 1.
    pub(super) largest_share: f64,
    /// The first line of a row that cannot be read.
    pub(super) unreadable: Option<u64>,
}

/// A row of the events with most time. Numbers that are too long for their columns are absent.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TopRow {
    pub(super) name: String,
    pub(super) waits: Option<f64>,
    pub(super) total_s: Option<Rounded>,
    pub(super) average_s: Option<Rounded>,
    /// Share of the database's time, 0 to 1.
    pub(super) share: Option<f64>,
    pub(super) class: String,
    /// The place of its time.
    pub(super) line: u64,
    pub(super) field: String,
}

/// A period that the database analysed (ADDM).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Analysis {
    pub(super) begin: DateTime,
    pub(super) end: DateTime,
    /// Mean active sessions.
    pub(super) active: StatedValue,
    /// Share of these that wait for I/O, 0 to 1, if it is among the findings.
    pub(super) user_io: Option<f64>,
    /// The finding with most of them, and its share.
    pub(super) finding: Option<(Arc<str>, f64)>,
    /// Of all instances, by the name of the task.
    pub(super) is_of_database: bool,
}

/// A statement or a segment with its reads.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reader {
    pub(super) section: AwrSection,
    /// Its name as a part of the database.
    pub(super) name: String,
    pub(super) blocks: Option<StatedValue>,
    pub(super) requests: Option<StatedValue>,
    pub(super) executions: Option<StatedValue>,
}

/// A row of the buffer pool advisory.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Advice {
    pub(super) pool: String,
    pub(super) size_bytes: f64,
    pub(super) size_factor: f64,
    pub(super) read_factor: f64,
    pub(super) reads: f64,
    pub(super) line: u64,
}

/// An instance of a report about several.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) host: String,
    pub(super) begin: Option<DateTime>,
    pub(super) startup: Option<DateTime>,
    pub(super) elapsed_s: Option<StatedValue>,
    pub(super) release: String,
}

/// Memory or processors of an instance.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ResourceRow {
    pub(super) section: AwrSection,
    /// Number of the instance; empty for that of the report.
    pub(super) instance: String,
    pub(super) resource: Resource,
    pub(super) stated: StatedValue,
}

/// All numbers of a report.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Report {
    pub(super) numerals: Numerals,
    pub(super) reach: Reach,
    /// Prefix for the names of parts, if the report is one of two.
    pub(super) label: &'static str,
    pub(super) database: String,
    pub(super) database_id: String,
    pub(super) container: String,
    pub(super) container_id: String,
    pub(super) instance: String,
    pub(super) host: String,
    /// Operating system and processors of the host.
    pub(super) platform: String,
    pub(super) release: String,
    /// `YES` for an instance of a cluster.
    pub(super) rac: String,
    pub(super) startup: Option<DateTime>,
    pub(super) begin: Option<DateTime>,
    pub(super) end: Option<DateTime>,
    pub(super) elapsed_s: Option<StatedValue>,
    /// Database time from the head of the report.
    pub(super) database_s: Option<StatedValue>,
    pub(super) members: Vec<Member>,
    pub(super) processors: Option<StatedValue>,
    pub(super) cores: Option<StatedValue>,
    pub(super) memory_bytes: Option<StatedValue>,
    pub(super) block_bytes: Option<StatedValue>,
    pub(super) cache_bytes: Option<StatedValue>,
    /// Memory and processors by instance; without instance those of the report's own.
    pub(super) resources: Vec<ResourceRow>,
    /// Limits of the resource manager, for resources without figures of their use.
    pub(super) limits: Vec<ResourceRow>,
    /// Cumulative statistics by name: the total over the window.
    pub(super) statistics: BTreeMap<String, StatedValue>,
    /// The same per second of the instance with the most, in reports of a cluster.
    pub(super) maxima: BTreeMap<String, StatedValue>,
    /// The front page by name, per second.
    pub(super) load: BTreeMap<String, StatedValue>,
    /// Reads and writes together, reads, and writes per second, by name.
    pub(super) profile: BTreeMap<String, [Option<StatedValue>; 3]>,
    /// Seconds by name.
    pub(super) time_model: BTreeMap<String, StatedValue>,
    pub(super) systems: BTreeMap<String, StatedValue>,
    pub(super) file_types: Vec<Traffic>,
    pub(super) functions: Vec<Traffic>,
    pub(super) tablespaces: Vec<FileRow>,
    pub(super) files: Vec<FileRow>,
    pub(super) events: Vec<WaitRow>,
    /// Waits of sessions and background processes together.
    pub(super) all_events: Vec<WaitRow>,
    /// The events with most time, rounded.
    pub(super) top: TopEvents,
    pub(super) session_waits: Option<AwrSection>,
    /// The line of an event of sessions whose time is unknown: the others are no base for an answer.
    pub(super) unreadable: Option<u64>,
    pub(super) histograms: BTreeMap<String, Histogram>,
    pub(super) advice: Vec<Advice>,
    pub(super) analyses: Vec<Analysis>,
    /// Statements and segments with most reads.
    pub(super) readers: Vec<Reader>,
    /// Sections found, with the number of their values.
    pub(super) met: BTreeMap<AwrSection, u32>,
    /// The last line of a complete report was found.
    pub(super) ended: bool,
    /// Another report follows in the document.
    pub(super) has_another: bool,
    /// A text without rulers of columns.
    pub(super) unruled: bool,
    /// Truncated sections.
    pub(super) cut: Vec<AwrSection>,
    /// Sections that this kind of report never has.
    pub(super) lacks: Vec<AwrSection>,
    /// Headings of tables unrelated to storage.
    pub(super) ignored: Vec<String>,
    /// Headings of tables of storage whose lines are not below their columns.
    pub(super) shifted: Vec<String>,
}

impl Report {
    /// A cumulative statistic. Text truncates its name at the end of the column.
    pub(super) fn statistic(&self, name: &str) -> Option<&StatedValue> {
        const NARROWEST: usize = 30;
        let cut = || {
            let ends = NARROWEST.min(name.len())..name.len();
            ends.rev().find_map(|end| self.statistics.get(name.get(..end)?.trim_end()))
        };
        self.statistics.get(name).or_else(cut)
    }

    /// Adds memory or processors of an instance, if known; returns the number of values. The first one in the report
    /// counts: figures in use precede targets.
    pub(super) fn add_resource(
        &mut self,
        section: AwrSection,
        instance: &str,
        resource: Resource,
        stated: Option<StatedValue>,
    ) -> u32 {
        let is_known = |row: &ResourceRow| row.instance == instance && row.resource == resource;
        let Some(stated) = stated.filter(|_| !self.resources.iter().any(is_known)) else { return 0 };
        self.resources.push(ResourceRow { section, instance: instance.to_owned(), resource, stated });
        1
    }

    /// Records a table without storage figures, once per heading.
    pub(super) fn ignore(&mut self, heading: &str) {
        const MAX_NAMES: usize = 500;
        if !heading.is_empty()
            && self.ignored.len() < MAX_NAMES
            && self.ignored.last().is_none_or(|last| last != heading)
        {
            self.ignored.push(heading.to_owned());
        }
    }

    /// Records a table whose lines are not below their columns.
    pub(super) fn shift(&mut self, heading: &str) {
        if !AwrSection::is_of_storage(heading) {
            self.ignore(heading);
        } else if !self.shifted.iter().any(|shifted| shifted == heading) {
            self.shifted.push(heading.to_owned());
        }
    }

    /// Sets unknown names of the database and its instance, as in `ORCL/orcl1  Snaps: 1-2`.
    pub(super) fn set_names(&mut self, text: &str) {
        let names = text.split_whitespace().next().and_then(|names| names.split_once('/'));
        let Some((database, instance)) = names else { return };
        for (field, name) in [(&mut self.database, database), (&mut self.instance, instance)] {
            if field.is_empty() {
                name.clone_into(field);
            }
        }
    }

    /// The whole window in seconds, if positive.
    pub(super) fn window_s(&self) -> Option<f64> {
        self.elapsed_s.as_ref().map(|stated| stated.value).filter(|seconds| *seconds > 0.0)
    }
}

/// Distribution of the waits by duration.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Histogram {
    /// Share of waits, 0 to 1, by upper bound in nanoseconds; values of the first table take precedence.
    below: BTreeMap<u64, f64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ColumnBound {
    /// Waits shorter than this, in seconds, excluding those of preceding columns.
    Below(f64),
    /// All longer waits.
    Rest,
}

impl ColumnBound {
    /// Reads `<512us`, `<=1s`, `<1/8s`, `< 1m`, `>=32ms`, `>1s` at the end of a column's name.
    pub(super) fn of(column: &str) -> Option<Self> {
        let at = column.find(['<', '>'])?;
        let sign = &column[at..];
        let text = sign.trim_start_matches(['<', '>', '=', ' ']);
        let letters = text.find(|letter: char| letter.is_ascii_alphabetic())?;
        let (number, unit) = text.split_at(letters);
        let unit = time_unit(unit.trim())?;
        let number = number.trim();
        let value: f64 = match number.split_once('/') {
            Some((over, under)) => over.parse::<f64>().ok()? / under.parse::<f64>().ok()?,
            None => number.parse().ok()?,
        };
        Some(if sign.starts_with('<') { Self::Below(value * unit) } else { Self::Rest })
    }
}

impl Histogram {
    /// Adds a row of a table: bounds with their shares in per cent. Existing values stay.
    pub(super) fn add(&mut self, row: &[(ColumnBound, f64)]) {
        let mut below = 0.0;
        for (bound, percent) in row {
            below += percent / 100.0;
            if let ColumnBound::Below(seconds) = bound {
                self.below.entry((seconds * 1e9).round() as u64).or_insert(below);
            }
        }
    }

    /// Upper bounds in seconds with the share of waits between the preceding bound and this one; the last is unbounded.
    pub(super) fn shares(&self) -> Vec<(f64, f64)> {
        let mut shares = Vec::with_capacity(self.below.len() + 1);
        let mut before = 0.0;
        for (bound, below) in &self.below {
            // Shares are printed in tenths of a per cent: sums may deviate slightly.
            let below = below.min(1.0).max(before);
            shares.push((*bound as f64 / 1e9, below - before));
            before = below;
        }
        shares.push((f64::INFINITY, 1.0 - before));
        shares
    }
}

#[cfg(test)]
mod tests {
    use super::ColumnBound::{Below, Rest};
    use super::{ColumnBound, Histogram};

    #[test]
    fn bounds_are_read() {
        let table = [
            ("% of waits <1ms", Some(Below(1e-3))),
            ("% of total waits <512us", Some(Below(512e-6))),
            ("% of waits <=1s", Some(Below(1.0))),
            ("<1/8s", Some(Below(0.125))),
            ("< 1m", Some(Below(60.0))),
            (">=32ms", Some(Rest)),
            ("event", None),
            ("<", None),
        ];
        for (column, expected) in table {
            let found = ColumnBound::of(column);
            let same = match (found, expected) {
                (Some(Below(a)), Some(Below(b))) => (a - b).abs() < 1e-12,
                (a, b) => a == b,
            };
            assert!(same, "{column}: {found:?}");
        }
    }

    #[test]
    fn tables_of_an_event_are_merged() {
        let mut histogram = Histogram::default();
        let us = |us: f64| Below(us * 1e-6);
        histogram.add(&[(us(8.0), 10.0), (us(16.0), 20.0), (us(512.0), 30.0), (Rest, 40.0)]);
        histogram.add(&[(us(4.0), 4.0), (us(8.0), 6.0), (Rest, 90.0)]);
        histogram.add(&[(us(512.0), 60.0), (us(1024.0), 25.0), (Rest, 15.0)]);
        let shares: Vec<_> = histogram.shares().iter().map(|(b, s)| (*b * 1e6, (s * 100.0).round())).collect();
        let bounds: Vec<_> = shares.iter().map(|(bound, _)| bound.round() as i64).collect();
        let percents: Vec<_> = shares.iter().map(|(_, percent)| *percent as i64).collect();
        assert_eq!(bounds, [4, 8, 16, 512, 1024, i64::MAX]);
        assert_eq!(percents, [4, 6, 20, 30, 25, 15]);
    }
}
