//! A chain of stages as a program: steps that an operation executes in order, on numbered resources.
//!
//! The members of an array share the steps but not the resources: numbers are relative to a base, and a part of an
//! operation carries the base of its member.

use alloc::vec::Vec;

use plimsoll_units::{Op, Span, splitmix64};

use crate::Stage;
use crate::agenda::BEHIND;
use crate::array::Array;
use crate::bank::Bank;
use crate::buffer::Buffer;
use crate::cache::{ClockCache, HitRatio};
use crate::cold::Cold;
use crate::curve::{Curve, DRAWN};
use crate::disk::Disk;
use crate::limit::Limit;
use crate::link::Link;
use crate::prefetch::Prefetch;
use crate::pressure::Pressure;
use crate::spec::{ChainSpec, Demand, StageSpec};
use crate::stall::Stall;
use crate::station::Station;
use crate::variate::Variate;
use crate::window::AdmissionWindow;
use crate::write_back::WriteBack;

/// A step of a program. Targets are indices of steps; steps without a jump continue with the next step.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ProgramStep {
    /// A stage that determines at arrival when an operation leaves.
    Pass(u16),
    /// A disk: the departure is determined when the preceding operations have left.
    Seek(u16),
    /// A measured curve: as a disk, and each arrival may change departures.
    Serve(u16),
    /// The end of a disk or curve, at which passages wait for service.
    Served(u16),
    /// Enters or leaves a window.
    Enter(u16),
    Leave(u16),
    /// An operation of at most this size continues; a larger one waits here for its pieces, which begin with the next
    /// step.
    Cut {
        size: u32,
    },
    /// Ends a piece that waits at `cut`; everything else continues.
    Rejoin {
        cut: u16,
    },
    /// Reads continue, the others jump.
    Split {
        write: u16,
        flush: u16,
    },
    /// Operations on the first device continue, the others jump, with addresses on theirs.
    Locate {
        boundary: u16,
        rest: u16,
    },
    /// Restores the addresses of operations that jumped.
    Relocate {
        boundary: u16,
    },
    /// Hits continue, the others jump.
    Choose {
        cache: u16,
        miss: u16,
    },
    Jump(u16),
    /// Parts continue; the whole jumps after the last of them.
    Fork {
        array: u16,
        first: u16,
        stride: u16,
        after: u16,
    },
    /// Ends a part.
    Join,
    /// Operations that pass through continue, answered ones jump.
    Accept {
        memory: u16,
        after: u16,
    },
    /// Ends an operation that passes through, or in write-back; `body` is its first step.
    Through {
        memory: u16,
        body: u16,
    },
    /// Operations that are not prefetched continue, the others jump when their data has arrived.
    Follow {
        prefetch: u16,
        after: u16,
    },
    /// Ends an operation that continued, or a read-ahead operation.
    Fetched(u16),
    /// Answers the operation.
    End,
}

/// The state of a stage.
#[derive(Clone, Debug)]
pub(crate) enum Resource {
    Limit(Limit),
    Station(Station),
    Bank(Bank),
    Link(Link),
    Stall(Stall),
    Pressure(Pressure),
    Cold(Cold),
    Buffer(Buffer),
    Disk(Disk),
    Curve(Curve),
    Prefetch(Prefetch),
    Window(AdmissionWindow),
    HitRatio(HitRatio),
    Clock(ClockCache),
    /// Bytes of the first device.
    Boundary(u64),
    Array(Array),
    WriteBack(WriteBack),
    /// Splits and pieces are stateless.
    None,
}

/// Remaining work of an operation between a step and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remaining {
    /// Stages that may delay it.
    Stages,
    /// Effects on other operations only.
    Effects,
    None,
}

#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) steps: Vec<ProgramStep>,
    /// Remaining work from each step on.
    pub(crate) remaining: Vec<Remaining>,
    /// The stage that each step belongs to.
    pub(crate) stages: Vec<Stage>,
    pub(crate) resources: Vec<Resource>,
    /// The stage that each resource belongs to.
    pub(crate) owners: Vec<Stage>,
    /// The stages with several paths, their number, and that of their first path.
    paths: Vec<(Stage, u8, u8)>,
    /// Minimum time of every operation in a first link. Zero with limits, whose rate may change at any time.
    pub(crate) entry: Span,
    /// Added to the sequence numbers of departures from that link; zero without `entry`.
    pub(crate) rank: u64,
}

impl Program {
    pub(crate) fn new(spec: &ChainSpec, seed: u64) -> Self {
        let mut writer = Writer { steps: Vec::new(), stages: Vec::new(), next_stage: 0 };
        let mut frame = Vec::new();
        writer.chain(spec, &mut frame);
        writer.step(ProgramStep::End, Stage(0));
        // Members of an array share the tables of their service times.
        let mut services: Vec<Option<Variate>> = alloc::vec![None; usize::from(writer.next_stage)];
        let seeded = |(index, template): (usize, &Template<'_>)| {
            resource(template.spec, stream_seed(seed, index), &mut services[usize::from(template.stage.0)])
        };
        let resources: Vec<Resource> = frame.iter().enumerate().map(seeded).collect();
        let is_limited = resources.iter().any(|resource| matches!(resource, Resource::Limit(_)));
        let entry = match spec.0.first().map(|named| &named.stage) {
            Some(StageSpec::Link { latency, .. }) if !is_limited => *latency,
            _ => Span::ZERO,
        };
        let rank = if entry > Span::ZERO { BEHIND } else { 0 };
        let owners = frame.iter().map(|template| template.stage).collect();
        let remaining = (0..writer.steps.len()).map(|step| find_remaining(&writer.steps, step)).collect();
        let mut next = writer.next_stage;
        let numbered = |(stage, paths)| {
            next += paths;
            (stage, paths, next - paths)
        };
        let paths = spec.paths().into_iter().map(numbered).collect();
        Self { steps: writer.steps, remaining, stages: writer.stages, resources, owners, paths, entry, rank }
    }

    /// Whether a cache has the data of an operation.
    #[inline]
    pub(crate) fn hits(&mut self, resource: u16, op: &Op) -> bool {
        match &mut self.resources[usize::from(resource)] {
            Resource::HitRatio(shares) => shares.hit(op),
            Resource::Clock(clock) => clock.hit(op),
            _ => unreachable!("only caches choose"),
        }
    }

    /// Bytes of the first device of a concatenation.
    pub(crate) fn boundary(&self, resource: u16) -> u64 {
        match self.resources[usize::from(resource)] {
            Resource::Boundary(size) => size,
            _ => unreachable!("only a concatenation has a boundary"),
        }
    }

    /// The number of a path of a stage; that of the stage if it has a single path.
    #[inline]
    pub(crate) fn path_of(&self, stage: Stage, path: u8) -> Stage {
        let found = self.paths.iter().find(|(with_paths, ..)| *with_paths == stage);
        found.map_or(stage, |(_, paths, first)| Stage(first + path % paths))
    }
}

/// The remaining work from `step` on. Jumps lead forward only.
fn find_remaining(steps: &[ProgramStep], mut step: usize) -> Remaining {
    let mut remaining = Remaining::None;
    loop {
        match steps[step] {
            ProgramStep::End => return remaining,
            ProgramStep::Jump(to) => step = usize::from(to),
            // No delay at the end of a write-back memory, of read-ahead, of pieces or of a concatenation.
            ProgramStep::Through { .. }
            | ProgramStep::Fetched(_)
            | ProgramStep::Rejoin { .. }
            | ProgramStep::Relocate { .. } => step += 1,
            ProgramStep::Leave(_) => {
                remaining = Remaining::Effects;
                step += 1;
            }
            _ => return Remaining::Stages,
        }
    }
}

/// A resource to be created.
#[derive(Clone, Copy)]
struct Template<'a> {
    spec: &'a StageSpec,
    stage: Stage,
}

struct Writer {
    steps: Vec<ProgramStep>,
    stages: Vec<Stage>,
    next_stage: u8,
}

impl Writer {
    fn step(&mut self, step: ProgramStep, stage: Stage) -> usize {
        self.steps.push(step);
        self.stages.push(stage);
        self.steps.len() - 1
    }

    fn here(&self) -> u16 {
        self.steps.len() as u16
    }

    fn chain<'a>(&mut self, chain: &'a ChainSpec, frame: &mut Vec<Template<'a>>) {
        for named in &chain.0 {
            let stage = Stage(self.next_stage);
            self.next_stage += 1;
            let number = frame.len() as u16;
            // Pieces are stateless, and must not change the random streams of the stages behind them.
            if !matches!(named.stage, StageSpec::Pieces { .. }) {
                frame.push(Template { spec: &named.stage, stage });
            }
            self.stage(&named.stage, stage, number, frame);
        }
    }

    fn stage<'a>(&mut self, spec: &'a StageSpec, stage: Stage, number: u16, frame: &mut Vec<Template<'a>>) {
        match spec {
            StageSpec::Disk(_) => {
                self.step(ProgramStep::Seek(number), stage);
                self.step(ProgramStep::Served(number), stage);
            }
            StageSpec::Curve { .. } => {
                self.step(ProgramStep::Serve(number), stage);
                self.step(ProgramStep::Served(number), stage);
            }
            StageSpec::Prefetch { inside, .. } => {
                let follow = self.step(ProgramStep::Follow { prefetch: number, after: 0 }, stage);
                self.chain(inside, frame);
                self.step(ProgramStep::Fetched(number), stage);
                self.steps[follow] = ProgramStep::Follow { prefetch: number, after: self.here() };
            }
            StageSpec::Window { inside, .. } => {
                self.step(ProgramStep::Enter(number), stage);
                self.chain(inside, frame);
                self.step(ProgramStep::Leave(number), stage);
            }
            StageSpec::Pieces { size, inside } => {
                let size = u32::try_from(size.get()).unwrap_or(u32::MAX);
                let cut = self.step(ProgramStep::Cut { size }, stage) as u16;
                self.chain(inside, frame);
                self.step(ProgramStep::Rejoin { cut }, stage);
            }
            StageSpec::Split { read, write, flush } => self.split([read, write, flush], stage, frame),
            StageSpec::Concat { first, rest, .. } => {
                let locate = self.step(ProgramStep::Locate { boundary: number, rest: 0 }, stage);
                self.chain(first, frame);
                let jump = self.step(ProgramStep::Jump(0), stage);
                self.steps[locate] = ProgramStep::Locate { boundary: number, rest: self.here() };
                self.chain(rest, frame);
                self.step(ProgramStep::Relocate { boundary: number }, stage);
                self.steps[jump] = ProgramStep::Jump(self.here());
            }
            StageSpec::Cache { hit, miss, .. } | StageSpec::Clock { hit, miss, .. } => {
                let choose = self.step(ProgramStep::Choose { cache: number, miss: 0 }, stage);
                self.chain(hit, frame);
                let jump = self.step(ProgramStep::Jump(0), stage);
                self.steps[choose] = ProgramStep::Choose { cache: number, miss: self.here() };
                self.chain(miss, frame);
                self.steps[jump] = ProgramStep::Jump(self.here());
            }
            StageSpec::Array { members, member, .. } => self.array(*members, member, stage, number, frame),
            StageSpec::WriteBack { inside, .. } => {
                let accept = self.step(ProgramStep::Accept { memory: number, after: 0 }, stage);
                let body = self.here();
                self.chain(inside, frame);
                self.step(ProgramStep::Through { memory: number, body }, stage);
                self.steps[accept] = ProgramStep::Accept { memory: number, after: self.here() };
            }
            _ => {
                self.step(ProgramStep::Pass(number), stage);
            }
        }
    }

    fn split<'a>(&mut self, [read, write, flush]: [&'a ChainSpec; 3], stage: Stage, frame: &mut Vec<Template<'a>>) {
        let split = self.step(ProgramStep::Split { write: 0, flush: 0 }, stage);
        self.chain(read, frame);
        let after_read = self.step(ProgramStep::Jump(0), stage);
        let write_at = self.here();
        self.chain(write, frame);
        let after_write = self.step(ProgramStep::Jump(0), stage);
        let flush_at = self.here();
        self.chain(flush, frame);
        self.steps[split] = ProgramStep::Split { write: write_at, flush: flush_at };
        self.steps[after_read] = ProgramStep::Jump(self.here());
        self.steps[after_write] = ProgramStep::Jump(self.here());
    }

    fn array<'a>(
        &mut self,
        members: u32,
        member: &'a ChainSpec,
        stage: Stage,
        array: u16,
        frame: &mut Vec<Template<'a>>,
    ) {
        let fork = self.step(ProgramStep::Join, stage);
        let mut own = Vec::new();
        self.chain(member, &mut own);
        self.step(ProgramStep::Join, stage);
        let (first, stride) = (frame.len() as u16, own.len() as u16);
        for _ in 0..members {
            frame.extend_from_slice(&own);
        }
        self.steps[fork] = ProgramStep::Fork { array, first, stride, after: self.here() };
    }
}

/// The seed of a resource's random stream. Hashed twice, so that streams of adjacent resources, of chains with adjacent
/// seeds, and of a load with the same seed are unrelated.
const fn stream_seed(seed: u64, resource: usize) -> u64 {
    splitmix64(splitmix64(seed).wrapping_add(resource as u64))
}

fn resource(spec: &StageSpec, seed: u64, service: &mut Option<Variate>) -> Resource {
    let mut service = |demand: &Demand| service.get_or_insert_with(|| Variate::new(*demand, seed)).reseeded(seed);
    match spec {
        StageSpec::Limit { rate, burst, unit } => Resource::Limit(Limit::new(*rate, *burst, *unit)),
        StageSpec::Station { servers, demand } => Resource::Station(Station::new(*servers, service(demand))),
        StageSpec::Bank { queues, grain, demand } => Resource::Bank(Bank::new(*queues, *grain, service(demand))),
        StageSpec::Disk(disk) => Resource::Disk(Disk::new(*disk, seed)),
        StageSpec::Link { latency, bandwidth, duplex, paths } => {
            Resource::Link(Link::new(*latency, *bandwidth, *duplex, *paths))
        }
        StageSpec::Curve { points } => Resource::Curve(Curve::new(points, service(&DRAWN), seed)),
        StageSpec::Prefetch { window, unit, streams, .. } => {
            Resource::Prefetch(Prefetch::new(*window, *unit, *streams))
        }
        StageSpec::Stall { every, length } => Resource::Stall(Stall::new(*every, *length)),
        StageSpec::Pressure { rate, burst, delay } => Resource::Pressure(Pressure::new(*rate, *burst, *delay)),
        StageSpec::Cold { rest, extra, grain, share } => Resource::Cold(Cold::new(*rest, *extra, *grain, *share)),
        StageSpec::Buffer { capacity, drain, flushing } => Resource::Buffer(Buffer::new(*capacity, *drain, *flushing)),
        StageSpec::Window { slots, paths, .. } => Resource::Window(AdmissionWindow::new(*slots, *paths)),
        StageSpec::Split { .. } | StageSpec::Pieces { .. } => Resource::None,
        StageSpec::Concat { size, .. } => Resource::Boundary(size.get()),
        StageSpec::Cache { hits, .. } => Resource::HitRatio(HitRatio::new(*hits, seed)),
        StageSpec::Clock { capacity, grain, .. } => Resource::Clock(ClockCache::new(*capacity, *grain)),
        StageSpec::Array { layout, members, interleave, .. } => {
            Resource::Array(Array::new(*layout, *members, *interleave))
        }
        StageSpec::WriteBack { capacity, halves, depth, flushing, reads, .. } => {
            Resource::WriteBack(WriteBack::new((*capacity, *halves), *depth, *flushing, (*reads, seed)))
        }
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::stream_seed;

    /// The correlation coefficient of the first values of two streams.
    fn correlation(a: u64, b: u64) -> f64 {
        const DRAWS: u32 = 250_000;
        let (mut a, mut b) = (Rng::with_seed(a), Rng::with_seed(b));
        let product = |_| (a.f64() - 0.5) * (b.f64() - 0.5);
        // The variance of a uniform value is 1/12.
        (0..DRAWS).map(product).sum::<f64>() / f64::from(DRAWS) * 12.0
    }

    #[test]
    fn streams_of_adjacent_resources_and_seeds_are_uncorrelated() {
        for seed in [0, 1, 7, u64::MAX] {
            for resource in 0..8 {
                let own = stream_seed(seed, resource);
                let others = [
                    stream_seed(seed, resource + 1),
                    stream_seed(seed, resource + 2),
                    stream_seed(seed.wrapping_add(1), resource),
                    stream_seed(seed.wrapping_add(1), resource + 1),
                    // The first streams of a load with the same seed.
                    plimsoll_units::splitmix64(seed ^ resource as u64),
                ];
                for other in others {
                    let r = correlation(own, other);
                    // Five standard errors.
                    assert!(r.abs() < 0.01, "seed {seed}, resource {resource}: {r}");
                }
            }
        }
    }
}
