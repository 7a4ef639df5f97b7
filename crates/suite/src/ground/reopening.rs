//! A file that is opened again for each flush: whether one descriptor makes durable what another one wrote.
//!
//! Knows nothing about writes: these go through the descriptor of the target underneath.

use std::io;
use std::path::{Path, PathBuf};

use plimsoll_device::{Access as Opening, Caching, Flush, open};
use plimsoll_drive::{Completion, Fault, Target};
use plimsoll_load::Outcome;
use plimsoll_units::{Instant, Kind, Op, Slot};

use crate::step::{Access, Descriptor};

/// The target, with its flushes as `access` wants them.
pub(super) fn reopening(target: Box<dyn Target>, path: &Path, access: &Access) -> Box<dyn Target> {
    let flush = match (access.descriptor, access.flush) {
        (Descriptor::Kept, _) => return target,
        (Descriptor::Reopened, _) => None,
        (Descriptor::Another, flush) => Some(flush),
    };
    Box::new(Reopening { target, path: path.into(), flush, done: Vec::new() })
}

/// Flushes that open the file.
struct Reopening {
    target: Box<dyn Target>,
    path: PathBuf,
    /// How the other descriptor is flushed; none where it is only opened and closed after a flush of the target's own.
    flush: Option<Flush>,
    done: Vec<Completion>,
}

impl Reopening {
    /// Opens the file, flushes it where that is asked for, and closes it.
    fn again(&self) -> io::Result<()> {
        let opened = open(&self.path, Opening::Write, Caching::Buffered)?;
        match self.flush {
            None => {}
            Some(Flush::Fsync) => rustix::fs::fsync(&opened.file)?,
            Some(Flush::Fdatasync | Flush::SyncFileRange) => rustix::fs::fdatasync(&opened.file)?,
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
                let outcome = ended.map_or_else(|error| Outcome::Failed(errno(&error)), |()| Outcome::Done);
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
