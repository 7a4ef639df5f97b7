//! The storage below a database: the device of its files, the processors of its host, and the limits of an emulated
//! volume.

use plimsoll_device::{device_below, disk_counters, host_time};
use plimsoll_record::{DiskCounters, Finding, HostTime, StorageSide};
use plimsoll_units::Span;

/// Counters at a moment. Only differences between two of them have a meaning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StorageSample {
    /// Of the device below the files; absent if unknown.
    pub disk: Option<DiskCounters>,
    /// Of the host's processors.
    pub host: Option<HostTime>,
    /// Operations of an emulated volume by the limit that delayed their replies; empty elsewhere.
    pub bound_by: Vec<(String, u64)>,
}

impl StorageSample {
    /// The difference to an earlier moment. Limits have their share of all operations, in descending order; limits
    /// without operations are left out.
    pub fn since(&self, before: &Self) -> StorageSide {
        StorageSide {
            disk: self.disk.as_ref().zip(before.disk.as_ref()).and_then(|(now, then)| now.since(then)),
            host: self.host.zip(before.host).map(|(now, then)| now.since(&then)),
            bound_by: compute_shares(&self.bound_by, &before.bound_by),
        }
    }
}

fn compute_shares(now: &[(String, u64)], then: &[(String, u64)]) -> Vec<(String, f64)> {
    let before = |limit: &str| then.iter().find(|(name, _)| name == limit).map_or(0, |(_, count)| *count);
    let increments = now.iter().map(|(limit, count)| (limit, count.saturating_sub(before(limit))));
    let increments: Vec<_> = increments.filter(|(_, count)| *count > 0).collect();
    let all: u64 = increments.iter().map(|(_, count)| count).sum();
    let share = |(limit, count): (&String, u64)| (limit.clone(), count as f64 / all as f64);
    let mut shares: Vec<_> = increments.into_iter().map(share).collect();
    shares.sort_by(|one, other| other.1.total_cmp(&one.1));
    shares
}

/// The storage below a database, sampled several times a second under load.
pub trait UnderlyingStorage: Send {
    /// The current counters.
    fn look(&mut self) -> StorageSample;

    /// Applies the change that is due at `elapsed` since the start of the sessions, and describes it; `None` if none is
    /// due. Called at every sample; each change is applied once.
    fn change(&mut self, _elapsed: Span) -> Option<String> {
        None
    }

    /// Whether the storage is faster than the measured storage, to shorten loading.
    fn is_fast(&self) -> bool {
        false
    }

    /// Called before the first measured step, after the database has written its dirty blocks: flushes the remaining
    /// dirty pages, and slows the storage down to the measured storage.
    ///
    /// # Errors
    /// The reason, in a line.
    fn begin_measuring(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Known doubts about figures measured on it.
    fn findings(&self) -> Vec<Finding> {
        Vec::new()
    }
}

/// A device of this host, or only the host.
#[derive(Clone, Debug)]
pub struct LocalStorage {
    device: Option<String>,
}

impl LocalStorage {
    /// The device below a directory; only the host without a directory or a device.
    pub fn below(directory: Option<&std::path::Path>) -> Self {
        Self { device: directory.and_then(|directory| device_below(directory).ok()) }
    }

    /// The device, by its kernel name.
    pub fn device(&self) -> Option<&str> {
        self.device.as_deref()
    }
}

impl UnderlyingStorage for LocalStorage {
    fn look(&mut self) -> StorageSample {
        let disk = self.device.as_deref().and_then(disk_counters);
        StorageSample { disk, host: host_time(), bound_by: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(counts: &[(&str, u64)]) -> StorageSample {
        let bound_by = counts.iter().map(|(limit, count)| ((*limit).to_owned(), *count)).collect();
        StorageSample { bound_by, ..StorageSample::default() }
    }

    #[test]
    fn limits_have_shares_of_operations_between_two_samples() {
        let before = bound(&[("IOPS", 100), ("bytes", 10)]);
        let after = bound(&[("IOPS", 130), ("bytes", 10), ("media", 70)]);
        let expected = vec![("media".to_owned(), 0.7), ("IOPS".to_owned(), 0.3)];
        assert_eq!(after.since(&before).bound_by, expected);
        assert_eq!(before.since(&before).bound_by, Vec::new());
    }

    #[test]
    fn host_is_sampled_without_a_device() {
        let mut local = LocalStorage::below(None);
        let (first, second) = (local.look(), local.look());
        let between = second.since(&first);
        assert_eq!(between.disk, None);
        assert!(between.host.is_some() && local.change(Span::MAX).is_none());
    }
}
