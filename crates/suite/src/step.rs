//! What a suite asks for, step by step, as data.
//!
//! Knows nothing about where it runs: files are names and sizes, and a [`crate::Ground`] makes of them what it has.

use std::path::PathBuf;

use plimsoll_device::{Contents, Durable, Engine, Flush, SyncMode};
use plimsoll_load::{JobSpec, LaneSpec, Pattern, Region, Until};
use plimsoll_units::{Bytes, Span};

use crate::conduct::Conduct;
use crate::sql::{CrowdStep, StatementsStep};

/// A file that workers use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSpec {
    /// Where it is, for files that stay; none for one that leaves nothing behind. A directory that exists is where one
    /// that leaves nothing behind is made.
    pub path: Option<PathBuf>,
    /// Bytes.
    pub size: Bytes,
    /// Its space is reserved before anything is written; otherwise it grows as it is written.
    pub reserved: bool,
    /// Some worker writes to it.
    pub writes: bool,
}

impl FileSpec {
    /// A file that leaves nothing behind and grows as it is written.
    pub const fn growing(size: Bytes) -> Self {
        Self { path: None, size, reserved: false, writes: true }
    }

    /// A file that leaves nothing behind, its space reserved.
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

/// Through which descriptor a file is flushed. Where nothing is opened, a flush is a flush.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Descriptor {
    /// The one that it was written through.
    #[default]
    Kept,
    /// The one that it was written through; then the file is opened and closed once.
    Reopened,
    /// Another one, opened for the flush and closed after it: of a worker with a single file.
    Another,
}

/// How a worker's operations reach its files.
#[derive(Clone, Debug)]
pub struct Access {
    /// What issues them.
    pub engine: Engine,
    /// `O_DIRECT`: past the page cache.
    pub direct: bool,
    /// Every write is synchronous because the file was opened so.
    pub opened: SyncMode,
    /// How a durable write is made where the job asks for it.
    pub durable: Durable,
    /// How a flush is made.
    pub flush: Flush,
    /// Through what it is made.
    pub descriptor: Descriptor,
    /// What is written, and whether it is checked.
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
    /// What it asks for; its files are those below, placed by the ground.
    pub job: JobSpec,
    /// Its files, at least one.
    pub parts: Vec<Part>,
    /// How it reaches them.
    pub access: Access,
    /// It begins so long after the others.
    pub begins: Span,
    /// Every operation is kept with its moments, for logs.
    pub logged: bool,
    /// How it goes about it beside the others.
    pub conduct: Conduct,
}

impl Worker {
    /// A worker on a whole file that begins at once.
    pub fn new(job: JobSpec, file: usize, size: Bytes, access: Access) -> Self {
        let parts = vec![Part { file, start: 0, length: size }];
        Self { job, parts, access, begins: Span::ZERO, logged: false, conduct: Conduct::default() }
    }
}

/// What becomes of a step's files before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Before {
    /// Nothing.
    #[default]
    AsTheyAre,
    /// They are emptied, so that writing makes them anew; not on devices.
    Anew,
    /// The page cache is emptied of them.
    Uncached,
}

/// How workers run together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// At the same time.
    #[default]
    Together,
    /// At the same time, and all end with the one that is done first (stonewalling).
    UntilFirst,
    /// One after the other.
    InTurn,
}

/// What is kept of how a step went on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// Slice by slice.
    #[default]
    Slices,
    /// One slice of all: for suites of a thousand steps, which would not fit in memory otherwise.
    Totals,
}

/// Workers side by side.
#[derive(Clone, Debug, Default)]
pub struct IoStep {
    /// Each on a thread of its own.
    pub workers: Vec<Worker>,
    /// What becomes of their files first.
    pub before: Before,
    /// How they run together.
    pub order: Order,
    /// What is kept of how it went on.
    pub keep: Keep,
    /// Length of a slice of the series; none for one that suits the step.
    pub slice: Option<Span>,
}

/// What is done to many small files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileWork {
    /// Made, and written where they have a size.
    Create,
    /// Looked up; read where they have a size.
    Stat,
    /// Removed.
    Delete,
}

/// File operations, in one directory or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilesStep {
    /// What is done.
    pub work: FileWork,
    /// How many.
    pub files: u64,
    /// Their names rise; otherwise they are in a random order.
    pub ordered: bool,
    /// Bytes, from the least to the most.
    pub sizes: (u64, u64),
    /// Directories that they are spread over, at least 1.
    pub directories: u64,
    /// What determines names and sizes.
    pub seed: u64,
}

/// What a step does.
#[derive(Clone, Debug)]
pub enum Work {
    /// Operations on blocks.
    Io(IoStep),
    /// Operations on files; only where there is a directory.
    Files(FilesStep),
    /// Statements of one session; only where there is a database.
    Statements(StatementsStep),
    /// Sessions side by side; only where there is a database.
    Crowd(CrowdStep),
    /// Nothing, for so long; a simulator does not wait.
    Pause(Span),
}

/// One step of a suite.
#[derive(Clone, Debug)]
pub struct Step {
    /// What it is called in tables: `Sequential read, 1 MiB, Q8 T1`.
    pub name: String,
    /// Which of its repetitions, from 1.
    pub round: u32,
    /// Its figures count; otherwise it prepares or warms up.
    pub counts: bool,
    /// It loads data that stay for later runs: left out where they are there.
    pub loads: bool,
    /// What its number really measures, in one sentence; empty where the name says it.
    pub measures: &'static str,
    /// What it does.
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
    pub fn crowd(name: impl Into<String>, crowd: CrowdStep) -> Self {
        Self::new(name, Work::Crowd(crowd))
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

    /// The same as a preparation that is in no figure.
    pub fn uncounted(mut self) -> Self {
        self.counts = false;
        self
    }

    /// The same as one that loads data, in no figure.
    pub fn loading(self) -> Self {
        Self { loads: true, ..self.uncounted() }
    }

    /// The same with what its number really measures.
    pub const fn measuring(mut self, what: &'static str) -> Self {
        self.measures = what;
        self
    }

    /// The same as repetition `round`, from 1.
    pub const fn round(mut self, round: u32) -> Self {
        self.round = round;
        self
    }

    /// Changes how its workers run together; nothing where it has none.
    pub fn together(mut self, change: impl FnOnce(&mut IoStep)) -> Self {
        if let Work::Io(step) = &mut self.work {
            change(step);
        }
        self
    }
}
