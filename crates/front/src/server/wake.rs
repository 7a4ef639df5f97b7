//! Lead time of wake-ups, learned from the lateness of earlier sleeps by their length: a processor that sleeps longer
//! takes longer to wake.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use plimsoll_device::processor_limit;
use plimsoll_units::{Instant, Span};

/// Shorter waits spin, as sleeping costs the processor more.
pub(super) const NEAR: Span = Span::from_micros(2);

/// No spinning for longer waits, as 2 % of such a wait exceeds the latency of a wake-up.
const SPIN_BELOW: Span = Span::from_millis(1);

/// Maximum time of spinning.
const SPIN_MAX: Span = Span::from_micros(60);

/// Maximum share of time spent spinning, as a divisor.
const SPIN_SHARE: u64 = 4;

/// Maximum of unused spinning time that is carried over.
const CREDIT_MAX: Span = Span::from_millis(5);

/// Interval between readings of the run queue length.
const LOOK_INTERVAL: Span = Span::from_millis(20);

/// Maximum of the compensated lateness: a loop that is later is overloaded, and earlier answers do not help.
const LATE_MAX: Span = Span::from_micros(100);

/// Maximum weight of answers that leave together.
const ANSWERS_MAX: usize = 8;

/// A running estimate of one quantile.
#[derive(Clone, Copy, Debug, Default)]
struct Quantile {
    nanos: f64,
}

impl Quantile {
    /// Stochastic approximation (Robbins and Monro 1951) with a step relative to the value, for samples that are alike.
    #[inline]
    fn add(&mut self, sample: Span, share: f64, count: usize) {
        let sample = sample.as_nanos() as f64;
        if self.nanos == 0.0 {
            self.nanos = sample;
            return;
        }
        let step = (self.nanos / 8.0).max(250.0) * (count as f64 / 4.0).max(1.0);
        self.nanos += if sample > self.nanos { step * share } else { -step * (1.0 - share) };
        self.nanos = self.nanos.max(1.0);
    }

    fn span(self) -> Span {
        Span::from_nanos(self.nanos as u64)
    }
}

/// Lateness of sleeps of similar length.
#[derive(Clone, Copy, Debug, Default)]
struct Lateness {
    /// First quartile.
    early: Quantile,
    /// 90th percentile.
    late: Quantile,
}

/// Availability of a processor for spinning, from the number of runnable threads.
#[derive(Debug)]
struct FreeProcessors {
    /// `None` if it cannot be read: no processor is considered available.
    loads: Option<File>,
    count: u32,
    looked: Instant,
    /// Moving average of the readings with more runnable threads than processors, out of 256.
    crowded: u32,
}

impl FreeProcessors {
    fn new() -> Self {
        let count = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
        // The client needs a second processor. Under a limit of processor time, spinning uses up the quota.
        let loads = (count > 1 && processor_limit().is_none()).then(|| File::open("/proc/loadavg").ok()).flatten();
        Self { loads, count, looked: Instant::ZERO, crowded: 256 }
    }

    fn look(&mut self, now: Instant) {
        if now.since(self.looked) < LOOK_INTERVAL {
            return;
        }
        self.looked = now;
        let Some(running) = self.loads.as_ref().and_then(|loads| runnable(loads).ok()) else { return };
        let crowded = if running > self.count { 256 } else { 0 };
        self.crowded = (self.crowded * 7 + crowded) / 8;
    }

    const fn is_free(&self) -> bool {
        self.crowded < 96
    }
}

/// Number of runnable threads, including this thread.
fn runnable(loads: &File) -> io::Result<u32> {
    let mut text = [0; 64];
    let length = loads.read_at(&mut text, 0)?;
    let text = std::str::from_utf8(&text[..length]).unwrap_or_default();
    let running = text.split(' ').nth(3).and_then(|threads| threads.split('/').next()?.parse().ok());
    running.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Sleeping and waking of the loop.
#[derive(Debug)]
pub(super) struct Waker {
    /// By the binary logarithm of a sleep in nanoseconds.
    lateness: [Lateness; 40],
    /// The current sleep: planned end and length.
    sleep: Option<(Instant, Span)>,
    processors: FreeProcessors,
    /// Median lateness of answers.
    answers: Quantile,
    /// Available spinning time, and the time of the last accrual.
    credit: Span,
    counted: Instant,
}

impl Waker {
    pub(super) fn new() -> Self {
        Self {
            lateness: [Lateness::default(); 40],
            sleep: None,
            processors: FreeProcessors::new(),
            answers: Quantile::default(),
            credit: Span::ZERO,
            counted: Instant::ZERO,
        }
    }

    fn sleeps(&mut self, length: Span) -> &mut Lateness {
        let class = length.as_nanos().max(1).ilog2() as usize;
        let last = self.lateness.len() - 1;
        &mut self.lateness[class.min(last)]
    }

    /// Returns the time before the deadline from which the loop spins, for a deadline `left` away.
    #[inline]
    pub(super) fn near(&mut self, left: Span) -> Span {
        if left > SPIN_BELOW || !self.processors.is_free() || self.credit < SPIN_MAX {
            return NEAR;
        }
        self.sleeps(left).late.span().clamp(NEAR, SPIN_MAX)
    }

    /// Records time spent spinning.
    #[inline]
    pub(super) fn spun(&mut self, time: Span) {
        self.credit = self.credit - time.min(self.credit);
    }

    /// Duration of a sleep at `now` until `at`.
    #[inline]
    pub(super) fn sleep(&mut self, now: Instant, at: Instant) -> Span {
        self.processors.look(now);
        self.credit = CREDIT_MAX.min(self.credit + now.since(self.counted) / SPIN_SHARE);
        self.counted = now;
        let left = at.since(now);
        let near = self.near(left);
        // Without spinning, an early wake-up would require another sleep.
        let early = if near > NEAR { near } else { self.sleeps(left).early.span().min(left / 2) };
        let length = left - early.min(left);
        self.sleep = Some((now + length, left));
        length
    }

    /// Records that `count` answers leave, the first of them planned for `at`. Answers that were delayed by I/O do not
    /// count.
    #[inline]
    pub(super) fn answered(&mut self, now: Instant, at: Instant, count: usize) {
        if count > 0 && at < now {
            self.answers.add(now.since(at), 0.5, count.min(ANSWERS_MAX));
        }
    }

    /// Median lateness of answers, at most [`LATE_MAX`].
    pub(super) fn lateness_p50(&self) -> Span {
        self.answers.span().min(LATE_MAX)
    }

    /// Records the end of a sleep at `now`.
    #[inline]
    pub(super) fn woke(&mut self, now: Instant, timed_out: bool) {
        let Some((end, left)) = self.sleep.take() else { return };
        if timed_out && now >= end {
            let late = now.since(end);
            let lateness = self.sleeps(left);
            lateness.early.add(late, 0.25, 1);
            lateness.late.add(late, 0.9, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: fn(u64) -> Span = Span::from_micros;

    /// Consecutive sleeps of `left` with the given lateness.
    fn slept(waker: &mut Waker, left: Span, late: &[u64]) {
        let mut now = waker.counted + Span::from_millis(100);
        for late in late.iter().cycle().take(400) {
            waker.processors.looked = now;
            let length = waker.sleep(now, now + left);
            now += length + US(*late);
            waker.woke(now, true);
        }
    }

    fn waker(crowded: u32) -> Waker {
        let mut waker = Waker::new();
        waker.processors.crowded = crowded;
        waker
    }

    #[test]
    fn sleep_ends_early_by_the_lateness_of_similar_sleeps() {
        let mut waker = waker(0);
        slept(&mut waker, US(500), &[30, 35, 40, 45]);
        let spin = waker.near(US(500)).as_nanos() / 1_000;
        assert!((35..=60).contains(&spin), "{spin} us");
        assert_eq!(waker.near(US(20)), NEAR, "no sleep of similar length was recorded");
        assert_eq!(waker.near(Span::from_millis(5)), NEAR, "too long for spinning");
    }

    #[test]
    fn no_spinning_on_a_crowded_host() {
        let mut waker = waker(256);
        slept(&mut waker, US(500), &[30, 35, 40, 45]);
        assert_eq!(waker.near(US(500)), NEAR);
        let length = waker.sleep(waker.counted, waker.counted + US(500));
        assert!((US(455)..=US(475)).contains(&length), "early by the first quartile of lateness: {length}");
    }

    #[test]
    fn spinning_takes_at_most_a_quarter_of_the_time() {
        let mut waker = waker(0);
        slept(&mut waker, US(500), &[50]);
        waker.spun(CREDIT_MAX);
        assert_eq!(waker.near(US(500)), NEAR);
        let (now, at) = (waker.counted + US(400), waker.counted + US(900));
        waker.processors.looked = now;
        waker.sleep(now, at);
        assert!(waker.near(US(500)) > NEAR && waker.credit == US(100), "{:?}", waker.credit);
    }

    #[test]
    fn only_planned_answers_count_as_late() {
        let mut waker = waker(0);
        for round in 1..=200 {
            let at = Instant::ZERO + US(1_000 * round);
            waker.answered(at + US(20), at, 1);
            // Parts of long requests, and answers that waited for I/O.
            waker.answered(at + US(30), at, 0);
            waker.answered(at + US(40), at + US(40), 8);
        }
        let lateness = waker.lateness_p50();
        assert!(lateness.as_nanos().abs_diff(20_000) <= 2_000, "{lateness}");
    }

    #[test]
    fn this_thread_is_runnable() {
        let loads = File::open("/proc/loadavg").unwrap();
        assert!(runnable(&loads).unwrap() >= 1);
    }
}
