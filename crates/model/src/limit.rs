//! A limit: no window holds more than its rate allows, evenly but for a burst.
//!
//! The generic cell rate algorithm (ITU-T I.371) keeps one theoretical arrival time instead of a bucket that has to be
//! refilled: exact at any rate, however it is asked.

use plimsoll_units::{Instant, Op, Span};

use crate::stage::Rate;

const NANOS: u128 = 1_000_000_000;

#[derive(Clone, Debug)]
pub(crate) struct Limit {
    rate: Rate,
    burst: u64,
    /// When a steady flow would send its next operation.
    theoretical: Instant,
    /// The part of a nanosecond that `theoretical` leaves out, over the rate's denominator.
    remainder: u64,
}

impl Limit {
    pub(crate) fn new(rate: Rate, burst: u64) -> Self {
        Self { rate, burst, theoretical: Instant::ZERO, remainder: 0 }
    }

    #[inline]
    pub(crate) fn enter(&mut self, now: Instant, op: &Op) -> Instant {
        let cost = match self.rate {
            Rate::Operations(_) => 1,
            Rate::Bytes(_) => u64::from(op.length),
        };
        if cost == 0 {
            return now;
        }
        let leaves = now.max(self.theoretical - self.tolerance(cost));
        if leaves > self.theoretical {
            self.theoretical = leaves;
            self.remainder = 0;
        }
        self.charge(cost);
        leaves
    }

    /// How far ahead of a steady flow an operation of this cost may be.
    fn tolerance(&self, cost: u64) -> Span {
        let spare = self.burst.saturating_sub(cost);
        let (numerator, denominator) = self.fraction();
        Span::from_nanos(u64::try_from(u128::from(spare) * numerator / u128::from(denominator)).unwrap_or(u64::MAX))
    }

    /// Moves the theoretical time on by what `cost` takes, exactly.
    fn charge(&mut self, cost: u64) {
        let (numerator, denominator) = self.fraction();
        let time = u128::from(cost) * numerator + u128::from(self.remainder);
        self.remainder = (time % u128::from(denominator)) as u64;
        self.theoretical += Span::from_nanos((time / u128::from(denominator)) as u64);
    }

    /// Nanoseconds per unit as a fraction.
    fn fraction(&self) -> (u128, u64) {
        match self.rate {
            Rate::Operations(iops) => (u128::from(iops.seconds) * NANOS, iops.ops),
            Rate::Bytes(rate) => (NANOS, rate.get()),
        }
    }

    /// Changes the rate; what was already let through stays charged. False when the units differ.
    pub(crate) fn change(&mut self, rate: Rate) -> bool {
        let same = core::mem::discriminant(&self.rate) == core::mem::discriminant(&rate);
        if same {
            self.rate = rate;
            self.remainder = 0;
        }
        same
    }
}
