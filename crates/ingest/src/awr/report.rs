//! What a report says, number by number, each with its place.

use std::collections::BTreeMap;

use jiff::civil::DateTime;

use super::histogram::Histogram;
use super::section::Section;
use crate::number::Numerals;

/// A number and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Said {
    pub(super) value: f64,
    pub(super) line: u64,
    /// Row and column.
    pub(super) field: String,
}

/// How far a report reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Reach {
    #[default]
    Instance,
    /// All instances of a cluster, or those that were asked for.
    Cluster,
    /// One pluggable database: what the container writes for it is not in its statistics.
    Pluggable,
}

/// A row of the table of file types or of functions: rates by direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Traffic {
    pub(super) name: String,
    pub(super) read_iops: Option<Said>,
    pub(super) read_bytes_s: Option<Said>,
    pub(super) write_iops: Option<Said>,
    pub(super) write_bytes_s: Option<Said>,
    pub(super) small_read_s: Option<Said>,
    pub(super) large_read_s: Option<Said>,
}

/// A row of the wait events.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Event {
    pub(super) name: String,
    pub(super) foreground: bool,
    pub(super) waits: f64,
    pub(super) total_s: Option<Rounded>,
    pub(super) average_s: Option<Rounded>,
    pub(super) line: u64,
}

impl Event {
    /// Seconds of one wait, in the mean: as printed or as the sum says, whichever was rounded less.
    pub(super) fn mean_s(&self) -> Option<f64> {
        let divided = self.total_s.filter(|_| self.waits > 0.0).map(|total| total.over(self.waits));
        Rounded::finer(self.average_s, divided)
    }

    /// Seconds in all, likewise.
    pub(super) fn sum_s(&self) -> Option<f64> {
        Rounded::finer(self.total_s, self.average_s.map(|average| average.over(1.0 / self.waits.max(1.0))))
    }
}

/// A number as printed, and the last digit's worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rounded {
    pub(super) value: f64,
    pub(super) step: f64,
}

impl Rounded {
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
pub(super) struct Place {
    pub(super) name: String,
    pub(super) reads: Option<Said>,
    pub(super) writes: Option<Said>,
    pub(super) read_s: Option<Said>,
    pub(super) blocks_a_read: Option<f64>,
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
    pub(super) elapsed_s: Option<Said>,
    pub(super) release: String,
}

/// All of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Report {
    pub(super) numerals: Numerals,
    pub(super) reach: Reach,
    /// What parts are called by, of a report that is one of two.
    pub(super) label: &'static str,
    pub(super) database: String,
    pub(super) database_id: String,
    pub(super) container: String,
    pub(super) container_id: String,
    pub(super) instance: String,
    pub(super) host: String,
    pub(super) release: String,
    pub(super) startup: Option<DateTime>,
    pub(super) begin: Option<DateTime>,
    pub(super) end: Option<DateTime>,
    pub(super) elapsed_s: Option<Said>,
    /// Database time as the head of the report says it.
    pub(super) database_s: Option<Said>,
    pub(super) members: Vec<Member>,
    pub(super) processors: Option<Said>,
    pub(super) cores: Option<Said>,
    pub(super) memory_bytes: Option<Said>,
    pub(super) block_bytes: Option<Said>,
    pub(super) cache_bytes: Option<Said>,
    /// Cumulative statistics by name: the total over the window.
    pub(super) statistics: BTreeMap<String, Said>,
    /// The front page by name: a second.
    pub(super) load: BTreeMap<String, Said>,
    /// By name: reads and writes, reads, writes, each a second.
    pub(super) profile: BTreeMap<String, [Option<Said>; 3]>,
    /// Seconds by name.
    pub(super) time_model: BTreeMap<String, Said>,
    pub(super) systems: BTreeMap<String, Said>,
    pub(super) file_types: Vec<Traffic>,
    pub(super) functions: Vec<Traffic>,
    pub(super) tablespaces: Vec<Place>,
    pub(super) files: Vec<Place>,
    pub(super) events: Vec<Event>,
    pub(super) histograms: BTreeMap<String, Histogram>,
    pub(super) advice: Vec<Advice>,
    /// Sections that were met, and how many numbers each gave.
    pub(super) met: BTreeMap<Section, u32>,
    /// The line that ends every report was there.
    pub(super) ended: bool,
    /// A text in which no line says where columns are.
    pub(super) unruled: bool,
    /// Sections that broke off.
    pub(super) cut: Vec<Section>,
    /// Sections that its kind never has.
    pub(super) lacks: Vec<Section>,
    /// Headings of tables that are not about storage.
    pub(super) ignored: Vec<String>,
}

impl Report {
    /// A cumulative statistic. Text cuts its name at the end of the column.
    pub(super) fn statistic(&self, name: &str) -> Option<&Said> {
        const NARROWEST: usize = 30;
        let cut = || {
            let ends = NARROWEST.min(name.len())..name.len();
            ends.rev().find_map(|end| self.statistics.get(name.get(..end)?.trim_end()))
        };
        self.statistics.get(name).or_else(cut)
    }

    /// Notes a table that says nothing of storage, once for each heading.
    pub(super) fn ignore(&mut self, heading: &str) {
        const MOST: usize = 500;
        if !heading.is_empty() && self.ignored.len() < MOST && self.ignored.last().is_none_or(|last| last != heading) {
            self.ignored.push(heading.to_owned());
        }
    }

    /// The whole window, in seconds, when it is longer than nothing.
    pub(super) fn window_s(&self) -> Option<f64> {
        self.elapsed_s.as_ref().map(|said| said.value).filter(|seconds| *seconds > 0.0)
    }
}
