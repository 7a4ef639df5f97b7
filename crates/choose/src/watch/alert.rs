//! Alerts with hysteresis: a condition has to last before it fires, and to end clearly before it is cleared.

use std::collections::BTreeMap;

use plimsoll_units::{Instant, Span};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AlertKind {
    /// Burst credits are used up under a load above the lasting rate.
    CreditsUsedUp,
    /// Burst credits end within the warning time.
    CreditsEnd,
    NearLimit,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WatchAlert {
    pub kind: AlertKind,
    /// Index of the limit in [`super::Watcher::limits`].
    pub limit: usize,
    /// Time since which it fires.
    pub since: Instant,
    /// Time at which it was cleared.
    pub until: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    /// It holds, and has to do so for this time.
    Holds(Span),
    /// It is near: a firing alert continues, another does not begin.
    Near,
    /// It does not hold.
    Clear,
}

/// Time that a condition usually has to last before it fires or is cleared.
pub(super) const LASTING: Span = Span::from_secs(300);
/// Maximum number of cleared alerts that are recorded.
const MAX_CLEARED: usize = 1_000;

/// A kind and a limit.
type AlertKey = (AlertKind, usize);

#[derive(Clone, Debug, Default)]
pub(super) struct AlertStates {
    /// Begin of conditions that differ from the state of their alert.
    changing: BTreeMap<AlertKey, Instant>,
    firing: BTreeMap<AlertKey, Instant>,
    pub(super) cleared: Vec<WatchAlert>,
}

impl AlertStates {
    /// Updates an alert by the condition during an interval.
    pub(super) fn update(&mut self, key: AlertKey, condition: Condition, begin: Instant, end: Instant) {
        // The end that was forecast has come.
        if key.0 == AlertKind::CreditsEnd && self.firing.contains_key(&(AlertKind::CreditsUsedUp, key.1)) {
            return self.clear(key, end);
        }
        let is_firing = self.firing.contains_key(&key);
        let lasting = match condition {
            Condition::Holds(lasting) if !is_firing => lasting,
            Condition::Clear if is_firing => LASTING,
            _ => {
                self.changing.remove(&key);
                return;
            }
        };
        let since = *self.changing.entry(key).or_insert(begin);
        if end.since(since) < lasting {
            return;
        }
        if is_firing {
            return self.clear(key, end);
        }
        self.changing.remove(&key);
        self.firing.insert(key, end);
    }

    /// Ends an alert, if it fires.
    fn clear(&mut self, key: AlertKey, end: Instant) {
        self.changing.remove(&key);
        if let Some(since) = self.firing.remove(&key).filter(|_| self.cleared.len() < MAX_CLEARED) {
            self.cleared.push(WatchAlert { kind: key.0, limit: key.1, since, until: Some(end) });
        }
    }

    /// The firing alerts, the gravest first.
    pub(super) fn firing(&self) -> Vec<WatchAlert> {
        let alert =
            |(key, since): (&AlertKey, &Instant)| WatchAlert { kind: key.0, limit: key.1, since: *since, until: None };
        self.firing.iter().map(alert).collect()
    }
}
