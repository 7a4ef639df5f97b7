//! Back-pressure: operations above a rate are delayed.

use plimsoll_units::{Instant, Op, Span};

use crate::limit::Limit;
use crate::spec::Rate;

#[derive(Clone, Debug)]
pub(crate) struct Pressure {
    allowance: Limit,
    delay: Span,
}

impl Pressure {
    pub(crate) fn new(rate: Rate, burst: u64, delay: Span) -> Self {
        Self { allowance: Limit::new(rate, burst, None), delay }
    }

    /// Operations above the allowance do not consume it, so that the pressure ends with the overload.
    pub(crate) fn enter(&mut self, now: Instant, op: &Op) -> Instant {
        if self.allowance.conforms(now, op) {
            self.allowance.enter(now, op);
            now
        } else {
            now + self.delay
        }
    }
}
