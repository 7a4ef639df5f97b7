//! Workers on threads of their own, each with a target of its own.

use std::time::Duration;

use plimsoll_device::{Clock, Shape, sharpen_timers, thread_usage};
use plimsoll_drive::{Fault, Observe, Rules, Target, Torn, drive};
use plimsoll_load::JobSpec;
use plimsoll_units::{Bytes, Span};
use rustix::thread::{CpuSet, sched_setaffinity};

use super::watched::Watched;
use super::{misfit, slice_of};
use crate::conduct::Signal;
use crate::crew::{StartBarrier, Tie, merge, together};
use crate::seen::{IoSeen, WorkerSeen};
use crate::step::{IoStep, Order, Worker};

/// How the worker of an index gets its target, made on its own thread.
pub(super) trait Targets: Sync {
    /// Its target, and its job on that target's space.
    fn target(&self, worker: &Worker, shape: &Shape, clock: Clock) -> Result<(Box<dyn Target>, JobSpec), Fault>;
}

/// Runs the workers of a step.
pub(super) fn run(targets: &dyn Targets, step: &IoStep, observe: Observe<'_>) -> Result<IoSeen, Box<Torn<IoSeen>>> {
    let clock = Clock::start();
    let numbered: Vec<_> = step.workers.iter().enumerate().collect();
    let groups: Vec<_> = if step.order == Order::InTurn { numbered.chunks(1).collect() } else { vec![&numbered[..]] };
    let mut all = IoSeen::default();
    for group in groups {
        let barrier = StartBarrier::new(group.len());
        let members = group.iter().map(|&(index, worker)| {
            let post = Post { targets, step, index, worker, clock, barrier: &barrier };
            move |tie: &mut Tie<'_>| post.work(tie)
        });
        let mut stopped = false;
        let seen = together(members.collect(), &mut |series| {
            let onward = observe(series);
            stopped |= onward.is_break();
            onward
        });
        let seen = match seen {
            Ok(seen) => seen,
            Err(fault) => return Err(Box::new(Torn { fault, until: all })),
        };
        let mut fault = None;
        for one in seen {
            let worker = one.unwrap_or_else(|torn| {
                fault.get_or_insert(torn.fault);
                torn.until
            });
            merge(&mut all.series, worker.seen.series.clone());
            all.workers.push(worker);
        }
        if let Some(fault) = fault {
            return Err(Box::new(Torn { fault, until: all }));
        }
        if stopped {
            break;
        }
    }
    Ok(all)
}

/// How long a worker sleeps that waits for others.
const NAP: Duration = Duration::from_millis(1);

/// What a worker's thread needs.
struct Post<'a> {
    targets: &'a dyn Targets,
    step: &'a IoStep,
    index: usize,
    worker: &'a Worker,
    clock: Clock,
    barrier: &'a StartBarrier,
}

impl Post<'_> {
    fn work(&self, tie: &mut Tie<'_>) -> Result<WorkerSeen, Box<Torn<WorkerSeen>>> {
        sharpen_timers();
        let job = &self.worker.job;
        let access = &self.worker.access;
        let shape = Shape {
            depth: job.depth,
            largest: Bytes::new(u64::from(job.largest())),
            writes: job.writes(),
            contents: access.contents.clone(),
            seed: job.seed ^ (self.index as u64) << 32,
            flush: access.flush,
            durable: access.durable,
        };
        let made = self.bind().and_then(|()| self.targets.target(self.worker, &shape, self.clock));
        // All are ready, or have failed, before the first one begins.
        self.barrier.wait();
        let at_once = |fault| Box::new(Torn { fault, until: WorkerSeen::default() });
        let (mut target, spec) = made.map_err(at_once)?;
        self.await_others(tie);
        let began = target.now() + self.worker.begins;
        let index = self.index.min(255) as u8;
        let crew = (self.step.order == Order::UntilFirst).then(|| tie.flag());
        let load = Watched::new(self.worker, spec, index, began, crew);
        let mut load = load.ok_or_else(|| at_once(misfit(self.index)))?;
        let rules = Rules::new(shape.depth, slice_of(self.step));
        let driven = drive(&mut *target, &mut load, &rules, &mut |series| tie.observe(series));
        let used = thread_usage() - load.used_before;
        if self.step.order == Order::UntilFirst {
            tie.stop();
        }
        let (seen, fault) = match driven {
            Ok(seen) => (seen, None),
            Err(torn) => (torn.until, Some(torn.fault)),
        };
        self.ended(fault.is_some() || load.failed.is_some());
        let closing = self.clock.now();
        drop(target);
        let closed = self.clock.now().since(closing);
        let seen = WorkerSeen {
            seen,
            began,
            ended: load.rounds.ended(),
            closed,
            cpu: Some(used.cpu),
            usage: Some(used),
            queues: load.queues(),
            spent: load.rounds.spent(),
            failed: load.failed,
            log: load.log.unwrap_or_default(),
        };
        match fault {
            None => Ok(seen),
            Some(fault) => Err(Box::new(Torn { fault, until: seen })),
        }
    }

    /// Binds the thread to the processors that it may run on.
    fn bind(&self) -> Result<(), Fault> {
        let processors = &self.worker.conduct.processors;
        if processors.is_empty() {
            return Ok(());
        }
        let mut set = CpuSet::new();
        for processor in processors.iter().map(|number| *number as usize).filter(|number| *number < CpuSet::MAX_CPU) {
            set.set(processor);
        }
        sched_setaffinity(None, &set).map_err(|error| Fault {
            attempt: format!("binding a worker to the processors {processors:?}: leave them out, or name others"),
            source: error.into(),
        })
    }

    /// Sleeps until all that this worker begins after was given, or it is to end.
    fn await_others(&self, tie: &mut Tie<'_>) {
        let conduct = &self.worker.conduct;
        let slice = slice_of(self.step);
        let waiting = || conduct.after.iter().any(|signal| !signal.is_given()) && !conduct.stop.is_given();
        let (since, mut passed) = (self.clock.now(), Span::ZERO);
        while waiting() && !tie.is_stopped() {
            std::thread::sleep(NAP);
            while self.clock.now().since(since) >= passed + slice {
                tie.pass(slice);
                passed += slice;
            }
        }
    }

    /// Says that this worker has ended.
    fn ended(&self, has_failed: bool) {
        let conduct = &self.worker.conduct;
        conduct.when_ended.iter().for_each(Signal::give);
        if has_failed {
            conduct.when_failed.iter().for_each(Signal::give);
        }
    }
}
