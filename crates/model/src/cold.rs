//! Cold data: the first access after a long rest is slow, as for recompressed blocks.

use alloc::vec::Vec;

use plimsoll_units::{Bytes, Instant, Op, Span};

use crate::bank::spread;

#[derive(Clone, Debug)]
pub(crate) struct Cold {
    rest: Span,
    extra: Span,
    grain: u64,
    /// Cold grains at the beginning, parts per million.
    share_ppm: usize,
    /// Last access of each grain, in seconds plus 1; zero for never.
    asked_s: Vec<u32>,
}

impl Cold {
    pub(crate) fn new(rest: Span, extra: Span, grain: Bytes, share: f64) -> Self {
        Self { rest, extra, grain: grain.get(), share_ppm: (share * 1e6) as usize, asked_s: Vec::new() }
    }

    pub(crate) fn enter(&mut self, now: Instant, op: &Op) -> Instant {
        if op.length == 0 {
            return now;
        }
        let now_s = now.as_nanos() / 1_000_000_000;
        let last = (op.offset + u64::from(op.length) - 1) / self.grain;
        let mut found_cold = false;
        for grain in op.offset / self.grain..=last {
            let index = grain as usize;
            if index >= self.asked_s.len() {
                self.asked_s.resize(index + 1, 0);
            }
            found_cold |= match self.asked_s[index] {
                0 => spread(grain, 1_000_000) < self.share_ppm,
                asked => now_s.saturating_sub(u64::from(asked) - 1) >= self.rest.as_nanos() / 1_000_000_000,
            };
            self.asked_s[index] = now_s as u32 + 1;
        }
        if found_cold { now + self.extra } else { now }
    }
}
