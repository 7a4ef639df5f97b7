//! Replays: a recorded load offered to a model or to storage, operation by operation, at its own times or at a depth.
//!
//! Knows nothing about what answers: [`Replays`] is all that is asked of it.

mod model;
mod recording;
mod storage;

use std::ops::ControlFlow;
use std::path::Path;

use plimsoll_analyse::{Settle, Settled, settle_recorded};
use plimsoll_drive::{Fault, Observe, Onward, Seen, Torn};
use plimsoll_ingest::TraceFault;
use plimsoll_load::{Arrival, Pace, Pattern, Region, StreamSpec, Tempo};
use plimsoll_record::{Conditions, Ended, Finding, Objective, Outline, Slice, Trace};
use plimsoll_report::Progress;
use plimsoll_units::{Bytes, Instant, Iops, Span};

use crate::args::{CourseArgs, LoadArgs, ReplayArgs};
use crate::console::Console;
use crate::course::{Travelled, length, of_late, run_of};
use crate::plan::{DEEPEST, Grid, MOST_BUFFER_MEMORY};
use crate::stand::{MOST_VIRTUAL, Sighted, Sighting};
use crate::trouble::Trouble;
use crate::words::Percent;

pub use recording::{Part, Recording};

/// Operations in flight when they are asked for as fast as possible and nobody said how many.
const DEPTH: u32 = 32;
/// A run has about so many slices.
const SLICES: u64 = 1_200;
/// What storage may be guessed to answer in a second, where nothing is known of it.
const GUESSED_IOPS: f64 = 10_000.0;
/// What falls behind is waited for until it took so many times as long as the recording, and ten seconds.
const PATIENCE: u64 = 4;
const LEAST_PATIENCE: Span = Span::from_secs(10);
/// At a depth, what answers nothing for so long will never do.
const SILENCE: Span = Span::from_secs(600);

/// A recording, offered once.
#[derive(Clone, Copy, Debug)]
pub struct Playback<'a> {
    /// What is offered.
    pub recording: &'a Recording,
    /// When.
    pub tempo: Tempo,
    /// The length of a slice of the series.
    pub slice: Span,
    /// What determines random streams of what answers, and written data.
    pub seed: u64,
}

/// What a recording can be offered to.
pub trait Replays {
    /// Runs are watched in slices no shorter than this.
    const SHORTEST_SLICE: Span;

    /// Names of the stages that may hold operations, where a model answers.
    fn stages(&self) -> Vec<String>;

    /// How long the recording takes at a depth, where finding that out changes nothing.
    fn estimate(&mut self, recording: &Recording, depth: u32, seed: u64) -> Option<Span>;

    /// Offers it until it is over or `observe` ends it.
    fn replay(&mut self, playback: &Playback<'_>, observe: Observe<'_>) -> Sighted;
}

/// On what a recording is going to be replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Venue {
    /// A model: it takes everything, and needs no buffers.
    Model,
    /// Storage: it is asked to read, write and flush.
    Storage,
}

/// A trace, and how its operations are offered.
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
    /// Reads the trace once to its end, so that what is malformed is refused before anything is offered.
    pub fn new(
        path: &Path,
        args: &ReplayArgs,
        load: &LoadArgs,
        course: &CourseArgs,
        venue: Venue,
    ) -> Result<Self, Trouble> {
        let offers = offers(args, course, venue)?;
        let part = match venue {
            _ if args.reads_only => Part::Reads,
            Venue::Model => Part::All,
            Venue::Storage => Part::Moving,
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

    /// What is offered.
    pub const fn recording(&self) -> &Recording {
        &self.recording
    }

    /// Refuses operations that do not keep to the blocks of the storage.
    pub fn check_grid(&self, grid: Grid) -> Result<(), Trouble> {
        let (block, why, remedy) = match grid {
            Grid::Any => return Ok(()),
            Grid::Direct(block) => (block, "direct I/O here moves whole ones", "add --buffered"),
            Grid::Export(block) => (
                block,
                "the export is served in whole ones",
                "give an export with smaller blocks, or a file with --buffered",
            ),
        };
        match self.recording.unaligned(block) {
            0 => Ok(()),
            count => Err(Trouble::usage(format!(
                "{}: {count} of its {} operations begin or end within a block of {block}, and {why}: {remedy}",
                self.recording.path().display(),
                self.recording.outline().operations
            ))),
        }
    }

    /// Offers the recording: once as it arrived, or once at each depth.
    pub fn follow<R: Replays>(&self, venue: &mut R, console: &mut Console) -> Travelled {
        let mut travelled = Travelled::new();
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
                (travelled.ended, travelled.fault) = (Ended::Failed, fault);
                break;
            }
            if console.interrupted() {
                travelled.ended = Ended::Interrupted;
                break;
            }
        }
        console.clear();
        travelled
    }

    /// What was constant: the recording, and its load on average.
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

    /// The recording on average.
    pub fn stream(&self) -> StreamSpec {
        StreamSpec {
            name: "recorded".into(),
            mix: self.recording.outline().mix.clone(),
            pattern: Pattern::Recorded,
            region: Region::first(self.recording.reach()),
            pace: self.pace(self.offers[0]),
        }
    }

    /// Share of the written data that compresses away, 0 to 1.
    pub const fn compressible(&self) -> f64 {
        self.compressible
    }

    /// What is missing in the recording, or was guessed or left out.
    pub fn findings(&self) -> impl Iterator<Item = Finding> {
        self.recording.findings()
    }

    /// One replay, the fault that ended it, and how long it was expected to last.
    fn offer<R: Replays>(
        &self,
        venue: &mut R,
        tempo: Tempo,
        console: &mut Console,
    ) -> (Sighting, Option<Fault>, Option<Span>) {
        let (recording, seed) = (&self.recording, self.seed);
        let lasts = match tempo {
            Tempo::Recorded { scale } => Some(Span::from_secs_f64(recording.outline().span.as_secs_f64() * scale)),
            Tempo::Closed { depth } => venue.estimate(recording, depth, seed),
        };
        let operations = recording.outline().operations;
        let guessed = || Span::from_secs_f64(operations as f64 / GUESSED_IOPS);
        let slice = (lasts.unwrap_or_else(guessed) / SLICES).max(R::SHORTEST_SLICE);
        let mut watch = Watch {
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
        match venue.replay(&playback, &mut |series| watch.look(series, console)) {
            Ok(sighting) => (sighting, None, lasts),
            Err(torn) => {
                let Torn { fault, until } = *torn;
                (until, Some(fault), lasts)
            }
        }
    }

    fn settled(&self, tempo: Tempo, lasts: Option<Span>, seen: &Seen) -> Settled {
        let spent = length(&seen.series);
        let slice = seen.series.first().map_or(Span::ZERO, |slice| slice.span);
        let offered_span = match (tempo, lasts) {
            // One that was ended early offered nothing any more in its last slice, in which the rest came back.
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
                // Without time between them there is no rate: all of them in a second.
                let rate = if seconds > 0.0 { gaps as f64 / seconds } else { gaps as f64 };
                Pace::Open { rate: Iops::from_f64(rate.max(0.001)), arrival: Arrival::Recorded }
            }
        }
    }

    /// Refuses depths whose buffers no machine should have to hold.
    fn check_memory(&self) -> Result<(), Trouble> {
        let depths = self.offers.iter().filter_map(|tempo| match tempo {
            Tempo::Closed { depth } => Some(*depth),
            Tempo::Recorded { .. } => None,
        });
        let (deepest, largest) = (depths.max().unwrap_or(0), self.recording.largest());
        // One buffer to read into and one to write from.
        let needed = 2 * u64::from(deepest) * largest.get();
        if needed <= MOST_BUFFER_MEMORY {
            return Ok(());
        }
        Err(Trouble::usage(format!(
            "a depth of {deepest} with operations of up to {largest} needs {} of buffers, more than {}: lower the depth",
            Bytes::new(needed),
            Bytes::new(MOST_BUFFER_MEMORY)
        )))
    }
}

/// A replay on its way.
struct Watch {
    offered: Pace,
    /// How long operations are asked for, where the recording says so.
    lasts: Option<Span>,
    operations: u64,
    stop_on_error: bool,
    /// Slices whose operations are counted already.
    counted: usize,
    answered: u64,
    failed: bool,
    /// When something was answered last.
    heard: Span,
}

impl Watch {
    fn look(&mut self, series: &[Slice], console: &mut Console) -> Onward {
        let end = |slice: &Slice| (slice.start + slice.span).since(Instant::ZERO);
        // Only what is new: it is asked at the end of each slice, and several times while one is long.
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
            Some(lasts) => elapsed >= lasts * PATIENCE + LEAST_PATIENCE,
            // The pace of the first operations says little about the rest, once a burst allowance is spent.
            None => elapsed - self.heard >= SILENCE,
        };
        let ends = is_hopeless || (self.stop_on_error && self.failed) || console.interrupted();
        if ends { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn progress(&self, series: &[Slice], elapsed: Span) -> Progress<'static> {
        let (rate, p99) = of_late(series);
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

/// Operations were asked for, and not one came back until all patience was gone.
fn silent(seen: &Seen, console: &Console) -> Option<Fault> {
    let is_answered = seen.series.iter().any(|slice| slice.tally.operations() + slice.tally.errors() > 0);
    let is_silent = !is_answered && seen.unserved > 0 && !console.interrupted();
    is_silent.then(|| {
        let what = format!("not one came in {}", length(&seen.series));
        let source = std::io::Error::new(std::io::ErrorKind::TimedOut, what);
        Fault { attempt: "waiting for answers".into(), source }
    })
}

fn offers(args: &ReplayArgs, course: &CourseArgs, venue: Venue) -> Result<Vec<Tempo>, Trouble> {
    if course.threads != 1 {
        return Err(Trouble::usage("a replay keeps one order, and has one loop: leave out --threads"));
    }
    let (depths, scale) = (&course.depth, args.time_scale.unwrap_or(1.0));
    if args.as_fast_as_possible {
        let depths = depths.clone().unwrap_or_else(|| vec![DEPTH]);
        let deepest = if venue == Venue::Model { MOST_VIRTUAL } else { DEEPEST };
        if let Some(depth) = depths.iter().find(|depth| !(1..=deepest).contains(depth)) {
            return Err(Trouble::usage(format!("a queue depth of {depth} cannot be: write 1 to {deepest}")));
        }
        return Ok(depths.into_iter().map(|depth| Tempo::Closed { depth }).collect());
    }
    if depths.is_some() {
        return Err(Trouble::usage("a replay keeps the recorded arrivals: give --depth with --as-fast-as-possible"));
    }
    if !(1e-6..=1e6).contains(&scale) {
        return Err(Trouble::usage(format!("a time scale of {scale} cannot be: write 0.000001 to 1000000")));
    }
    Ok(vec![Tempo::Recorded { scale }])
}

/// What was seen, and whether the recording could be read as far as that.
fn read_to_the_end(end: Result<(), TraceFault>, sighted: Sighted, recording: &Recording) -> Sighted {
    match (end, sighted) {
        (Err(why), Ok(until)) => Err(Box::new(Torn { fault: unreadable(why, recording), until })),
        (_, sighted) => sighted,
    }
}

fn unreadable(why: TraceFault, recording: &Recording) -> Fault {
    Fault { attempt: format!("reading {}", recording.path().display()), source: std::io::Error::other(why) }
}
