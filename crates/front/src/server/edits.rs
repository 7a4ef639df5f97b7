//! Edits of a store while it serves, and commits of its map to the log.

use std::io;
use std::sync::mpsc::channel;

use plimsoll_volume::{Commit, Edit, EditError, Edited, Errno, JobId, Ticket, VolumeId, Volumes};

use super::{Ended, Handle, Server};
use crate::files::Replaced;
use crate::service::Service;

/// An edit was not done.
#[derive(Debug, thiserror::Error)]
pub enum EditFailed {
    /// The store refused it.
    #[error(transparent)]
    Refused(#[from] EditError),
    /// It did not become durable.
    #[error("making the change durable: {0}")]
    NotDurable(Errno),
    /// There is no server any more.
    #[error(transparent)]
    Ended(#[from] Ended),
}

/// What is to be done when an edit has ended.
pub(super) type Afterwards<S> = Box<dyn FnOnce(&mut Server<S>, Result<(), Errno>) + Send>;

impl Server<Volumes> {
    /// Begins an edit of the store, and calls `then` when it is durable or has failed. Returns the volume that it makes
    /// or changes.
    pub fn edit(
        &mut self,
        edit: &Edit,
        then: impl FnOnce(&mut Self, Result<(), Errno>) + Send + 'static,
    ) -> Result<VolumeId, EditError> {
        self.edits += 1;
        let ticket = Ticket(self.edits);
        let volume = self.service.edit(ticket, edit, &mut self.jobs)?;
        self.editing.insert(ticket, Box::new(then));
        Ok(volume)
    }
}

impl Handle<Volumes> {
    /// Has the store edited, and waits until that is durable. Returns the volume that was made or changed.
    pub fn edit(&self, edit: Edit) -> Result<VolumeId, EditFailed> {
        let (done, ended) = channel();
        let volume = self.call(move |server| {
            server.edit(&edit, move |_, outcome| {
                // Nobody has to wait for it.
                let _ = done.send(outcome);
            })
        })??;
        let outcome = ended.recv().map_err(|_| Ended)?;
        outcome.map(|()| volume).map_err(EditFailed::NotDurable)
    }
}

impl<S: Service + 'static> Server<S> {
    /// Tells of edits that have ended.
    pub(super) fn end_edits(&mut self) {
        for Edited { ticket, outcome } in self.service.edited() {
            if let Some(then) = self.editing.remove(&ticket) {
                then(self, outcome);
            }
        }
    }

    /// Replaces the log by a whole commit, on a thread of its own: that takes longer than clients can be kept waiting.
    pub(super) fn replace_log(&mut self, job: JobId, commit: &Commit) {
        let handle = self.handle();
        let id = self.files.id().unwrap_or_default();
        let bytes = commit.encode(id);
        let begun = self.files.log_replacement(commit.sequence).and_then(|replace| {
            let work = move || {
                let replaced = replace(bytes);
                // A server that is gone has no use for it; the log is whole all the same.
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
        self.service.worked(self.now, job, outcome, &mut self.jobs);
    }
}
