//! The report of all jobs in the requested forms.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::Path;

use plimsoll_fio::print::{
    self, Detail, Failure, FioReport, Heading, JobReport, OutputForm, SteadyState, TerseVersion,
};
use plimsoll_fio::{Base, FioCommand, FioJob, Flags, Format};
use plimsoll_suite::{FailedOperation, WorkerResult};

use super::plan::{Checks, FilePlan, Ground, Member, StagePlan, bases};
use super::run::{FinishedJob, Ran, unix_ms};
use super::{steady, tell};
use crate::cli_error::CliError;
use crate::output;

/// Destination of results.
#[derive(Debug)]
pub struct Results {
    file: Option<(String, File)>,
    forms: Vec<OutputForm>,
}

impl Results {
    /// Opens the requested file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn new(flags: &Flags) -> Result<Self, CliError> {
        let open = |path: &String| {
            let opened = File::create(Path::new(path));
            opened
                .map(|file| (path.clone(), file))
                .map_err(|error| CliError::usage(format!("--output={path}: {error}")))
        };
        let version = match flags.terse_version {
            2 => TerseVersion::V2,
            4 => TerseVersion::V4,
            5 => TerseVersion::V5,
            _ => TerseVersion::V3,
        };
        let form = |format: &Format| match format {
            Format::Normal => OutputForm::Normal,
            Format::Terse => OutputForm::Terse(version),
            Format::Json => OutputForm::Json(Detail::Percentiles),
            Format::JsonPlus => OutputForm::Json(Detail::Buckets),
        };
        Ok(Self { file: flags.output.as_ref().map(open).transpose()?, forms: flags.formats.iter().map(form).collect() })
    }

    /// Writes a text.
    pub fn write(&mut self, text: &str) -> Result<(), CliError> {
        match &mut self.file {
            None => output::print(text.as_bytes()),
            Some((path, file)) => file
                .write_all(text.as_bytes())
                .map_err(|error| CliError::Failed(anyhow::anyhow!("writing {path}: {error}"))),
        }
    }

    /// Heading before a run.
    pub fn heading(&mut self, command: &FioCommand, plan: &StagePlan, version: &str) -> Result<(), CliError> {
        if !self.forms.contains(&OutputForm::Normal) {
            return Ok(());
        }
        let members = || plan.stages.iter().flatten();
        let headings: Vec<Heading> = command
            .jobs
            .iter()
            .enumerate()
            .map(|(index, job)| {
                let group = members().find(|member| member.job == index).map_or(0, |member| member.group);
                heading(job, group)
            })
            .collect();
        self.write(&print::heading(&headings, version))
    }

    /// The report in all forms.
    pub fn report(&mut self, report: &FioReport) -> Result<(), CliError> {
        self.write(&print::text(report, &self.forms.clone()))
    }
}

fn heading(job: &FioJob, group: u32) -> Heading {
    let blocks = &job.access.blocks;
    let range = |blocks: &plimsoll_fio::BlockSizes| (blocks.smallest().get(), blocks.largest().get());
    Heading {
        name: job.name.clone(),
        group,
        rw: job.access.rw.to_owned(),
        blocks: [range(&blocks.read), range(&blocks.write), range(&blocks.trim)],
        engine: job.flow.engine.name().to_owned(),
        depth: job.flow.iodepth,
        members: job.life.copies.min(u64::from(u32::MAX)) as u32,
        threads: true,
        units: print::Units {
            kilo: if job.shown.base == Base::Decimal { print::Kilo::Decimal } else { print::Kilo::Binary },
            ..Default::default()
        },
    }
}

/// Input of a report.
pub struct FioReportInput<'a> {
    /// The command line.
    pub command: &'a FioCommand,
    /// The plan.
    pub plan: &'a StagePlan,
    /// Elapsed seconds, rounded up.
    pub elapsed_s: u64,
    /// Replaces fio's version.
    pub version: &'a str,
    /// Attained steady states by number of the clone.
    pub steady: BTreeMap<u64, SteadyState>,
}

impl FioReportInput<'_> {
    /// The report of completed stages.
    pub fn report(&self, ran: &Ran) -> FioReport {
        self.made(&|stage, place| ran.stages.get(stage)?.get(place))
    }

    /// The report of completed stages and of a running stage.
    pub fn report_with(&self, ran: &Ran, running: usize, partly: &[FinishedJob]) -> FioReport {
        self.made(&|stage, place| {
            if stage == running { partly.get(place) } else { ran.stages.get(stage)?.get(place) }
        })
    }

    fn made<'b>(&self, of: &dyn Fn(usize, usize) -> Option<&'b FinishedJob>) -> FioReport {
        let mut jobs: Vec<JobReport> = Vec::new();
        let mut last_group = None;
        for (stage, members) in self.plan.stages.iter().enumerate() {
            for (place, member) in members.iter().enumerate() {
                let job = &self.command.jobs[member.job];
                let report = match of(stage, place) {
                    Some(done) => self.told(job, member, &done.seen, done.started_unix_ms),
                    None => self.told(job, member, &WorkerResult::default(), 0),
                };
                let joins = job.life.group_reporting && last_group == Some(member.group);
                last_group = Some(member.group);
                match jobs.last_mut().filter(|_| joins) {
                    Some(known) => known.merge(&report),
                    None => jobs.push(report),
                }
            }
        }
        FioReport {
            version: self.version.to_owned(),
            made_unix_ms: unix_ms(),
            made: jiff::Zoned::now().strftime("%a %b %e %H:%M:%S %Y").to_string(),
            global_options: tell::options(&self.command.globals),
            jobs,
            ..FioReport::default()
        }
    }

    /// The steady state of a job with `steadystate`.
    fn steady(&self, job: &FioJob, member: &Member, seen: &WorkerResult) -> Option<SteadyState> {
        let asked = job.life.steady_state.as_ref()?;
        let reached = self.steady.get(&member.number).cloned();
        reached.or_else(|| steady::judge(asked, tell::cut(member, seen).slices))
    }

    fn told(&self, job: &FioJob, member: &Member, seen: &WorkerResult, started_unix_ms: u64) -> JobReport {
        let mut report = tell::report(job, member, seen, started_unix_ms);
        report.elapsed_s = self.elapsed_s;
        if let Some(failed) = seen.failed {
            report.failure = Some(failure(member, self.plan, failed));
        }
        report.steady = self.steady(job, member, seen);
        report
    }
}

/// The error that ended a clone.
pub fn failure(member: &Member, plan: &StagePlan, failed: FailedOperation) -> Failure {
    let file = located(member, &plan.files, Ground::Paths, failed.op.offset);
    tell::failure(failed.errno, file.map(|(path, _)| path))
}

/// The file at an offset of a worker's address space, and the offset in it.
fn located<'a>(member: &Member, files: &'a [FilePlan], ground: Ground, offset: u64) -> Option<(&'a str, u64)> {
    let regions = bases(&member.worker.parts, files, ground);
    let mut parts = member.worker.parts.iter().zip(&regions);
    let (part, region) =
        parts.find(|(_, region)| (region.start..region.start + region.length.get()).contains(&offset))?;
    let path = files[part.file].path.as_deref()?;
    Some((path, part.start + offset - region.start))
}

/// Verification errors, a line each.
pub fn mismatches(plan: &StagePlan, ground: Ground) -> Vec<String> {
    let mut lines = Vec::new();
    for member in plan.stages.iter().flatten() {
        if matches!(member.checks, Checks::None) {
            continue;
        }
        let found = member.checks.mismatches();
        for mismatch in &found.first {
            let (path, offset) = located(member, &plan.files, ground, mismatch.offset).unwrap_or(("", mismatch.offset));
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
