//! Steps of a suite as data, independent of the [`crate::Ground`] that executes them.

use std::path::PathBuf;

use plimsoll_database::SettingsChange;
use plimsoll_device::{AccessAdvice, Batching, Contents, Durable, Engine, Flush, SyncMode};
use plimsoll_load::{JobSpec, LaneSpec, Pattern, Region, Until};
use plimsoll_record::StepQuantity;
use plimsoll_units::{Bytes, Span};

use crate::conduct::Conduct;
use crate::sql::{SessionsStep, SqlRequest, StatementsStep};

/// A file that workers use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSpec {
    /// Path of a permanent file, or an existing directory for a temporary file; `None` for a temporary file in the
    /// default directory.
    pub path: Option<PathBuf>,
    pub size: Bytes,
    /// Whether space is reserved before writes; otherwise the file grows.
    pub reserved: bool,
    /// Whether any worker writes to it.
    pub writes: bool,
    /// Index of its device, where the ground has several ([`Facts::devices`](crate::Facts::devices)).
    pub device: usize,
}

impl FileSpec {
    /// A temporary file that grows as it is written.
    pub const fn growing(size: Bytes) -> Self {
        Self { path: None, size, reserved: false, writes: true, device: 0 }
    }

    /// A temporary file with reserved space.
    pub const fn reserved(size: Bytes) -> Self {
        Self { path: None, size, reserved: true, writes: true, device: 0 }
    }
}

/// A part of a file that a worker uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilePart {
    /// Index of the file in the suite.
    pub file: usize,
    /// First byte.
    pub start: u64,
    /// Number of bytes.
    pub length: Bytes,
}

/// The descriptor through which a file is flushed. Has no effect on targets without files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Descriptor {
    /// The descriptor of the writes.
    #[default]
    Retained,
    /// The descriptor of the writes, after which the file is opened and closed again.
    Reopened,
    /// Another descriptor, opened for the flush and closed after it; only for workers with a single file.
    Another,
}

/// Access of a worker's operations to its files.
#[derive(Clone, Debug)]
pub struct FileAccess {
    /// I/O engine.
    pub engine: Engine,
    /// Direct I/O (`O_DIRECT`).
    pub direct: bool,
    /// Synchronous mode of the open file.
    pub opened: SyncMode,
    /// Implementation of durable writes.
    pub durable: Durable,
    pub flush: Flush,
    pub descriptor: Descriptor,
    /// Contents of writes, and whether they are verified.
    pub contents: Contents,
    /// Operations per system call.
    pub batching: Batching,
    /// Advice to the kernel on the order of accesses.
    pub advice: Option<AccessAdvice>,
}

impl FileAccess {
    /// Random data through the page cache, by synchronous calls of the worker; a flush is an `fsync`.
    pub const fn buffered() -> Self {
        Self {
            engine: Engine::Inline,
            direct: false,
            opened: SyncMode::None,
            durable: Durable::Dsync,
            flush: Flush::Fsync,
            descriptor: Descriptor::Retained,
            contents: Contents::Stamped { compressible: 0.0 },
            batching: Batching::FREE,
            advice: None,
        }
    }

    /// Random data through a ring, with direct I/O.
    pub fn direct() -> Self {
        Self { engine: Engine::Ring, direct: true, flush: Flush::Fdatasync, ..Self::buffered() }
    }
}

/// A thread or process of a step.
#[derive(Clone, Debug)]
pub struct Worker {
    /// Its operations, on the parts below.
    pub job: JobSpec,
    /// Its files, at least a single part.
    pub parts: Vec<FilePart>,
    pub access: FileAccess,
    /// Delay of the start.
    pub begins: Span,
    /// Whether every operation is logged.
    pub logged: bool,
    /// Start, repetition and end in relation to other workers.
    pub conduct: Conduct,
}

impl Worker {
    /// A worker on a whole file that begins immediately.
    pub fn new(job: JobSpec, file: usize, size: Bytes, access: FileAccess) -> Self {
        let parts = vec![FilePart { file, start: 0, length: size }];
        Self { job, parts, access, begins: Span::ZERO, logged: false, conduct: Conduct::default() }
    }
}

/// Preparation of a step's files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Before {
    /// No preparation.
    #[default]
    AsTheyAre,
    /// Files are truncated, so that writing allocates them again; not on devices.
    Anew,
    /// The page cache of the files is dropped.
    Uncached,
}

/// Concurrency of the workers of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WorkerOrder {
    #[default]
    Together,
    /// Concurrent; all end with the first to complete (stonewalling).
    UntilFirst,
    InTurn,
}

/// Detail of the series of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    #[default]
    Slices,
    /// A single slice, for suites of a thousand steps, whose slices would not fit in memory.
    Totals,
}

/// Concurrent workers.
#[derive(Clone, Debug, Default)]
pub struct IoStep {
    /// The workers, each on its thread.
    pub workers: Vec<Worker>,
    /// Preparation of their files.
    pub before: Before,
    /// Their concurrency.
    pub order: WorkerOrder,
    /// Detail of the series.
    pub keep: Keep,
    /// Length of a slice of the series; `None` for a default by the duration of the step.
    pub slice: Option<Span>,
}

/// An operation on many small files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileWork {
    /// Create, and write if they have a size.
    Create,
    /// Look up, and read if they have a size.
    Stat,
    Delete,
}

/// Operations on small files in directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilesStep {
    pub work: FileWork,
    pub files: u64,
    /// Whether names are in ascending order; otherwise in a random order.
    pub ordered: bool,
    /// Minimum and maximum size in bytes.
    pub sizes: (u64, u64),
    /// Number of directories, at least 1.
    pub directories: u64,
    /// Seed of names and sizes.
    pub seed: u64,
}

/// A change of the settings of a database server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsStep {
    /// Names and values; with a restart, these are all changes.
    pub settings: Vec<(String, String)>,
    /// How they take effect.
    pub change: SettingsChange,
}

#[derive(Clone, Debug)]
pub enum Work {
    /// Operations on blocks.
    Io(IoStep),
    /// Operations on files; only in a directory.
    Files(FilesStep),
    /// Statements in sequence; only on a database.
    Statements(StatementsStep),
    /// Concurrent sessions; only on a database.
    Sessions(SessionsStep),
    /// A change of settings; only on a database. Without effect on the figures of the step.
    Settings(SettingsStep),
    /// A pause, which takes no real time in virtual time.
    Pause(Span),
}

#[derive(Clone, Debug)]
pub struct Step {
    /// Its name in tables: `Sequential read, 1 MiB, Q8 T1`.
    pub name: String,
    /// Number of the repetition, from 1.
    pub round: u32,
    /// Whether it is measured; otherwise it prepares or warms up.
    pub counts: bool,
    /// Whether it loads data for later runs; skipped if the data exist.
    pub loads: bool,
    /// The quantity of its figure; `None` if the name suffices.
    pub measures: Option<StepQuantity>,
    /// Number of writes of a commit, if its figures count commits.
    pub writes_each: Option<u32>,
    pub work: Work,
}

impl Step {
    /// A measured step.
    pub fn new(name: impl Into<String>, work: Work) -> Self {
        Self { name: name.into(), round: 1, counts: true, loads: false, measures: None, writes_each: None, work }
    }

    /// A measured step of workers.
    pub fn io(name: impl Into<String>, workers: Vec<Worker>) -> Self {
        Self::new(name, Work::Io(IoStep { workers, ..IoStep::default() }))
    }

    /// A measured step of statements.
    pub fn statements(name: impl Into<String>, statements: StatementsStep) -> Self {
        Self::new(name, Work::Statements(statements))
    }

    /// An unmeasured step with a query whose rows the recipe reads.
    pub(crate) fn query(name: impl Into<String>, sql: String) -> Self {
        let query = move |_| vec![SqlRequest::Query(sql.clone())];
        Self::statements(name, StatementsStep::new(1, query)).uncounted()
    }

    /// A measured step of concurrent sessions.
    pub fn sessions(name: impl Into<String>, sessions: SessionsStep) -> Self {
        Self::new(name, Work::Sessions(sessions))
    }

    /// Preparation that writes the whole first file in blocks of 1 MiB and flushes it; `change` adapts the job.
    pub(crate) fn fill(name: &str, size: Bytes, access: FileAccess, change: impl FnOnce(&mut JobSpec)) -> Self {
        let lane = LaneSpec::new(1 << 20, Pattern::Sequential);
        let mut job =
            JobSpec::new(plimsoll_load::WorkerOps::Writes, lane, Region::first(size), Until::bytes(size.get()));
        job.flush_at_end = true;
        change(&mut job);
        Self::io(name, vec![Worker::new(job, 0, size, access)]).uncounted()
    }

    /// Whether any of its workers writes.
    pub(crate) fn writes(&self) -> bool {
        matches!(&self.work, Work::Io(io) if io.workers.iter().any(|worker| worker.job.writes()))
    }

    /// Turns it into an unmeasured preparation.
    pub fn uncounted(mut self) -> Self {
        self.counts = false;
        self
    }

    /// Turns it into an unmeasured loading step.
    pub fn loading(self) -> Self {
        Self { loads: true, ..self.uncounted() }
    }

    /// Sets the quantity of its figure.
    pub fn measuring(self, quantity: StepQuantity) -> Self {
        Self { measures: Some(quantity), ..self }
    }

    /// Counts commits of so many writes with their flushes.
    pub const fn of_commits(mut self, writes_each: u32) -> Self {
        self.writes_each = Some(writes_each);
        self
    }

    /// Sets the number of the repetition, from 1.
    pub const fn round(mut self, round: u32) -> Self {
        self.round = round;
        self
    }

    /// Changes its block step; no effect on other steps.
    pub fn together(mut self, change: impl FnOnce(&mut IoStep)) -> Self {
        if let Work::Io(step) = &mut self.work {
            change(step);
        }
        self
    }
}
