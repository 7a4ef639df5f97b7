//! One slot of a sweep: one load offered once, for a fraction of a second, from an empty queue.

use plimsoll_load::Pace;
use plimsoll_units::{Instant, Kind, Span};
use serde::{Deserialize, Serialize};

use crate::histogram::Bins;
use crate::objective::{Measure, Objective};
use crate::run::{Run, Slice};
use crate::tally::Tally;

/// Why a slot was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SlotRole {
    /// A closed load, for the highest rate that the storage completes.
    Most,
    /// An open load at a fixed share of that rate, for a first look at the curve.
    Scout,
    /// An open load near the load line, or one of the two anchors away from it.
    Pass,
    /// A closed load that uses up burst allowances before a hold.
    Soak,
    /// A window of an open load that is held without a pause, to see whether it lasts.
    Hold,
}

/// One load, offered once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadSlot {
    /// The pace of the leading stream. Open loads are rungs: 10^(i/40) operations per second.
    pub offered: Pace,
    /// Why it was measured.
    pub role: SlotRole,
    /// Number of the pass or of the hold, from 0; slots of one pass follow each other in random order.
    pub pass: u32,
    /// From the start of the measurement to the first operation offered, in nanoseconds.
    #[serde(rename = "start_ns")]
    pub start: Instant,
    /// Time at its start that is in no figure, in nanoseconds.
    #[serde(rename = "warm_up_ns")]
    pub warm_up: Span,
    /// The time that was measured, in nanoseconds, without the time in which the queue drained.
    #[serde(rename = "span_ns")]
    pub span: Span,
    /// Operations completed per second of that time, by all streams.
    pub iops: f64,
    /// Of these, the operations of the streams beside the leading one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub beside_iops: f64,
    /// Response times of the operations that arrived after the warm-up, the drained ones included, by kind.
    pub response: Vec<(Kind, Bins)>,
    /// How far the generator overslept the arrivals.
    #[serde(default, skip_serializing_if = "Bins::is_empty")]
    pub lateness: Bins,
}

// Serde hands out a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

impl LoadSlot {
    /// The slot that a run was.
    pub fn of(run: &Run, role: SlotRole, pass: u32, start: Instant) -> Self {
        let (warm_up, lateness) = (run.warm_up, run.lateness.coarse());
        let whole = Self::of_tally(run.offered, &run.total, run.figures.iops.value, run.span);
        Self { role, pass, start, warm_up, lateness, ..whole }
    }

    /// A window of a run that was not paused, as a slot: a slice of its series. The lateness of the generator within
    /// it is not known.
    pub fn window(run: &Run, slice: &Slice, role: SlotRole, pass: u32, start: Instant) -> Self {
        let iops = slice.tally.operations() as f64 / slice.span.as_secs_f64().max(1e-9);
        Self { role, pass, start, ..Self::of_tally(run.offered, &slice.tally, iops, slice.span) }
    }

    fn of_tally(offered: Pace, tally: &Tally, iops: f64, span: Span) -> Self {
        let mut response: Vec<(Kind, Bins)> = Vec::new();
        for counter in &tally.0 {
            match response.iter_mut().find(|(kind, _)| *kind == counter.kind) {
                Some((_, bins)) => bins.merge(&counter.response),
                None => response.push((counter.kind, counter.response.clone())),
            }
        }
        let beside = tally.only(|counter| counter.stream != 0).operations();
        let share = beside as f64 / tally.operations().max(1) as f64;
        Self {
            offered,
            role: SlotRole::Pass,
            pass: 0,
            start: Instant::ZERO,
            warm_up: Span::ZERO,
            span,
            iops,
            beside_iops: iops * share,
            response,
            lateness: Bins::default(),
        }
    }

    /// The size of the offered load: operations per second of the leading stream, or how many a closed load keeps
    /// outstanding, such as sessions.
    pub fn load(&self) -> f64 {
        match self.offered {
            Pace::Open { rate, .. } => rate.as_f64(),
            Pace::Closed { depth } => f64::from(depth),
        }
    }

    /// Operations per second that the leading stream offered; `None` for a closed load.
    pub fn rate(&self) -> Option<f64> {
        match self.offered {
            Pace::Open { rate, .. } => Some(rate.as_f64()),
            Pace::Closed { .. } => None,
        }
    }

    /// Operations within the objective's scope, and how many of them took longer than its limit.
    pub fn late(&self, objective: &Objective) -> (u64, u64) {
        let counted = self.response.iter().filter(|(kind, _)| objective.over.covers(*kind));
        counted.fold((0, 0), |(all, late), (_, bins)| (all + bins.count, late + bins.above(objective.limit)))
    }

    /// The objective's measure over the operations within its scope; `None` where there were none.
    pub fn measured(&self, objective: &Objective) -> Option<Span> {
        let mut all = Bins::default();
        let counted = self.response.iter().filter(|(kind, _)| objective.over.covers(*kind));
        counted.for_each(|(_, bins)| all.merge(bins));
        match objective.measure {
            Measure::Mean => all.mean(),
            Measure::Quantile(share) => all.quantile(share),
        }
    }
}
