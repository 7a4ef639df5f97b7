//! From a series of slices to the figures of a run: the warm-up cut off, doubts about steadiness kept as findings.
//!
//! Knows nothing about how the load was offered beyond its pace and its end.

use plimsoll_load::Pace;
use plimsoll_record::{Figures, Finding, Measure, Objective, Scope, Slice, Steadiness, Tally};
use plimsoll_units::{Instant, Span};

use crate::batch::{self, Piece, Sums};
use crate::{drift, interval, overload, rate_drop, warm_up};

/// What [`settle`] has to know besides the series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settle {
    /// Time at the start that is cut in any case.
    pub least_warm_up: Span,
    /// From the start of the run to the moment after which nothing more was offered; slices that start later only
    /// drain what was in flight. [`Span::MAX`] while the run goes on.
    pub offered_span: Span,
    /// What the load line has to meet; its measure becomes [`Figures::objective_ns`].
    pub objective: Option<Objective>,
    /// How the leading stream was paced.
    pub offered: Pace,
    /// Operations that had arrived but were never issued. They are among the operations of the last slice.
    pub unserved: u64,
}

/// A run without its warm-up.
#[derive(Clone, Debug, PartialEq)]
pub struct Settled {
    /// Time at the start that is in no figure.
    pub warm_up: Span,
    /// The time that the rates cover: from the end of the warm-up to the end of the offered load.
    pub span: Span,
    /// What completed after the warm-up, the drained backlog included.
    pub total: Tally,
    /// Means, percentiles and their intervals.
    pub figures: Figures,
    /// What makes them questionable.
    pub findings: Vec<Finding>,
}

/// Cuts the warm-up, tests for steadiness, and works out the figures.
///
/// When the rate dropped for good, all before the drop is cut, too: the figures are what would have gone on.
///
/// Rates are over the slices that belong to the offered time, response times over these and what drained after them:
/// the longest waits come back last. A series without a slice after the least warm-up gives figures of zero whose
/// steadiness is unknown.
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
    let overloaded = overload::is_overloaded(series, &pieces[least..], options);
    let cut = least
        + match &dropped {
            // What would have gone on is what came after the drop.
            Some(drop) => drop.at,
            // A queue that grows has no end of a warm-up.
            None if overloaded => 0,
            None => warm_up::pieces_to_cut(&pieces[least..]),
        };
    let steadiness = if overloaded { Steadiness::Overloaded } else { drift::judge(&pieces[cut..], &mut findings) };

    let kept = &series[cut..];
    let mut total = Tally::default();
    for slice in kept {
        total.merge(&slice.tally);
    }
    let drained = batch::pieces(&series[offered.len()..]);
    let mut figures = figures(&pieces[cut..], &drained, options.objective.as_ref());
    figures.steadiness = steadiness;
    if let Some(objective) = options.objective.filter(|objective| objective.over != Scope::All) {
        let scoped: Vec<Slice> = kept.iter().map(|slice| interval::only(slice, objective.over)).collect();
        figures.objective_ns = interval::measure(&scoped, objective.measure);
    }
    let end = |slices: &[Slice]| slices.last().map_or(Instant::ZERO, |slice| slice.start + slice.span);
    let begin = offered.get(cut).map_or(end(offered), |slice| slice.start);
    Settled { warm_up: begin.since(Instant::ZERO), span: end(offered).since(begin), total, figures, findings }
}

/// The figures of a load that rises and falls as it was recorded.
///
/// Nothing is cut, it is not asked to be steady, and no figure has an interval: another part of the recording would be
/// another load. Whether it was too much is asked of the whole.
pub fn settle_recorded(series: &[Slice], options: &Settle) -> Settled {
    let offered = offered_slices(series, options.offered_span);
    let (pieces, drained) = (batch::pieces(offered), batch::pieces(&series[offered.len()..]));
    let mut total = Tally::default();
    for slice in series {
        total.merge(&slice.tally);
    }
    let mut figures = figures(&pieces, &drained, options.objective.as_ref());
    let overloaded = overload::is_overloaded(series, &pieces, options);
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

/// The figures of a slot: exactly its warm-up is cut, and it is not searched for drops of the rate, for which it is too
/// short.
pub fn settle_slot(series: &[Slice], options: &Settle) -> Settled {
    let offered = offered_slices(series, options.offered_span);
    let cut = offered.iter().take_while(|slice| slice.start < Instant::ZERO + options.least_warm_up).count();
    let cut = cut.min(offered.len().saturating_sub(1));
    let (pieces, drained) = (batch::pieces(offered), batch::pieces(&series[offered.len()..]));
    let mut total = Tally::default();
    series[cut..].iter().for_each(|slice| total.merge(&slice.tally));
    let mut figures = figures(&pieces[cut..], &drained, options.objective.as_ref());
    let overloaded = overload::is_overloaded(series, &pieces[cut..], options);
    figures.steadiness = if overloaded { Steadiness::Overloaded } else { Steadiness::Steady };
    if let Some(objective) = options.objective.filter(|objective| objective.over != Scope::All) {
        let scoped: Vec<Slice> = series[cut..].iter().map(|slice| interval::only(slice, objective.over)).collect();
        figures.objective_ns = interval::measure(&scoped, objective.measure);
    }
    if matches!(options.offered, Pace::Open { .. }) {
        // Queueing makes late operations come together: one slot has too few for the interval of a quantile.
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

/// The slices that lie within the offered time. One that begins in it but reaches beyond it by more than a twentieth
/// of its length would dilute the rate, so it counts as drained, unless it is all there is.
fn offered_slices(series: &[Slice], offered_span: Span) -> &[Slice] {
    let end = Instant::ZERO + offered_span;
    let within = |slice: &Slice| slice.start + (slice.span - slice.span / 20) <= end;
    let whole = series.iter().take_while(|slice| slice.start < end && within(slice)).count();
    let begun = series.iter().take_while(|slice| slice.start < end).count();
    &series[..if whole == 0 { begun } else { whole }]
}

fn figures(pieces: &[Piece], drained: &[Piece], objective: Option<&Objective>) -> Figures {
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
