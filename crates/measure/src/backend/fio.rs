//! An installed fio as generator of the same load, for cross-checks.
//!
//! fio gets each load as a job file and reports cumulative counts as JSON several times per second; the difference of
//! two reports is a slice.

mod child;
mod command;
mod hosts;
mod installed;
mod output;

use std::fmt;
use std::io::Error;
use std::path::PathBuf;
use std::time::Duration;

use plimsoll_device::HostSnapshot;
use plimsoll_drive::{Fault, LoopResult, Observe, Onward, PartialRun};
use plimsoll_language::{label, say};
use plimsoll_load::{Pace, StreamSpec};
use plimsoll_record::{Finding, Run, Slice};
use plimsoll_units::{Instant, Span};

pub use hosts::Hosts;
pub use installed::Installed;

use crate::backend::{Backend, PointOutcome, PointResult, Trial};
use crate::error::LoadFailure;
use child::FioOutput;
use command::{FioSection, JobFile, build_jobs, list_differences};
use output::{Document, FioTotals};

/// Minimum interval of fio's reports.
const MIN_REPORT_INTERVAL: Span = Span::from_millis(250);
/// Additional time for fio's start and end before it is interrupted.
const MAX_OVERHEAD: Duration = Duration::from_secs(20);

/// fio's I/O engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoEngine {
    /// `io_uring`.
    Ring,
    /// `libaio`: asynchronous only with direct I/O.
    Libaio,
}

impl fmt::Display for IoEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ring => "io_uring",
            Self::Libaio => "libaio",
        })
    }
}

#[derive(Debug)]
pub enum FioHost {
    /// This host, on a file or device that plimsoll keeps open at this path.
    Local(PathBuf),
    /// fio servers on other hosts, on the same path of each. They report only at the end.
    Hosts(Hosts),
}

#[derive(Debug)]
pub struct Fio {
    pub installed: Installed,
    pub io: IoEngine,
    pub place: FioHost,
    /// Number of jobs per stream.
    pub threads: u32,
    /// Compressibility of the written data, 0 to 1.
    pub compressible: f64,
    /// Direct I/O.
    pub direct: bool,
    /// True if the storage may be written.
    pub writable: bool,
}

impl fmt::Display for Fio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fio {} ({})", self.installed.version, self.io)
    }
}

impl Backend for Fio {
    /// Partial results before a failure or stop are kept.
    fn offer(&mut self, trial: &Trial<'_>, observe: Observe<'_>) -> PointOutcome {
        let mut reports = FioReports::of(trial, self.ramp(trial));
        let before = HostSnapshot::take();
        let fault = self.run(trial, &mut reports, observe).err();
        let host = matches!(self.place, FioHost::Local(_)).then(|| HostSnapshot::take().delay_since(&before));
        PartialRun::join(PointResult { host, ..reports.into_point(trial) }, fault)
    }
}

impl Fio {
    /// Number of hosts that share the load.
    pub const fn hosts(&self) -> u32 {
        match &self.place {
            FioHost::Local(_) => 1,
            FioHost::Hosts(hosts) => hosts.count(),
        }
    }

    /// A finding about differences between fio's load and plimsoll's.
    pub fn list_differences(&self, streams: &[StreamSpec], runs: &[Run]) -> Option<Finding> {
        let paces: Vec<Pace> = runs.iter().map(|run| run.offered).collect();
        let mut differences = list_differences(streams, &paces);
        if matches!(self.place, FioHost::Hosts(_)) {
            differences.push("other hosts report counts only at the end, so runs have no time series");
        }
        let generator = format!("fio {}", self.installed.version);
        (!differences.is_empty()).then(|| Finding::OfferedOtherwise { generator, how: differences.join("; ") })
    }

    fn run(&self, trial: &Trial<'_>, reports: &mut FioReports, observe: Observe<'_>) -> Result<(), Fault> {
        let files: std::io::Result<Vec<_>> =
            (0..self.hosts()).map(|host| JobFile::new(&build_jobs(trial, self, host))).collect();
        let files = files.map_err(|source| new_fault(label!("writing a job file for fio"), source))?;
        let mut command = self.installed.command();
        command.args(["--output-format=json+", "--eta=never"]);
        match &self.place {
            FioHost::Local(_) => {
                let slice = trial.slice.max(MIN_REPORT_INTERVAL);
                command.arg(format!("--status-interval={}ms", slice.as_nanos() / 1_000_000));
                if !self.writable {
                    command.arg("--readonly");
                }
                command.args(files.iter().map(JobFile::path));
            }
            FioHost::Hosts(hosts) => {
                command.args(hosts.arguments(&files));
            }
        }
        let timeout = Duration::from_nanos(trial.duration.as_nanos()) + MAX_OVERHEAD;
        child::watch(command, timeout, &mut |output| {
            if let FioOutput::Document(text) = output
                && let Ok(document) = serde_json::from_str::<Document>(&text)
            {
                reports.add(&document);
            }
            observe(&reports.series)
        })
    }
}

fn new_fault(attempt: impl Into<String>, source: Error) -> Fault {
    Fault { attempt: attempt.into(), source }
}

struct FioReports {
    /// Whether the writes of each stream are durable.
    durable: Vec<bool>,
    /// Warm-up that fio excludes from its counts.
    ramp: Span,
    series: Vec<Slice>,
    previous: FioTotals,
}

impl FioReports {
    fn of(trial: &Trial<'_>, ramp: Span) -> Self {
        let durable = trial.streams.iter().map(|stream| stream.mix.durable).collect();
        Self { durable, ramp, series: Vec::new(), previous: FioTotals::default() }
    }

    fn add(&mut self, document: &Document) {
        let now = document.totals(&self.durable);
        let span = now.runtime - self.previous.runtime;
        let tally = now.since(&self.previous);
        if now.runtime < self.previous.runtime || (span == Span::ZERO && self.series.is_empty()) {
            return;
        }
        match self.series.last_mut().filter(|_| span == Span::ZERO) {
            Some(last) => last.tally.merge(&tally),
            None => self.series.push(Slice { start: Instant::ZERO + self.ramp + self.previous.runtime, span, tally }),
        }
        self.previous = now;
    }

    fn into_point(self, trial: &Trial<'_>) -> PointResult {
        let unserved = self.unserved(trial);
        let cpu = Some(self.previous.cpu).filter(|cpu| cpu.total() > Span::ZERO);
        PointResult {
            loops: LoopResult { series: self.series, unserved, ..LoopResult::default() },
            cpu,
            ends_offered: true,
            host: None,
        }
    }

    /// Number of arrivals of the leading stream that fio omitted, beyond four standard deviations of a Poisson count.
    fn unserved(&self, trial: &Trial<'_>) -> u64 {
        let Some(Pace::Open { rate, .. }) = trial.streams.first().map(|stream| stream.pace) else { return 0 };
        let nominal = rate.as_f64() * self.previous.runtime.as_secs_f64();
        let counters = self.series.iter().flat_map(|slice| &slice.tally.0).filter(|counter| counter.stream == 0);
        let answered: u64 = counters.map(plimsoll_record::Counter::operations).sum();
        (nominal - 4.0 * nominal.sqrt() - answered as f64).max(0.0) as u64
    }
}

/// Checks that the file or device exists on each host with at least `size` bytes.
///
/// fio replaces files that are smaller than the requested size, so the last block is read first without a size.
pub fn check_hosts(fio: &Fio, size: plimsoll_units::Bytes, block: plimsoll_units::Bytes) -> Result<(), Fault> {
    let FioHost::Hosts(hosts) = &fio.place else { return Ok(()) };
    let job = FioSection::last_block(&hosts.path, size, block, fio.direct);
    let files: std::io::Result<Vec<_>> = (0..hosts.count()).map(|_| JobFile::new(std::slice::from_ref(&job))).collect();
    let files = files.map_err(|source| new_fault(label!("writing a job file for fio"), source))?;
    let mut command = fio.installed.command();
    command.args(["--output-format=json+", "--eta=never"]).args(hosts.arguments(&files));
    let mut completed = 0;
    child::watch(command, MAX_OVERHEAD, &mut |output| {
        if let FioOutput::Document(text) = output {
            completed = serde_json::from_str::<Document>(&text).map_or(0, |document| document.completed_operations());
        }
        Onward::Continue(())
    })?;
    if completed == u64::from(hosts.count()) {
        return Ok(());
    }
    Err(new_fault(say!("reading the last block of {size}"), Error::other(LoadFailure::Host)))
}

#[cfg(test)]
mod tests;
