//! Health of the store: whether changes are accepted and become durable.

use plimsoll_front::descriptors;
use plimsoll_language::{label, say};
use plimsoll_volume::{Errno, StoreHealth, Usage, Volumes};

use crate::api;
use crate::options::ServiceOptions;
use crate::refusal::{Refusal, RefusalKind, display};
use crate::service::{Service, ServiceState};

impl Service {
    /// The health of the store; a refusal if changes are not accepted or do not become durable.
    pub fn health(&self) -> Result<api::Health, Refusal> {
        match self.trouble()? {
            None => Ok(api::Health { healthy: true }),
            Some(trouble) => Err(Refusal::new(RefusalKind::Unavailable, trouble)),
        }
    }

    /// The failure of the store with its remedy; `None` without one.
    pub(crate) fn trouble(&self) -> Result<Option<String>, Refusal> {
        let state = self.inner.handle.call(|server| StoreState::of(server.volumes().0))?;
        Ok(describe(state, &self.inner.options))
    }

    /// Logs a change of the health.
    pub(crate) fn watch_health(&self, state: &mut ServiceState, store: StoreState) {
        let trouble = describe(store, &self.inner.options);
        if trouble != state.trouble {
            if let Some(reason) = &trouble {
                tracing::error!(reason, "changes fail or are not durable");
            } else {
                tracing::info!("the store accepts changes again");
            }
            state.trouble = trouble;
        }
    }
}

/// Logs how many connections were refused for want of descriptors since the last call.
pub(crate) fn watch_descriptors(state: &mut ServiceState) {
    let all = descriptors::refused();
    let new = all - std::mem::replace(&mut state.refused_connections, all);
    if new > 0 {
        let limit = descriptors::limit().unwrap_or(u64::MAX);
        tracing::warn!(
            connections = new,
            limit,
            "connections were refused, since the limit of open files leaves only those of the volumes: raise it \
             (ulimit -Hn, or LimitNOFILE= of systemd)"
        );
    }
}

/// Health and space of the store at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoreState {
    health: StoreHealth,
    usage: Usage,
    cluster: u32,
}

impl StoreState {
    pub fn of(volumes: &Volumes) -> Self {
        let store = volumes.store();
        Self { health: volumes.health(), usage: store.usage(), cluster: store.geometry().cluster_bytes }
    }
}

/// Space below which writes to new places may fail, unless it is more than a sixteenth of all.
const MIN_SPACE: u64 = 1 << 20;

/// A failure of the store with its remedy.
fn describe(StoreState { health, usage, cluster }: StoreState, options: &ServiceOptions) -> Option<String> {
    let directory = options.directory.display();
    let remedy =
        if options.capacity.is_some() { label!("Raise --capacity") } else { label!("Make room on the filesystem") };
    match health {
        StoreHealth::Good if usage.available < MIN_SPACE.min(usage.capacity / 16) => Some(say!(
            "{} of {} of space are taken: writes to new places fail. Space is taken in clusters of {}, so that a scattered \
             block of 4 KiB takes a whole one. {remedy}, trim, or delete volumes or snapshots",
            display(usage.taken),
            display(usage.capacity),
            display(cluster.into()),
        )),
        StoreHealth::Good => None,
        StoreHealth::Stalled(Errno::NoSpc) => Some(say!(
            "the filesystem of {directory} is full: answered changes do not become durable until there is room, and then \
             by themselves"
        )),
        StoreHealth::Stalled(errno) => Some(say!(
            "a commit to {directory} failed ({errno}), and is repeated: answered changes are not durable; look at its disk"
        )),
        StoreHealth::Failed => Some(say!(
            "a sync of {directory} failed: answered changes may be lost, and changes are refused; look at its disk, then \
             restart the service"
        )),
    }
}
