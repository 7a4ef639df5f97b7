//! Waits of a loop's thread for a processor: a target that observes the waits of another.
//!
//! A loop that waits for completions cannot distinguish slow storage from a processor that was given to others. The
//! kernel can: the second value of `schedstat` is the time for which the thread was ready to run and did not run. It
//! is read after long waits only, as a reading takes about a microsecond.

use std::fs::File;
use std::os::unix::fs::FileExt;

use plimsoll_drive::{Completion, Fault, Target};
use plimsoll_record::{HostDelay, Recorder};
use plimsoll_units::{Instant, Op, Slot, Span};

/// Shorter waits are not examined.
const LONG_WAIT: Span = Span::from_millis(1);
/// Maximum age of the previous reading: limits the short waits that add up to a long one.
const MAX_AGE: Span = Span::from_millis(10);

/// A target whose waits are examined for run delay. Must be created and used on the same thread.
pub struct RunDelayWatch<'a> {
    target: &'a mut dyn Target,
    /// `None` where the kernel does not report run delays.
    schedstat: Option<File>,
    first: Span,
    /// The last reading and its time.
    last: Span,
    read_at: Instant,
    /// End of the last wait.
    now: Instant,
    pauses: Recorder,
}

impl<'a> RunDelayWatch<'a> {
    /// Observes `target` from now on.
    pub fn new(target: &'a mut dyn Target) -> Self {
        let now = target.now();
        let schedstat = File::open("/proc/thread-self/schedstat").ok();
        let first = schedstat.as_ref().and_then(read);
        let schedstat = schedstat.filter(|_| first.is_some());
        let first = first.unwrap_or_default();
        Self { target, schedstat, first, last: first, read_at: now, now, pauses: Recorder::new() }
    }

    /// The run delay and pauses so far; without run delay if unknown. The other fields are not set.
    pub fn delay(&mut self) -> HostDelay {
        let total = self.schedstat.as_ref().and_then(read);
        let run_delay = total.map(|total| total - self.first);
        HostDelay { run_delay, pauses: self.pauses.take(), loops: 1, ..HostDelay::default() }
    }

    /// Attributes a long wait of `waited` to the processor if that was most of it. Short waits since the last reading
    /// would otherwise count as a pause.
    #[cold]
    fn examine(&mut self, waited: Span) {
        let Some(total) = self.schedstat.as_ref().and_then(read) else { return };
        let delayed = (total - self.last).min(waited);
        (self.last, self.read_at) = (total, self.now);
        if delayed >= LONG_WAIT && delayed * 2 >= waited {
            self.pauses.record(delayed);
        }
    }
}

/// Run delay of the thread of an open `schedstat`: `time on a processor, run delay, number of timeslices`. `None`
/// without statistics, which are then zero.
fn read(file: &File) -> Option<Span> {
    let mut bytes = [0; 96];
    let length = file.read_at(&mut bytes, 0).ok()?;
    parse(std::str::from_utf8(&bytes[..length]).ok()?)
}

fn parse(text: &str) -> Option<Span> {
    let numbers: Vec<u64> = text.split_ascii_whitespace().map_while(|number| number.parse().ok()).collect();
    let [_, delay, timeslices] = numbers[..] else { return None };
    (timeslices > 0).then_some(Span::from_nanos(delay))
}

impl Target for RunDelayWatch<'_> {
    fn now(&mut self) -> Instant {
        self.target.now()
    }

    fn submit(&mut self, batch: &[(Slot, Op)]) -> Result<(), Fault> {
        self.target.submit(batch)
    }

    #[inline]
    fn wait(&mut self, until: Instant, completions: &mut Vec<Completion>) -> Result<Instant, Fault> {
        let now = self.target.wait(until, completions)?;
        // Includes the processing before the wait, in which the thread may have been interrupted.
        let waited = now.since(self.now);
        self.now = now;
        if waited >= LONG_WAIT || now.since(self.read_at) >= MAX_AGE {
            self.examine(waited);
        }
        Ok(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_delay_is_the_second_value_and_zero_statistics_are_unknown() {
        assert_eq!(parse("120000 3456 7\n"), Some(Span::from_nanos(3_456)));
        assert_eq!(parse("120000 0 7\n"), Some(Span::ZERO));
        assert_eq!(parse("0 0 0\n"), None);
        assert_eq!(parse("12"), None);
    }
}
