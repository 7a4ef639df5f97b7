//! One job with every value resolved: what a load can be made of.
//!
//! What a file or device has to say (its size, whether it exists) is asked where the job runs.
//!
//! Learned by running fio 3.33: values of sections add up direction by direction (`bs=8k` and then `bs=,16k` are 8k and
//! 16k); a `bssplit` counts before a `bsrange`, that before a `bs`, whichever came last; of `rwmixread` and `rwmixwrite`,
//! and of `direct` and `buffered`, the last one counts; `rate` and
//! `rate_iops` exclude each other even in different directions; `loops=0` is one loop; the first job of a later file
//! waits for those of the files before.

mod access;
mod buffers;
mod files;
mod flow;
mod life;
mod logs;
mod verification;

use std::rc::Rc;

use plimsoll_units::Bytes;

pub use access::{Access, BlockSizes, Direction, Order, Seed};
pub use buffers::Buffers;
pub use files::{Allocation, FileOrder, Files, Synchronous};
pub use flow::{Flow, Rate, ThinkTime};
pub use life::{Continuation, ErrorList, ExitWhat, Lifetime, SteadyCriterion, SteadyState};
pub use logs::{Logs, Reporting, Shown, WindowValue};
pub use verification::Verification;

use crate::fault::{FaultKind, Findings, Place};
use crate::parse::Given;
use crate::settings::Settings;
use crate::value::{Each, Extent};

/// An option as results repeat it: `job options` and `global options`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawOption {
    /// fio's own name of it, whatever alias was written.
    pub name: &'static str,
    /// What was written behind it; `None` for one that stands alone, which fio shows as an empty text.
    pub value: Option<String>,
}

/// A job.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Its name in results: `name` of its own section, or the section's.
    pub name: String,
    /// Name of its section, of which names of files are made up.
    pub section: String,
    /// Where it begins.
    pub place: Place,
    /// `description`.
    pub description: Option<String>,
    /// What its own section says, in fio's order.
    pub options: Vec<RawOption>,
    /// What is asked, where and how large.
    pub access: Access,
    /// Files, and how they are opened and kept.
    pub files: Files,
    /// Engine, depth and pace.
    pub flow: Flow,
    /// Beginning, end, copies and other jobs.
    pub life: Lifetime,
    /// Bytes that are written.
    pub buffers: Buffers,
    /// `verify`, unless it is `0`.
    pub verification: Option<Verification>,
    /// Logs that are written.
    pub logs: Logs,
    /// What is shown of it.
    pub shown: Shown,
    /// `cpus_allowed`, `cpumask`: processors that it may run on; `None` is all of them.
    pub processors: Option<Vec<u32>>,
    /// `cpus_allowed_policy=split`: each copy has one of them.
    pub split_processors: bool,
}

impl Job {
    /// True when it changes what it runs on.
    pub fn writes(&self) -> bool {
        self.access.direction.writes || self.access.direction.trims
    }

    /// What fio says of a job that has neither a size nor a file that exists.
    pub fn lacks_size(&self) -> String {
        format!("{}: you need to specify size=", self.name)
    }
}

/// A job whose options are read and not yet made sense of.
pub(crate) struct Draft {
    pub name: String,
    pub globals: Vec<Rc<Given>>,
    pub own: Vec<Rc<Given>>,
    pub place: Place,
    /// It is the first of a file that is not the first one.
    pub begins_later_file: bool,
}

pub(crate) fn raw(given: &[Rc<Given>]) -> Vec<RawOption> {
    given.iter().map(|given| RawOption { name: given.spec.name, value: given.raw.clone() }).collect()
}

/// Makes a job of a draft; `None` after a fault.
pub(crate) fn build(draft: &Draft, findings: &mut Findings) -> Option<Job> {
    let given: Vec<Rc<Given>> = draft.globals.iter().chain(&draft.own).cloned().collect();
    let settings = Settings::new(&given, draft.place.clone());
    let before = findings.faults.len();
    let access = access::read(&settings, findings);
    let flow = flow::read(&settings, findings);
    let mut life = life::read(&settings, findings);
    life.stonewall |= draft.begins_later_file;
    let (processors, split_processors) = flow::processors(&settings);
    let job = Job {
        name: own_name(draft),
        section: draft.name.clone(),
        place: draft.place.clone(),
        description: settings.text("description"),
        options: raw(&draft.own),
        files: files::read(&settings, findings),
        buffers: buffers::read(&settings),
        verification: verification::read(&settings),
        logs: logs::read(&settings),
        shown: logs::shown(&settings, findings),
        access,
        flow: flow?,
        life,
        processors,
        split_processors,
    };
    combined(&job, &settings, findings);
    (findings.faults.len() == before).then_some(job)
}

/// `name` of the job's own section: that of a global section names no job.
fn own_name(draft: &Draft) -> String {
    let given = draft.own.iter().rfind(|given| given.spec.name == "name");
    given.and_then(|given| given.raw.as_deref()).unwrap_or(&draft.name).trim().to_owned()
}

/// What only several options together show.
fn combined(job: &Job, settings: &Settings, findings: &mut Findings) {
    let kind = FaultKind::Combination;
    let Flow { engine, iodepth, rate, rate_iops, .. } = &job.flow;
    if engine.is_synchronous() && *iodepth > 1 {
        let what = format!(
            "iodepth={iodepth} with ioengine={}: a synchronous engine has one operation in flight at a time",
            engine.name()
        );
        findings.note(settings.place("iodepth"), what);
    }
    if job.life.time_based && job.life.runtime.is_none() {
        findings.note(settings.place("time_based"), "time_based without a runtime changes nothing; write runtime=60");
    }
    let Access { direction, blocks, .. } = &job.access;
    // Of a random order, fio writes as much as it trimmed.
    if direction.trims && direction.writes && !job.access.is_random() && blocks.trim != blocks.write {
        let what = format!("rw={}: trims and writes of different sizes", job.access.rw);
        findings.fault(settings.place("rw"), kind, what, "what was trimmed is written: write one bs for both");
    }
    let any = |rate: &Each<Option<u64>>| rate.read.or(rate.write).or(rate.trim).is_some();
    if any(rate) && any(rate_iops) {
        let what = "rate and rate_iops in one job";
        findings.fault(settings.place("rate_iops"), kind, what, "they exclude each other: remove one of them");
    }
    let smallest = job.access.smallest();
    if let Some(Extent::Bytes(size)) = job.files.size
        && size > Bytes::ZERO
        && size < smallest
    {
        let what = format!("size={} is below the smallest block of {}", size.get(), smallest.get());
        findings.fault(settings.place("size"), kind, what, "write a larger size or a smaller bs");
    }
}
