//! Files and block devices by their paths, wherever they are, and files of nothing for an engine that looks at none.
//!
//! What is not there is made, empty; what is there is written to only when plimsoll made it or it was named.

use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;

use plimsoll_device::{
    Access, Caching, Claim, Clock, Engine, OpenHow, Opened, Shape, Space, claim, claim_ours, create, dirty_bytes,
    drop_cache, open, open_how, sync,
};
use plimsoll_drive::{Fault, Observe, Target, Torn};
use plimsoll_load::JobSpec;
use plimsoll_units::{Bytes, Span};

use super::reopening::reopening;
use super::side_by_side::{Targets, run};
use super::{Facts, Ground, Unfit, joined, placed};
use crate::seen::IoSeen;
use crate::step::{Before, FileSpec, IoStep, Worker};

/// Files and devices by their paths.
pub struct Paths {
    facts: Facts,
    /// Existing files and devices that may be written to.
    destroy: Vec<PathBuf>,
    files: Vec<Found>,
}

/// What is at a path.
struct Found {
    /// None for a file of nothing.
    path: Option<PathBuf>,
    size: Bytes,
    /// Keeps others from what is written to.
    _claim: Option<Claim>,
}

impl Paths {
    /// Nothing is looked at yet. `destroy` names what exists and may be overwritten.
    pub const fn new(facts: Facts, destroy: Vec<PathBuf>) -> Self {
        Self { facts, destroy, files: Vec::new() }
    }

    fn find(&self, spec: &FileSpec) -> Result<Found, Unfit> {
        let found = |claim| Found { path: spec.path.clone(), size: spec.size, _claim: claim };
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
        let claim = claim_ours(path).or_else(|_| claim(path, &self.destroy))?;
        Ok(found(Some(claim)))
    }

    fn open(&self, file: usize, worker: &Worker) -> Result<Option<OwnedFd>, Fault> {
        let Some(path) = &self.files[file].path else { return Ok(None) };
        let how = OpenHow {
            access: if worker.job.writes() { Access::Write } else { Access::Read },
            caching: if worker.access.direct { Caching::Direct } else { Caching::Buffered },
            sync: worker.access.opened,
        };
        let failed = |source| Fault { attempt: format!("opening {}", path.display()), source };
        let Opened { file, caching } = open_how(path, &how).map_err(failed)?;
        if caching != how.caching {
            let why = "its filesystem has no direct I/O: remove direct=1, or use another place";
            return Err(failed(std::io::Error::new(std::io::ErrorKind::InvalidInput, why)));
        }
        Ok(Some(file))
    }

    /// Empties the page cache of files before a step.
    fn prepare(&self, step: &IoStep) -> std::io::Result<()> {
        if step.before != Before::Uncached {
            return Ok(());
        }
        let used = |index: usize| step.workers.iter().any(|w| w.parts.iter().any(|part| part.file == index));
        for path in self.files.iter().enumerate().filter(|(index, _)| used(*index)).filter_map(|(_, f)| f.path.as_ref())
        {
            let file = open(path, Access::Read, Caching::Buffered)?.file;
            sync(&file)?;
            drop_cache(&file)?;
        }
        Ok(())
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

    fn lay(&mut self, files: &[FileSpec]) -> Result<(), Unfit> {
        self.files.clear();
        self.files = files.iter().map(|file| self.find(file)).collect::<Result<_, _>>()?;
        Ok(())
    }

    fn io(&mut self, step: &IoStep, observe: Observe<'_>) -> Result<IoSeen, Box<Torn<IoSeen>>> {
        self.prepare(step).map_err(|source| {
            let fault = Fault { attempt: "preparing files for a step".into(), source };
            Box::new(Torn { fault, until: IoSeen::default() })
        })?;
        let mut seen = run(self, step, observe)?;
        seen.dirty = dirty_bytes();
        Ok(seen)
    }

    fn idle(&mut self, span: Span, observe: Observe<'_>) {
        super::disk::sleep(span, observe);
    }
}
