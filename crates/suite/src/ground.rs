//! Grounds, the execution environments of suites: a directory, a file or device, an export of an NBD server, a
//! database, or a model in virtual time.

mod database;
mod disk;
mod export;
mod model;
mod opening;
mod paths;
mod side_by_side;

use std::time::Duration;

use plimsoll_database::System;
use plimsoll_device::{Clock, SyncMode};
use plimsoll_drive::{Fault, Observe, PageCache, Partial, PartialRun};
use plimsoll_load::{JobSpec, Region};
use plimsoll_record::{DatabaseAbout, Finding, Host, Source, Subject};
use plimsoll_units::{Bytes, Instant, Span};

pub use database::{DatabaseGround, Sink};
pub use disk::{Disk, DiskPlace};
pub use export::Export;
pub use model::Model;
pub use paths::Paths;

use crate::result::{IoResult, StepResult};
use crate::sql::{SessionsStep, StatementsStep};
use crate::step::{FilePart, FileSpec, FilesStep, IoStep, SettingsStep, Worker};

/// The kind of a ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nature {
    /// A directory: files can be created and removed, with a page cache.
    Directory,
    /// A file or block device, with a page cache.
    Blocks,
    /// An export, without a page cache.
    Export,
    /// A model in virtual time, without a page cache unless it is simulated.
    Model,
    /// A database with its own cache.
    Database,
}

impl Nature {
    /// Whether buffered I/O of a worker goes through the host's page cache.
    const fn has_cache(self) -> bool {
        matches!(self, Self::Directory | Self::Blocks)
    }
}

/// Facts about a ground before the first step.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The origin of its figures.
    pub source: Source,
    pub subject: Subject,
    /// Host of the load generator; `None` in virtual time.
    pub host: Option<Host>,
    /// Bytes that files may take.
    pub space: Bytes,
    /// Sizes of its devices in the order of their addresses, if a model has several; else empty.
    pub devices: Vec<Bytes>,
    /// Alignment of direct I/O in bytes; 1 for none.
    pub grid: u64,
    pub nature: Nature,
    /// Whether writes are refused.
    pub read_only: bool,
    /// Names of the model's stages.
    pub stages: Vec<String>,
    /// The simulated page cache in front of a model; `None` elsewhere.
    pub page_cache: Option<PageCache>,
    /// Capacity of the write-back cache in a model; `None` without a cache, and elsewhere.
    pub write_back: Option<Bytes>,
    /// Facts about the database; `None` elsewhere.
    pub database: Option<(System, DatabaseAbout)>,
}

impl Facts {
    /// Facts of a writable ground whose files may take the size of the subject, without requirements of alignment.
    pub const fn new(nature: Nature, source: Source, subject: Subject) -> Self {
        Self {
            source,
            host: None,
            space: subject.size,
            devices: Vec::new(),
            subject,
            grid: 1,
            nature,
            read_only: false,
            stages: Vec::new(),
            page_cache: None,
            write_back: None,
            database: None,
        }
    }

    /// Facts of a database with this display name.
    pub fn of_database(name: String, source: Source, system: System, about: DatabaseAbout) -> Self {
        let subject = Subject { name, kind: "database".into(), size: Bytes::default(), device: None };
        Self { database: Some((system, about)), ..Self::new(Nature::Database, source, subject) }
    }

    /// Whether buffered I/O goes through a page cache, real or simulated.
    pub const fn has_cache(&self) -> bool {
        self.nature.has_cache() || self.page_cache.is_some()
    }

    /// Memory of the load generator's host; `None` if unknown.
    pub fn memory(&self) -> Option<Bytes> {
        let simulated = self.page_cache.map(|cache| cache.memory);
        simulated.or_else(|| self.host.as_ref()?.memory)
    }
}

/// Files that do not fit, or cannot be created.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    #[error("{subject}: {needed} are needed, {space} are available: give a smaller --size, or another place")]
    Space {
        subject: String,
        /// Required space.
        needed: Bytes,
        space: Bytes,
    },
    /// A named file outside of a directory.
    #[error("{0}: a file by name can only be in a directory")]
    Names(String),
    /// A missing file that would only be read.
    #[error("{0}: no such file to read")]
    Missing(String),
    /// A write to a read-only subject.
    #[error("{0}: it would be written to: name it with --destroy too, letter for letter, if its data may be lost")]
    ReadOnly(String),
    /// An existing file that may not be written to.
    #[error(transparent)]
    Refused(#[from] plimsoll_device::WriteRefusal),
    /// A file cannot be created.
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// Storage, database or model that executes steps.
pub trait Ground {
    /// Called once before the first measured step: flushes the data of loading, and slows storage that was fast for
    /// loading down to the measured storage.
    ///
    /// # Errors
    /// The storage or the database failed.
    fn begin_measuring(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn facts(&self) -> &Facts;

    /// Known doubts about its figures.
    fn findings(&self) -> Vec<Finding> {
        Vec::new()
    }

    /// Prepares the files of the steps, replacing earlier files.
    fn prepare_files(&mut self, files: &[FileSpec]) -> Result<(), Unfit>;

    /// Runs concurrent workers to their end, or until `observe` stops them.
    fn io(&mut self, step: &IoStep, observe: Observe<'_>) -> Partial<IoResult>;

    /// Creates, looks up or removes many files.
    fn files(&mut self, _step: &FilesStep, _observe: Observe<'_>) -> Result<StepResult, Fault> {
        Ok(StepResult::Skipped("not supported: blocks without files"))
    }

    /// Runs statements in sequence.
    fn statements(&mut self, _: &StatementsStep, _: Observe<'_>) -> StepOutcome {
        Ok(StepResult::Skipped("this is not a database"))
    }

    /// Runs concurrent sessions.
    fn sessions(&mut self, _: &SessionsStep, _: Observe<'_>) -> StepOutcome {
        Ok(StepResult::Skipped("this is not a database"))
    }

    /// Changes settings of a database server. Settings that the server refuses are a result, not a fault.
    fn configure(&mut self, _: &SettingsStep) -> Result<StepResult, Fault> {
        Ok(StepResult::Skipped("this is not a database"))
    }

    /// Puts changed settings back, at the end of a suite.
    ///
    /// # Errors
    /// The settings stay changed.
    fn restore_settings(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    /// Lets time pass, up to `span`, or until `observe` stops it.
    fn idle(&mut self, span: Span, observe: Observe<'_>) {
        let clock = Clock::start();
        loop {
            let left = span - clock.now().since(Instant::ZERO).min(span);
            if left.is_zero() || observe(&[]).is_break() {
                return;
            }
            std::thread::sleep(Duration::from_nanos(left.as_nanos()).min(Duration::from_millis(100)));
        }
    }
}

/// The result of a step, or the fault that ended it early with the result until then.
pub type StepOutcome = Result<StepResult, Box<PartialRun<Option<StepResult>>>>;

/// Places files contiguously from the start of their devices, each aligned to 1 MiB. Devices have adjacent addresses;
/// without devices, all files are on one.
pub fn place_files(files: &[FileSpec], devices: &[Bytes]) -> Vec<Region> {
    let start_of = |device: usize| devices.iter().take(device).map(|size| size.get()).sum::<u64>();
    let mut used: Vec<u64> = Vec::new();
    let place = |file: &FileSpec| {
        used.resize(used.len().max(file.device + 1), 0);
        let start = start_of(file.device) + used[file.device];
        used[file.device] += file.size.get().next_multiple_of(1 << 20);
        Region { start, length: file.size }
    };
    files.iter().map(place).collect()
}

/// The places of files within the devices of a ground, or in its space.
fn fit_files(files: &[FileSpec], facts: &Facts) -> Result<Vec<Region>, Unfit> {
    let subject = || facts.subject.name.clone();
    if files.iter().any(|file| file.path.is_some()) {
        return Err(Unfit::Names(subject()));
    }
    let regions = place_files(files, &facts.devices);
    let single_device = [facts.space];
    let devices = if facts.devices.is_empty() { &single_device[..] } else { &facts.devices };
    let mut start = 0;
    for (device, &space) in devices.iter().enumerate() {
        let last = files.iter().zip(&regions).rfind(|(file, _)| file.device == device);
        let needed = Bytes::new(last.map_or(0, |(_, last)| last.start + last.length.get() - start));
        if needed > space {
            return Err(Unfit::Space { subject: subject(), needed, space });
        }
        start += space.get();
    }
    Ok(regions)
}

/// Opened files, their regions in a common address space, and a worker's parts in it.
type Joined<T> = (Vec<T>, Vec<Region>, Vec<FilePart>);

/// Places a worker's files contiguously, and opens each once.
fn joined<T>(
    worker: &Worker,
    size: impl Fn(usize) -> Bytes,
    open: impl Fn(usize) -> Result<T, Fault>,
) -> Result<Joined<T>, Fault> {
    let (mut numbers, mut opened, mut bases, mut parts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut end = 0;
    for part in &worker.parts {
        let existing = numbers.iter().position(|number| *number == part.file);
        if existing.is_none() {
            numbers.push(part.file);
            opened.push(open(part.file)?);
            bases.push(Region { start: end, length: size(part.file) });
            end += size(part.file).get();
        }
        parts.push(FilePart { file: existing.unwrap_or(numbers.len() - 1), ..*part });
    }
    Ok((opened, bases, parts))
}

/// A worker's job on the regions of a space.
fn placed(worker: &Worker, regions: &[Region]) -> JobSpec {
    let place = |part: &FilePart| Region { start: regions[part.file].start + part.start, length: part.length };
    JobSpec { files: worker.parts.iter().map(place).collect(), ..worker.job.clone() }
}

/// The same for targets without files, where synchronous opening becomes durable writes.
fn placed_durable(worker: &Worker, regions: &[Region]) -> JobSpec {
    let job = placed(worker, regions);
    JobSpec { durable: job.durable || worker.access.opened != SyncMode::None, ..job }
}

/// Length of a slice of a step's series: short for short steps, and at most 1,200 slices if the length is known.
fn slice_of(step: &IoStep) -> Span {
    if let Some(slice) = step.slice {
        return slice;
    }
    let longest = step.workers.iter().map(|worker| worker.job.until.span).max().unwrap_or(Span::MAX);
    let usual = Span::from_millis(200);
    if longest == Span::MAX {
        return usual;
    }
    (longest / 40).max(Span::from_millis(10)).min(usual).max(longest / 1200)
}

/// A job that does not fit its files.
fn misfit(worker: usize) -> Fault {
    let source = std::io::Error::new(
        std::io::ErrorKind::InvalidInput,
        "a file is smaller than one operation, or its sizes and places cannot be drawn",
    );
    Fault { attempt: format!("placing worker {worker}"), source }
}
