//! Changes of the level or product of a served volume.

use std::sync::MutexGuard;

use plimsoll_language::{label, say};
use plimsoll_volume::Edit;

use crate::api;
use crate::automation::Automation;
use crate::metadata::VolumeMetadata;
use crate::options::LevelChanges;
use crate::product::Product;
use crate::refusal::{Refusal, display};
use crate::service::{Service, ServiceState};
use crate::volume::Volume;

impl Service {
    /// Changes level or product, online if the real product can do so.
    ///
    /// A change to a different product has no real counterpart (data would be copied). It happens online.
    pub fn level(&self, name: &str, level: &api::Level) -> Result<api::Volume, Refusal> {
        let mut state = self.state();
        let (mut product, why) = self.leveled(&state, name, level)?;
        if let Some(why) = why {
            drop(state);
            state = self.detached(name, level, &why)?;
            // The state may have changed during the wait.
            product = self.leveled(&state, name, level)?.0;
        }
        let volume = state.volume_mut(name)?;
        self.change_product(volume, product, None)?;
        volume.automation = Automation::new(self.model_now(), &volume.metadata, &volume.product, &self.inner.options);
        self.show(volume)
    }

    /// The last changes of a volume's level or product since the start, oldest first.
    pub fn level_changes(&self, name: &str) -> Result<Vec<api::LevelChange>, Refusal> {
        Ok(self.state().volume(name)?.level_changes.iter().cloned().collect())
    }

    /// The new product of a volume, and the reason if the vendor makes this change only on detached volumes.
    fn leveled(
        &self,
        state: &ServiceState,
        name: &str,
        level: &api::Level,
    ) -> Result<(Product, Option<String>), Refusal> {
        let volume = state.volume(name)?;
        let product = volume.product.changed(&level.to, self.products(), volume.size)?;
        state.fits(&product, volume.metadata.group.as_deref(), self.products())?;
        if let Some(offer) = product.offer.as_ref().filter(|offer| offer.capacity.get() < volume.size) {
            let (holds, has) = (offer.capacity, display(volume.size));
            return Err(Refusal::bad(say!("{} holds {holds}, and {name} has {has}: name a larger size", product.like)));
        }
        if !volume.metadata.forced {
            self.can_emulate(&product, volume.size)?;
        }
        let why = self.detached_only(&volume.product, &product);
        Ok((product, why))
    }

    /// Refuses a change that the real product makes only while detached, or disconnects the clients if forced.
    fn detached(&self, name: &str, level: &api::Level, why: &str) -> Result<MutexGuard<'_, ServiceState>, Refusal> {
        let refusal = match self.unused(name, label!("change it")) {
            Ok(state) => return Ok(state),
            Err(refusal) => refusal,
        };
        let is_attached = self.state().volume(name)?.is_attached();
        if level.force_detach && !is_attached {
            return self.disconnect(name);
        }
        let force = if is_attached { "" } else { label!(", or break the clients off with --force-detach") };
        let message = refusal.message.replace(&format!("{name} "), label!("it "));
        let online =
            label!("plimsoll serve --online-uhp permits it online, as a published test of an attached volume has it");
        Err(Refusal::conflict(say!("{why}; {message}{force}; {online}")))
    }

    /// Reason why a change is made only on detached volumes; `None` if the vendor or this service makes it online.
    pub(crate) fn detached_only(&self, from: &Product, to: &Product) -> Option<String> {
        if self.inner.options.level_changes == LevelChanges::Online {
            return None;
        }
        let (before, after) = (from.offer.as_ref()?, to.offer.as_ref()?);
        before.detached_only(after).map(|why| format!("{}: {why}", after.product().name()))
    }

    /// Commits the change to `product`, then applies it. A resting volume returns to `rests_from`.
    pub(crate) fn change_product(
        &self,
        volume: &mut Volume,
        product: Product,
        rests_from: Option<u32>,
    ) -> Result<(), Refusal> {
        let metadata = volume.metadata_like(&product, rests_from, self.inner.options.slow);
        self.store_metadata(volume, metadata)?;
        volume.note_change(&product);
        self.apply_product(volume, product)
    }

    /// Applies committed metadata to the served volume.
    pub(crate) fn apply_product(&self, volume: &mut Volume, product: Product) -> Result<(), Refusal> {
        volume.unit = self.unit_of(volume.id, &volume.metadata, &product);
        volume.product = product;
        let (export, seed) = (volume.export, volume.metadata.seed);
        let (model, offer) = (volume.product.model.clone(), volume.offer(self.inner.options.slow));
        self.inner.handle.call(move |server| {
            let (volumes, now, _) = server.volumes();
            volumes.remodel(now, export, &model, seed);
            server.offer(offer);
        })?;
        Ok(())
    }

    /// Makes the metadata of a volume durable.
    pub(crate) fn store_metadata(&self, volume: &mut Volume, metadata: VolumeMetadata) -> Result<(), Refusal> {
        if metadata == volume.metadata {
            return Ok(());
        }
        let edit = Edit::Describe { volume: volume.id, text: metadata.text() };
        self.inner.handle.edit(edit).map_err(|error| Refusal::of_edit(volume.name(), &error))?;
        volume.metadata = metadata;
        Ok(())
    }
}
