//! A link: serial transfers, then a latency that overlaps between operations.

use plimsoll_units::{Instant, Kind, Op, Span, Throughput};

use crate::spec::Duplex;

#[derive(Clone, Debug)]
pub(crate) struct Link {
    latency: Span,
    bandwidth: Option<Throughput>,
    duplex: Duplex,
    /// Time at which each direction is free; half duplex uses the first for all operations.
    free: [Instant; 2],
}

impl Link {
    pub(crate) fn new(latency: Span, bandwidth: Option<Throughput>, duplex: Duplex) -> Self {
        Self { latency, bandwidth, duplex, free: [Instant::ZERO; 2] }
    }

    #[inline]
    pub(crate) fn enter(&mut self, now: Instant, op: &Op) -> Instant {
        let Some(bandwidth) = self.bandwidth else { return now + self.latency };
        let transfer = u128::from(op.length) * 1_000_000_000 / u128::from(bandwidth.get());
        let outward = self.duplex == Duplex::Full && op.kind != Kind::Read;
        let free = &mut self.free[usize::from(outward)];
        *free = now.max(*free) + Span::from_nanos(transfer as u64);
        *free + self.latency
    }
}
