//! The windows of a demand as rates of distinct operations. Limits are linear in the rates, so the catalogue is queried
//! once per distinct operation, and the replay costs a few multiplications per window.

use std::collections::BTreeMap;

use plimsoll_catalogue::{Ask, Counts, Offer};
use plimsoll_units::Bytes;

use super::backlog::{Allowance, Backlog, Replay};
use super::design::{Busiest, ClassLoad, DemandWindow};

/// Sizes of operations are rounded up to this fraction of an octave, at constant bytes per second: rates change by less
/// than 2 %, and the number of chunks and billing units of an operation is preserved.
const STEPS_OF_OCTAVE: u64 = 64;

/// The windows of a demand, in order.
#[derive(Debug, Default)]
pub(super) struct DemandSeries {
    /// The distinct operations.
    asks: Vec<Ask>,
    windows: Vec<Slot>,
    /// Operations of all windows: index into `asks`, and rate.
    rates: Vec<(usize, f64)>,
}

#[derive(Debug)]
struct Slot {
    seconds: f64,
    /// Operations and bytes per second.
    total: [f64; 2],
    /// End of its operations in [`DemandSeries::rates`]; they begin at the end of the preceding slot.
    end: usize,
}

impl DemandSeries {
    pub(super) fn of(windows: &[DemandWindow]) -> Self {
        let mut series = Self::default();
        let mut numbers: BTreeMap<(Bytes, u64, bool), usize> = BTreeMap::new();
        for window in windows {
            for load in &window.classes {
                let ask = rounded(load);
                let number = *numbers.entry((ask.block, ask.reads.to_bits(), ask.sequential)).or_insert_with(|| {
                    series.asks.push(ask);
                    series.asks.len() - 1
                });
                series.rates.push((number, load.bytes_per_second / ask.block.get() as f64));
            }
            let total = Busiest::ALL.map(|of| window.rate(of));
            series.windows.push(Slot { seconds: window.seconds, total, end: series.rates.len() });
        }
        series
    }

    /// Backlog of the series at the tightest limit of an offer in each window; `None` without windows or limits.
    pub(super) fn backlog(&self, offer: &Offer, allowance: &Allowance) -> Option<Backlog> {
        let limits = Limits::of(offer, &self.asks);
        if self.windows.is_empty() || limits.count == 0 {
            return None;
        }
        let mut replay = Replay::new(allowance);
        let mut used = vec![0.0; limits.count];
        let mut begin = 0;
        for slot in &self.windows {
            used.fill(0.0);
            for (ask, rate) in &self.rates[begin..slot.end] {
                for (used, each) in used.iter_mut().zip(limits.of_ask(*ask)) {
                    *used += rate * each;
                }
            }
            begin = slot.end;
            replay.window(slot.seconds, used.iter().copied().fold(0.0, f64::max), slot.total);
        }
        Some(replay.finish())
    }
}

/// Utilisation of each limit of an offer by an operation per second.
struct Limits {
    count: usize,
    /// A row for each ask.
    each: Vec<f64>,
}

impl Limits {
    fn of(offer: &Offer, asks: &[Ask]) -> Self {
        let count = offer.ceilings.len() * 2;
        let mut each = vec![0.0; count * asks.len()];
        for (row, ask) in asks.iter().enumerate() {
            for bound in offer.standing(ask).bounds {
                let counts = usize::from(bound.counts == Counts::Bytes);
                each[row * count + bound.ceiling * 2 + counts] = 1.0 / bound.iops;
            }
        }
        Self { count, each }
    }

    fn of_ask(&self, ask: usize) -> &[f64] {
        &self.each[ask * self.count..(ask + 1) * self.count]
    }
}

/// The operation of a load with rounded size.
fn rounded(load: &ClassLoad) -> Ask {
    let ask = load.ask();
    let step = (ask.block.get().next_power_of_two() / (2 * STEPS_OF_OCTAVE)).max(1);
    Ask { block: Bytes::new(ask.block.get().div_ceil(step) * step), ..ask }
}

#[cfg(test)]
mod tests {
    use plimsoll_catalogue::{Catalogue, Date, PriceTerms};
    use plimsoll_ingest::Class;

    use super::*;
    use crate::requirements::Requirements;

    fn load(class: Class, iops: f64, size: f64) -> ClassLoad {
        let reads = if class == Class::RedoWrite { 0.0 } else { 1.0 };
        ClassLoad { class, iops, bytes_per_second: iops * size, reads, sequential: false, durable: false }
    }

    #[test]
    fn limits_are_linear_in_the_rates() {
        let terms = PriceTerms { as_of: Date::day(2026, 11, 21), currency: None, region: None };
        let config = "stripe(4,64KiB) of aws/gp3:1000GiB,iops=12000".parse().unwrap();
        let offer = Catalogue::built_in().offer(&config, &terms).unwrap();
        let cases =
            [(90_000.0, 1.0, 8192.0), (1.0, 90_000.0, 512.0), (60_000.0, 40_000.0, 20_275.5), (9_000.0, 9.0, 1e6)];
        for (reads, redo, size) in cases {
            let classes = vec![load(Class::RandomRead, reads, size), load(Class::RedoWrite, redo, 4096.0)];
            let asks = classes.iter().map(|class| (class.ask(), class.iops)).collect();
            let utilisation = 1.0 / Requirements::of([asks]).tightest(&offer).unwrap().over;
            assert!(utilisation > 1.0, "{utilisation}");
            let series = DemandSeries::of(&[DemandWindow { seconds: 10.0, classes }]);
            let backlog = series.backlog(&offer, &Allowance::default()).unwrap();
            let found = backlog.longest_wait.as_secs_f64() / 10.0 + 1.0;
            assert!((found / utilisation - 1.0).abs() < 0.02, "{found} {utilisation}");
        }
    }
}
