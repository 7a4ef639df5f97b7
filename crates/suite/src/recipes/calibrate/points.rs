//! What a load showed.
//!
//! Knows nothing about which load comes next.

use plimsoll_record::{Bins, Tally};
use plimsoll_units::{Kind, Span};

use super::Outstanding;
use super::search::Tried;
use crate::seen::{IoSeen, WorkerSeen};

/// What a load showed.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub(super) load: Outstanding,
    /// Small operations a second.
    pub(super) iops: f64,
    /// Bytes a second of large operations.
    pub(super) bytes_s: f64,
    /// Response times of small reads.
    pub(super) reads: Bins,
    /// Response times of small writes.
    pub(super) writes: Bins,
    /// Response times of large operations.
    pub(super) large: Bins,
}

impl Point {
    /// Of a step whose first worker asks for the small operations, where there are any.
    pub(super) fn of(load: Outstanding, seen: &IoSeen) -> Self {
        let (small, large) = seen.workers.split_at(usize::from(load.small > 0).min(seen.workers.len()));
        let span = seen.span().as_secs_f64().max(1e-9);
        let (of_small, of_large) = (total(small), total(large));
        Self {
            load,
            iops: of_small.operations() as f64 / span,
            bytes_s: of_large.bytes() as f64 / span,
            reads: of_small.response_where(|counter| counter.kind == Kind::Read),
            writes: of_small.response_where(|counter| counter.kind.writes()),
            large: of_large.response(),
        }
    }

    /// MiB a second of large operations: Orion's megabytes are binary.
    pub(super) fn mbps(&self) -> f64 {
        self.bytes_s / f64::from(1 << 20)
    }

    /// Response times of small operations of both kinds.
    pub(super) fn small(&self) -> Bins {
        let mut all = self.reads.clone();
        all.merge(&self.writes);
        all
    }

    /// Mean latency of small operations.
    pub(super) fn latency(&self) -> Span {
        self.small().mean().unwrap_or(Span::ZERO)
    }

    /// What a search looks at.
    pub(super) fn tried(&self) -> Tried {
        let Outstanding { small, large } = self.load;
        let (outstanding, rate) = if small > 0 { (small, self.iops) } else { (large, self.bytes_s) };
        let latency = if small > 0 { self.latency() } else { self.large.mean().unwrap_or(Span::ZERO) };
        Tried { outstanding, rate, latency }
    }
}

fn total(workers: &[WorkerSeen]) -> Tally {
    let mut total = Tally::default();
    for worker in workers {
        total.merge(&worker.total());
    }
    total
}
