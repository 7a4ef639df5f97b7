//! What is asked in each window beside the ceilings of a configuration.
//!
//! A ceiling is used by each stream in its own size and direction; what they use of it adds up.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_catalogue::{Ask, Counts, Offer};
use plimsoll_ingest::{Slot, Subject};
use plimsoll_units::Bytes;

use super::totals::{Stream, streams};

/// A subject's demand on a configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct OnOffer {
    /// The configuration, as it is typed.
    pub config: String,
    /// Windows that say a rate.
    pub windows: usize,
    /// Its ceilings, the one with the highest use first.
    pub ceilings: Vec<CeilingUse>,
}

/// How much of a ceiling is used.
#[derive(Clone, Debug, PartialEq)]
pub struct CeilingUse {
    /// Its name.
    pub name: Arc<str>,
    /// What it counts.
    pub counts: Counts,
    /// The use in the busiest window: 1 is all of it.
    pub highest: f64,
    /// What was asked then: operations or bytes a second, of those that it counts.
    pub asked: f64,
    /// What it allows of that mix: operations or bytes a second.
    pub allows: f64,
    /// The window.
    pub slot: Slot,
    /// The use in the mean over time.
    pub mean: f64,
    /// Windows at or above 95 % of it.
    pub near: usize,
}

/// The use of a ceiling from which a window is at it.
pub(super) const NEAR: f64 = 0.95;

/// Puts the demand beside the ceilings that hold when credits are used up.
pub(super) fn on(subject: &Subject, offer: &Offer) -> OnOffer {
    let mut uses: BTreeMap<(usize, bool), (CeilingUse, f64)> = BTreeMap::new();
    let (mut windows, mut seconds) = (0, 0.0);
    for (index, slot) in subject.slots.iter().enumerate() {
        let streams = streams(subject, index);
        let length_s = slot.length.as_secs_f64();
        windows += usize::from(!streams.is_empty());
        seconds += if streams.is_empty() { 0.0 } else { length_s };
        for ((ceiling, counts), used) in of_window(offer, &streams) {
            let one = CeilingUse {
                name: Arc::clone(&offer.ceilings[ceiling].name),
                counts,
                highest: used.share,
                asked: used.asked,
                allows: used.asked / used.share,
                slot: *slot,
                mean: 0.0,
                near: usize::from(used.share >= NEAR),
            };
            let key = (ceiling, counts == Counts::Bytes);
            let (kept, sum) = uses.entry(key).or_insert_with(|| (CeilingUse { near: 0, ..one.clone() }, 0.0));
            *sum += used.share * length_s;
            let near = kept.near + one.near;
            if one.highest > kept.highest {
                *kept = one;
            }
            kept.near = near;
        }
    }
    let mean = |(used, sum): (CeilingUse, f64)| CeilingUse { mean: sum / seconds, ..used };
    let mut ceilings: Vec<CeilingUse> = uses.into_values().map(mean).collect();
    ceilings.sort_by(|a, b| b.highest.total_cmp(&a.highest));
    OnOffer { config: offer.short().to_string(), windows, ceilings }
}

/// How much of a ceiling a window uses.
#[derive(Clone, Copy, Debug, Default)]
struct Used {
    share: f64,
    /// Operations or bytes of those that it counts.
    asked: f64,
}

fn of_window(offer: &Offer, streams: &[Stream]) -> Vec<((usize, Counts), Used)> {
    /// The size of operations that an input says no size of: the least that a disk is asked for.
    const LEAST: f64 = 4_096.0;
    let mut used: Vec<((usize, Counts), Used)> = Vec::new();
    for stream in streams {
        let bytes = stream.bytes.unwrap_or(LEAST);
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
            if !used.iter().any(|(known, _)| *known == key) {
                used.push((key, Used::default()));
            }
            for (_, sum) in used.iter_mut().filter(|(known, _)| *known == key) {
                sum.share += stream.iops / bound.iops;
                sum.asked += if bound.counts == Counts::Bytes { stream.iops * bytes } else { stream.iops };
            }
        }
    }
    used.retain(|(_, used)| used.share > 0.0);
    used
}
