//! fio's terse lines, versions 2 to 5: a line for each job, fields separated by semicolons, microseconds and KiB.

use plimsoll_language::label;

use super::job::{ALL_CLIENTS, Got, JobResult, MAX_JOBS, emit, too_many};
use super::judge;
use super::without_progress;
use crate::builder::Builder;
use crate::form::{Form, Head, LineFormat, Resemblance};
use crate::reading::{Doubt, Fate, Origin};
use crate::refusal::{InputFault, Refusal};
use crate::text;

/// Terse lines of fio.
pub(crate) const FORM: Form = Form::lines("fio-terse", "fio result (terse)", is_terse, |_| Box::new(Terse::default()));

fn is_terse(head: &Head<'_>) -> Resemblance {
    let lines = || head.text().lines().take(200).map(without_progress);
    let is = Resemblance::is(6, lines().any(|line| read(line, 1).is_some()));
    is.or_near(2, lines().any(is_beginning), "line with the fields of both directions")
}

/// True for `3;fio-3.33;...`, and for `2;name;0;0;...`.
fn is_beginning(line: &str) -> bool {
    let mut fields = line.split(';');
    match (fields.next(), fields.next()) {
        (Some("3" | "4" | "5"), Some(version)) => version.starts_with("fio-"),
        (Some("2"), Some(_)) => line.matches(';').count() >= 40,
        _ => false,
    }
}

#[derive(Default)]
struct Terse {
    jobs: Vec<JobResult>,
    /// Number of clients whose results are complete: each ends with a line of its disks.
    clients: usize,
    /// Number of jobs of these clients.
    assigned: usize,
}

impl LineFormat for Terse {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        let line = without_progress(line);
        if line.starts_with(';') && self.assigned < self.jobs.len() {
            self.clients += 1;
            let host = format!("client {}", self.clients);
            self.jobs[self.assigned..].iter_mut().for_each(|job| job.host.clone_from(&host));
            self.assigned = self.jobs.len();
        }
        if !is_beginning(line) {
            return Ok(());
        }
        if let Some(version) = line.split(';').nth(1).filter(|field| field.starts_with("fio-")) {
            out.version(version);
        }
        match read(line, number) {
            Some(job) if self.jobs.len() < MAX_JOBS => self.jobs.push(job),
            Some(_) => return Err(too_many(number, out)),
            None => {
                out.caution(Some(Origin::line(number)), Doubt::lacking("a line", "all of its fields"));
                out.part("job", Fate::Broken);
            }
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.jobs.iter_mut().for_each(|job| job.findings = judge::own(job));
        // Other disks than those of clients are at the end of a job's line.
        if !self.jobs.iter().any(|job| job.is_total) {
            self.jobs.iter_mut().for_each(|job| job.host.clear());
        }
        let count = emit(&self.jobs, out);
        out.require(count > 0, InputFault::Unfinished { lacks: label!("job with operations") })?;
        out.part("jobs", Fate::Read(count));
        Ok(())
    }
}

/// The fields of a line, in order.
struct TerseFields<'a>(std::iter::Peekable<std::str::Split<'a, char>>);

impl<'a> TerseFields<'a> {
    fn text(&mut self) -> Option<&'a str> {
        self.0.next()
    }

    fn number(&mut self) -> Option<f64> {
        text::parse_count(self.text()?)
    }

    /// Minimum, maximum, mean and deviation: the mean in seconds; zero is not a value.
    fn mean_s(&mut self) -> Option<f64> {
        let [_, _, mean, _] = [self.text()?, self.text()?, self.text()?, self.text()?];
        Some(text::parse_count(mean).map_or(0.0, |us| us / 1e6))
    }
}

/// The job of a line; none if the line is incomplete.
fn read(line: &str, number: u64) -> Option<JobResult> {
    if !is_beginning(line) {
        return None;
    }
    let mut fields = TerseFields(line.split(';').peekable());
    let version = fields.number()? as u32;
    if version > 2 {
        fields.text()?;
    }
    let name = fields.text()?.to_owned();
    let (group, error) = (fields.number()? as u64, fields.number()? as u64);
    let reads = direction(&mut fields, version, number, "read")?;
    let writes = direction(&mut fields, version, number, "write")?;
    // Version 3 has no trims, and in version 2 they cannot be determined.
    let trims = if version > 3 { direction(&mut fields, version, number, "trim") } else { None };
    let [reads, writes, trims] = [Some(reads), Some(writes), trims].map(|got| got.filter(Got::is_any));
    let is_total = name == ALL_CLIENTS;
    Some(JobResult { name, group, reads, writes, trims, error, is_total, ..JobResult::default() })
}

fn direction(fields: &mut TerseFields<'_>, version: u32, line: u64, field: &str) -> Option<Got> {
    let (kib, rate_kib, iops, runtime_ms) = (fields.number()?, fields.number()?, fields.number()?, fields.number()?);
    fields.mean_s()?;
    let completion = fields.mean_s()?;
    let mut quantiles = Vec::new();
    while let Some((percent, us)) = fields.0.peek().and_then(|field| field.split_once("%=")) {
        let pair = percent.trim().parse::<f64>().ok().zip(text::parse_count(us));
        quantiles.extend(pair.filter(|pair| pair.0 > 0.0 && pair.1 > 0.0).map(|pair| (pair.0 / 100.0, pair.1 / 1e6)));
        fields.text();
    }
    let total = fields.mean_s()?;
    // For bandwidth and, in version 5, for operations per second: minimum, maximum, share, mean, deviation, samples.
    for _ in 0..if version >= 5 { 11 } else { 5 } {
        fields.text()?;
    }
    Some(Got {
        iops: Some(iops),
        bytes_s: Some(rate_kib * 1024.0),
        operations: (kib == 0.0).then_some(0.0),
        mean_s: [total, completion].into_iter().find(|mean| *mean > 0.0),
        quantiles,
        lasted_s: Some(runtime_ms / 1e3).filter(|seconds| *seconds > 0.0),
        incomplete: [0.0; 2],
        line,
        field: field.to_owned(),
    })
}
