//! `plimsoll simulate --replay`: what a model would have done with a recorded load, operation by operation.

use std::fs::File;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use plimsoll_analyse::{Settle, settle_recorded};
use plimsoll_drive::{Observe, Rules, Seen, Simulated, drive};
use plimsoll_ingest::{Request, Requests, TraceFault};
use plimsoll_load::{Arrival, Pace, Pattern, Region, Replay, StreamSpec, Tempo};
use plimsoll_model::{Chain, ChainSpec};
use plimsoll_record::{Asked, Conditions, Ended, Finding, Objective, Outline, Run, Trace};
use plimsoll_report::Progress;
use plimsoll_units::{Bytes, Instant, Iops, Span};

use crate::args::Simulate;
use crate::console::Console;
use crate::course::{Travelled, length, of_late, run_of};
use crate::stand::{MOST_VIRTUAL, Sighting};
use crate::trouble::Trouble;

/// Operations in flight when they are asked for as fast as possible and nobody said how many.
const DEPTH: u32 = 32;
/// Operations that tell how fast a model answers at a depth.
const PILOT: u64 = 2_000;
/// A run has about so many slices.
const SLICES: u64 = 1_200;
/// No slice is shorter.
const SHORTEST_SLICE: Span = Span::from_millis(1);
/// A model that falls behind is waited for until it took so many times as long as the recording, and ten seconds.
const PATIENCE: u64 = 4;
const LEAST_PATIENCE: Span = Span::from_secs(10);

/// A trace, and how its operations are offered.
#[derive(Debug)]
pub struct Replaying {
    path: PathBuf,
    outline: Outline,
    layout: Layout,
    doubts: Vec<String>,
    offers: Vec<Tempo>,
    seed: u64,
    objective: Option<Objective>,
}

impl Replaying {
    /// Reads the trace once to its end, so that what is malformed is refused before anything is simulated.
    pub fn new(path: &Path, args: &Simulate) -> Result<Self, Trouble> {
        let offers = offers(args)?;
        let mut requests = open(path)?;
        let mut layout = Layout::default();
        let noted = requests.by_ref().map(|request| request.map(|request| layout.note(&request)));
        let outline = Outline::over(noted).map_err(|fault| malformed(path, &fault))?;
        let Some(outline) = outline else {
            return Err(Trouble::usage(format!(
                "{}: no operation was recorded: record while there is a load",
                path.display()
            )));
        };
        let reach = layout.settle();
        let outline = Outline { reach, dropped: requests.dropped(), ..outline };
        let mut doubts = requests.doubts();
        doubts.extend(layout.doubt());
        let (seed, objective) = (args.load.seed, args.course.objective);
        Ok(Self { path: path.to_owned(), outline, layout, doubts, offers, seed, objective })
    }

    /// Refuses a recording that reaches beyond `size`, the size of what `name` says.
    pub fn fit(&self, name: &str, size: Bytes) -> Result<(), Trouble> {
        let reach = Bytes::new(self.outline.reach);
        if reach <= size {
            return Ok(());
        }
        Err(Trouble::usage(format!(
            "{}: it reaches to {reach}, and {name} has {size}: give one of that size, or --size",
            self.path.display()
        )))
    }

    /// Offers the recording to a model at rest: once as it arrived, or once at each depth.
    pub fn follow(&self, model: &ChainSpec, console: &mut Console) -> Result<Travelled, Trouble> {
        let mut travelled = Travelled { runs: Vec::new(), ended: Ended::Complete, fault: None, spent: Span::ZERO };
        for tempo in &self.offers {
            let (run, spent) = self.run(model, *tempo, console)?;
            travelled.spent += spent;
            if run.total.operations() > 0 {
                console.point_done(&run);
                travelled.runs.push(run);
            }
            if console.interrupted() {
                travelled.ended = Ended::Interrupted;
                break;
            }
        }
        console.clear();
        Ok(travelled)
    }

    /// What was constant: the recording, and its load on average.
    pub fn conditions(&self) -> Conditions {
        let Outline { operations, span, reach, ref mix, .. } = self.outline;
        let scale = self.offers.iter().find_map(|tempo| match tempo {
            Tempo::Recorded { scale } => Some(*scale),
            Tempo::Closed { .. } => None,
        });
        let stream = StreamSpec {
            name: "recorded".into(),
            mix: mix.clone(),
            pattern: Pattern::Recorded,
            region: Region::first(Bytes::new(reach)),
            pace: self.pace(self.offers[0]),
        };
        Conditions {
            streams: vec![stream],
            threads: 1,
            direct: true,
            compressible: 0.0,
            seed: self.seed,
            objective: self.objective,
            trace: Some(Trace { name: self.path.display().to_string(), operations, span, scale }),
        }
    }

    /// What is missing in the recording, or was guessed.
    pub fn findings(&self) -> impl Iterator<Item = Finding> {
        let Outline { dropped, operations: kept, .. } = self.outline;
        let incomplete = (dropped > 0).then_some(Finding::TraceIncomplete { dropped, kept });
        let doubts = self.doubts.iter().map(|what| Finding::TraceDoubted { what: what.clone() });
        incomplete.into_iter().chain(doubts)
    }

    /// One replay, and how long it took on the model's line.
    fn run(&self, model: &ChainSpec, tempo: Tempo, console: &mut Console) -> Result<(Run, Span), Trouble> {
        let lasts = self.lasts(model, tempo)?;
        let slice = (lasts / SLICES).max(SHORTEST_SLICE);
        let give_up = match tempo {
            Tempo::Recorded { .. } => lasts * PATIENCE + LEAST_PATIENCE,
            // The pace of the first operations says little about the rest, once a burst allowance is spent.
            Tempo::Closed { .. } => Span::MAX,
        };
        let offered = self.pace(tempo);
        let seen = self.offer(model, tempo, slice, u64::MAX, &mut |series| {
            // Not the sum over all slices: it is asked at the end of each.
            let elapsed = series.last().map_or(Span::ZERO, |slice| (slice.start + slice.span).since(Instant::ZERO));
            console.show(|| {
                let (iops, p99) = of_late(series);
                let done = elapsed.as_secs_f64() / lasts.as_secs_f64().max(1e-9);
                let point = plimsoll_report::words::pace(&offered);
                Progress { phase: "replay", point, iops, p99, done, left: lasts - elapsed }
            });
            if console.interrupted() || elapsed >= give_up { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        let spent = length(&seen.series);
        let offered_span = match tempo {
            Tempo::Recorded { .. } => lasts.max(slice),
            Tempo::Closed { .. } => spent,
        };
        let (objective, unserved) = (self.objective, seen.unserved);
        let settle = Settle { least_warm_up: Span::ZERO, offered_span, objective, offered, unserved };
        let settled = settle_recorded(&seen.series, &settle);
        Ok((run_of(offered, settled, Sighting { seen, ..Sighting::default() }, &model.names()), spent))
    }

    /// How long operations are asked for; at a depth an estimate from the first of them.
    fn lasts(&self, model: &ChainSpec, tempo: Tempo) -> Result<Span, Trouble> {
        if let Tempo::Recorded { scale } = tempo {
            return Ok(Span::from_secs_f64(self.outline.span.as_secs_f64() * scale));
        }
        let seen = self.offer(model, tempo, Span::from_secs(1), PILOT, &mut |_| ControlFlow::Continue(()))?;
        let each = length(&seen.series).as_secs_f64() / PILOT.min(self.outline.operations) as f64;
        Ok(Span::from_secs_f64(each * self.outline.operations as f64))
    }

    /// The first `most` operations on a model at rest.
    fn offer(
        &self,
        model: &ChainSpec,
        tempo: Tempo,
        slice: Span,
        most: u64,
        observe: Observe<'_>,
    ) -> Result<Seen, Trouble> {
        let depth = match tempo {
            Tempo::Recorded { .. } => MOST_VIRTUAL,
            Tempo::Closed { depth } => depth,
        };
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let placed = |request: Result<Request, _>| request.map(|request| self.layout.place(&request).recorded());
        let mut load = Replay::new(open(&self.path)?.map(placed).take(most), tempo, Instant::ZERO);
        let mut target = Simulated::new(Chain::new(model, self.seed));
        let seen = drive(&mut target, &mut load, &Rules::new(depth, slice), observe);
        load.end().map_err(|error| malformed(&self.path, &error))?;
        seen.map_err(|torn| Trouble::Failed(torn.fault.into()))
    }

    /// The mean rate of the recording, or the depth.
    fn pace(&self, tempo: Tempo) -> Pace {
        match tempo {
            Tempo::Closed { depth } => Pace::Closed { depth },
            Tempo::Recorded { scale } => {
                let gaps = self.outline.operations.saturating_sub(1).max(1);
                let seconds = self.outline.span.as_secs_f64() * scale;
                // Without time between them there is no rate: all of them in a second.
                let rate = if seconds > 0.0 { gaps as f64 / seconds } else { gaps as f64 };
                Pace::Open { rate: Iops::from_f64(rate.max(0.001)), arrival: Arrival::Recorded }
            }
        }
    }
}

fn offers(args: &Simulate) -> Result<Vec<Tempo>, Trouble> {
    let (depths, scale) = (&args.course.depth, args.replay.time_scale.unwrap_or(1.0));
    if args.replay.as_fast_as_possible {
        let depths = depths.clone().unwrap_or_else(|| vec![DEPTH]);
        if let Some(depth) = depths.iter().find(|depth| !(1..=MOST_VIRTUAL).contains(depth)) {
            return Err(Trouble::usage(format!("a queue depth of {depth} cannot be: write 1 to {MOST_VIRTUAL}")));
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

fn open(path: &Path) -> Result<Requests<File>, Trouble> {
    let file = File::open(path);
    let file = file.map_err(|error| Trouble::usage(format!("{}: cannot be read: {error}", path.display())))?;
    Requests::new(file).map_err(|fault| malformed(path, &fault))
}

fn malformed(path: &Path, fault: &TraceFault) -> Trouble {
    let line = fault.line.map(|line| format!(":{line}")).unwrap_or_default();
    Trouble::usage(format!("{}{line}: {fault}", path.display()))
}

/// Where the volumes of a trace lie on the one that they are replayed on: one behind the other.
#[derive(Debug, Default)]
struct Layout {
    /// Of each volume, how far operations reach; once that is known, where it begins.
    volumes: Vec<u64>,
}

impl Layout {
    /// Volumes begin at multiples of this, as partitions do.
    const ALIGNED: u64 = 1 << 20;

    fn note(&mut self, request: &Request) -> Asked {
        let volume = request.volume as usize;
        if volume >= self.volumes.len() {
            self.volumes.resize(volume + 1, 0);
        }
        let Asked { offset, length, .. } = request.asked;
        self.volumes[volume] = self.volumes[volume].max(offset.saturating_add(length));
        request.asked
    }

    /// Gives each volume its place, and says how far all of them reach.
    fn settle(&mut self) -> u64 {
        let (mut begin, mut reach) = (0_u64, 0);
        for volume in &mut self.volumes {
            reach = begin.saturating_add(*volume);
            *volume = std::mem::replace(&mut begin, reach.checked_next_multiple_of(Self::ALIGNED).unwrap_or(u64::MAX));
        }
        reach
    }

    fn place(&self, request: &Request) -> Asked {
        let begin = self.volumes.get(request.volume as usize).copied().unwrap_or(0);
        Asked { offset: request.asked.offset.saturating_add(begin), ..request.asked }
    }

    fn doubt(&self) -> Option<String> {
        let count = self.volumes.len();
        (count > 1).then(|| format!("it has {count} volumes: they are replayed on one, one behind the other"))
    }
}
