//! Mean and variance of the service times of servers, disks and caches.

use plimsoll_units::Kind;

use super::network::CentreFlow;
use crate::spec::{Demand, DiskSpec};

/// Mean (ns) and variance of the service time of an operation that moves `bytes`.
pub(super) fn served(demand: &Demand, kind: Kind, bytes: f64) -> (f64, f64) {
    let mean = match kind {
        Kind::Read => demand.mean,
        Kind::Write | Kind::DurableWrite | Kind::Trim => demand.write.unwrap_or(demand.mean),
        Kind::Flush => demand.flush.unwrap_or(demand.mean),
    };
    let mean = mean.as_nanos() as f64;
    let transfer = demand.rate_of(kind).map_or(0.0, |rate| bytes * 1e9 / rate.get() as f64);
    (mean + transfer, demand.spread.scv() * mean * mean)
}

/// Positioning and transfer times of a disk that serves a single operation at a time, ns, and the variance of their
/// sum.
///
/// The distance of two random places within a share `d` of the disk has the mean root `8/15 * sqrt(d)` and the mean
/// `d/3`.
pub(super) fn disk_time(disk: &DiskSpec, flow: &CentreFlow) -> (f64, f64, f64) {
    if flow.kind == Kind::Flush {
        return (0.0, 0.0, 0.0);
    }
    let used = (flow.space / disk.capacity.get() as f64).clamp(0.0, 1.0);
    let (turn, settle) = (disk.turn.as_nanos() as f64, disk.settle.as_nanos() as f64);
    let slope = (disk.seek.as_nanos() as f64 - settle) * 15.0 / 8.0;
    let jumps = 1.0 - flow.sequential;
    let mean = settle + slope * libm::sqrt(used) * 8.0 / 15.0 + turn / 2.0;
    let variance = slope * slope * used * (1.0 / 3.0 - 64.0 / 225.0) + turn * turn / 12.0;
    let (outer, inner) = (disk.outer.get() as f64, disk.inner.get() as f64);
    let change = (inner - outer) * used / outer;
    let slowdown = if change.abs() < 1e-9 { 1.0 } else { libm::log1p(change) / change };
    let transfer = flow.length * 1e9 / outer * slowdown;
    (jumps * mean, transfer, jumps * (variance + mean * mean) - jumps * jumps * mean * mean)
}

/// Hit ratio of a cache that tracks its blocks, under uniform reads and writes: the cached share of the space.
/// Sequential reads hit only the block that the previous read loaded, unless the whole space is cached.
pub(super) fn clock_hits(capacity: f64, grain: f64, flow: &CentreFlow) -> f64 {
    if flow.kind != Kind::Read {
        return 0.0;
    }
    let residence = (capacity / flow.space.max(1.0)).min(1.0);
    if residence >= 1.0 {
        return 1.0;
    }
    let neighbour = 1.0 - (flow.length / grain).min(1.0);
    flow.sequential * neighbour + (1.0 - flow.sequential) * residence
}
