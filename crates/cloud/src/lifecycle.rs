//! States of objects over time: a state ends at a stored moment, so it survives a restart and needs no timer.
//!
//! Durations are data (`data/lifecycle.toml`) with their sources, divided by the speed-up of the control planes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

const DATA: &str = include_str!("../data/lifecycle.toml");

/// A state that ends by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Transition {
    /// State until the end.
    pub state: String,
    /// End, in nanoseconds since 1970.
    pub until_ns: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Durations {
    entries: BTreeMap<String, LifecycleEntry>,
    speed_up: u32,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LifecycleEntry {
    seconds: u64,
    /// Events allowed within the duration; only of a rule that counts them.
    count: Option<usize>,
    #[serde(rename = "status")]
    _status: Status,
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers of the data; a test requires it"))]
    source: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers of the data; a test requires it"))]
    date: String,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Verified,
    Measured,
    Inferred,
}

impl Transition {
    /// `state` at `now_ns`, or `then` after its end.
    pub fn at<'s>(transition: Option<&'s Self>, now_ns: u64, then: &'s str) -> &'s str {
        transition.filter(|transition| now_ns < transition.until_ns).map_or(then, |transition| &transition.state)
    }
}

impl Durations {
    /// Durations divided by `speed_up`.
    pub fn new(speed_up: u32) -> Self {
        let entries = toml::from_str(DATA).expect("the data of this crate are valid");
        Self { entries, speed_up: speed_up.max(1) }
    }

    /// A duration in nanoseconds.
    pub fn nanos(&self, name: &str) -> u64 {
        self.entry(name).seconds.saturating_mul(1_000_000_000) / u64::from(self.speed_up)
    }

    /// Number of events that a rule allows within its duration.
    pub fn count(&self, name: &str) -> usize {
        self.entry(name).count.expect("every rule used as a count has one")
    }

    fn entry(&self, name: &str) -> &LifecycleEntry {
        self.entries.get(name).expect("every duration used is in the data")
    }

    /// `state` from `now_ns` for the named duration.
    pub fn transition(&self, now_ns: u64, state: &str, name: &str) -> Transition {
        Transition { state: state.to_owned(), until_ns: now_ns.saturating_add(self.nanos(name)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_ends_at_its_moment_and_speed_up_divides() {
        let durations = Durations::new(4);
        assert_eq!(durations.nanos("oci_volume_provisioning"), 2_000_000_000);
        let transition = durations.transition(10, "PROVISIONING", "oci_volume_provisioning");
        let at = |now| Transition::at(Some(&transition), now, "AVAILABLE");
        assert_eq!((at(10), at(2_000_000_009), at(2_000_000_010)), ("PROVISIONING", "PROVISIONING", "AVAILABLE"));
        assert_eq!(Transition::at(None, 0, "AVAILABLE"), "AVAILABLE");
    }

    #[test]
    fn every_duration_has_a_source_and_a_date() {
        for (name, LifecycleEntry { source, date, .. }) in &Durations::new(1).entries {
            let parts: Vec<&str> = date.split('-').collect();
            let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
            let is_date = [4, 2, 2].starts_with(&lengths) && parts.iter().all(|part| part.parse::<u16>().is_ok());
            assert!(is_date, "{name}: date is {date:?}, not YYYY, YYYY-MM or YYYY-MM-DD");
            assert!(source.split_whitespace().count() >= 3, "{name}: {source:?} names no document or basis");
        }
    }
}
