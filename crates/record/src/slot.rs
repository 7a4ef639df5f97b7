//! A slot of a sweep: a load offered once, for a fraction of a second, starting with an empty queue.

use plimsoll_load::Pace;
use plimsoll_units::{Instant, Kind, Span};
use serde::{Deserialize, Serialize};

use crate::histogram::Bins;
use crate::objective::{Measure, Objective};
use crate::run::{Run, Slice};
use crate::tally::Tally;

/// Purpose of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SlotRole {
    /// A closed load that determines the highest completed rate.
    #[serde(rename = "most")]
    Max,
    /// An open load at a fixed share of that rate, for a first estimate of the curve.
    Scout,
    /// An open load near the load line, or an anchor away from it.
    Pass,
    /// A closed load that exhausts burst allowances before a hold.
    Soak,
    /// A window of an open load held without a pause, to test whether it lasts.
    Hold,
}

/// Processor time that the host withheld from the generator during a slot. Unknown values are absent, never zero.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostDelay {
    /// Observed time in nanoseconds: the slot with its warm-up and draining.
    #[serde(rename = "elapsed_ns")]
    pub elapsed: Span,
    /// Time stolen by the hypervisor, averaged over the processors, in nanoseconds. The kernel counts it in units of
    /// usually 10 ms of a processor.
    #[serde(rename = "stolen_ns", default, skip_serializing_if = "Option::is_none")]
    pub stolen: Option<Span>,
    /// Time for which the processor limit of a control group stopped the processes of the group, in nanoseconds; summed
    /// over the processors that they used.
    #[serde(rename = "throttled_ns", default, skip_serializing_if = "Option::is_none")]
    pub throttled: Option<Span>,
    /// Time for which the generator was ready to run and waited for a processor (run delay), in nanoseconds; averaged
    /// over its loops.
    #[serde(rename = "run_delay_ns", default, skip_serializing_if = "Option::is_none")]
    pub run_delay: Option<Span>,
    /// Waits for a processor of at least a millisecond, of all loops; part of `run_delay`.
    #[serde(default, skip_serializing_if = "Bins::is_empty")]
    pub pauses: Bins,
    /// Number of loops.
    pub loops: u32,
}

impl HostDelay {
    /// Delays of two groups of loops.
    #[must_use]
    pub fn merge_loops(mut self, other: &Self) -> Self {
        let loops = self.loops + other.loops;
        let sum = |delay: &Self| delay.run_delay.map(|span| span * u64::from(delay.loops));
        self.run_delay = sum(&self).zip(sum(other)).map(|(a, b)| (a + b) / u64::from(loops.max(1)));
        self.pauses.merge(&other.pauses);
        Self { loops, ..self }
    }

    /// Adds the delays of the loops to those of their host.
    #[must_use]
    pub fn with_loops(self, loops: Option<Self>) -> Self {
        match loops {
            Some(Self { run_delay, pauses, loops, .. }) => Self { run_delay, pauses, loops, ..self },
            None => self,
        }
    }
}

/// A load offered once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadSlot {
    /// Pace of the leading stream. Rates of open loads are rungs: 10^(i/40) operations per second.
    pub offered: Pace,
    /// Purpose.
    pub role: SlotRole,
    /// Number of the pass or hold, from 0; the slots of a pass are in random order.
    pub pass: u32,
    /// Time from the start of the measurement to the first offered operation, in nanoseconds.
    #[serde(rename = "start_ns")]
    pub start: Instant,
    /// Time at the start that is excluded from all figures, in nanoseconds.
    #[serde(rename = "warm_up_ns")]
    pub warm_up: Span,
    /// Measured time in nanoseconds, without draining.
    #[serde(rename = "span_ns")]
    pub span: Span,
    /// Operations of all streams completed per second of measured time.
    pub iops: f64,
    /// Part of `iops` of the streams other than the leading stream.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub beside_iops: f64,
    /// Response times of the operations that arrived after the warm-up, including drained operations, by kind.
    pub response: Vec<(Kind, Bins)>,
    /// Lateness of the generator.
    #[serde(default, skip_serializing_if = "Bins::is_empty")]
    pub lateness: Bins,
    /// Processor time that the host withheld from the generator; for a window of a held load, that of the whole load.
    /// Absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostDelay>,
}

// Signature required by serde.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

impl LoadSlot {
    /// Converts a run to a slot.
    pub fn of(run: &Run, role: SlotRole, pass: u32, start: Instant) -> Self {
        let (warm_up, lateness) = (run.warm_up, run.lateness.coarse());
        let counted = Self::of_tally(run.offered, &run.total, run.figures.iops.value, run.span);
        Self { role, pass, start, warm_up, lateness, ..counted }
    }

    /// Converts a slice of an unpaused run to a slot. The generator's lateness within it is unknown.
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
            host: None,
        }
    }

    /// Offered load: operations per second of the leading stream, or the number in flight of a closed load (such as
    /// sessions).
    pub fn load(&self) -> f64 {
        match self.offered {
            Pace::Open { rate, .. } => rate.as_f64(),
            Pace::Closed { depth } => f64::from(depth),
        }
    }

    /// Operations per second offered by the leading stream; `None` for a closed load.
    pub fn rate(&self) -> Option<f64> {
        match self.offered {
            Pace::Open { rate, .. } => Some(rate.as_f64()),
            Pace::Closed { .. } => None,
        }
    }

    /// Number of operations in the objective's scope, and number of those above its limit.
    pub fn late(&self, objective: &Objective) -> (u64, u64) {
        let counted = self.response.iter().filter(|(kind, _)| objective.over.covers(*kind));
        counted.fold((0, 0), |(all, late), (_, bins)| (all + bins.count, late + bins.above(objective.limit)))
    }

    /// The objective's measure over the operations in its scope; `None` without any.
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
