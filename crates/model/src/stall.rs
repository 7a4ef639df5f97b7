//! A stall: operations that arrive during it leave at its end.

use plimsoll_units::{Instant, Span};

#[derive(Clone, Debug)]
pub(crate) struct Stall {
    every: Span,
    length: Span,
}

impl Stall {
    pub(crate) fn new(every: Span, length: Span) -> Self {
        Self { every, length }
    }

    pub(crate) fn enter(&mut self, now: Instant) -> Instant {
        let into_period = Span::from_nanos(now.as_nanos() % self.every.as_nanos());
        let left = self.every - into_period;
        if left <= self.length { now + left } else { now }
    }
}
