//! A stopwatch of the calling thread: time at work and time waiting.
//!
//! Waiting for a processor counts as work, as for a server's sessions: Linux reports it in `schedstat`. That file is
//! read only if it can matter, so that a call of microseconds costs no more than two clock reads.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::thread::ThreadId;

use rustix::time::{ClockId, clock_gettime};

/// Waits shorter than this skip `schedstat`, in nanoseconds: reading it takes about a microsecond.
const MIN_QUEUE_CHECK_NS: u64 = 20_000;

/// Activity of a thread between two readings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lap {
    /// On a processor or runnable, in nanoseconds.
    pub(super) processor_ns: u64,
    /// The rest, in nanoseconds.
    pub(super) waiting_ns: u64,
    /// No bytes were read from storage, so that the wait was not for a read. False if unknown.
    pub(super) nothing_fetched: bool,
}

#[derive(Debug, Default)]
pub(super) struct Stopwatch {
    wall_ns: u64,
    cpu_ns: u64,
    account: Account,
    files: Option<CounterFiles>,
    /// Reads go through a block device, so that Linux counts them per thread.
    on_device: bool,
}

/// Linux's counters of a thread since its start.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    /// Nanoseconds spent runnable.
    queued_ns: Option<u64>,
    /// Bytes read from storage.
    fetched: Option<u64>,
}

#[derive(Debug)]
struct CounterFiles {
    thread: ThreadId,
    schedstat: Option<File>,
    io: Option<File>,
}

/// Whether Linux reports run-queue delays of threads.
pub(super) fn reports_run_queue() -> bool {
    File::open("/proc/thread-self/schedstat").is_ok_and(|file| read_queue_delay(&file).is_some())
}

impl Stopwatch {
    /// Creates a stopwatch. Without a block device, bytes read are unknown.
    pub(super) fn new(on_device: bool) -> Self {
        Self { on_device, ..Self::default() }
    }

    /// Starts on the calling thread.
    pub(super) fn start(&mut self) {
        let thread = std::thread::current().id();
        let same = self.files.as_ref().is_some_and(|files| files.thread == thread);
        if !same {
            let open = |name: &str| File::open(format!("/proc/thread-self/{name}")).ok();
            let io = if self.on_device { open("io") } else { None };
            self.files = Some(CounterFiles { thread, schedstat: open("schedstat"), io });
        }
        // The thread may have waited for a processor since the last lap: that is not part of this call.
        if !same || nanos(ClockId::Monotonic).saturating_sub(self.wall_ns) > MIN_QUEUE_CHECK_NS {
            self.account = self.ask();
        }
        self.wall_ns = nanos(ClockId::Monotonic);
        self.cpu_ns = nanos(ClockId::ThreadCPUTime);
    }

    /// Activity since the start or the last lap.
    pub(super) fn lap(&mut self) -> Lap {
        let (wall_ns, cpu_ns) = (nanos(ClockId::Monotonic), nanos(ClockId::ThreadCPUTime));
        let wall = wall_ns.saturating_sub(self.wall_ns);
        let cpu = cpu_ns.saturating_sub(self.cpu_ns).min(wall);
        let mut waiting = wall - cpu;
        let mut nothing_fetched = false;
        if waiting > MIN_QUEUE_CHECK_NS {
            let account = self.ask();
            let queued =
                account.queued_ns.zip(self.account.queued_ns).map_or(0, |(now, then)| now.saturating_sub(then));
            waiting -= queued.min(waiting);
            nothing_fetched = account.fetched.is_some() && account.fetched == self.account.fetched;
            self.account = account;
        }
        (self.wall_ns, self.cpu_ns) = (wall_ns, cpu_ns);
        Lap { processor_ns: wall - waiting, waiting_ns: waiting, nothing_fetched }
    }

    fn ask(&self) -> Account {
        let Some(files) = &self.files else { return Account::default() };
        Account {
            queued_ns: files.schedstat.as_ref().and_then(read_queue_delay),
            fetched: files.io.as_ref().and_then(|file| figure(&text(file)?, "read_bytes:")),
        }
    }
}

/// Run-queue delay in nanoseconds since the start of a thread: the second value of its `schedstat`.
fn read_queue_delay(file: &File) -> Option<u64> {
    text(file)?.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Value after a name at the start of a line.
pub(super) fn figure(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name))?.trim().parse().ok()
}

/// Content of a short file in `/proc`.
fn text(file: &File) -> Option<String> {
    let mut bytes = [0; 512];
    let length = file.read_at(&mut bytes, 0).ok()?;
    Some(std::str::from_utf8(&bytes[..length]).ok()?.into())
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
    fn sleep_counts_as_wait_and_work_as_processor() {
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
        if reports_run_queue() {
            assert!(worked.processor_ns > worked.waiting_ns, "{worked:?}");
        }
    }
}
