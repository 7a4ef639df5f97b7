//! Calibration for a database: how many small and how many large operations storage takes, by the load that is outstanding.
//!
//! Either with a limit of latency, as `DBMS_RESOURCE_MANAGER.CALIBRATE_IO` has it, or over a matrix of small and large
//! operations outstanding, as Orion goes through it. Knows nothing about where it runs.

mod matrix;
mod points;
mod print;
mod search;

use plimsoll_device::Contents;
use plimsoll_load::{JobSpec, LaneSpec, Pattern, Region, Until, Work as Does};
use plimsoll_record::Listing;
use plimsoll_units::{Bytes, Span};

use crate::ground::{Facts, Nature};
use crate::recipe::{Done, Recipe};
use crate::step::{Access, FileSpec, Part, Step, Worker};

pub use matrix::{Matrix, Run};
use points::Point;
use search::{Asks, Search};

/// What is outstanding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outstanding {
    /// Small operations.
    pub small: u32,
    /// Large operations; where these are sequential, streams of them.
    pub large: u32,
}

/// How large operations come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LargeOrder {
    /// Anywhere.
    #[default]
    Random,
    /// In streams, each through a part of its own.
    Sequential,
}

/// What can be set.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibrateOptions {
    /// Which loads are tried.
    pub run: Run,
    /// Drives behind the storage, 1 to 100: loads grow in their multiples.
    pub disks: u32,
    /// [`Run::Limit`]: what the mean latency of small operations may be.
    pub max_latency: Span,
    /// Bytes of a small operation.
    pub small: u32,
    /// Bytes of a large operation.
    pub large: u32,
    /// How large operations come.
    pub order: LargeOrder,
    /// Operations outstanding of each sequential stream.
    pub stream_depth: u32,
    /// Share of operations that write, 0 to 1. Above 0 what is there is lost.
    pub writes: f64,
    /// How long each load is tried.
    pub point: Span,
    /// Bytes that are visited; none for all of a device, or 1 GiB of a directory.
    pub size: Option<Bytes>,
    /// What determines random places.
    pub seed: u64,
}

impl Default for CalibrateOptions {
    /// One disk, 20 ms, 8 KiB and 1 MiB, reads only, ten seconds for each load.
    fn default() -> Self {
        Self {
            run: Run::Limit,
            disks: 1,
            max_latency: Span::from_millis(20),
            small: 8 << 10,
            large: 1 << 20,
            order: LargeOrder::Random,
            stream_depth: 4,
            writes: 0.0,
            point: Span::from_secs(10),
            size: None,
            seed: 1,
        }
    }
}

/// Streams are on threads of their own; more are not begun.
const MOST_STREAMS: u32 = 200;

impl CalibrateOptions {
    fn checked(&self, facts: &Facts) -> Result<Bytes, String> {
        if !(1..=100).contains(&self.disks) {
            return Err(format!("{} disks are not between 1 and 100: write --disks 1", self.disks));
        }
        if !(0.0..=1.0).contains(&self.writes) {
            return Err("a share of writes is between 0 and 100 %: write --writes 0".into());
        }
        if self.point.is_zero() || self.max_latency.is_zero() || self.stream_depth == 0 {
            return Err("a load needs time, a limit and depth: write --point 10s and --max-latency 20ms".into());
        }
        for bytes in [self.small, self.large] {
            if bytes == 0 || !u64::from(bytes).is_multiple_of(facts.grid) {
                let grid = facts.grid;
                return Err(format!(
                    "{bytes} bytes are no multiple of the {grid} that direct I/O needs here: write 8KiB"
                ));
            }
        }
        let (least, name) = (u64::from(self.small.max(self.large)), &facts.subject.name);
        let whole = if facts.nature == Nature::Directory { facts.space.min(Bytes::gib(1)) } else { facts.space };
        let size = self.size.unwrap_or(whole).round_down(Bytes::new(least));
        if size > facts.space || size.get() == 0 {
            let space = facts.space;
            return Err(format!("{name}: {size} are needed of the {space} there: give --size less"));
        }
        if facts.read_only && self.writes > 0.0 {
            return Err(format!("{name}: nothing may be written there: write --writes 0"));
        }
        let loads = self.run.loads(self.disks);
        let most = loads.iter().map(|load| load.large).max().unwrap_or(0);
        if self.order == LargeOrder::Sequential && (most > MOST_STREAMS || u64::from(most) * least > size.get()) {
            return Err(format!(
                "{most} streams are too many for {size} or for {MOST_STREAMS} threads: give fewer disks"
            ));
        }
        if self.run != Run::Limit && loads.is_empty() {
            return Err("there is no load in this matrix: give more disks".into());
        }
        Ok(size)
    }
}

/// The recipe.
#[derive(Debug)]
pub struct Calibrate {
    options: CalibrateOptions,
    size: Bytes,
    fills: bool,
    loads: Vec<Outstanding>,
    /// What each step that was given out asks for; none for one that prepares.
    given: Vec<Option<Outstanding>>,
}

impl Calibrate {
    /// The recipe for a ground.
    ///
    /// # Errors
    /// What is wrong with an option or the ground, and what to write instead, in one line.
    pub fn new(options: CalibrateOptions, facts: &Facts) -> Result<Self, String> {
        let size = options.checked(facts)?;
        let loads = options.run.loads(options.disks);
        let fills = facts.nature == Nature::Directory;
        Ok(Self { options, size, fills, loads, given: Vec::new() })
    }

    fn points(&self, done: &[Done]) -> Vec<Point> {
        let both = self.given.iter().zip(done);
        both.filter_map(|(load, done)| Some(Point::of((*load)?, done.seen.io()?))).collect()
    }

    /// The load that is tried after these points.
    fn load(&self, points: &[Point]) -> Option<Outstanding> {
        if self.options.run != Run::Limit {
            return self.loads.get(points.len()).copied();
        }
        let small: Vec<&Point> = points.iter().filter(|point| point.load.small > 0).collect();
        let search = Search { first: self.options.disks, most: 4096, limit: Some(self.options.max_latency) };
        if let Asks::Load(depth) = search.next(&small.iter().map(|point| point.tried()).collect::<Vec<_>>()) {
            return Some(Outstanding { small: depth, large: 0 });
        }
        let large: Vec<_> = points.iter().filter(|point| point.load.large > 0).map(Point::tried).collect();
        let most = if self.options.order == LargeOrder::Sequential { MOST_STREAMS } else { 256 };
        match (Search { first: self.options.disks, most, limit: None }).next(&large) {
            Asks::Load(depth) => Some(Outstanding { small: 0, large: depth }),
            Asks::Nothing => None,
        }
    }

    fn step(&self, load: Outstanding) -> Step {
        let mut workers = Vec::new();
        let whole = Part { file: 0, start: 0, length: self.size };
        if load.small > 0 {
            workers.push(self.worker(self.options.small, Pattern::Uniform, whole, load.small, 0));
        }
        match self.options.order {
            LargeOrder::Random if load.large > 0 => {
                workers.push(self.worker(self.options.large, Pattern::Uniform, whole, load.large, 1));
            }
            LargeOrder::Random => {}
            LargeOrder::Sequential => {
                let each = self.size.get() / u64::from(load.large.max(1));
                let length = Bytes::new(each).round_down(Bytes::new(self.options.large.into()));
                for stream in 0..load.large {
                    let part = Part { file: 0, start: length.get() * u64::from(stream), length };
                    let depth = self.options.stream_depth;
                    workers.push(self.worker(
                        self.options.large,
                        Pattern::Sequential,
                        part,
                        depth,
                        1 + u64::from(stream),
                    ));
                }
            }
        }
        let name = format!("{} small, {} large outstanding", load.small, load.large);
        Step::io(name, workers).measuring(
            "Operations past the page cache that are always outstanding: a rate that a closed load reached, and the mean \
             latency at it.",
        )
    }

    fn worker(&self, bytes: u32, pattern: Pattern, part: Part, depth: u32, number: u64) -> Worker {
        let does = match self.options.writes {
            writes if writes <= 0.0 => Does::Reads,
            writes if writes >= 1.0 => Does::Writes,
            writes => Does::Mixed { reads: 1.0 - writes },
        };
        let lane = LaneSpec::new(bytes, pattern);
        let mut job = JobSpec::new(does, lane, Region::first(part.length), Until::span(self.options.point));
        job.depth = depth;
        job.seed = self.options.seed.wrapping_add((self.given.len() as u64) << 16 | number);
        Worker { parts: vec![part], ..Worker::new(job, 0, part.length, Access::direct()) }
    }

    fn fill(&self) -> Step {
        let bytes = 1 << 20;
        let mut job = JobSpec::new(
            Does::Writes,
            LaneSpec::new(bytes.min(self.options.large), Pattern::Sequential),
            Region::first(self.size),
            Until::bytes(self.size.get()),
        );
        (job.depth, job.flush_at_end) = (4, true);
        let access = Access { contents: Contents::Stamped { compressible: 0.0 }, ..Access::direct() };
        Step::io("filling the file", vec![Worker::new(job, 0, self.size, access)]).uncounted()
    }
}

impl Recipe for Calibrate {
    fn name(&self) -> &'static str {
        "calibrate"
    }

    fn follows(&self) -> String {
        match self.options.run {
            Run::Limit => "CALIBRATE_IO".into(),
            _ => "Orion 12".into(),
        }
    }

    fn settings(&self) -> Vec<(String, String)> {
        let options = &self.options;
        let bytes = |bytes: u32| Bytes::new(bytes.into()).to_string();
        let mut settings = vec![
            ("run".to_owned(), options.run.to_string()),
            ("disks".to_owned(), options.disks.to_string()),
            ("small".to_owned(), bytes(options.small)),
            ("large".to_owned(), bytes(options.large)),
            ("large order".to_owned(), format!("{:?}", options.order).to_lowercase()),
            ("writes".to_owned(), format!("{:.0} %", options.writes * 100.0)),
            ("point".to_owned(), options.point.to_string()),
            ("size".to_owned(), self.size.to_string()),
        ];
        if options.run == Run::Limit {
            settings.push(("max latency".to_owned(), options.max_latency.to_string()));
        }
        settings
    }

    fn files(&self) -> Vec<FileSpec> {
        vec![FileSpec { writes: self.fills || self.options.writes > 0.0, ..FileSpec::reserved(self.size) }]
    }

    fn expected(&self) -> usize {
        let loads = if self.options.run == Run::Limit { 16 } else { self.loads.len() };
        (loads + usize::from(self.fills)).max(self.given.len())
    }

    fn next(&mut self, done: &[Done], _facts: &Facts) -> Option<Step> {
        if self.fills && self.given.is_empty() {
            self.given.push(None);
            return Some(self.fill());
        }
        let load = self.load(&self.points(done))?;
        let step = self.step(load);
        self.given.push(Some(load));
        Some(step)
    }

    fn listings(&self, done: &[Done], facts: &Facts) -> Vec<Listing> {
        let points = self.points(done);
        let listing = |title: &str, text| Listing { title: title.into(), text };
        let mut listings = Vec::new();
        if self.options.run == Run::Limit {
            listings.push(listing("CALIBRATE_IO", print::limit(&points, &self.options)));
        } else {
            listings.push(listing("Orion summary", print::summary(&self.options, self.size, &points, facts)));
            let (small, large) = (|point: &Point| point.load.small > 0, |point: &Point| point.load.large > 0);
            let iops = |point: &Point| format!("{:.0}", point.iops);
            let micros = |point: &Point| format!("{:.2}", point.latency().as_nanos() as f64 / 1e3);
            let mbps = |point: &Point| format!("{:.2}", point.mbps());
            listings.push(listing("orion_iops.csv", print::csv(&points, small, iops)));
            listings.push(listing("orion_lat.csv", print::csv(&points, small, micros)));
            listings.push(listing("orion_mbps.csv", print::csv(&points, large, mbps)));
        }
        listings.push(listing("every load", print::table(&points)));
        listings
    }

    fn verdicts(&self, done: &[Done], facts: &Facts) -> Vec<String> {
        print::verdicts(&self.points(done), &self.options, self.size, facts)
    }
}
