//! Requirements of products: their jobs on a directory or a configuration, and the figures of their reports.

use std::mem::discriminant;

use plimsoll_catalogue::{
    JudgedCondition, ObservedFigure, RequiredFigure, RequiredOps, Requirement, RequirementCondition, RunValidity,
    TimeStatistic, TimedOps, judge_all, nearest, needs_another_run, one_of,
};
use plimsoll_fio::print::{DirectionResult, FioReport, JobReport, LatencyHistogram};
use plimsoll_fio::{FioCommand, FioJob, Flags, Surroundings, groups, job_file};
use plimsoll_language::say;
use plimsoll_record::{Finding, Weight};

use super::run::JobsOutcome;
use crate::ground::{Facts, Nature};
use crate::recipes::durable;

#[derive(Clone, Copy, Debug)]
pub enum RequirementPlace<'a> {
    /// New files in a directory, removed by the jobs.
    Directory {
        path: &'a str,
        /// First part of the names of its files, which no other file there has.
        prefix: &'a str,
    },
    /// A configuration of the catalogue, stages, or the URI of an export.
    Configuration(&'a str),
}

/// The jobs of a requirement at a place.
///
/// # Errors
/// Jobs that fio refuses, that name files, or that do not have the figures of the conditions; a line each.
pub fn requirement_command(
    requirement: &Requirement,
    place: RequirementPlace<'_>,
    around: &Surroundings<'_>,
) -> Result<FioCommand, Vec<String>> {
    let on = match place {
        RequirementPlace::Configuration(on) => vec![on.to_owned()],
        RequirementPlace::Directory { .. } => Vec::new(),
    };
    let read = job_file(&requirement.name, &requirement.jobs, Flags { on, ..Flags::default() }, around);
    let mut command = read.map_err(|faults| faults.iter().map(ToString::to_string).collect::<Vec<_>>())?;
    let faults: Vec<String> = list_faults(requirement, &command.jobs).collect();
    if !faults.is_empty() {
        return Err(faults);
    }
    if let RequirementPlace::Directory { path, prefix } = place {
        for files in command.jobs.iter_mut().map(|job| &mut job.files) {
            files.directories = vec![path.to_owned()];
            files.name_format = format!("{prefix}.$jobname.$jobnum.$filenum");
            files.unlink = true;
        }
    }
    Ok(command)
}

fn list_faults<'a>(requirement: &'a Requirement, jobs: &'a [FioJob]) -> impl Iterator<Item = String> + 'a {
    let name = &requirement.name;
    let names_files = |job: &&FioJob| !job.files.names.is_empty() || !job.files.directories.is_empty();
    let of_files = jobs.iter().filter(names_files);
    let of_files = of_files
        .map(move |job| say!("{name}: job {}: its files are created in PATH: omit filename and directory", job.name));
    let placings = groups(jobs);
    let of_conditions = requirement.conditions.iter().filter_map(move |condition| {
        let figure = condition.figure;
        let measured = || jobs.iter().zip(&placings).filter(|(job, _)| is_measured(condition, &job.name));
        let Some((_, first)) = measured().next() else {
            let unknown = condition.job.as_deref().unwrap_or_default();
            let near = nearest(unknown, jobs.iter().map(|job| job.name.as_str()));
            let near = if near.is_empty() { String::new() } else { say!("; did you mean {}?", one_of(&near)) };
            return Some(say!("{name}: {figure}: no job is named {unknown:?}{near}"));
        };
        if measured().any(|(_, placing)| (placing.stage, placing.group) != (first.stage, first.group)) {
            return Some(say!("{name}: {figure}: not all jobs run at the same time: name one with job = \"...\""));
        }
        (!measured().any(|(job, _)| has_operations(job, figure)))
            .then(|| say!("{name}: {figure}: its jobs have no such operations: correct the jobs or the figure"))
    });
    of_files.chain(of_conditions)
}

fn is_measured(condition: &RequirementCondition, job: &str) -> bool {
    condition.job.as_deref().is_none_or(|name| name == job)
}

fn has_operations(job: &FioJob, figure: RequiredFigure) -> bool {
    let direction = job.access.direction;
    match figure {
        RequiredFigure::Iops(of) | RequiredFigure::Bandwidth(of) => match of {
            RequiredOps::All => direction.reads || direction.writes,
            RequiredOps::Reads => direction.reads,
            RequiredOps::Writes => direction.writes,
        },
        RequiredFigure::Time(TimedOps::Reads, _) => direction.reads,
        RequiredFigure::Time(TimedOps::Writes, _) => direction.writes,
        RequiredFigure::Time(TimedOps::Flushes, _) => {
            direction.writes && (job.files.fsync_every.is_some() || job.files.fdatasync_every.is_some())
        }
    }
}

/// The runs of a requirement so far.
#[derive(Debug)]
pub struct RequirementRuns<'a> {
    requirement: &'a Requirement,
    facts: &'a Facts,
    /// Figures of each run, in the order of the conditions.
    figures: Vec<Vec<Option<ObservedFigure>>>,
    /// Reasons for an early end, a line each.
    pub failures: Vec<String>,
    /// Doubts about the figures, each kind once.
    pub findings: Vec<Finding>,
}

impl<'a> RequirementRuns<'a> {
    /// No run. `findings` are known doubts about the storage.
    pub const fn new(requirement: &'a Requirement, facts: &'a Facts, findings: Vec<Finding>) -> Self {
        Self { requirement, facts, figures: Vec::new(), failures: Vec::new(), findings }
    }

    pub fn add(&mut self, outcome: JobsOutcome) {
        self.figures.push(observe_figures(self.requirement, &outcome.report));
        self.failures.extend(outcome.failures);
        let is_new = |doubt: &Finding| !self.findings.iter().any(|other| discriminant(other) == discriminant(doubt));
        let doubt = doubt_flushes(&outcome.report, self.facts).filter(is_new);
        self.findings.extend(doubt);
    }

    /// Number of runs.
    pub const fn count(&self) -> usize {
        self.figures.len()
    }

    /// True without a run, and if the runs decide too little.
    pub fn need_another(&self) -> bool {
        self.figures.is_empty() || needs_another_run(&self.judge())
    }

    /// The verdicts. Incomplete runs and findings that void the figures decide nothing.
    pub fn judge(&self) -> Vec<JudgedCondition<'a>> {
        let validity = if !self.failures.is_empty() {
            RunValidity::EndedEarly
        } else if self.findings.iter().any(|finding| finding.weight() == Weight::Void) {
            RunValidity::Void
        } else {
            RunValidity::Valid
        };
        judge_all(self.requirement, &self.figures, validity)
    }
}

/// The figure of each condition in a report; `None` without such operations.
fn observe_figures(requirement: &Requirement, report: &FioReport) -> Vec<Option<ObservedFigure>> {
    let observe = |condition: &RequirementCondition| {
        let jobs: Vec<&JobReport> = report.jobs.iter().filter(|job| is_measured(condition, &job.name)).collect();
        match condition.figure {
            RequiredFigure::Iops(of) => observe_rate(&jobs, of, |lane| lane.operations),
            RequiredFigure::Bandwidth(of) => observe_rate(&jobs, of, |lane| lane.bytes),
            RequiredFigure::Time(of, statistic) => observe_time(&jobs, of, statistic),
        }
    };
    requirement.conditions.iter().map(observe).collect()
}

/// The finding that flushes were faster than durable media; none without flushes, and for models.
fn doubt_flushes(report: &FioReport, facts: &Facts) -> Option<Finding> {
    let mut flushes = LatencyHistogram::default();
    report.jobs.iter().for_each(|job| flushes.merge(&job.sync));
    let median = flushes.bins.quantile(0.5).filter(|_| facts.nature != Nature::Model)?;
    (median < durable(facts).least).then_some(Finding::FlushNotHonoured { median })
}

/// Units per second of the longest job, as fio divides for a group.
fn observe_rate(
    jobs: &[&JobReport],
    of: RequiredOps,
    units: impl Fn(&DirectionResult) -> u64,
) -> Option<ObservedFigure> {
    let lanes = jobs.iter().flat_map(|job| match of {
        RequiredOps::All => vec![&job.read, &job.write],
        RequiredOps::Reads => vec![&job.read],
        RequiredOps::Writes => vec![&job.write],
    });
    let lanes: Vec<&DirectionResult> = lanes.filter(|lane| lane.operations > 0).collect();
    let runtime_ms = lanes.iter().map(|lane| lane.runtime_ms).max().filter(|ms| *ms > 0)?;
    let value = lanes.iter().map(|lane| units(lane) as f64).sum::<f64>() * 1e3 / runtime_ms as f64;
    Some(ObservedFigure { value, operations: lanes.iter().map(|lane| lane.operations).sum() })
}

fn observe_time(jobs: &[&JobReport], of: TimedOps, statistic: TimeStatistic) -> Option<ObservedFigure> {
    let mut times = LatencyHistogram::default();
    for job in jobs {
        times.merge(match of {
            TimedOps::Reads => &job.read.completion,
            TimedOps::Writes => &job.write.completion,
            TimedOps::Flushes => &job.sync,
        });
    }
    let value = match statistic {
        TimeStatistic::Mean => Some(times.moments().mean_ns),
        TimeStatistic::Percentile(thousandths) => {
            times.percentiles(&[f64::from(thousandths) / 1e3]).first().map(|ns| *ns as f64)
        }
    };
    let operations = times.count();
    value.filter(|_| operations > 0).map(|value| ObservedFigure { value, operations })
}
