//! A rate limit: no time window exceeds the rate by more than a burst.
//!
//! The generic cell rate algorithm (ITU-T I.371) keeps a theoretical arrival time instead of a bucket that has to be
//! refilled: exact at any rate and any interval between calls.

use plimsoll_units::{Bytes, Instant, Op, Span};

use crate::spec::Rate;

const NANOS: u128 = 1_000_000_000;

#[derive(Clone, Debug)]
pub(crate) struct Limit {
    rate: Rate,
    burst: u64,
    unit: Option<Bytes>,
    /// Time at which a steady flow would send its next operation.
    theoretical: Instant,
    /// Fraction of a nanosecond missing from `theoretical`, over the rate's denominator.
    remainder: u64,
    /// Time of a unit: whole nanoseconds, and the rest over the rate's denominator.
    per_unit: (u64, u64),
}

impl Limit {
    pub(crate) fn new(rate: Rate, burst: u64, unit: Option<Bytes>) -> Self {
        Self { rate, burst, unit, theoretical: Instant::ZERO, remainder: 0, per_unit: time_per_unit(rate) }
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

    /// True if an operation at `now` would not wait.
    pub(crate) fn conforms(&self, now: Instant, op: &Op) -> bool {
        now >= self.theoretical - self.tolerance(self.cost(op))
    }

    /// Units that it admits at `now` without a delay.
    pub(crate) fn burst_left(&self, now: Instant) -> u64 {
        let (numerator, denominator) = fraction(self.rate);
        let ahead = u128::from(self.theoretical.since(now).as_nanos()) * u128::from(denominator);
        self.burst.saturating_sub(u64::try_from(ahead.div_ceil(numerator)).unwrap_or(u64::MAX))
    }

    /// Time at which the admitted operations would have passed without a burst.
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

    /// Time by which an operation of this cost may precede a steady flow.
    #[inline]
    fn tolerance(&self, cost: u64) -> Span {
        let spare = self.burst.saturating_sub(cost);
        if spare == 0 {
            return Span::ZERO;
        }
        let (numerator, denominator) = fraction(self.rate);
        Span::from_nanos(u64::try_from(u128::from(spare) * numerator / u128::from(denominator)).unwrap_or(u64::MAX))
    }

    /// Advances the theoretical time by `cost`, exactly.
    #[inline]
    fn charge(&mut self, cost: u64) {
        if cost == 1 {
            let (quotient, remainder) = self.per_unit;
            self.theoretical += Span::from_nanos(quotient);
            // Less than twice the denominator: at most one carry, and no overflow for rates below 2^63.
            self.remainder += remainder;
            let denominator = fraction(self.rate).1;
            if self.remainder >= denominator {
                self.remainder -= denominator;
                self.theoretical += Span::from_nanos(1);
            }
            return;
        }
        let (numerator, denominator) = fraction(self.rate);
        let time = u128::from(cost) * numerator + u128::from(self.remainder);
        let (quotient, remainder) = match u64::try_from(time) {
            Ok(time) => (time / denominator, time % denominator),
            Err(_) => ((time / u128::from(denominator)) as u64, (time % u128::from(denominator)) as u64),
        };
        self.remainder = remainder;
        self.theoretical += Span::from_nanos(quotient);
    }

    /// Changes the rate; admitted operations stay charged. False if the units differ.
    pub(crate) fn change(&mut self, rate: Rate) -> bool {
        let same = core::mem::discriminant(&self.rate) == core::mem::discriminant(&rate);
        if same {
            self.rate = rate;
            self.per_unit = time_per_unit(rate);
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

fn time_per_unit(rate: Rate) -> (u64, u64) {
    let (numerator, denominator) = fraction(rate);
    let quotient = u64::try_from(numerator / u128::from(denominator)).unwrap_or(u64::MAX);
    (quotient, (numerator % u128::from(denominator)) as u64)
}
