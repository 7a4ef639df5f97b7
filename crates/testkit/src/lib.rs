//! Reports of databases and hosts, generated from a workload: output in the formats of Oracle, PostgreSQL, sysstat and
//! fio. Only for tests, and for the sample files in `samples/`.
//!
//! [`undisturbed`] repeats checks that depend on real time.
//!
//! A reader of `plimsoll-ingest` recovers the workload from a report, up to the precision of its columns.

mod awr;
mod course;
mod head;
mod others;
mod sheet;
mod sysstat;
mod undisturbed;
mod writing;

use jiff::civil::DateTime;

pub use awr::Release;
pub use course::DailyWorkload;
pub use sysstat::Generation;
pub use undisturbed::undisturbed;
pub use writing::{Writing, Written};

/// A workload as counted by a database over a window.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    pub database: String,
    pub instance: String,
    pub host: String,
    /// Start of the window.
    pub begin: DateTime,
    /// Length of the window in minutes.
    pub minutes: u32,
    /// Size of a database block in bytes.
    pub block_bytes: u64,
    /// Single-block reads in the window.
    pub single_reads: u64,
    /// Multi-block reads in the window.
    pub several_reads: u64,
    /// Blocks per multi-block read.
    pub blocks_a_read: u64,
    /// Writes of data files in the window, each of a single block.
    pub data_writes: u64,
    /// Writes of log files in the window.
    pub redo_writes: u64,
    /// Bytes per redo write.
    pub redo_write_bytes: u64,
    /// Mean latency of a single-block read in microseconds.
    pub read_us: u64,
    /// Mean latency of a redo write in microseconds.
    pub redo_us: u64,
    /// Processor time of sessions in seconds.
    pub processor_s: u64,
    pub processors: u32,
    pub cache_mib: u64,
}

impl Workload {
    /// An hour of an online shop on 16 processors, starting at `hour` on a Monday.
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

    /// An hour of a database with a sixth of the reads of the shop and fewer writes.
    pub fn small_shop(hour: i8) -> Self {
        Self {
            instance: "shop1".to_owned(),
            host: "db1".to_owned(),
            single_reads: 3_600_000,
            several_reads: 360_000,
            data_writes: 720_000,
            redo_writes: 180_000,
            redo_write_bytes: 4_096,
            read_us: 850,
            redo_us: 410,
            processor_s: 5_000,
            cache_mib: 4_096,
            ..Self::shop(hour)
        }
    }

    /// AWR report as HTML, in the format of release 19.
    pub fn awr_html(&self) -> String {
        self.awr_html_of(Release::R19)
    }

    pub fn awr_html_of(&self, release: Release) -> String {
        awr::html(self, release)
    }

    /// AWR report as text, in the format of release 11.2.0.4.
    pub fn awr_text(&self) -> String {
        awr::text(self, awr::AwrFormat::Text)
    }

    /// Statspack report, in the format of release 11.2.
    pub fn statspack(&self) -> String {
        awr::text(self, awr::AwrFormat::Statspack)
    }

    /// Length of the window in seconds.
    pub fn seconds(&self) -> f64 {
        f64::from(self.minutes) * 60.0
    }

    pub fn end(&self) -> DateTime {
        self.begin.saturating_add(jiff::SignedDuration::from_mins(i64::from(self.minutes)))
    }

    /// Reads of data files in the window.
    pub const fn reads(&self) -> u64 {
        self.single_reads + self.several_reads
    }

    /// Bytes read from data files in the window.
    pub const fn read_bytes(&self) -> u64 {
        (self.single_reads + self.several_reads * self.blocks_a_read) * self.block_bytes
    }

    /// Bytes written to data files in the window.
    pub const fn data_bytes(&self) -> u64 {
        self.data_writes * self.block_bytes
    }

    /// Bytes written to log files in the window.
    pub const fn redo_bytes(&self) -> u64 {
        self.redo_writes * self.redo_write_bytes
    }

    /// Session time in seconds: on a processor, or waiting for single-block reads.
    pub fn database_s(&self) -> f64 {
        self.processor_s as f64 + (self.single_reads * self.read_us) as f64 / 1e6
    }

    /// Rate of a count in the window, per second.
    fn rate(&self, count: u64) -> f64 {
        count as f64 / self.seconds()
    }
}

/// Fraction of waits below a bound with mean `mean_us`: log-logistic distribution with shape 2, the simplest with a
/// long tail as in real latencies. Its mean is pi/2 times its median.
fn share_below(bound_us: f64, mean_us: u64) -> f64 {
    let median = mean_us.max(1) as f64 * std::f64::consts::FRAC_2_PI;
    bound_us * bound_us / (bound_us * bound_us + median * median)
}

/// Formats with grouped thousands.
fn number(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let (integer, fraction) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut out = String::new();
    for (index, digit) in integer.chars().enumerate() {
        if index > 0 && (integer.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + fraction
}
