//! What lies below a database while a suite runs: the device of its files, the processors of its host, and the limits of an
//! emulated volume.
//!
//! Knows nothing about databases, and nothing about services of volumes: who has one brings what looks at it.

use plimsoll_device::{device_below, disk_counters, host_time};
use plimsoll_record::{DiskCounters, Finding, HostTime, StorageSide};
use plimsoll_units::Span;

/// Counts at one moment, from whenever they began; what they mean is the difference to another look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Looked {
    /// Of the device below the files; absent where it is not known.
    pub disk: Option<DiskCounters>,
    /// Of the host's processors.
    pub host: Option<HostTime>,
    /// On an emulated volume, operations by the limit that held their answers; empty elsewhere.
    pub bound_by: Vec<(String, u64)>,
}

impl Looked {
    /// What happened between two looks. Limits have the share of all operations that they held, most first; those that held
    /// none are left out.
    pub fn since(&self, before: &Self) -> StorageSide {
        StorageSide {
            disk: self.disk.as_ref().zip(before.disk.as_ref()).and_then(|(now, then)| now.since(then)),
            host: self.host.zip(before.host).map(|(now, then)| now.since(&then)),
            bound_by: shares(&self.bound_by, &before.bound_by),
        }
    }
}

fn shares(now: &[(String, u64)], then: &[(String, u64)]) -> Vec<(String, f64)> {
    let before = |limit: &str| then.iter().find(|(name, _)| name == limit).map_or(0, |(_, count)| *count);
    let held = now.iter().map(|(limit, count)| (limit, count.saturating_sub(before(limit))));
    let held: Vec<_> = held.filter(|(_, count)| *count > 0).collect();
    let all: u64 = held.iter().map(|(_, count)| count).sum();
    let share = |(limit, count): (&String, u64)| (limit.clone(), count as f64 / all as f64);
    let mut shares: Vec<_> = held.into_iter().map(share).collect();
    shares.sort_by(|one, other| other.1.total_cmp(&one.1));
    shares
}

/// Looks at what lies below a database, several times a second while it is loaded.
pub trait Below: Send {
    /// The counts now.
    fn look(&mut self) -> Looked;

    /// Changes what is to be changed so long after a crowd began, and says what that was; None when nothing is due. Asked at
    /// every look during a crowd; each change is made once.
    fn change(&mut self, _elapsed: Span) -> Option<String> {
        None
    }

    /// The storage is faster than what is to be measured, so that loading takes less time.
    fn is_fast(&self) -> bool {
        false
    }

    /// Called before the first step that counts, when the database has written its dirty blocks: writes what else waits in memory,
    /// and makes fast storage what is to be measured.
    ///
    /// # Errors
    /// One line that says why it does not.
    fn begin_measuring(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// What makes figures questionable that were measured on it, as far as it is known by now.
    fn findings(&self) -> Vec<Finding> {
        Vec::new()
    }
}

/// A device of this host, or the host alone.
#[derive(Clone, Debug)]
pub struct Local {
    device: Option<String>,
}

impl Local {
    /// The device below a directory. Without a directory, or where no device of its own is below it, the host alone.
    pub fn below(directory: Option<&std::path::Path>) -> Self {
        Self { device: directory.and_then(|directory| device_below(directory).ok()) }
    }

    /// The device, by its kernel name.
    pub fn device(&self) -> Option<&str> {
        self.device.as_deref()
    }
}

impl Below for Local {
    fn look(&mut self) -> Looked {
        let disk = self.device.as_deref().and_then(disk_counters);
        Looked { disk, host: host_time(), bound_by: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(counts: &[(&str, u64)]) -> Looked {
        let bound_by = counts.iter().map(|(limit, count)| ((*limit).to_owned(), *count)).collect();
        Looked { bound_by, ..Looked::default() }
    }

    #[test]
    fn limits_have_shares_of_what_was_answered_between_two_looks() {
        let before = bound(&[("IOPS", 100), ("bytes", 10)]);
        let after = bound(&[("IOPS", 130), ("bytes", 10), ("media", 70)]);
        let expected = vec![("media".to_owned(), 0.7), ("IOPS".to_owned(), 0.3)];
        assert_eq!(after.since(&before).bound_by, expected);
        assert_eq!(before.since(&before).bound_by, Vec::new());
    }

    #[test]
    fn the_host_is_looked_at_where_no_device_is_known() {
        let mut local = Local::below(None);
        let (first, second) = (local.look(), local.look());
        let between = second.since(&first);
        assert_eq!(between.disk, None);
        assert!(between.host.is_some() && local.change(Span::MAX).is_none());
    }
}
