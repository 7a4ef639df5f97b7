//! An installed fio as the generator: the same load, offered by another program, as a cross-check of the loops.
//!
//! fio is told each load by a job file, and tells what it counted so far as JSON, several times a second; what lies
//! between two tellings is a slice. Knows nothing about why a load is offered.

mod child;
mod command;
mod hosts;
mod installed;
mod output;

use std::fmt;
use std::io::Error;
use std::path::PathBuf;
use std::time::Duration;

use plimsoll_drive::{Fault, Observe, Onward, Seen, Torn};
use plimsoll_load::Pace;
use plimsoll_record::{CpuTime, Slice};
use plimsoll_units::{Instant, Span};

pub use command::own_ways;
pub use hosts::Hosts;
pub use installed::Installed;

use crate::stand::{Sighting, Stand, Trial};
use child::Told;
use command::{Job, JobFile, jobs};
use output::{Document, SoFar};

/// fio cannot say what it counted more often.
const SHORTEST_SLICE: Span = Span::from_millis(250);
/// How long fio may take beyond the load itself, to start and to end, before it is asked to end.
const PATIENCE: Duration = Duration::from_secs(20);

/// What of fio issues the operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoEngine {
    /// Its `io_uring`.
    Ring,
    /// Its `libaio`: asynchronous for direct I/O only.
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

/// Where fio runs.
#[derive(Debug)]
pub enum Place {
    /// Here, on a file or device of which plimsoll keeps this path open.
    Here(PathBuf),
    /// As servers of its own on other hosts, on the same path of each. They tell what they counted in the end only.
    Hosts(Hosts),
}

/// fio on storage.
#[derive(Debug)]
pub struct Fio {
    /// The one that is installed here.
    pub installed: Installed,
    /// What issues the operations.
    pub io: IoEngine,
    /// Where it runs.
    pub place: Place,
    /// Jobs that share each stream.
    pub threads: u32,
    /// Share of the written data that compresses away, 0 to 1.
    pub compressible: f64,
    /// Past the page cache.
    pub direct: bool,
    /// The storage may be written to.
    pub writable: bool,
}

impl fmt::Display for Fio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fio {} ({})", self.installed.version, self.io)
    }
}

impl Stand for Fio {
    /// What fio saw until it failed or was stopped is kept.
    fn offer(&mut self, trial: &Trial<'_>, observe: Observe<'_>) -> Result<Sighting, Box<Torn<Sighting>>> {
        let mut seeing = Seeing::of(trial, self.ramp(trial));
        let ended = self.run(trial, &mut seeing, observe);
        let sighting = seeing.sighting(trial);
        match ended {
            Ok(()) => Ok(sighting),
            Err(fault) => Err(Box::new(Torn { fault, until: sighting })),
        }
    }
}

impl Fio {
    /// How many hosts share the load.
    pub const fn hosts(&self) -> u32 {
        match &self.place {
            Place::Here(_) => 1,
            Place::Hosts(hosts) => hosts.count(),
        }
    }

    fn run(&self, trial: &Trial<'_>, seeing: &mut Seeing, observe: Observe<'_>) -> Result<(), Fault> {
        let files: std::io::Result<Vec<_>> =
            (0..self.hosts()).map(|host| JobFile::new(&jobs(trial, self, host))).collect();
        let files = files.map_err(|source| fault("writing a job file for fio", source))?;
        let mut command = self.installed.command();
        command.args(["--output-format=json+", "--eta=never"]);
        match &self.place {
            Place::Here(_) => {
                let slice = trial.slice.max(SHORTEST_SLICE);
                command.arg(format!("--status-interval={}ms", slice.as_nanos() / 1_000_000));
                if !self.writable {
                    command.arg("--readonly");
                }
                command.args(files.iter().map(JobFile::path));
            }
            Place::Hosts(hosts) => {
                command.args(hosts.arguments(&files));
            }
        }
        let patience = Duration::from_nanos(trial.lasts.as_nanos()) + PATIENCE;
        child::watch(command, patience, &mut |told| {
            if let Told::Document(text) = told
                && let Ok(document) = serde_json::from_str::<Document>(&text)
            {
                seeing.see(&document);
            }
            observe(&seeing.series)
        })
    }
}

fn fault(attempt: impl Into<String>, source: Error) -> Fault {
    Fault { attempt: attempt.into(), source }
}

/// What fio has told of one load.
struct Seeing {
    /// By stream: its writes are durable.
    durable: Vec<bool>,
    /// What fio itself left out at the start.
    ramp: Span,
    series: Vec<Slice>,
    before: SoFar,
}

impl Seeing {
    fn of(trial: &Trial<'_>, ramp: Span) -> Self {
        let durable = trial.streams.iter().map(|stream| stream.mix.durable).collect();
        Self { durable, ramp, series: Vec::new(), before: SoFar::default() }
    }

    fn see(&mut self, document: &Document) {
        let now = document.so_far(&self.durable);
        let span = now.lasted - self.before.lasted;
        let tally = now.since(&self.before);
        if now.lasted < self.before.lasted || (span == Span::ZERO && self.series.is_empty()) {
            return;
        }
        match self.series.last_mut().filter(|_| span == Span::ZERO) {
            Some(last) => last.tally.merge(&tally),
            None => self.series.push(Slice { start: Instant::ZERO + self.ramp + self.before.lasted, span, tally }),
        }
        self.before = now;
    }

    fn sighting(self, trial: &Trial<'_>) -> Sighting {
        let unserved = self.unserved(trial);
        let CpuTime { user, system } = self.before.cpu;
        let cpu = (user + system > Span::ZERO).then_some(CpuTime { user, system });
        Sighting { seen: Seen { series: self.series, unserved, ..Seen::default() }, cpu, ends_offered: true }
    }

    /// Arrivals of the leading stream that fio fell behind by, beyond the chance of a Poisson count: four deviations.
    fn unserved(&self, trial: &Trial<'_>) -> u64 {
        let Some(Pace::Open { rate, .. }) = trial.streams.first().map(|stream| stream.pace) else { return 0 };
        let nominal = rate.as_f64() * self.before.lasted.as_secs_f64();
        let counters = self.series.iter().flat_map(|slice| &slice.tally.0).filter(|counter| counter.stream == 0);
        let answered: u64 = counters.map(plimsoll_record::Counter::operations).sum();
        (nominal - 4.0 * nominal.sqrt() - answered as f64).max(0.0) as u64
    }
}

/// Makes sure that each host has the file or device, with at least `size` bytes.
///
/// fio removes a file that is smaller than what it is to read, and writes a new one; so it is never told a size before
/// it has read the last block of it.
pub fn check_hosts(fio: &Fio, size: plimsoll_units::Bytes, block: plimsoll_units::Bytes) -> Result<(), Fault> {
    let Place::Hosts(hosts) = &fio.place else { return Ok(()) };
    let job = Job::last_block(&hosts.path, size, block, fio.direct);
    let files: std::io::Result<Vec<_>> = (0..hosts.count()).map(|_| JobFile::new(std::slice::from_ref(&job))).collect();
    let files = files.map_err(|source| fault("writing a job file for fio", source))?;
    let mut command = fio.installed.command();
    command.args(["--output-format=json+", "--eta=never"]).args(hosts.arguments(&files));
    let mut answered = 0;
    child::watch(command, PATIENCE, &mut |told| {
        if let Told::Document(text) = told {
            answered = serde_json::from_str::<Document>(&text).map_or(0, |document| document.answered());
        }
        Onward::Continue(())
    })?;
    if answered == u64::from(hosts.count()) {
        return Ok(());
    }
    Err(fault(
        format!("reading the last block of {size}"),
        Error::other("not every host could: is it there, and as large, on each of them?"),
    ))
}

#[cfg(test)]
mod tests;
