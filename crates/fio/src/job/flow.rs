//! Engine, depth and pace of a job.

use plimsoll_language::say;
use plimsoll_units::Span;

use crate::engine::{self, Engine, EngineLookup};
use crate::fault::{FaultKind, Findings};
use crate::near;
use crate::settings::Settings;
use crate::value::Each;

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
    /// Duration of a pause: `thinktime`, or `thinktime_spin` if that is longer.
    pub pause: Span,
    /// `thinktime_spin`: part of the pause that is spent computing.
    pub spin: Span,
    /// `thinktime_blocks`: operations between pauses; `None` if only `thinktime_iotime` is given.
    pub every: Option<u64>,
    /// `thinktime_blocks_type=issue`: issued operations are counted instead of completed ones.
    pub counts_issued: bool,
    /// `thinktime_iotime`: time between pauses.
    pub io_time: Option<Span>,
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
    /// `iodepth_batch_complete_max`: maximum completion batch; at least `complete_min`.
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
    ///
    /// Observed with fio 3.33: `iodepth_batch_complete_min=0` without a maximum waits for each operation, and the null
    /// engine accepts no operation before those of its last batch are taken.
    pub fn in_flight(&self) -> u32 {
        match self.engine {
            engine if engine.is_synchronous() => 1,
            _ if self.complete_max == 0 => 1,
            Engine::Null => self.batch,
            _ => self.iodepth,
        }
    }
}

/// `None` after a fault: a job requires an engine.
pub(super) fn read(settings: &Settings, findings: &mut Findings) -> Option<Flow> {
    let engine = find_engine(settings, findings)?;
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

fn find_engine(settings: &Settings, findings: &mut Findings) -> Option<Engine> {
    let name = settings.text("ioengine").unwrap_or_default();
    let place = settings.place("ioengine");
    match engine::find(&name) {
        EngineLookup::Supported(engine) => return Some(engine),
        EngineLookup::Unsupported(why) => {
            let what = say!("ioengine={name} is not supported");
            findings.fault(place, FaultKind::Unsupported, what, why.get());
        }
        EngineLookup::Unknown => {
            let near = near::nearest(&name, engine::names());
            let meant = near.map_or(String::new(), |near| say!("did you mean {near}? "));
            let remedy = say!("{meant}write one of {}", engine::names().collect::<Vec<_>>().join(", "));
            findings.fault(place, FaultKind::Value, say!("ioengine={name}: fio has no such engine"), remedy);
        }
    }
    None
}

fn think(settings: &Settings) -> Option<ThinkTime> {
    let pause = settings.time("thinktime").filter(|pause| !pause.is_zero())?;
    let spin = settings.time("thinktime_spin").unwrap_or_default();
    let io_time = settings.time("thinktime_iotime").filter(|time| !time.is_zero());
    let is_counted = io_time.is_none() || settings.order("thinktime_blocks") > 0;
    Some(ThinkTime {
        pause: pause.max(spin),
        spin,
        every: is_counted.then(|| settings.count("thinktime_blocks").max(1)),
        counts_issued: settings.word("thinktime_blocks_type") == "issue",
        io_time,
    })
}

/// Permitted processors, and whether each copy is pinned to a single one.
pub(super) fn processors(settings: &Settings) -> (Option<Vec<u32>>, bool) {
    let mask = settings.processors("cpumask").filter(|mask| !mask.is_empty());
    let later = settings.order("cpumask") > settings.order("cpus_allowed");
    let list = settings.processors("cpus_allowed");
    let allowed = if later { mask.or(list) } else { list.or(mask) };
    (allowed, settings.word("cpus_allowed_policy") == "split")
}
