//! Statistics of a volume: counters, and its recent seconds.
//!
//! The ring loop keeps seconds as histograms. Percentiles are computed here once per second, so that frequent queries
//! cost the loop little.

use std::collections::VecDeque;

use plimsoll_record::Bins;
use plimsoll_units::{Instant, Span};
use plimsoll_volume::{Breach, Class, Export, Period, Totals, Verdict, Volumes};

use crate::api;
use crate::moment;
use crate::refusal::Refusal;
use crate::service::{Service, State};
use crate::volume::Volume;

/// Number of seconds kept.
const KEPT: usize = 600;

/// Recent seconds of a volume.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    periods: VecDeque<api::Period>,
    /// Earliest start of unread seconds, in model time.
    until: Instant,
}

/// Values read from a volume in a single step of the loop.
#[derive(Debug)]
struct Reading {
    totals: Totals,
    fresh: Vec<Period>,
    counted: (u64, u64),
    lateness: Bins,
    in_flight: u32,
}

impl Watch {
    /// Earliest start of unread seconds.
    pub const fn until(&self) -> Instant {
        self.until
    }

    pub fn absorb(&mut self, fresh: &[Period]) {
        for period in fresh {
            self.until = period.start + Span::from_nanos(1);
            if self.periods.len() == KEPT {
                self.periods.pop_front();
            }
            self.periods.push_back(shown(period));
        }
    }
}

/// Seconds of an export that begin at `from` or later.
pub(crate) fn fresh(volumes: &Volumes, export: Export, from: Instant) -> Vec<Period> {
    let periods = volumes.fidelity(export).map(|fidelity| fidelity.periods().filter(|period| period.start >= from));
    periods.into_iter().flatten().cloned().collect()
}

impl Service {
    /// Counters, and the fidelity of recent seconds.
    pub fn stats(&self, name: &str) -> Result<api::Stats, Refusal> {
        let mut state = self.state();
        let volume = state.volume_mut(name)?;
        let (export, from) = (volume.export, volume.watch.until());
        let reading = self.inner.handle.call(move |server| {
            let (volumes, ..) = server.volumes();
            let fidelity = volumes.fidelity(export);
            Reading {
                totals: volumes.totals(export).cloned().unwrap_or_default(),
                fresh: fresh(volumes, export, from),
                counted: fidelity.map_or((0, 0), plimsoll_volume::Fidelity::counted),
                lateness: fidelity.map(|fidelity| fidelity.lateness().clone()).unwrap_or_default(),
                in_flight: volumes.in_flight(export),
            }
        })?;
        volume.watch.absorb(&reading.fresh);
        let (volume, slow) = (state.volume(name)?, self.inner.options.slow.times());
        Ok(stats(&state, volume, reading, slow))
    }
}

fn stats(state: &State, volume: &Volume, reading: Reading, slow: u32) -> api::Stats {
    let Reading { totals, counted: (faithful, unfaithful), lateness, in_flight, .. } = reading;
    let count = |class: Class| api::KindCount {
        kind: class.name().to_owned(),
        ops: totals.ops[class.index()],
        bytes: totals.bytes[class.index()],
        errors: totals.errors[class.index()],
    };
    let (damaged, damaged_reads) = state.damages.of(volume.name());
    let periods: Vec<api::Period> = volume.watch.periods.iter().cloned().collect();
    api::Stats {
        at: moment::now(),
        slow,
        counts: Class::ALL.map(count).to_vec(),
        bound_by: bound_by(state, volume, &totals),
        in_flight,
        last: periods.last().cloned(),
        periods,
        faithful,
        unfaithful,
        lateness_sum_ns: lateness.sum_ns,
        damaged,
        damaged_reads,
        lateness: lateness.upper_bounds().map(|(upto, count)| api::Bin { upto_ns: upto.as_nanos(), count }).collect(),
    }
}

/// Replies by the limit that held them longest.
fn bound_by(state: &State, volume: &Volume, totals: &Totals) -> Vec<api::BoundCount> {
    let count = |limit: String, count: u64| api::BoundCount { limit, count };
    let own = totals.bound_by_volume().map(|(name, times)| count(name.to_owned(), times));
    let group = volume.metadata.group.as_ref().and_then(|group| state.groups.get(group));
    let stages = group.into_iter().flat_map(|group| &group.stages);
    let shared = stages.zip(&totals.bound_by_group).map(|(name, times)| count(format!("group: {name}"), *times));
    let fault = count("fault".to_owned(), totals.bound_by_fault);
    own.chain(shared).chain([fault]).filter(|bound| bound.count > 0).collect()
}

fn shown(period: &Period) -> api::Period {
    let sum = |of: fn(&plimsoll_volume::Window) -> u64| period.windows.iter().map(of).sum::<u64>();
    let quantile = |bins: &Bins, share| bins.quantile(share).map_or(0, Span::as_nanos);
    let verdict = match period.verdict {
        Verdict::Idle | Verdict::Faithful => "faithful",
        Verdict::Unfaithful(Breach::Median) => "median late",
        Verdict::Unfaithful(Breach::Tail) => "tail late",
        Verdict::Unfaithful(Breach::Flow) => "flow differs",
        Verdict::Unfaithful(Breach::Offered) => "offered less",
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
