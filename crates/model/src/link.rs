//! A link: serial transfers on each path, then a latency that overlaps between operations.

use alloc::vec;
use alloc::vec::Vec;

use plimsoll_units::{Instant, Kind, Op, Span, Throughput};

use crate::spec::Duplex;

#[derive(Clone, Debug)]
pub(crate) struct Link {
    latency: Span,
    bandwidth: Option<Throughput>,
    duplex: Duplex,
    /// Time at which each direction of each path is free; half duplex uses the first for all operations.
    free: Vec<[Instant; 2]>,
}

impl Link {
    pub(crate) fn new(latency: Span, bandwidth: Option<Throughput>, duplex: Duplex, paths: u8) -> Self {
        Self { latency, bandwidth, duplex, free: vec![[Instant::ZERO; 2]; usize::from(paths)] }
    }

    /// An operation without a path takes the path that is free first.
    #[inline]
    pub(crate) fn enter(&mut self, now: Instant, op: &Op, path: Option<u8>) -> Instant {
        let Some(bandwidth) = self.bandwidth else { return now + self.latency };
        let transfer = u128::from(op.length) * 1_000_000_000 / u128::from(bandwidth.get());
        let outward = self.duplex == Duplex::Full && op.kind != Kind::Read;
        let direction = usize::from(outward);
        let first = || (0..self.free.len()).min_by_key(|path| self.free[*path][direction]);
        let path = path.map_or_else(|| first().unwrap_or(0), |path| usize::from(path) % self.free.len());
        let free = &mut self.free[path][direction];
        *free = now.max(*free) + Span::from_nanos(transfer as u64);
        *free + self.latency
    }
}
