//! The service: one method per operation of the control API.
//!
//! A lock protects all names. It is held while a change becomes durable, so changes are serialised. Waits for clients
//! and their requests happen without it, and the ring loop never takes it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plimsoll_catalogue::Catalogue;
use plimsoll_device::Clock;
use plimsoll_front::fuse::Mountpoint;
use plimsoll_front::{Handle, Server};
use plimsoll_language::say;
use plimsoll_volume::StoreId;

use crate::api;
use crate::damages::Damages;
use crate::group::ServedGroup;
use crate::names;
use crate::options::ServiceOptions;
use crate::refusal::Refusal;
use crate::ticker::Ticker;
use crate::volume::Volume;

/// Named volumes. Cheap to clone. Methods can be called from any thread and take milliseconds, except a fork or restore
/// of a busy volume.
#[derive(Clone, Debug)]
pub struct Service {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub options: ServiceOptions,
    pub handle: Handle,
    pub clock: Clock,
    pub store: StoreId,
    /// Time of start, RFC 3339.
    pub started: String,
    pub state: Mutex<ServiceState>,
    pub ticker: Ticker,
    pub scrub: Mutex<api::ScrubState>,
    pub notices: Vec<String>,
    pub floor: Mutex<MeasuredFloor>,
}

/// The best measurement of the host's speed.
#[derive(Debug)]
pub(crate) struct MeasuredFloor {
    pub best: api::Floor,
    /// Time of the last measurement after the start.
    pub again: Option<std::time::Instant>,
}

/// All named objects.
#[derive(Debug, Default)]
pub(crate) struct ServiceState {
    pub volumes: BTreeMap<String, Volume>,
    pub groups: BTreeMap<String, ServedGroup>,
    /// FUSE mounts of volumes.
    pub mounted: BTreeMap<String, Mountpoint>,
    pub damages: Damages,
    /// The failure of the store that was logged last; `None` if it accepts changes.
    pub trouble: Option<String>,
    /// Connections refused for want of descriptors that were logged.
    pub refused_connections: u64,
}

impl ServiceState {
    pub fn volume(&self, name: &str) -> Result<&Volume, Refusal> {
        self.volumes.get(name).ok_or_else(|| self.unknown(name))
    }

    pub fn volume_mut(&mut self, name: &str) -> Result<&mut Volume, Refusal> {
        if self.volumes.contains_key(name) {
            return Ok(self.volumes.get_mut(name).expect("it is there"));
        }
        Err(self.unknown(name))
    }

    pub fn group(&self, name: &str) -> Result<&ServedGroup, Refusal> {
        let group_names = || self.groups.keys().map(String::as_str);
        self.groups.get(name).ok_or_else(|| names::unknown("group", name, group_names()))
    }

    /// Checks that a name is valid and unused.
    pub fn free(&self, name: &str) -> Result<(), Refusal> {
        names::check(name)?;
        if self.volumes.contains_key(name) {
            return Err(Refusal::conflict(say!("there is a volume {name} already: choose another name, or delete it")));
        }
        Ok(())
    }

    fn unknown(&self, name: &str) -> Refusal {
        names::unknown("volume", name, self.volumes.keys().map(String::as_str))
    }
}

impl Service {
    /// Stops the automation, and makes the server answer requests in flight and stop. Later calls of methods fail.
    pub fn close(&self) {
        self.inner.ticker.stop();
        // Unmounts before the server stops. Busy mounts stay, and become stale.
        self.state().mounted.clear();
        // Fails only if the server has already stopped.
        let _ = self.inner.handle.send(Server::stop);
    }

    /// Losses and repairs found when the directory was opened, as lines.
    pub fn notices(&self) -> &[String] {
        &self.inner.notices
    }

    /// Handle for calls to the server.
    pub fn handle(&self) -> &Handle {
        &self.inner.handle
    }

    /// Version, options and usage of the service.
    pub fn about(&self) -> Result<api::About, Refusal> {
        let (usage, checksums) = self.inner.handle.call(|server| {
            let usage = server.volumes().0.store().usage();
            (usage, server.has_checksums())
        })?;
        let ServiceOptions { directory, slow, listens, iscsi, realtime, made_by, .. } = &self.inner.options;
        Ok(api::About {
            made_by: made_by.clone(),
            directory: directory.display().to_string(),
            started: self.inner.started.clone(),
            slow: slow.times(),
            realtime: *realtime,
            floor: self.floor(),
            capacity_bytes: usage.capacity,
            used_bytes: usage.taken,
            checksums,
            durability: self.inner.options.durability_terms(),
            trouble: self.trouble()?,
            listens: listens.clone(),
            iscsi: iscsi.as_ref().map(|iscsi| iscsi.portals.clone()).unwrap_or_default(),
        })
    }

    /// All volumes and snapshots, by name.
    pub fn list(&self) -> Result<Vec<api::Volume>, Refusal> {
        let state = self.state();
        let exports: Vec<_> = state.volumes.values().map(|volume| volume.export).collect();
        let clients = self.inner.handle.call(move |server| {
            let clients = exports.into_iter().map(|export| server.users(export));
            clients.collect::<Vec<usize>>()
        })?;
        let trouble = self.trouble()?;
        let api_volume = |(volume, clients)| self.display(volume, clients, trouble.clone());
        Ok(state.volumes.values().zip(clients).map(api_volume).collect())
    }

    pub fn volume(&self, name: &str) -> Result<api::Volume, Refusal> {
        self.show(self.state().volume(name)?)
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, ServiceState> {
        // Poisoning is harmless: the state changes only after the change that it describes.
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn products(&self) -> &Catalogue {
        &self.inner.options.products
    }

    pub(crate) fn show(&self, volume: &Volume) -> Result<api::Volume, Refusal> {
        Ok(self.display(volume, self.clients(volume)?, self.trouble()?))
    }

    pub(crate) fn clients(&self, volume: &Volume) -> Result<usize, Refusal> {
        let export = volume.export;
        Ok(self.inner.handle.call(move |server| server.users(export))?)
    }

    fn display(&self, volume: &Volume, clients: usize, trouble: Option<String>) -> api::Volume {
        let durability = self.inner.options.durability_terms();
        let slow = Some(self.inner.options.slow.times()).filter(|times| *times > 1);
        let iscsi = self.shown_target(volume);
        api::Volume {
            slow,
            iscsi,
            durability,
            trouble,
            host: self.ceiling(&volume.product, volume.size),
            ..volume.display(&self.inner.options.listens, clients, self.inner.options.slow)
        }
    }
}
