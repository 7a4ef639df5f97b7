//! Which reads go on where another ended. Knows nothing of time.
//!
//! Several scans go on at once, so the ends of the last few runs are remembered, as the read-ahead of operating systems and
//! arrays does it. The first read of a run is random: nobody knew that others would follow.

/// Runs that are followed at once.
const RUNS: usize = 32;

/// The ends of the runs of one volume.
#[derive(Clone, Debug)]
pub(super) struct Streams {
    ends: [u64; RUNS],
    used: [u32; RUNS],
    clock: u32,
}

impl Default for Streams {
    fn default() -> Self {
        Self { ends: [u64::MAX; RUNS], used: [0; RUNS], clock: 0 }
    }
}

impl Streams {
    /// Takes a read. True when it begins where another ended.
    pub(super) fn follows(&mut self, place: u64, length: u64) -> bool {
        // After four thousand million reads the order of runs is forgotten once.
        self.clock = self.clock.wrapping_add(1);
        let found = self.ends.iter().position(|end| *end == place);
        let oldest = || (0..RUNS).min_by_key(|run| self.used[*run]).unwrap_or(0);
        let run = found.unwrap_or_else(oldest);
        self.ends[run] = place.saturating_add(length);
        self.used[run] = self.clock;
        found.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::{RUNS, Streams};

    #[test]
    fn runs_go_on_beside_each_other() {
        let mut streams = Streams::default();
        let count = |streams: &mut Streams, runs: u64| {
            let reads = (0..10).flat_map(|step| (0..runs).map(move |run| (run << 32) + step * 4096));
            reads.filter(|place| streams.follows(*place, 4096)).count()
        };
        assert_eq!(count(&mut streams, RUNS as u64), 9 * RUNS, "all but the first of each");
        assert_eq!(count(&mut Streams::default(), RUNS as u64 + 1), 0, "one run more than are remembered");
        assert!(!Streams::default().follows(0, 4096));
    }
}
