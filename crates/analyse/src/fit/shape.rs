//! Shapes of models: their stages, parameters and starting values.

use plimsoll_language::{StaticText, label, static_text};
use plimsoll_model::{ChainSpec, Demand, DiskSpec, Duplex, Layout, Named, Rate, Service, StageSpec};
use plimsoll_units::{Bytes, Iops, Span, Throughput};

use super::points::FitPoint;
use super::search::ShapeParameters;

/// A model structure. Servers and dies have a distribution of service times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ModelShape {
    Delay,
    /// A delay and a rate limit.
    Limit,
    /// A disk with reordering: a power law of the queue depth.
    Disk,
    /// A disk that gains nothing from a short queue.
    LateDisk,
    /// Disks that reorder a queue each: a stripe, or an array.
    Disks,
    /// Servers with a shared queue.
    Servers(Service),
    PathAndServers(Service),
    /// Dies with a queue each.
    Dies(Service),
    PathAndDies(Service),
    /// A path, dies with a queue each, and a pipeline passed sequentially by all operations.
    Device(Service),
    /// No form: the measured rates by operations in flight.
    Table,
}

/// A parameter of a shape.
pub(super) struct Meaning {
    pub(super) name: StaticText,
    pub(super) unit: &'static str,
    /// Part of a curve that identifies it.
    pub(super) shows: Shows,
}

/// Part of a curve that identifies a parameter.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shows {
    /// The lightest load.
    First,
    /// The heaviest load.
    Last,
    /// The growth of response times in between.
    Growth,
    /// The difference between sizes of operations.
    Sizes,
}

/// Parameters for the bytes of operations, after those of a shape.
const BYTES: [Meaning; 2] = [
    Meaning { name: static_text!("path, bytes of all operations"), unit: "bytes per second", shows: Shows::Sizes },
    Meaning { name: static_text!("bytes of one operation"), unit: "bytes per second", shows: Shows::Sizes },
];
const SPREADS: [Service; 3] = [Service::LogNormal(0.3), Service::Exponential, Service::Constant];
/// Loads up to which the share of the dies and the spread of service times are assumed.
pub(super) const FEW_LOADS: usize = 4;
/// Usual share of the dies in the response of an operation alone, and its spread among drives. From whole curves of an
/// `NVMe` drive (2/3) and of SATA drives (0.6 to 0.95).
const DIE_SHARE: f64 = 2.0 / 3.0;
const DIE_SHARE_SPREAD: f64 = 0.15;
/// Minimum response time of a rotating disk in nanoseconds.
const DISK_RESPONSE_NS_MIN: f64 = 2e6;
/// Queue depth of SATA disks.
const DISK_QUEUE: u32 = 32;
/// Ratio of the response times of the heaviest and the lightest load above which throughput flattens.
const RISES: f64 = 1.15;
/// Rotation time at 7,200 rpm in nanoseconds.
const TURN_NS: f64 = 8_333_333.0;

impl ModelShape {
    /// Every shape with parameters, with the default spread.
    pub(super) fn all() -> [Self; 10] {
        let spread = SPREADS[0];
        [
            Self::Delay,
            Self::Limit,
            Self::Disk,
            Self::LateDisk,
            Self::Disks,
            Self::Servers(spread),
            Self::PathAndServers(spread),
            Self::Dies(spread),
            Self::PathAndDies(spread),
            Self::Device(spread),
        ]
    }

    /// False for shapes with more parameters than the loads support, or with response times that they cannot have. Fewer
    /// than three loads do not show more than a time.
    pub(super) fn is_possible(self, points: &[FitPoint], loads: usize) -> bool {
        let max = if loads < 3 { 1 } else { loads - 1 };
        let turns = points.first().is_some_and(|point| point.mean_ns >= DISK_RESPONSE_NS_MIN);
        let is_flat = loads < 3 || !rises(points);
        (self.free(loads) <= max || self.is_determined(loads))
            && (turns || !self.rotates())
            && (is_flat || self != Self::Delay)
    }

    /// True for disks.
    pub(super) const fn rotates(self) -> bool {
        matches!(self, Self::Disk | Self::LateDisk | Self::Disks)
    }

    /// True if the loads give the parameters and leave none to test the shape: three loads show the latency, the
    /// collisions and the ceiling of a device.
    pub(super) fn is_determined(self, loads: usize) -> bool {
        loads == 3 && matches!(self, Self::Device(_))
    }

    /// Number of parameters that the loads have to give: with few of them the share of the dies is assumed.
    fn free(self, loads: usize) -> usize {
        let assumed = loads <= FEW_LOADS && self.share_of_dies(&[1.0; 4]).is_some();
        self.count() - usize::from(assumed)
    }

    /// Share of the dies in the response of an operation alone.
    fn share_of_dies(self, numbers: &[f64]) -> Option<f64> {
        match (self, numbers) {
            (Self::PathAndDies(_), [path, die, ..]) => Some(die / (path + die)),
            (Self::Device(_), [path, die, _, pipe, ..]) => Some(die / (path + die + pipe)),
            _ => None,
        }
    }

    /// Cost of an unusual share of the dies, in the unit of the loss, if few loads were measured: they show its product
    /// with the number of dies rather than the share.
    pub(super) fn implausible(self, numbers: &[f64], loads: usize) -> f64 {
        let share = self.share_of_dies(numbers).filter(|_| loads <= FEW_LOADS);
        share.map_or(0.0, |share| ((share - DIE_SHARE) / DIE_SHARE_SPREAD).powi(2))
    }

    /// The same shape with the other spreads.
    pub(super) fn other_spreads(self) -> Vec<Self> {
        let with = |spread: Service| match self {
            Self::Delay | Self::Limit | Self::Disk | Self::LateDisk | Self::Disks | Self::Table => None,
            Self::Servers(_) => Some(Self::Servers(spread)),
            Self::PathAndServers(_) => Some(Self::PathAndServers(spread)),
            Self::Dies(_) => Some(Self::Dies(spread)),
            Self::PathAndDies(_) => Some(Self::PathAndDies(spread)),
            Self::Device(_) => Some(Self::Device(spread)),
        };
        SPREADS.into_iter().skip(1).filter_map(with).collect()
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Delay => label!("a time that no load changes"),
            Self::Limit => label!("a latency and a limit"),
            Self::Disk => label!("a disk that reorders its queue"),
            Self::LateDisk => label!("a disk that reorders its queue from a depth on"),
            Self::Disks => label!("disks that reorder a queue each"),
            Self::Servers(_) => label!("servers with one queue"),
            Self::PathAndServers(_) => label!("a path and servers with one queue"),
            Self::Dies(_) => label!("dies with a queue each"),
            Self::PathAndDies(_) => label!("a path and dies with a queue each"),
            Self::Device(_) => label!("a path, dies with a queue each, and a pipeline"),
            Self::Table => label!("the measured rates, without a form"),
        }
    }

    pub(super) fn meanings(self) -> &'static [Meaning] {
        const fn time(name: StaticText, shows: Shows) -> Meaning {
            Meaning { name, unit: "ns", shows }
        }
        const fn count(name: StaticText, shows: Shows) -> Meaning {
            Meaning { name, unit: "", shows }
        }
        const PATH: Meaning = time(static_text!("path, time of one operation"), Shows::First);
        const ALONE: Meaning = time(static_text!("disk, time of one operation alone"), Shows::First);
        const EXPONENT: Meaning = count(static_text!("disk, exponent of the queue"), Shows::Growth);
        match self {
            Self::Table => const { &[] },
            Self::Delay => const { &[PATH] },
            Self::Limit => {
                const { &[PATH, Meaning { name: static_text!("limit, operations"), unit: "per second", shows: Shows::Last }] }
            }
            Self::Disk => const { &[ALONE, EXPONENT] },
            Self::LateDisk => {
                const { &[ALONE, EXPONENT, count(static_text!("disk, queue up to which it gains nothing"), Shows::Growth)] }
            }
            Self::Disks => const { &[ALONE, EXPONENT, count(static_text!("disks, number"), Shows::Growth)] },
            Self::Servers(_) => {
                const {
                    &[
                        time(static_text!("servers, time of one operation"), Shows::First),
                        count(static_text!("servers, number"), Shows::Last),
                    ]
                }
            }
            Self::PathAndServers(_) => {
                const {
                    &[
                        PATH,
                        time(static_text!("servers, time of one operation"), Shows::Growth),
                        count(static_text!("servers, number"), Shows::Last),
                    ]
                }
            }
            Self::Dies(_) => {
                const {
                    &[
                        time(static_text!("dies, time of one operation"), Shows::First),
                        count(static_text!("dies, number"), Shows::Growth),
                    ]
                }
            }
            Self::PathAndDies(_) => {
                const {
                    &[
                        PATH,
                        time(static_text!("dies, time of one operation"), Shows::Growth),
                        count(static_text!("dies, number"), Shows::Growth),
                    ]
                }
            }
            Self::Device(_) => {
                const {
                    &[
                        PATH,
                        time(static_text!("dies, time of one operation"), Shows::Growth),
                        count(static_text!("dies, number"), Shows::Growth),
                        time(static_text!("pipeline, time of one operation"), Shows::Last),
                    ]
                }
            }
        }
    }

    /// Index of the integer parameter.
    pub(super) const fn counts(self) -> Option<usize> {
        match self {
            Self::Delay | Self::Limit | Self::Disk | Self::LateDisk | Self::Table => None,
            Self::Servers(_) | Self::Dies(_) => Some(1),
            Self::Disks | Self::PathAndServers(_) | Self::PathAndDies(_) | Self::Device(_) => Some(2),
        }
    }

    /// Meanings of `count` parameters: those of the shape, then those of the bytes.
    pub(super) fn all_meanings(self, count: usize) -> impl Iterator<Item = &'static Meaning> {
        self.meanings().iter().chain(&BYTES).take(count)
    }

    /// Number of parameters for the bytes of operations, if several sizes were measured: the rate of the path, which all
    /// operations share, and that of a server or die.
    fn count_of_bytes(self, points: &[FitPoint]) -> usize {
        match lengths(points) {
            _ if self == Self::Table => 0,
            (low, high) if low == high => 0,
            _ => 1 + usize::from(self.spread().is_some()),
        }
    }

    /// Number of parameters of the shape.
    pub(super) fn count(self) -> usize {
        self.meanings().len()
    }

    /// Distribution of service times.
    pub(super) const fn spread(self) -> Option<Service> {
        match self {
            Self::Delay | Self::Limit | Self::Disk | Self::LateDisk | Self::Disks | Self::Table => None,
            Self::Servers(spread)
            | Self::PathAndServers(spread)
            | Self::Dies(spread)
            | Self::PathAndDies(spread)
            | Self::Device(spread) => Some(spread),
        }
    }

    /// Starting values: from the response time at the lightest load, with various shares of the servers, and from the
    /// rate at the heaviest load.
    pub(super) fn starts(self, points: &[FitPoint]) -> Vec<ShapeParameters> {
        let bytes = [max_bytes_per_second(points) * 1.1, rate_of_bytes(points)];
        let mut starts = self.starts_of_shape(points);
        for start in &mut starts {
            start.extend(&bytes[..self.count_of_bytes(points)]);
        }
        starts
    }

    fn starts_of_shape(self, points: &[FitPoint]) -> Vec<ShapeParameters> {
        let alone_ns = points.first().map_or(1e5, |point| point.mean_ns);
        let max = points.iter().map(|point| point.iops).fold(1.0, f64::max);
        let parts = |start: &dyn Fn(f64, f64, f64) -> ShapeParameters| {
            let part = |part: f64| start((1.0 - part) * alone_ns, part * alone_ns, max * part * alone_ns / 1e9);
            [0.2, 0.5, 0.85].into_iter().map(part).collect()
        };
        match self {
            Self::Table => vec![Vec::new()],
            Self::Delay => vec![vec![alone_ns]],
            Self::Limit => vec![vec![alone_ns, max]],
            Self::Disk => vec![vec![alone_ns, 0.2]],
            Self::LateDisk => vec![vec![alone_ns, 0.2, 1.5], vec![alone_ns, 0.3, 4.0]],
            Self::Disks => {
                let busy = max * alone_ns / 1e9;
                [0.4, 0.7, 1.0].into_iter().map(|share| vec![alone_ns, 0.2, (share * busy).max(2.0)]).collect()
            }
            Self::Servers(_) | Self::Dies(_) => vec![vec![alone_ns, (max * alone_ns / 1e9).max(1.0)]],
            Self::PathAndServers(_) => parts(&|path, time, busy| vec![path, time, busy.max(1.0)]),
            Self::PathAndDies(_) => parts(&|path, time, busy| vec![path, time, (1.2 * busy).max(1.0)]),
            Self::Device(_) => parts(&|path, time, busy| vec![path, time, (1.6 * busy).max(1.0), 1e9 / max]),
        }
    }

    /// Stages with these parameters, for the loads of `points`, behind the stated limits.
    pub(super) fn spec(self, numbers: &[f64], points: &[FitPoint]) -> ChainSpec {
        let limits = points.first().map_or(&[][..], |point| &point.limits);
        let stages = limits.iter().cloned().chain(self.stages(numbers, points)).collect();
        ChainSpec::new(stages).expect("all counts and times are at least 1")
    }

    fn stages(self, numbers: &[f64], points: &[FitPoint]) -> Vec<Named> {
        let (numbers, bytes) = numbers.split_at(self.count());
        let path = || named("path", link(numbers[0], bytes.first()));
        let carried = self.stages_of_shape(numbers, bytes, points, &path);
        let has_path = carried.iter().any(|stage| stage.name.as_deref() == Some("path"));
        // Without a path in the shape, only the bytes take time on it.
        let before = (!bytes.is_empty() && !has_path).then(|| named("path", link(1.0, bytes.first())));
        before.into_iter().chain(carried).collect()
    }

    fn stages_of_shape(
        self,
        numbers: &[f64],
        bytes: &[f64],
        points: &[FitPoint],
        path: &dyn Fn() -> Named,
    ) -> Vec<Named> {
        let largest = Bytes::new(lengths(points).1);
        let write_ns = extra_of_writes(points);
        let rate = bytes.get(1).map(|rate| throughput(*rate));
        let demand = |ns: f64, spread| Demand { rate, ..build_demand(ns, write_ns, spread) };
        let servers = |at: usize, spread| {
            let servers = integer(numbers[at + 1]);
            named("servers", StageSpec::Station { servers, demand: demand(numbers[at], spread) })
        };
        let grain = Bytes::new(largest.get().next_power_of_two().max(4096));
        let dies = |at: usize, spread| {
            let queues = integer(numbers[at + 1]);
            named("dies", StageSpec::Bank { queues, grain, demand: demand(numbers[at], spread) })
        };
        match self {
            Self::Table => vec![named("measured rates", StageSpec::Curve { points: collect_rates(points) })],
            Self::Delay => vec![path()],
            Self::Limit => {
                let rate = Rate::Operations(Iops::from_f64(numbers[1].max(1e-3)));
                vec![named("limit", StageSpec::Limit { rate, burst: 1, unit: None }), path()]
            }
            Self::Disk => {
                vec![named("disk", StageSpec::Disk(build_disk(numbers[0], numbers[1], find_largest_space(points))))]
            }
            Self::LateDisk => {
                let reorders_from = numbers[2].clamp(1.0, f64::from(DISK_QUEUE));
                let late = DiskSpec { reorders_from, ..build_disk(numbers[0], numbers[1], find_largest_space(points)) };
                vec![named("disk", StageSpec::Disk(late))]
            }
            Self::Disks => {
                let members = integer(numbers[2]).max(2);
                let space = Bytes::new(find_largest_space(points).get().div_ceil(u64::from(members)));
                let disk = named("disk", StageSpec::Disk(build_disk(numbers[0], numbers[1], space)));
                let member = ChainSpec::new(vec![disk]).expect("a disk is a stage");
                vec![named("disks", StageSpec::Array { layout: Layout::Stripe, members, interleave: grain, member })]
            }
            Self::Servers(spread) => vec![servers(0, spread)],
            Self::PathAndServers(spread) => vec![path(), servers(1, spread)],
            Self::Dies(spread) => vec![dies(0, spread)],
            Self::PathAndDies(spread) => vec![path(), dies(1, spread)],
            Self::Device(spread) => {
                let demand = Demand::constant(nanos(numbers[3]));
                vec![path(), dies(1, spread), named("pipeline", StageSpec::Station { servers: 1, demand })]
            }
        }
    }
}

/// True if response times rise with the load, which a form without a ceiling does not describe. Stated limits are a
/// ceiling.
fn rises(points: &[FitPoint]) -> bool {
    let heaviest = |a: &&FitPoint, b: &&FitPoint| a.depth().total_cmp(&b.depth());
    let ends = points.iter().min_by(heaviest).zip(points.iter().max_by(heaviest));
    ends.is_some_and(|(light, heavy)| heavy.limits.is_empty() && heavy.mean_ns > RISES * light.mean_ns)
}

/// Additional time of writes over reads in nanoseconds, at the lightest load with both; negative if writes were faster.
pub(super) fn extra_of_writes(points: &[FitPoint]) -> Option<f64> {
    let (reads, writes) = points.iter().find_map(|point| point.kinds)?;
    Some(writes - reads)
}

fn named(name: &str, stage: StageSpec) -> Named {
    Named { stage, name: Some(name.into()) }
}

fn integer(number: f64) -> u32 {
    number.round().clamp(1.0, 4096.0) as u32
}

fn nanos(ns: f64) -> Span {
    Span::from_nanos(ns.round().clamp(1.0, 1e12) as u64)
}

fn link(ns: f64, bytes_per_second: Option<&f64>) -> StageSpec {
    let bandwidth = bytes_per_second.map(|rate| throughput(*rate));
    StageSpec::Link { latency: nanos(ns), bandwidth, duplex: Duplex::Half, paths: 1 }
}

fn throughput(bytes_per_second: f64) -> Throughput {
    Throughput::per_second(bytes_per_second.clamp(1.0, 1e15) as u64)
}

/// Smallest and largest operation in bytes.
fn lengths(points: &[FitPoint]) -> (u64, u64) {
    let all = || points.iter().map(|point| point.workload.length.get());
    (all().min().unwrap_or(4096), all().max().unwrap_or(4096))
}

/// Highest measured bytes per second.
fn max_bytes_per_second(points: &[FitPoint]) -> f64 {
    points.iter().map(|point| point.iops * point.workload.length.get() as f64).fold(1.0, f64::max)
}

/// Bytes per second that an operation alone takes for its size, from the lightest loads of the smallest and the largest.
fn rate_of_bytes(points: &[FitPoint]) -> f64 {
    let (low, high) = lengths(points);
    let alone_ns = |length: u64| {
        let of_length = points.iter().filter(|point| point.workload.length.get() == length);
        of_length.map(|point| point.mean_ns).fold(f64::INFINITY, f64::min)
    };
    let longer_ns = (alone_ns(high) - alone_ns(low)).max(1.0);
    (high - low) as f64 * 1e9 / longer_ns
}

/// Measured rates by depth, from 1 on.
fn collect_rates(points: &[FitPoint]) -> Vec<(u32, Iops)> {
    let mut rates: Vec<(u32, f64)> = points.iter().filter_map(|point| Some((point.closed()?, point.iops))).collect();
    rates.sort_by_key(|(depth, _)| *depth);
    rates.dedup_by_key(|(depth, _)| *depth);
    let from = rates.first().filter(|(depth, _)| *depth > 1).map(|(depth, iops)| (1, iops / f64::from(*depth)));
    from.into_iter().chain(rates.iter().copied()).map(|(depth, iops)| (depth, Iops::from_f64(iops))).collect()
}

fn build_demand(ns: f64, write_ns: Option<f64>, spread: Service) -> Demand {
    let write = write_ns.map(|extra| nanos(ns + extra));
    Demand { write, spread, ..Demand::constant(nanos(ns)) }
}

fn find_largest_space(points: &[FitPoint]) -> Bytes {
    points.iter().map(|point| point.workload.space).max().unwrap_or(Bytes::gib(1))
}

/// A disk with a known sum of seek, half a rotation and transfer.
fn build_disk(alone_ns: f64, gain: f64, space: Bytes) -> DiskSpec {
    let turn = TURN_NS.min(alone_ns);
    let seek = nanos(alone_ns - turn / 2.0);
    let rate = Throughput::per_second(1_000_000_000);
    DiskSpec {
        capacity: space,
        turn: nanos(turn),
        settle: seek,
        seek,
        outer: rate,
        inner: rate,
        gain: gain.clamp(0.0, 1.0),
        reorders_from: 1.0,
        queue: DISK_QUEUE,
        idle: None,
    }
}
