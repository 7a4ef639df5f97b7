//! Replays of a recorded load on a model or storage, with recorded arrival times or at fixed depths.
//!
//! [`Replays`] is the interface of targets.

mod model;
mod recording;
mod storage;

use std::ops::ControlFlow;
use std::path::Path;

use plimsoll_analyse::{Settle, Settled, settle_recorded};
use plimsoll_drive::{Fault, LoopResult, Observe, Onward, PartialRun};
use plimsoll_ingest::TraceFault;
use plimsoll_load::{Arrival, Pace, Pattern, Region, StreamSpec, Tempo};
use plimsoll_record::{Conditions, EndReason, Finding, Objective, Outline, Slice, Trace};
use plimsoll_report::Progress;
use plimsoll_units::{Bytes, Instant, Iops, Span};

use crate::args::{CourseArgs, LoadArgs, ReplayArgs};
use crate::backend::{PointOutcome, PointResult};
use crate::cli_error::CliError;
use crate::console::Console;
use crate::course::{SweepResult, length, recent_rates, run_of};
use crate::plan::{Grid, MOST_BUFFER_MEMORY, Venue};
use crate::words::Percent;

pub use recording::{Recording, ReplayedPart};

/// Default queue depth of `--as-fast-as-possible`.
const DEPTH: u32 = 32;
/// Approximate number of slices of a run.
const SLICES: u64 = 1_200;
/// Assumed rate of storage with unknown rate.
const GUESSED_IOPS: f64 = 10_000.0;
/// A replay that lags behind ends after this multiple of the recording's duration, but not before the minimum.
const TIMEOUT_FACTOR: u64 = 4;
const TIMEOUT_MIN: Span = Span::from_secs(10);
/// A closed replay without completions for this long ends.
const STALL_TIMEOUT: Span = Span::from_secs(600);

/// A replay of a recording.
#[derive(Clone, Copy, Debug)]
pub struct Playback<'a> {
    /// The recording.
    pub recording: &'a Recording,
    /// Arrival times or depth.
    pub tempo: Tempo,
    /// The length of a slice of the series.
    pub slice: Span,
    /// Seed of the target's random streams and of written data.
    pub seed: u64,
}

/// A target of replays.
pub trait Replays {
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
    offers: Vec<Tempo>,
    seed: u64,
    compressible: f64,
    objective: Option<Objective>,
    stop_on_error: bool,
}

impl Replaying {
    /// Reads the trace to its end, so that malformed traces are refused before the replay.
    pub fn new(
        path: &Path,
        args: &ReplayArgs,
        load: &LoadArgs,
        course: &CourseArgs,
        venue: Venue,
    ) -> Result<Self, CliError> {
        let offers = offers(args, course, venue)?;
        let part = match venue {
            _ if args.reads_only => ReplayedPart::Reads,
            Venue::Model => ReplayedPart::All,
            Venue::Storage => ReplayedPart::Moving,
        };
        let recording = Recording::survey(path, part)?;
        let Percent(compressible) = load.compressible;
        let (seed, objective, stop_on_error) = (load.seed, course.objective, course.stop_on_error);
        let replaying = Self { recording, offers, seed, compressible, objective, stop_on_error };
        if venue == Venue::Storage {
            replaying.check_memory()?;
        }
        Ok(replaying)
    }

    /// The recording.
    pub const fn recording(&self) -> &Recording {
        &self.recording
    }

    /// Fails if operations are not aligned to the blocks of the storage.
    pub fn check_grid(&self, grid: Grid) -> Result<(), CliError> {
        let (block, why, remedy) = match grid {
            Grid::Any => return Ok(()),
            Grid::Direct(block) => (block, "direct I/O requires aligned operations", "add --buffered"),
            Grid::Export(block) => (
                block,
                "the export requires aligned operations",
                "use an export with smaller blocks, or a file with --buffered",
            ),
        };
        match self.recording.unaligned(block) {
            0 => Ok(()),
            count => Err(CliError::usage(format!(
                "{}: {count} of {} operations are not aligned to blocks of {block}, and {why}: {remedy}",
                self.recording.path().display(),
                self.recording.outline().operations
            ))),
        }
    }

    /// Replays the recording once with its arrival times, or once per depth.
    pub fn follow<R: Replays>(&self, venue: &mut R, console: &mut Console) -> SweepResult {
        let mut travelled = SweepResult::new();
        for tempo in &self.offers {
            let (sighting, fault, lasts) = self.offer(venue, *tempo, console);
            travelled.spent += length(&sighting.seen.series);
            let fault = fault.or_else(|| silent(&sighting.seen, console));
            if !sighting.seen.series.is_empty() {
                let settled = self.settled(*tempo, lasts, &sighting.seen);
                let run = run_of(self.pace(*tempo), settled, sighting, &venue.stages());
                if run.total.operations() + run.total.errors() > 0 {
                    console.point_done(&run);
                    travelled.runs.push(run);
                }
            }
            let failed = self.stop_on_error && travelled.runs.last().is_some_and(|run| run.total.errors() > 0);
            if fault.is_some() || failed {
                (travelled.ended, travelled.fault) = (EndReason::Failed, fault);
                break;
            }
            if console.interrupted() {
                travelled.ended = EndReason::Interrupted;
                break;
            }
        }
        console.clear();
        travelled
    }

    /// Conditions: the recording and its average load.
    pub fn conditions(&self, direct: bool) -> Conditions {
        let Outline { span, .. } = *self.recording.outline();
        let scale = self.offers.iter().find_map(|tempo| match tempo {
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
            pace: self.pace(self.offers[0]),
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
    fn offer<R: Replays>(
        &self,
        venue: &mut R,
        tempo: Tempo,
        console: &mut Console,
    ) -> (PointResult, Option<Fault>, Option<Span>) {
        let (recording, seed) = (&self.recording, self.seed);
        let lasts = match tempo {
            Tempo::Recorded { scale } => Some(Span::from_secs_f64(recording.outline().span.as_secs_f64() * scale)),
            Tempo::Closed { depth } => venue.estimate(recording, depth, seed),
        };
        let operations = recording.outline().operations;
        let guessed = || Span::from_secs_f64(operations as f64 / GUESSED_IOPS);
        let slice = (lasts.unwrap_or_else(guessed) / SLICES).max(R::SHORTEST_SLICE);
        let mut watch = ReplayProgress {
            offered: self.pace(tempo),
            lasts: lasts.filter(|_| matches!(tempo, Tempo::Recorded { .. })),
            operations,
            stop_on_error: self.stop_on_error,
            counted: 0,
            answered: 0,
            failed: false,
            heard: Span::ZERO,
        };
        let playback = Playback { recording, tempo, slice, seed };
        let replayed = venue.replay(&playback, &mut |series| watch.look(series, console));
        let (sighting, fault) = PartialRun::split(replayed);
        (sighting, fault, lasts)
    }

    fn settled(&self, tempo: Tempo, lasts: Option<Span>, seen: &LoopResult) -> Settled {
        let spent = length(&seen.series);
        let slice = seen.series.first().map_or(Span::ZERO, |slice| slice.span);
        let offered_span = match (tempo, lasts) {
            // A replay that ended early offers no operations in its last slice, which drains the rest.
            (Tempo::Recorded { .. }, Some(lasts)) if spent >= lasts => lasts.max(slice),
            _ => spent,
        };
        let (objective, offered, unserved) = (self.objective, self.pace(tempo), seen.unserved);
        settle_recorded(&seen.series, &Settle { least_warm_up: Span::ZERO, offered_span, objective, offered, unserved })
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
    fn check_memory(&self) -> Result<(), CliError> {
        let depths = self.offers.iter().filter_map(|tempo| match tempo {
            Tempo::Closed { depth } => Some(*depth),
            Tempo::Recorded { .. } => None,
        });
        let (deepest, largest) = (depths.max().unwrap_or(0), self.recording.largest());
        // A read buffer and a write buffer.
        let needed = 2 * u64::from(deepest) * largest.get();
        if needed <= MOST_BUFFER_MEMORY {
            return Ok(());
        }
        Err(CliError::usage(format!(
            "a depth of {deepest} with operations of up to {largest} needs {} of buffers, more than {}: lower the depth",
            Bytes::new(needed),
            Bytes::new(MOST_BUFFER_MEMORY)
        )))
    }
}

/// Progress of a replay.
struct ReplayProgress {
    offered: Pace,
    /// Duration of arrivals, if recorded.
    lasts: Option<Span>,
    operations: u64,
    stop_on_error: bool,
    /// Number of counted slices.
    counted: usize,
    answered: u64,
    failed: bool,
    /// Time of the last completion.
    heard: Span,
}

impl ReplayProgress {
    fn look(&mut self, series: &[Slice], console: &mut Console) -> Onward {
        let end = |slice: &Slice| (slice.start + slice.span).since(Instant::ZERO);
        // Counts only new slices: the last slice is observed repeatedly.
        for slice in &series[self.counted.min(series.len())..] {
            let errors = slice.tally.errors();
            let answered = slice.tally.operations() + errors;
            if answered > 0 {
                self.heard = end(slice);
            }
            self.answered += answered;
            self.failed |= errors > 0;
        }
        self.counted = series.len();
        let elapsed = series.last().map_or(Span::ZERO, end);
        console.show(|| self.progress(series, elapsed));
        let is_hopeless = match self.lasts {
            Some(lasts) => elapsed >= lasts * TIMEOUT_FACTOR + TIMEOUT_MIN,
            // The initial rate does not predict the duration, as burst credits may run out.
            None => elapsed - self.heard >= STALL_TIMEOUT,
        };
        let ends = is_hopeless || (self.stop_on_error && self.failed) || console.interrupted();
        if ends { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn progress(&self, series: &[Slice], elapsed: Span) -> Progress<'static> {
        let (rate, p99) = recent_rates(series);
        let seconds = elapsed.as_secs_f64();
        let done = match self.lasts {
            Some(lasts) => seconds / lasts.as_secs_f64().max(1e-9),
            None => self.answered as f64 / self.operations.max(1) as f64,
        };
        let left = match self.lasts {
            Some(lasts) => lasts - elapsed,
            None if done > 0.0 => Span::from_secs_f64(seconds * (1.0 - done).max(0.0) / done),
            None => Span::ZERO,
        };
        Progress {
            phase: "replay",
            point: plimsoll_report::words::pace(&self.offered),
            rate,
            unit: "IOPS",
            p99,
            done,
            left,
        }
    }
}

/// Fault: no operation completed before the timeout.
fn silent(seen: &LoopResult, console: &Console) -> Option<Fault> {
    let is_answered = seen.series.iter().any(|slice| slice.tally.operations() + slice.tally.errors() > 0);
    let is_silent = !is_answered && seen.unserved > 0 && !console.interrupted();
    is_silent.then(|| {
        let why = format!("no completion within {}", length(&seen.series));
        let source = std::io::Error::new(std::io::ErrorKind::TimedOut, why);
        Fault { attempt: "waiting for completions".into(), source }
    })
}

fn offers(args: &ReplayArgs, course: &CourseArgs, venue: Venue) -> Result<Vec<Tempo>, CliError> {
    if course.threads != 1 {
        return Err(CliError::usage("a replay preserves the order of operations in a single loop: omit --threads"));
    }
    let (depths, scale) = (&course.depth, args.time_scale.unwrap_or(1.0));
    if args.as_fast_as_possible {
        let depths = depths.clone().unwrap_or_else(|| vec![DEPTH]);
        let max = venue.max_depth();
        if let Some(depth) = depths.iter().find(|depth| !(1..=max).contains(depth)) {
            return Err(CliError::usage(format!("invalid queue depth {depth}: use 1 to {max}")));
        }
        return Ok(depths.into_iter().map(|depth| Tempo::Closed { depth }).collect());
    }
    if depths.is_some() {
        return Err(CliError::usage(
            "a replay uses the recorded arrival times: use --depth with --as-fast-as-possible",
        ));
    }
    if !(1e-6..=1e6).contains(&scale) {
        return Err(CliError::usage(format!("invalid time scale {scale}: use 0.000001 to 1000000")));
    }
    Ok(vec![Tempo::Recorded { scale }])
}

/// The result, or a fault if the recording could not be read to its end.
fn read_to_the_end(end: Result<(), TraceFault>, sighted: PointOutcome, recording: &Recording) -> PointOutcome {
    match (end, sighted) {
        (Err(why), Ok(until)) => Err(Box::new(PartialRun { fault: unreadable(why, recording), until })),
        (_, sighted) => sighted,
    }
}

fn unreadable(why: TraceFault, recording: &Recording) -> Fault {
    Fault { attempt: format!("reading {}", recording.path().display()), source: std::io::Error::other(why) }
}
