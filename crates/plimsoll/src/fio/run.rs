//! Runs the stages of jobs on a backend in sequence.

use std::ops::ControlFlow;

use plimsoll_device::Clock;
use plimsoll_drive::{Fault, Onward, PartialRun};
use plimsoll_fio::FioJob;
use plimsoll_record::Slice;
use plimsoll_suite::{Ground, IoResult, IoStep, Worker, WorkerResult};
use plimsoll_units::{Instant, Span};

use super::place::{Caching, Laid};
use super::plan::{Member, StagePlan, slice};

/// Result of a copy of a job.
#[derive(Debug)]
pub struct FinishedJob {
    /// Result of its worker.
    pub seen: WorkerResult,
    /// Start of its stage, in milliseconds since 1970.
    pub started_unix_ms: u64,
}

/// Results of all clones by stage and index, without those that did not start.
#[derive(Debug, Default)]
pub struct Ran {
    /// Stage by stage.
    pub stages: Vec<Vec<FinishedJob>>,
    /// The fault that ended the run early.
    pub fault: Option<Fault>,
    /// Whether the user interrupted it.
    pub interrupted: bool,
}

impl Ran {
    /// Total time of all stages.
    pub fn span(&self) -> Span {
        let stage = |stage: &Vec<FinishedJob>| {
            stage.iter().map(|done| done.seen.ended.since(Instant::ZERO)).max().unwrap_or(Span::ZERO)
        };
        self.stages.iter().map(stage).fold(Span::ZERO, |sum, span| sum + span)
    }
}

/// Observes a run.
pub trait RunObserver {
    /// Called with the series of a stage so far; `before` has the results of earlier stages.
    fn observe(&mut self, before: &Ran, stage: usize, series: &[Slice]) -> Onward;
}

/// Runs all stages.
pub fn run(
    plan: &StagePlan,
    jobs: &[FioJob],
    laid: &Laid<'_>,
    ground: &mut dyn Ground,
    watch: &mut dyn RunObserver,
) -> Ran {
    let mut ran = Ran::default();
    for (number, stage) in plan.stages.iter().enumerate() {
        let started_unix_ms = unix_ms();
        let step = step(jobs, stage);
        if let Err(fault) = ready(jobs, stage, laid) {
            ran.fault = Some(fault);
            return ran;
        }
        let mut stopped = false;
        let looked = ground.io(&step, &mut |series| {
            let onward = watch.observe(&ran, number, series);
            stopped |= onward.is_break();
            onward
        });
        let (seen, fault) = PartialRun::split(looked);
        let done = |seen| FinishedJob { seen, started_unix_ms };
        let IoResult { workers, .. } = seen;
        ran.stages.push(workers.into_iter().map(done).collect());
        ran.fault = fault;
        ran.interrupted = stopped;
        if ran.fault.is_some() || stopped {
            return ran;
        }
    }
    ran
}

/// The concurrent workers of a stage.
fn step(jobs: &[FioJob], stage: &[Member]) -> IoStep {
    let workers: Vec<Worker> = stage.iter().map(|member| member.worker.clone()).collect();
    IoStep { workers, slice: Some(slice(jobs, stage)), ..IoStep::default() }
}

/// Prepares the page cache as the jobs require.
fn ready(jobs: &[FioJob], stage: &[Member], laid: &Laid<'_>) -> Result<(), Fault> {
    let mut seen: Vec<usize> = Vec::new();
    for member in stage {
        let files = &jobs[member.job].files;
        let cache = match (files.read_before, files.invalidate) {
            (true, _) => Caching::Read,
            (false, true) => Caching::Forget,
            (false, false) => continue,
        };
        for part in &member.worker.parts {
            if !seen.contains(&part.file) {
                seen.push(part.file);
                laid.warm(part.file, cache)
                    .map_err(|source| Fault { attempt: "preparing files for a stage".into(), source })?;
            }
        }
    }
    Ok(())
}

/// Milliseconds since 1970.
pub fn unix_ms() -> u64 {
    u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or(0)
}

/// A stopwatch in real time.
#[derive(Clone, Copy, Debug)]
pub struct Since(Clock);

impl Since {
    /// Starts it.
    pub fn now() -> Self {
        Self(Clock::start())
    }

    /// Elapsed time.
    pub fn elapsed(&self) -> Span {
        self.0.now().since(Instant::ZERO)
    }
}

/// Continues or breaks.
pub const fn onward(goes_on: bool) -> Onward {
    if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}
