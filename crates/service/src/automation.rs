//! Automation of volumes: once a second, levels follow the load, and unused volumes rest at their lowest level.
//!
//! All spans are in model time: an hour of a service with dilation N takes N hours.

use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::Duration;

use plimsoll_catalogue::OptionValue;
use plimsoll_units::{Instant, Span};
use plimsoll_volume::{AutotuneState, Detached, IntervalLoad, Ladder, LevelModel, Policy, Totals};

use crate::api;
use crate::clients::log_clients;
use crate::floor;
use crate::health::{StoreState, watch_descriptors};
use crate::metadata::VolumeMetadata;
use crate::minutes::Activity;
use crate::moment;
use crate::open::capacity;
use crate::product::Product;
use crate::refusal::Refusal;
use crate::service::{Inner, Service, ServiceOptions, ServiceState};
use crate::volume::Volume;
use crate::watch::fresh;

/// Interval of the automation.
const TICK: Duration = Duration::from_secs(1);
/// Maximum number of levels considered by autotune.
const MAX_LEVELS: usize = 256;

/// Automation of a volume.
#[derive(Debug, Default)]
pub(crate) struct Automation {
    tune: Option<Tune>,
    detached: Option<Detached>,
    /// A change was left out and logged, because the vendor does not make it on attached volumes.
    is_held: bool,
}

#[derive(Debug)]
struct Tune {
    tune: AutotuneState,
    /// Totals at the end of the last interval.
    before: Option<Totals>,
}

/// Thread that runs the automation.
#[derive(Debug, Default)]
pub(crate) struct Ticker(Arc<(Mutex<bool>, Condvar)>);

impl Ticker {
    /// Starts the thread. It ends with `stop`, or when the service is dropped.
    pub fn start(&self, inner: &Arc<Inner>) -> std::io::Result<()> {
        let (stopped, inner) = (Arc::clone(&self.0), Arc::downgrade(inner));
        let beat = move || while !wait(&stopped, TICK) && tick(&inner) {};
        std::thread::Builder::new().name("automation".into()).spawn(beat).map(drop)
    }

    /// Waits for `span`; true if stopped.
    pub fn wait(&self, span: Duration) -> bool {
        wait(&self.0, span)
    }

    /// Stops after the tick in progress.
    pub fn stop(&self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.1.notify_all();
    }
}

/// Waits for `span`; true if stopped.
fn wait((stopped, changed): &(Mutex<bool>, Condvar), span: Duration) -> bool {
    let stopped = stopped.lock().unwrap_or_else(PoisonError::into_inner);
    let waited = changed.wait_timeout_while(stopped, span, |stopped| !*stopped);
    *waited.unwrap_or_else(PoisonError::into_inner).0
}

/// Runs a tick; false when the service is gone.
fn tick(inner: &Weak<Inner>) -> bool {
    inner.upgrade().is_some_and(|inner| Service { inner }.tick().is_ok())
}

/// Values read from a volume once a second.
struct Reading {
    clients: usize,
    fresh: Vec<plimsoll_volume::Period>,
    activity: Activity,
    /// Totals, if the level follows the load.
    totals: Option<Totals>,
}

impl Automation {
    /// Automation of a volume from its metadata; disabled if the product no longer supports it.
    pub fn new(now: Instant, metadata: &VolumeMetadata, product: &Product, options: &ServiceOptions) -> Self {
        let requested = metadata.autotune.as_ref();
        requested.and_then(|requested| Self::requested(now, requested, product, options).ok()).unwrap_or_default()
    }

    fn requested(
        now: Instant,
        requested: &api::Autotune,
        product: &Product,
        options: &ServiceOptions,
    ) -> Result<Self, Refusal> {
        let (Some(level), Some(offer)) = (product.level(), &product.offer) else {
            return Err(Refusal::bad(format!("{} has no levels, so autotune is not possible", product.like)));
        };
        let does = |what: &str| {
            let able = offer.product().autotune().iter().any(|table| table.name.starts_with(what));
            let name = offer.product().name();
            let none =
                || Refusal::bad(format!("the catalogue has no {what} autotune of {name}: its levels are set manually"));
            able.then_some(()).ok_or_else(none)
        };
        let tune = match requested.default {
            Some(default) => {
                does("performance")?;
                let policy = policy(requested, default, product, options)?;
                let ladder = ladder(&policy, product, options)?;
                Some(Tune { tune: AutotuneState::new(now, policy, ladder, level), before: None })
            }
            None if requested.most.is_some() || requested.step.is_some() || requested.up_after_ns.is_some() => {
                return Err(Refusal::bad("a level that follows the load needs a default that it goes back to"));
            }
            None => None,
        };
        let detached = match requested.detached_after_ns {
            Some(after) => {
                does("detached")?;
                let low = parameter(product, "detached", "to").unwrap_or(0.0) as u32;
                Some(Detached::new(Span::from_nanos(after), low, requested.default.unwrap_or(level)))
            }
            None => None,
        };
        if tune.is_none() && detached.is_none() {
            return Err(Refusal::bad("nothing to do: give a default level, or how long a volume rests detached"));
        }
        Ok(Self { tune, detached, is_held: false })
    }
}

/// Policy of level changes: requested values, or else those of the product.
fn policy(
    requested: &api::Autotune,
    default: u32,
    product: &Product,
    options: &ServiceOptions,
) -> Result<Policy, Refusal> {
    let highest = product.level_option().and_then(|option| option.high).map_or(default, |high| high as u32);
    let most = requested.most.unwrap_or(highest);
    if most < default {
        return Err(Refusal::bad(format!("the highest level ({most}) is below the default ({default})")));
    }
    for level in [default, most] {
        let at = product.at_level(level, &options.products)?;
        let size = at.offer.as_ref().map_or(0, |offer| offer.capacity.get());
        floor::check(&at, size, &options.floor, options.slow)?;
    }
    let usual = Policy::between(default, most);
    let known = |key: &str| parameter(product, "performance", key);
    let span = |requested: Option<u64>, key: &str, usual: Span| {
        requested.map(Span::from_nanos).or_else(|| known(key).map(Span::from_secs_f64)).unwrap_or(usual)
    };
    Ok(Policy {
        default,
        most,
        step: requested.step.or_else(|| known("step").map(|step| step as u32)).unwrap_or(usual.step).max(1),
        up_after: span(requested.up_after_ns, "up_period_s", usual.up_after),
        down_first: span(requested.down_first_ns, "down_first_s", usual.down_first),
        down_next: span(requested.down_next_ns, "down_next_s", usual.down_next),
    })
}

/// Parameter of the product's automation. Names of `step` and `to` include the option: `step_vpu`.
fn parameter(product: &Product, table: &str, key: &str) -> Option<f64> {
    let offer = product.offer.as_ref()?;
    let of_option = format!("{key}_{}", product.level_option()?.name);
    let tables = offer.product().autotune().iter().filter(|one| one.name.starts_with(table));
    let mut parameters = tables.flat_map(|table| &table.parameters);
    let found = parameters.find(|(name, _)| *name == key || *name == of_option)?;
    match found.1 {
        OptionValue::Number(number) => Some(number),
        OptionValue::Text(_) => None,
    }
}

/// Levels that the policy can reach, each with its model.
fn ladder(policy: &Policy, product: &Product, options: &ServiceOptions) -> Result<Ladder, Refusal> {
    let levels: Vec<u32> = (policy.default..=policy.most).step_by(policy.step as usize).take(MAX_LEVELS + 1).collect();
    if levels.len() > MAX_LEVELS {
        let Policy { default, most, step, .. } = policy;
        return Err(Refusal::bad(format!(
            "steps of {step} from {default} to {most} are more than {MAX_LEVELS} levels: choose larger steps"
        )));
    }
    let present = product.level();
    let mut levels: Vec<u32> = levels.into_iter().chain([policy.most]).chain(present).collect();
    levels.sort_unstable();
    levels.dedup();
    let rung = |level: u32| product.at_level(level, &options.products).map(|at| LevelModel { level, model: at.model });
    let rungs = levels.into_iter().map(rung).collect::<Result<_, _>>()?;
    Ladder::new(rungs).map_err(|error| Refusal::bad(error.to_string()))
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
        if let Some(most) = autotune.most {
            state.fits(&product.at_level(most, self.products())?, group, self.products())?;
        }
        Automation::requested(self.model_now(), autotune, product, &self.inner.options)
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

    /// Runs the automation of all volumes. Fails when the server is gone.
    fn tick(&self) -> Result<(), Refusal> {
        let mut state = self.state();
        let queries: Vec<_> = state
            .volumes
            .values()
            .map(|volume| (volume.export, volume.watch.until(), volume.automation.tune.is_some()))
            .collect();
        let free = capacity(&self.inner.options, 0);
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
                Reading { clients, fresh: fresh(volumes, export, from), activity, totals }
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
        let seen = before.as_ref().map(|before| IntervalLoad::between(tune.ladder(), before, &totals));
        *before = Some(totals);
        match seen.filter(|_| !rests).and_then(|seen| tune.seen(now, &seen)) {
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
        if let (Some(Tune { tune, .. }), Some(present)) = (&mut volume.automation.tune, volume.product.level()) {
            tune.set_level(now, present);
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
