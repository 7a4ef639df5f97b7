//! Reports of databases and hosts, written from a workload: the output that Oracle, PostgreSQL, sysstat and fio would
//! have under it. For tests only, and for the sample files in `samples/`.
//!
//! A reader of `plimsoll-ingest` returns the same workload from a report, as far as the precision of its columns allows.

mod awr;
mod course;
mod head;
mod others;
mod sheet;
mod sysstat;
mod writing;

use jiff::civil::DateTime;

pub use awr::Release;
pub use course::Course;
pub use sysstat::Generation;
pub use writing::{Writing, Written};

/// A workload as a database counts it over a window.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// The database's name.
    pub database: String,
    /// The instance's name.
    pub instance: String,
    /// The host's name.
    pub host: String,
    /// When the window began.
    pub begin: DateTime,
    /// Minutes of the window.
    pub minutes: u32,
    /// Bytes of a database block.
    pub block_bytes: u64,
    /// Reads of one block in the window.
    pub single_reads: u64,
    /// Reads of several blocks in the window.
    pub several_reads: u64,
    /// Blocks of each of these.
    pub blocks_a_read: u64,
    /// Writes of data files in the window, a block each.
    pub data_writes: u64,
    /// Writes of log files in the window.
    pub redo_writes: u64,
    /// Bytes of each of these.
    pub redo_write_bytes: u64,
    /// Microseconds that a read of one block took, in the mean.
    pub read_us: u64,
    /// Microseconds that a write of the log took, in the mean.
    pub redo_us: u64,
    /// Seconds that sessions were on a processor.
    pub processor_s: u64,
    /// Processors of the host.
    pub processors: u32,
    /// MiB of the buffer cache.
    pub cache_mib: u64,
}

impl Workload {
    /// An hour of an online shop on 16 processors, from this hour of a Monday on.
    pub fn shop(hour: i8) -> Self {
        const SECONDS: u64 = 3_600;
        Self {
            database: "SHOP".to_owned(),
            instance: "shop".to_owned(),
            host: "dbhost".to_owned(),
            begin: jiff::civil::date(2026, 3, 2).at(hour, 0, 0, 0),
            minutes: 60,
            block_bytes: 8_192,
            single_reads: 6_000 * SECONDS,
            several_reads: 400 * SECONDS,
            blocks_a_read: 64,
            data_writes: 1_500 * SECONDS,
            redo_writes: 700 * SECONDS,
            redo_write_bytes: 6_144,
            read_us: 620,
            redo_us: 480,
            processor_s: 6 * SECONDS,
            processors: 16,
            cache_mib: 24_576,
        }
    }

    /// The report of an instance as HTML, as release 19 writes it.
    pub fn awr_html(&self) -> String {
        self.awr_html_of(Release::R19)
    }

    /// The report of an instance as HTML.
    pub fn awr_html_of(&self, release: Release) -> String {
        awr::html(self, release)
    }

    /// The report of an instance as text, as release 11.2.0.4 writes it.
    pub fn awr_text(&self) -> String {
        awr::text(self, awr::Dialect::Text)
    }

    /// The report of Statspack, as release 11.2 writes it.
    pub fn statspack(&self) -> String {
        awr::text(self, awr::Dialect::Statspack)
    }

    /// Seconds of the window.
    pub fn seconds(&self) -> f64 {
        f64::from(self.minutes) * 60.0
    }

    /// When the window ended.
    pub fn end(&self) -> DateTime {
        self.begin.saturating_add(jiff::SignedDuration::from_mins(i64::from(self.minutes)))
    }

    /// Reads of data files in the window.
    pub const fn reads(&self) -> u64 {
        self.single_reads + self.several_reads
    }

    /// Bytes of these.
    pub const fn read_bytes(&self) -> u64 {
        (self.single_reads + self.several_reads * self.blocks_a_read) * self.block_bytes
    }

    /// Bytes that were written to data files in the window.
    pub const fn data_bytes(&self) -> u64 {
        self.data_writes * self.block_bytes
    }

    /// Bytes that were written to log files in the window.
    pub const fn redo_bytes(&self) -> u64 {
        self.redo_writes * self.redo_write_bytes
    }

    /// Seconds of sessions: on a processor, or waiting for single reads.
    pub fn database_s(&self) -> f64 {
        self.processor_s as f64 + (self.single_reads * self.read_us) as f64 / 1e6
    }

    /// So many in the window, a second.
    fn rate(&self, count: u64) -> f64 {
        count as f64 / self.seconds()
    }
}

/// The share of waits that are shorter than a bound when the mean is `mean_us`: a log-logistic law of shape 2, which is
/// the simplest one with the long tail that latencies have. Its mean is half of pi times its median.
fn share_below(bound_us: f64, mean_us: u64) -> f64 {
    let median = mean_us.max(1) as f64 * std::f64::consts::FRAC_2_PI;
    bound_us * bound_us / (bound_us * bound_us + median * median)
}

/// Commas between thousands.
fn number(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut out = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + rest
}
