//! One direction of a job as a lane of a load: sizes, pattern, rate.

use plimsoll_fio::{BlockSizes, Distribution, Extent, Job, Order, Rate};
use plimsoll_load::{Arrival, LaneSpec, Pattern, Sizes};
use plimsoll_units::Iops;

use super::space::Spread;

/// A direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Read,
    Write,
}

/// The lane of one direction.
pub(super) fn lane(job: &Job, way: Way, spread: &Spread) -> Result<LaneSpec, String> {
    let access = &job.access;
    let blocks = blocks(job, way)?;
    let sizes = sizes(blocks, access.unaligned);
    let align = match way {
        Way::Read => access.alignment.read,
        Way::Write => access.alignment.write,
    };
    let random_percent = match way {
        Way::Read => access.random_percent.read,
        Way::Write => access.random_percent.write,
    };
    let mut lane = LaneSpec {
        rate: rate(job, way, &sizes),
        align: align.get().clamp(1, u64::from(u32::MAX)) as u32,
        ..LaneSpec::new(sizes.smallest(), Pattern::Sequential)
    };
    lane.sizes = sizes;
    match access.order {
        Order::Sequential { step } => lane.gap = step,
        Order::Random { run } => {
            lane.hold = run.min(u64::from(u32::MAX)) as u32;
            lane.pattern = pattern(job)?;
            lane.follows = 1.0 - f64::from(random_percent) / 100.0;
            lane.zones = zones(&access.distribution, spread);
        }
    }
    Ok(lane)
}

fn pattern(job: &Job) -> Result<Pattern, String> {
    let off_centre = |centre: Option<f64>, usual: f64| centre.is_some_and(|centre| (centre - usual).abs() > 1e-9);
    let moved = || Err("random_distribution with a centre is not supported; leave the number behind it out".to_owned());
    match job.access.distribution {
        Distribution::Uniform if job.access.repeats => Ok(Pattern::Uniform),
        Distribution::Uniform => Ok(Pattern::Shuffled),
        Distribution::Zipf { centre: Some(_), .. } | Distribution::Pareto { centre: Some(_), .. } => moved(),
        Distribution::Zipf { theta, .. } if theta >= 10.0 => {
            Err("random_distribution=zipf: a theta of 10 or more; write a lower one".into())
        }
        Distribution::Zipf { theta, .. } => Ok(Pattern::Zipf { theta }),
        Distribution::Pareto { h, .. } => Ok(Pattern::Pareto { h }),
        Distribution::Normal { centre, .. } if off_centre(centre, 0.5) => moved(),
        // A deviation of nothing is the block in the middle.
        Distribution::Normal { deviation, .. } => Ok(Pattern::Normal { deviation: deviation.max(1e-6) / 100.0 }),
        Distribution::Zoned(_) => Ok(Pattern::Uniform),
    }
}

/// Parts of a file with their shares of the operations; empty but for zones.
fn zones(distribution: &Distribution, spread: &Spread) -> Vec<(f64, f64)> {
    let Distribution::Zoned(zones) = distribution else { return Vec::new() };
    let whole = spread.largest();
    let share = |extent: Extent| match extent {
        Extent::Percent(percent) => f64::from(percent) / 100.0,
        Extent::Bytes(bytes) => (bytes.get() as f64 / whole.get().max(1) as f64).min(1.0),
    };
    zones.iter().map(|zone| (f64::from(zone.accesses) / 100.0, share(zone.extent))).collect()
}

/// `bs_is_seq_rand`: sizes of reads are of sequential operations, those of writes of random ones.
fn blocks(job: &Job, way: Way) -> Result<&BlockSizes, String> {
    let access = &job.access;
    let percent = if way == Way::Read { access.random_percent.read } else { access.random_percent.write };
    match (access.sizes_by_order, way) {
        (true, _) if access.is_random() && percent < 100 => {
            Err("bs_is_seq_rand with percentage_random: sizes are of a direction; leave one of them out".into())
        }
        (true, _) if access.is_random() => Ok(&access.blocks.write),
        (true, _) | (false, Way::Read) => Ok(&access.blocks.read),
        (false, Way::Write) => Ok(&access.blocks.write),
    }
}

fn sizes(blocks: &BlockSizes, unaligned: bool) -> Sizes {
    match blocks {
        BlockSizes::Range(low, high) if low == high => Sizes::one(low.get() as u32),
        BlockSizes::Range(low, high) => {
            let (least, most) = (low.get() as u32, high.get() as u32);
            Sizes::Range { least, most, step: if unaligned { 1 } else { least } }
        }
        BlockSizes::Split(sizes) => {
            Sizes::Split(sizes.iter().map(|(size, share)| (size.get() as u32, *share)).collect())
        }
    }
}

/// The mean size, in bytes.
fn mean(sizes: &Sizes) -> f64 {
    match sizes {
        Sizes::Range { least, most, step } => f64::from(*least) + f64::from((most - least) / step * step) / 2.0,
        Sizes::Split(sizes) => {
            let (bytes, weights) = sizes.iter().fold((0.0, 0.0), |sum, (size, weight)| {
                (sum.0 + f64::from(*size) * f64::from(*weight), sum.1 + f64::from(*weight))
            });
            bytes / weights
        }
    }
}

fn rate(job: &Job, way: Way, sizes: &Sizes) -> Option<(Iops, Arrival)> {
    let flow = &job.flow;
    let (bytes, operations) = match way {
        Way::Read => (flow.rate.read, flow.rate_iops.read),
        Way::Write => (flow.rate.write, flow.rate_iops.write),
    };
    let arrival = match flow.rate_process {
        Rate::Linear => Arrival::Constant,
        Rate::Poisson => Arrival::Poisson,
    };
    let of_bytes = |bytes: u64| {
        if sizes.smallest() == sizes.largest() {
            Iops { ops: bytes, seconds: u64::from(sizes.largest()) }
        } else {
            Iops::from_f64((bytes as f64 / mean(sizes)).max(0.001))
        }
    };
    operations.map(Iops::per_second).or(bytes.map(of_bytes)).map(|rate| (rate, arrival))
}
