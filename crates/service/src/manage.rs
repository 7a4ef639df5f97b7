//! Creation, growth, copies and deletion of volumes.

use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use plimsoll_catalogue::Like;
use plimsoll_front::Server;
use plimsoll_front::iscsi::Controller;
use plimsoll_language::{label, say};
use plimsoll_units::Bytes;
use plimsoll_volume::{Edit, Export, VolumeAccess, VolumeId};

use crate::api;
use crate::automation::Automation;
use crate::bill::Bill;
use crate::floor;
use crate::metadata::VolumeMetadata;
use crate::moment;
use crate::product::Product;
use crate::recent::RecentSeconds;
use crate::refusal::{Refusal, display, exact};
use crate::service::{Service, ServiceState};
use crate::tags::{Initial, check_tags};
use crate::volume::{RingVolume, Volume};

/// Grace period for the disconnection of the last client.
const DISCONNECT_GRACE: Duration = Duration::from_secs(1);
/// Pause between measurements of the host's speed, which disturb volumes.
const REMEASURE_PAUSE: Duration = Duration::from_secs(60);
pub(crate) const IN_FLIGHT_TIMEOUT: Duration = Duration::from_secs(10);
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// Bytes of a requested size, of which text is in units of the vendor.
fn read_size(
    bytes: Option<u64>,
    text: Option<&str>,
    vendor: Option<&plimsoll_catalogue::Product>,
) -> Result<Option<u64>, Refusal> {
    let Some(text) = text else { return Ok(bytes) };
    if bytes.is_some() {
        return Err(Refusal::bad("size and size_bytes exclude each other: give one"));
    }
    let size = vendor.map_or_else(|| text.parse().ok(), |product| product.read_size(text));
    let refused = || Refusal::bad(format!("{text:?} is not a size: write a number with a unit, such as 70GB or 70GiB"));
    size.map(|size: Bytes| Some(size.get())).ok_or_else(refused)
}

impl Service {
    pub fn create(&self, create: &api::Create) -> Result<api::Volume, Refusal> {
        self.create_with(create, Initial::default())
    }

    /// Creates a volume with the properties of a control plane, in a single commit.
    pub fn create_with(&self, create: &api::Create, initial: Initial) -> Result<api::Volume, Refusal> {
        check_tags(&initial.tags)?;
        let mut state = self.state();
        state.free(&create.name)?;
        let vendor = match create.like.parse() {
            Ok(Like::Config(config)) => self.products().find(&config.volume.product).ok(),
            _ => None,
        };
        let size = read_size(create.size_bytes, create.size.as_deref(), vendor)?;
        let product = Product::read(&create.like, self.products(), size)?;
        let size = product.size(size)?;
        let too_fast = self.can_emulate(&product, size);
        let forced = create.force && too_fast.is_err();
        if !forced {
            too_fast?;
        }
        state.fits(&product, create.group.as_deref(), self.products())?;
        let mut metadata = VolumeMetadata::new(&create.name, &product.like, &product.model.to_string(), moment::now());
        metadata.seed = create.seed.unwrap_or(metadata.seed);
        metadata.group.clone_from(&create.group);
        metadata.forced = forced;
        metadata.tags = initial.tags;
        metadata.autotune = self.checked(&state, initial.autotune, &product, create.group.as_deref())?;
        metadata.bill = Some(Bill::new(moment::now_ns(), &product.like, product.offer.as_deref()));
        let edit = Edit::Create { size, text: metadata.text() };
        self.make(&mut state, edit, metadata, product, (size, VolumeAccess::ReadWrite))
    }

    /// Refuses a configuration that the product does not have, or that is too fast for this host.
    pub fn check_configuration(&self, like: &str) -> Result<(), Refusal> {
        let product = Product::read(like, self.products(), None)?;
        self.can_emulate(&product, product.size(None)?)
    }

    /// Creates a snapshot: a read-only volume with the present content of this volume.
    pub fn snapshot(&self, name: &str, fork: &api::Fork) -> Result<api::Volume, Refusal> {
        if fork.like.is_some() {
            return Err(Refusal::bad(label!(
                "a snapshot is like its volume: make a clone of it that is like something else"
            )));
        }
        self.fork(name, fork, VolumeAccess::ReadOnly, None)
    }

    /// Creates a clone: a writable volume with the present content of this volume.
    pub fn clone_volume(&self, name: &str, fork: &api::Fork) -> Result<api::Volume, Refusal> {
        self.fork(name, fork, VolumeAccess::ReadWrite, None)
    }

    /// Creates a clone with the properties of a control plane, in a single commit. It is in no group.
    pub fn clone_with(&self, name: &str, fork: &api::Fork, initial: Initial) -> Result<api::Volume, Refusal> {
        self.fork(name, fork, VolumeAccess::ReadWrite, Some(initial))
    }

    fn fork(
        &self,
        name: &str,
        fork: &api::Fork,
        access: VolumeAccess,
        initial: Option<Initial>,
    ) -> Result<api::Volume, Refusal> {
        let has_group = initial.is_none();
        let Initial { tags, autotune } = initial.unwrap_or_default();
        check_tags(&tags)?;
        let mut state = self.state();
        let (of, size, group, mut product) = {
            let of = state.volume(name)?;
            (of.id, of.size, of.metadata.group.clone().filter(|_| has_group), of.product.clone())
        };
        state.free(&fork.name)?;
        if let Some(like) = &fork.like {
            product = Product::read(like, self.products(), Some(size))?;
            product.size(Some(size))?;
            self.can_emulate(&product, size)?;
            state.fits(&product, group.as_deref(), self.products())?;
        }
        // A clone may be larger if a configuration is given.
        let larger = fork.like.as_ref().and(product.offer.as_ref()).map(|offer| offer.capacity.get());
        // No check of the floor: a product too fast for this host must not prevent a copy of the data.
        let mut metadata = VolumeMetadata::new(&fork.name, &product.like, &product.model.to_string(), moment::now());
        metadata.of = Some(name.to_owned());
        metadata.tags = tags;
        metadata.autotune = self.checked(&state, autotune, &product, group.as_deref())?;
        if access == VolumeAccess::ReadWrite {
            metadata.group = group;
            metadata.bill = Some(Bill::new(moment::now_ns(), &product.like, product.offer.as_deref()));
        }
        let edit = Edit::Fork { of, access, text: metadata.text() };
        let created = self.make(&mut state, edit, metadata, product, (size, access))?;
        match larger.filter(|larger| *larger > size) {
            Some(larger) => {
                let volume = state.volume_mut(&fork.name)?;
                self.grow(volume, larger, None)?;
                self.show(volume)
            }
            None => Ok(created),
        }
    }

    /// Automatic level changes that a product in a group can make.
    fn checked(
        &self,
        state: &ServiceState,
        autotune: Option<api::Autotune>,
        product: &Product,
        group: Option<&str>,
    ) -> Result<Option<api::Autotune>, Refusal> {
        if let Some(autotune) = &autotune {
            self.automation(state, autotune, product, group)?;
        }
        Ok(autotune)
    }

    /// Makes a volume durable, serves it, and registers its name.
    fn make(
        &self,
        state: &mut ServiceState,
        edit: Edit,
        metadata: VolumeMetadata,
        product: Product,
        (size, access): (u64, VolumeAccess),
    ) -> Result<api::Volume, Refusal> {
        let name = metadata.name.clone();
        let group = metadata.group.as_deref().map(|group| state.group(group).map(|group| group.id)).transpose()?;
        let id: VolumeId = self.inner.handle.edit(edit).map_err(|error| Refusal::of_edit(&name, &error))?;
        let unit = self.unit_of(id, &metadata, &product);
        let served = RingVolume::new(id, &metadata, &product, (size, access), group, self.inner.options.slow);
        let served = served.with_unit(unit.clone());
        let export = self.inner.handle.call(move |server| served.begin(server))??;
        let automation = Automation::new(self.model_now(), &metadata, &product, &self.inner.options);
        let volume = Volume { unit, ..Volume::new(id, export, (size, access), metadata, product, automation) };
        let response = self.show(&volume);
        volume.log_creation();
        state.volumes.insert(name, volume);
        response
    }

    /// Refuses a configuration that is too fast for the timers of this host, according to a second measurement, too.
    pub(crate) fn can_emulate(&self, product: &Product, size: u64) -> Result<(), Refusal> {
        let slow = self.inner.options.slow;
        floor::check(product, size, &self.floor(), slow).or_else(|refusal| {
            let mut floor = self.inner.floor.lock().unwrap_or_else(PoisonError::into_inner);
            if floor.again.is_some_and(|again| again.elapsed() < REMEASURE_PAUSE) {
                return Err(refusal);
            }
            let measured = (self.inner.options.measure_floor)();
            floor.again = Some(Instant::now());
            let Some(measured) = measured else { return Err(refusal) };
            floor.best = floor::better(floor.best, measured);
            floor::check(product, size, &floor.best, slow)
        })
    }

    /// The best measurement of the host's speed.
    pub(crate) fn floor(&self) -> api::Floor {
        self.inner.floor.lock().unwrap_or_else(PoisonError::into_inner).best
    }

    /// The limit of this host, if it is below that of the product.
    pub(crate) fn ceiling(&self, product: &Product, size: u64) -> Option<api::HostCeiling> {
        floor::ceiling(product, size, &self.floor(), self.inner.options.slow)
    }

    /// Enlarges a volume; clients see the new size when they query it again. A product that is too small grows, too.
    pub fn resize(&self, name: &str, resize: &api::Resize) -> Result<api::Volume, Refusal> {
        let mut state = self.state();
        let volume = state.volume(name)?;
        let vendor = volume.product.offer.as_ref().map(|offer| offer.product());
        let size = read_size(resize.size_bytes, resize.size.as_deref(), vendor)?;
        let size = size.ok_or_else(|| Refusal::bad("a new size is missing: give size_bytes, or size with a unit"))?;
        if size < volume.size {
            let (has, requested) = (exact(volume.size), exact(size));
            return Err(Refusal::bad(say!("{name} has {has}, and a volume only grows: {requested} is less")));
        }
        let product = volume.product.holding(size, self.products())?;
        // A product of whole units has the next whole size.
        let capacity = product.as_ref().and_then(|product| product.offer.as_ref()).map(|offer| offer.capacity.get());
        let size = capacity.map_or(size, |capacity| size.max(capacity));
        if let Some(product) = &product {
            state.fits(product, volume.metadata.group.as_deref(), self.products())?;
            if !volume.metadata.forced {
                self.can_emulate(product, size)?;
            }
        }
        let volume = state.volume_mut(name)?;
        self.grow(volume, size, product)?;
        self.show(volume)
    }

    /// Grows a volume and its product in a single commit.
    fn grow(&self, volume: &mut Volume, size: u64, product: Option<Product>) -> Result<(), Refusal> {
        let product = product.unwrap_or_else(|| volume.product.clone());
        let metadata = volume.metadata_like(&product, volume.metadata.rests_from, self.inner.options.slow);
        let edit = Edit::Grow { volume: volume.id, size, text: Some(metadata.text()) };
        self.inner.handle.edit(edit).map_err(|error| Refusal::of_edit(volume.name(), &error))?;
        (volume.size, volume.metadata) = (size, metadata);
        tracing::info!(volume = volume.name(), bytes = size, "volume resized");
        self.apply_product(volume, product)?;
        volume.automation = Automation::new(self.model_now(), &volume.metadata, &volume.product, &self.inner.options);
        Ok(())
    }

    /// Replaces the content of a volume with that of another.
    pub fn restore(&self, name: &str, restore: &api::Restore) -> Result<api::Volume, Refusal> {
        if restore.from == name {
            return Err(Refusal::bad(say!("{name} cannot be restored from itself: name a snapshot of it")));
        }
        let state = self.unused(name, label!("it is restored"))?;
        let volume = state.volume(name)?;
        let from = state.volume(&restore.from)?;
        if from.size > volume.size {
            let (theirs, own) = (display(from.size), display(volume.size));
            return Err(Refusal::bad(say!(
                "{} has {theirs}, more than the {own} of {name}: resize {name} first",
                restore.from
            )));
        }
        let edit = Edit::Restore { volume: volume.id, from: from.id };
        self.inner.handle.edit(edit).map_err(|error| Refusal::of_edit(name, &error))?;
        tracing::info!(volume = name, from = restore.from, "volume restored");
        self.show(volume)
    }

    /// Deletes an unused volume.
    pub fn delete(&self, name: &str) -> Result<(), Refusal> {
        let mut state = self.unused_then(name, label!("it is deleted"), |server, export| {
            let is_quiet = server.volumes().0.in_flight(export) == 0;
            if is_quiet {
                server.retract(export);
                server.volumes().0.withdraw(export);
            }
            is_quiet
        })?;
        let volume = state.volume(name)?;
        let edit = Edit::Delete { volume: volume.id };
        // A failed end of the recording does not prevent deletion.
        let _ = self.end_recording(state.volume_mut(name)?);
        let deleted = self.inner.handle.edit(edit);
        if let Err(error) = deleted {
            // The volume still exists: serve it again.
            let (volume, groups) = (state.volume(name)?, &state.groups);
            let group = volume.metadata.group.as_ref().and_then(|group| groups.get(group)).map(|group| group.id);
            let Volume { id, size, access, metadata, product, unit, .. } = volume;
            let served = RingVolume::new(*id, metadata, product, (*size, *access), group, self.inner.options.slow);
            let served = served.with_unit(unit.clone());
            let export = self.inner.handle.call(move |server| served.begin(server))??;
            let volume = state.volume_mut(name)?;
            volume.export = export;
            (volume.watch, volume.owner) = (RecentSeconds::default(), Controller::default());
            return Err(Refusal::of_edit(name, &error));
        }
        state.volumes.remove(name);
        tracing::info!(volume = name, "volume deleted");
        Ok(())
    }

    /// Locks the state while a volume is unattached and has no clients. Waits a grace period for the last client
    /// without the lock.
    pub(crate) fn unused(&self, name: &str, action: &str) -> Result<MutexGuard<'_, ServiceState>, Refusal> {
        self.unused_then(name, action, |_, _| true)
    }

    /// Like `unused`, but also requires `then` to succeed. `then` runs in the same step of the ring that found no
    /// clients, so that no client can connect in between.
    fn unused_then(
        &self,
        name: &str,
        action: &str,
        then: fn(&mut Server, Export) -> bool,
    ) -> Result<MutexGuard<'_, ServiceState>, Refusal> {
        let begun = Instant::now();
        let id = self.state().volume(name)?.id;
        loop {
            let state = self.state();
            let volume = state.volume(name)?.with_id(id)?;
            volume.unattached(action)?;
            let export = volume.export;
            let (clients, is_done) = self.inner.handle.call(move |server| {
                let clients = server.clients(export);
                (clients, clients == 0 && then(server, export))
            })?;
            if is_done {
                return Ok(state);
            }
            if clients > 0 && begun.elapsed() >= DISCONNECT_GRACE {
                let connected = if clients == 1 { say!("1 client") } else { say!("{clients} clients") };
                return Err(Refusal::conflict(say!("{name} has {connected}: {action} when they have disconnected")));
            }
            if begun.elapsed() >= IN_FLIGHT_TIMEOUT {
                return Err(unanswered(name));
            }
            drop(state);
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Disconnects the clients of a volume after their requests in flight are answered, and offers it again. Waits
    /// without the lock and reads the volume again each time. Returns the locked state.
    pub(crate) fn disconnect(&self, name: &str) -> Result<MutexGuard<'_, ServiceState>, Refusal> {
        let until = Instant::now() + IN_FLIGHT_TIMEOUT;
        let id = self.state().volume(name)?.id;
        loop {
            let state = self.state();
            let volume = state.volume(name)?.with_id(id)?;
            let (export, unattached) = (volume.export, volume.unattached(label!("try again")));
            let is_quiet = self.inner.handle.call(move |server| {
                server.retract(export);
                server.clients(export) == 0 && server.volumes().0.in_flight(export) == 0
            })?;
            let is_late = Instant::now() >= until;
            if is_quiet || is_late || unattached.is_err() {
                let (offer, owner) = (volume.offer(self.inner.options.slow), volume.owner);
                self.inner.handle.call(move |server| {
                    server.offer(offer);
                    server.set_owner(export, owner);
                })?;
                unattached?;
                return if is_quiet { Ok(state) } else { Err(unanswered(name)) };
            }
            drop(state);
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}

pub(crate) fn unanswered(name: &str) -> Refusal {
    Refusal::conflict(say!("{name} has requests in flight that are not answered yet (a stall?): try again later"))
}
