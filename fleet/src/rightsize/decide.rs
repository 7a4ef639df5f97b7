//! The decision about a volume: the cheapest configuration that carries its need.

use plimsoll_catalogue::{Catalogue, Offer, OptionValue, PriceTerms, Product, ProductKind};
use plimsoll_choose::sufficient_offers;
use plimsoll_model::analytic::{Offered, capacity, solve};
use serde::{Deserialize, Serialize};

use super::need::{CarriedShare, VolumeNeed, mean_workload};
use crate::replay::Verdict;

/// What to do with a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// A cheaper configuration carries the load.
    Lower,
    /// Limits delay its operations.
    Raise,
    /// The configuration is right.
    Fits,
    /// It had no operation: is it needed?
    Idle,
    /// There is no answer.
    Unknown,
}

/// A reason to doubt a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Risk {
    /// Operations wait for limits: the need is at least the load, by an unknown amount.
    NeedUnknown,
    /// The bytes of points are unknown: the throughput stays as it is.
    ThroughputUnknown,
    /// Points cover so many days only.
    FewDays {
        /// Days.
        days: i64,
    },
    /// No point has both reads and writes.
    LoadUnknown,
    /// Parts of the time whose operations are unknown.
    Gaps {
        /// Number of points without operations.
        points: i64,
        /// Hours without points, or with those.
        hours: i64,
    },
    /// The price was inferred or recalled, or is old.
    UnverifiedPrice,
    /// The level changes only while the volume is detached.
    NeedsDetach,
    /// In the replay, the cheapest configuration would delay operations.
    ReplayDelays {
        /// Thousandths of the operations.
        permille: i64,
    },
    /// Limits of the configuration are not part of a replay: delays are unknown.
    NotReplayed {
        /// Reason.
        reason: String,
    },
    /// No configuration is found, with the reason.
    NoConfiguration {
        /// Reason.
        reason: String,
    },
}

/// Days below which peaks of a month may be missing.
const FEW_DAYS: i64 = 14;
/// Share of the time without operations, in thousandths, that is no gap: single points of clouds are missing or late.
const MAX_MISSING_PERMILLE: i64 = 10;
/// Share of the time at a limit, in millionths, from which a volume is throttled.
const MIN_THROTTLED_MILLIONTHS: i64 = 1_000;
/// Headroom of a throttled volume, whose need is unknown.
const ROOM_OF_THROTTLED: f64 = 1.4;
/// Maximum ratio of the modelled mean latency of another product to that of today's.
const MAX_SLOWDOWN: f64 = 1.2;
/// Maximum share of delayed operations in thousandths.
pub const MAX_DELAYED_PERMILLE: i64 = 10;

/// Rules of decisions.
pub struct Decider<'a> {
    /// The products.
    pub catalogue: &'a Catalogue,
    /// Products to choose from; those of the volume's provider if empty.
    pub to: &'a [String],
    /// Points that have to be carried.
    pub percentile: CarriedShare,
    /// Capacity over need.
    pub room: f64,
}

/// A decision.
#[derive(Clone, Debug)]
pub struct Decision {
    /// What to do.
    pub action: Action,
    /// The need.
    pub need: VolumeNeed,
    /// The best offer, if it differs from today's.
    pub best: Option<(Offer, i64)>,
    /// Reasons to doubt it.
    pub risks: Vec<Risk>,
}

/// Monthly price in millionths; `None` if a part has no price.
pub fn monthly_micros(offer: &Offer) -> Option<i64> {
    let price = offer.price().ok().filter(|price| price.without.is_empty())?;
    i64::try_from(price.monthly.millionths).ok()
}

impl Action {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lower => "lower",
            Self::Raise => "raise",
            Self::Fits => "fits",
            Self::Idle => "idle",
            Self::Unknown => "unknown",
        }
    }
}

impl Decider<'_> {
    /// Decides about a volume with today's offer and its monthly price in millionths.
    pub fn decide(&self, verdict: &Verdict, today: &Offer, cost: i64, terms: &PriceTerms) -> Decision {
        let throttled = is_throttled(verdict);
        let room = if throttled { self.room.max(ROOM_OF_THROTTLED) } else { self.room };
        let mut need = VolumeNeed::of(verdict, self.percentile, today, room);
        let mut risks = risks_of(verdict);
        if throttled {
            risks.push(Risk::NeedUnknown);
            need.raise_to(today);
        }
        let mut best: Option<(Offer, i64)> = None;
        for product in self.products(today) {
            let found = self.sufficient(product, today, &need, room, terms);
            for offer in found {
                let Some(price) = monthly_micros(&offer) else { continue };
                let is_cheaper = best.as_ref().is_none_or(|(_, cheapest)| price < *cheapest);
                if is_cheaper && is_as_fast(&offer, today, verdict) {
                    best = Some((offer, price));
                }
            }
        }
        let is_idle = verdict.total[0] + verdict.total[1] == 0;
        let changes = best.filter(|(_, price)| throttled || *price < cost);
        if let Some((offer, _)) = &changes {
            risks.extend(price_risk(offer));
            risks.extend(needs_detach(today, offer).then_some(Risk::NeedsDetach));
        } else if throttled {
            risks.push(Risk::NoConfiguration { reason: "none of the products carries more".to_owned() });
        }
        let action = match (&changes, throttled) {
            (_, true) => Action::Raise,
            _ if is_idle => Action::Idle,
            (Some(_), _) => Action::Lower,
            (None, _) => Action::Fits,
        };
        Decision { action, need, best: changes, risks }
    }

    fn products(&self, today: &Offer) -> Vec<&Product> {
        if !self.to.is_empty() {
            return self.to.iter().filter_map(|name| self.catalogue.find(name).ok()).collect();
        }
        let provider = |product: &Product| product.name().split('/').next().unwrap_or_default().to_owned();
        let own = provider(today.product());
        let products = self.catalogue.products();
        let is_alternative = |product: &&Product| {
            product.name() == today.product().name()
                || product.ranked() && product.kind() == ProductKind::Volume && provider(product) == own
        };
        products.filter(is_alternative).collect()
    }

    /// Configurations of a product that carry the need; volumes do not shrink.
    fn sufficient(
        &self,
        product: &Product,
        today: &Offer,
        need: &VolumeNeed,
        room: f64,
        terms: &PriceTerms,
    ) -> Vec<Offer> {
        let mixes = need.mixes.clone();
        let found = sufficient_offers(self.catalogue, product, today.capacity, mixes, room, terms);
        found.unwrap_or_default()
    }
}

/// True if limits delay the operations of a volume: by the provider's checks, or without checks by its rates.
pub fn is_throttled(verdict: &Verdict) -> bool {
    let reaches = |part: i64, of: i64| part > 0 && part * 1_000_000 >= of * MIN_THROTTLED_MILLIONTHS;
    if verdict.checked_points > 0 {
        reaches(verdict.exceeded_points, verdict.checked_points)
    } else {
        reaches(verdict.pinned_seconds, verdict.seconds)
    }
}

fn risks_of(verdict: &Verdict) -> Vec<Risk> {
    let days = verdict.seconds / 86_400;
    let mut risks = Vec::new();
    risks.extend((days < FEW_DAYS).then_some(Risk::FewDays { days }));
    // Levels cover all of the time from the first point to the end of the last one.
    let time: i64 = verdict.level_seconds.iter().sum();
    let (points, missing) = (verdict.unknown_points, time - verdict.seconds);
    let has_gaps = points > 0 || missing * 1_000 > time * MAX_MISSING_PERMILLE;
    risks.extend(has_gaps.then_some(Risk::Gaps { points, hours: missing / 3_600 }));
    risks.extend((verdict.points_without_bytes > 0).then_some(Risk::ThroughputUnknown));
    risks
}

fn price_risk(offer: &Offer) -> Option<Risk> {
    let price = offer.price().ok()?;
    (!price.doubts().is_empty()).then_some(Risk::UnverifiedPrice)
}

/// True if the mean latency at the mean load is about that of today's product or less, as far as it is modelled.
fn is_as_fast(offer: &Offer, today: &Offer, verdict: &Verdict) -> bool {
    if offer.product().name() == today.product().name() {
        return true;
    }
    let (workload, iops) = mean_workload(verdict);
    let mean_ns = |offer: &Offer| {
        let model = offer.model().ok()?;
        let sustained = capacity(&model, &workload).iops * 0.9;
        Some(solve(&model, &workload, Offered::Open { iops: iops.min(sustained) }).mean_ns)
    };
    match (mean_ns(offer), mean_ns(today)) {
        (Some(new), Some(present)) => new <= present * MAX_SLOWDOWN,
        _ => false,
    }
}

/// The value of a numeric option.
pub fn number(offer: &Offer, option: &str) -> Option<f64> {
    match offer.options.iter().find(|chosen| &*chosen.name == option)?.value.as_ref()? {
        OptionValue::Number(number) => Some(*number),
        OptionValue::Text(_) => None,
    }
}

/// True for a change of OCI's level from or to 30 VPUs and more, which needs a detached volume.
fn needs_detach(today: &Offer, offer: &Offer) -> bool {
    let is_high = |offer: &Offer| number(offer, "vpu").is_some_and(|vpu| vpu >= 30.0);
    let (before, after) = (number(today, "vpu"), number(offer, "vpu"));
    (is_high(today) || is_high(offer)) && before.zip(after).is_some_and(|(before, after)| (before - after).abs() > 0.5)
}
