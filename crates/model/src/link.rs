//! A link: bytes pass one after the other, then a latency that overlaps between operations.

use plimsoll_units::{Instant, Op, Span, Throughput};

#[derive(Clone, Debug)]
pub(crate) struct Link {
    latency: Span,
    bandwidth: Option<Throughput>,
    free: Instant,
}

impl Link {
    pub(crate) fn new(latency: Span, bandwidth: Option<Throughput>) -> Self {
        Self { latency, bandwidth, free: Instant::ZERO }
    }

    #[inline]
    pub(crate) fn enter(&mut self, now: Instant, op: &Op) -> Instant {
        let Some(bandwidth) = self.bandwidth else { return now + self.latency };
        let transfer = u128::from(op.length) * 1_000_000_000 / u128::from(bandwidth.get());
        self.free = now.max(self.free) + Span::from_nanos(transfer as u64);
        self.free + self.latency
    }
}
