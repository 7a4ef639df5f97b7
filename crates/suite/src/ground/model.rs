//! A model in virtual time: hours of a suite in seconds, without a page cache.

use plimsoll_drive::{Observe, Rules, Simulated, Target, Torn, drive};
use plimsoll_load::{Due, Job, Load, Outcome, Region, Together};
use plimsoll_model::{Chain, ChainSpec};
use plimsoll_record::Slice;
use plimsoll_units::{Instant, Op, Span};

use super::{Facts, Ground, Unfit, end_to_end, misfit, placed_durable, slice_of};
use crate::seen::{IoSeen, WorkerSeen};
use crate::step::{FileSpec, IoStep, Order};

/// A model that lives through all steps: credits that one used up are missing in the next.
pub struct Model {
    target: Simulated<Chain>,
    facts: Facts,
    regions: Vec<Region>,
}

impl Model {
    /// A model at rest.
    pub fn new(spec: &ChainSpec, seed: u64, facts: Facts) -> Self {
        Self { target: Simulated::new(Chain::new(spec, seed)), facts, regions: Vec::new() }
    }

    fn group(&mut self, step: &IoStep, only: Option<usize>, observe: Observe<'_>) -> Result<IoSeen, Box<Torn<IoSeen>>> {
        let origin = self.target.now();
        let at_once = |fault| Box::new(Torn { fault, until: IoSeen::default() });
        let mut jobs = Vec::new();
        let mut depth = 0;
        for (index, worker) in step.workers.iter().enumerate() {
            if only.is_some_and(|only| only != index) {
                continue;
            }
            let number = u8::try_from(index).map_err(|_| at_once(misfit(index)))?;
            let spec = placed_durable(worker, &self.regions);
            depth += spec.depth;
            let job = Job::new(spec, number, origin + worker.begins).ok_or_else(|| at_once(misfit(index)))?;
            jobs.push((number, job));
        }
        let numbers: Vec<_> = jobs.iter().map(|(number, _)| *number).collect();
        let began = |number: u8| step.workers[usize::from(number)].begins;
        let mut load = Crew::new(Together::of(jobs), step.order);
        let driven = drive(&mut self.target, &mut load, &Rules::new(depth, slice_of(step)), observe);
        let (seen, fault) = match driven {
            Ok(seen) => (seen, None),
            Err(torn) => (torn.until, Some(torn.fault)),
        };
        let workers = numbers.iter().zip(load.jobs.into_members()).map(|(&number, job)| {
            let of =
                |slice: &Slice| Slice { tally: slice.tally.only(|counter| counter.stream == number), ..slice.clone() };
            WorkerSeen {
                seen: plimsoll_drive::Seen { series: seen.series.iter().map(of).collect(), ..Default::default() },
                began: Instant::ZERO + began(number),
                ended: Instant::ZERO + job.ended().since(origin),
                ..WorkerSeen::default()
            }
        });
        let all =
            IoSeen { workers: workers.collect(), bound_by: seen.bound_by, series: seen.series, ..IoSeen::default() };
        match fault {
            None => Ok(all),
            Some(fault) => Err(Box::new(Torn { fault, until: all })),
        }
    }
}

impl Ground for Model {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn lay(&mut self, files: &[FileSpec]) -> Result<(), Unfit> {
        self.regions = end_to_end(files, &self.facts.subject.name, self.facts.space)?;
        Ok(())
    }

    fn io(&mut self, step: &IoStep, observe: Observe<'_>) -> Result<IoSeen, Box<Torn<IoSeen>>> {
        if step.order != Order::InTurn {
            return self.group(step, None, observe);
        }
        let mut all = IoSeen::default();
        for index in 0..step.workers.len() {
            let before = all.span();
            let mut one = self.group(step, Some(index), observe)?;
            for worker in &mut one.workers {
                worker.began += before;
                worker.ended += before;
            }
            all.workers.append(&mut one.workers);
            all.series.extend(one.series.into_iter().map(|slice| Slice { start: slice.start + before, ..slice }));
            all.add_bound_by(&one.bound_by);
        }
        Ok(all)
    }

    fn idle(&mut self, span: Span, _observe: Observe<'_>) {
        let until = self.target.now() + span;
        while self.target.now() < until {
            // A simulated target does not fail, and nothing is in flight.
            if self.target.wait(until, &mut Vec::new()).is_err() {
                return;
            }
        }
    }
}

/// Jobs beside each other, which may end with the one that is done first.
struct Crew {
    jobs: Together<Job>,
    in_flight: [u32; 256],
    order: Order,
    ended: bool,
}

impl Crew {
    fn new(jobs: Together<Job>, order: Order) -> Self {
        Self { jobs, in_flight: [0; 256], order, ended: false }
    }
}

impl Load for Crew {
    fn due(&self) -> Due {
        if self.ended { Due::Over } else { self.jobs.due() }
    }

    fn take(&mut self, now: Instant) -> Op {
        let op = self.jobs.take(now);
        self.in_flight[usize::from(op.stream)] += 1;
        op
    }

    fn completed(&mut self, now: Instant, op: &Op, outcome: Outcome) {
        self.jobs.completed(now, op, outcome);
        let in_flight = &mut self.in_flight[usize::from(op.stream)];
        *in_flight -= 1;
        let is_done = *in_flight == 0 && self.jobs.member(op.stream).due() == Due::Over;
        self.ended |= is_done && self.order == Order::UntilFirst;
    }
}
