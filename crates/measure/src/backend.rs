//! Backends that execute a load: loops on real storage or an export, a model in virtual time, or fio.

pub mod fio;

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Mutex;

use plimsoll_device::nbd::{Connection, ExportAddress, Remote};
use plimsoll_device::{
    Batching, Clock, Contents, Durable, Engine, Flush, HostSnapshot, RunDelayWatch, Shape, cpu_time, length,
    sharpen_timers, thread_cpu_time,
};
use plimsoll_drive::{Fault, LoopResult, Observe, Partial, PartialRun, Rules, Simulated, Target, drive_streams};
use plimsoll_language::label;
use plimsoll_load::{Arrival, Pace, StreamPhase, StreamSpec, Streams};
use plimsoll_model::{Chain, ChainSpec};
use plimsoll_record::{CpuTime, HostDelay};
use plimsoll_suite::workers::{self, WorkerHandle, together};
use plimsoll_units::{Instant, Span};

use crate::error::LoadFailure;
use crate::plan::count_slots;

/// A load to offer.
#[derive(Clone, Copy, Debug)]
pub struct Trial<'a> {
    /// The streams with regions and paces.
    pub streams: &'a [StreamSpec],
    /// Duration of the load; `observe` may end it earlier.
    pub duration: Span,
    /// Initial part that no figure includes. A backend without time series excludes it from its counts.
    pub warm_up: Span,
    /// Length of a slice of the series.
    pub slice: Span,
    /// Seed of the random streams.
    pub seed: u64,
}

#[derive(Debug, Default)]
pub struct PointResult {
    /// Merged result of the loops.
    pub loops: LoopResult,
    /// Processor time of the loops, or of the process if worker threads issue operations.
    pub cpu: Option<CpuTime>,
    /// True if the last slice contains only offered time, without draining.
    pub ends_offered: bool,
    /// Processor time that the host withheld from the loops; `None` if unknown, and for models.
    pub host: Option<HostDelay>,
}

/// A backend that executes loads.
pub trait Backend {
    /// Offers a load to its end or until `observe` ends it.
    fn offer(&mut self, trial: &Trial<'_>, observe: Observe<'_>) -> PointOutcome;
}

/// Maximum operations in flight of an open load on a model, which needs no buffers.
pub const MAX_VIRTUAL_DEPTH: u32 = 1 << 14;

/// A model whose time continues between trials, so that used burst credits stay used.
#[derive(Debug)]
pub struct Virtual {
    pub model: ChainSpec,
    target: Simulated<Chain>,
}

impl Virtual {
    /// The idle model.
    pub fn new(model: &ChainSpec, seed: u64) -> Self {
        Self { model: model.clone(), target: Simulated::new(Chain::new(model, seed)) }
    }
}

impl Backend for Virtual {
    fn offer(&mut self, trial: &Trial<'_>, observe: Observe<'_>) -> PointOutcome {
        let all: Vec<_> = number_streams(trial.streams).collect();
        let start = self.target.now();
        let mut load = build_load(trial, &all, start, trial.seed).map_err(PartialRun::at_once)?;
        let in_flight = |stream: &StreamSpec| match stream.pace {
            Pace::Closed { depth } => depth,
            Pace::Open { .. } => MAX_VIRTUAL_DEPTH,
        };
        let rules = Rules::new(trial.streams.iter().map(in_flight).sum(), trial.slice);
        let outcome = collect_outcome(drive_streams(self.target.as_target(), &mut load, &rules, observe), None);
        let loops = match &outcome {
            Ok(point) => &point.loops,
            Err(partial) => &partial.until.loops,
        };
        self.target.drop_answers(loops.unserved);
        outcome
    }
}

/// Access path of loops to storage.
#[derive(Debug)]
pub enum AccessPath {
    /// An open file or device with an engine.
    File(OwnedFd, Engine),
    /// An export over NBD with its idle connections.
    Export(ExportAddress, Mutex<Vec<Connection>>),
}

/// Real storage, or an export.
#[derive(Debug)]
pub struct Storage {
    pub access: AccessPath,
    /// Number of loops, each on its own thread.
    pub threads: u32,
    /// Compressibility of the written data, 0 to 1.
    pub compressible: f64,
}

impl Backend for Storage {
    /// Loops run on their own threads, so that observation does not delay them.
    fn offer(&mut self, trial: &Trial<'_>, observe: Observe<'_>) -> PointOutcome {
        let (this, clock) = (&*self, Clock::start());
        let parts =
            (0..self.threads).map(|part| (part, self.streams_of(trial, part))).filter(|(_, part)| !part.is_empty());
        let loops = parts.map(|(part, streams)| {
            move |handle: &mut WorkerHandle<'_>| this.run_loop(trial, part, &streams, clock, handle)
        });
        self.run_loops(loops.collect(), observe)
    }
}

/// Result of a trial, or its fault with the partial result.
pub type PointOutcome = Partial<PointResult>;

/// Result of a loop.
pub fn collect_outcome(driven: Partial<LoopResult>, cpu: Option<CpuTime>) -> PointOutcome {
    let (loops, fault) = PartialRun::split(driven);
    PartialRun::join(PointResult { loops, cpu, ..PointResult::default() }, fault)
}

impl Storage {
    /// Runs loops on their own threads and merges their results.
    pub fn run_loops<L>(&self, loops: Vec<L>, observe: Observe<'_>) -> PointOutcome
    where
        L: FnOnce(&mut WorkerHandle<'_>) -> PointOutcome + Send,
    {
        let (process_before, host_before) = (cpu_time(), HostSnapshot::take());
        let (mut merged, fault) = merge_outcomes(together(loops, observe).map_err(PartialRun::at_once)?);
        let withheld = HostSnapshot::take().delay_since(&host_before);
        merged.host = Some(withheld.with_loops(merged.host.take()));
        if matches!(self.access, AccessPath::File(_, Engine::Threads)) {
            merged.cpu = Some(cpu_time() - process_before);
        }
        PartialRun::join(merged, fault)
    }

    /// The streams of a loop with their indexes in the load; empty if it has no share.
    fn streams_of(&self, trial: &Trial<'_>, part: u32) -> Vec<(u8, StreamSpec)> {
        number_streams(trial.streams)
            .filter_map(|(index, spec)| Some((index, spec.share(part, self.threads)?)))
            .collect()
    }

    fn run_loop(
        &self,
        trial: &Trial<'_>,
        part: u32,
        streams: &[(u8, StreamSpec)],
        clock: Clock,
        handle: &mut WorkerHandle<'_>,
    ) -> PointOutcome {
        sharpen_timers();
        let own_seed = trial.seed ^ (u64::from(part) << 32);
        let specs: Vec<_> = streams.iter().map(|(_, spec)| spec.clone()).collect();
        let shape = Shape {
            depth: count_slots(&specs, self.threads),
            largest: specs.iter().map(|spec| spec.mix.sizes.largest()).max().unwrap_or_default(),
            writes: specs.iter().any(StreamSpec::writes),
            contents: Contents::Stamped { compressible: self.compressible },
            seed: own_seed,
            flush: Flush::default(),
            durable: Durable::default(),
            batching: Batching::FREE,
            advice: None,
        };
        self.with_target(&shape, clock, &mut |target| {
            let start = target.now() + start_delay(streams, part, self.threads);
            let mut load = build_load(trial, streams, start, own_seed).map_err(PartialRun::at_once)?;
            let cpu_before = thread_cpu_time();
            let rules = Rules::new(shape.depth, trial.slice);
            let mut watched = RunDelayWatch::new(target);
            let driven = drive_streams(&mut watched, &mut load, &rules, &mut |series| handle.observe(series));
            let host = Some(watched.delay());
            let (result, fault) = PartialRun::split(collect_outcome(driven, Some(thread_cpu_time() - cpu_before)));
            PartialRun::join(PointResult { host, ..result }, fault)
        })
    }

    /// Executes `offer` on a target of the calling thread.
    pub fn with_target(
        &self,
        shape: &Shape,
        clock: Clock,
        offer: &mut dyn FnMut(&mut dyn Target) -> PointOutcome,
    ) -> PointOutcome {
        match &self.access {
            AccessPath::File(file, engine) => {
                let failed = |source| {
                    PartialRun::at_once(Fault { attempt: label!("reading the length of the file").into(), source })
                };
                let extent = (file.as_fd(), length(file).map_err(failed)?);
                let mut target = engine.start(&[extent], shape, clock).map_err(PartialRun::at_once)?;
                offer(&mut *target)
            }
            AccessPath::Export(address, idle) => {
                let failed = |error| {
                    PartialRun::at_once(Fault { attempt: address.to_string(), source: io::Error::other(error) })
                };
                let connection = idle.lock().expect("no loop panics").pop();
                let connection = connection.map_or_else(|| Connection::open(address), Ok).map_err(failed)?;
                let mut target = Remote::new(vec![connection], shape, clock).map_err(failed)?;
                let outcome = offer(&mut target);
                idle.lock().expect("no loop panics").extend(target.release());
                outcome
            }
        }
    }
}

fn number_streams(streams: &[StreamSpec]) -> impl Iterator<Item = (u8, StreamSpec)> {
    streams.iter().enumerate().map(|(index, spec)| (index as u8, spec.clone()))
}

/// Start delay of a loop, so that the merged arrivals of all loops are evenly spaced.
fn start_delay(streams: &[(u8, StreamSpec)], part: u32, parts: u32) -> Span {
    match streams.first().map(|(_, spec)| spec.pace) {
        Some(Pace::Open { rate, arrival: Arrival::Constant }) => rate.time_of(1) / u64::from(parts) * u64::from(part),
        _ => Span::ZERO,
    }
}

fn build_load(trial: &Trial<'_>, streams: &[(u8, StreamSpec)], start: Instant, seed: u64) -> Result<Streams, Fault> {
    let phase = StreamPhase { end: start + trial.duration, ..StreamPhase::unbounded(start) };
    Streams::numbered(streams, seed, phase).ok_or_else(|| Fault {
        attempt: label!("placing the load").into(),
        source: io::Error::other(LoadFailure::SmallRegion),
    })
}

/// Merges the results of all loops, and returns the first fault.
fn merge_outcomes(outcomes: Vec<PointOutcome>) -> (PointResult, Option<Fault>) {
    let mut merged = PointResult::default();
    let mut first = None;
    for outcome in outcomes {
        let (PointResult { loops, cpu, host, .. }, fault) = PartialRun::split(outcome);
        first = first.or(fault);
        merged.host = [merged.host, host].into_iter().flatten().reduce(|sum, host| sum.merge_loops(&host));
        merged.loops.unserved += loops.unserved;
        merged.loops.lateness.merge(&loops.lateness);
        workers::merge(&mut merged.loops.series, loops.series);
        merged.cpu = [merged.cpu, cpu].into_iter().flatten().reduce(|sum, cpu| sum + cpu);
    }
    (merged, first)
}
