//! How Iozone is set, and which settings make sense.
//!
//! Knows nothing about steps.

use plimsoll_device::SyncMode;
use plimsoll_units::Bytes;

use super::Pair;

/// Files above this are not visited by records below [`CROSSED_RECORD`].
const CROSSOVER: u64 = 16 << 20;
const CROSSED_RECORD: u32 = 64 << 10;

/// A test, by its number of `-i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Test {
    /// 0: a new file is written, then written again.
    Write,
    /// 1: it is read, then read again.
    Read,
    /// 2: each record once in a random order, read and then written.
    Random,
    /// 3: records are read from the last to the first.
    Backward,
    /// 4: the first record is written again and again.
    RecordRewrite,
    /// 5: each 17th record is read.
    Stride,
    /// 8: every other process reads at random, the others write; of several processes only.
    Mixed,
    /// 9: `pwrite`, which is how test 0 writes here too; of several processes only.
    Pwrite,
    /// 10: `pread`, which is how test 1 reads here too; of several processes only.
    Pread,
    /// 11: `pwritev` of one buffer, the same as `pwrite`; of several processes only.
    Pwritev,
    /// 12: `preadv` of one buffer, the same as `pread`; of several processes only.
    Preadv,
}

impl Test {
    /// All, in the order of their numbers.
    pub const ALL: [Self; 11] = [
        Self::Write,
        Self::Read,
        Self::Random,
        Self::Backward,
        Self::RecordRewrite,
        Self::Stride,
        Self::Mixed,
        Self::Pwrite,
        Self::Pread,
        Self::Pwritev,
        Self::Preadv,
    ];

    /// The number of `-i`.
    pub const fn number(self) -> u8 {
        match self {
            Self::Write => 0,
            Self::Read => 1,
            Self::Random => 2,
            Self::Backward => 3,
            Self::RecordRewrite => 4,
            Self::Stride => 5,
            Self::Mixed => 8,
            Self::Pwrite => 9,
            Self::Pread => 10,
            Self::Pwritev => 11,
            Self::Preadv => 12,
        }
    }

    /// The test of a number; none for 6 and 7, which measure buffers of the C library, and for what does not exist.
    pub fn of_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|test| test.number() == number)
    }

    const fn needs_several(self) -> bool {
        matches!(self, Self::Mixed | Self::Pwrite | Self::Pread | Self::Pwritev | Self::Preadv)
    }
}

/// Which sizes are tried, and by how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// One file, one record (`-s`, `-r`).
    One {
        /// Bytes of the file, whole KiB.
        size: Bytes,
        /// Bytes of a record, whole KiB.
        record: u32,
    },
    /// Sizes that double, each with records that double (`-a`).
    Matrix {
        /// Bytes of the least and the largest file, whole KiB (`-n`, `-g`).
        sizes: (Bytes, Bytes),
        /// Bytes of the least and the largest record, whole KiB (`-y`, `-q`).
        records: (u32, u32),
        /// Records below 64 KiB for files above 16 MiB too (`-z`).
        small_records_always: bool,
    },
    /// Processes with a file each, at the same time (`-t`).
    Processes {
        /// How many, 1 to 255.
        count: u32,
        /// Bytes of each file, whole KiB.
        size: Bytes,
        /// Bytes of a record, whole KiB.
        record: u32,
    },
}

impl Extent {
    /// The matrix as it is without options: files of 64 KiB to 512 MiB, records of 4 KiB to 16 MiB.
    pub const fn matrix() -> Self {
        let sizes = (Bytes::kib(64), Bytes::mib(512));
        Self::Matrix { sizes, records: (4 << 10, 16 << 20), small_records_always: false }
    }

    pub(super) const fn processes(self) -> u32 {
        if let Self::Processes { count, .. } = self { count } else { 1 }
    }

    /// Every size with every record that fits it.
    pub(super) fn pairs(self) -> Vec<Pair> {
        match self {
            Self::One { size, record } | Self::Processes { size, record, .. } => vec![Pair { size, record }],
            Self::Matrix { sizes, records, small_records_always } => {
                let fits = |pair: &Pair| {
                    let crossed = pair.size.get() > CROSSOVER && pair.record < CROSSED_RECORD;
                    u64::from(pair.record) <= pair.size.get() && (small_records_always || !crossed)
                };
                let all = doubling(sizes.0.get(), sizes.1.get()).flat_map(|size| {
                    let of = move |record| Pair { size: Bytes::new(size), record: record as u32 };
                    doubling(records.0.into(), records.1.into()).map(of)
                });
                all.filter(fits).collect()
            }
        }
    }
}

/// From the least on, each twice the last, to the largest.
pub(super) fn doubling(least: u64, most: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(least), |value| value.checked_mul(2)).take_while(move |value| *value <= most)
}

/// What of the end of a file is in the time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Timed {
    /// Nothing: what is written may still be in memory.
    #[default]
    Calls,
    /// The `fsync` (`-e`).
    Flush,
    /// The `close` (`-c`).
    Close,
    /// Both (`-e -c`).
    FlushAndClose,
}

impl Timed {
    pub(super) const fn flush(self) -> bool {
        matches!(self, Self::Flush | Self::FlushAndClose)
    }

    pub(super) const fn close(self) -> bool {
        matches!(self, Self::Close | Self::FlushAndClose)
    }
}

/// What figures are printed in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// 1,024 bytes per second, called kB.
    #[default]
    Kilobytes,
    /// Operations per second (`-O`).
    Operations,
    /// Microseconds for an operation (`-N`).
    Microseconds,
}

/// How Iozone is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IozoneOptions {
    /// Which sizes, by how many.
    pub extent: Extent,
    /// Which tests (`-i`). [`Test::Write`] has to be among them, since it makes the file.
    pub tests: Vec<Test>,
    /// What of the end of a file is in the time.
    pub timed: Timed,
    /// Past the page cache (`-I`).
    pub direct: bool,
    /// Files are opened so that each write is durable (`-o` for `O_SYNC`, `-+D` for `O_DSYNC`).
    pub opened: SyncMode,
    /// What figures are printed in.
    pub unit: Unit,
    /// The report for spreadsheets too (`-R`).
    pub report: bool,
    /// Memory of the host, bytes; zero where it is not known. For verdicts only.
    pub memory: Bytes,
    /// What determines places and data.
    pub seed: u64,
}

impl Default for IozoneOptions {
    fn default() -> Self {
        use Test::{Backward, Random, Read, RecordRewrite, Stride, Write};
        Self {
            extent: Extent::One { size: Bytes::kib(512), record: 4096 },
            tests: vec![Write, Read, Random, Backward, RecordRewrite, Stride],
            timed: Timed::Calls,
            direct: false,
            opened: SyncMode::None,
            unit: Unit::Kilobytes,
            report: false,
            memory: Bytes::ZERO,
            seed: 1,
        }
    }
}

impl IozoneOptions {
    pub(super) fn has(&self, test: Test) -> bool {
        self.tests.contains(&test)
    }

    /// What makes no sense, on a place whose direct I/O is aligned to `grid` bytes.
    pub(super) fn refuse(&self, grid: u64) -> Result<(), String> {
        let several = matches!(self.extent, Extent::Processes { .. });
        if !self.has(Test::Write) {
            return Err("the other tests use the file that test 0 makes: give test 0 too".into());
        }
        if let Some(test) = self.tests.iter().find(|test| test.needs_several() && !several) {
            return Err(format!("test {} is of several processes: give their number, or leave it out", test.number()));
        }
        if several && self.has(Test::RecordRewrite) {
            return Err("test 4 is of one process: leave it out, or give no number of processes".into());
        }
        if several && self.unit == Unit::Microseconds {
            return Err("microseconds for an operation are of one process: take operations per second".into());
        }
        if !(1..=255).contains(&self.extent.processes()) {
            return Err(format!("{} processes: give 1 to 255", self.extent.processes()));
        }
        let pairs = self.extent.pairs();
        if pairs.is_empty() {
            return Err("no record fits a file: give larger files, or smaller records".into());
        }
        for Pair { size, record } in pairs {
            let record = u64::from(record);
            if record == 0 || !record.is_multiple_of(1024) || !size.get().is_multiple_of(record) {
                return Err(format!("records of {record} bytes in {size}: give whole KiB that divide the file's size"));
            }
            if self.direct && !record.is_multiple_of(grid.max(1)) {
                return Err(format!("direct I/O needs records in multiples of {grid} bytes here: give larger ones"));
            }
        }
        Ok(())
    }

    pub(super) fn settings(&self) -> Vec<(String, String)> {
        let record = |record: u32| Bytes::new(record.into());
        let extent = match self.extent {
            Extent::One { size, record: bytes } => format!("{size} by {}", record(bytes)),
            Extent::Matrix { sizes, records, .. } => {
                format!("{} to {} by {} to {}", sizes.0, sizes.1, record(records.0), record(records.1))
            }
            Extent::Processes { count, size, record: bytes } => format!("{count} x {size} by {}", record(bytes)),
        };
        let tests: Vec<String> = self.tests.iter().map(|test| test.number().to_string()).collect();
        let timed = match self.timed {
            Timed::Calls => "calls",
            Timed::Flush => "calls, fsync",
            Timed::Close => "calls, close",
            Timed::FlushAndClose => "calls, fsync, close",
        };
        let opened = match self.opened {
            SyncMode::None => "plainly",
            SyncMode::Dsync => "with O_DSYNC",
            SyncMode::Sync => "with O_SYNC",
        };
        [
            ("extent", extent),
            ("tests", tests.join(", ")),
            ("timed", timed.into()),
            ("page cache", if self.direct { "passed by" } else { "in between" }.into()),
            ("opened", opened.into()),
            ("seed", self.seed.to_string()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
    }
}
