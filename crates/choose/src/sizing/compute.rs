//! Processors and memory that a machine needs for a database.

use plimsoll_ingest::{Account, SessionTime};
use plimsoll_units::Bytes;

/// The smallest machine for a database: operating system, log writer and sessions share less than two processors
/// badly, and 8 GiB are the least that vendors of databases recommend.
const LEAST_PROCESSORS: f64 = 2.0;
const LEAST_MEMORY: Bytes = Bytes::gib(8);
/// Utilisation of processors that a machine is chosen for: queues for a processor grow quickly above it.
const UTILISATION: f64 = 0.7;

/// Processors and memory of one machine; `None` where neither the input nor the caller states them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Compute {
    /// Processors (vCPUs).
    pub processors: Option<f64>,
    /// Memory.
    pub memory: Option<Bytes>,
}

impl Compute {
    /// The need of one instance when the load has grown by a factor: the processors that the busiest window used, times
    /// that factor, at 70 % utilisation, and the memory of its present host, because less memory means more reads.
    pub(super) fn of(account: &Account, instances: usize, growth: f64) -> Self {
        let instances = instances.max(1) as f64;
        let windows = account.slots.iter().flatten().chain(std::iter::once(&account.whole));
        let used = windows.filter_map(processors_used).reduce(f64::max);
        let memory = account.memory_bytes.or(account.cache_bytes);
        Self {
            processors: used.map(|used| (used * growth / UTILISATION / instances).ceil().max(LEAST_PROCESSORS)),
            memory: memory.map(|bytes| Bytes::new((bytes / instances) as u64).max(LEAST_MEMORY)),
        }
    }

    /// These values, and those of `other` where they are absent.
    pub(super) fn or(self, other: Self) -> Self {
        Self { processors: self.processors.or(other.processors), memory: self.memory.or(other.memory) }
    }

    /// Processors and memory that are required; the least of a database's machine where they are unknown.
    pub fn required(self) -> (f64, Bytes) {
        (self.processors.unwrap_or(LEAST_PROCESSORS), self.memory.unwrap_or(LEAST_MEMORY))
    }

    /// True unless a machine is known to have less than required. Vendors round memory: a fiftieth less suffices.
    pub(super) fn fits(self, vcpus: Option<f64>, memory: Option<Bytes>) -> bool {
        let (processors, needed) = self.required();
        let is_enough = |memory: Bytes| memory.get() as f64 >= needed.get() as f64 * 0.98;
        vcpus.is_none_or(|vcpus| vcpus >= processors) && memory.is_none_or(is_enough)
    }
}

fn processors_used(spent: &SessionTime) -> Option<f64> {
    let by_host = spent.host_busy.zip(spent.processors).map(|(busy, processors)| busy * processors);
    by_host.or_else(|| spent.processor_s.filter(|_| spent.seconds > 0.0).map(|seconds| seconds / spent.seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_figures_exclude_only_the_smallest_machines() {
        let need = Compute { processors: Some(4.0), memory: Some(Bytes::gib(64)) };
        assert!(need.fits(None, None) && Compute::default().fits(Some(2.0), Some(Bytes::gib(8))));
        assert!(!Compute::default().fits(Some(1.0), Some(Bytes::gib(8))));
        assert!(!Compute::default().fits(Some(2.0), Some(Bytes::gib(2))));
        let small = Compute { processors: Some(1.0), memory: Some(Bytes::gib(1)) };
        assert!(small.fits(Some(1.0), Some(Bytes::gib(1))), "a given need is not raised");
        assert!(need.fits(Some(4.0), Some(Bytes::gib(63))) && !need.fits(Some(2.0), Some(Bytes::gib(64))));
        assert!(!need.fits(Some(4.0), Some(Bytes::gib(60))));
        let given = Compute { processors: Some(8.0), memory: None };
        assert_eq!(given.or(need), Compute { processors: Some(8.0), memory: need.memory });
    }
}
