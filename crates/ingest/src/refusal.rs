//! Reasons for refusing an input.

use std::fmt;

use plimsoll_language::{label, say};
use plimsoll_units::Bytes;

use crate::reading::{Doubt, FormatName, Origin, translate};

/// The reason why an input was refused.
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// It has no bytes.
    #[error("it is empty: copy it again")]
    Empty,
    /// It cannot be opened.
    #[error("it cannot be read ({why}): mend or remove it")]
    Unreadable {
        /// The error of the operating system, or the kind of file.
        why: String,
    },
    /// No format matches it.
    #[error("not a known format{}", Nearest(*.nearest))]
    Unknown {
        /// The nearest format, and the mark that is missing.
        nearest: (FormatName, &'static str),
    },
    /// It has a known format but is unusable.
    #[error("{kind}{}: {fault}", Place(.origin.as_ref()))]
    Unusable {
        /// The recognised format.
        kind: FormatName,
        /// The place where reading ended; none for the whole input.
        origin: Option<Origin>,
        fault: Box<InputFault>,
    },
    /// It exceeds the maximum size.
    #[error("more than {limit} of text: split it into parts")]
    TooLarge {
        /// The maximum size.
        limit: Bytes,
    },
    /// Its compression ratio is implausible for a report.
    #[error("it decompresses to more than {ratio} times its size, unlike any report: decompress and check it manually")]
    Bomb {
        /// Maximum ratio of decompressed to compressed bytes.
        ratio: u64,
    },
    /// An archive, or a file in it, cannot be decompressed.
    #[error("zip archive: {fault}")]
    Archive { fault: Box<InputFault> },
    /// It exceeds the maximum number of figures.
    #[error("more than {limit} figures: split it into parts")]
    TooMany {
        /// The maximum number.
        limit: usize,
    },
}

/// A reason why an input of a known format is unusable, or a trace cannot be replayed.
#[rustfmt::skip]
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InputFault {
    #[error(transparent)] Doubt(#[from] Doubt),
    #[error(transparent)] Refusal(#[from] Box<Refusal>),

    // Incomplete inputs of any format.
    #[error("it has no {lacks}: save it again completely")] Incomplete { lacks: &'static str },
    #[error("it has no {lacks}: provide the complete output of a finished run")] Unfinished { lacks: &'static str },
    #[error("it has no {}: use {}", translate(lacks), list_remedies(remedies))]
    Missing { lacks: &'static str, remedies: &'static [&'static str] },
    #[error("it has no {lacks}: provide {query}, taken twice")] Unsampled { lacks: &'static str, query: &'static str },
    #[error("its heading lacks the columns {columns}: provide {query}, taken twice")]
    MissingColumns { columns: String, query: &'static str },
    #[error("a single {item} without the length of its window: specify the interval")] NoLength { item: &'static str },
    #[error("more than {limit} {items}: split it into parts")] TooMany { limit: usize, items: &'static str },
    #[error("a line of more than {limit} bytes: check that the file is text")] LongLine { limit: usize },
    #[error("not JSON ({error}): export it again")] NotJson { error: String },
    #[error("{error}: save it again completely")] InvalidXml { error: String },
    #[error("its {property} is {value}, which is unknown: use a newer plimsoll")]
    UnknownProperty { property: &'static str, value: String },
    #[error("{item} does not contain its quantity: keep the end of its file name ({names})")]
    NamelessQuantity { item: &'static str, names: &'static str },

    // Reports of databases.
    #[error("it contains several reports: split it, one report for each file, and provide all files")] SeveralReports,
    #[error("it compares two periods, {why}: provide the two original reports")] ComparedPeriods { why: &'static str },
    #[error("no row `Elapsed:` has a readable number, so it lacks the length of its window: provide the report with \
        its head")] NoElapsedTime,
    #[error("no heading of its tables has a line of dashes below it, which determines the columns: provide the report \
        as written by the database")] NoRulers,
    #[error("its lines lost the blanks before their text, so that tables are not below their columns ({tables}): provide the \
        text as the database wrote it, or the report as HTML")] ShiftedColumns { tables: String },
    #[error("no table of reads and writes was recognised (Load Profile, IO Profile, Instance Activity Stats, IOStat by \
        Filetype, Tablespace IO Stats): provide the report with these, as written by the database")] NoTables,
    #[error("it has no readable row: run the script again, and check its last lines")] NoSpooledRow,

    // Hosts.
    #[error("it only has memory and loop devices: record it on the host itself")] LoopDevicesOnly,
    #[error("sums of all devices count layered devices twice: use vmstat -dt 10, or iostat -xt 10")] LayeredSums,
    #[error("it has a heading of devices but no row below it: check that it was copied completely, and that the \
        devices passed to iostat exist")] NoRowOfDevices,
    #[error("it has no sample with a time after its first one, which is a mean since boot: record with --time, or \
        specify the interval")] MeanSinceBoot,
    #[error("none of its counters is a rate of disks with an English, German, French, Spanish, Italian or Portuguese \
        name: record \\PhysicalDisk(*)\\Disk Reads/sec, Disk Writes/sec, Disk Read Bytes/sec, Disk Write Bytes/sec, \
        Avg. Disk sec/Read and Avg. Disk sec/Write")] NoDiskCounters,
    #[error("it is binary and depends on the version: convert it to text on its host: LC_ALL=C sar -bd -f FILE > \
        sar.txt")] BinarySysstat,
    #[error("XML and SVG are not read: use sadf -d FILE -- -b -d > sadf.txt, or sadf -j FILE -- -b -d > sadf.json")]
    SysstatXml,
    #[error("only JSON of the command lines of clouds is read: run aws, az or oci with --output json")] CommandLineText,
    #[error("only iostat, sar and vmstat of Linux are read; of Solaris, AIX, BSD, macOS and HP-UX give nmon, or \
        reports of the database itself")] OtherSystem,

    // Metrics.
    #[error("it has no values of a known volume metric; export reads, writes and bytes of volumes")] NoVolumeMetric,
    #[error("{metric} is a sum over a period that its exporter does not print (`period_seconds` or `period` of its \
        settings): specify it with --interval")] PeriodOfExporter { metric: String },
    #[error("{doubt}; export reads, writes and bytes of volumes")] NoVolumeRead { doubt: Doubt },
    #[error("its values may be counters or rates: query the counters themselves, without rate(), over a longer time")]
    CountersOrRates,
    #[error("it has no values: check the query")] NoValues,
    #[error("too few intervals to derive their length: specify the interval")] FewIntervals,
    #[error("a matrix of latencies lacks their unit, which depends on the release: provide the summary")]
    MatrixOfLatencies,

    // Archives.
    #[error("it has no files")] ArchiveEmpty,
    #[error("its {property} is not supported: extract it first")] ArchiveUnsupported { property: &'static str },

    // Traces for replay.
    #[error("unknown trace format; known are plimsoll.trace/1, blktrace, blkparse, fio's I/O log, MSR, SYSTOR '17, \
        SPC, Alibaba, Tencent, FIU, CloudPhysics, DiskSim or SSDsim")] UnknownTrace,
    #[error("the trace lacks times, lengths or kinds of operations, so it cannot be replayed: use plimsoll demand for \
        its working set")] NotReplayable,
    #[error("a length of {length} exceeds the maximum of {}", u32::MAX)] LongOperation { length: u64 },
    #[error("the operation extends beyond the address space")] BeyondAddressSpace,
    #[error("time goes back from {before_ns} ns to {at_ns} ns: sort the {items} by time")]
    Unordered { before_ns: u64, at_ns: u64, items: &'static str },
    #[error("record {number}: {fault}")] InRecord { number: u64, fault: Box<Self> },
    #[error("cannot be read: {error}")] Unreadable { error: String },
    #[error("the file has changed since it was scanned: replay a file that is not being written")] Changed,
}

impl InputFault {
    pub(crate) const fn missing(lacks: &'static str, remedies: &'static [&'static str]) -> Self {
        Self::Missing { lacks, remedies }
    }
}

impl Refusal {
    pub(crate) fn archive(fault: impl Into<InputFault>) -> Self {
        Self::Archive { fault: Box::new(fault.into()) }
    }
}

fn list_remedies(remedies: &[&'static str]) -> String {
    remedies.iter().map(|remedy| translate(remedy)).collect::<Vec<_>>().join(label!(", or "))
}

/// The end of the message about an unknown input.
struct Nearest((FormatName, &'static str));

impl fmt::Display for Nearest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, missing) = (self.0.0, translate(self.0.1));
        f.write_str(&say!("; the nearest is {kind}, for {}, but it has no {missing}", content(kind.id)))
    }
}

/// The content that is read from a format, for a message.
fn content(id: &str) -> &'static str {
    const BENCHMARKS: [&str; 11] = [
        "bonnie", "crystal", "diskspd", "orion", "pgbench", "pg-test", "slob", "sysbench", "tiotest", "hammerdb", "fio",
    ];
    const DATABASES: [&str; 8] = ["awr", "statspack", "postgres", "mysql", "innodb", "sqlserver", "miner", "plimsoll"];
    let begins = |names: &[&str]| names.iter().any(|name| id.starts_with(name));
    if begins(&["trace", "blk"]) {
        label!("single operations")
    } else if begins(&BENCHMARKS) {
        label!("results of benchmarks")
    } else if begins(&DATABASES) {
        label!("reads, writes and waits of a database")
    } else {
        label!("operations, bytes and latencies of storage")
    }
}

/// A place, if known.
struct Place<'a>(Option<&'a Origin>);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |origin| write!(f, ", {origin}"))
    }
}
