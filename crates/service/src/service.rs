//! The service as the control sees it: one method for each thing that can be asked.
#![allow(clippy::todo, clippy::needless_pass_by_value, clippy::missing_const_for_fn, unused_variables)]

use std::path::PathBuf;
use std::sync::Arc;

use plimsoll_catalogue::Catalogue;
use plimsoll_front::{Handle, Server};
use plimsoll_volume::{Slow, Volumes};

use crate::api;
use crate::refusal::{OpenError, Refusal};

/// How a service is run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where its data are; made with mode 0700 when it is not there.
    pub directory: PathBuf,
    /// Bytes that data may use; `None` for what the filesystem has.
    pub capacity: Option<u64>,
    /// Time dilation.
    pub slow: Slow,
    /// Where NBD clients come in, as URIs with an empty export: `nbd://127.0.0.1:10809`, `nbd+unix:///?socket=/run/nbd`,
    /// `nbds://host:10809`. The name of a volume is put into each.
    pub listens: Vec<String>,
    /// All products that are known; the user's own among them.
    pub products: Catalogue,
    /// Whether the ring runs with real-time priority.
    pub realtime: bool,
    /// What the host can do at best. A product that is beyond it is refused; nothing is when its `iops` are 0.
    pub floor: api::Floor,
    /// Program and version.
    pub made_by: String,
}

/// Volumes by name. Cheap to clone; its methods may be called from any thread, and take milliseconds at most, but for a
/// fork or a restore of a volume that is busy.
#[derive(Clone, Debug)]
pub struct Service {
    inner: Arc<()>,
}

impl Service {
    /// Opens a data directory, makes it when it is not there, and serves all volumes in it.
    ///
    /// The caller gives the server its listeners and runs it on a thread of its own: until then every method waits.
    pub fn open(options: Options) -> Result<(Self, Server<Volumes>), OpenError> {
        todo!()
    }

    /// Ends what volumes do by themselves, and has the server answer what is in flight and stop. Methods that are called
    /// afterwards fail.
    pub fn close(&self) {
        todo!()
    }

    /// How the server is reached.
    pub fn handle(&self) -> &Handle<Volumes> {
        todo!()
    }

    /// What serves.
    pub fn about(&self) -> Result<api::About, Refusal> {
        todo!()
    }

    /// All volumes and snapshots, by name.
    pub fn list(&self) -> Result<Vec<api::Volume>, Refusal> {
        todo!()
    }

    /// One volume.
    pub fn volume(&self, name: &str) -> Result<api::Volume, Refusal> {
        todo!()
    }

    /// Makes a volume.
    pub fn create(&self, create: &api::Create) -> Result<api::Volume, Refusal> {
        todo!()
    }

    /// Another level or product, online where the real product can do it so.
    pub fn level(&self, name: &str, level: &api::Level) -> Result<api::Volume, Refusal> {
        todo!()
    }

    /// A larger volume; clients that ask again see it at once.
    pub fn resize(&self, name: &str, resize: api::Resize) -> Result<api::Volume, Refusal> {
        todo!()
    }

    /// Makes a snapshot: a volume that cannot be written, with the present content of this one.
    pub fn snapshot(&self, name: &str, fork: &api::Fork) -> Result<api::Volume, Refusal> {
        todo!()
    }

    /// Makes a clone: a volume of its own, with the present content of this one.
    pub fn clone_volume(&self, name: &str, fork: &api::Fork) -> Result<api::Volume, Refusal> {
        todo!()
    }

    /// Gives a volume the content of another one.
    pub fn restore(&self, name: &str, restore: &api::Restore) -> Result<api::Volume, Refusal> {
        todo!()
    }

    /// Ends a volume that nobody uses.
    pub fn delete(&self, name: &str) -> Result<(), Refusal> {
        todo!()
    }

    /// Counts, and how faithful the last seconds were.
    pub fn stats(&self, name: &str) -> Result<api::Stats, Refusal> {
        todo!()
    }

    /// What its requests suffer from now on, in place of what they suffered before.
    pub fn set_faults(&self, name: &str, faults: &api::Faults) -> Result<api::Volume, Refusal> {
        todo!()
    }

    /// Its requests suffer nothing any more.
    pub fn clear_faults(&self, name: &str) -> Result<api::Volume, Refusal> {
        todo!()
    }

    /// Lets its level change by itself from now on.
    pub fn set_autotune(&self, name: &str, autotune: &api::Autotune) -> Result<api::Volume, Refusal> {
        todo!()
    }

    /// Its level stays as it is.
    pub fn clear_autotune(&self, name: &str) -> Result<api::Volume, Refusal> {
        todo!()
    }

    /// Remembers where a volume is a block device of this host. What an attachment does not have yet may be added to it;
    /// another one is refused.
    pub fn attach(&self, name: &str, attachment: &api::Attachment) -> Result<api::Volume, Refusal> {
        todo!()
    }

    /// It is no block device of this host any more.
    pub fn detach(&self, name: &str) -> Result<api::Volume, Refusal> {
        todo!()
    }

    /// All groups, by name.
    pub fn groups(&self) -> Result<Vec<api::Group>, Refusal> {
        todo!()
    }

    /// Makes a group: limits that its volumes share.
    pub fn create_group(&self, group: &api::Group) -> Result<api::Group, Refusal> {
        todo!()
    }

    /// Ends a group without volumes.
    pub fn delete_group(&self, name: &str) -> Result<(), Refusal> {
        todo!()
    }
}
