//! Engine, depth and pace of a job.

use plimsoll_units::Span;

use crate::engine::{self, Engine, Found};
use crate::fault::{FaultKind, Findings};
use crate::near;
use crate::settings::Settings;
use crate::value::Each;

/// How a rate is spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// Evenly.
    Linear,
    /// By exponential gaps.
    Poisson,
}

/// `thinktime` and what belongs to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThinkTime {
    /// How long nothing is asked.
    pub pause: Span,
    /// `thinktime_spin`: its first part, in which the processor is busy.
    pub busy: Span,
    /// `thinktime_blocks`: after so many operations.
    pub every: u64,
    /// `thinktime_blocks_type=issue`: counted when they are asked, not when they are answered.
    pub counted_when_asked: bool,
    /// `thinktime_iotime`: or after so long.
    pub or_after: Option<Span>,
}

/// `latency_target`: the highest depth at which latency stays below it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatencyTarget {
    /// The latency.
    pub latency: Span,
    /// `latency_percentile`: hundredths of the operations that have to stay below it.
    pub percent: f64,
    /// `latency_window`: for so long at each depth.
    pub window: Option<Span>,
    /// `latency_run`: goes on looking until the runtime is over.
    pub keeps_running: bool,
}

/// Engine, depth and pace.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// `ioengine`.
    pub engine: Engine,
    /// `iodepth`, as it was given: fio shows it even where the engine has one operation in flight.
    pub iodepth: u32,
    /// `iodepth_batch`: asked at once, at most; 1 to `iodepth`.
    pub batch: u32,
    /// `iodepth_batch_complete_min`: answers that are waited for at once, at least; 0 to `iodepth`.
    pub complete_min: u32,
    /// `iodepth_batch_complete_max`: taken at once, at most; 0 is as `complete_min`.
    pub complete_max: u32,
    /// `iodepth_low`: a full queue is filled again when it has come down to this; 1 to `iodepth`.
    pub depth_low: u32,
    /// `serialize_overlap`: an operation waits for those in flight that touch the same bytes.
    pub serialize_overlap: bool,
    /// `rate`: bytes in a second, at most.
    pub rate: Each<Option<u64>>,
    /// `rate_min`: bytes in a second, below which the job fails.
    pub rate_min: Each<Option<u64>>,
    /// `rate_iops`: operations in a second, at most.
    pub rate_iops: Each<Option<u64>>,
    /// `rate_iops_min`: operations in a second, below which the job fails.
    pub rate_iops_min: Each<Option<u64>>,
    /// `rate_process`.
    pub rate_process: Rate,
    /// `rate_cycle`: time over which the lower limits are averaged.
    pub rate_window: Span,
    /// `rate_ignore_thinktime`: what a pause held back is not made up for.
    pub rate_ignores_pauses: bool,
    /// `thinktime`.
    pub think: Option<ThinkTime>,
    /// `max_latency`: an operation that takes longer ends the job.
    pub latency_max: Each<Option<Span>>,
    /// `latency_target`.
    pub latency_target: Option<LatencyTarget>,
    /// `flow`: the job's weight among those of the same `flow_id`.
    pub weight: Option<u64>,
    /// `flow_id`.
    pub weight_group: u64,
    /// `flow_sleep`: how long a job that is ahead of the others pauses.
    pub weight_pause: Span,
}

impl Flow {
    /// Operations in flight at a time: `iodepth`, and one of an engine that has no more.
    pub fn in_flight(&self) -> u32 {
        if self.engine.is_synchronous() { 1 } else { self.iodepth }
    }
}

/// `None` after a fault: without an engine there is no job.
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
        serialize_overlap: settings.flag("serialize_overlap"),
        rate: rates("rate"),
        rate_min: rates("rate_min"),
        rate_iops: rates("rate_iops"),
        rate_iops_min: rates("rate_iops_min"),
        rate_process: if settings.word("rate_process") == "poisson" { Rate::Poisson } else { Rate::Linear },
        rate_window: Span::from_millis(settings.count("rate_cycle")),
        rate_ignores_pauses: settings.flag("rate_ignore_thinktime"),
        think: think(settings),
        latency_max: settings.times("max_latency").map(|span| span.filter(|span| !span.is_zero())),
        latency_target: latency_target(settings, findings),
        weight: settings.above_zero("flow"),
        weight_group: settings.count("flow_id"),
        weight_pause: Span::from_micros(settings.count("flow_sleep")),
    })
}

fn engine(settings: &Settings, findings: &mut Findings) -> Option<Engine> {
    let name = settings.text("ioengine").unwrap_or_default();
    let place = settings.place("ioengine");
    match engine::find(&name) {
        Found::Here(engine) => return Some(engine),
        Found::Outside(why) => {
            let what = format!("ioengine={name} is not supported");
            findings.fault(place, FaultKind::Unsupported, what, why);
        }
        Found::Nowhere => {
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
    let time = |name: &str| settings.time(name).unwrap_or(Span::ZERO);
    Some(ThinkTime {
        pause,
        busy: time("thinktime_spin").min(pause),
        every: settings.count("thinktime_blocks").max(1),
        counted_when_asked: settings.word("thinktime_blocks_type") == "issue",
        or_after: settings.time("thinktime_iotime").filter(|time| !time.is_zero()),
    })
}

fn latency_target(settings: &Settings, findings: &mut Findings) -> Option<LatencyTarget> {
    let percents = settings.floats("latency_percentile").unwrap_or_default();
    if percents.len() > 1 {
        let place = settings.place("latency_percentile");
        findings.fault(place, FaultKind::Value, "latency_percentile with more than one number", "write one of them");
    }
    let latency = settings.time("latency_target").filter(|latency| !latency.is_zero())?;
    Some(LatencyTarget {
        latency,
        percent: percents.first().copied().unwrap_or(100.0),
        window: settings.time("latency_window").filter(|window| !window.is_zero()),
        keeps_running: settings.flag("latency_run"),
    })
}

/// Processors that a job may run on, and whether each copy has one of its own.
pub(super) fn processors(settings: &Settings) -> (Option<Vec<u32>>, bool) {
    let mask = settings.above_zero("cpumask").map(|mask| (0..64).filter(|bit| mask >> bit & 1 == 1).collect());
    let later = settings.order("cpumask") > settings.order("cpus_allowed");
    let list = settings.processors("cpus_allowed");
    let allowed = if later { mask.or(list) } else { list.or(mask) };
    (allowed, settings.word("cpus_allowed_policy") == "split")
}
