//! Opening files and devices for workers, and running workers on them.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use plimsoll_device::{
    AccessMode as Opening, Caching, Claim, Flush, OpenHow, Opened, WriteRefusal, advise, claim_named, claim_ours,
    dirty_bytes, drop_cache, open, open_how, sync_data,
};
use plimsoll_drive::{Completion, Fault, Observe, Partial, PartialRun, Target};
use plimsoll_load::OpOutcome;
use plimsoll_units::{Instant, Kind, Op, Slot};

use super::side_by_side::{Targets, run};
use crate::result::IoResult;
use crate::step::{Descriptor, FileAccess, IoStep, Worker};

/// Claims an existing file or device for writing, if plimsoll created it or the user named it.
///
/// # Errors
/// [`WriteRefusal`], with the remedy.
pub(super) fn claim_existing(path: &Path, destroy: &[PathBuf]) -> Result<Claim, WriteRefusal> {
    claim_ours(path).or_else(|_| claim_named(path, destroy))
}

/// Opens a file with the access that a worker needs. A file that it writes to has to be the claimed file.
pub(super) fn for_worker(path: &Path, worker: &Worker, claim: Option<&Claim>) -> Result<Opened, Fault> {
    let how = OpenHow {
        access: if worker.job.writes() { Opening::Write } else { Opening::Read },
        caching: if worker.access.direct { Caching::Direct } else { Caching::Buffered },
        sync: worker.access.opened,
    };
    let failed = |source| Fault { attempt: format!("opening {}", path.display()), source };
    let opened = open_how(path, &how).map_err(failed)?;
    if let Some(advice) = worker.access.advice {
        advise(&opened.file, advice).map_err(failed)?;
    }
    if let Some(claim) = claim.filter(|_| how.access == Opening::Write) {
        covered(claim, &opened.file).map_err(failed)?;
    }
    Ok(opened)
}

/// Fails if a file is not the claimed file.
pub(super) fn covered(claim: &Claim, file: &OwnedFd) -> io::Result<()> {
    if claim.covers(&File::from(file.try_clone()?))? {
        return Ok(());
    }
    Err(io::Error::other("it was replaced while it was examined: try again"))
}

/// Drops the page cache of the file at a path.
pub(super) fn uncache(path: &Path) -> io::Result<()> {
    let file = open(path, Opening::Read, Caching::Buffered)?.file;
    sync_data(&file)?;
    drop_cache(&file)
}

/// Runs the workers of a step on prepared files, and records the dirty pages afterwards.
pub(super) fn on_storage(
    targets: &dyn Targets,
    prepared: io::Result<()>,
    step: &IoStep,
    observe: Observe<'_>,
) -> Partial<IoResult> {
    let failed = |source| PartialRun::at_once(Fault { attempt: "preparing files for a step".into(), source });
    prepared.map_err(failed)?;
    let mut observed = run(targets, step, observe)?;
    observed.dirty = dirty_bytes();
    Ok(observed)
}

/// The target, with flushes through the descriptor that `access` requires. Writes go through the descriptor of the
/// target.
pub(super) fn reopening(target: Box<dyn Target>, path: &Path, access: &FileAccess) -> Box<dyn Target> {
    let flush = match (access.descriptor, access.flush) {
        (Descriptor::Retained, _) => return target,
        (Descriptor::Reopened, _) => None,
        (Descriptor::Another, flush) => Some(flush),
    };
    Box::new(Reopening { target, path: path.into(), flush, done: Vec::new() })
}

/// A target whose flushes open the file again.
struct Reopening {
    target: Box<dyn Target>,
    path: PathBuf,
    /// Flush call on the other descriptor; `None` if the file is only opened and closed after a flush of the target.
    flush: Option<Flush>,
    done: Vec<Completion>,
}

impl Reopening {
    /// Opens the file, flushes it if required, and closes it.
    fn again(&self) -> io::Result<()> {
        let opened = open(&self.path, Opening::Write, Caching::Buffered)?;
        match self.flush {
            None => {}
            Some(Flush::Fsync) => rustix::fs::fsync(&opened.file)?,
            Some(Flush::Fdatasync | Flush::SyncFileRange(_)) => rustix::fs::fdatasync(&opened.file)?,
        }
        Ok(())
    }
}

impl Target for Reopening {
    fn now(&mut self) -> Instant {
        self.target.now()
    }

    fn submit(&mut self, batch: &[(Slot, Op)]) -> Result<(), Fault> {
        for one in batch {
            let (slot, op) = *one;
            let is_flush = op.kind == Kind::Flush;
            if !is_flush || self.flush.is_none() {
                self.target.submit(&[*one])?;
            }
            if !is_flush {
                continue;
            }
            let ended = self.again();
            if self.flush.is_some() {
                let outcome = ended.map_or_else(|error| OpOutcome::Failed(errno(&error)), |()| OpOutcome::Done);
                let at = self.target.now();
                self.done.push(Completion { slot, at, outcome, bound_by: None });
            } else {
                ended.map_err(|source| Fault { attempt: format!("opening {} again", self.path.display()), source })?;
            }
        }
        Ok(())
    }

    fn wait(&mut self, until: Instant, completions: &mut Vec<Completion>) -> Result<Instant, Fault> {
        if !self.done.is_empty() {
            completions.append(&mut self.done);
            return Ok(self.target.now());
        }
        self.target.wait(until, completions)
    }
}

fn errno(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or_default()
}
