//! The report of all jobs, in the forms that were asked for, to where it goes.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::Path;

use plimsoll_fio::print::{self, Detail, Failure, Form, Heading, JobReport, Report, SteadyState, TerseVersion};
use plimsoll_fio::{Base, Command, Flags, Format, Job};
use plimsoll_suite::{FailedOperation, WorkerResult};

use super::plan::{Checks, FilePlan, Ground, Member, Plan, bases};
use super::run::{FinishedJob, Ran, unix_ms};
use super::{steady, tell};
use crate::output;
use crate::trouble::Trouble;

/// Where results go.
#[derive(Debug)]
pub struct Results {
    file: Option<(String, File)>,
    forms: Vec<Form>,
}

impl Results {
    /// Opens the file that was asked for.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new(flags: &Flags) -> Result<Self, Trouble> {
        let open = |path: &String| {
            let opened = File::create(Path::new(path));
            opened.map(|file| (path.clone(), file)).map_err(|error| Trouble::usage(format!("--output={path}: {error}")))
        };
        let version = match flags.terse_version {
            2 => TerseVersion::V2,
            4 => TerseVersion::V4,
            5 => TerseVersion::V5,
            _ => TerseVersion::V3,
        };
        let form = |format: &Format| match format {
            Format::Normal => Form::Normal,
            Format::Terse => Form::Terse(version),
            Format::Json => Form::Json(Detail::Percentiles),
            Format::JsonPlus => Form::Json(Detail::Buckets),
        };
        Ok(Self { file: flags.output.as_ref().map(open).transpose()?, forms: flags.formats.iter().map(form).collect() })
    }

    /// Writes a text.
    pub fn write(&mut self, text: &str) -> Result<(), Trouble> {
        match &mut self.file {
            None => output::print(text.as_bytes()),
            Some((path, file)) => file
                .write_all(text.as_bytes())
                .map_err(|error| Trouble::Failed(anyhow::anyhow!("writing {path}: {error}"))),
        }
    }

    /// What stands before a run, for people.
    pub fn heading(&mut self, command: &Command, plan: &Plan, version: &str) -> Result<(), Trouble> {
        if !self.forms.contains(&Form::Normal) {
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
    pub fn report(&mut self, report: &Report) -> Result<(), Trouble> {
        self.write(&print::text(report, &self.forms.clone()))
    }
}

fn heading(job: &Job, group: u32) -> Heading {
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

/// What is known when a report is made.
pub struct Course<'a> {
    /// What was asked for.
    pub command: &'a Command,
    /// What became of it as a plan.
    pub plan: &'a Plan,
    /// Seconds since the run began, begun ones counted.
    pub elapsed_s: u64,
    /// What stands in the place of fio's version.
    pub version: &'a str,
    /// Steady states that were reached, by the number of the copy.
    pub steady: BTreeMap<u64, SteadyState>,
}

impl Course<'_> {
    /// The report of what ran.
    pub fn report(&self, ran: &Ran) -> Report {
        self.made(&|stage, place| ran.stages.get(stage)?.get(place))
    }

    /// The report of what ran, and of a stage that still runs.
    pub fn report_with(&self, ran: &Ran, running: usize, partly: &[FinishedJob]) -> Report {
        self.made(&|stage, place| {
            if stage == running { partly.get(place) } else { ran.stages.get(stage)?.get(place) }
        })
    }

    fn made<'b>(&self, of: &dyn Fn(usize, usize) -> Option<&'b FinishedJob>) -> Report {
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
        Report {
            version: self.version.to_owned(),
            made_unix_ms: unix_ms(),
            made: jiff::Zoned::now().strftime("%a %b %e %H:%M:%S %Y").to_string(),
            global_options: tell::options(&self.command.globals),
            jobs,
            ..Report::default()
        }
    }

    /// What was found where a steady state was asked for.
    fn steady(&self, job: &Job, member: &Member, seen: &WorkerResult) -> Option<SteadyState> {
        let asked = job.life.steady_state.as_ref()?;
        let reached = self.steady.get(&member.number).cloned();
        reached.or_else(|| steady::judge(asked, tell::cut(member, seen).slices))
    }

    fn told(&self, job: &Job, member: &Member, seen: &WorkerResult, started_unix_ms: u64) -> JobReport {
        let mut report = tell::report(job, member, seen, started_unix_ms);
        report.elapsed_s = self.elapsed_s;
        if let Some(failed) = seen.failed {
            report.failure = Some(failure(member, self.plan, failed));
        }
        report.steady = self.steady(job, member, seen);
        report
    }
}

/// What ended a copy of a job.
pub fn failure(member: &Member, plan: &Plan, failed: FailedOperation) -> Failure {
    let file = located(member, &plan.files, Ground::Paths, failed.op.offset);
    tell::failure(failed.errno, file.map(|(path, _)| path))
}

/// The file in which an offset of a worker's own space lies, and where in it.
fn located<'a>(member: &Member, files: &'a [FilePlan], ground: Ground, offset: u64) -> Option<(&'a str, u64)> {
    let regions = bases(&member.worker.parts, files, ground);
    let mut parts = member.worker.parts.iter().zip(&regions);
    let (part, region) =
        parts.find(|(_, region)| (region.start..region.start + region.length.get()).contains(&offset))?;
    let path = files[part.file].path.as_deref()?;
    Some((path, part.start + offset - region.start))
}

/// What was read and should not have been, one line each.
pub fn mismatches(plan: &Plan, ground: Ground) -> Vec<String> {
    let mut lines = Vec::new();
    for member in plan.stages.iter().flatten() {
        if matches!(member.checks, Checks::Nothing) {
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
            lines.push(format!("verify: {more} more were wrong"));
        }
    }
    lines
}
