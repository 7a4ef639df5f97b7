//! Automation of the volumes of a service: once a second, levels follow the load, and unused volumes rest.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_units::Instant;
use plimsoll_volume::{IntervalLoad, Totals};

use crate::api;
use crate::automation::{Automation, Tune};
use crate::clients::log_clients;
use crate::health::{StoreState, watch_descriptors};
use crate::metadata::VolumeMetadata;
use crate::minutes::Activity;
use crate::moment;
use crate::product::Product;
use crate::recent::periods_since;
use crate::refusal::Refusal;
use crate::service::{Service, ServiceState};
use crate::volume::Volume;

const INTERVAL: Duration = Duration::from_secs(1);

/// Values read from a volume once a second.
struct Reading {
    clients: usize,
    fresh: Vec<plimsoll_volume::Period>,
    activity: Activity,
    /// Totals, if the level follows the load.
    totals: Option<Totals>,
}

impl Service {
    /// Enables automatic level changes of a volume.
    pub fn set_autotune(&self, name: &str, autotune: &api::Autotune) -> Result<api::Volume, Refusal> {
        let mut state = self.state();
        let volume = state.volume(name)?;
        let automation = self.automation(&state, autotune, &volume.product, volume.metadata.group.as_deref())?;
        let volume = state.volume_mut(name)?;
        let metadata = VolumeMetadata { autotune: Some(autotune.clone()), ..volume.metadata.clone() };
        self.store_metadata(volume, metadata)?;
        volume.automation = automation;
        self.show(volume)
    }

    /// Automation of a product in a group.
    pub(crate) fn automation(
        &self,
        state: &ServiceState,
        autotune: &api::Autotune,
        product: &Product,
        group: Option<&str>,
    ) -> Result<Automation, Refusal> {
        if let Some(max) = autotune.max {
            state.fits(&product.at_level(max, self.products())?, group, self.products())?;
        }
        Automation::from_request(self.model_now(), autotune, product, &self.inner.options)
    }

    /// Disables automatic level changes; a resting volume returns to its level at once.
    pub fn clear_autotune(&self, name: &str) -> Result<api::Volume, Refusal> {
        let mut state = self.state();
        let volume = state.volume_mut(name)?;
        let metadata = VolumeMetadata { autotune: None, ..volume.metadata.clone() };
        self.store_metadata(volume, metadata)?;
        volume.automation = Automation::default();
        if let Some(level) = volume.metadata.rests_from {
            self.change_level(volume, level, None)?;
        }
        self.show(volume)
    }

    /// Present model time.
    pub(crate) fn model_now(&self) -> Instant {
        self.inner.options.slow.model(self.inner.clock.now())
    }

    /// Starts the automation, which ends when the service is closed or dropped.
    pub(crate) fn start_automation(&self) -> std::io::Result<()> {
        let inner = Arc::downgrade(&self.inner);
        self.inner.ticker.start(INTERVAL, move || inner.upgrade().is_some_and(|inner| Self { inner }.tick().is_ok()))
    }

    /// Runs the automation of all volumes. Fails when the server is gone.
    fn tick(&self) -> Result<(), Refusal> {
        let mut state = self.state();
        let queries: Vec<_> = state
            .volumes
            .values()
            .map(|volume| (volume.export, volume.watch.until(), volume.automation.tune.is_some()))
            .collect();
        let free = self.inner.options.space_limit(0);
        let fixed = self.inner.options.capacity;
        let (store, notices, readings) = self.inner.handle.call(move |server| {
            let (volumes, ..) = server.volumes();
            volumes.set_capacity(fixed.unwrap_or(free.saturating_add(volumes.store().usage().taken)));
            let read = |(export, from, follows)| {
                let clients = server.clients(export);
                let (volumes, ..) = server.volumes();
                let totals = volumes.totals(export);
                let activity = totals.map(Activity::of).unwrap_or_default();
                let totals = totals.filter(|_| follows).cloned();
                Reading { clients, fresh: periods_since(volumes, export, from), activity, totals }
            };
            let readings = queries.into_iter().map(read).collect::<Vec<Reading>>();
            (StoreState::of(server.volumes().0), server.take_client_notices(), readings)
        })?;
        self.watch_health(&mut state, store);
        log_clients(notices, |export| state.volumes.values().find(|volume| volume.export == export).map(Volume::name));
        watch_descriptors(&mut state);
        self.watch_damage(&mut state)?;
        let (now, now_ms) = (self.model_now(), moment::now_ns() / 1_000_000);
        for (volume, reading) in state.volumes.values_mut().zip(readings) {
            volume.watch.absorb(&reading.fresh);
            volume.minutes.update(now_ms, reading.activity);
            let is_device = volume.attachment.as_ref().is_some_and(|attachment| !attachment.dead);
            let used = reading.clients > 0 || is_device || volume.metadata.instance.is_some();
            if self.run_automation(now, volume, used, reading.totals).is_err() {
                // The commit failed: restart from the present state of the volume.
                volume.automation = Automation::new(now, &volume.metadata, &volume.product, &self.inner.options);
            }
        }
        Ok(())
    }

    fn run_automation(
        &self,
        now: Instant,
        volume: &mut Volume,
        used: bool,
        totals: Option<Totals>,
    ) -> Result<(), Refusal> {
        if let Some(level) = volume.metadata.rests_from.filter(|_| used) {
            self.change_level(volume, level, None)?;
        }
        if let Some(detached) = &mut volume.automation.detached {
            if used {
                detached.attach();
            } else {
                detached.detach(now);
            }
            if let Some(low) = detached.tick(now)
                && volume.metadata.rests_from.is_none()
                && let Some(level) = volume.product.level().filter(|level| *level > low)
            {
                let back = volume.metadata.autotune.as_ref().and_then(|autotune| autotune.default).unwrap_or(level);
                self.change_level(volume, low, Some(back))?;
            }
        }
        let rests = volume.metadata.rests_from.is_some();
        let (Some(Tune { tune, before }), Some(totals)) = (&mut volume.automation.tune, totals) else { return Ok(()) };
        let observed = before.as_ref().map(|before| IntervalLoad::between(tune.ladder(), before, &totals));
        *before = Some(totals);
        match observed.filter(|_| !rests).and_then(|observed| tune.observe(now, &observed)) {
            Some(level) => self.follow(now, volume, level, used),
            None => Ok(()),
        }
    }

    /// Changes the level as the load requires, unless the vendor does so only on detached volumes.
    fn follow(&self, now: Instant, volume: &mut Volume, level: u32, used: bool) -> Result<(), Refusal> {
        let product = volume.product.at_level(level, self.products())?;
        let Some(why) = self.detached_only(&volume.product, &product).filter(|_| used) else {
            return self.change_product(volume, product, None);
        };
        if !std::mem::replace(&mut volume.automation.is_held, true) {
            tracing::warn!(volume = volume.name(), level, reason = why, "the level does not follow the load");
        }
        if let (Some(Tune { tune, .. }), Some(current)) = (&mut volume.automation.tune, volume.product.level()) {
            tune.set_level(now, current);
        }
        Ok(())
    }

    /// Automatic change of the level; `rests_from` is the level to return to.
    fn change_level(&self, volume: &mut Volume, level: u32, rests_from: Option<u32>) -> Result<(), Refusal> {
        let product = volume.product.at_level(level, self.products())?;
        self.change_product(volume, product, rests_from)?;
        if let Some(Tune { tune, before }) = &mut volume.automation.tune {
            tune.set_level(self.model_now(), level);
            *before = None;
        }
        Ok(())
    }
}
