//! Models at both ends of their burst credits.

use plimsoll_model::{ChainSpec, LimitChange, Rate};
use plimsoll_units::Bytes;

use crate::offer::{Ceiling, Offer};
use crate::standing::Standing;

/// Credits for fewer seconds of their rate are the tolerance of a limit.
const MIN_CREDITS_S: f64 = 1.0;

/// Burst that stands for used-up credits, in operations and bytes. Loads below the rate refill credits, which absorb random
/// arrivals: a limit without any burst would delay these. Loads above it use up so few at once.
const REFILLED: (u64, Bytes) = (16, Bytes::mib(4));

/// A model at both ends of its burst credits.
#[derive(Clone, Debug, PartialEq)]
pub struct CreditModels {
    /// With no more credits than a load below the rate refills.
    pub used_up: ChainSpec,
    /// With credits that do not end; `None` if no other stage takes time.
    pub full: Option<ChainSpec>,
}

impl CreditModels {
    /// The models of stages whose limits have credits if their burst lasts; `None` without credits.
    pub fn of_stages(model: &ChainSpec) -> Option<Self> {
        Self::of(model, |rate, burst| burst as f64 >= MIN_CREDITS_S * per_second(rate))
    }

    fn of(model: &ChainSpec, is_credit: impl Fn(Rate, u64) -> bool) -> Option<Self> {
        let changed = |change: &dyn Fn(Rate) -> LimitChange| {
            model.with_limits(&|rate, burst| {
                let is_burst = burst > refilled(rate) && is_credit(rate, burst);
                if is_burst { change(rate) } else { LimitChange::Retain }
            })
        };
        let used_up = changed(&|rate| LimitChange::Burst(refilled(rate)));
        let full = || ChainSpec::new(changed(&|_| LimitChange::Remove).stages().to_vec()).ok();
        (used_up != *model).then(|| Self { used_up, full: full() })
    }
}

impl Offer {
    /// The model of this offer, or its limits, at both ends of its burst credits; `None` without credits.
    pub fn credit_models(&self, model: &ChainSpec) -> Option<CreditModels> {
        let credits = |ceiling: &Ceiling, rate: Rate| {
            let (credits, each_second) = match rate {
                Rate::Operations(_) => (ceiling.credits?, ceiling.iops?),
                Rate::Bytes(_) => (ceiling.credit_bytes?, ceiling.bytes_per_second?),
            };
            (credits >= MIN_CREDITS_S * each_second).then_some(credits.round() as u64)
        };
        CreditModels::of(model, |rate, burst| self.ceilings.iter().any(|ceiling| credits(ceiling, rate) == Some(burst)))
    }
}

fn refilled(rate: Rate) -> u64 {
    match rate {
        Rate::Operations(_) => REFILLED.0,
        Rate::Bytes(_) => REFILLED.1.get(),
    }
}

fn per_second(rate: Rate) -> f64 {
    match rate {
        Rate::Operations(iops) => iops.as_f64(),
        Rate::Bytes(throughput) => throughput.get() as f64,
    }
}

impl Standing {
    /// Seconds for which full credits carry so many operations per second; `None` if this load spends none.
    pub fn credits_last_s(&self, iops: f64) -> Option<f64> {
        let spent = self.buckets.iter().filter(|bucket| bucket.bound.iops < iops);
        spent.map(|bucket| bucket.operations / (iops - bucket.bound.iops)).min_by(f64::total_cmp)
    }
}
