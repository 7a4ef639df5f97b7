//! One offered load on a model, in virtual time: enough to know its mean and percentiles, and no more.

use std::ops::ControlFlow;

use plimsoll_drive::{Rules, Simulated, drive};
use plimsoll_load::{Pace, Phase, StreamSpec, Streams};
use plimsoll_model::{Chain, ChainSpec};
use plimsoll_record::{Counter, Measure, Objective, Tally};
use plimsoll_units::{Instant, Span};

/// Operations of a trial that is only to tell how long the real one takes.
const PILOT: u64 = 500;
/// Slices that a trial is cut into; the first tenth is not counted.
const SLICES: u64 = 20;
/// An open load may have so many operations in flight before arrivals wait in the generator.
const SLOTS: u32 = 1 << 14;
/// An open load that gets less than this share of what it asks is more than can be answered.
const ANSWERED: f64 = 0.97;

/// What a trial showed.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// Operations per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_second: f64,
    /// The leading stream's counts and histograms, all streams' when it is the only one.
    pub tally: Tally,
    /// The stages that held the answers, by name, with the share of the operations, the largest first.
    pub bound_by: Vec<(String, f64)>,
    /// The load asked for more than was answered.
    pub overloaded: bool,
}

impl Figures {
    /// Mean response time in nanoseconds.
    pub fn mean_ns(&self) -> f64 {
        self.tally.response().mean().map_or(0.0, |mean| mean.as_nanos() as f64)
    }

    /// The objective's own measure of the response times.
    pub fn measured_by(&self, objective: &Objective) -> Option<Span> {
        let bins = self.tally.response_where(|counter: &Counter| objective.over.covers(counter.kind));
        match objective.measure {
            Measure::Mean => bins.mean(),
            Measure::Quantile(quantile) => bins.quantile(quantile),
        }
    }
}

/// Offers a load to a model at rest for about as long as its leading stream takes for `operations`. `None` when the
/// streams cannot be placed.
///
/// The first tenth of the time is not counted: queues fill in it, and burst credits of that size are used up.
pub fn trial(model: &ChainSpec, streams: &[StreamSpec], operations: u64, seed: u64) -> Option<Figures> {
    let lasts = match streams.first()?.pace {
        Pace::Open { rate, .. } => rate.time_of(operations),
        Pace::Closed { .. } => {
            let pilot = Phase { operations: PILOT, ..Phase::unbounded(Instant::ZERO) };
            let alone = offer(model, &streams[..1], pilot, Span::from_secs(1), seed)?;
            Span::from_secs_f64(alone.spent.as_secs_f64() * operations as f64 / PILOT as f64)
        }
    };
    let lasts = lasts.max(Span::from_micros(SLICES));
    let mut done = offer(model, streams, until(lasts), lasts / SLICES, seed)?;
    // What came back after the end is no part of the rates.
    done.series.retain(|slice| slice.start < Instant::ZERO + lasts);
    Some(figures(&done, &model.names(), streams))
}

struct Seen {
    series: Vec<plimsoll_record::Slice>,
    bound_by: Vec<u64>,
    unserved: u64,
    spent: Span,
}

fn offer(model: &ChainSpec, streams: &[StreamSpec], phase: Phase, slice: Span, seed: u64) -> Option<Seen> {
    let mut target = Simulated::new(Chain::new(model, seed));
    let mut load = Streams::new(streams, seed, phase)?;
    let depth = |stream: &StreamSpec| match stream.pace {
        Pace::Closed { depth } => depth,
        Pace::Open { .. } => SLOTS,
    };
    let slots = streams.iter().map(depth).sum();
    let rules = Rules::new(slots, slice);
    let done = drive(&mut target, &mut load, &rules, &mut |_| ControlFlow::Continue(())).ok()?;
    let spent = done.series.iter().fold(Span::ZERO, |sum, slice| sum + slice.span);
    Some(Seen { series: done.series, bound_by: done.bound_by, unserved: done.unserved, spent })
}

/// What several open loads got beside each other.
pub(crate) struct Together {
    /// The counts and histograms of all streams.
    pub(crate) tally: Tally,
    /// The stages that held the answers, by name, with the share of the operations, the largest first.
    pub(crate) bound_by: Vec<(String, f64)>,
    /// Operations per second.
    pub(crate) iops: f64,
    /// They asked for more than was answered.
    pub(crate) overloaded: bool,
}

/// Offers open loads to a model at rest until they asked for about so many operations in all. `None` when they cannot be
/// placed.
pub(crate) fn together(model: &ChainSpec, streams: &[StreamSpec], operations: u64, seed: u64) -> Option<Together> {
    let asked: f64 = streams.iter().map(open_rate).sum();
    let lasts = Span::from_secs_f64(operations as f64 / asked.max(f64::MIN_POSITIVE)).max(Span::from_micros(SLICES));
    let mut done = offer(model, streams, until(lasts), lasts / SLICES, seed)?;
    done.series.retain(|slice| slice.start < Instant::ZERO + lasts);
    let (tally, seconds) = counted(&done);
    let iops = tally.operations() as f64 / seconds;
    let overloaded = done.unserved > 0 || iops < asked * ANSWERED;
    Some(Together { tally, bound_by: bound_by(&done, &model.names()), iops, overloaded })
}

fn open_rate(stream: &StreamSpec) -> f64 {
    match stream.pace {
        Pace::Open { rate, .. } => rate.as_f64(),
        Pace::Closed { .. } => 0.0,
    }
}

fn until(lasts: Span) -> Phase {
    Phase { end: Instant::ZERO + lasts, ..Phase::unbounded(Instant::ZERO) }
}

/// What came back after the first tenth, and in how many seconds.
fn counted(seen: &Seen) -> (Tally, f64) {
    let skipped = seen.series.len() / 10;
    let (mut tally, mut span) = (Tally::default(), Span::ZERO);
    for slice in &seen.series[skipped..] {
        tally.merge(&slice.tally);
        span += slice.span;
    }
    (tally, span.as_secs_f64().max(1e-9))
}

fn bound_by(seen: &Seen, names: &[String]) -> Vec<(String, f64)> {
    let answered: u64 = seen.bound_by.iter().sum();
    let held = seen.bound_by.iter().zip(names).filter(|(count, _)| **count > 0);
    let mut bound_by: Vec<(String, f64)> =
        held.map(|(count, name)| (name.clone(), *count as f64 / answered as f64)).collect();
    bound_by.sort_by(|a, b| b.1.total_cmp(&a.1));
    bound_by
}

fn figures(seen: &Seen, names: &[String], streams: &[StreamSpec]) -> Figures {
    let (tally, seconds) = counted(seen);
    let leading = if streams.len() > 1 { tally.only(|counter| counter.stream == 0) } else { tally };
    let iops = leading.operations() as f64 / seconds;
    Figures {
        iops,
        bytes_per_second: leading.bytes() as f64 / seconds,
        overloaded: seen.unserved > 0 || iops < open_rate(&streams[0]) * ANSWERED,
        tally: leading,
        bound_by: bound_by(seen, names),
    }
}
