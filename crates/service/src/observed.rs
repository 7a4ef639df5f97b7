//! A volume under a measurement by a client: whether the emulation followed its model in the meantime.

use std::path::Path;

use plimsoll_language::say;
use plimsoll_record::Finding;

use crate::api::{Stats, Volume};
use crate::client::{Client, ClientError, volume_path};

/// Maximum share of seconds in which replies may be later than the model.
const LATE: f64 = 0.05;

/// A volume with its counters at the beginning of a measurement.
pub struct ObservedVolume {
    client: Client,
    volume: Volume,
    begun: Stats,
}

impl ObservedVolume {
    /// The volume of the service of a data directory of this host; `None` if that does not answer.
    pub fn of_directory(directory: &Path, name: &str) -> Option<Self> {
        let client = Client::of_directory(directory).ok()?;
        let volume = client.fetch(&volume_path(name, "")).ok()?;
        let begun = fetch_counters(&client, name).ok()?;
        Some(Self { client, volume, begun })
    }

    /// Its stages, in the notation of `plimsoll-model`.
    pub fn model(&self) -> &str {
        &self.volume.model
    }

    /// Time dilation: replies take this many times as long as in the model.
    pub const fn slow(&self) -> u32 {
        self.begun.slow
    }

    /// Reasons to doubt its figures since the beginning.
    pub fn findings(&self) -> Vec<Finding> {
        let doubts = self.volume.doubts.iter().cloned().map(|what| Finding::ModelDoubted { what });
        let late = fetch_counters(&self.client, &self.volume.name).map(|now| find_lateness(&self.begun, &now));
        doubts.chain(late.ok().flatten()).collect()
    }
}

/// The counters of a volume, without the figures of each second.
pub(crate) fn fetch_counters(client: &Client, name: &str) -> Result<Stats, ClientError> {
    client.fetch(&volume_path(name, "stats?periods=0"))
}

/// A finding about seconds in which the volume did not follow its model.
pub(crate) fn find_lateness(begun: &Stats, now: &Stats) -> Option<Finding> {
    let late = now.unfaithful.saturating_sub(begun.unfaithful);
    let all = late + now.faithful.saturating_sub(begun.faithful);
    (late as f64 > LATE * all as f64).then(|| Finding::NotStorageAlone {
        note: say!("in {late} of {all} seconds replies were later than the model, as this host was busy"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_seconds_are_a_finding_above_a_twentieth() {
        let counted = |faithful, unfaithful| Stats { faithful, unfaithful, ..Stats::default() };
        let begun = counted(100, 50);
        assert_eq!(find_lateness(&begun, &counted(119, 51)), None);
        assert_eq!(find_lateness(&begun, &begun), None, "nothing was asked");
        let note = "in 2 of 20 seconds replies were later than the model, as this host was busy".into();
        assert_eq!(find_lateness(&begun, &counted(118, 52)), Some(Finding::NotStorageAlone { note }));
    }
}
