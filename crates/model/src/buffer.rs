//! A buffer with a steady drain: writes are answered at once while it has room, and at the drain rate when it is full.
//!
//! The fluid rule for memory that journals writes (NVRAM): a burst at rate `a` above the drain `d` lasts
//! `capacity / (a - d)`, then the drain binds.

use plimsoll_units::{Bytes, Instant, Kind, Op, Throughput};

use crate::limit::Limit;
use crate::spec::{Flushing, Rate};

#[derive(Clone, Debug)]
pub(crate) struct Buffer {
    drain: Limit,
    flushing: Flushing,
}

impl Buffer {
    pub(crate) fn new(capacity: Bytes, drain: Throughput, flushing: Flushing) -> Self {
        Self { drain: Limit::new(Rate::Bytes(drain), capacity.get(), None), flushing }
    }

    pub(crate) fn enter(&mut self, now: Instant, op: &Op) -> Instant {
        let waits = self.flushing == Flushing::Honoured;
        match op.kind {
            Kind::Read => now,
            Kind::Flush if !waits => now,
            Kind::Flush => now.max(self.drain.empty_at()),
            Kind::DurableWrite if waits => {
                self.drain.enter(now, op);
                now.max(self.drain.empty_at())
            }
            Kind::Write | Kind::DurableWrite | Kind::Trim => self.drain.enter(now, op),
        }
    }
}
