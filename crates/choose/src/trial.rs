//! A simulated trial of an offered load, long enough for its mean and percentiles.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use plimsoll_drive::{BindingStages, LoopResult, Rules, Simulated, drive_streams};
use plimsoll_load::{Pace, StreamPhase, StreamSpec, Streams};
use plimsoll_model::{Chain, ChainSpec};
use plimsoll_record::{Counter, Measure, Objective, Slice, Tally};
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
/// Maximum operations of closed loads beside the leading stream, at their rates alone. They may be thousands of times as
/// fast as the leading stream, which still needs enough operations for its mean.
const MAX_CLOSED_BACKGROUND: f64 = 500_000.0;
/// Maximum trials that [`OpenTrials`] holds in memory, each of about 20 KiB: about as many as a search of all products needs.
const MAX_TRIALS: usize = 512;

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
    let done = offer(model, streams, until(lasts), lasts / SLICES, seed)?;
    Some(compute_figures(&done, &model.names(), streams))
}

/// The time that a stream needs alone for a number of operations, estimated if it is closed.
fn duration(model: &ChainSpec, stream: &StreamSpec, operations: u64, seed: u64) -> Option<Span> {
    let lasts = match stream.pace {
        Pace::Open { rate, .. } => rate.time_of(operations),
        Pace::Closed { .. } => {
            let alone = run_pilot(model, stream, PILOT, seed)?;
            Span::from_secs_f64(alone.as_secs_f64() * operations as f64 / PILOT as f64)
        }
    };
    Some(lasts.max(Span::from_micros(SLICES)))
}

/// The time of a stream alone for a number of operations.
fn run_pilot(model: &ChainSpec, stream: &StreamSpec, operations: u64, seed: u64) -> Option<Span> {
    let pilot = StreamPhase { operations, ..StreamPhase::unbounded(Instant::ZERO) };
    Some(offer(model, std::slice::from_ref(stream), pilot, Span::from_secs(1), seed)?.spent)
}

/// The duration of a trial of the first stream beside the others, whose number of operations is limited.
fn background_duration(model: &ChainSpec, streams: &[StreamSpec], operations: u64, seed: u64) -> Option<Span> {
    let (leading, others) = streams.split_first()?;
    let open: f64 = others.iter().map(open_rate).sum();
    let mut closed = 0.0;
    for stream in others {
        if let Pace::Closed { depth } = stream.pace {
            // Several times its depth, as the first operations in flight do not wait for each other.
            let operations = PILOT.max(4 * u64::from(depth));
            closed += operations as f64 / run_pilot(model, stream, operations, seed)?.as_secs_f64().max(1e-9);
        }
    }
    let max_s = (MAX_BACKGROUND / open.max(1e-6)).min(MAX_CLOSED_BACKGROUND / closed.max(1e-6));
    let lasts = duration(model, leading, operations, seed)?.min(Span::from_secs_f64(max_s));
    Some(lasts.max(Span::from_micros(SLICES)))
}

/// As [`trial`], with limits for the operations of the other streams, and overloaded if an open one of them is not
/// carried.
pub(crate) fn background_trial(
    model: &ChainSpec,
    streams: &[StreamSpec],
    operations: u64,
    seed: u64,
) -> Option<Figures> {
    let others: f64 = streams.iter().skip(1).map(open_rate).sum();
    let lasts = background_duration(model, streams, operations, seed)?;
    let done = offer(model, streams, until(lasts), lasts / SLICES, seed)?;
    let is_open = |stream: u8| streams.get(usize::from(stream)).is_some_and(|stream| open_rate(stream) > 0.0);
    let completed = done.completed(|counter| counter.stream > 0 && is_open(counter.stream));
    let (carried, due) = (completed.operations as f64, others * completed.seconds);
    // Random arrivals vary by the square root of their number.
    let is_carried = carried >= due * MIN_ACHIEVED - 4.0 * due.sqrt();
    let figures = compute_figures(&done, &model.names(), streams);
    Some(Figures { overloaded: figures.overloaded || !is_carried, ..figures })
}

struct RawTrial {
    /// Slices until the end, and one with completions of operations in flight at the end.
    series: Vec<Slice>,
    /// Time from which nothing was due.
    end: Instant,
    bound_by: BindingStages,
    unserved: u64,
    spent: Span,
}

/// Completions between the warm-up and the end of a trial.
struct Completed {
    operations: u64,
    bytes: u64,
    seconds: f64,
}

impl RawTrial {
    /// End of the warm-up: a tenth of the slices.
    fn begin(&self) -> Instant {
        self.series.get(self.series.len() / 10).map_or(Instant::ZERO, |slice| slice.start)
    }

    fn measured(&self) -> impl Iterator<Item = &Slice> {
        let begin = self.begin();
        self.series.iter().filter(move |slice| slice.start >= begin)
    }

    /// Completions after the warm-up, also those of operations in flight at the end, which are the longest of their time.
    fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        self.measured().for_each(|slice| tally.merge(&slice.tally));
        tally
    }

    /// Completions of the counters that `is_counted` accepts. Slices after the end are excluded: without arrivals, they
    /// would lower the rates.
    fn completed(&self, is_counted: impl Fn(&Counter) -> bool) -> Completed {
        let mut sum = Completed { operations: 0, bytes: 0, seconds: 0.0 };
        for slice in self.measured().filter(|slice| slice.start + slice.span <= self.end) {
            for counter in slice.tally.0.iter().filter(|counter| is_counted(counter)) {
                sum.operations += counter.operations();
                sum.bytes += counter.bytes;
            }
            sum.seconds += slice.span.as_secs_f64();
        }
        Completed { seconds: sum.seconds.max(1e-9), ..sum }
    }
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
    let LoopResult { mut series, bound_by, unserved, .. } =
        drive_streams(&mut target, &mut load, &rules, &mut |_| ControlFlow::Continue(())).ok()?;
    let spent = series.iter().fold(Span::ZERO, |sum, slice| sum + slice.span);
    series.retain(|slice| slice.start < phase.end);
    Some(RawTrial { series, end: phase.end, bound_by, unserved, spent })
}

/// Result of several concurrent open loads.
#[derive(Debug)]
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
    let done = offer(model, streams, until(lasts), lasts / SLICES, seed)?;
    let completed = done.completed(|_| true);
    let bound_by = done.bound_by.shares(done.begin(), &model.names());
    let iops = completed.operations as f64 / completed.seconds;
    let overloaded = done.unserved > 0 || iops < offered * MIN_ACHIEVED;
    Some(OpenTrial { tally: done.tally(), bound_by, iops, achieved: iops / offered.max(f64::MIN_POSITIVE), overloaded })
}

/// Recent results of `open_trial`. Levels of a product often differ in their names and prices only, such as the
/// protocols of an array, and a trial depends on nothing but its arguments.
#[derive(Debug, Default)]
pub struct OpenTrials(Mutex<VecDeque<RecentTrial>>);

#[derive(Debug)]
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

fn compute_figures(observed: &RawTrial, names: &[String], streams: &[StreamSpec]) -> Figures {
    let is_leading = |counter: &Counter| counter.stream == 0;
    let completed = observed.completed(is_leading);
    let iops = completed.operations as f64 / completed.seconds;
    Figures {
        iops,
        bytes_per_second: completed.bytes as f64 / completed.seconds,
        overloaded: observed.unserved > 0 || iops < open_rate(&streams[0]) * MIN_ACHIEVED,
        tally: observed.tally().only(is_leading),
        bound_by: observed.bound_by.shares(observed.begin(), names),
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_load::{Arrival, BlockMix, Mix, Pattern, Region};
    use plimsoll_model::parse;
    use plimsoll_units::{Bytes, Iops};

    use super::*;

    fn closed(size: Bytes, depth: u32) -> StreamSpec {
        StreamSpec {
            name: String::new(),
            mix: Mix { sizes: BlockMix::one(size), reads: 1.0, durable: false, flush_every: 0 },
            pattern: Pattern::Uniform,
            region: Region { start: 0, length: Bytes::gib(1) },
            pace: Pace::Closed { depth },
        }
    }

    #[test]
    fn fast_closed_loads_limit_the_duration_of_a_trial() {
        // 1,024,000 operations a second beside 1,000 would be ten million operations.
        let model = parse("station(1024, 1ms)").expect("a model");
        let of =
            |streams: &[StreamSpec]| background_duration(&model, streams, 10_000, 1).expect("it fits").as_secs_f64();
        let (slow, fast) = (closed(Bytes::kib(8), 1), closed(Bytes::kib(8), 1024));
        assert!((of(std::slice::from_ref(&slow)) - 10.0).abs() < 1.0);
        assert!(of(&[slow.clone(), fast.clone()]) * 1_024_000.0 < 2.0 * MAX_CLOSED_BACKGROUND);
        let rate = background_trial(&model, &[slow, fast], 10_000, 1).expect("it fits").iops;
        assert!((300.0..=1_010.0).contains(&rate), "{rate}");
    }

    #[test]
    fn equal_trials_are_simulated_once() {
        let pace = Pace::Open { rate: Iops::per_second(1_000), arrival: Arrival::Poisson };
        let stream = StreamSpec { pace, ..closed(Bytes::kib(8), 1) };
        let trials = OpenTrials::default();
        let run = |model: &str, operations| {
            trials.run(&parse(model).expect("a model"), vec![stream.clone()], operations).expect("it fits")
        };
        let first = run("station(4, 1ms)", 500);
        assert!(Arc::ptr_eq(&first, &run("station(4, 1ms)", 500)));
        assert!(!Arc::ptr_eq(&first, &run("station(4, 1ms)", 600)));
        assert!(!Arc::ptr_eq(&first, &run("station(5, 1ms)", 500)));
    }
}
