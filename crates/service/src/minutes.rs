//! Operations and bytes of each minute of a volume, as the monitoring of a cloud reports them.

use std::collections::VecDeque;

use plimsoll_volume::{Class, Totals};

use crate::api::Minute;

/// Minutes kept: a day.
const MAX_MINUTES: usize = 1_440;
const MINUTE_MS: u64 = 60_000;

/// Counters of the minutes since the start of the service.
#[derive(Debug, Default)]
pub(crate) struct MinuteCounters {
    minutes: VecDeque<Minute>,
    /// Monotonic counters at the last update.
    before: Activity,
}

/// Operations and bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Activity {
    reads: u64,
    writes: u64,
    read_bytes: u64,
    written_bytes: u64,
}

impl Activity {
    pub const fn of(totals: &Totals) -> Self {
        let (read, write) = (Class::Read.index(), Class::Write.index());
        Self {
            reads: totals.ops[read],
            writes: totals.ops[write],
            read_bytes: totals.bytes[read],
            written_bytes: totals.bytes[write],
        }
    }
}

impl MinuteCounters {
    /// The minutes that are over, oldest first.
    pub fn complete(&self) -> impl Iterator<Item = &Minute> {
        self.minutes.iter().take(self.minutes.len().saturating_sub(1))
    }

    /// Adds the activity since the last update to the minute of `now_ms`.
    pub fn update(&mut self, now_ms: u64, activity: Activity) {
        let start_ms = now_ms / MINUTE_MS * MINUTE_MS;
        if self.minutes.back().is_none_or(|last| last.start_ms < start_ms) {
            if self.minutes.len() == MAX_MINUTES {
                self.minutes.pop_front();
            }
            self.minutes.push_back(Minute { start_ms, ..Minute::default() });
        }
        let before = std::mem::replace(&mut self.before, activity);
        // If the clock is set back, the last minute continues.
        if let Some(minute) = self.minutes.back_mut() {
            minute.reads += activity.reads.saturating_sub(before.reads);
            minute.writes += activity.writes.saturating_sub(before.writes);
            minute.read_bytes += activity.read_bytes.saturating_sub(before.read_bytes);
            minute.written_bytes += activity.written_bytes.saturating_sub(before.written_bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_count_in_the_minute_of_their_update() {
        let mut counters = MinuteCounters::default();
        for (now_ms, reads) in [(60_000, 5), (119_000, 7), (120_000, 7), (185_000, 20)] {
            counters.update(now_ms, Activity { reads, ..Activity::default() });
        }
        let minutes: Vec<(u64, u64)> = counters.minutes.iter().map(|minute| (minute.start_ms, minute.reads)).collect();
        assert_eq!(minutes, [(60_000, 7), (120_000, 0), (180_000, 13)]);
        (0..2 * MAX_MINUTES as u64).for_each(|n| counters.update(n * MINUTE_MS, Activity::default()));
        assert_eq!(counters.minutes.len(), MAX_MINUTES);
    }
}
