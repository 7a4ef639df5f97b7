//! The service as the control sees it: one method for each thing that can be asked.
//!
//! One lock holds all names. It is held while a change becomes durable, so changes come one after the other; clients and
//! their requests are waited for without it, and the ring loop never takes it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plimsoll_catalogue::Catalogue;
use plimsoll_device::Clock;
use plimsoll_front::fuse::Mountpoint;
use plimsoll_front::{Checksums, Handle, Server};
use plimsoll_volume::Slow;

use crate::api;
use crate::group::Group;
use crate::life::Pulse;
use crate::names;
use crate::refusal::{OpenError, Refusal};
use crate::scrub::Damages;
use crate::volume::Volume;

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
    /// Whether data have to have checksums.
    pub checksums: Checksums,
    /// Takes lines for the user that answer no request.
    pub log: fn(&str),
    /// Program and version.
    pub made_by: String,
}

/// Volumes by name. Cheap to clone; its methods may be called from any thread, and take milliseconds, but for a fork or a
/// restore of a volume that is busy.
#[derive(Clone, Debug)]
pub struct Service {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub options: Options,
    pub handle: Handle,
    pub clock: Clock,
    /// RFC 3339.
    pub started: String,
    pub state: Mutex<State>,
    pub pulse: Pulse,
    pub scrub: Mutex<api::ScrubState>,
    pub notices: Vec<String>,
}

/// Everything that has a name.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub volumes: BTreeMap<String, Volume>,
    pub groups: BTreeMap<String, Group>,
    /// Volumes that are files of this host.
    pub mounted: BTreeMap<String, Mountpoint>,
    pub damages: Damages,
}

impl State {
    pub fn volume(&self, name: &str) -> Result<&Volume, Refusal> {
        self.volumes.get(name).ok_or_else(|| self.unknown(name))
    }

    pub fn volume_mut(&mut self, name: &str) -> Result<&mut Volume, Refusal> {
        if self.volumes.contains_key(name) {
            return Ok(self.volumes.get_mut(name).expect("it is there"));
        }
        Err(self.unknown(name))
    }

    pub fn group(&self, name: &str) -> Result<&Group, Refusal> {
        let known = || self.groups.keys().map(String::as_str);
        self.groups.get(name).ok_or_else(|| names::unknown("group", name, known()))
    }

    /// A name that a new volume can have.
    pub fn free(&self, name: &str) -> Result<(), Refusal> {
        names::check(name)?;
        if self.volumes.contains_key(name) {
            return Err(Refusal::conflict(format!(
                "there is a volume {name} already: choose another name, or delete it"
            )));
        }
        Ok(())
    }

    fn unknown(&self, name: &str) -> Refusal {
        names::unknown("volume", name, self.volumes.keys().map(String::as_str))
    }
}

impl Service {
    /// Opens a data directory, makes it when it is not there, and serves all volumes in it.
    ///
    /// The caller gives the server its listeners, runs it on a thread of its own, and drops it when that ended. Until it
    /// runs every method waits.
    pub fn open(options: Options) -> Result<(Self, Server), OpenError> {
        crate::open::open(options)
    }

    /// Ends what volumes do by themselves, and has the server answer what is in flight and stop. Methods that are called
    /// afterwards fail.
    pub fn close(&self) {
        self.inner.pulse.end();
        // While it is served. What is in use stays mounted, and is stale from then on.
        self.state().mounted.clear();
        // A server that is gone has stopped.
        let _ = self.inner.handle.send(Server::stop);
    }

    /// What was dropped or kept when the directory was opened: one line each.
    pub fn notices(&self) -> &[String] {
        &self.inner.notices
    }

    /// How the server is reached.
    pub fn handle(&self) -> &Handle {
        &self.inner.handle
    }

    /// What serves.
    pub fn about(&self) -> Result<api::About, Refusal> {
        let (usage, checksums) = self.inner.handle.call(|server| {
            let usage = server.volumes().0.store().usage();
            (usage, server.has_checksums())
        })?;
        let Options { directory, slow, listens, realtime, floor, made_by, .. } = &self.inner.options;
        Ok(api::About {
            made_by: made_by.clone(),
            directory: directory.display().to_string(),
            started: self.inner.started.clone(),
            slow: slow.times(),
            realtime: *realtime,
            floor: *floor,
            capacity_bytes: usage.capacity,
            used_bytes: usage.taken,
            checksums,
            listens: listens.clone(),
        })
    }

    /// All volumes and snapshots, by name.
    pub fn list(&self) -> Result<Vec<api::Volume>, Refusal> {
        let state = self.state();
        let exports: Vec<_> = state.volumes.values().map(|volume| volume.export).collect();
        let clients = self.inner.handle.call(move |server| {
            let clients = exports.into_iter().map(|export| server.clients(export));
            clients.collect::<Vec<usize>>()
        })?;
        Ok(state.volumes.values().zip(clients).map(|(volume, clients)| self.shown(volume, clients)).collect())
    }

    /// One volume.
    pub fn volume(&self, name: &str) -> Result<api::Volume, Refusal> {
        self.show(self.state().volume(name)?)
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        // Nothing is left half done by a panic: names change after what they stand for.
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn products(&self) -> &Catalogue {
        &self.inner.options.products
    }

    pub(crate) fn show(&self, volume: &Volume) -> Result<api::Volume, Refusal> {
        Ok(self.shown(volume, self.clients(volume)?))
    }

    pub(crate) fn clients(&self, volume: &Volume) -> Result<usize, Refusal> {
        let export = volume.export;
        Ok(self.inner.handle.call(move |server| server.clients(export))?)
    }

    fn shown(&self, volume: &Volume, clients: usize) -> api::Volume {
        let slow = Some(self.inner.options.slow.times()).filter(|times| *times > 1);
        api::Volume { slow, ..volume.shown(&self.inner.options.listens, clients) }
    }
}
