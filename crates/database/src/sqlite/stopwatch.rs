//! A stopwatch for the thread that carries it: how much of its time a thread worked, and how much it waited.
//!
//! Knows nothing about databases. Waiting for a processor counts as work, as it does for a server's sessions: Linux says
//! how long that took (`schedstat`). That file is read only where it can matter, so that a call of microseconds pays for
//! no more than two clocks.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::thread::ThreadId;

use rustix::time::{ClockId, clock_gettime};

/// Waiting below this is not asked about, in nanoseconds: asking takes about a microsecond.
const ASKED_FROM_NS: u64 = 20_000;

/// What a thread did between two looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lap {
    /// At work on a processor or waiting for one, in nanoseconds.
    pub(super) processor_ns: u64,
    /// The rest, in nanoseconds.
    pub(super) waiting_ns: u64,
}

/// The stopwatch.
#[derive(Debug, Default)]
pub(super) struct Stopwatch {
    wall_ns: u64,
    cpu_ns: u64,
    queued_ns: u64,
    queue: Option<(ThreadId, File)>,
}

/// Linux tells how long threads wait for processors.
pub(super) fn tells_queues() -> bool {
    File::open("/proc/thread-self/schedstat").is_ok_and(|file| queued(&file).is_some())
}

impl Stopwatch {
    /// Begins, on the thread that calls.
    pub(super) fn start(&mut self) {
        let wall_ns = nanos(ClockId::Monotonic);
        let here = std::thread::current().id();
        let same = self.queue.as_ref().is_some_and(|(thread, _)| *thread == here);
        if !same {
            self.queue = File::open("/proc/thread-self/schedstat").ok().map(|file| (here, file));
        }
        // Who was away may have waited for a processor when it came back: that was not this call's.
        if !same || wall_ns.saturating_sub(self.wall_ns) > ASKED_FROM_NS {
            self.queued_ns = self.queued();
        }
        self.wall_ns = nanos(ClockId::Monotonic);
        self.cpu_ns = nanos(ClockId::ThreadCPUTime);
    }

    /// What was done since the start or the last lap.
    pub(super) fn lap(&mut self) -> Lap {
        let (wall_ns, cpu_ns) = (nanos(ClockId::Monotonic), nanos(ClockId::ThreadCPUTime));
        let wall = wall_ns.saturating_sub(self.wall_ns);
        let cpu = cpu_ns.saturating_sub(self.cpu_ns).min(wall);
        let mut waiting = wall - cpu;
        if waiting > ASKED_FROM_NS {
            let queued = self.queued();
            waiting -= queued.saturating_sub(self.queued_ns).min(waiting);
            self.queued_ns = queued;
        }
        (self.wall_ns, self.cpu_ns) = (wall_ns, cpu_ns);
        Lap { processor_ns: wall - waiting, waiting_ns: waiting }
    }

    fn queued(&self) -> u64 {
        self.queue.as_ref().and_then(|(_, file)| queued(file)).unwrap_or(self.queued_ns)
    }
}

/// Nanoseconds that a thread waited for processors since it began: the second figure of its `schedstat`.
fn queued(file: &File) -> Option<u64> {
    let mut text = [0; 96];
    let length = file.read_at(&mut text, 0).ok()?;
    std::str::from_utf8(&text[..length]).ok()?.split_ascii_whitespace().nth(1)?.parse().ok()
}

fn nanos(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn sleep_is_waiting_and_work_is_work() {
        let mut watch = Stopwatch::default();
        watch.start();
        std::thread::sleep(Duration::from_millis(30));
        let slept = watch.lap();
        assert!(slept.waiting_ns + slept.processor_ns >= 30_000_000, "{slept:?}");
        assert!(slept.waiting_ns > 20_000_000, "{slept:?}");
        let started = Instant::now();
        while started.elapsed() < Duration::from_millis(30) {
            std::hint::spin_loop();
        }
        let worked = watch.lap();
        if tells_queues() {
            assert!(worked.processor_ns > worked.waiting_ns, "{worked:?}");
        }
    }
}
