//! The report of all jobs.

use std::collections::BTreeMap;

use plimsoll_analyse::total_span;
use plimsoll_device::Clock;
use plimsoll_drive::LoopResult;
use plimsoll_fio::print::{Failure, FioReport, Heading, JobReport, SteadyState};
use plimsoll_fio::{FioCommand, FioJob};
use plimsoll_record::Slice;
use plimsoll_units::{Instant, Span};

use super::job_report;
use super::plan::{Checks, Member, PathMeaning, StagePlan, bases};
use super::run::{FinishedJob, RunningStage, StageResults, unix_ms};
use super::steady;
use crate::result::{FailedOperation, WorkerResult};

/// Jobs with their plan.
#[derive(Debug)]
pub struct PlannedJobs<'a> {
    pub command: &'a FioCommand,
    pub plan: &'a StagePlan,
    pub meaning: PathMeaning,
    /// Replaces fio's version.
    pub version: &'a str,
    started: Clock,
}

impl<'a> PlannedJobs<'a> {
    /// Starts the clock of the run.
    pub fn new(command: &'a FioCommand, plan: &'a StagePlan, meaning: PathMeaning, version: &'a str) -> Self {
        Self { command, plan, meaning, version, started: Clock::start() }
    }

    /// Time since the start, which includes the layout of files.
    pub(super) fn elapsed(&self) -> Span {
        self.started.now().since(Instant::ZERO)
    }

    /// The heading of each job, for the time before the run.
    pub fn headings(&self) -> Vec<Heading> {
        let group = |index: usize| {
            self.plan.stages.iter().flatten().find(|member| member.job == index).map_or(0, |member| member.group)
        };
        self.command.jobs.iter().enumerate().map(|(index, job)| job_report::build_heading(job, group(index))).collect()
    }

    /// The report of completed stages.
    pub(super) fn report(
        &self,
        results: &StageResults,
        steady: &BTreeMap<u64, SteadyState>,
        elapsed: Span,
    ) -> FioReport {
        self.report_where(&|stage, index| results.stages.get(stage)?.get(index), steady, elapsed)
    }

    /// The report of completed stages and of a running stage.
    pub fn report_running(&self, running: &RunningStage<'_>, elapsed: Span) -> FioReport {
        let partial = self.list_partial_results(running.stage, running.series);
        let find = |stage: usize, index: usize| {
            if stage == running.stage { partial.get(index) } else { running.before.stages.get(stage)?.get(index) }
        };
        self.report_where(&find, running.steady, elapsed)
    }

    /// Partial results of the workers of a stage.
    fn list_partial_results(&self, stage: usize, series: &[Slice]) -> Vec<FinishedJob> {
        let started_unix_ms = unix_ms().saturating_sub(total_span(series).as_nanos() / 1_000_000);
        let result_of = |(index, member): (usize, &Member)| {
            let own = |slice: &Slice| {
                let tally = slice.tally.only(|counter| usize::from(counter.stream) == index.min(255));
                Slice { tally, ..slice.clone() }
            };
            let worker = WorkerResult {
                observed: LoopResult { series: series.iter().map(own).collect(), ..LoopResult::default() },
                began: Instant::ZERO + member.worker.begins,
                ended: Instant::ZERO + total_span(series),
                ..WorkerResult::default()
            };
            FinishedJob { worker, started_unix_ms }
        };
        self.plan.stages[stage].iter().enumerate().map(result_of).collect()
    }

    fn report_where<'b>(
        &self,
        find: &dyn Fn(usize, usize) -> Option<&'b FinishedJob>,
        steady: &BTreeMap<u64, SteadyState>,
        elapsed: Span,
    ) -> FioReport {
        let mut jobs: Vec<JobReport> = Vec::new();
        let mut last_group = None;
        for (stage, members) in self.plan.stages.iter().enumerate() {
            for (index, member) in members.iter().enumerate() {
                let job = &self.command.jobs[member.job];
                let mut report = match find(stage, index) {
                    Some(done) => self.report_job(job, member, &done.worker, done.started_unix_ms, steady),
                    None => self.report_job(job, member, &WorkerResult::default(), 0, steady),
                };
                report.elapsed_s = elapsed.as_nanos() / 1_000_000_000 + 1;
                let joins = job.life.group_reporting && last_group == Some(member.group);
                last_group = Some(member.group);
                match jobs.last_mut().filter(|_| joins) {
                    Some(group) => group.merge(&report),
                    None => jobs.push(report),
                }
            }
        }
        FioReport {
            version: self.version.to_owned(),
            made_unix_ms: unix_ms(),
            created: jiff::Zoned::now().strftime("%a %b %e %H:%M:%S %Y").to_string(),
            global_options: job_report::list_options(&self.command.globals),
            jobs,
            ..FioReport::default()
        }
    }

    fn report_job(
        &self,
        job: &FioJob,
        member: &Member,
        result: &WorkerResult,
        started_unix_ms: u64,
        steady: &BTreeMap<u64, SteadyState>,
    ) -> JobReport {
        let mut report = job_report::report_job(job, member, result, started_unix_ms);
        if let Some(failed) = result.failed {
            report.failure = Some(self.describe_failure(member, failed));
        }
        report.steady = job.life.steady_state.as_ref().and_then(|option| {
            let attained = steady.get(&member.number).cloned();
            attained.or_else(|| steady::judge(option, job_report::trim_warm_up(member, result).slices))
        });
        report
    }

    /// The error that ended a clone.
    fn describe_failure(&self, member: &Member, failed: FailedOperation) -> Failure {
        let file = self.locate(member, PathMeaning::Paths, failed.op.offset);
        job_report::describe_failure(failed.errno, file.map(|(path, _)| path))
    }

    /// Reasons for an early end of jobs, a line each.
    pub(super) fn list_failures(&self, results: &StageResults) -> Vec<String> {
        let finished =
            self.plan.stages.iter().zip(&results.stages).flat_map(|(members, done)| members.iter().zip(done));
        let failure = |(member, done): (&Member, &FinishedJob)| {
            let failure = self.describe_failure(member, done.worker.failed?);
            Some(format!("{}: err={}/{}", self.command.jobs[member.job].name, failure.errno, failure.text))
        };
        let fault = results.fault.as_ref().map(|fault| format!("{fault}: {}", fault.source));
        finished.filter_map(failure).chain(fault).collect()
    }

    /// The file at an offset of a worker's address space, and the offset in it.
    fn locate(&self, member: &Member, meaning: PathMeaning, offset: u64) -> Option<(&str, u64)> {
        let regions = bases(&member.worker.parts, &self.plan.files, meaning);
        let mut parts = member.worker.parts.iter().zip(&regions);
        let (part, region) =
            parts.find(|(_, region)| (region.start..region.start + region.length.get()).contains(&offset))?;
        let path = self.plan.files[part.file].path.as_deref()?;
        Some((path, part.start + offset - region.start))
    }

    /// Verification errors, a line each.
    pub(super) fn list_mismatches(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for member in self.plan.stages.iter().flatten().filter(|member| !matches!(member.checks, Checks::None)) {
            let found = member.checks.mismatches();
            for mismatch in &found.first {
                let located = self.locate(member, self.meaning, mismatch.offset);
                let (path, offset) = located.unwrap_or(("", mismatch.offset));
                let local = plimsoll_device::Mismatch { offset, ..*mismatch };
                lines.push(format!("verify: at file {path} offset {offset}: {local}"));
            }
            let more = found.total.saturating_sub(found.first.len() as u64);
            if more > 0 {
                lines.push(format!("verify: {more} more mismatches"));
            }
        }
        lines
    }
}
