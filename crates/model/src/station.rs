//! A station: servers with a common queue, first come first served.
//!
//! An operation starts when the first server is free (Lindley's recurrence for many servers, Kiefer and Wolfowitz
//! 1955), so its departure is determined at its arrival.

use alloc::collections::BinaryHeap;
use core::cmp::Reverse;

use plimsoll_units::{Instant, Op};

use crate::variate::Variate;

#[derive(Clone, Debug)]
pub(crate) struct Station {
    /// Time at which each server is free.
    free: BinaryHeap<Reverse<Instant>>,
    service: Variate,
}

impl Station {
    pub(crate) fn new(servers: u32, service: Variate) -> Self {
        let free = (0..servers).map(|_| Reverse(Instant::ZERO)).collect();
        Self { free, service }
    }

    #[inline]
    pub(crate) fn enter(&mut self, now: Instant, op: &Op) -> Instant {
        let service = self.service.draw(op, u64::from(op.length));
        let mut first = self.free.peek_mut().expect("a station has at least one server");
        let leaves = now.max(first.0) + service;
        *first = Reverse(leaves);
        leaves
    }
}
