//! Real storage: a directory with files, or a file or block device that holds them contiguously.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use plimsoll_device::{
    AccessMode, Caching, Claim, Clock, Opened, Shape, Space, create, drop_cache, open, preallocate, scratch, sync_data,
    truncate,
};
use plimsoll_drive::{Fault, Observe, Partial, Target};
use plimsoll_load::{JobSpec, Region};
use plimsoll_record::Finding;
use plimsoll_units::Bytes;

use super::opening::{claim_existing, covered, for_worker, on_storage, reopening, uncache};
use super::side_by_side::Targets;
use super::{Facts, Ground, Unfit, fit_files, joined, placed};
use crate::files::FileTree;
use crate::result::{IoResult, StepResult};
use crate::step::{Before, FileSpec, FilesStep, IoStep, Worker};

/// A place on real storage.
#[derive(Debug)]
pub enum DiskPlace {
    Directory(PathBuf),
    /// An existing file or block device, with a claim if it may be written to.
    Existing(PathBuf, Option<Claim>),
}

/// Real storage.
pub struct Disk {
    place: DiskPlace,
    facts: Facts,
    /// Existing files that may be overwritten.
    destroy: Vec<PathBuf>,
    files: Vec<PreparedFile>,
    regions: Vec<Region>,
    tree: Option<FileTree>,
    /// Whether direct I/O was requested and the filesystem does not support it.
    direct_refused: AtomicBool,
    findings: Vec<Finding>,
}

struct PreparedFile {
    file: OwnedFd,
    path: PathBuf,
    size: Bytes,
    reserved: bool,
    writes: bool,
    /// Claim on an existing file.
    claim: Option<Claim>,
}

impl Disk {
    /// `destroy` lists existing files that may be overwritten.
    pub fn new(place: DiskPlace, facts: Facts, destroy: Vec<PathBuf>) -> Self {
        let (direct_refused, findings) = (AtomicBool::new(false), Vec::new());
        Self { place, facts, destroy, files: Vec::new(), regions: Vec::new(), tree: None, direct_refused, findings }
    }

    /// Adds doubts about its figures.
    pub fn doubted(self, findings: Vec<Finding>) -> Self {
        Self { findings, ..self }
    }

    fn make(&self, directory: &Path, spec: &FileSpec) -> Result<PreparedFile, Unfit> {
        let failed = |path: &Path, source| Fault { attempt: format!("making a file in {}", path.display()), source };
        // An existing directory means a temporary file in it.
        let other = spec.path.as_ref().map(|path| directory.join(path)).filter(|path| path.is_dir());
        let is_named = spec.path.is_some() && other.is_none();
        let (file, path, claim) = match spec.path.as_ref().filter(|_| is_named) {
            None => {
                let place = other.as_deref().unwrap_or(directory);
                let created = scratch(place, spec.size, Caching::Buffered).map_err(|error| failed(place, error))?;
                let path = PathBuf::from(format!("/proc/self/fd/{}", created.file.as_raw_fd()));
                (created.file, path, None)
            }
            Some(name) => {
                let path = directory.join(name);
                let (file, claim) = self.named(&path, spec)?;
                (file, path, claim)
            }
        };
        if !spec.reserved && !is_named {
            truncate(&file, Bytes::default()).map_err(|error| failed(directory, error))?;
        }
        Ok(PreparedFile { file, path, size: spec.size, reserved: spec.reserved, writes: spec.writes, claim })
    }

    /// Creates a named file, or opens it if it exists and may be overwritten.
    fn named(&self, path: &Path, spec: &FileSpec) -> Result<(OwnedFd, Option<Claim>), Unfit> {
        let failed = |source| Fault { attempt: format!("opening {}", path.display()), source };
        let space = if spec.reserved { Space::Reserve } else { Space::Sparse };
        if !path.exists() {
            if !spec.writes {
                return Err(Unfit::Missing(path.display().to_string()));
            }
            return Ok((create(path, spec.size, space).map_err(failed)?, None));
        }
        if !spec.writes {
            return Ok((open(path, AccessMode::Read, Caching::Buffered).map_err(failed)?.file, None));
        }
        let claim = claim_existing(path, &self.destroy)?;
        let file = open(path, AccessMode::Write, Caching::Buffered).map_err(failed)?.file;
        // Before the file is extended.
        covered(&claim, &file).map_err(failed)?;
        let is_shorter = plimsoll_device::length(&file).map_err(failed)? < spec.size;
        if is_shorter {
            preallocate(&file, spec.size, space).map_err(failed)?;
        }
        Ok((file, Some(claim)))
    }

    fn open(&self, path: &Path, worker: &Worker, claim: Option<&Claim>) -> Result<OwnedFd, Fault> {
        let Opened { file, caching } = for_worker(path, worker, claim)?;
        if worker.access.direct && caching == Caching::Buffered {
            self.direct_refused.store(true, Ordering::Relaxed);
        }
        Ok(file)
    }

    /// Truncates files, or drops them from the page cache, before a step.
    fn prepare(&self, step: &IoStep) -> std::io::Result<()> {
        let used = |index: usize| step.workers.iter().any(|w| w.parts.iter().any(|part| part.file == index));
        for laid in self.files.iter().enumerate().filter(|(index, _)| used(*index)).map(|(_, laid)| laid) {
            if step.before == Before::Anew && laid.writes {
                truncate(&laid.file, Bytes::default())?;
                if laid.reserved {
                    preallocate(&laid.file, laid.size, Space::Reserve)?;
                }
            }
            if step.before == Before::Uncached {
                sync_data(&laid.file)?;
                drop_cache(&laid.file)?;
            }
        }
        match &self.place {
            DiskPlace::Existing(path, _) if step.before == Before::Uncached => uncache(path),
            _ => Ok(()),
        }
    }
}

impl Targets for Disk {
    fn target(&self, worker: &Worker, shape: &Shape, clock: Clock) -> Result<(Box<dyn Target>, JobSpec), Fault> {
        if let DiskPlace::Existing(path, claim) = &self.place {
            let file = self.open(path, worker, claim.as_ref())?;
            let target = worker.access.engine.start(&[(file.as_fd(), self.facts.subject.size)], shape, clock)?;
            let target = reopening(target, path, &worker.access);
            return Ok((target, placed(worker, &self.regions)));
        }
        let open = |file: usize| self.open(&self.files[file].path, worker, self.files[file].claim.as_ref());
        let (opened, bases, parts) = joined(worker, |file| self.files[file].size, open)?;
        let files: Vec<_> = opened.iter().zip(&bases).map(|(file, base)| (file.as_fd(), base.length)).collect();
        let target = worker.access.engine.start(&files, shape, clock)?;
        let target = match worker.parts.first() {
            Some(part) => reopening(target, &self.files[part.file].path, &worker.access),
            None => target,
        };
        let local = Worker { parts, ..worker.clone() };
        Ok((target, placed(&local, &bases)))
    }
}

impl Ground for Disk {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn findings(&self) -> Vec<Finding> {
        let refused = self.direct_refused.load(Ordering::Relaxed).then_some(Finding::DirectRefused);
        self.findings.iter().cloned().chain(refused).collect()
    }

    fn prepare_files(&mut self, files: &[FileSpec]) -> Result<(), Unfit> {
        let subject = self.facts.subject.name.clone();
        match &self.place {
            DiskPlace::Existing(_, claim) => {
                if claim.is_none() && files.iter().any(|file| file.writes) {
                    return Err(Unfit::ReadOnly(subject));
                }
                self.regions = fit_files(files, &self.facts)?;
            }
            DiskPlace::Directory(directory) => {
                self.files.clear();
                let is_new = |file: &&FileSpec| file.path.as_ref().is_none_or(|path| !directory.join(path).exists());
                let needed = Bytes::new(files.iter().filter(is_new).map(|file| file.size.get()).sum());
                if needed > self.facts.space {
                    return Err(Unfit::Space { subject, needed, space: self.facts.space });
                }
                let created = files.iter().map(|file| self.make(directory, file)).collect::<Result<_, _>>()?;
                self.files = created;
            }
        }
        Ok(())
    }

    fn io(&mut self, step: &IoStep, observe: Observe<'_>) -> Partial<IoResult> {
        on_storage(self, self.prepare(step), step, observe)
    }

    fn files(&mut self, step: &FilesStep, observe: Observe<'_>) -> Result<StepResult, Fault> {
        let DiskPlace::Directory(directory) = &self.place else {
            return Ok(StepResult::Skipped("not supported: blocks without files"));
        };
        let tree = match self.tree.take() {
            Some(tree) => tree,
            None => FileTree::new(directory)?,
        };
        let observed = tree.work(step, observe);
        self.tree = Some(tree);
        observed.map(StepResult::Files)
    }
}
