//! What a host's page cache would make of small buffered operations, for grounds that have none.
//!
//! A program that reads 4 KiB after 4 KiB never asks a disk for 4 KiB: the kernel reads ahead, and writes back what has
//! gathered. Without this the times of a model would be those of a host that nobody has. Knows nothing about what is
//! measured.

use plimsoll_device::SyncMode;
use plimsoll_load::{JobSpec, LaneSpec, Pattern, Sizes, Work};

use crate::step::{IoStep, Step, Work as StepWork, Worker};

/// What Linux reads ahead by default, in bytes; the next of them is under way while one is used.
const READ_AHEAD: u32 = 128 << 10;
/// What one file is written back by, or one of several readers is served by, before the turn of another, in bytes.
const TURN: u32 = 4 << 20;
/// Pages that are written back at the same time.
const WRITTEN_BACK: u32 = 32;

/// The step as storage behind a page cache would see it; the same where it goes past one, or is synchronous.
pub(super) fn cached(mut step: Step) -> Step {
    if let StepWork::Io(io) = &mut step.work {
        let alone = io.workers.len() == 1;
        for worker in io.workers.iter_mut().filter(|worker| is_buffered(worker)) {
            worker.job = gathered(&worker.job, smallest(worker), alone);
        }
    }
    step
}

/// True when something of the step is seen by storage in another form than it was asked for.
pub(super) fn is_changed(io: &IoStep) -> bool {
    let alone = io.workers.len() == 1;
    io.workers.iter().filter(|worker| is_buffered(worker)).any(|w| gathered(&w.job, smallest(w), alone) != w.job)
}

fn is_buffered(worker: &Worker) -> bool {
    !worker.access.direct && worker.access.opened == SyncMode::None && !worker.job.durable
}

/// Bytes of the smallest part: an operation has to fit it.
fn smallest(worker: &Worker) -> u64 {
    worker.parts.iter().map(|part| part.length.get()).min().unwrap_or(0)
}

fn gathered(job: &JobSpec, space: u64, alone: bool) -> JobSpec {
    let follows = |lane: &LaneSpec| lane.pattern == Pattern::Sequential && lane.gap == 0 && lane.random == 0.0;
    let ordered = follows(&job.reads) && follows(&job.writes);
    let (size, depth) = match (job.work, ordered) {
        (Work::Reads, true) if alone => (READ_AHEAD, 2),
        (Work::Reads | Work::WriteBack { every: 1 }, true) => (TURN, 1),
        (Work::Writes, true) => (TURN, 2),
        (Work::Writes, false) => (0, WRITTEN_BACK),
        _ => return job.clone(),
    };
    let fits = job.flush_every == 0 && job.think.is_none() && u64::from(size) <= space;
    if !fits {
        return job.clone();
    }
    let larger = |lane: &LaneSpec| {
        let size = size.max(lane.sizes.largest());
        if size == lane.sizes.largest() {
            lane.clone()
        } else {
            LaneSpec { sizes: Sizes::one(size), align: size, ..lane.clone() }
        }
    };
    JobSpec { reads: larger(&job.reads), writes: larger(&job.writes), depth: depth.max(job.depth), ..job.clone() }
}

#[cfg(test)]
mod tests {
    use plimsoll_load::{Region, Until};
    use plimsoll_units::Bytes;

    use super::*;
    use crate::step::Access;

    /// Size and depth of a worker among so many, after and before.
    fn check(work: Work, pattern: Pattern, access: &Access, workers: usize, expected: (u32, u32)) {
        let size = Bytes::mib(16);
        let until = Until::bytes(size.get());
        let job = JobSpec::new(work, LaneSpec::new(4096, pattern), Region::first(size), until);
        let step = Step::io("some", vec![Worker::new(job, 0, size, access.clone()); workers]);
        let made = cached(step.clone());
        let (StepWork::Io(before), StepWork::Io(after)) = (step.work, made.work) else { panic!("a step of blocks") };
        let job = &after.workers[0].job;
        assert_eq!((job.largest(), job.depth), expected, "{work:?} {pattern:?} {workers}");
        assert_eq!(is_changed(&before), expected != (4096, 1));
        assert_eq!(job.until, until);
    }

    #[test]
    fn small_operations_gather_in_memory() {
        let (buffered, direct) = (Access::buffered(), Access::direct());
        check(Work::Reads, Pattern::Sequential, &buffered, 1, (128 << 10, 2));
        check(Work::Reads, Pattern::Sequential, &buffered, 8, (4 << 20, 1));
        check(Work::Reads, Pattern::Uniform, &buffered, 8, (4096, 1));
        check(Work::Writes, Pattern::Sequential, &buffered, 1, (4 << 20, 2));
        check(Work::Writes, Pattern::Uniform, &buffered, 8, (4096, 32));
        check(Work::WriteBack { every: 1 }, Pattern::Sequential, &buffered, 1, (4 << 20, 1));
        check(Work::WriteBack { every: 10 }, Pattern::Uniform, &buffered, 5, (4096, 1));
        check(Work::Reads, Pattern::Sequential, &direct, 1, (4096, 1));
        let synchronous = Access { opened: SyncMode::Dsync, ..Access::buffered() };
        check(Work::Writes, Pattern::Sequential, &synchronous, 1, (4096, 1));
    }
}
