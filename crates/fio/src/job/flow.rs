//! Engine, depth and pace of a job.

use plimsoll_units::Span;

use crate::engine::{self, Engine, EngineLookup};
use crate::fault::{FaultKind, Findings};
use crate::near;
use crate::settings::Settings;
use crate::value::Each;

/// Arrival process of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrivalProcess {
    /// Constant gaps.
    Linear,
    /// Exponential gaps.
    Poisson,
}

/// `thinktime` and related options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThinkTime {
    /// Duration of a pause.
    pub pause: Span,
    /// `thinktime_blocks`: operations between pauses.
    pub every: u64,
}

/// Engine, depth and pace.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// `ioengine`.
    pub engine: Engine,
    /// `iodepth` as given: fio reports it also for synchronous engines.
    pub iodepth: u32,
    /// `iodepth_batch`: maximum submission batch; 1 to `iodepth`.
    pub batch: u32,
    /// `iodepth_batch_complete_min`: minimum completion batch; 0 to `iodepth`.
    pub complete_min: u32,
    /// `iodepth_batch_complete_max`: maximum completion batch; 0 means `complete_min`.
    pub complete_max: u32,
    /// `iodepth_low`: depth at which a full queue is refilled; 1 to `iodepth`.
    pub depth_low: u32,
    /// `rate`: maximum bytes per second.
    pub rate: Each<Option<u64>>,
    /// `rate_iops`: maximum operations per second.
    pub rate_iops: Each<Option<u64>>,
    /// `rate_process`.
    pub rate_process: ArrivalProcess,
    /// `thinktime`.
    pub think: Option<ThinkTime>,
}

impl Flow {
    /// Queue depth: `iodepth`, or 1 for synchronous engines.
    pub fn in_flight(&self) -> u32 {
        if self.engine.is_synchronous() { 1 } else { self.iodepth }
    }
}

/// `None` after a fault: a job requires an engine.
pub(super) fn read(settings: &Settings, findings: &mut Findings) -> Option<Flow> {
    let engine = engine(settings, findings)?;
    let iodepth = settings.count("iodepth").clamp(1, u64::from(u32::MAX)) as u32;
    let of_depth = |name: &str| settings.above_zero(name).map_or(iodepth, |count| count.min(u64::from(iodepth)) as u32);
    let complete_min = settings.count("iodepth_batch_complete_min").min(u64::from(iodepth)) as u32;
    let complete_max = settings.count("iodepth_batch_complete_max").min(u64::from(iodepth)) as u32;
    let rates =
        |name: &str| settings.integers(name).map(|rate| rate.map(|rate| rate.max(0) as u64).filter(|rate| *rate > 0));
    Some(Flow {
        engine,
        iodepth,
        batch: of_depth("iodepth_batch"),
        complete_min,
        complete_max: complete_max.max(complete_min),
        depth_low: of_depth("iodepth_low"),
        rate: rates("rate"),
        rate_iops: rates("rate_iops"),
        rate_process: if settings.word("rate_process") == "poisson" {
            ArrivalProcess::Poisson
        } else {
            ArrivalProcess::Linear
        },
        think: think(settings),
    })
}

fn engine(settings: &Settings, findings: &mut Findings) -> Option<Engine> {
    let name = settings.text("ioengine").unwrap_or_default();
    let place = settings.place("ioengine");
    match engine::find(&name) {
        EngineLookup::Supported(engine) => return Some(engine),
        EngineLookup::Unsupported(why) => {
            let what = format!("ioengine={name} is not supported");
            findings.fault(place, FaultKind::Unsupported, what, why);
        }
        EngineLookup::Unknown => {
            let near = near::nearest(&name, engine::names());
            let meant = near.map_or(String::new(), |near| format!("did you mean {near}? "));
            let remedy = format!("{meant}write one of {}", engine::names().collect::<Vec<_>>().join(", "));
            findings.fault(place, FaultKind::Value, format!("ioengine={name}: fio has no such engine"), remedy);
        }
    }
    None
}

fn think(settings: &Settings) -> Option<ThinkTime> {
    let pause = settings.time("thinktime").filter(|pause| !pause.is_zero())?;
    Some(ThinkTime { pause, every: settings.count("thinktime_blocks").max(1) })
}

/// Permitted processors, and whether each copy is pinned to a single one.
pub(super) fn processors(settings: &Settings) -> (Option<Vec<u32>>, bool) {
    let mask = settings.processors("cpumask").filter(|mask| !mask.is_empty());
    let later = settings.order("cpumask") > settings.order("cpus_allowed");
    let list = settings.processors("cpus_allowed");
    let allowed = if later { mask.or(list) } else { list.or(mask) };
    (allowed, settings.word("cpus_allowed_policy") == "split")
}
