//! Counters of the processor time that the host withholds, cheap enough for every slot of a measurement.

use std::time::Instant;

use plimsoll_record::HostDelay;
use plimsoll_units::Span;

use super::counters::Processors;
use super::delta::compute_share;
use crate::host::Tree;
use crate::processor_limit::throttled;

/// Counters at one moment; only differences ([`HostSnapshot::delay_since`]) are meaningful.
#[derive(Clone, Copy, Debug)]
pub struct HostSnapshot {
    taken: Instant,
    processors: Option<Processors>,
    throttled: Option<Span>,
}

impl HostSnapshot {
    /// Takes a snapshot: reads `/proc/stat` and the `cpu.stat` of this process's control groups, about 0.1 ms.
    pub fn take() -> Self {
        Self::read(&Tree::system())
    }

    fn read(tree: &Tree) -> Self {
        Self { taken: Instant::now(), processors: Processors::read(tree), throttled: throttled(tree) }
    }

    /// Stolen and throttled time since `earlier`, without the generator's own run delay.
    pub fn delay_since(&self, earlier: &Self) -> HostDelay {
        let elapsed = Span::from_nanos(self.taken.saturating_duration_since(earlier.taken).as_nanos() as u64);
        let stolen = self
            .processors
            .zip(earlier.processors)
            .and_then(|(now, then)| compute_share(&now, &then, |ticks| ticks.stolen));
        HostDelay {
            elapsed,
            stolen: stolen.map(|share| Span::from_secs_f64(elapsed.as_secs_f64() * share)),
            // A group may have been left or removed in between.
            throttled: self.throttled.zip(earlier.throttled).map(|(now, then)| now - then),
            ..HostDelay::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::tests::sda;

    #[test]
    fn stolen_time_is_averaged_over_processors_and_unknown_counters_are_absent() {
        let fixture = sda("host-snapshot");
        fixture.put("proc/stat", "cpu  100 0 0 100 0 0 0 10\n");
        let first = HostSnapshot::read(&fixture.tree());
        fixture.put("proc/stat", "cpu  150 0 0 130 0 0 0 30\n");
        fixture.put("proc/self/cgroup", "0::/db\n");
        fixture.put("sys/fs/cgroup/db/cpu.stat", "throttled_usec 5\n");
        let second = HostSnapshot {
            taken: first.taken + std::time::Duration::from_secs(1),
            ..HostSnapshot::read(&fixture.tree())
        };
        let delay = second.delay_since(&first);
        assert_eq!((delay.elapsed, delay.stolen), (Span::from_secs(1), Some(Span::from_millis(200))));
        assert_eq!((delay.throttled, delay.run_delay), (None, None), "the first snapshot has no control group");
    }
}
