//! From a series of slices to the figures of a run: trims the warm-up, and tests for steadiness.
//!
//! Of the offered load, only its pace and end are used.

use plimsoll_load::Pace;
use plimsoll_record::{Bins, Figures, Finding, Measure, Objective, Scope, Slice, Steadiness, Tally};
use plimsoll_units::{Instant, Span};

use crate::batch::{self, ReducedSlice, Sums};
use crate::overload::OfferedLoad;
use crate::{drift, interval, overload, rate_drop, warm_up};

/// The duration of a series.
pub fn total_span(series: &[Slice]) -> Span {
    series.iter().fold(Span::ZERO, |sum, slice| sum + slice.span)
}

/// Operations per second and 99th percentile of a whole series; no percentile without operations.
pub fn mean_rate(series: &[Slice]) -> (f64, Option<Span>) {
    let mut response = Bins::default();
    for slice in series {
        response.merge(&slice.tally.response());
    }
    let operations: u64 = series.iter().map(|slice| slice.tally.operations()).sum();
    let span = total_span(series).as_secs_f64();
    (if span > 0.0 { operations as f64 / span } else { 0.0 }, response.quantile(0.99))
}

/// Parameters of [`settle`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settle {
    pub least_warm_up: Span,
    /// Time from the start of the run until the end of the offered load; later slices only drain operations in flight.
    /// [`Span::MAX`] during the run.
    pub offered_span: Span,
    /// Latency objective; its measure becomes [`Figures::objective_ns`].
    pub objective: Option<Objective>,
    /// Pace of the leading stream.
    pub offered: Pace,
    /// Operations that arrived but were never issued; included in the last slice.
    pub unserved: u64,
}

impl Settle {
    const fn offered_load(&self) -> OfferedLoad {
        OfferedLoad { pace: self.offered, span: self.offered_span, unserved: self.unserved }
    }
}

/// A run without its warm-up.
#[derive(Clone, Debug, PartialEq)]
pub struct Settled {
    /// Time at the start excluded from all figures.
    pub warm_up: Span,
    /// Time covered by the rates: from the end of the warm-up to the end of the offered load.
    pub span: Span,
    /// Operations after the warm-up, including the drained backlog.
    pub total: Tally,
    /// Means, percentiles and their intervals.
    pub figures: Figures,
    /// Doubts about the figures.
    pub findings: Vec<Finding>,
}

/// Trims the warm-up, tests for steadiness, and computes the figures.
///
/// After a lasting drop of the rate, all data before the drop are trimmed as well, so that the figures describe the
/// lasting state.
///
/// Rates cover the slices of the offered time; response times also include drained operations, as the longest waits
/// complete last. A series without a slice after the minimum warm-up gives zero figures with unknown steadiness.
pub fn settle(series: &[Slice], options: &Settle) -> Settled {
    let offered = offered_slices(series, options.offered_span);
    let after = |cut: Span| offered.iter().take_while(|slice| slice.start < Instant::ZERO + cut).count();
    let least = after(options.least_warm_up);
    let pieces = batch::pieces(offered);
    let mut findings = Vec::new();

    let dropped = rate_drop::find(&pieces[least..]);
    if let Some(drop) = &dropped {
        findings.push(drop.finding(offered[least].start));
    }
    let overloaded = overload::is_overloaded(series, &pieces[least..], &options.offered_load());
    let cut = least
        + match &dropped {
            // The state after the drop is the lasting state.
            Some(drop) => drop.at,
            // A growing queue has no end of warm-up.
            None if overloaded => 0,
            None => warm_up::pieces_to_cut(&pieces[least..]),
        };
    let steadiness = if overloaded { Steadiness::Overloaded } else { drift::judge(&pieces[cut..], &mut findings) };

    let retained = &series[cut..];
    let mut total = Tally::default();
    for slice in retained {
        total.merge(&slice.tally);
    }
    let drained = batch::pieces(&series[offered.len()..]);
    let mut figures = compute_figures(&pieces[cut..], &drained, options.objective.as_ref());
    figures.steadiness = steadiness;
    if let Some(objective) = options.objective.filter(|objective| objective.over != Scope::All) {
        let scoped: Vec<Slice> = retained.iter().map(|slice| interval::only(slice, objective.over)).collect();
        figures.objective_ns = interval::measure(&scoped, objective.measure);
    }
    let end = |slices: &[Slice]| slices.last().map_or(Instant::ZERO, |slice| slice.start + slice.span);
    let begin = offered.get(cut).map_or(end(offered), |slice| slice.start);
    Settled { warm_up: begin.since(Instant::ZERO), span: end(offered).since(begin), total, figures, findings }
}

/// Figures of a recorded load, which varies as recorded.
///
/// Trims nothing, does not test for steadiness, and gives no intervals, because another part of the recording would be
/// another load. Overload is tested for the whole.
pub fn settle_recorded(series: &[Slice], options: &Settle) -> Settled {
    let offered = offered_slices(series, options.offered_span);
    let (pieces, drained) = (batch::pieces(offered), batch::pieces(&series[offered.len()..]));
    let mut total = Tally::default();
    for slice in series {
        total.merge(&slice.tally);
    }
    let mut figures = compute_figures(&pieces, &drained, options.objective.as_ref());
    let overloaded = overload::is_overloaded(series, &pieces, &options.offered_load());
    figures.steadiness = if overloaded { Steadiness::Overloaded } else { Steadiness::Recorded };
    if let Some(objective) = options.objective.filter(|objective| objective.over != Scope::All) {
        let scoped: Vec<Slice> = series.iter().map(|slice| interval::only(slice, objective.over)).collect();
        figures.objective_ns = interval::measure(&scoped, objective.measure);
    }
    let every =
        [&mut figures.iops, &mut figures.mean_ns, &mut figures.p50_ns, &mut figures.p99_ns, &mut figures.p999_ns];
    every.into_iter().chain(&mut figures.objective_ns).for_each(|estimate| estimate.interval = None);
    let span = offered.last().map_or(Span::ZERO, |slice| (slice.start + slice.span).since(Instant::ZERO));
    Settled { warm_up: Span::ZERO, span, total, figures, findings: Vec::new() }
}

/// Figures of a slot: trims exactly its warm-up, and does not search for drops of the rate, because it is too short.
pub fn settle_slot(series: &[Slice], options: &Settle) -> Settled {
    let offered = offered_slices(series, options.offered_span);
    let cut = offered.iter().take_while(|slice| slice.start < Instant::ZERO + options.least_warm_up).count();
    let cut = cut.min(offered.len().saturating_sub(1));
    let (pieces, drained) = (batch::pieces(offered), batch::pieces(&series[offered.len()..]));
    let mut total = Tally::default();
    series[cut..].iter().for_each(|slice| total.merge(&slice.tally));
    let mut figures = compute_figures(&pieces[cut..], &drained, options.objective.as_ref());
    let overloaded = overload::is_overloaded(series, &pieces[cut..], &options.offered_load());
    figures.steadiness = if overloaded { Steadiness::Overloaded } else { Steadiness::Steady };
    if let Some(objective) = options.objective.filter(|objective| objective.over != Scope::All) {
        let scoped: Vec<Slice> = series[cut..].iter().map(|slice| interval::only(slice, objective.over)).collect();
        figures.objective_ns = interval::measure(&scoped, objective.measure);
    }
    if matches!(options.offered, Pace::Open { .. }) {
        // Queueing bunches late operations: a slot has too few for the interval of a quantile.
        let tails = [&mut figures.p99_ns, &mut figures.p999_ns];
        tails.into_iter().chain(&mut figures.objective_ns).for_each(|estimate| estimate.interval = None);
    }
    let end = |slices: &[Slice]| slices.last().map_or(Instant::ZERO, |slice| slice.start + slice.span);
    let begin = offered.get(cut).map_or(end(offered), |slice| slice.start);
    Settled {
        warm_up: begin.since(Instant::ZERO),
        span: end(offered).since(begin),
        total,
        figures,
        findings: Vec::new(),
    }
}

/// Slices within the offered time. A slice that exceeds it by more than 5 % of its length would dilute the rate and
/// counts as drained, unless it is the only one.
fn offered_slices(series: &[Slice], offered_span: Span) -> &[Slice] {
    let end = Instant::ZERO + offered_span;
    let within = |slice: &Slice| slice.start + (slice.span - slice.span / 20) <= end;
    let complete = series.iter().take_while(|slice| slice.start < end && within(slice)).count();
    let begun = series.iter().take_while(|slice| slice.start < end).count();
    &series[..if complete == 0 { begun } else { complete }]
}

fn compute_figures(pieces: &[ReducedSlice], drained: &[ReducedSlice], objective: Option<&Objective>) -> Figures {
    let sums = Sums::of(pieces);
    let mut answered = pieces.to_vec();
    if let Some(last) = answered.last_mut() {
        let rest = Sums::of(drained);
        last.sums.operations += rest.operations;
        last.sums.response_ns += rest.response_ns;
        last.response.merge(&batch::responses(drained));
    }
    let iops = interval::iops_of(pieces).unwrap_or_default();
    let mean_ns = interval::mean_of(&answered).unwrap_or_default();
    let distribution = interval::Distribution::of(&answered);
    let quantile = |quantile| distribution.quantile(quantile).unwrap_or_default();
    let measured = |objective: &Objective| match objective.measure {
        Measure::Mean => mean_ns,
        Measure::Quantile(share) => quantile(share),
    };
    Figures {
        iops,
        bytes_per_second: sums.bytes_per_second(),
        mean_ns,
        p50_ns: quantile(0.5),
        p99_ns: quantile(0.99),
        p999_ns: quantile(0.999),
        objective_ns: objective.map(measured),
        objective: objective.copied(),
        in_flight: iops.value * mean_ns.value / 1e9,
        steadiness: Steadiness::Unknown,
    }
}
