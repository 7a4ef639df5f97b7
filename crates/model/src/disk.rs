//! A rotating disk: seeks, rotation and transfer, and a queue to choose from.
//!
//! A seek over a share `d` of the disk takes `settle + b * sqrt(d)` (Ruemmler and Wilkes 1994, their short seeks; the
//! mean of `sqrt(d)` between two random places is 8/15). Choosing from `n` waiting operations shortens positioning by
//! `n^gain`: a power law, which fits measurements of SATA disks better than an ideal order. A read that
//! skips a short way forward is not sought: the drive reads on, at the rate of a transfer.

use alloc::collections::VecDeque;

use fastrand::Rng;
use plimsoll_units::{Instant, Kind, Op, Span};

use crate::spec::DiskSpec;

/// Mean of the square root of the distance between two uniform places on a unit interval.
const MEAN_ROOT: f64 = 8.0 / 15.0;

#[derive(Clone, Debug)]
pub(crate) struct Disk {
    spec: DiskSpec,
    /// Waiting passages; the first is being served.
    queue: VecDeque<(u32, Op)>,
    /// Head position: the byte after the last operation.
    head: u64,
    /// Completion time of the last operation.
    left: Instant,
    rng: Rng,
}

impl Disk {
    pub(crate) fn new(spec: DiskSpec, seed: u64) -> Self {
        Self { spec, queue: VecDeque::new(), head: 0, left: Instant::ZERO, rng: Rng::with_seed(seed) }
    }

    /// Completion time of `passage`, if it is served at once.
    pub(crate) fn enter(&mut self, now: Instant, passage: u32, op: &Op) -> Option<Instant> {
        self.queue.push_back((passage, *op));
        (self.queue.len() == 1).then(|| now + self.serve(now, 1))
    }

    /// Completes the first passage; returns the next with its completion time.
    pub(crate) fn leave(&mut self, now: Instant) -> Option<(u32, Instant)> {
        self.queue.pop_front();
        self.left = now;
        let (passage, _) = *self.queue.front()?;
        // In a closed load the answered client submits again at once, and the drive seeks after that.
        let choice = self.queue.len() as u32 + 1;
        Some((passage, now + self.serve(now, choice)))
    }

    /// Service time of the first in the queue from `now` on, if chosen from `choice` operations.
    fn serve(&mut self, now: Instant, choice: u32) -> Span {
        let (_, op) = self.queue[0];
        if op.kind == Kind::Flush {
            return Span::ZERO;
        }
        let place = op.offset.min(self.spec.capacity.get()) as f64 / self.spec.capacity.get() as f64;
        let (outer, inner) = (self.spec.outer.get() as f64, self.spec.inner.get() as f64);
        let rate = outer + (inner - outer) * place;
        let transfer = f64::from(op.length) / rate * 1e9;
        let is_moved = self.spec.idle.is_some_and(|idle| now.since(self.left) > idle);
        let skipped = op.offset.checked_sub(self.head).filter(|_| !is_moved);
        let positioning = match skipped {
            Some(0) => 0.0,
            // The drive reads on: what is skipped passes below the head, cheaper than a seek if it is a part of a track.
            Some(bytes) if op.kind == Kind::Read => self.positioning(place, choice).min(bytes as f64 / rate * 1e9),
            _ => self.positioning(place, choice),
        };
        self.head = op.offset + u64::from(op.length);
        Span::from_nanos((positioning + transfer + 0.5) as u64)
    }

    fn positioning(&mut self, place: f64, choice: u32) -> f64 {
        let from = self.head.min(self.spec.capacity.get()) as f64 / self.spec.capacity.get() as f64;
        let settle = self.spec.settle.as_nanos() as f64;
        let slope = (self.spec.seek.as_nanos() as f64 - settle) / MEAN_ROOT;
        let seek = settle + slope * libm::sqrt((place - from).abs());
        let rotation = self.rng.f64() * self.spec.turn.as_nanos() as f64;
        let choice = choice.min(self.spec.queue);
        (seek + rotation) * libm::pow(f64::from(choice), -self.spec.gain)
    }
}
