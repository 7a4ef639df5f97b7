//! A direction of a job as a lane of a load: sizes, pattern, rate.

use plimsoll_fio::{ArrivalProcess, BlockSizes, Distribution, Each, Extent, FioJob, Order};
use plimsoll_language::label;
use plimsoll_load::{Arrival, LaneSpec, Pattern, RateUnit, Sizes};
use plimsoll_units::Iops;

use super::space::Spread;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LaneKind {
    Read,
    Write,
    Trim,
}

impl LaneKind {
    /// The value of this direction.
    const fn of<T>(self, each: &Each<T>) -> &T {
        match self {
            Self::Read => &each.read,
            Self::Write => &each.write,
            Self::Trim => &each.trim,
        }
    }
}

pub(super) fn build_lane(job: &FioJob, kind: LaneKind, spread: &Spread) -> Result<LaneSpec, String> {
    let access = &job.access;
    let blocks = select_blocks(job, kind)?;
    let sizes = convert_sizes(blocks, access.unaligned);
    let random_percent = *kind.of(&access.random_percent);
    let (rate, rate_unit) = select_rate(job, kind, &sizes);
    let mut lane = LaneSpec {
        rate,
        rate_unit,
        align: kind.of(&access.alignment).get().clamp(1, u64::from(u32::MAX)) as u32,
        ..LaneSpec::new(sizes.smallest(), Pattern::Sequential)
    };
    lane.sizes = sizes;
    match access.order {
        Order::Sequential { step } => lane.gap = step,
        Order::Random { run, identical } => {
            lane.hold = run.min(u64::from(u32::MAX)) as u32;
            lane.holds_place = identical;
            lane.pattern = select_pattern(job)?;
            lane.follows = 1.0 - f64::from(random_percent) / 100.0;
            lane.zones = list_zones(&access.distribution, spread);
        }
    }
    Ok(lane)
}

fn select_pattern(job: &FioJob) -> Result<Pattern, String> {
    let off_centre = |centre: Option<f64>, usual: f64| centre.is_some_and(|centre| (centre - usual).abs() > 1e-9);
    let moved = || Err(label!("random_distribution with a centre is not supported; omit the centre").to_owned());
    match job.access.distribution {
        Distribution::Uniform if job.access.repeats => Ok(Pattern::Uniform),
        Distribution::Uniform => Ok(Pattern::Shuffled),
        Distribution::Zipf { centre: Some(_), .. } | Distribution::Pareto { centre: Some(_), .. } => moved(),
        Distribution::Zipf { theta, .. } if theta >= 10.0 => {
            Err(label!("random_distribution=zipf: theta must be below 10").into())
        }
        Distribution::Zipf { theta, .. } => Ok(Pattern::Zipf { theta }),
        Distribution::Pareto { h, .. } => Ok(Pattern::Pareto { h }),
        Distribution::Normal { centre, .. } if off_centre(centre, 0.5) => moved(),
        // A deviation of zero is the block in the middle.
        Distribution::Normal { deviation, .. } => Ok(Pattern::Normal { deviation: deviation.max(1e-6) / 100.0 }),
        Distribution::Zoned(_) => Ok(Pattern::Uniform),
    }
}

/// Parts of a file with their shares of operations; empty except for zones.
fn list_zones(distribution: &Distribution, spread: &Spread) -> Vec<(f64, f64)> {
    let Distribution::Zoned(zones) = distribution else { return Vec::new() };
    let total = spread.largest();
    let share = |extent: Extent| match extent {
        Extent::Percent(percent) => f64::from(percent) / 100.0,
        Extent::Bytes(bytes) => (bytes.get() as f64 / total.get().max(1) as f64).min(1.0),
    };
    zones.iter().map(|zone| (f64::from(zone.accesses) / 100.0, share(zone.extent))).collect()
}

/// `bs_is_seq_rand`: block sizes of reads apply to sequential operations, those of writes to random operations.
fn select_blocks(job: &FioJob, kind: LaneKind) -> Result<&BlockSizes, String> {
    let access = &job.access;
    match access.sizes_by_order {
        true if access.is_random() && *kind.of(&access.random_percent) < 100 => {
            Err(label!("bs_is_seq_rand with percentage_random is not supported; omit one of them").into())
        }
        true if access.is_random() => Ok(&access.blocks.write),
        true => Ok(&access.blocks.read),
        false => Ok(kind.of(&access.blocks)),
    }
}

fn convert_sizes(blocks: &BlockSizes, unaligned: bool) -> Sizes {
    match blocks {
        BlockSizes::Range(low, high) if low == high => Sizes::one(low.get() as u32),
        BlockSizes::Range(low, high) => {
            let (least, max) = (low.get() as u32, high.get() as u32);
            Sizes::Range { least, max, step: if unaligned { 1 } else { least } }
        }
        BlockSizes::Split(sizes) => {
            Sizes::Split(sizes.iter().map(|(size, share)| (size.get() as u32, *share)).collect())
        }
    }
}

/// The mean size in bytes.
fn mean_size(sizes: &Sizes) -> f64 {
    match sizes {
        Sizes::Range { least, max, step } => f64::from(*least) + f64::from((max - least) / step * step) / 2.0,
        Sizes::Split(sizes) => {
            let (bytes, weights) = sizes.iter().fold((0.0, 0.0), |sum, (size, weight)| {
                (sum.0 + f64::from(*size) * f64::from(*weight), sum.1 + f64::from(*weight))
            });
            bytes / weights
        }
    }
}

/// Rate limit in operations or bytes per second. Bytes are those requested, so that mixed sizes keep the rate; random
/// gaps correspond to operations of mean size.
fn select_rate(job: &FioJob, kind: LaneKind, sizes: &Sizes) -> (Option<(Iops, Arrival)>, RateUnit) {
    let flow = &job.flow;
    let arrival = match flow.rate_process {
        ArrivalProcess::Linear => Arrival::Constant,
        ArrivalProcess::Poisson => Arrival::Poisson,
    };
    // With trims and writes, fio paces the writes.
    let kind = if kind == LaneKind::Trim && job.access.direction.writes { LaneKind::Write } else { kind };
    match (*kind.of(&flow.rate_iops), *kind.of(&flow.rate), arrival) {
        (Some(operations), _, _) => (Some((Iops::per_second(operations), arrival)), RateUnit::Operations),
        (None, Some(bytes), Arrival::Poisson) => {
            let mean = Iops::from_f64((bytes as f64 / mean_size(sizes)).max(0.001));
            (Some((mean, arrival)), RateUnit::Operations)
        }
        (None, Some(bytes), _) => (Some((Iops::per_second(bytes), arrival)), RateUnit::Bytes),
        (None, None, _) => (None, RateUnit::Operations),
    }
}
