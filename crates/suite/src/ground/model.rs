//! A model in virtual time: hours of a suite in seconds, without a page cache.

use plimsoll_drive::{Fault, Observe, Rules, Simulated, Target, Torn, drive};
use plimsoll_load::{Due, Load, Outcome, Region, Together};
use plimsoll_model::{Chain, ChainSpec};
use plimsoll_record::Slice;
use plimsoll_units::{Instant, Op, Span};

use super::watched::Watched;
use super::{Facts, Ground, Unfit, end_to_end, misfit, placed_durable, slice_of};
use crate::conduct::Signal;
use crate::seen::{IoSeen, Logged, WorkerSeen};
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
            if !worker.conduct.after.is_empty() {
                let source = std::io::Error::other("a worker that waits for another one is for real time only");
                return Err(at_once(Fault { attempt: format!("placing worker {index}"), source }));
            }
            let number = u8::try_from(index).map_err(|_| at_once(misfit(index)))?;
            let spec = placed_durable(worker, &self.regions);
            depth += spec.depth;
            let job = Watched::new(worker, spec, number, origin + worker.begins, None);
            jobs.push((number, job.ok_or_else(|| at_once(misfit(index)))?));
        }
        let numbers: Vec<_> = jobs.iter().map(|(number, _)| *number).collect();
        let began = |number: u8| step.workers[usize::from(number)].begins;
        let mut load = Crew { jobs: Together::of(jobs), step, ended: false };
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
                ended: Instant::ZERO + job.rounds.ended().since(origin),
                queues: job.queues(),
                spent: job.rounds.spent(),
                failed: job.failed,
                log: logged(job.log, origin),
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

/// Operations with their moments from the beginning of the step.
fn logged(log: Option<Vec<Logged>>, origin: Instant) -> Vec<Logged> {
    let from = |moment: Instant| Instant::ZERO + moment.since(origin);
    let of = |one: Logged| Logged { submitted: from(one.submitted), completed: from(one.completed), ..one };
    log.unwrap_or_default().into_iter().map(of).collect()
}

/// Jobs beside each other, which may end with the one that is done first.
struct Crew<'a> {
    jobs: Together<Watched<'static>>,
    step: &'a IoStep,
    ended: bool,
}

impl Load for Crew<'_> {
    fn due(&self) -> Due {
        if self.ended { Due::Over } else { self.jobs.due() }
    }

    fn take(&mut self, now: Instant) -> Op {
        self.jobs.take(now)
    }

    fn completed(&mut self, now: Instant, op: &Op, outcome: Outcome) {
        self.jobs.completed(now, op, outcome);
        if !self.jobs.member(op.stream).is_done() {
            return;
        }
        let conduct = &self.step.workers[usize::from(op.stream)].conduct;
        conduct.when_ended.iter().for_each(Signal::give);
        self.ended |= self.step.order == Order::UntilFirst;
    }
}
