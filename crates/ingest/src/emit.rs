//! Reports out of a workload: what a database that asks for this would report. For demonstrations and tests, so that
//! nobody's real report is needed for them.

mod awr;

use jiff::civil::DateTime;

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
    /// The report of an instance as HTML, as release 19 writes it.
    pub fn awr_html(&self) -> String {
        awr::html(self)
    }

    fn seconds(&self) -> f64 {
        f64::from(self.minutes) * 60.0
    }

    fn reads(&self) -> u64 {
        self.single_reads + self.several_reads
    }

    fn read_bytes(&self) -> u64 {
        (self.single_reads + self.several_reads * self.blocks_a_read) * self.block_bytes
    }

    fn redo_bytes(&self) -> u64 {
        self.redo_writes * self.redo_write_bytes
    }

    /// Seconds of sessions: on a processor, or waiting for single reads.
    fn database_s(&self) -> f64 {
        self.processor_s as f64 + (self.single_reads * self.read_us) as f64 / 1e6
    }
}
