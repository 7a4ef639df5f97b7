//! Edits of a store while it serves, and commits of its map to the log.

use std::io;
use std::sync::mpsc::channel;

use plimsoll_volume::{Commit, Edit, EditError, Edited, Errno, JobId, Ticket, VolumeId};

use super::{Handle, Server, ServerEnded};
use crate::files::Replaced;

#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub enum EditFailed {
    #[error(transparent)]
    Refused(#[from] EditError),
    /// It did not become durable.
    #[error("making the change durable: {0}")]
    NotDurable(Errno),
    /// The server has ended.
    #[error(transparent)]
    Ended(#[from] ServerEnded),
}

/// Called when an edit has ended.
pub(super) type EditCallback = Box<dyn FnOnce(&mut Server, Result<(), Errno>) + Send>;

impl Server {
    /// Begins an edit of the store, and calls `then` when it is durable or has failed. Returns the new or changed
    /// volume.
    pub fn edit(
        &mut self,
        edit: &Edit,
        then: impl FnOnce(&mut Self, Result<(), Errno>) + Send + 'static,
    ) -> Result<VolumeId, EditError> {
        self.edits += 1;
        let ticket = Ticket(self.edits);
        let volume = self.volumes.edit(ticket, edit, &mut self.jobs)?;
        self.editing.insert(ticket, Box::new(then));
        Ok(volume)
    }
}

impl Handle {
    /// Edits the store, and waits until the edit is durable. Returns the new or changed volume.
    pub fn edit(&self, edit: Edit) -> Result<VolumeId, EditFailed> {
        let (done, ended) = channel();
        let volume = self.call(move |server| {
            server.edit(&edit, move |_, outcome| {
                // The waiting thread may be gone.
                let _ = done.send(outcome);
            })
        })??;
        let outcome = ended.recv().map_err(|_| ServerEnded)?;
        outcome.map(|()| volume).map_err(EditFailed::NotDurable)
    }
}

impl Server {
    /// Calls back for edits that have ended.
    pub(super) fn end_edits(&mut self) {
        for Edited { ticket, outcome } in self.volumes.edited() {
            if let Some(then) = self.editing.remove(&ticket) {
                then(self, outcome);
            }
        }
    }

    /// Replaces the log by a whole commit, on a thread of its own: this takes too long for the loop.
    pub(super) fn replace_log(&mut self, job: JobId, commit: &Commit) {
        let handle = self.handle();
        let id = self.files.id().unwrap_or_default();
        let bytes = commit.encode(id);
        let begun = self.files.log_replacement(commit.sequence).and_then(|replace| {
            let work = move || {
                let replaced = replace(bytes);
                // If the server has ended, the log is complete all the same.
                let _ = handle.send(move |server| server.log_replaced(job, replaced));
            };
            std::thread::Builder::new().name("log".into()).spawn(work)
        });
        match begun {
            Ok(_) => self.replacing += 1,
            Err(_) => self.worked(job, Err(Errno::Io)),
        }
    }

    fn log_replaced(&mut self, job: JobId, replaced: io::Result<Replaced>) {
        self.replacing -= 1;
        let outcome = replaced.map(|log| self.files.log_replaced(log)).map_err(|error| super::work::errno(&error));
        self.volumes.worked(self.now, job, outcome, &mut self.jobs);
    }
}
