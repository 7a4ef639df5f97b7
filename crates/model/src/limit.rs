//! A limit: no window holds more than its rate allows, evenly but for a burst.
//!
//! The generic cell rate algorithm (ITU-T I.371) keeps one theoretical arrival time instead of a bucket that has to be
//! refilled: exact at any rate, however it is asked.

use plimsoll_units::{Bytes, Instant, Op, Span};

use crate::spec::Rate;

const NANOS: u128 = 1_000_000_000;

#[derive(Clone, Debug)]
pub(crate) struct Limit {
    rate: Rate,
    burst: u64,
    unit: Option<Bytes>,
    /// When a steady flow would send its next operation.
    theoretical: Instant,
    /// The part of a nanosecond that `theoretical` leaves out, over the rate's denominator.
    remainder: u64,
    /// What one unit takes: whole nanoseconds, and the rest over the rate's denominator.
    one: (u64, u64),
}

impl Limit {
    pub(crate) fn new(rate: Rate, burst: u64, unit: Option<Bytes>) -> Self {
        Self { rate, burst, unit, theoretical: Instant::ZERO, remainder: 0, one: time_of_one(rate) }
    }

    #[inline]
    pub(crate) fn enter(&mut self, now: Instant, op: &Op) -> Instant {
        let cost = self.cost(op);
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

    /// True when an operation at `now` would not have to wait.
    pub(crate) fn conforms(&self, now: Instant, op: &Op) -> bool {
        now >= self.theoretical - self.tolerance(self.cost(op))
    }

    /// When all that was let through would have passed at the rate without a burst.
    pub(crate) const fn empty_at(&self) -> Instant {
        self.theoretical
    }

    #[inline]
    fn cost(&self, op: &Op) -> u64 {
        match (self.rate, self.unit) {
            (Rate::Bytes(_), _) => u64::from(op.length),
            (Rate::Operations(_), None) => 1,
            (Rate::Operations(_), Some(unit)) => u64::from(op.length).div_ceil(unit.get()).max(1),
        }
    }

    /// How far ahead of a steady flow an operation of this cost may be.
    #[inline]
    fn tolerance(&self, cost: u64) -> Span {
        let spare = self.burst.saturating_sub(cost);
        if spare == 0 {
            return Span::ZERO;
        }
        let (numerator, denominator) = fraction(self.rate);
        Span::from_nanos(u64::try_from(u128::from(spare) * numerator / u128::from(denominator)).unwrap_or(u64::MAX))
    }

    /// Moves the theoretical time on by what `cost` takes, exactly.
    #[inline]
    fn charge(&mut self, cost: u64) {
        if cost == 1 {
            let (whole, rest) = self.one;
            self.theoretical += Span::from_nanos(whole);
            // Less than twice the denominator: one carry at most, and no overflow for rates below 2^63.
            self.remainder += rest;
            let denominator = fraction(self.rate).1;
            if self.remainder >= denominator {
                self.remainder -= denominator;
                self.theoretical += Span::from_nanos(1);
            }
            return;
        }
        let (numerator, denominator) = fraction(self.rate);
        let time = u128::from(cost) * numerator + u128::from(self.remainder);
        let (whole, rest) = match u64::try_from(time) {
            Ok(time) => (time / denominator, time % denominator),
            Err(_) => ((time / u128::from(denominator)) as u64, (time % u128::from(denominator)) as u64),
        };
        self.remainder = rest;
        self.theoretical += Span::from_nanos(whole);
    }

    /// Changes the rate; what was already let through stays charged. False when the units differ.
    pub(crate) fn change(&mut self, rate: Rate) -> bool {
        let same = core::mem::discriminant(&self.rate) == core::mem::discriminant(&rate);
        if same {
            self.rate = rate;
            self.one = time_of_one(rate);
            self.remainder = 0;
        }
        same
    }
}

/// Nanoseconds per unit as a fraction.
#[inline]
fn fraction(rate: Rate) -> (u128, u64) {
    match rate {
        Rate::Operations(iops) => (u128::from(iops.seconds) * NANOS, iops.ops),
        Rate::Bytes(rate) => (NANOS, rate.get()),
    }
}

fn time_of_one(rate: Rate) -> (u64, u64) {
    let (numerator, denominator) = fraction(rate);
    let whole = u64::try_from(numerator / u128::from(denominator)).unwrap_or(u64::MAX);
    (whole, (numerator % u128::from(denominator)) as u64)
}
