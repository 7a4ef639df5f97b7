//! Workers on threads of their own, each with a target of its own.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use plimsoll_device::{Clock, Shape, sharpen_timers, thread_usage};
use plimsoll_drive::{Fault, Observe, Rules, Target, Torn, drive};
use plimsoll_load::{Due, Job, JobSpec, Load, Outcome};
use plimsoll_units::{Bytes, Instant, Op};

use super::{misfit, slice_of};
use crate::crew::{Tie, merge, together};
use crate::seen::{IoSeen, Logged, WorkerSeen};
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
        let barrier = Barrier::new(group.len());
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
        let mut fault = None;
        for one in seen {
            let started = one.map_err(|source| Fault { attempt: "starting a thread for a worker".into(), source });
            let worker = match started {
                Ok(Ok(worker)) => worker,
                Ok(Err(torn)) => {
                    fault.get_or_insert(torn.fault);
                    torn.until
                }
                Err(error) => {
                    fault.get_or_insert(error);
                    WorkerSeen::default()
                }
            };
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

/// What a worker's thread needs.
struct Post<'a> {
    targets: &'a dyn Targets,
    step: &'a IoStep,
    index: usize,
    worker: &'a Worker,
    clock: Clock,
    barrier: &'a Barrier,
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
        let made = self.targets.target(self.worker, &shape, self.clock);
        // All are ready, or have failed, before the first one begins.
        self.barrier.wait();
        let at_once = |fault| Box::new(Torn { fault, until: WorkerSeen::default() });
        let (mut target, spec) = made.map_err(at_once)?;
        let began = target.now() + self.worker.begins;
        let index = self.index.min(255) as u8;
        let job = Job::new(spec, index, began).ok_or_else(|| at_once(misfit(self.index)))?;
        let stop = (self.step.order == Order::UntilFirst).then(|| tie.flag());
        let mut load = Watched { job, flights: Vec::new(), log: self.worker.logged.then(Vec::new), stop };
        let before = thread_usage();
        let rules = Rules::new(shape.depth, slice_of(self.step));
        let driven = drive(&mut *target, &mut load, &rules, &mut |series| tie.observe(series));
        let used = thread_usage() - before;
        if self.step.order == Order::UntilFirst {
            tie.stop();
        }
        let closing = self.clock.now();
        drop(target);
        let closed = self.clock.now().since(closing);
        let (seen, fault) = match driven {
            Ok(seen) => (seen, None),
            Err(torn) => (torn.until, Some(torn.fault)),
        };
        let seen = WorkerSeen {
            seen,
            began,
            ended: load.job.ended(),
            closed,
            cpu: Some(used.cpu),
            usage: Some(used),
            log: load.log.unwrap_or_default(),
        };
        match fault {
            None => Ok(seen),
            Some(fault) => Err(Box::new(Torn { fault, until: seen })),
        }
    }
}

/// A job whose operations are kept, where that was asked for, and that ends with others, where it was asked for.
struct Watched<'a> {
    job: Job,
    flights: Vec<(Op, Instant)>,
    log: Option<Vec<Logged>>,
    /// Nothing more is asked for once this is set: the observer, who says so too, is asked too seldom for that.
    stop: Option<&'a AtomicBool>,
}

impl Load for Watched<'_> {
    #[inline]
    fn due(&self) -> Due {
        if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Due::Over;
        }
        self.job.due()
    }

    #[inline]
    fn take(&mut self, now: Instant) -> Op {
        let op = self.job.take(now);
        if self.log.is_some() {
            self.flights.push((op, now));
        }
        op
    }

    #[inline]
    fn completed(&mut self, now: Instant, op: &Op, outcome: Outcome) {
        self.job.completed(now, op, outcome);
        if let Some(log) = &mut self.log
            && let Some(place) = self.flights.iter().position(|(flying, _)| flying == op)
        {
            let (op, submitted) = self.flights.swap_remove(place);
            log.push(Logged { op, submitted, completed: now });
        }
    }
}
