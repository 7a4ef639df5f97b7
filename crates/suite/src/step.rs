//! Steps of a suite as data, independent of the [`crate::Ground`] that executes them.

use std::path::PathBuf;

use plimsoll_device::{Contents, Durable, Engine, Flush, SyncMode};
use plimsoll_load::{JobSpec, LaneSpec, Pattern, Region, Until};
use plimsoll_units::{Bytes, Span};

use crate::conduct::Conduct;
use crate::sql::{SessionsStep, StatementsStep};

/// A file that workers use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSpec {
    /// Path of a permanent file, or the existing directory of a temporary file; none for a temporary file in the default
    /// directory.
    pub path: Option<PathBuf>,
    /// Bytes.
    pub size: Bytes,
    /// Its space is reserved before anything is written; otherwise it grows as it is written.
    pub reserved: bool,
    /// Some worker writes to it.
    pub writes: bool,
}

impl FileSpec {
    /// A temporary file that grows as it is written.
    pub const fn growing(size: Bytes) -> Self {
        Self { path: None, size, reserved: false, writes: true }
    }

    /// A temporary file with reserved space.
    pub const fn reserved(size: Bytes) -> Self {
        Self { path: None, size, reserved: true, writes: true }
    }
}

/// A part of a file that a worker uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
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
    Kept,
    /// The descriptor of the writes; then the file is opened and closed once.
    Reopened,
    /// Another descriptor, opened for the flush and closed after it; for a worker with a single file.
    Another,
}

/// How a worker's operations reach its files.
#[derive(Clone, Debug)]
pub struct Access {
    /// The engine that issues them.
    pub engine: Engine,
    /// Whether they bypass the page cache (`O_DIRECT`).
    pub direct: bool,
    /// Synchronous mode of the open file.
    pub opened: SyncMode,
    /// Implementation of durable writes.
    pub durable: Durable,
    /// Implementation of flushes.
    pub flush: Flush,
    /// Descriptor of flushes.
    pub descriptor: Descriptor,
    /// The data written, and whether they are checked.
    pub contents: Contents,
}

impl Access {
    /// Random data by synchronous calls of the worker through the page cache; a flush is an `fsync`.
    pub const fn buffered() -> Self {
        Self {
            engine: Engine::Inline,
            direct: false,
            opened: SyncMode::None,
            durable: Durable::Dsync,
            flush: Flush::Fsync,
            descriptor: Descriptor::Kept,
            contents: Contents::Stamped { compressible: 0.0 },
        }
    }

    /// Random data through a ring, past the page cache.
    pub fn direct() -> Self {
        Self { engine: Engine::Ring, direct: true, flush: Flush::Fdatasync, ..Self::buffered() }
    }
}

/// One thread or process of a step.
#[derive(Clone, Debug)]
pub struct Worker {
    /// Its operations, on the parts below.
    pub job: JobSpec,
    /// Its files, at least one.
    pub parts: Vec<Part>,
    /// How it reaches them.
    pub access: Access,
    /// Delay of its beginning.
    pub begins: Span,
    /// Whether every operation is logged with its times.
    pub logged: bool,
    /// Start, repetition and end in relation to other workers.
    pub conduct: Conduct,
}

impl Worker {
    /// A worker on a whole file that begins immediately.
    pub fn new(job: JobSpec, file: usize, size: Bytes, access: Access) -> Self {
        let parts = vec![Part { file, start: 0, length: size }];
        Self { job, parts, access, begins: Span::ZERO, logged: false, conduct: Conduct::default() }
    }
}

/// Preparation of a step's files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Before {
    /// Nothing.
    #[default]
    AsTheyAre,
    /// Files are truncated, so that writing allocates them again; not on devices.
    Anew,
    /// The page cache of the files is dropped.
    Uncached,
}

/// Concurrency of the workers of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// At the same time.
    #[default]
    Together,
    /// At the same time; all end with the first that is done (stonewalling).
    UntilFirst,
    /// One after the other.
    InTurn,
}

/// Detail of the series of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// Slice by slice.
    #[default]
    Slices,
    /// A single slice: for suites of a thousand steps, which would not fit in memory otherwise.
    Totals,
}

/// Concurrent workers.
#[derive(Clone, Debug, Default)]
pub struct IoStep {
    /// Each on a thread of its own.
    pub workers: Vec<Worker>,
    /// Preparation of their files.
    pub before: Before,
    /// Their concurrency.
    pub order: Order,
    /// Detail of the series.
    pub keep: Keep,
    /// Length of a slice of the series; none for a length that fits the step.
    pub slice: Option<Span>,
}

/// An operation on many small files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileWork {
    /// Create, and write if they have a size.
    Create,
    /// Look up, and read if they have a size.
    Stat,
    /// Remove.
    Delete,
}

/// File operations, in one directory or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilesStep {
    /// The operation.
    pub work: FileWork,
    /// Number of files.
    pub files: u64,
    /// Whether names are in ascending order; otherwise in a random order.
    pub ordered: bool,
    /// Bytes, from the least to the most.
    pub sizes: (u64, u64),
    /// Directories that they are spread over, at least 1.
    pub directories: u64,
    /// Seed of names and sizes.
    pub seed: u64,
}

/// The work of a step.
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
    /// A pause, which takes no real time in virtual time.
    Pause(Span),
}

/// One step of a suite.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its name in tables: `Sequential read, 1 MiB, Q8 T1`.
    pub name: String,
    /// Number of the repetition, from 1.
    pub round: u32,
    /// Whether it is measured; otherwise it prepares or warms up.
    pub counts: bool,
    /// Whether it loads data for later runs; left out if the data exist.
    pub loads: bool,
    /// The actual meaning of its figure, in a sentence; empty if the name is enough.
    pub measures: &'static str,
    /// Its work.
    pub work: Work,
}

impl Step {
    /// A step that counts, once.
    pub fn new(name: impl Into<String>, work: Work) -> Self {
        Self { name: name.into(), round: 1, counts: true, loads: false, measures: "", work }
    }

    /// Workers that count, once.
    pub fn io(name: impl Into<String>, workers: Vec<Worker>) -> Self {
        Self::new(name, Work::Io(IoStep { workers, ..IoStep::default() }))
    }

    /// Statements that count, once.
    pub fn statements(name: impl Into<String>, statements: StatementsStep) -> Self {
        Self::new(name, Work::Statements(statements))
    }

    /// Concurrent sessions that count, once.
    pub fn sessions(name: impl Into<String>, sessions: SessionsStep) -> Self {
        Self::new(name, Work::Sessions(sessions))
    }

    /// A preparation that writes the whole first file in blocks of 1 MiB and flushes it; `change` adapts its job.
    pub(crate) fn fill(name: &str, size: Bytes, access: Access, change: impl FnOnce(&mut JobSpec)) -> Self {
        let lane = LaneSpec::new(1 << 20, Pattern::Sequential);
        let mut job = JobSpec::new(plimsoll_load::Work::Writes, lane, Region::first(size), Until::bytes(size.get()));
        job.flush_at_end = true;
        change(&mut job);
        Self::io(name, vec![Worker::new(job, 0, size, access)]).uncounted()
    }

    /// Whether a worker of it writes.
    pub(crate) fn writes(&self) -> bool {
        matches!(&self.work, Work::Io(io) if io.workers.iter().any(|worker| worker.job.writes()))
    }

    /// The same as an unmeasured preparation.
    pub fn uncounted(mut self) -> Self {
        self.counts = false;
        self
    }

    /// The same as an unmeasured loading step.
    pub fn loading(self) -> Self {
        Self { loads: true, ..self.uncounted() }
    }

    /// The same with the actual meaning of its figure.
    pub const fn measuring(mut self, what: &'static str) -> Self {
        self.measures = what;
        self
    }

    /// The same as repetition `round`, from 1.
    pub const fn round(mut self, round: u32) -> Self {
        self.round = round;
        self
    }

    /// Changes the step of its workers; no effect without workers.
    pub fn together(mut self, change: impl FnOnce(&mut IoStep)) -> Self {
        if let Work::Io(step) = &mut self.work {
            change(step);
        }
        self
    }
}
