//! Throughput of a load under an offer's ceilings, lowest ceiling first.
//!
//! Considers only ceilings: latency and queueing below the ceilings belong to the model.

use plimsoll_model::Layout;
use plimsoll_units::Bytes;
use schemars::JsonSchema;
use serde::Serialize;

use crate::ask::Ask;
use crate::config::Wrap;
use crate::offer::{Ceiling, Offer};
use crate::product::{Access, Kinds};

/// A load under an offer's ceilings.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// Sustained bounds without credits, lowest first: the first binds. Empty if no ceiling is known.
    pub bounds: Vec<Bound>,
    /// Higher bound while credits last.
    pub peak: Option<Peak>,
    /// Buckets of credits that the load can use up.
    pub buckets: Vec<Bucket>,
}

/// Bound of a ceiling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// Index in [`Offer::ceilings`].
    pub ceiling: usize,
    /// Counted quantity.
    pub counts: Counts,
    /// Operations of the given size per second, over the whole configuration.
    pub iops: f64,
    /// The same in bytes per second.
    pub bytes_per_second: f64,
}

/// Quantity counted by a ceiling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Counts {
    /// Operations.
    Operations,
    /// Bytes.
    Bytes,
}

/// A burst.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peak {
    /// The binding ceiling while credits last.
    pub bound: Bound,
    /// Index in [`Offer::ceilings`] of the ceiling whose credits end first.
    pub credits_of: usize,
    /// Seconds at the peak with full credits.
    pub seconds: f64,
}

/// Credits of a ceiling below the peak.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bucket {
    /// The ceiling that binds when they are used up, which refills them at its rate.
    pub bound: Bound,
    /// Operations of the load in full credits.
    pub operations: f64,
}

impl Standing {
    /// The ceiling that binds in the long run.
    pub fn binding(&self) -> Option<&Bound> {
        self.bounds.first()
    }

    /// The ceiling that binds next after a lift of the binding ceiling.
    pub fn next(&self) -> Option<&Bound> {
        let binding = self.binding()?;
        self.bounds.iter().find(|bound| bound.ceiling != binding.ceiling)
    }
}

impl Offer {
    /// Bounds of `ask` under the ceilings.
    ///
    /// # Panics
    /// If the block is empty or the fraction of reads is outside of 0 to 1.
    pub fn standing(&self, ask: &Ask) -> Standing {
        self.standing_of(&[(*ask, 1.0)])
    }

    /// Bounds of a mix of operations with weights: each kind consumes its part of every ceiling. Bounds are in
    /// operations of the whole mix.
    ///
    /// # Panics
    /// As [`Offer::standing`]; and if the weights are not positive in total.
    pub fn standing_of(&self, mix: &[(Ask, f64)]) -> Standing {
        let is_whole = |ask: &Ask| ask.block > Bytes::ZERO && (0.0..=1.0).contains(&ask.reads);
        assert!(mix.iter().all(|(ask, share)| is_whole(ask) && *share >= 0.0), "{mix:?} asks for nothing");
        standing(&self.ceilings, &self.config.wraps, mix)
    }

    /// The declared rate of a bound's ceiling in operations or bytes per second, of all members of an array, for any load. `None`
    /// if it counts both, one after the other.
    pub fn declared_rate(&self, bound: &Bound) -> Option<f64> {
        let ceiling = &self.ceilings[bound.ceiling];
        let rate = match bound.counts {
            Counts::Operations => ceiling.iops,
            Counts::Bytes => ceiling.bytes_per_second,
        };
        let members: u32 = self.config.wraps.iter().map(Wrap::members).product();
        let times = if ceiling.scope.is_shared() { 1 } else { members };
        rate.filter(|_| !ceiling.added).map(|rate| rate * f64::from(times))
    }
}

/// Operations at a ceiling per operation of the load.
#[derive(Clone, Copy, Debug)]
struct Demand {
    reads: f64,
    writes: f64,
    block: f64,
}

impl Demand {
    fn of(ask: &Ask) -> Self {
        Self { reads: ask.reads, writes: 1.0 - ask.reads, block: ask.block.get() as f64 }
    }

    /// The same for a member of an array.
    fn within(self, wrap: &Wrap) -> Self {
        let Wrap::Array { layout, members, interleave } = *wrap else { return self };
        let (n, data) = (f64::from(members), f64::from(wrap.data_members()));
        let chunks = (self.block / interleave.get() as f64).ceil();
        let parts = match layout {
            Layout::Mirror => 1.0,
            Layout::SplitStripe | Layout::SerialStripe => chunks,
            // Neighbouring chunks of a member are merged into a single operation.
            Layout::Stripe | Layout::Raid10 | Layout::Raid5 | Layout::Raid6 => chunks.min(data),
        };
        let whole_rows = self.block % (interleave.get() as f64 * data) == 0.0;
        // Member reads and writes per written chunk.
        let (reads, writes) = match layout {
            Layout::Stripe | Layout::SplitStripe | Layout::SerialStripe => (0.0, 1.0),
            Layout::Mirror => (0.0, n),
            Layout::Raid10 => (0.0, 2.0),
            Layout::Raid5 | Layout::Raid6 if whole_rows => (0.0, n / data),
            Layout::Raid5 => (2.0, 2.0),
            Layout::Raid6 => (3.0, 3.0),
        };
        Self {
            reads: parts * (self.reads + self.writes * reads) / n,
            writes: parts * self.writes * writes / n,
            block: self.block / parts,
        }
    }

    fn counted(self, kinds: Kinds) -> f64 {
        match kinds {
            Kinds::All => self.reads + self.writes,
            Kinds::Read => self.reads,
            Kinds::Write => self.writes,
        }
    }
}

/// A kind of operations of a mix, with its demand.
struct MixKind<'a> {
    ask: &'a Ask,
    share: f64,
    outside: Demand,
    member: Demand,
}

impl MixKind<'_> {
    /// Operations and bytes consumed of a ceiling per operation of the mix.
    fn takes(&self, ceiling: &Ceiling) -> (f64, f64) {
        if !meant_for(ceiling, self.ask) {
            return (0.0, 0.0);
        }
        let demand = if ceiling.scope.is_shared() { self.outside } else { self.member };
        let operations = demand.counted(ceiling.kinds) * self.share;
        let units = ceiling.unit.map_or(1.0, |unit| (demand.block / unit.get() as f64).ceil());
        (operations * units, operations * demand.block)
    }
}

pub(crate) fn standing(ceilings: &[Ceiling], wraps: &[Wrap], mix: &[(Ask, f64)]) -> Standing {
    let total: f64 = mix.iter().map(|(_, share)| share).sum();
    assert!(total > 0.0, "{mix:?} asks for nothing");
    let kinds: Vec<MixKind> = mix
        .iter()
        .map(|(ask, share)| {
            let outside = Demand::of(ask);
            let member = wraps.iter().fold(outside, Demand::within);
            MixKind { ask, share: share / total, outside, member }
        })
        .collect();
    let block: f64 = kinds.iter().map(|kind| kind.share * kind.outside.block).sum();
    let mut limits: Vec<CreditBound> = Vec::new();
    for (index, ceiling) in ceilings.iter().enumerate() {
        let takes = kinds.iter().map(|kind| kind.takes(ceiling));
        let (operations, bytes) = takes.fold((0.0, 0.0), |sum, each| (sum.0 + each.0, sum.1 + each.1));
        let bound = |counts, rate: f64, each: f64| Bound {
            ceiling: index,
            counts,
            iops: rate / each,
            bytes_per_second: rate / each * block,
        };
        if let (true, Some(iops), Some(rate)) = (ceiling.added, ceiling.iops, ceiling.bytes_per_second) {
            let each = operations / iops + bytes / rate;
            if each > 0.0 {
                limits.push(CreditBound { bound: bound(Counts::Operations, 1.0, each), credits: None });
            }
            continue;
        }
        // Consumption of each rate and of its credits per operation of the mix.
        let by_operations = (Counts::Operations, ceiling.iops, operations, ceiling.credits);
        let by_bytes = (Counts::Bytes, ceiling.bytes_per_second, bytes, ceiling.credit_bytes);
        for (counts, rate, each, credits) in [by_operations, by_bytes] {
            if let Some(rate) = rate.filter(|_| each > 0.0) {
                limits.push(CreditBound {
                    bound: bound(counts, rate, each),
                    credits: credits.map(|credits| credits / each),
                });
            }
        }
    }
    let peak = find_peak(&limits);
    let top = peak.map_or(0.0, |peak| peak.bound.iops);
    let draining = limits.iter().filter(|limit| limit.bound.iops < top);
    let buckets =
        draining.filter_map(|limit| Some(Bucket { bound: limit.bound, operations: limit.credits? })).collect();
    let mut bounds: Vec<Bound> = limits.into_iter().map(|limit| limit.bound).collect();
    bounds.sort_by(|a, b| a.iops.total_cmp(&b.iops));
    Standing { bounds, peak, buckets }
}

fn meant_for(ceiling: &Ceiling, ask: &Ask) -> bool {
    match ceiling.access {
        Access::Any => true,
        Access::Sequential => ask.sequential,
        Access::Random => !ask.sequential,
    }
}

/// A bound, and the number of operations in its credits.
struct CreditBound {
    bound: Bound,
    credits: Option<f64>,
}

fn find_peak(limits: &[CreditBound]) -> Option<Peak> {
    let lasting = limits.iter().filter(|limit| limit.credits.is_none());
    let bound = lasting.map(|limit| limit.bound).min_by(|a, b| a.iops.total_cmp(&b.iops))?;
    let draining = limits.iter().filter(|limit| limit.bound.iops < bound.iops);
    let ends =
        draining.filter_map(|limit| Some((limit.bound.ceiling, limit.credits? / (bound.iops - limit.bound.iops))));
    let (credits_of, seconds) = ends.min_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(Peak { bound, credits_of, seconds })
}
