//! What a volume has cost so far, exactly: by level, size and nanosecond.
//!
//! A month has 730 hours, as price lists count. A provider's minimum (often a minute) is not in it.

use std::collections::BTreeMap;

use plimsoll_units::{Instant, Span};

/// Nanoseconds of a month of 730 hours.
const MONTH_NS: u128 = 730 * 3_600 * 1_000_000_000;

/// Money: millionths of a unit of some currency, which the caller knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Millionths(pub u64);

/// What a GB costs in a month: for itself, and for each unit of its level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prices {
    /// For itself.
    pub per_gb: Millionths,
    /// For each unit of the level, such as a VPU.
    pub per_gb_and_unit: Millionths,
}

impl Prices {
    /// What `size_gb` at a level cost in `span`, to the nearest millionth: what a fixed level would have cost.
    pub const fn cost(&self, size_gb: u64, level: u32, span: Span) -> Millionths {
        rounded(self.exact(size_gb, level) * span.as_nanos() as u128)
    }

    /// Millionths a month.
    const fn exact(&self, size_gb: u64, level: u32) -> u128 {
        (self.per_gb.0 as u128 + self.per_gb_and_unit.0 as u128 * level as u128) * size_gb as u128
    }
}

/// What a volume cost at one level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metered {
    /// For how long it had the level.
    pub span: Span,
    /// What that cost, to the nearest millionth.
    pub cost: Millionths,
}

/// The cost of one volume since it was made.
#[derive(Clone, Debug)]
pub struct Meter {
    prices: Prices,
    size_gb: u64,
    level: u32,
    /// Until when all is counted.
    until: Instant,
    /// By level: time, and millionths times nanoseconds a month.
    levels: BTreeMap<u32, (Span, u128)>,
}

impl Meter {
    /// A volume of `size_gb` (as its provider counts them) at a level, made at `now`.
    pub const fn new(now: Instant, prices: Prices, size_gb: u64, level: u32) -> Self {
        Self { prices, size_gb, level, until: now, levels: BTreeMap::new() }
    }

    /// It has another level from now on.
    pub fn set_level(&mut self, now: Instant, level: u32) {
        self.count(now);
        self.level = level;
    }

    /// It has another size from now on.
    pub fn set_size(&mut self, now: Instant, size_gb: u64) {
        self.count(now);
        self.size_gb = size_gb;
    }

    /// What it cost until now, to the nearest millionth.
    pub fn cost(&mut self, now: Instant) -> Millionths {
        self.count(now);
        rounded(self.levels.values().map(|(_, cost)| cost).sum())
    }

    /// The same by level. Each is rounded by itself, so their sum may differ from [`Meter::cost`] by half a millionth
    /// for each level.
    pub fn by_level(&mut self, now: Instant) -> BTreeMap<u32, Metered> {
        self.count(now);
        let metered = |(span, cost): (Span, u128)| Metered { span, cost: rounded(cost) };
        self.levels.iter().map(|(level, counted)| (*level, metered(*counted))).collect()
    }

    fn count(&mut self, now: Instant) {
        let span = now.since(self.until);
        if span.is_zero() {
            return;
        }
        self.until = now;
        let counted = self.levels.entry(self.level).or_default();
        counted.0 += span;
        counted.1 += self.prices.exact(self.size_gb, self.level) * u128::from(span.as_nanos());
    }
}

/// Half a millionth is rounded up.
const fn rounded(exact: u128) -> Millionths {
    let millionths = (exact + MONTH_NS / 2) / MONTH_NS;
    Millionths(if millionths > u64::MAX as u128 { u64::MAX } else { millionths as u64 })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Published prices of one provider in USD: 0.0255 a GB and month, 0.0017 more for each VPU.
    const PRICES: Prices = Prices { per_gb: Millionths(25_500), per_gb_and_unit: Millionths(1_700) };

    #[test]
    fn a_month_costs_what_the_price_list_says() {
        let month = Span::from_secs(730 * 3_600);
        // 1,000 GB at 10 VPU: 1,000 x (0.0255 + 10 x 0.0017) = 42.50.
        assert_eq!(PRICES.cost(1_000, 10, month), Millionths(42_500_000));
        assert_eq!(PRICES.cost(50, 0, month), Millionths(1_275_000));
        let mut meter = Meter::new(Instant::ZERO, PRICES, 1_000, 10);
        assert_eq!(meter.cost(Instant::ZERO + month), Millionths(42_500_000));
    }

    proptest! {
        #[test]
        fn however_often_it_is_asked_it_says_the_same(
            changes in prop::collection::vec((1..10_000_000_000_000_u64, 0..13_u32, 50..32_768_u64), 1..40),
        ) {
            let (mut often, mut seldom) = (Meter::new(Instant::ZERO, PRICES, 50, 10), Meter::new(Instant::ZERO, PRICES, 50, 10));
            let (mut now, mut exact, mut rate) = (Instant::ZERO, 0_u128, PRICES.exact(50, 10));
            for (gap, level, size) in changes {
                often.cost(now + Span::from_nanos(gap / 3));
                now += Span::from_nanos(gap);
                exact += rate * u128::from(gap);
                for meter in [&mut often, &mut seldom] {
                    meter.set_level(now, level * 10);
                    meter.set_size(now, size);
                }
                rate = PRICES.exact(size, level * 10);
            }
            prop_assert_eq!(often.cost(now), seldom.cost(now));
            prop_assert_eq!(seldom.cost(now), rounded(exact));
            let spans: u64 = seldom.by_level(now).values().map(|metered| metered.span.as_nanos()).sum();
            prop_assert_eq!(spans, now.as_nanos());
        }
    }
}
