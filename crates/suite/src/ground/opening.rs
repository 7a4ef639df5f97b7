//! Opening what workers use on real storage, and running them there: one way for directories, devices and paths.
//!
//! Knows nothing about which files there are.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use plimsoll_device::{
    Access, Caching, Claim, OpenHow, Opened, Refusal, claim, claim_ours, dirty_bytes, drop_cache, open, open_how, sync,
};
use plimsoll_drive::{Fault, Observe, Torn};

use super::side_by_side::{Targets, run};
use crate::seen::IoSeen;
use crate::step::{IoStep, Worker};

/// Takes leave to write to something that exists: because plimsoll made it, or because it was named.
///
/// # Errors
/// [`Refusal`], in one line that says what to do.
pub(super) fn leave(path: &Path, destroy: &[PathBuf]) -> Result<Claim, Refusal> {
    claim_ours(path).or_else(|_| claim(path, destroy))
}

/// Opens a file as a worker asks for it. What is written to has to be what leave was taken for, where it was.
pub(super) fn for_worker(path: &Path, worker: &Worker, claim: Option<&Claim>) -> Result<Opened, Fault> {
    let how = OpenHow {
        access: if worker.job.writes() { Access::Write } else { Access::Read },
        caching: if worker.access.direct { Caching::Direct } else { Caching::Buffered },
        sync: worker.access.opened,
    };
    let failed = |source| Fault { attempt: format!("opening {}", path.display()), source };
    let opened = open_how(path, &how).map_err(failed)?;
    if let Some(claim) = claim.filter(|_| how.access == Access::Write) {
        covered(claim, &opened.file).map_err(failed)?;
    }
    Ok(opened)
}

/// An error where a file is not what leave was taken for.
pub(super) fn covered(claim: &Claim, file: &OwnedFd) -> io::Result<()> {
    if claim.covers(&File::from(file.try_clone()?))? {
        return Ok(());
    }
    Err(io::Error::other("it was replaced while it was examined: try again"))
}

/// Empties the page cache of what is at a path.
pub(super) fn uncache(path: &Path) -> io::Result<()> {
    let file = open(path, Access::Read, Caching::Buffered)?.file;
    sync(&file)?;
    drop_cache(&file)
}

/// Runs the workers of a step whose files were prepared, and looks how much waits to be written then.
pub(super) fn on_storage(
    targets: &dyn Targets,
    prepared: io::Result<()>,
    step: &IoStep,
    observe: Observe<'_>,
) -> Result<IoSeen, Box<Torn<IoSeen>>> {
    prepared.map_err(|source| {
        let fault = Fault { attempt: "preparing files for a step".into(), source };
        Box::new(Torn { fault, until: IoSeen::default() })
    })?;
    let mut seen = run(targets, step, observe)?;
    seen.dirty = dirty_bytes();
    Ok(seen)
}
