//! Where a load can be offered: on real storage or an export by one or more loops, or on a model in virtual time,
//! or on storage by another generator, which is `fio`.

pub mod fio;

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Mutex;

use plimsoll_device::nbd::{Address, Connection, Remote};
use plimsoll_device::{
    Clock, Contents, Durable, Engine, Flush, Shape, cpu_time, length, sharpen_timers, thread_cpu_time,
};
use plimsoll_drive::{Fault, Observe, Rules, Seen, Simulated, Target, Torn, drive};
use plimsoll_load::{Arrival, Pace, Phase, StreamSpec, Streams};
use plimsoll_model::{Chain, ChainSpec};
use plimsoll_record::CpuTime;
use plimsoll_suite::workers::{self, WorkerHandle, together};
use plimsoll_units::{Instant, Span};

use crate::plan::slots;

/// One load, offered once.
#[derive(Clone, Copy, Debug)]
pub struct Trial<'a> {
    /// The streams, placed and paced.
    pub streams: &'a [StreamSpec],
    /// How long operations are asked for; `observe` may end it sooner.
    pub lasts: Span,
    /// Time at its start that will be in no figure. A stand that sees no more than the whole leaves it out of that.
    pub warm_up: Span,
    /// The length of a slice of the series.
    pub slice: Span,
    /// What determines the random streams.
    pub seed: u64,
}

/// What a trial showed.
#[derive(Debug, Default)]
pub struct Sighting {
    /// What the loops saw, merged.
    pub seen: Seen,
    /// Processor time of the loops; of the whole process where the operations are made by workers.
    pub cpu: Option<CpuTime>,
    /// All of the series is offered time, even its last slice: what was in flight at the end is not told apart.
    pub ends_offered: bool,
}

/// Where a load can be offered.
pub trait Stand {
    /// Offers a load until it is over or `observe` ends it.
    fn offer(&mut self, trial: &Trial<'_>, observe: Observe<'_>) -> Result<Sighting, Box<Torn<Sighting>>>;
}

/// An open load may have so many operations in flight on a model: they need no buffers.
pub const MOST_VIRTUAL: u32 = 1 << 14;

/// A model whose time goes on from trial to trial, so that credits that a trial used up are used up in the next.
#[derive(Debug)]
pub struct Virtual {
    /// The model.
    pub model: ChainSpec,
    target: Simulated<Chain>,
}

impl Virtual {
    /// The model at rest.
    pub fn new(model: &ChainSpec, seed: u64) -> Self {
        Self { model: model.clone(), target: Simulated::new(Chain::new(model, seed)) }
    }
}

impl Stand for Virtual {
    fn offer(&mut self, trial: &Trial<'_>, observe: Observe<'_>) -> Result<Sighting, Box<Torn<Sighting>>> {
        let all: Vec<_> = numbered(trial.streams).collect();
        let start = self.target.now();
        let mut load = load_of(trial, &all, start, trial.seed).map_err(at_once)?;
        let in_flight = |stream: &StreamSpec| match stream.pace {
            Pace::Closed { depth } => depth,
            Pace::Open { .. } => MOST_VIRTUAL,
        };
        let rules = Rules::new(trial.streams.iter().map(in_flight).sum(), trial.slice);
        sighting(drive(&mut self.target, &mut load, &rules, observe), None)
    }
}

/// How loops reach storage.
#[derive(Debug)]
pub enum Way {
    /// An open file or device, and what issues the operations.
    File(OwnedFd, Engine),
    /// An export over NBD, with the connections that no loop uses at the moment.
    Export(Address, Mutex<Vec<Connection>>),
}

/// Real storage, or what behaves as such.
#[derive(Debug)]
pub struct Storage {
    /// How it is reached.
    pub way: Way,
    /// Loops that share the load, each on a thread of its own.
    pub threads: u32,
    /// Share of the written data that compresses away, 0 to 1.
    pub compressible: f64,
}

impl Stand for Storage {
    /// The loops run on threads of their own, so that watching and analysing them takes nothing from them.
    fn offer(&mut self, trial: &Trial<'_>, observe: Observe<'_>) -> Result<Sighting, Box<Torn<Sighting>>> {
        let (this, clock) = (&*self, Clock::start());
        let parts = (0..self.threads).map(|part| (part, self.part(trial, part))).filter(|(_, part)| !part.is_empty());
        let loops = parts.map(|(part, streams)| {
            move |handle: &mut WorkerHandle<'_>| this.one_loop(trial, part, &streams, clock, handle)
        });
        self.side_by_side(loops.collect(), observe)
    }
}

/// What a stand saw, or what ended it, with what was seen until then.
pub type Sighted = Result<Sighting, Box<Torn<Sighting>>>;

/// A fault before anything was seen.
pub fn at_once(fault: Fault) -> Box<Torn<Sighting>> {
    Box::new(Torn { fault, until: Sighting::default() })
}

/// What one loop saw.
pub fn sighting(driven: Result<Seen, Box<Torn<Seen>>>, cpu: Option<CpuTime>) -> Sighted {
    match driven {
        Ok(seen) => Ok(Sighting { seen, cpu, ends_offered: false }),
        Err(torn) => {
            let until = Sighting { seen: torn.until, cpu, ends_offered: false };
            Err(Box::new(Torn { fault: torn.fault, until }))
        }
    }
}

impl Storage {
    /// Runs loops on threads of their own, and merges what they saw.
    pub fn side_by_side<L>(&self, loops: Vec<L>, observe: Observe<'_>) -> Sighted
    where
        L: FnOnce(&mut WorkerHandle<'_>) -> Sighted + Send,
    {
        let process_before = cpu_time();
        let (mut merged, fault) = merge(together(loops, observe).map_err(at_once)?);
        if matches!(self.way, Way::File(_, Engine::Threads)) {
            merged.cpu = Some(difference(cpu_time(), process_before));
        }
        match fault {
            None => Ok(merged),
            Some(fault) => Err(Box::new(Torn { fault, until: merged })),
        }
    }

    /// The streams that one loop offers, with their numbers in the whole load; none when there is nothing left for it.
    fn part(&self, trial: &Trial<'_>, part: u32) -> Vec<(u8, StreamSpec)> {
        numbered(trial.streams).filter_map(|(index, spec)| Some((index, spec.share(part, self.threads)?))).collect()
    }

    fn one_loop(
        &self,
        trial: &Trial<'_>,
        part: u32,
        streams: &[(u8, StreamSpec)],
        clock: Clock,
        handle: &mut WorkerHandle<'_>,
    ) -> Sighted {
        sharpen_timers();
        let own_seed = trial.seed ^ (u64::from(part) << 32);
        let specs: Vec<_> = streams.iter().map(|(_, spec)| spec.clone()).collect();
        let shape = Shape {
            depth: slots(&specs, self.threads),
            largest: specs.iter().map(|spec| spec.mix.sizes.largest()).max().unwrap_or_default(),
            writes: specs.iter().any(StreamSpec::writes),
            contents: Contents::Stamped { compressible: self.compressible },
            seed: own_seed,
            flush: Flush::default(),
            durable: Durable::default(),
        };
        self.on_target(&shape, clock, &mut |target| {
            let start = target.now() + turn(streams, part, self.threads);
            let mut load = load_of(trial, streams, start, own_seed).map_err(at_once)?;
            let cpu_before = thread_cpu_time();
            let rules = Rules::new(shape.depth, trial.slice);
            let driven = drive(target, &mut load, &rules, &mut |series| handle.observe(series));
            sighting(driven, Some(difference(thread_cpu_time(), cpu_before)))
        })
    }

    /// Has `offer` done on a target of the calling thread.
    pub fn on_target(&self, shape: &Shape, clock: Clock, offer: &mut dyn FnMut(&mut dyn Target) -> Sighted) -> Sighted {
        match &self.way {
            Way::File(file, engine) => {
                let failed = |source| at_once(Fault { attempt: "finding out the file's length".into(), source });
                let whole = (file.as_fd(), length(file).map_err(failed)?);
                let mut target = engine.start(&[whole], shape, clock).map_err(at_once)?;
                offer(&mut *target)
            }
            Way::Export(address, idle) => {
                let failed = |error| at_once(Fault { attempt: address.to_string(), source: io::Error::other(error) });
                let kept = idle.lock().expect("no loop panics").pop();
                let connection = kept.map_or_else(|| Connection::open(address), Ok).map_err(failed)?;
                let mut target = Remote::new(vec![connection], shape, clock).map_err(failed)?;
                let sighted = offer(&mut target);
                idle.lock().expect("no loop panics").extend(target.release());
                sighted
            }
        }
    }
}

fn numbered(streams: &[StreamSpec]) -> impl Iterator<Item = (u8, StreamSpec)> {
    streams.iter().enumerate().map(|(index, spec)| (index as u8, spec.clone()))
}

/// How much later than the first loop another one begins, so that their even arrivals together are even, too.
fn turn(streams: &[(u8, StreamSpec)], part: u32, parts: u32) -> Span {
    match streams.first().map(|(_, spec)| spec.pace) {
        Some(Pace::Open { rate, arrival: Arrival::Constant }) => rate.time_of(1) / u64::from(parts) * u64::from(part),
        _ => Span::ZERO,
    }
}

fn load_of(trial: &Trial<'_>, streams: &[(u8, StreamSpec)], start: Instant, seed: u64) -> Result<Streams, Fault> {
    let phase = Phase { end: start + trial.lasts, ..Phase::unbounded(start) };
    Streams::numbered(streams, seed, phase).ok_or_else(|| Fault {
        attempt: "placing the load".into(),
        source: io::Error::other("a stream's space is smaller than one of its operations"),
    })
}

/// What all loops saw, and the first fault among them.
fn merge(sightings: Vec<Sighted>) -> (Sighting, Option<Fault>) {
    let mut all = Sighting::default();
    let mut first = None;
    for sighted in sightings {
        let Sighting { seen, cpu, .. } = sighted.unwrap_or_else(|torn| {
            let Torn { fault, until } = *torn;
            first.get_or_insert(fault);
            until
        });
        all.seen.unserved += seen.unserved;
        all.seen.lateness.merge(&seen.lateness);
        workers::merge(&mut all.seen.series, seen.series);
        let sum = all.cpu.unwrap_or_default();
        all.cpu = cpu.map(|cpu| CpuTime { user: sum.user + cpu.user, system: sum.system + cpu.system }).or(all.cpu);
    }
    (all, first)
}

/// Processor time between two readings.
pub fn difference(after: CpuTime, before: CpuTime) -> CpuTime {
    CpuTime { user: after.user - before.user, system: after.system - before.system }
}
