//! Cold data: the first access after a long rest is slow, as for recompressed blocks.
//!
//! A bit for each grain and period of a sixteenth of the rest, so that the state of terabytes stays in the processor's
//! cache. The rest is therefore exact to a sixteenth.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use plimsoll_units::{Bytes, Instant, Op, Span};

use crate::bank::spread;

/// Periods of a rest.
const PERIODS: u64 = 16;

#[derive(Clone, Debug)]
pub(crate) struct Cold {
    period: Span,
    extra: Span,
    grain: u64,
    /// Cold grains at the beginning, parts per million.
    share_ppm: usize,
    /// Number of the current period.
    current: u64,
    /// Grains accessed in the current period.
    accessed: GrainSet,
    /// Grains accessed in each of the last periods, the latest first; at most [`PERIODS`].
    recent: VecDeque<GrainSet>,
    /// Grains accessed in earlier periods.
    rested: GrainSet,
}

impl Cold {
    pub(crate) fn new(rest: Span, extra: Span, grain: Bytes, share: f64) -> Self {
        Self {
            period: (rest / PERIODS).max(Span::from_nanos(1)),
            extra,
            grain: grain.get(),
            share_ppm: (share * 1e6) as usize,
            current: 0,
            accessed: GrainSet::default(),
            recent: VecDeque::new(),
            rested: GrainSet::default(),
        }
    }

    pub(crate) fn enter(&mut self, now: Instant, op: &Op) -> Instant {
        if op.length == 0 {
            return now;
        }
        self.begin_periods(now);
        let first = op.offset / self.grain;
        let within = op.offset - first * self.grain + u64::from(op.length);
        let last = if within <= self.grain { first } else { first + (within - 1) / self.grain };
        let mut found_cold = false;
        for grain in first..=last {
            found_cold |= self.accessed.insert(grain) && self.is_cold(grain);
        }
        if found_cold { now + self.extra } else { now }
    }

    /// Whether a grain without access in the current period is cold.
    fn is_cold(&self, grain: u64) -> bool {
        if self.recent.iter().any(|period| period.contains(grain)) {
            return false;
        }
        self.rested.contains(grain) || spread(grain, 1_000_000) < self.share_ppm
    }

    /// Ends the periods before that of `now`.
    #[inline]
    fn begin_periods(&mut self, now: Instant) {
        let number = now.as_nanos() / self.period.as_nanos();
        for _ in 0..number.saturating_sub(self.current).min(PERIODS + 1) {
            self.recent.push_front(core::mem::take(&mut self.accessed));
            if self.recent.len() as u64 > PERIODS
                && let Some(oldest) = self.recent.pop_back()
            {
                self.rested.merge(&oldest);
            }
        }
        self.current = number;
    }
}

/// A set of grain numbers, as bits.
#[derive(Clone, Debug, Default)]
struct GrainSet(Vec<u64>);

impl GrainSet {
    /// Adds a grain; true if it is new.
    #[inline]
    fn insert(&mut self, grain: u64) -> bool {
        let (word, bit) = place(grain);
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        let is_new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        is_new
    }

    fn contains(&self, grain: u64) -> bool {
        let (word, bit) = place(grain);
        self.0.get(word).is_some_and(|bits| bits & bit != 0)
    }

    fn merge(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(own, bits)| *own |= bits);
    }
}

/// Word and bit of a grain.
#[inline]
const fn place(grain: u64) -> (usize, u64) {
    ((grain / 64) as usize, 1 << (grain % 64))
}
