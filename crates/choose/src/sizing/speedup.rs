//! The limit that a load without pauses reaches on faster storage: its rate grows until then, and its time falls by less.

use std::sync::Arc;

use plimsoll_catalogue::Offer;

use super::machines::find_machine_bounds;
use super::{Choice, DesignLimit, Sizing, SizingRequirements};
use crate::requirements::Requirements;

/// The first limit of the recommended configuration for a load whose sessions never pause.
#[derive(Clone, Debug, PartialEq)]
pub struct SpeedLimit {
    /// The limit in relation to the mean load of the input.
    pub limit: DesignLimit,
    /// Share of the database's time that is saved when it binds, 0 to 1: less than for the same work at today's rate.
    pub saved: f64,
}

impl Sizing {
    /// The limit that sessions without pauses reach before they save the share of [`Sizing::best_effect`]; `None` without
    /// such a limit or such an effect.
    pub fn speed_limit(&self) -> Option<SpeedLimit> {
        let saved = self.best_effect()?.saved();
        let limits =
            self.best()?.parts(&self.required).into_iter().filter_map(|(demand, choice)| first_limit(demand, choice));
        let first = limits.min_by(|a, b| a.over.total_cmp(&b.over))?;
        let bounded = (1.0 - 1.0 / first.over).max(0.0);
        (bounded < saved).then_some(SpeedLimit { limit: first, saved: bounded })
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
        iops: tight.bound.iops,
        bytes_per_second: tight.bound.bytes_per_second,
        over: tight.over,
    })
}
