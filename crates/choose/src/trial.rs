//! A simulated trial of an offered load, long enough for its mean and percentiles.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use plimsoll_drive::{BindingStages, Rules, Simulated, drive_streams};
use plimsoll_load::{Pace, StreamPhase, StreamSpec, Streams};
use plimsoll_model::{Chain, ChainSpec};
use plimsoll_record::{Counter, Measure, Objective, Tally};
use plimsoll_units::{Instant, Span};

/// Operations of a pilot trial that determines the length of the trial.
const PILOT: u64 = 500;
/// Number of slices of a trial; the first tenth is warm-up.
const SLICES: u64 = 20;
/// Maximum operations of an open load in flight, before arrivals wait in the generator.
const SLOTS: u32 = 1 << 14;
/// Minimum achieved share of an open load; below it the model is overloaded.
const MIN_ACHIEVED: f64 = 0.97;
/// Maximum operations of open loads beside the leading stream.
const MAX_BACKGROUND: f64 = 100_000.0;
/// Maximum trials that [`OpenTrials`] holds in memory; equal ones follow each other closely in a search.
const MAX_TRIALS: usize = 64;

/// Result of a trial.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// Operations per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_second: f64,
    /// Counts and histograms of the leading stream.
    pub tally: Tally,
    /// Binding stages by name with their share of the operations, the largest first.
    pub bound_by: Vec<(String, f64)>,
    /// The load exceeds the capacity.
    pub overloaded: bool,
}

impl Figures {
    /// Mean response time in nanoseconds.
    pub fn mean_ns(&self) -> f64 {
        self.tally.response().mean().map_or(0.0, |mean| mean.as_nanos() as f64)
    }

    /// The objective's measure of the response times.
    pub fn measured_by(&self, objective: &Objective) -> Option<Span> {
        let bins = self.tally.response_where(|counter: &Counter| objective.over.covers(counter.kind));
        match objective.measure {
            Measure::Mean => bins.mean(),
            Measure::Quantile(quantile) => bins.quantile(quantile),
        }
    }
}

/// Offers a load to an idle model for about as long as its leading stream needs for `operations`. `None` if the streams
/// do not fit.
///
/// The first tenth is warm-up: queues fill, and burst credits of that size are consumed.
pub fn trial(model: &ChainSpec, streams: &[StreamSpec], operations: u64, seed: u64) -> Option<Figures> {
    let lasts = duration(model, streams.first()?, operations, seed)?;
    let mut done = offer(model, streams, until(lasts), lasts / SLICES, seed)?;
    // Completions after the end do not count.
    done.series.retain(|slice| slice.start < Instant::ZERO + lasts);
    Some(compute_figures(&done, &model.names(), streams))
}

/// The time that a stream needs alone for a number of operations, estimated if it is closed.
fn duration(model: &ChainSpec, stream: &StreamSpec, operations: u64, seed: u64) -> Option<Span> {
    let lasts = match stream.pace {
        Pace::Open { rate, .. } => rate.time_of(operations),
        Pace::Closed { .. } => {
            let pilot = StreamPhase { operations: PILOT, ..StreamPhase::unbounded(Instant::ZERO) };
            let alone = offer(model, std::slice::from_ref(stream), pilot, Span::from_secs(1), seed)?;
            Span::from_secs_f64(alone.spent.as_secs_f64() * operations as f64 / PILOT as f64)
        }
    };
    Some(lasts.max(Span::from_micros(SLICES)))
}

/// As [`trial`], with a limit for the operations of the other streams, and overloaded if an open one of them is not
/// carried.
pub(crate) fn background_trial(
    model: &ChainSpec,
    streams: &[StreamSpec],
    operations: u64,
    seed: u64,
) -> Option<Figures> {
    let others: f64 = streams.iter().skip(1).map(open_rate).sum();
    let longest = Span::from_secs_f64(MAX_BACKGROUND / others.max(1e-6));
    let lasts = duration(model, streams.first()?, operations, seed)?.min(longest).max(Span::from_micros(SLICES));
    let mut done = offer(model, streams, until(lasts), lasts / SLICES, seed)?;
    done.series.retain(|slice| slice.start < Instant::ZERO + lasts);
    let (tally, seconds) = counted(&done);
    let is_open = |stream: u8| streams.get(usize::from(stream)).is_some_and(|stream| open_rate(stream) > 0.0);
    let carried = tally.only(|counter| counter.stream > 0 && is_open(counter.stream)).operations() as f64;
    let due = others * seconds;
    // Random arrivals vary by the square root of their number.
    let is_carried = carried >= due * MIN_ACHIEVED - 4.0 * due.sqrt();
    let figures = compute_figures(&done, &model.names(), streams);
    Some(Figures { overloaded: figures.overloaded || !is_carried, ..figures })
}

struct RawTrial {
    series: Vec<plimsoll_record::Slice>,
    bound_by: BindingStages,
    unserved: u64,
    spent: Span,
}

fn offer(model: &ChainSpec, streams: &[StreamSpec], phase: StreamPhase, slice: Span, seed: u64) -> Option<RawTrial> {
    let mut target = Simulated::new(Chain::new(model, seed));
    let mut load = Streams::new(streams, seed, phase)?;
    let depth = |stream: &StreamSpec| match stream.pace {
        Pace::Closed { depth } => depth,
        Pace::Open { .. } => SLOTS,
    };
    let slots = streams.iter().map(depth).sum();
    let rules = Rules::new(slots, slice);
    let done = drive_streams(&mut target, &mut load, &rules, &mut |_| ControlFlow::Continue(())).ok()?;
    let spent = done.series.iter().fold(Span::ZERO, |sum, slice| sum + slice.span);
    Some(RawTrial { series: done.series, bound_by: done.bound_by, unserved: done.unserved, spent })
}

/// Result of several concurrent open loads.
pub(crate) struct OpenTrial {
    /// Counts and histograms of all streams.
    pub(crate) tally: Tally,
    /// Binding stages by name with their share of the operations, the largest first.
    pub(crate) bound_by: Vec<(String, f64)>,
    /// Operations per second.
    pub(crate) iops: f64,
    /// Completed share of the offered operations.
    pub(crate) achieved: f64,
    /// The loads exceed the capacity.
    pub(crate) overloaded: bool,
}

/// Offers open loads to an idle model for about `operations` in total. `None` if the streams do not fit.
fn open_trial(model: &ChainSpec, streams: &[StreamSpec], operations: u64, seed: u64) -> Option<OpenTrial> {
    let offered: f64 = streams.iter().map(open_rate).sum();
    let lasts = Span::from_secs_f64(operations as f64 / offered.max(f64::MIN_POSITIVE)).max(Span::from_micros(SLICES));
    let mut done = offer(model, streams, until(lasts), lasts / SLICES, seed)?;
    done.series.retain(|slice| slice.start < Instant::ZERO + lasts);
    let (tally, seconds) = counted(&done);
    let bound_by = done.bound_by.shares(measured_from(&done), &model.names());
    let iops = tally.operations() as f64 / seconds;
    let overloaded = done.unserved > 0 || iops < offered * MIN_ACHIEVED;
    Some(OpenTrial { tally, bound_by, iops, achieved: iops / offered.max(f64::MIN_POSITIVE), overloaded })
}

/// Recent results of [`open_trial`]. Levels of a product often differ in their names and prices only, such as the
/// protocols of an array, and a trial depends on nothing but its arguments.
#[derive(Default)]
pub(crate) struct OpenTrials(Mutex<VecDeque<RecentTrial>>);

struct RecentTrial {
    model: ChainSpec,
    streams: Vec<StreamSpec>,
    operations: u64,
    result: Option<Arc<OpenTrial>>,
}

impl OpenTrials {
    /// As [`open_trial`] with seed 1.
    pub(crate) fn run(&self, model: &ChainSpec, streams: Vec<StreamSpec>, operations: u64) -> Option<Arc<OpenTrial>> {
        let recent = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same =
            |trial: &&RecentTrial| trial.operations == operations && trial.streams == streams && trial.model == *model;
        if let Some(trial) = recent().iter().rev().find(is_same) {
            return trial.result.clone();
        }
        let result = open_trial(model, &streams, operations, 1).map(Arc::new);
        let mut recent = recent();
        if recent.len() == MAX_TRIALS {
            recent.pop_front();
        }
        recent.push_back(RecentTrial { model: model.clone(), streams, operations, result: result.clone() });
        result
    }
}

fn open_rate(stream: &StreamSpec) -> f64 {
    match stream.pace {
        Pace::Open { rate, .. } => rate.as_f64(),
        Pace::Closed { .. } => 0.0,
    }
}

fn until(lasts: Span) -> StreamPhase {
    StreamPhase { end: Instant::ZERO + lasts, ..StreamPhase::unbounded(Instant::ZERO) }
}

/// End of the warm-up: a tenth of the slices.
fn measured_from(observed: &RawTrial) -> Instant {
    observed.series.get(observed.series.len() / 10).map_or(Instant::ZERO, |slice| slice.start)
}

/// Completions after the warm-up, and their seconds.
fn counted(observed: &RawTrial) -> (Tally, f64) {
    let begin = measured_from(observed);
    let (mut tally, mut span) = (Tally::default(), Span::ZERO);
    for slice in observed.series.iter().filter(|slice| slice.start >= begin) {
        tally.merge(&slice.tally);
        span += slice.span;
    }
    (tally, span.as_secs_f64().max(1e-9))
}

fn compute_figures(observed: &RawTrial, names: &[String], streams: &[StreamSpec]) -> Figures {
    let (tally, seconds) = counted(observed);
    let leading = if streams.len() > 1 { tally.only(|counter| counter.stream == 0) } else { tally };
    let iops = leading.operations() as f64 / seconds;
    Figures {
        iops,
        bytes_per_second: leading.bytes() as f64 / seconds,
        overloaded: observed.unserved > 0 || iops < open_rate(&streams[0]) * MIN_ACHIEVED,
        tally: leading,
        bound_by: observed.bound_by.shares(measured_from(observed), names),
    }
}
