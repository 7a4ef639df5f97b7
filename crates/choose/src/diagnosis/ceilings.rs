//! Demand of each window in relation to the ceilings of a configuration.
//!
//! Each stream uses a ceiling according to its own size and direction; the uses add up.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_catalogue::{Ask, Counts, Offer};
use plimsoll_ingest::{DatabaseDemand, Measure, Slot};
use plimsoll_units::Bytes;

use super::totals::{WindowStream, split_streams, total};

/// A subject's use of a configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferUse {
    /// The configuration, in command-line notation.
    pub config: String,
    /// Windows with a rate, which may be zero.
    pub windows: usize,
    /// Its ceilings, by descending use.
    pub ceilings: Vec<CeilingUse>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CeilingUse {
    pub name: Arc<str>,
    pub counts: Counts,
    /// Use in the busiest window; 1 is the ceiling.
    pub highest: f64,
    /// Demand in that window: the counted operations or bytes per second.
    pub demand: f64,
    /// Allowed rate of that mix: operations or bytes per second.
    pub allows: f64,
    pub slot: Slot,
    /// Mean use over time.
    pub mean: f64,
    /// Windows with at least 95 % use.
    pub near: usize,
}

/// Use from which a window counts as at the ceiling.
pub(super) const NEAR: f64 = 0.95;

/// Compares the demand with the ceilings without burst credits.
pub(super) fn on(subject: &DatabaseDemand, offer: &Offer) -> OfferUse {
    let mut uses: BTreeMap<(usize, bool), (CeilingUse, f64)> = BTreeMap::new();
    let (mut windows, mut seconds) = (0, 0.0);
    for (index, slot) in subject.slots.iter().enumerate() {
        let streams = split_streams(subject, index);
        let length_s = slot.length.as_secs_f64();
        // An idle window is known, and uses no ceiling.
        let is_counted = !streams.is_empty() || total(subject, Measure::Iops, index).is_some();
        windows += usize::from(is_counted);
        seconds += if is_counted { length_s } else { 0.0 };
        for ((ceiling, counts), used) in of_window(offer, &streams) {
            let used_now = CeilingUse {
                name: Arc::clone(&offer.ceilings[ceiling].name),
                counts,
                highest: used.share,
                demand: used.demand,
                allows: used.demand / used.share,
                slot: *slot,
                mean: 0.0,
                near: usize::from(used.share >= NEAR),
            };
            let key = (ceiling, counts == Counts::Bytes);
            let (retained, sum) = uses.entry(key).or_insert_with(|| (CeilingUse { near: 0, ..used_now.clone() }, 0.0));
            *sum += used.share * length_s;
            let near = retained.near + used_now.near;
            if used_now.highest > retained.highest {
                *retained = used_now;
            }
            retained.near = near;
        }
    }
    let mean = |(used, sum): (CeilingUse, f64)| CeilingUse { mean: sum / seconds, ..used };
    let mut ceilings: Vec<CeilingUse> = uses.into_values().map(mean).collect();
    ceilings.sort_by(|a, b| b.highest.total_cmp(&a.highest));
    OfferUse { config: offer.short().to_string(), windows, ceilings }
}

/// Use of a ceiling in a window.
#[derive(Clone, Copy, Debug, Default)]
struct Used {
    share: f64,
    /// Counted operations or bytes.
    demand: f64,
}

fn of_window(offer: &Offer, streams: &[WindowStream]) -> Vec<((usize, Counts), Used)> {
    /// Assumed size of operations without a known size: the smallest usual size.
    const DEFAULT_BYTES: f64 = 4_096.0;
    let mut used: Vec<((usize, Counts), Used)> = Vec::new();
    for stream in streams {
        let bytes = stream.bytes.unwrap_or(DEFAULT_BYTES);
        let ask = Ask {
            block: Bytes::new(bytes.max(1.0).round() as u64),
            reads: stream.reads,
            sequential: stream.sequential,
        };
        for bound in offer.standing(&ask).bounds {
            if bound.counts == Counts::Bytes && stream.bytes.is_none() {
                continue;
            }
            let key = (bound.ceiling, bound.counts);
            if !used.iter().any(|(existing, _)| *existing == key) {
                used.push((key, Used::default()));
            }
            for (_, sum) in used.iter_mut().filter(|(existing, _)| *existing == key) {
                sum.share += stream.iops / bound.iops;
                sum.demand += if bound.counts == Counts::Bytes { stream.iops * bytes } else { stream.iops };
            }
        }
    }
    used.retain(|(_, used)| used.share > 0.0);
    used
}
