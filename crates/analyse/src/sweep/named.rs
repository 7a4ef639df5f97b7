//! Loads given by the user: only these, depths before rates, repeated in turns.

use plimsoll_load::Pace;

use super::{Purpose, Sweep, SweepPoint};

impl Sweep {
    /// The given loads, depths before rates.
    pub(super) fn named_loads(&self) -> Vec<Pace> {
        let depths = self.plan.depths.iter().flatten().map(|&depth| Pace::Closed { depth });
        let arrival = self.plan.arrival;
        let rates = self.plan.rates.iter().flatten().map(|&rate| Pace::Open { rate, arrival });
        depths.chain(rates).collect()
    }

    /// Total number of points of the given loads.
    pub(super) fn named_points(&self) -> usize {
        self.named_loads().len() * self.plan.repetitions.max(1) as usize
    }

    /// The next given load. The first round ignores the budget; further points need remaining time, unless their time
    /// is fixed: all repetitions have a share of the budget.
    pub(super) fn named(&self, left_s: f64) -> Option<SweepPoint> {
        let (least, loads) = (self.plan.least_point, self.named_loads());
        let (done, all) = (self.issued.len(), self.named_points());
        let first_round = done < loads.len();
        let has_time = first_round || least >= self.plan.max_point || left_s >= least.as_secs_f64();
        if done >= all || !has_time {
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
