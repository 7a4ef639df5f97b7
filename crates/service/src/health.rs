//! Health of the store: whether changes are accepted and become durable.

use std::path::Path;

use plimsoll_front::descriptors;
use plimsoll_volume::{Durability, Errno, StoreHealth};

use crate::api;
use crate::refusal::{Refusal, RefusalKind};
use crate::service::{Service, ServiceOptions, ServiceState};

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
        let health = self.inner.handle.call(|server| server.volumes().0.health())?;
        Ok(describe(health, &self.inner.options.directory))
    }

    /// Logs a change of the health.
    pub(crate) fn watch_health(&self, state: &mut ServiceState, health: StoreHealth) {
        let trouble = describe(health, &self.inner.options.directory);
        if trouble != state.trouble {
            let line =
                trouble.as_deref().unwrap_or("the store accepts changes again, and all that were answered are durable");
            (self.inner.options.log)(line);
            state.trouble = trouble;
        }
    }

    /// Logs how many connections were refused for want of descriptors since the last call.
    pub(crate) fn watch_descriptors(&self, state: &mut ServiceState) {
        let all = descriptors::refused();
        let new = all - std::mem::replace(&mut state.refused_connections, all);
        if new > 0 {
            let limit = descriptors::limit().unwrap_or(u64::MAX);
            (self.inner.options.log)(&format!(
                "connections refused: {new}, since the limit of {limit} open files leaves only those of the volumes; raise \
                 it (ulimit -Hn, or LimitNOFILE= of systemd)"
            ));
        }
    }
}

/// A failure of the store with its remedy.
fn describe(health: StoreHealth, directory: &Path) -> Option<String> {
    let directory = directory.display();
    match health {
        StoreHealth::Good => None,
        StoreHealth::Stalled(Errno::NoSpc) => Some(format!(
            "the filesystem of {directory} is full: answered changes do not become durable until there is room, and then \
             by themselves"
        )),
        StoreHealth::Stalled(errno) => Some(format!(
            "a commit to {directory} failed ({errno}), and is repeated: answered changes are not durable; look at its disk"
        )),
        StoreHealth::Failed => Some(format!(
            "a sync of {directory} failed: answered changes may be lost, and changes are refused; look at its disk, then \
             restart the service"
        )),
    }
}

/// When changes become durable.
pub(crate) fn durability(options: &ServiceOptions) -> api::DurabilityTerms {
    api::DurabilityTerms {
        at_acknowledgement: options.durability == Durability::Changes,
        within_ns: options.commit_interval.map(plimsoll_units::Span::as_nanos),
    }
}
