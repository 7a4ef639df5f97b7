//! Runs the stages of jobs on a ground in sequence.

use std::collections::BTreeMap;

use plimsoll_drive::{Fault, Onward, PartialRun};
use plimsoll_fio::FioJob;
use plimsoll_fio::print::{FioReport, SteadyState};
use plimsoll_record::Slice;
use plimsoll_units::{Instant, Span};

use super::disks::{Disks, ProcessorTicks};
use super::layout::{CachePreparation, JobFiles};
use super::plan::{Member, PathMeaning, slice_length};
use super::report::PlannedJobs;
use super::{logs, steady};
use crate::ground::{Ground, Nature};
use crate::result::{IoResult, WorkerResult};
use crate::step::{IoStep, Worker};

/// Result of a clone of a job.
#[derive(Debug)]
pub struct FinishedJob {
    pub worker: WorkerResult,
    /// Start of its stage, in milliseconds since 1970.
    pub started_unix_ms: u64,
}

/// Results of all clones by stage and index, without those that did not start.
#[derive(Debug, Default)]
pub struct StageResults {
    pub stages: Vec<Vec<FinishedJob>>,
    /// The fault that ended the run early.
    pub fault: Option<Fault>,
    /// Whether the user interrupted it.
    pub interrupted: bool,
}

impl StageResults {
    /// Total time of all stages.
    fn span(&self) -> Span {
        let stage = |stage: &Vec<FinishedJob>| {
            stage.iter().map(|done| done.worker.ended.since(Instant::ZERO)).max().unwrap_or(Span::ZERO)
        };
        self.stages.iter().map(stage).fold(Span::ZERO, |sum, span| sum + span)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct RunningStage<'a> {
    /// Results of earlier stages.
    pub before: &'a StageResults,
    pub stage: usize,
    /// Its series so far.
    pub series: &'a [Slice],
    /// Attained steady states by number of the clone.
    pub steady: &'a BTreeMap<u64, SteadyState>,
}

/// Observes a run, and can end it.
pub trait RunObserver {
    /// Called several times per second.
    fn observe(&mut self, running: &RunningStage<'_>) -> Onward;
}

/// The end of a run.
#[derive(Debug)]
pub struct JobsOutcome {
    /// The report of all jobs.
    pub report: FioReport,
    /// Verification errors, and reasons for an early end of jobs, a line each.
    pub failures: Vec<String>,
    /// Log files that could not be written, a line each.
    pub log_errors: Vec<String>,
    /// Whether the user interrupted it.
    pub interrupted: bool,
}

impl PlannedJobs<'_> {
    /// Runs all stages, and writes the logs.
    pub fn run(&self, files: &JobFiles<'_>, ground: &mut dyn Ground, observer: &mut dyn RunObserver) -> JobsOutcome {
        let shows_disks =
            self.meaning == PathMeaning::Paths && self.command.jobs.iter().any(|job| job.display.disk_use);
        let disks = if shows_disks { Disks::of(&self.plan.files) } else { Disks::default() };
        let processors = self.command.flags.idle_profile.map(ProcessorTicks::new);
        let mut steady = BTreeMap::new();
        let results = self.run_stages(files, ground, &mut steady, observer);
        let is_virtual = ground.facts().nature == Nature::Model;
        let elapsed = if is_virtual { results.span() } else { self.elapsed() };
        let mut report = self.report(&results, &steady, elapsed);
        report.disks = disks.used();
        report.idleness = processors.map(|processors| processors.idleness());
        let mut failures = self.list_mismatches();
        failures.extend(self.list_failures(&results));
        let finished =
            self.plan.stages.iter().zip(&results.stages).flat_map(|(members, done)| members.iter().zip(done));
        let log_errors = finished.flat_map(|(member, done)| {
            logs::write_logs(&self.command.jobs[member.job], member, &done.worker, done.started_unix_ms)
        });
        JobsOutcome { report, failures, log_errors: log_errors.collect(), interrupted: results.interrupted }
    }

    fn run_stages(
        &self,
        files: &JobFiles<'_>,
        ground: &mut dyn Ground,
        steady: &mut BTreeMap<u64, SteadyState>,
        observer: &mut dyn RunObserver,
    ) -> StageResults {
        let jobs = &self.command.jobs;
        let mut results = StageResults::default();
        for (stage, members) in self.plan.stages.iter().enumerate() {
            let started_unix_ms = unix_ms();
            if let Err(fault) = prepare_caches(jobs, members, files) {
                results.fault = Some(fault);
                return results;
            }
            let mut interrupted = false;
            let outcome = ground.io(&build_step(jobs, members), &mut |series| {
                steady::stop_attained(jobs, members, series, steady);
                let onward = observer.observe(&RunningStage { before: &results, stage, series, steady });
                interrupted |= onward.is_break();
                onward
            });
            let (IoResult { workers, .. }, fault) = PartialRun::split(outcome);
            let finish = |worker| FinishedJob { worker, started_unix_ms };
            results.stages.push(workers.into_iter().map(finish).collect());
            (results.fault, results.interrupted) = (fault, interrupted);
            if results.fault.is_some() || interrupted {
                return results;
            }
        }
        results
    }
}

/// The concurrent workers of a stage.
fn build_step(jobs: &[FioJob], stage: &[Member]) -> IoStep {
    let workers: Vec<Worker> = stage.iter().map(|member| member.worker.clone()).collect();
    IoStep { workers, slice: Some(slice_length(jobs, stage)), ..IoStep::default() }
}

/// Prepares the page cache as the jobs require.
fn prepare_caches(jobs: &[FioJob], stage: &[Member], files: &JobFiles<'_>) -> Result<(), Fault> {
    let mut prepared: Vec<usize> = Vec::new();
    for member in stage {
        let options = &jobs[member.job].files;
        let preparation = match (options.read_before, options.invalidate) {
            (true, _) => CachePreparation::Read,
            (false, true) => CachePreparation::Evict,
            (false, false) => continue,
        };
        for part in &member.worker.parts {
            if !prepared.contains(&part.file) {
                prepared.push(part.file);
                files
                    .prepare_cache(part.file, preparation)
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
