//! A bank: servers with separate queues, chosen by address, such as flash dies and the drives behind a controller.

use alloc::vec;
use alloc::vec::Vec;

use plimsoll_units::{Bytes, Instant, Kind, Op};

use crate::variate::Variate;

#[derive(Clone, Debug)]
pub(crate) struct Bank {
    /// Time at which each server is free.
    free: Vec<Instant>,
    grain: u64,
    service: Variate,
}

impl Bank {
    pub(crate) fn new(queues: u32, grain: Bytes, service: Variate) -> Self {
        Self { free: vec![Instant::ZERO; queues as usize], grain: grain.get(), service }
    }

    /// An operation over several grains occupies the server of each, and leaves with the last of them.
    #[inline]
    pub(crate) fn enter(&mut self, now: Instant, op: &Op) -> Instant {
        let first = op.offset / self.grain;
        let end = op.offset + u64::from(op.length);
        if op.length == 0 || op.kind == Kind::Flush || end <= (first + 1) * self.grain {
            return self.serve(now, op, first, u64::from(op.length));
        }
        let last = (end - 1) / self.grain;
        let mut leaves = now;
        for grain in first..=last {
            let bytes = end.min((grain + 1) * self.grain) - op.offset.max(grain * self.grain);
            leaves = leaves.max(self.serve(now, op, grain, bytes));
        }
        leaves
    }

    #[inline]
    fn serve(&mut self, now: Instant, op: &Op, grain: u64, bytes: u64) -> Instant {
        let service = self.service.draw(op, bytes);
        let queue = spread(grain, self.free.len());
        let leaves = now.max(self.free[queue]) + service;
        self.free[queue] = leaves;
        leaves
    }
}

/// Hashes addresses to `n` places: neighbours are spread (Fibonacci hashing, Knuth 1973).
#[inline]
pub(crate) fn spread(key: u64, n: usize) -> usize {
    let mixed = (key ^ (key >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((u128::from(mixed) * n as u128) >> 64) as usize
}
