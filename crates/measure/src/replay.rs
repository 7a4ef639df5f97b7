//! Replays of a recorded load on a model or storage, with recorded arrival times or at fixed depths.
//!
//! [`ReplayTarget`] is the interface of targets.

mod model;
mod recording;
mod storage;

use std::ops::ControlFlow;

use plimsoll_analyse::{Settle, Settled, settle_recorded, total_span};
use plimsoll_drive::{Fault, LoopResult, Observe, Onward, PartialRun};
use plimsoll_ingest::TraceFault;
use plimsoll_language::{label, say};
use plimsoll_load::{Arrival, Pace, Pattern, Region, StreamSpec, Tempo};
use plimsoll_record::{Conditions, EndReason, Finding, Objective, Outline, Slice, Trace};
use plimsoll_units::{Bytes, Instant, Iops, Span};

use crate::backend::{PointOutcome, PointResult};
use crate::error::MeasureError;
use crate::invalid::InvalidRequest;
use crate::monitor::{Monitor, PointProgress};
use crate::options::{LoadOptions, ReplayOptions, SweepOptions};
use crate::plan::{Grid, MAX_BUFFER_MEMORY, TargetKind};
use crate::sweep::{SweepResult, build_run, recent_rate};

pub use recording::{Recording, ReplayedPart};

/// Default queue depth of `--as-fast-as-possible`.
const DEFAULT_DEPTH: u32 = 32;
/// Approximate number of slices of a run.
const SLICES: u64 = 1_200;
/// Assumed rate of storage with unknown rate.
const ASSUMED_IOPS: f64 = 10_000.0;
/// A replay that lags behind ends after this multiple of the recording's duration, but not before the minimum.
const TIMEOUT_FACTOR: u64 = 4;
const MIN_TIMEOUT: Span = Span::from_secs(10);
/// A closed replay without completions for this long ends.
const STALL_TIMEOUT: Span = Span::from_secs(600);

/// A replay of a recording.
#[derive(Clone, Copy, Debug)]
pub struct Playback<'a> {
    pub recording: &'a Recording,
    /// Arrival times or depth.
    pub tempo: Tempo,
    /// The length of a slice of the series.
    pub slice: Span,
    /// Seed of the target's random streams and of written data.
    pub seed: u64,
}

pub trait ReplayTarget {
    /// Minimum length of slices.
    const SHORTEST_SLICE: Span;

    /// Names of the stages of a model.
    fn stages(&self) -> Vec<String>;

    /// Estimated duration of the recording at a depth, if it can be determined without side effects.
    fn estimate(&mut self, recording: &Recording, depth: u32, seed: u64) -> Option<Span>;

    /// Replays the recording to its end or until `observe` ends it.
    fn replay(&mut self, playback: &Playback<'_>, observe: Observe<'_>) -> PointOutcome;
}

/// A trace with its arrival times or depths.
#[derive(Debug)]
pub struct Replaying {
    recording: Recording,
    tempos: Vec<Tempo>,
    seed: u64,
    compressible: f64,
    objective: Option<Objective>,
    stop_on_error: bool,
}

impl Replaying {
    /// Reads the trace to its end, so that malformed traces are refused before the replay.
    pub fn new(
        options: &ReplayOptions,
        load: &LoadOptions,
        sweep: &SweepOptions,
        target: TargetKind,
    ) -> Result<Self, MeasureError> {
        let tempos = list_tempos(options, sweep, target)?;
        let part = match target {
            _ if options.reads_only => ReplayedPart::Reads,
            TargetKind::Model => ReplayedPart::All,
            TargetKind::Storage => ReplayedPart::Moving,
        };
        let recording = Recording::scan(&options.trace, part)?;
        let (compressible, seed) = (load.compressible, load.seed);
        let (objective, stop_on_error) = (sweep.objective, sweep.stop_on_error);
        let replaying = Self { recording, tempos, seed, compressible, objective, stop_on_error };
        if target == TargetKind::Storage {
            replaying.check_memory()?;
        }
        Ok(replaying)
    }

    pub const fn recording(&self) -> &Recording {
        &self.recording
    }

    /// Fails if operations are not aligned to the blocks of the storage.
    pub fn check_grid(&self, grid: Grid) -> Result<(), MeasureError> {
        let (Grid::Direct(block) | Grid::Export(block)) = grid else { return Ok(()) };
        let (path, all) = (self.recording.path().display().to_string(), self.recording.outline().operations);
        match self.recording.unaligned(block) {
            0 => Ok(()),
            count if matches!(grid, Grid::Export(_)) => {
                Err(InvalidRequest::UnalignedExport { path, count, all, block }.into())
            }
            count => Err(InvalidRequest::UnalignedDirect { path, count, all, block }.into()),
        }
    }

    /// Replays the recording once with its arrival times, or once per depth.
    pub fn run<R: ReplayTarget>(&self, target: &mut R, monitor: &mut dyn Monitor) -> SweepResult {
        let mut result = SweepResult::default();
        for tempo in &self.tempos {
            let (point, fault, duration) = self.offer(target, *tempo, monitor);
            result.spent += total_span(&point.loops.series);
            let fault = fault.or_else(|| silence_fault(&point.loops, monitor));
            if !point.loops.series.is_empty() {
                let settled = self.settle(*tempo, duration, &point.loops);
                let run = build_run(self.pace(*tempo), settled, point, &target.stages());
                if run.total.operations() + run.total.errors() > 0 {
                    monitor.point_done(&run);
                    result.runs.push(run);
                }
            }
            let failed = self.stop_on_error && result.runs.last().is_some_and(|run| run.total.errors() > 0);
            if fault.is_some() || failed {
                (result.ended, result.fault) = (EndReason::Failed, fault);
                break;
            }
            if monitor.is_interrupted() {
                result.ended = EndReason::Interrupted;
                break;
            }
        }
        monitor.clear_progress();
        result
    }

    /// Conditions: the recording and its average load.
    pub fn conditions(&self, direct: bool) -> Conditions {
        let Outline { span, .. } = *self.recording.outline();
        let scale = self.tempos.iter().find_map(|tempo| match tempo {
            Tempo::Recorded { scale } => Some(*scale),
            Tempo::Closed { .. } => None,
        });
        let (name, operations) = (self.recording.path().display().to_string(), self.recording.all_operations());
        Conditions {
            streams: vec![self.stream()],
            threads: 1,
            direct,
            compressible: self.compressible,
            seed: self.seed,
            objective: self.objective,
            trace: Some(Trace { name, operations, span, scale }),
        }
    }

    /// The average load of the recording.
    pub fn stream(&self) -> StreamSpec {
        StreamSpec {
            name: "recorded".into(),
            mix: self.recording.outline().mix.clone(),
            pattern: Pattern::Recorded,
            region: Region::first(self.recording.reach()),
            pace: self.pace(self.tempos[0]),
        }
    }

    /// Compressibility of the written data, 0 to 1.
    pub const fn compressible(&self) -> f64 {
        self.compressible
    }

    /// Gaps, assumptions and omissions of the recording.
    pub fn findings(&self) -> impl Iterator<Item = Finding> {
        self.recording.findings()
    }

    /// Runs a replay; returns its result, its fault and its expected duration.
    fn offer<R: ReplayTarget>(
        &self,
        target: &mut R,
        tempo: Tempo,
        monitor: &mut dyn Monitor,
    ) -> (PointResult, Option<Fault>, Option<Span>) {
        let (recording, seed) = (&self.recording, self.seed);
        let duration = match tempo {
            Tempo::Recorded { scale } => Some(Span::from_secs_f64(recording.outline().span.as_secs_f64() * scale)),
            Tempo::Closed { depth } => target.estimate(recording, depth, seed),
        };
        let operations = recording.outline().operations;
        let assume_duration = || Span::from_secs_f64(operations as f64 / ASSUMED_IOPS);
        let slice = (duration.unwrap_or_else(assume_duration) / SLICES).max(R::SHORTEST_SLICE);
        let mut progress = ReplayProgress {
            offered: self.pace(tempo),
            duration: duration.filter(|_| matches!(tempo, Tempo::Recorded { .. })),
            operations,
            stop_on_error: self.stop_on_error,
            counted: 0,
            answered: 0,
            failed: false,
            last_completion: Span::ZERO,
        };
        let playback = Playback { recording, tempo, slice, seed };
        let replayed = target.replay(&playback, &mut |series| progress.observe(series, monitor));
        let (point, fault) = PartialRun::split(replayed);
        (point, fault, duration)
    }

    fn settle(&self, tempo: Tempo, duration: Option<Span>, loops: &LoopResult) -> Settled {
        let spent = total_span(&loops.series);
        let slice = loops.series.first().map_or(Span::ZERO, |slice| slice.span);
        let offered_span = match (tempo, duration) {
            // A replay that ended early offers no operations in its last slice, which drains the rest.
            (Tempo::Recorded { .. }, Some(duration)) if spent >= duration => duration.max(slice),
            _ => spent,
        };
        let (objective, offered, unserved) = (self.objective, self.pace(tempo), loops.unserved);
        settle_recorded(
            &loops.series,
            &Settle { least_warm_up: Span::ZERO, offered_span, objective, offered, unserved },
        )
    }

    /// The mean rate of the recording, or the depth.
    fn pace(&self, tempo: Tempo) -> Pace {
        match tempo {
            Tempo::Closed { depth } => Pace::Closed { depth },
            Tempo::Recorded { scale } => {
                let Outline { operations, span, .. } = *self.recording.outline();
                let gaps = operations.saturating_sub(1).max(1);
                let seconds = span.as_secs_f64() * scale;
                // Without intervals the rate is undefined: all operations count in a second.
                let rate = if seconds > 0.0 { gaps as f64 / seconds } else { gaps as f64 };
                Pace::Open { rate: Iops::from_f64(rate.max(0.001)), arrival: Arrival::Recorded }
            }
        }
    }

    /// Fails if the buffers for a depth exceed the memory limit.
    fn check_memory(&self) -> Result<(), MeasureError> {
        let depths = self.tempos.iter().filter_map(|tempo| match tempo {
            Tempo::Closed { depth } => Some(*depth),
            Tempo::Recorded { .. } => None,
        });
        let (depth, largest) = (depths.max().unwrap_or(0), self.recording.largest());
        // A read buffer and a write buffer.
        let needed = 2 * u64::from(depth) * largest.get();
        if needed <= MAX_BUFFER_MEMORY {
            return Ok(());
        }
        let [needed, max] = [needed, MAX_BUFFER_MEMORY].map(Bytes::new);
        Err(InvalidRequest::ReplayBuffers { depth, largest, needed, max }.into())
    }
}

struct ReplayProgress {
    offered: Pace,
    /// Duration of arrivals, if recorded.
    duration: Option<Span>,
    operations: u64,
    stop_on_error: bool,
    /// Number of counted slices.
    counted: usize,
    answered: u64,
    failed: bool,
    /// Time of the last completion.
    last_completion: Span,
}

impl ReplayProgress {
    fn observe(&mut self, series: &[Slice], monitor: &mut dyn Monitor) -> Onward {
        let end = |slice: &Slice| (slice.start + slice.span).since(Instant::ZERO);
        // Counts only new slices: the last slice is observed repeatedly.
        for slice in &series[self.counted.min(series.len())..] {
            let errors = slice.tally.errors();
            let answered = slice.tally.operations() + errors;
            if answered > 0 {
                self.last_completion = end(slice);
            }
            self.answered += answered;
            self.failed |= errors > 0;
        }
        self.counted = series.len();
        let elapsed = series.last().map_or(Span::ZERO, end);
        monitor.point_progress(&|| self.progress(series, elapsed));
        let is_stalled = match self.duration {
            Some(duration) => elapsed >= duration * TIMEOUT_FACTOR + MIN_TIMEOUT,
            // The initial rate does not predict the duration, as burst credits may run out.
            None => elapsed - self.last_completion >= STALL_TIMEOUT,
        };
        let ends = is_stalled || (self.stop_on_error && self.failed) || monitor.is_interrupted();
        if ends { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn progress(&self, series: &[Slice], elapsed: Span) -> PointProgress {
        let (iops, p99) = recent_rate(series);
        let seconds = elapsed.as_secs_f64();
        let done = match self.duration {
            Some(duration) => seconds / duration.as_secs_f64().max(1e-9),
            None => self.answered as f64 / self.operations.max(1) as f64,
        };
        let left = match self.duration {
            Some(duration) => duration - elapsed,
            None if done > 0.0 => Span::from_secs_f64(seconds * (1.0 - done).max(0.0) / done),
            None => Span::ZERO,
        };
        PointProgress { phase: "replay", pace: self.offered, iops, p99, done, left }
    }
}

/// Fault: no operation completed before the timeout.
fn silence_fault(loops: &LoopResult, monitor: &dyn Monitor) -> Option<Fault> {
    let is_answered = loops.series.iter().any(|slice| slice.tally.operations() + slice.tally.errors() > 0);
    let is_silent = !is_answered && loops.unserved > 0 && !monitor.is_interrupted();
    is_silent.then(|| {
        let why = say!("no completion within {}", total_span(&loops.series));
        let source = std::io::Error::new(std::io::ErrorKind::TimedOut, why);
        Fault { attempt: label!("waiting for completions").into(), source }
    })
}

fn list_tempos(options: &ReplayOptions, sweep: &SweepOptions, target: TargetKind) -> Result<Vec<Tempo>, MeasureError> {
    if sweep.threads != 1 {
        return Err(InvalidRequest::ReplayThreads.into());
    }
    let (depths, scale) = (&sweep.depths, options.time_scale.unwrap_or(1.0));
    if options.as_fast_as_possible {
        let depths = depths.clone().unwrap_or_else(|| vec![DEFAULT_DEPTH]);
        let max = target.max_depth();
        if let Some(&depth) = depths.iter().find(|depth| !(1..=max).contains(depth)) {
            return Err(InvalidRequest::QueueDepth { depth, max }.into());
        }
        return Ok(depths.into_iter().map(|depth| Tempo::Closed { depth }).collect());
    }
    if depths.is_some() {
        return Err(InvalidRequest::ReplayDepth.into());
    }
    if !(1e-6..=1e6).contains(&scale) {
        return Err(InvalidRequest::TimeScale(scale).into());
    }
    Ok(vec![Tempo::Recorded { scale }])
}

/// The result, or a fault if the recording could not be read to its end.
fn join_read_fault(end: Result<(), TraceFault>, outcome: PointOutcome, recording: &Recording) -> PointOutcome {
    match (end, outcome) {
        (Err(why), Ok(until)) => Err(Box::new(PartialRun { fault: read_fault(why, recording), until })),
        (_, outcome) => outcome,
    }
}

fn read_fault(why: TraceFault, recording: &Recording) -> Fault {
    Fault { attempt: format!("reading {}", recording.path().display()), source: std::io::Error::other(why) }
}
