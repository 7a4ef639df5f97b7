//! A job with all values resolved.
//!
//! Properties of files and devices (size, existence) are determined when the job runs.
//!
//! Observed with fio 3.33: values of sections merge per direction (`bs=8k` and then `bs=,16k` are 8k and 16k);
//! `bssplit` takes precedence over `bsrange`, and `bsrange` over `bs`, in any order; the last of `rwmixread` and
//! `rwmixwrite`, and of `direct` and `buffered`, applies; `rate` and `rate_iops` exclude each other even in different
//! directions; `loops=0` is a single loop; the first job of a later file waits for the jobs of earlier files.

mod access;
mod buffers;
mod files;
mod flow;
mod life;
mod logs;
mod verification;

use std::rc::Rc;

use plimsoll_language::{label, say};
use plimsoll_units::Bytes;

pub use access::{AccessOptions, BlockSizes, JobDirection, Order, Seed};
pub use buffers::Buffers;
pub use files::{Allocation, FileAdvice, FileOptions, FileOrder, RangeSync, Synchronous};
pub use flow::{ArrivalProcess, Flow, ThinkTime};
pub use life::{Continuation, ErrorList, ExitWhat, Lifetime, SteadyCriterion, SteadyState};
pub use logs::{DisplayOptions, Logs, Reporting, WindowValue};
pub use verification::Verification;

use crate::fault::{FaultKind, Findings, Place};
use crate::parse::Given;
use crate::settings::Settings;
use crate::value::{Each, Extent};

/// An option as repeated in results: `job options` and `global options`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawOption {
    /// fio's name of it, also for an alias.
    pub name: &'static str,
    /// Text of the value; `None` without a value, which fio shows as empty text.
    pub value: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct FioJob {
    /// Name in results: `name` of its section, or the section's name.
    pub name: String,
    /// Name of its section, part of generated file names.
    pub section: String,
    /// Start of the job in the text.
    pub place: Place,
    /// `description`.
    pub description: Option<String>,
    /// Options of its section, in fio's order.
    pub options: Vec<RawOption>,
    /// Operations, offsets and sizes.
    pub access: AccessOptions,
    /// Files, and how they are opened.
    pub files: FileOptions,
    /// Engine, depth and pace.
    pub flow: Flow,
    /// Start, end, copies and dependencies.
    pub life: Lifetime,
    /// Contents of writes.
    pub buffers: Buffers,
    /// `verify`, unless it is `0`.
    pub verification: Option<Verification>,
    pub logs: Logs,
    pub display: DisplayOptions,
    /// `cpus_allowed`, `cpumask`: permitted processors; `None` for all.
    pub processors: Option<Vec<u32>>,
    /// `cpus_allowed_policy=split`: each copy is pinned to a single processor.
    pub split_processors: bool,
}

impl FioJob {
    /// True if it modifies its target.
    pub fn writes(&self) -> bool {
        self.access.direction.writes || self.access.direction.trims
    }

    /// fio's message for a job without a size or an existing file.
    pub fn lacks_size(&self) -> String {
        say!("{}: you need to specify size=", self.name)
    }
}

/// A job with parsed, unresolved options.
pub(crate) struct Draft {
    pub name: String,
    pub globals: Vec<Rc<Given>>,
    pub own: Vec<Rc<Given>>,
    pub place: Place,
    /// First job of a file other than the first.
    pub begins_later_file: bool,
}

pub(crate) fn raw(given: &[Rc<Given>]) -> Vec<RawOption> {
    given.iter().map(|given| RawOption { name: given.spec.name, value: given.raw.clone() }).collect()
}

/// Resolves a draft; `None` after a fault.
pub(crate) fn build(draft: &Draft, findings: &mut Findings) -> Option<FioJob> {
    let given: Vec<Rc<Given>> = draft.globals.iter().chain(&draft.own).cloned().collect();
    let settings = Settings::new(&given, draft.place.clone());
    let before = findings.faults.len();
    let access = access::read_access(&settings, findings);
    let flow = flow::read(&settings, findings);
    let mut life = life::read(&settings, findings);
    life.stonewall |= draft.begins_later_file;
    let (processors, split_processors) = flow::processors(&settings);
    let job = FioJob {
        name: own_name(draft),
        section: draft.name.clone(),
        place: draft.place.clone(),
        description: settings.text("description"),
        options: raw(&draft.own),
        files: files::read_files(&settings, findings),
        buffers: buffers::read(&settings),
        verification: verification::read(&settings),
        logs: logs::read(&settings),
        display: logs::display(&settings, findings),
        access,
        flow: flow?,
        life,
        processors,
        split_processors,
    };
    combined(&job, &settings, findings);
    (findings.faults.len() == before).then_some(job)
}

/// `name` of the job's section; `name` in a global section has no effect.
fn own_name(draft: &Draft) -> String {
    let given = draft.own.iter().rfind(|given| given.spec.name == "name");
    given.and_then(|given| given.raw.as_deref()).unwrap_or(&draft.name).trim().to_owned()
}

/// Checks combinations of options.
fn combined(job: &FioJob, settings: &Settings, findings: &mut Findings) {
    let kind = FaultKind::Combination;
    let Flow { engine, iodepth, rate, rate_iops, .. } = &job.flow;
    if engine.is_synchronous() && *iodepth > 1 {
        let what = say!(
            "iodepth={iodepth} with ioengine={}: a synchronous engine has one operation in flight at a time",
            engine.name()
        );
        findings.note(settings.place("iodepth"), what);
    }
    if job.life.time_based && job.life.runtime.is_none() {
        findings
            .note(settings.place("time_based"), label!("time_based has no effect without a runtime; write runtime=60"));
    }
    let AccessOptions { direction, blocks, .. } = &job.access;
    // In random order fio writes as much as it trimmed.
    if direction.trims && direction.writes && !job.access.is_random() && blocks.trim != blocks.write {
        let what = say!("rw={}: trims and writes of different sizes", job.access.rw);
        findings.fault(
            settings.place("rw"),
            kind,
            what,
            label!("trimmed blocks are rewritten: write the same bs for both"),
        );
    }
    let any = |rate: &Each<Option<u64>>| rate.read.or(rate.write).or(rate.trim).is_some();
    if any(rate) && any(rate_iops) {
        let what = label!("rate and rate_iops in one job");
        findings.fault(settings.place("rate_iops"), kind, what, label!("they exclude each other: remove one of them"));
    }
    let smallest = job.access.smallest();
    if let Some(Extent::Bytes(size)) = job.files.size
        && size > Bytes::ZERO
        && size < smallest
    {
        let what = say!("size={} is below the smallest block of {}", size.get(), smallest.get());
        findings.fault(settings.place("size"), kind, what, label!("write a larger size or a smaller bs"));
    }
}
