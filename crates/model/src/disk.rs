//! A rotating disk: seeks, rotation and transfer, and a queue to choose from.
//!
//! A seek over a share `d` of the disk takes `settle + b * sqrt(d)` (Ruemmler and Wilkes 1994, their short seeks; the
//! mean of `sqrt(d)` between two random places is 8/15). Choosing from `n` waiting operations shortens positioning by
//! `n^gain` (from a depth on): a power law, which fits measurements of SATA disks better than an ideal order. The choice is made shortly
//! after the previous operation: the client of a closed load has submitted its next one by then, while a member of an
//! array rarely receives it. An operation a short way ahead is not sought: its place comes by at the rate of a transfer,
//! after the time in which the head settles for a write. A write that has to be durable, or follows a flush, waits for
//! the rest of a turn if its place has just passed the head: a log that is appended or rewritten commits once a turn at
//! most.

use alloc::collections::VecDeque;

use fastrand::Rng;
use plimsoll_units::{Instant, Kind, Op, Span};

use crate::spec::DiskSpec;

/// Mean of the square root of the distance between two uniform places on a unit interval.
const MEAN_ROOT: f64 = 8.0 / 15.0;
/// Time after an operation in which the drive accepts others before it chooses: more than a client takes to submit its
/// next one, and less than any positioning.
const CHOICE: Span = Span::from_micros(100);

#[derive(Clone, Debug)]
pub(crate) struct Disk {
    spec: DiskSpec,
    /// Waiting passages; the first is being served.
    queue: VecDeque<(u32, Op)>,
    /// Head position: the byte after the last operation.
    head: u64,
    /// Completion time of the last operation.
    left: Instant,
    /// End of the last transfer.
    transferred: Instant,
    /// True after a flush, until the next operation.
    flushed: bool,
    /// True if the next operation arrived while the disk was idle.
    is_late: bool,
    /// True while the next operation is not chosen.
    choosing: bool,
    rng: Rng,
}

/// Effect of an event of a [`Disk`].
pub(crate) enum DiskEffect {
    /// The next operation is chosen: its completion time.
    Chosen(Instant),
    /// The first passage is served: the next passage, and the time of its completion or of the choice.
    Served(Option<(u32, DiskStart)>),
}

/// Start of a service.
pub(crate) enum DiskStart {
    /// Completes at this time.
    Known(Instant),
    /// Chosen at this time.
    Chosen(Instant),
}

impl Disk {
    pub(crate) fn new(spec: DiskSpec, seed: u64) -> Self {
        let (queue, left, rng) = (VecDeque::new(), Instant::ZERO, Rng::with_seed(seed));
        Self { spec, queue, head: 0, left, transferred: left, flushed: false, is_late: false, choosing: false, rng }
    }

    /// Completion time of `passage`, if it is served at once.
    pub(crate) fn enter(&mut self, now: Instant, passage: u32, op: &Op) -> Option<Instant> {
        self.queue.push_back((passage, *op));
        if self.queue.len() > 1 {
            return None;
        }
        // It was requested after the last transfer: its place has passed.
        self.is_late = true;
        Some(now + self.serve(now, 1))
    }

    /// Completes the first passage, or chooses it.
    pub(crate) fn event(&mut self, now: Instant) -> DiskEffect {
        if core::mem::take(&mut self.choosing) {
            let choice = self.queue.len() as u32;
            let left = self.left;
            return DiskEffect::Chosen((left + self.serve(left, choice)).max(now));
        }
        if self.queue.pop_front().is_some_and(|(_, op)| op.kind != Kind::Flush) {
            self.transferred = now;
        }
        self.left = now;
        let Some(&(passage, op)) = self.queue.front() else { return DiskEffect::Served(None) };
        let is_near =
            op.kind == Kind::Flush || self.comes_by(now, &op).is_some_and(|ns| ns <= CHOICE.as_nanos() as f64);
        let start = if is_near {
            DiskStart::Known(now + self.serve(now, 1))
        } else {
            self.choosing = true;
            DiskStart::Chosen(now + CHOICE)
        };
        DiskEffect::Served(Some((passage, start)))
    }

    /// Bytes per ns at the place of an operation.
    fn rate(&self, op: &Op) -> f64 {
        let (outer, inner) = (self.spec.outer.get() as f64, self.spec.inner.get() as f64);
        (outer + (inner - outer) * self.place(op.offset)) / 1e9
    }

    /// Share of the disk before an offset.
    fn place(&self, offset: u64) -> f64 {
        offset.min(self.spec.capacity.get()) as f64 / self.spec.capacity.get() as f64
    }

    /// True if other users have moved the head since the last operation.
    fn is_moved(&self, now: Instant) -> bool {
        self.spec.idle.is_some_and(|idle| now.since(self.left) > idle)
    }

    /// Time until the place of an operation ahead of the head comes by without a seek, ns.
    fn comes_by(&self, now: Instant, op: &Op) -> Option<f64> {
        let ahead = op.offset.checked_sub(self.head).filter(|_| !self.is_moved(now))?;
        Some(ahead as f64 / self.rate(op))
    }

    /// Service time of the first in the queue from `now` on, if chosen from `choice` operations.
    fn serve(&mut self, now: Instant, choice: u32) -> Span {
        let (_, op) = self.queue[0];
        let is_late = core::mem::take(&mut self.is_late);
        if op.kind == Kind::Flush {
            self.flushed = true;
            return Span::ZERO;
        }
        let is_committed =
            core::mem::take(&mut self.flushed) && op.kind == Kind::Write || op.kind == Kind::DurableWrite;
        let transfer = f64::from(op.length) / self.rate(&op);
        let round = self.comes_round(now, &op, is_late).filter(|_| is_committed);
        let positioning = match round.or_else(|| self.comes_by(now, &op)) {
            Some(ns) if ns == 0.0 || round.is_some() => ns,
            Some(ns) if op.kind == Kind::Read => self.positioning(op.offset, choice).min(ns),
            // The head has to settle before it writes, also on the track on which it is.
            Some(ns) => self.positioning(op.offset, choice).min(ns.max(self.spec.settle.as_nanos() as f64)),
            None => self.positioning(op.offset, choice),
        };
        self.head = op.offset + u64::from(op.length);
        Span::from_nanos((positioning + transfer + 0.5) as u64)
    }

    /// Time until the head is again at the start of an operation on the part of the track that it has just passed, ns;
    /// a whole turn, if `is_late`, of one that follows the last operation.
    fn comes_round(&self, now: Instant, op: &Op, is_late: bool) -> Option<f64> {
        let turn = self.spec.turn.as_nanos();
        let behind = (self.head.checked_sub(op.offset)? as f64 / self.rate(op)) as u64;
        if behind >= turn || self.is_moved(now) {
            return None;
        }
        let passed = (now.since(self.transferred).as_nanos() + behind) % turn;
        Some(if passed == 0 && !is_late { 0.0 } else { (turn - passed) as f64 })
    }

    fn positioning(&mut self, offset: u64, choice: u32) -> f64 {
        let (place, from) = (self.place(offset), self.place(self.head));
        let settle = self.spec.settle.as_nanos() as f64;
        let slope = (self.spec.seek.as_nanos() as f64 - settle) / MEAN_ROOT;
        let seek = settle + slope * libm::sqrt((place - from).abs());
        let rotation = self.rng.f64() * self.spec.turn.as_nanos() as f64;
        (seek + rotation) * self.spec.positioning_share(choice)
    }
}
