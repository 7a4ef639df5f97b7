//! Checks of a host: its fitness for measurements and emulated volumes.

use plimsoll_units::{Bytes, Span};

use crate::finding::Finding;

#[derive(Clone, Debug, PartialEq)]
pub struct HostCheck {
    pub status: CheckStatus,
    /// Whether commands can work without it.
    pub need: CheckNeed,
    pub fact: HostFact,
}

/// A checked property of a host. The status of its check determines the meaning of a missing value.
#[derive(Clone, Debug, PartialEq)]
pub enum HostFact {
    /// The path and its kind, or the error.
    Path(String),
    /// A doubt about the storage at the path.
    Storage(Finding),
    /// Direct I/O at the path: the path, or the error if unknown.
    DirectIo(String),
    /// Logical and physical block size in bytes.
    Sectors(Option<[u32; 2]>),
    /// Space for the file of a measurement.
    FreeSpace(FreeSpace),
    /// Error of `io_uring`, and the value of `kernel.io_uring_disabled`.
    Ring(Option<(String, Option<u32>)>),
    /// Median and p99 of the lateness of timers, the shortest response time that is emulated faithfully, and the factor by
    /// which network volumes have to be slowed down.
    Timers([Span; 3], u64),
    /// Error of the measurement of timers, and the limit of locked memory if it is too low.
    TimersUnknown(String, Option<Bytes>),
    ClockSource(Option<String>),
    Governor(Option<String>),
    /// Share of processor time that the hypervisor gave to other guests.
    Steal(Option<f64>),
    /// Share of processor time of other processes.
    OtherWork(Option<f64>),
    ProcessorLimit(Option<(f64, String)>),
    /// Limit and its file, and the memory that a measurement may use.
    MemoryLimit(Option<(Bytes, String)>, Bytes),
    /// Error of real-time priority, with its remedy after a colon.
    RealTime(Option<String>),
    LockedMemory(Option<Bytes>),
    /// Limit of open files, and the required number.
    OpenFiles(Option<u64>, u64),
    Fuse(FuseState),
    /// Error of `/dev/loop-control`.
    LoopDevices(Option<String>),
    /// True if the module nbd is loaded.
    NbdModule(bool),
    /// Name and version of a database, and the counters that its settings hide.
    Database(String, Vec<HiddenCounters>),
}

/// Space for the file of a measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FreeSpace {
    NoPath,
    /// No file is created.
    NotNeeded,
    /// The default load is invalid.
    NoLoad,
    /// Free space at a path.
    Free {
        /// Free space.
        available: Bytes,
        path: String,
        size: Bytes,
        /// Its minimum size.
        min: Bytes,
        /// Caches of devices hold smaller files.
        cached: Bytes,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FuseState {
    /// This process may mount.
    Mounts,
    /// `fusermount3` mounts.
    Fusermount,
    /// `fusermount3` is missing.
    NoFusermount,
    /// `/dev/fuse` is missing.
    NoDevice,
    /// `/dev/fuse` cannot be opened: the error.
    Refused(String),
}

/// Counters that a database does not provide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HiddenCounters {
    /// `performance_schema` is off.
    PerformanceSchema,
    /// Settings of PostgreSQL that are off.
    Timing(Vec<&'static str>),
    /// The version has no `pg_stat_io`: the first version that has it.
    PgStatIo(u32),
}

/// Result of a check of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckStatus {
    /// A command will not work.
    Failed,
    /// Works, but figures or response times are doubtful.
    Caution,
    /// Could not be checked.
    Unknown,
    Ok,
}

impl CheckStatus {
    /// All results, gravest first.
    pub const ALL: [Self; 4] = [Self::Failed, Self::Caution, Self::Unknown, Self::Ok];

    /// `failed`, `caution`, `unknown` or `ok`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Caution => "caution",
            Self::Unknown => "unknown",
            Self::Ok => "ok",
        }
    }
}

/// Importance of a checked facility.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckNeed {
    /// `plimsoll measure` or `plimsoll serve` does not work without it.
    Necessary,
    /// Used by further commands and options.
    Optional,
}

impl HostCheck {
    /// Name of the check, such as `io_uring`.
    pub const fn name(&self) -> &'static str {
        match self.fact {
            HostFact::Path(_) => "path",
            HostFact::Storage(_) => "storage",
            HostFact::DirectIo(_) => "O_DIRECT",
            HostFact::Sectors(_) => "sectors",
            HostFact::FreeSpace(_) => "free space",
            HostFact::Ring(_) => "io_uring",
            HostFact::Timers(..) | HostFact::TimersUnknown(..) => "timers",
            HostFact::ClockSource(_) => "clock source",
            HostFact::Governor(_) => "governor",
            HostFact::Steal(_) => "steal",
            HostFact::OtherWork(_) => "other work",
            HostFact::ProcessorLimit(_) => "processor limit",
            HostFact::MemoryLimit(..) => "memory limit",
            HostFact::RealTime(_) => "real-time priority",
            HostFact::LockedMemory(_) => "locked memory",
            HostFact::OpenFiles(..) => "open files",
            HostFact::Fuse(_) => "FUSE",
            HostFact::LoopDevices(_) => "loop devices",
            HostFact::NbdModule(_) => "module nbd",
            HostFact::Database(..) => "database",
        }
    }

    /// True if commands cannot work, or if that is unknown.
    pub fn is_blocking(&self) -> bool {
        self.need == CheckNeed::Necessary && matches!(self.status, CheckStatus::Failed | CheckStatus::Unknown)
    }
}
