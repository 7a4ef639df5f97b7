//! The limit that a load without pauses reaches on faster storage: its rate grows until then, and its time falls by less.

use std::sync::Arc;

use plimsoll_catalogue::Offer;

use super::machines::find_machine_bounds;
use super::{Choice, DesignLimit, Sizing, SizingRequirements};
use crate::requirements::Requirements;

/// The first limit of the recommended configuration for a load whose sessions never pause.
#[derive(Clone, Debug, PartialEq)]
pub struct SpeedLimit {
    pub limit: SpeedBound,
    /// Share of the database's time that is saved when it binds, 0 to 1: less than for the same work at today's rate.
    pub saved: f64,
}

/// A limit of a load without pauses, in relation to the mean load of the input.
#[derive(Clone, Debug, PartialEq)]
pub enum SpeedBound {
    /// Of the storage, or of the machine for storage.
    Storage(DesignLimit),
    /// All processors of the machine are in use.
    Processors {
        /// Their number (vCPUs).
        vcpus: f64,
        /// Their number as a multiple of those in use at the mean load.
        over: f64,
    },
}

impl SpeedBound {
    /// The limit as a multiple of the mean load.
    pub const fn over(&self) -> f64 {
        match self {
            Self::Storage(limit) => limit.over,
            Self::Processors { over, .. } => *over,
        }
    }
}

impl Sizing {
    /// The limit that sessions without pauses reach before they save the share of [`Sizing::best_effect`]; `None` without
    /// such a limit or such an effect.
    pub fn speed_limit(&self) -> Option<SpeedLimit> {
        let saved = self.best_effect()?.saved();
        let limits =
            self.best()?.parts(&self.required).into_iter().filter_map(|(demand, choice)| first_limit(demand, choice));
        let limits = limits.map(SpeedBound::Storage).chain(self.processor_limit());
        let first = limits.min_by(|a, b| a.over().total_cmp(&b.over()))?;
        let bounded = (1.0 - 1.0 / first.over()).max(0.0);
        (bounded < saved).then_some(SpeedLimit { limit: first, saved: bounded })
    }

    /// The processors of the machine relative to those in use; `None` if either is unknown.
    fn processor_limit(&self) -> Option<SpeedBound> {
        let vcpus = self.best_machine()?.offer.machine_shape()?.vcpus?;
        let used = self.required.mean_processors()?;
        (used > 0.0).then(|| SpeedBound::Processors { vcpus, over: vcpus / used })
    }
}

/// The tightest limit of a choice and its machine at the mean load of the input.
fn first_limit(demand: &SizingRequirements, choice: &Choice) -> Option<DesignLimit> {
    let usual = demand.usual();
    let required = Requirements::of([usual.asks()]);
    let offer: &Offer = choice.machine.as_ref().map_or(&choice.offer, |machine| &machine.offer);
    let tight = find_machine_bounds(&required, offer, demand.machine_parts()).into_iter().next()?;
    Some(DesignLimit {
        name: Arc::clone(&offer.ceilings[tight.bound.ceiling].name),
        counts: tight.bound.counts,
        point: usual.of,
        declared: offer.declared_rate(&tight.bound),
        iops: tight.bound.iops,
        bytes_per_second: tight.bound.bytes_per_second,
        over: tight.over,
    })
}
