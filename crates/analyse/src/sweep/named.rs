//! Loads given by the user: only these, depths before rates, repeated in turns.

use plimsoll_load::Pace;

use super::{Purpose, Sweep, SweepPoint};

impl Sweep {
    /// Total number of points of the given loads.
    pub(super) fn named_points(&self) -> usize {
        let depths = self.plan.depths.as_ref().map_or(0, Vec::len);
        let rates = self.plan.rates.as_ref().map_or(0, Vec::len);
        (depths + rates) * self.plan.repetitions.max(1) as usize
    }

    /// The next given load. The first round ignores the budget; further points need remaining time.
    pub(super) fn named(&self, left_s: f64) -> Option<SweepPoint> {
        let depths = self.plan.depths.iter().flatten().map(|&depth| Pace::Closed { depth });
        let arrival = self.plan.arrival;
        let rates = self.plan.rates.iter().flatten().map(|&rate| Pace::Open { rate, arrival });
        let loads: Vec<Pace> = depths.chain(rates).collect();
        let (done, all) = (self.issued.len(), self.named_points());
        let first_round = done < loads.len();
        if done >= all || (!first_round && left_s < self.plan.least_point.as_secs_f64()) {
            return None;
        }
        let seconds = self.plan.budget.as_secs_f64() / all as f64 / (1.0 + super::WARM_UP);
        let pace = loads[done % loads.len()];
        let purpose = match pace {
            _ if !first_round => Purpose::Repeat,
            Pace::Closed { .. } => Purpose::Bracket,
            Pace::Open { .. } => Purpose::Below,
        };
        Some(self.point(pace, purpose, seconds, 0.0))
    }
}
