//! Files and block devices by path, and placeholders for engines that use no files.
//!
//! Missing files are created empty. Existing files are written only if plimsoll created them or the user named them.

use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;

use plimsoll_device::{Caching, Claim, Clock, Engine, Opened, Shape, Space, create};
use plimsoll_drive::{Fault, Observe, Partial, Target};
use plimsoll_load::JobSpec;
use plimsoll_units::Bytes;

use super::opening::{claim_existing, for_worker, on_storage, reopening, uncache};
use super::side_by_side::Targets;
use super::{Facts, Ground, Unfit, joined, placed};
use crate::result::IoResult;
use crate::step::{Before, FileSpec, IoStep, Worker};

/// Files and devices by their paths.
pub struct Paths {
    facts: Facts,
    /// Existing files and devices that may be overwritten.
    destroy: Vec<PathBuf>,
    files: Vec<PathTarget>,
}

/// A file or device at a path.
struct PathTarget {
    /// `None` for a placeholder.
    path: Option<PathBuf>,
    size: Bytes,
    /// Claim on a file to be written.
    claim: Option<Claim>,
}

impl Paths {
    /// Opens no file yet. `destroy` lists existing files that may be overwritten.
    pub const fn new(facts: Facts, destroy: Vec<PathBuf>) -> Self {
        Self { facts, destroy, files: Vec::new() }
    }

    fn find(&self, spec: &FileSpec) -> Result<PathTarget, Unfit> {
        let found = |claim| PathTarget { path: spec.path.clone(), size: spec.size, claim };
        let Some(path) = &spec.path else { return Ok(found(None)) };
        let failed = |source| Fault { attempt: format!("making {}", path.display()), source };
        if !path.exists() {
            let (size, space) = if spec.reserved { (spec.size, Space::Reserve) } else { (Bytes::ZERO, Space::Sparse) };
            create(path, size, space).map_err(failed)?;
            return Ok(found(None));
        }
        if !spec.writes {
            return Ok(found(None));
        }
        Ok(found(Some(claim_existing(path, &self.destroy)?)))
    }

    fn open(&self, file: usize, worker: &Worker) -> Result<Option<OwnedFd>, Fault> {
        let PathTarget { path: Some(path), claim, .. } = &self.files[file] else { return Ok(None) };
        let Opened { file, caching } = for_worker(path, worker, claim.as_ref())?;
        if worker.access.direct && caching == Caching::Buffered {
            let why = "its filesystem has no direct I/O: remove direct=1, or use another place";
            let source = std::io::Error::new(std::io::ErrorKind::InvalidInput, why);
            return Err(Fault { attempt: format!("opening {}", path.display()), source });
        }
        Ok(Some(file))
    }

    /// Drops files from the page cache before a step.
    fn prepare(&self, step: &IoStep) -> std::io::Result<()> {
        if step.before != Before::Uncached {
            return Ok(());
        }
        let used = |index: usize| step.workers.iter().any(|w| w.parts.iter().any(|part| part.file == index));
        let files = self.files.iter().enumerate().filter(|(index, _)| used(*index));
        files.filter_map(|(_, file)| file.path.as_ref()).try_for_each(|path| uncache(path))
    }
}

impl Targets for Paths {
    fn target(&self, worker: &Worker, shape: &Shape, clock: Clock) -> Result<(Box<dyn Target>, JobSpec), Fault> {
        if worker.access.engine == Engine::Null {
            let (_, bases, parts) = joined(worker, |file| self.files[file].size, |_| Ok(()))?;
            let local = Worker { parts, ..worker.clone() };
            return Ok((Engine::Null.start(&[], shape, clock)?, placed(&local, &bases)));
        }
        let (opened, bases, parts) = joined(worker, |file| self.files[file].size, |file| self.open(file, worker))?;
        let open = opened.iter().flatten().zip(&bases);
        let files: Vec<_> = open.map(|(file, base)| (file.as_fd(), base.length)).collect();
        let target = worker.access.engine.start(&files, shape, clock)?;
        let first = worker.parts.first().and_then(|part| self.files[part.file].path.as_ref());
        let target = match first {
            Some(path) => reopening(target, path, &worker.access),
            None => target,
        };
        let local = Worker { parts, ..worker.clone() };
        Ok((target, placed(&local, &bases)))
    }
}

impl Ground for Paths {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn prepare_files(&mut self, files: &[FileSpec]) -> Result<(), Unfit> {
        self.files.clear();
        self.files = files.iter().map(|file| self.find(file)).collect::<Result<_, _>>()?;
        Ok(())
    }

    fn io(&mut self, step: &IoStep, observe: Observe<'_>) -> Partial<IoResult> {
        on_storage(self, self.prepare(step), step, observe)
    }
}
