//! A synthetic fleet whose truth is recorded: patterns of demand on volumes of several products.
//!
//! The metrics are those that a provider would have recorded: what a limit does not serve is delayed, and checks report
//! it for every other volume.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::Args;
use plimsoll_catalogue::{Ask, Catalogue, Config};
use plimsoll_units::Bytes;
use serde::Serialize;

use crate::folder::{Folder, write_atomically};
use crate::months::month_of;
use crate::parallel::map_on_all_processors;
use crate::points::{MetricPoint, PointsWriter};
use crate::random::Random;
use crate::terms::TermOptions;
use crate::volumes::FleetVolumes;

/// Options of `generate`.
#[derive(Debug, Args)]
pub struct GenerateOptions {
    /// New folder of the fleet
    pub folder: PathBuf,
    /// Number of volumes
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub volumes: u32,
    /// Number of days, from 2026-01-01 on
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(i64).range(1..=3_660))]
    pub days: i64,
    /// Seconds of a point
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(i64).range(1..=86_400))]
    pub period: i64,
    /// Buckets of volumes, the unit of parallel work
    #[arg(long, default_value_t = 16)]
    pub buckets: u32,
    /// Seed; the same seed gives the same files
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub terms: TermOptions,
}

/// 2026-01-01 in UTC.
const BEGIN: i64 = 1_767_225_600;
const DAY: i64 = 86_400;

/// Pattern of a volume's demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Pattern {
    Diurnal,
    Weekly,
    Batch,
    Idle,
    Bursty,
    Throttled,
}

/// The truth of a volume.
#[derive(Debug, Serialize)]
struct Truth {
    volume: u32,
    id: String,
    config: String,
    pattern: Pattern,
    /// A limit delays its operations.
    throttled: bool,
    /// The limit for its operations, per second.
    limit_iops: i64,
    /// Its highest demand per second, delayed or not.
    peak_iops: i64,
    /// Size of its operations in bytes.
    block_bytes: i64,
}

/// A volume that produces points.
struct Source {
    volume: u32,
    config: String,
    pattern: Pattern,
    limit: i64,
    block: i64,
    peak: i64,
    reads_percent: i64,
    random: Random,
    /// Operations that wait.
    backlog: i64,
    highest: i64,
    was_throttled: bool,
}

/// Makes a fleet. Returns the number of points.
pub fn generate(options: &GenerateOptions) -> Result<u64> {
    let folder = Folder::open_or_create(&options.folder, options.buckets)?;
    let _lock = folder.lock()?;
    ensure!(!folder.root.join("metrics").exists(), "{} has metrics: name a new folder", folder.root.display());
    let catalogue = Catalogue::built_in();
    let mut volumes = FleetVolumes::open(&folder)?;
    ensure!(volumes.list.is_empty(), "{} has volumes: name a new folder", folder.root.display());
    let mut sources = Vec::new();
    for number in 0..options.volumes {
        let source = Source::new(&catalogue, options, number)?;
        let index = volumes.number(&identifier(number, &source.config), "") as usize;
        volumes.list[index].config.clone_from(&source.config);
        volumes.list[index].account = format!("account-{}", number % 7);
        volumes.list[index].team = format!("team-{}", number % 11);
        sources.push(source);
    }
    volumes.save()?;
    let sources = write_points(&folder, options, sources)?;
    let mut truth = csv::Writer::from_writer(Vec::new());
    for source in &sources {
        truth.serialize(source.truth())?;
    }
    write_atomically(&folder.root.join("truth.csv"), &truth.into_inner()?)?;
    Ok(u64::from(options.volumes) * (options.days * DAY / options.period) as u64)
}

fn identifier(number: u32, config: &str) -> String {
    if config.starts_with("oci") { format!("ocid1.volume.oc1..v{number:07}") } else { format!("vol-{number:017x}") }
}

/// Writes the points of all volumes, bucket by bucket on all processors.
fn write_points(folder: &Folder, options: &GenerateOptions, sources: Vec<Source>) -> Result<Vec<Source>> {
    let mut buckets: Vec<(u32, Vec<Source>)> = (0..folder.buckets).map(|bucket| (bucket, Vec::new())).collect();
    for source in sources {
        buckets[folder.bucket_of(source.volume) as usize].1.push(source);
    }
    let written = map_on_all_processors(buckets, |(bucket, mut sources)| {
        write_bucket(folder, bucket, options, &mut sources)?;
        Ok(sources)
    })?;
    let mut sources: Vec<Source> = written.into_iter().flatten().collect();
    sources.sort_unstable_by_key(|source| source.volume);
    Ok(sources)
}

fn write_bucket(folder: &Folder, bucket: u32, options: &GenerateOptions, sources: &mut [Source]) -> Result<()> {
    if sources.is_empty() {
        return Ok(());
    }
    let (mut at, end) = (BEGIN, BEGIN + options.days * DAY / options.period * options.period);
    while at < end {
        let month = month_of(at).context("a time of the calendar")?;
        let mut month_end = at;
        while month_end < end && month_of(month_end).as_ref() == Some(&month) {
            month_end += options.period;
        }
        let mut writer = PointsWriter::create(&folder.points_path(&month, bucket))?;
        for source in &mut *sources {
            for at in (at..month_end).step_by(options.period as usize) {
                writer.push(source.point(at, options.period))?;
            }
        }
        writer.finish()?;
        at = month_end;
    }
    Ok(())
}

impl Source {
    fn new(catalogue: &Catalogue, options: &GenerateOptions, volume: u32) -> Result<Self> {
        let mut random = Random::new(options.seed, u64::from(volume));
        let pattern = match random.within(0, 19) {
            0..=4 => Pattern::Diurnal,
            5..=8 => Pattern::Weekly,
            9..=11 => Pattern::Batch,
            12..=14 => Pattern::Idle,
            15..=17 => Pattern::Bursty,
            _ => Pattern::Throttled,
        };
        let size = random.within(20, 400) * 5;
        let config = match random.within(0, 9) {
            0..=5 => {
                let iops = (3_000 + 500 * random.within(0, 20)).min(500 * size);
                let throughput = random.within(125, 500).min(iops / 4);
                format!("aws/gp3:{size}GiB,iops={iops},throughput={throughput}")
            }
            6 | 7 => format!("aws/gp2:{}GiB", 1_000 + size),
            _ => format!("oci/block-volume:{size}GB,vpu={}", 10 * random.within(1, 2)),
        };
        let block = 4_096 << random.within(0, 4);
        let reads_percent = random.within(20, 90);
        let parsed: Config = config.parse()?;
        let terms = options.terms.price_terms("")?;
        let offer = catalogue.offer(&parsed, &terms).with_context(|| format!("generate {config}"))?;
        let ask = Ask { block: Bytes::new(block as u64), reads: reads_percent as f64 / 100.0, sequential: false };
        let limit = offer.standing(&ask).binding().map_or(0.0, |bound| bound.iops).floor() as i64;
        ensure!(limit > 0, "{config} has no limit");
        let peak_percent = match pattern {
            Pattern::Throttled => random.within(130, 200),
            Pattern::Bursty => random.within(40, 97),
            _ => random.within(3, 80),
        };
        let peak = limit * peak_percent / 100;
        Ok(Self {
            volume,
            config,
            pattern,
            limit,
            block,
            peak,
            reads_percent,
            random,
            backlog: 0,
            highest: 0,
            was_throttled: false,
        })
    }

    /// Demand per second at a time.
    fn rate(&mut self, at: i64) -> i64 {
        let minute = at % DAY / 60;
        // 0 at 02:00, 1,000 at 14:00.
        let sun = 1_000 - (minute - 840).rem_euclid(1_440).min((840 - minute).rem_euclid(1_440)) * 1_000 / 720;
        let is_weekend = (at / DAY + 4) % 7 % 6 == 0;
        let share = match self.pattern {
            Pattern::Weekly if is_weekend => 60,
            Pattern::Diurnal | Pattern::Weekly | Pattern::Throttled => 50 + sun * 850 / 1_000,
            Pattern::Batch if (60..180).contains(&minute) => 900,
            Pattern::Batch => 10,
            Pattern::Idle => 0,
            Pattern::Bursty if self.random.within(0, 199) == 0 => 900,
            Pattern::Bursty => 50,
        };
        self.random.around(self.peak * share / 1_000, 10)
    }

    fn point(&mut self, at: i64, period: i64) -> MetricPoint {
        let rate = self.rate(at);
        self.highest = self.highest.max(rate);
        let demand = rate * period + self.backlog;
        let served = demand.min(self.limit * period);
        self.backlog = demand - served;
        self.was_throttled |= self.backlog > 0;
        let reads = served * self.reads_percent / 100;
        let writes = served - reads;
        let exceeded = self.volume.is_multiple_of(2).then_some(i64::from(self.backlog > 0));
        let metrics =
            [Some(reads), Some(writes), Some(reads * self.block), Some(writes * self.block), exceeded, exceeded];
        MetricPoint { volume: self.volume, at, period, metrics }
    }

    fn truth(&self) -> Truth {
        Truth {
            volume: self.volume,
            id: identifier(self.volume, &self.config),
            config: self.config.clone(),
            pattern: self.pattern,
            throttled: self.was_throttled,
            limit_iops: self.limit,
            peak_iops: self.highest,
            block_bytes: self.block,
        }
    }
}
