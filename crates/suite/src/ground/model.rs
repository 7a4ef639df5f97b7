//! A model in virtual time, optionally behind a simulated page cache: hours of a suite take seconds.

use plimsoll_drive::{Cached, Fault, Observe, PageCache, Partial, PartialRun, Simulated, StreamSet, Target, drive};
use plimsoll_load::{Due, Load, OpOutcome, Region, Together};
use plimsoll_model::{Chain, ChainSpec, Stage};
use plimsoll_record::{Finding, Slice};
use plimsoll_units::{Bytes, Instant, Kind, Op, Slot, Span};

use super::side_by_side::{TrackedJob, derive_rules};
use super::{Facts, Ground, Unfit, fit_files, misfit, placed_durable};
use crate::conduct::Signal;
use crate::result::{IoResult, LoggedOperation, WorkerResult};
use crate::step::{Before, FileSpec, IoStep, WorkerOrder};

/// A model that keeps its state over all steps: burst credits used in a step are missing in the next.
pub struct Model {
    line: TimeLine,
    facts: Facts,
    regions: Vec<Region>,
    /// Names of the model's own stages.
    stages: Vec<String>,
    /// Whether any worker did not use direct I/O.
    buffered: bool,
    doubts: Vec<Finding>,
}

/// The model with its time line, without or behind a page cache.
enum TimeLine {
    Bare(Box<Simulated<Chain>>),
    Cached(Box<Simulated<Cached<Chain>>>),
}

impl TimeLine {
    fn target(&mut self) -> &mut dyn Target {
        match self {
            Self::Bare(target) => &mut **target,
            Self::Cached(target) => &mut **target,
        }
    }

    fn cache(&mut self) -> Option<&mut Cached<Chain>> {
        match self {
            Self::Bare(_) => None,
            Self::Cached(target) => Some(target.model_mut()),
        }
    }
}

impl Model {
    /// A model at rest.
    pub fn new(spec: &ChainSpec, seed: u64, facts: Facts) -> Self {
        let line = TimeLine::Bare(Box::new(Simulated::new(Chain::new(spec, seed))));
        let facts = Facts { write_back: spec.write_back(), ..facts };
        Self { line, facts, regions: Vec::new(), stages: spec.names(), buffered: false, doubts: Vec::new() }
    }

    /// Adds doubts about its figures.
    pub fn doubted(mut self, doubts: impl IntoIterator<Item = Finding>) -> Self {
        for doubt in doubts {
            if !self.doubts.contains(&doubt) {
                self.doubts.push(doubt);
            }
        }
        self
    }

    /// Resets the model and puts it behind the page cache of a host: workers without direct I/O go through the cache.
    pub fn with_page_cache(mut self, settings: PageCache) -> Self {
        let chain = match self.line {
            TimeLine::Bare(target) => target.into_model(),
            TimeLine::Cached(target) => target.into_model().into_model(),
        };
        let stage = Stage(u8::try_from(self.stages.len()).unwrap_or(u8::MAX));
        self.line = TimeLine::Cached(Box::new(Simulated::new(Cached::new(chain, settings, stage))));
        self.facts.stages = self.stages.iter().cloned().chain(["page cache".into()]).collect();
        self.facts.page_cache = Some(settings);
        self
    }

    /// Declares the workers that use the page cache, and prepares their files in it.
    fn prepare(&mut self, step: &IoStep) -> Result<(), Fault> {
        let numbered = step.workers.iter().zip(0..=u8::MAX);
        let buffered: StreamSet =
            numbered.filter(|(worker, _)| !worker.access.direct).map(|(_, number)| number).collect();
        self.buffered |= buffered != StreamSet::default();
        let Some(cache) = self.line.cache() else { return Ok(()) };
        cache.open(buffered);
        let is_used = |index: usize| step.workers.iter().any(|w| w.parts.iter().any(|part| part.file == index));
        let used = self.regions.iter().enumerate().filter(|(index, _)| is_used(*index));
        for (_, region) in used {
            if step.before == Before::Uncached {
                flush(self.line.target(), region.start)?;
            }
            let Some(cache) = self.line.cache() else { continue };
            match step.before {
                Before::AsTheyAre => {}
                Before::Anew => cache.truncate(*region),
                Before::Uncached => cache.drop_pages(*region),
            }
        }
        Ok(())
    }

    fn group(&mut self, step: &IoStep, only: Option<usize>, observe: Observe<'_>) -> Partial<IoResult> {
        let origin = self.line.target().now();
        let mut jobs = Vec::new();
        let mut depth = 0;
        for (index, worker) in step.workers.iter().enumerate() {
            if only.is_some_and(|only| only != index) {
                continue;
            }
            if !worker.conduct.after.is_empty() {
                let source = std::io::Error::other("workers that wait for others are not supported in virtual time");
                return Err(PartialRun::at_once(Fault { attempt: format!("placing worker {index}"), source }));
            }
            let number = u8::try_from(index).map_err(|_| PartialRun::at_once(misfit(index)))?;
            let spec = placed_durable(worker, &self.regions);
            depth += spec.depth;
            let job = TrackedJob::new(worker, spec, number, origin + worker.begins, None);
            jobs.push((number, job.ok_or_else(|| PartialRun::at_once(misfit(index)))?));
        }
        let numbers: Vec<_> = jobs.iter().map(|(number, _)| *number).collect();
        let began = |number: u8| step.workers[usize::from(number)].begins;
        let mut load = ConcurrentJobs { jobs: Together::of(jobs), step, ended: false };
        let driven = drive(self.line.target(), &mut load, &derive_rules(depth, step, &step.workers), observe);
        let (observed, fault) = PartialRun::split(driven);
        let workers = numbers.iter().zip(load.jobs.into_members()).map(|(&number, job)| {
            let of =
                |slice: &Slice| Slice { tally: slice.tally.only(|counter| counter.stream == number), ..slice.clone() };
            WorkerResult {
                observed: plimsoll_drive::LoopResult {
                    series: observed.series.iter().map(of).collect(),
                    ..Default::default()
                },
                began: Instant::ZERO + began(number),
                ended: Instant::ZERO + job.rounds.ended().since(origin),
                queues: job.queues(),
                spent: job.rounds.spent(),
                failed: job.failed,
                log: logged(job.log, origin),
                ..WorkerResult::default()
            }
        });
        let all = IoResult {
            workers: workers.collect(),
            bound_by: observed.bound_by,
            series: observed.series,
            ..IoResult::default()
        };
        PartialRun::join(all, fault)
    }

    /// The simulated page cache, or its absence, if workers went through it.
    fn describe_cache(&self) -> Option<Finding> {
        let TimeLine::Cached(target) = &self.line else {
            return (self.buffered && self.facts.write_back.is_none()).then_some(Finding::NoPageCache);
        };
        let observed = target.model().counters();
        let settings = self.facts.page_cache.filter(|_| self.buffered)?;
        let read = observed.read.get();
        Some(Finding::PageCacheSimulated {
            memory: settings.memory,
            share: (read > 0).then(|| observed.from_memory.get() as f64 / read as f64),
            unused: observed.unused,
            write_backs: observed.write_backs,
            write_back_mean: Bytes::new(observed.written_back.get() / observed.write_backs.max(1)),
            throttled: observed.throttled,
        })
    }

    /// Runs the workers in sequence.
    fn in_turn(&mut self, step: &IoStep, observe: Observe<'_>) -> Partial<IoResult> {
        let mut all = IoResult::default();
        for index in 0..step.workers.len() {
            let before = all.span();
            let mut one = self.group(step, Some(index), observe)?;
            for worker in &mut one.workers {
                worker.began += before;
                worker.ended += before;
            }
            all.workers.append(&mut one.workers);
            all.series.extend(one.series.into_iter().map(|slice| Slice { start: slice.start + before, ..slice }));
            all.bound_by.append(one.bound_by, before);
        }
        Ok(all)
    }
}

impl Ground for Model {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn findings(&self) -> Vec<Finding> {
        self.doubts.iter().cloned().chain(self.describe_cache()).collect()
    }

    fn prepare_files(&mut self, files: &[FileSpec]) -> Result<(), Unfit> {
        self.regions = fit_files(files, &self.facts)?;
        if let Some(cache) = self.line.cache() {
            cache.set_files(&self.regions);
        }
        Ok(())
    }

    fn io(&mut self, step: &IoStep, observe: Observe<'_>) -> Partial<IoResult> {
        self.prepare(step).map_err(PartialRun::at_once)?;
        let mut all = match step.order {
            WorkerOrder::InTurn => self.in_turn(step, observe)?,
            _ => self.group(step, None, observe)?,
        };
        all.dirty = self.line.cache().map(|cache| cache.dirty());
        Ok(all)
    }

    fn idle(&mut self, span: Span, _observe: Observe<'_>) {
        let target = self.line.target();
        let until = target.now() + span;
        while target.now() < until {
            // A simulated target does not fail, and nothing is in flight.
            if target.wait(until, &mut Vec::new()).is_err() {
                return;
            }
        }
    }
}

/// Operations with times relative to the start of the step.
fn logged(log: Option<Vec<LoggedOperation>>, origin: Instant) -> Vec<LoggedOperation> {
    let from = |moment: Instant| Instant::ZERO + moment.since(origin);
    let of = |one: LoggedOperation| LoggedOperation {
        submitted: from(one.submitted),
        completed: from(one.completed),
        ..one
    };
    log.unwrap_or_default().into_iter().map(of).collect()
}

/// Flushes a file, and waits for completion.
fn flush(target: &mut dyn Target, offset: u64) -> Result<(), Fault> {
    let mut completions = Vec::new();
    target.submit(&[(Slot(0), Op { offset, length: 0, kind: Kind::Flush, stream: 0 })])?;
    while completions.is_empty() {
        target.wait(Instant::NEVER, &mut completions)?;
    }
    Ok(())
}

/// Concurrent jobs, which optionally end with the first completed job.
struct ConcurrentJobs<'a> {
    jobs: Together<TrackedJob<'static>>,
    step: &'a IoStep,
    ended: bool,
}

impl Load for ConcurrentJobs<'_> {
    fn due(&self) -> Due {
        if self.ended { Due::Over } else { self.jobs.due() }
    }

    fn awaited(&self) -> Option<Kind> {
        self.jobs.awaited()
    }

    fn take(&mut self, now: Instant) -> Op {
        self.jobs.take(now)
    }

    fn completed(&mut self, now: Instant, op: &Op, outcome: OpOutcome) {
        self.jobs.completed(now, op, outcome);
        if !self.jobs.member(op.stream).is_done() {
            return;
        }
        let conduct = &self.step.workers[usize::from(op.stream)].conduct;
        conduct.when_ended.iter().for_each(Signal::give);
        self.ended |= self.step.order == WorkerOrder::UntilFirst;
    }
}
