//! Recent seconds of a volume, as a display shows them.

use std::collections::VecDeque;

use plimsoll_record::Bins;
use plimsoll_units::{Instant, Span};
use plimsoll_volume::{Breach, Export, FidelityVerdict, Period, Volumes};

use crate::api;

/// Number of seconds kept.
const KEPT: usize = 600;

/// Recent seconds of a volume.
#[derive(Debug, Default)]
pub(crate) struct RecentSeconds {
    periods: VecDeque<api::Period>,
    /// Earliest start of unread seconds, in model time.
    until: Instant,
}

impl RecentSeconds {
    /// Earliest start of unread seconds.
    pub const fn until(&self) -> Instant {
        self.until
    }

    /// Latest second with replies.
    pub fn last(&self) -> Option<&api::Period> {
        self.periods.back()
    }

    /// All kept seconds with replies, oldest first.
    pub fn periods(&self) -> impl Iterator<Item = &api::Period> {
        self.periods.iter()
    }

    pub fn absorb(&mut self, fresh: &[Period]) {
        for period in fresh {
            self.until = period.start + Span::from_nanos(1);
            if self.periods.len() == KEPT {
                self.periods.pop_front();
            }
            self.periods.push_back(summarize(period));
        }
    }
}

/// Seconds of an export that begin at `from` or later.
pub(crate) fn periods_since(volumes: &Volumes, export: Export, from: Instant) -> Vec<Period> {
    let periods = volumes.fidelity(export).map(plimsoll_volume::Fidelity::periods);
    let new = periods.into_iter().flat_map(|periods| periods.rev().take_while(|period| period.start >= from));
    let mut fresh: Vec<Period> = new.cloned().collect();
    fresh.reverse();
    fresh
}

fn summarize(period: &Period) -> api::Period {
    let sum = |of: fn(&plimsoll_volume::FidelityWindow) -> u64| period.windows.iter().map(of).sum::<u64>();
    let quantile = |bins: &Bins, share| bins.quantile(share).map_or(0, Span::as_nanos);
    let verdict = match period.verdict {
        FidelityVerdict::Idle | FidelityVerdict::Faithful => "faithful",
        FidelityVerdict::Unfaithful(Breach::Median) => "median late",
        FidelityVerdict::Unfaithful(Breach::Tail) => "tail late",
        FidelityVerdict::Unfaithful(Breach::Flow) => "flow differs",
        FidelityVerdict::Unfaithful(Breach::Offered) => "offered less",
    };
    api::Period {
        start_s: period.start.as_nanos() / 1_000_000_000,
        ops: sum(|window| window.achieved.ops),
        bytes: sum(|window| window.achieved.bytes),
        model_ops: sum(|window| window.model.ops),
        p50_ns: quantile(&period.response, 0.5),
        p99_ns: quantile(&period.response, 0.99),
        late_p50_ns: quantile(&period.lateness, 0.5),
        late_p99_ns: quantile(&period.lateness, 0.99),
        verdict: verdict.to_owned(),
    }
}
