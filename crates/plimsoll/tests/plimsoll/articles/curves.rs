//! Published curves with their calibrated models.

mod generic;

use plimsoll_load::Pace;
use plimsoll_model::ChainSpec;

use crate::articles::mixed_loads;
use crate::articles::scorecard::{Card, Goal, Point, Role};
use crate::articles::shelf::{model, parse_model};
use crate::articles::trial::{Outcome, Trial};

const BLOCK: u64 = 4096;

pub fn build_cards() -> Vec<Card> {
    let device = fitted(&SPDK, [1, 32, 256]);
    let mut cards = vec![nvme(&device), nvme_on_one_processor(&device)];
    cards.extend(SATA.iter().map(sata));
    cards.extend(stripe());
    cards.extend(raid5());
    cards.extend(generic::cards());
    cards.push(transactions());
    cards.extend(ARRAYS.iter().map(array));
    cards.extend(volumes());
    cards.extend(mixed_loads::cards());
    cards
}

/// Operations per second by depth.
type Curve = [(u32, f64)];

/// Simulated random reads of 4 KiB, with enough operations for an accuracy of some tenths of a percent.
fn reads(spec: &ChainSpec, depth: u32, about: f64) -> f64 {
    closed(&Trial::random_reads(BLOCK, depth), spec, about).iops
}

/// The same over `region` bytes.
fn reads_over(spec: &ChainSpec, depth: u32, about: f64, region: u64) -> f64 {
    closed(&Trial::random_reads(BLOCK, depth).over(region), spec, about).iops
}

fn closed(trial: &Trial, spec: &ChainSpec, about: f64) -> Outcome {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some seconds")]
    let ms = (60_000.0 * 1e3 / about).ceil().max(100.0) as u32;
    trial.clone().lasting(ms / 10, ms / 10 * 10).on(spec)
}

fn build_points(curve: &Curve, calibrated: &[u32], modelled: impl Fn(u32, f64) -> f64) -> Vec<Point> {
    let point = |&(depth, published): &(u32, f64)| Point {
        load: format!("depth {depth}"),
        published,
        modelled: modelled(depth, published),
        role: if calibrated.contains(&depth) { Role::Calibrated } else { Role::Predicted },
    };
    curve.iter().map(point).collect()
}

/// The argument at which `rising` reaches `required`, within an interval.
fn bisect(mut low: f64, mut high: f64, required: f64, rising: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        if rising(middle) < required { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

// ---------------------------------------------------------------- flash

/// The model that `plimsoll fit` finds for three points of a curve.
fn fitted(curve: &Curve, depths: [u32; 3]) -> ChainSpec {
    crate::articles::evidence::fitted(&depths.map(|depth| (depth, at(curve, depth))), BLOCK).spec
}

fn at(curve: &Curve, depth: u32) -> f64 {
    curve.iter().find(|(other, _)| *other == depth).expect("a point of the curve").1
}

const SCHEDULERS: &str = "Random reads of 4 KiB on one NVMe drive from Samsung, one process; from the artefact of Ren, Doekemeijer, Apparao and \
     Trivedi, *BFQ, Multiqueue-Deadline, or Kyber?* ([ICPE 2024](https://github.com/stonet-research/icpe24_io_scheduler_study_artifact), \
     figure 1).";

const SPDK: [(u32, f64); 9] = [
    (1, 16_583.1),
    (2, 32_926.5),
    (4, 64_775.9),
    (8, 125_350.5),
    (16, 233_552.0),
    (32, 400_495.6),
    (64, 589_959.3),
    (128, 735_638.7),
    (256, 783_332.6),
];

const URING: [(u32, f64); 9] = [
    (1, 14_482.9),
    (2, 29_294.9),
    (4, 58_102.0),
    (8, 113_033.2),
    (16, 208_334.6),
    (32, 343_263.5),
    (64, 382_914.8),
    (128, 383_286.8),
    (256, 374_207.6),
];

fn nvme(device: &ChainSpec) -> Card {
    Card {
        title: "NVMe drive, SPDK",
        about: SCHEDULERS,
        model: format!("`{device}`: as `plimsoll fit` finds it from depth 1, 32 and 256."),
        unit: "IOPS",
        points: build_points(&SPDK, &[1, 32, 256], |depth, about| reads(device, depth, about)),
        goal: Some(Goal::Worst(0.04)),
        allowed: 0.04,
    }
}

/// The same drive through the kernel, which adds latency and processor time.
fn nvme_on_one_processor(device: &ChainSpec) -> Card {
    let processor_ns = 1e9 / at(&URING, 128);
    let longer = 1e9 / at(&URING, 1) - 1e9 / at(&SPDK, 1) - processor_ns;
    let notation = format!("station(1, {processor_ns:.0}ns) then link({longer:.0}ns) then {device}");
    let spec = parse_model(&notation);
    Card {
        title: "The same NVMe drive, io_uring on one processor",
        about: SCHEDULERS,
        model: format!(
            "`{notation}`: the drive is that of SPDK, without recalibration. The kernel's latency was calibrated at depth 1, \
             its processor time at depth 128."
        ),
        unit: "IOPS",
        points: build_points(&URING, &[1, 128], |depth, about| reads(&spec, depth, about)),
        goal: Some(Goal::Worst(0.04)),
        allowed: 0.06,
    }
}

/// Name, and random reads of 4 KiB per second by depth.
type Measured = (&'static str, [(u32, f64); 7]);

const FIO_PLOT: &str = "Random reads of 4 KiB, one job of fio with `libaio` on the whole device behind an IBM M1015; from the data that \
     [fio-plot](https://github.com/louwrentius/fio-plot) carried until 2020.";

const SATA: [Measured; 4] = [
    (
        "SATA SSD Samsung PM883",
        [(1, 6389.4), (2, 11_626.7), (4, 21_028.3), (8, 34_732.3), (16, 45_389.3), (32, 45_404.5), (64, 45_408.9)],
    ),
    (
        "SATA SSD Intel D3-S4610",
        [(1, 7816.3), (2, 15_110.8), (4, 29_526.6), (8, 49_016.2), (16, 60_764.8), (32, 63_110.3), (64, 63_861.7)],
    ),
    (
        "SATA SSD Samsung 860 Pro",
        [(1, 9211.6), (2, 17_501.6), (4, 33_496.2), (8, 57_384.3), (16, 69_983.1), (32, 74_031.7), (64, 74_015.1)],
    ),
    (
        "SATA SSD Kingston DC500M",
        [(1, 5905.3), (2, 15_634.3), (4, 31_969.1), (8, 55_829.0), (16, 70_922.7), (32, 74_104.5), (64, 74_059.9)],
    ),
];

/// Calibrated at the depth with the shortest response, usually 1, at four times that, and at 32.
fn sata(measured: &Measured) -> Card {
    let (title, curve) = *measured;
    let response = |&(depth, iops): &(u32, f64)| f64::from(depth) / iops;
    let (first, _) = curve.into_iter().min_by(|a, b| response(a).total_cmp(&response(b))).expect("points");
    let depths = [first, 4 * first, 32];
    let spec = fitted(&curve, depths);
    let odd = if first > 1 {
        format!(
            " A single read took {:.0} us, and one of {first} in flight {:.0}: with fewer than {first} the drive slept between reads, which \
             no queue does, and `plimsoll fit` leaves such loads out.",
            1e6 * response(&curve[0]),
            1e6 * f64::from(first) / at(&curve, first)
        )
    } else {
        String::new()
    };
    let mut points = build_points(&curve, &depths, |depth, about| reads(&spec, depth, about));
    points.iter_mut().zip(curve).filter(|(_, (depth, _))| *depth < first).for_each(|(p, _)| p.role = Role::OtherRegime);
    Card {
        title,
        about: FIO_PLOT,
        model: format!("`{spec}`: as `plimsoll fit` finds it from depth {first}, {} and 32.{odd}", depths[1]),
        unit: "IOPS",
        points,
        goal: None,
        allowed: 0.15,
    }
}

// ---------------------------------------------------------------- arrays of drives

const CRUCIAL: &str = "Random reads and writes of 4 KiB, one job of fio with `libaio`: a Crucial MX200 behind an HP H420i, and three of them \
     striped by `mdadm`; from the data that [fio-plot](https://github.com/louwrentius/fio-plot) carried until 2020.";

const ALONE: [[(u32, f64); 7]; 2] = [
    [(1, 6614.1), (2, 13_516.0), (4, 15_510.8), (8, 30_829.3), (16, 47_422.5), (32, 47_336.3), (64, 47_054.1)],
    [(1, 7428.9), (2, 6276.3), (4, 6702.1), (8, 6887.5), (16, 6842.3), (32, 6866.3), (64, 6857.7)],
];

const STRIPED: [[(u32, f64); 7]; 2] = [
    [(1, 6575.5), (2, 13_149.6), (4, 20_880.8), (8, 31_402.4), (16, 62_136.0), (32, 109_691.5), (64, 138_906.2)],
    [(1, 12_781.3), (2, 14_650.7), (4, 20_511.6), (8, 20_969.3), (16, 20_699.9), (32, 20_790.2), (64, 20_780.1)],
];

/// The members as measured separately.
fn stripe() -> Vec<Card> {
    let [reads_alone, writes_alone] = &ALONE;
    let pairs: Vec<String> = reads_alone.iter().map(|(depth, iops)| format!("{depth}: {iops}")).collect();
    let measured = format!("stripe(3, 64KiB: curve({}))", pairs.join(", "));
    // Alone the drive writes as fast with one operation in flight as with 64: its memory absorbs writes and drains at this rate.
    let drain = at(writes_alone, 64) * BLOCK as f64 / 1e6;
    let accepted_us = 1e6 / at(&STRIPED[1], 1);
    let buffered = format!("stripe(3, 64KiB: link({accepted_us:.1}us) then buffer(1MiB, drain {drain:.2}MB/s))");
    let (reading, writing) = (parse_model(&measured), parse_model(&buffered));
    let written = |depth, about| closed(&Trial::random_reads(BLOCK, depth).writes(), &writing, about).iops;
    vec![
        Card {
            title: "Stripe of three SATA SSDs, reads",
            about: CRUCIAL,
            model: format!(
                "`{measured}`: a member has the measured curve of a single drive, without calibration on the stripe. At depth 4 and \
                 8 the two measurements differ: alone, 4 in flight took 258 us each where 2 took 148."
            ),
            unit: "IOPS",
            points: build_points(&STRIPED[0], &[], |depth, about| reads(&reading, depth, about)),
            goal: Some(Goal::Median(0.03)),
            allowed: 0.30,
        },
        Card {
            title: "Stripe of three SATA SSDs, writes",
            about: CRUCIAL,
            model: format!(
                "`{buffered}`: alone, a drive writes as fast with 1 in flight as with 64. That is no queue but the rate at which its \
                 memory drains, so a member is a buffer with this drain, measured alone at depth 64. How long the memory takes to accept a \
                 write is hidden alone; it was calibrated on the stripe at depth 1. At depth 2 the stripe took 137 us for a \
                 write, and at depth 1 78 us; alone the drive lost 16 % from depth 1 to 2, too. No stage explains it."
            ),
            unit: "IOPS",
            points: build_points(&STRIPED[1], &[1], written),
            goal: Some(Goal::Median(0.03)),
            allowed: 0.45,
        },
    ]
}

const EIGHT_DISKS: &str = "Random reads and writes of 4 KiB in a file of 100 GB on eight disks of 2 TB as RAID 5 of `mdadm`, one job of fio with \
     `libaio`; from the data that [fio-plot](https://github.com/louwrentius/fio-plot) carried until 2020.";

const RAID5: [[(u32, f64); 7]; 2] = [
    [(1, 106.1), (2, 203.1), (4, 357.8), (8, 576.2), (16, 845.7), (32, 1140.3), (64, 1466.7)],
    [(1, 32.6), (2, 76.9), (4, 130.1), (8, 232.6), (16, 273.9), (32, 338.1), (64, 386.8)],
];

fn raid5() -> Vec<Card> {
    let of_disks = |positioning_ms: f64, gain: f64| {
        // Half a rotation at 7,200 per minute is 4.17 ms.
        let seek = (positioning_ms - 4.167).max(0.1);
        format!(
            "raid5(8, 512KiB: disk(2TB, 7200rpm, seek {seek:.3}ms to {seek:.3}ms, 150MB/s to 150MB/s, queue 32 gain {gain:.3}))"
        )
    };
    let curve = &RAID5[0];
    let positioning_ms = 1e3 / at(curve, 1) - 0.027;
    let gain = bisect(0.0, 0.6, at(curve, 64), |gain| reads(&parse_model(&of_disks(positioning_ms, gain)), 64, 1466.7));
    let notation = of_disks(positioning_ms, gain);
    let spec = parse_model(&notation);
    let writes = |depth, about| closed(&Trial::random_reads(BLOCK, depth).writes(), &spec, about).iops;
    vec![
        Card {
            title: "RAID 5 of eight disks, reads",
            about: EIGHT_DISKS,
            model: format!("`{notation}`: positioning calibrated at depth 1, the gain of the queue at depth 64."),
            unit: "IOPS",
            points: build_points(curve, &[1, 64], |depth, about| reads(&spec, depth, about)),
            goal: Some(Goal::Worst(0.05)),
            allowed: 0.10,
        },
        Card {
            title: "RAID 5 of eight disks, writes",
            about: EIGHT_DISKS,
            model: "The disks of the reads, without calibration on the writes. Two reads and two writes for each: excludes the metadata of the \
                    array and the file system's journal."
                .into(),
            unit: "IOPS",
            points: build_points(&RAID5[1], &[], writes),
            goal: None,
            allowed: 0.60,
        },
    ]
}

// ---------------------------------------------------------------- transactions

/// Provisioned IOPS in thousands and mean transactions per second.
const TPCC: [(u32, f64); 30] = [
    (1, 22.0847),
    (2, 57.7479),
    (3, 95.4074),
    (4, 135.837),
    (5, 176.244),
    (6, 219.631),
    (7, 263.428),
    (8, 309.44),
    (9, 354.385),
    (10, 399.965),
    (11, 444.285),
    (12, 492.067),
    (13, 538.058),
    (14, 584.66),
    (15, 632.328),
    (16, 679.587),
    (17, 725.515),
    (18, 773.928),
    (19, 818.756),
    (20, 864.249),
    (21, 912.696),
    (22, 959.049),
    (23, 1007.08),
    (24, 1050.52),
    (25, 1072.15),
    (26, 1074.38),
    (27, 1072.35),
    (28, 1074.31),
    (29, 1026.23),
    (30, 1026.01),
];
/// Thousands of IOPS from which the volume's throughput is the limit.
const WIDE: u32 = 25;

/// Operations per transaction: `fixed + shared / tps^exponent`. Shared operations are page and log writes, which serve
/// more transactions at higher rates.
#[derive(Clone, Copy)]
struct Operations {
    fixed: f64,
    shared: f64,
    exponent: f64,
}

impl Operations {
    fn calibrated(depths: [u32; 3]) -> Self {
        let [low, middle, high] = depths.map(|thousands| {
            let tps = at(&TPCC, thousands);
            (tps, f64::from(thousands) * 1e3 / tps)
        });
        let with = |exponent: f64| {
            let share = |tps: f64| tps.powf(-exponent);
            let shared = (low.1 - high.1) / (share(low.0) - share(high.0));
            Self { fixed: low.1 - shared * share(low.0), shared, exponent }
        };
        // A larger exponent lowers the curve earlier.
        with(bisect(0.05, 2.0, -middle.1, |exponent| -with(exponent).each(middle.0)))
    }

    fn each(&self, tps: f64) -> f64 {
        self.fixed + self.shared * tps.powf(-self.exponent)
    }

    /// Transactions per second for a rate of operations.
    fn tps(&self, iops: f64) -> f64 {
        bisect(0.01, 10_000.0, iops, |tps| tps * self.each(tps))
    }
}

fn transactions() -> Card {
    let calibrated = [1, 4, 20];
    let operations = Operations::calibrated(calibrated);
    let Operations { fixed, shared, exponent } = operations;
    let point = |&(thousands, published): &(u32, f64)| Point {
        load: format!("{thousands},000 IOPS"),
        published,
        modelled: operations.tps(f64::from(thousands) * 1e3),
        role: match thousands {
            _ if calibrated.contains(&thousands) => Role::Calibrated,
            WIDE.. => Role::OtherRegime,
            _ => Role::Predicted,
        },
    };
    Card {
        title: "EBS io1 from 1,000 to 30,000 IOPS under TPC-C",
        about: "InnoDB on AWS io1 volumes of 1 TB, c5.9xlarge, 32 threads of sysbench-tpcc on 500 GB, an hour for each number of IOPS: means \
                of the seconds that V. Tkachenko published with \
                [Scaling IO-Bound Workloads for MySQL in the Cloud](https://www.percona.com/blog/2018/08/29/scaling-io-bound-workloads-mysql-cloud/) \
                (2018).",
        model: format!(
            "A law, not a simulation: the volume's limit is always reached, and a transaction takes `{fixed:.1} + {shared:.0} / \
             tps^{exponent:.2}` operations, calibrated at 1,000, 4,000 and 20,000 IOPS. From 25,000 IOPS on transactions stay at 1,073 a \
             second: there the throughput of the volume binds, which the source names and does not give in numbers."
        ),
        unit: "tps",
        points: TPCC.iter().map(point).collect(),
        goal: Some(Goal::Worst(0.02)),
        allowed: 0.02,
    }
}

// ---------------------------------------------------------------- flash arrays

/// Title, source, operations per second and mean latency in milliseconds, and the number of points in the first regime.
type Published = (&'static str, &'static str, &'static [(f64, f64)], usize);

const ARRAYS: [Published; 5] = [
    (
        "NetApp AFF A900, two nodes",
        "SPECstorage Solution 2020 swbuild, [result 00055](https://www.spec.org/storage2020/results/res2023q4/storage2020-20231002-00055.html), 2023.",
        &[
            (95_003.0, 0.6),
            (190_007.0, 0.5),
            (285_010.0, 0.5),
            (380_013.0, 0.6),
            (475_017.0, 0.6),
            (570_018.0, 0.6),
            (665_021.0, 0.7),
            (760_015.0, 0.8),
            (855_010.0, 3.2),
            (949_973.0, 4.9),
        ],
        8,
    ),
    (
        "NetApp AFF A90, eight nodes",
        "SPECstorage Solution 2020 eda_blended, [result 00080](https://www.spec.org/storage2020/results/res2024q3/storage2020-20240708-00080.html), 2024.",
        &[
            (364_520.0, 0.4),
            (729_040.0, 0.4),
            (1_093_560.0, 0.4),
            (1_458_079.0, 0.5),
            (1_822_600.0, 0.6),
            (2_187_119.0, 0.8),
            (2_551_642.0, 1.1),
            (2_916_162.0, 1.5),
            (3_280_653.0, 2.6),
            (3_644_870.0, 4.9),
        ],
        10,
    ),
    (
        "Azure NetApp Files, six large volumes",
        "SPECstorage Solution 2020 eda_blended, [result 00142](https://www.spec.org/storage2020/results/res2025q4/storage2020-20250929-00142.txt), 2025.",
        &[
            (316_817.0, 0.3),
            (633_634.0, 0.3),
            (950_453.0, 0.3),
            (1_267_250.0, 0.3),
            (1_584_076.0, 0.4),
            (1_900_875.0, 0.4),
            (2_217_683.0, 0.4),
            (2_534_490.0, 0.4),
            (2_851_300.0, 0.4),
            (3_168_158.0, 0.5),
            (3_484_890.0, 0.5),
            (3_801_696.0, 0.6),
            (4_118_539.0, 0.8),
            (4_435_382.0, 1.5),
            (4_745_453.0, 3.8),
        ],
        15,
    ),
    (
        "Azure NetApp Files, one large volume",
        "SPECstorage Solution 2020 eda_blended, [result 00143](https://www.spec.org/storage2020/results/res2025q4/storage2020-20250929-00143.txt), 2025.",
        &[
            (49_502.0, 0.3),
            (99_005.0, 0.3),
            (148_508.0, 0.3),
            (198_011.0, 0.3),
            (247_513.0, 0.3),
            (297_016.0, 0.4),
            (346_519.0, 0.4),
            (396_022.0, 0.4),
            (445_524.0, 0.4),
            (495_022.0, 0.4),
            (544_530.0, 0.4),
            (594_033.0, 0.4),
            (643_536.0, 0.5),
            (693_038.0, 0.7),
            (742_541.0, 1.0),
            (792_046.0, 2.3),
        ],
        16,
    ),
    (
        "Azure NetApp Files, breakthrough mode",
        "SPECstorage Solution 2020 eda_blended, [result 00147](https://www.spec.org/storage2020/results/res2026q2/storage2020-20260227-00147.txt), 2026.",
        &[
            (86_405.0, 0.3),
            (172_810.0, 0.3),
            (259_214.0, 0.3),
            (345_607.0, 0.3),
            (432_007.0, 0.4),
            (518_429.0, 0.4),
            (604_834.0, 0.4),
            (691_238.0, 0.4),
            (777_643.0, 0.4),
            (864_048.0, 0.5),
            (950_452.0, 0.5),
            (1_036_598.0, 0.7),
            (1_123_134.0, 0.6),
            (1_209_647.0, 1.1),
            (1_296_040.0, 1.6),
        ],
        15,
    ),
];

/// `path + wait * load^3 / (1 - load)`, where the load is the rate divided by the capacity: the wait for one of several
/// servers with a common queue (Sakasegawa 1977), `load^(sqrt(2(k + 1)) - 1)` with 7 servers.
struct Slope {
    path_ms: f64,
    wait_ms: f64,
    capacity: f64,
}

/// `sqrt(2(k + 1)) - 1` for 7 servers: chosen with all five curves in view, and the same for all.
const SHARED_QUEUE: i32 = 3;

impl Slope {
    fn calibrated([low, middle, high]: [(f64, f64); 3]) -> Self {
        let with = |capacity: f64| {
            let growth = |rate: f64| Self { path_ms: 0.0, wait_ms: 1.0, capacity }.ms(rate);
            let wait_ms = (high.1 - low.1) / (growth(high.0) - growth(low.0));
            Self { path_ms: low.1 - wait_ms * growth(low.0), wait_ms, capacity }
        };
        // With a larger capacity, more of the wait shows at the middle rate.
        with(bisect(high.0 * (1.0 + 1e-9), high.0 * 10.0, middle.1, |capacity| with(capacity).ms(middle.0)))
    }

    fn ms(&self, rate: f64) -> f64 {
        let load = rate / self.capacity;
        if load < 1.0 { self.path_ms + self.wait_ms * load.powi(SHARED_QUEUE) / (1.0 - load) } else { f64::INFINITY }
    }
}

fn array(published: &Published) -> Card {
    let (title, about, curve, regime) = *published;
    let chosen = [0, regime - 2, regime - 1];
    let slope = Slope::calibrated(chosen.map(|index| curve[index]));
    let Slope { path_ms, wait_ms, capacity } = slope;
    let point = |(index, &(rate, ms)): (usize, &(f64, f64))| Point {
        load: format!("{} op/s", crate::articles::page::number(rate)),
        published: ms,
        modelled: slope.ms(rate),
        role: match index {
            _ if chosen.contains(&index) => Role::Calibrated,
            _ if index >= regime => Role::OtherRegime,
            _ => Role::Predicted,
        },
    };
    let falls = curve[..regime].windows(2).any(|pair| pair[1].1 < pair[0].1 && pair[0].1 > 1.2 * curve[0].1);
    let jagged = if falls {
        " Published latencies fall where the load rises, from 0.7 to 0.6 ms, which no law that rises with the load can follow."
    } else {
        ""
    };
    let change = if regime < curve.len() {
        " Beyond 760,000 a second something else than a queue binds: latency becomes four times as much at once, and no queue that fits \
         the points before does that."
    } else {
        ""
    };
    Card {
        title,
        about,
        model: format!(
            "A law, not a simulation: `{path_ms:.3} ms + {wait_ms:.3} ms * load^3 / (1 - load)`, where the load is the rate over \
             {capacity:.0} a second, and the exponent that of 7 servers with a common queue, for all arrays alike; calibrated at the lowest load \
             and at the two highest before another regime begins. Latencies are published in tenths of a \
             millisecond, so up to 0.05 ms of a difference are their rounding.{change}{jagged}"
        ),
        unit: "ms",
        points: curve.iter().enumerate().map(point).collect(),
        goal: Some(Goal::Difference(0.1)),
        allowed: 0.4,
    }
}

// ---------------------------------------------------------------- network volumes

const LOGS: &str = "fio on OCI ultra-high-performance volumes over iSCSI, E5.Flex, from logs published in 2026: four jobs at depth 32 unless the row \
     states otherwise.";

/// A row: load, measured value, configuration, depth, bytes, share of reads.
struct Row {
    load: &'static str,
    published: f64,
    config: &'static str,
    depth: u32,
    size: u64,
    reads: f64,
    role: Role,
}

const fn row(
    load: &'static str,
    published: f64,
    config: &'static str,
    (depth, size, reads): (u32, u64, f64),
    role: Role,
) -> Row {
    Row { load, published, config, depth, size, reads, role }
}

const MIB: u64 = 1 << 20;
/// As the agent of the cloud configures it: five paths, all in use, a queue of 128 on each.
const FIVE: &str = "oci:1500GB@120vpu on oci/VM.Standard.E5.Flex:16ocpu";
/// A session of open-iscsi with its own defaults.
const ONE: &str = "oci:1500GB@120vpu,multipath=no on oci/VM.Standard.E5.Flex:16ocpu";
/// The same on a larger machine.
const FIVE_OF_40: &str = "oci:1500GB@120vpu on oci/VM.Standard.E5.Flex:40ocpu";
const ONE_OF_40: &str = "oci:1500GB@120vpu,multipath=no on oci/VM.Standard.E5.Flex:40ocpu";

/// Operations per second of 4 and 8 KiB.
const SMALL: [Row; 7] = [
    row("1,500 GB at 120 VPU, five paths, 4 KiB, 70 % reads", 181_834.0, FIVE, (128, BLOCK, 0.7), Role::Calibrated),
    row("the same, one path", 46_623.0, ONE, (128, BLOCK, 0.7), Role::Predicted),
    row("1,500 GB at 120 VPU, one path, 4 KiB, 50 % reads", 48_066.0, ONE_OF_40, (128, BLOCK, 0.5), Role::Predicted),
    row(
        "50 GB at 10 VPU, 4 KiB, 50 % reads",
        3040.0,
        "oci:50GB on oci/VM.Standard.E5.Flex:2ocpu",
        (128, BLOCK, 0.5),
        Role::Predicted,
    ),
    row(
        "two of 200 GB at 10 VPU, 8 KiB, 70 % reads, depth 64",
        23_967.0,
        "stripe(2,64KiB) of oci:200GB on oci/VM.Standard.E5.Flex:8ocpu",
        (64, 8192, 0.7),
        Role::Predicted,
    ),
    row(
        "two of 200 GB at 50 VPU, one path each, 8 KiB, depth 64",
        48_019.0,
        "stripe(2,64KiB) of oci:200GB@50vpu on oci/VM.Standard.E5.Flex:4ocpu",
        (64, 8192, 0.7),
        Role::Predicted,
    ),
    row(
        "two of 200 GB at 120 VPU, 8 KiB, 70 % reads, depth 64",
        78_762.0,
        "stripe(2,64KiB) of oci:200GB@120vpu on oci/VM.Standard.E5.Flex:40ocpu",
        (64, 8192, 0.7),
        Role::Predicted,
    ),
];

/// Megabytes per second of 1 MiB.
const LARGE: [Row; 3] = [
    row("1,500 GB at 120 VPU, one path, reads", 699.0, ONE, (128, MIB, 1.0), Role::Calibrated),
    row("the same, five paths, 16 OCPUs", 2075.0, FIVE, (128, MIB, 1.0), Role::Predicted),
    row("1,500 GB at 120 VPU, reads and writes, depth 1, 40 OCPUs", 384.5, FIVE_OF_40, (1, MIB, 0.5), Role::Predicted),
];

/// Mean response times of reads in milliseconds, from the logs of the first rows.
const READ_TIMES: [Row; 4] = [
    row("five paths, 4 KiB, 70 % reads", 0.676, FIVE, (128, BLOCK, 0.7), Role::Calibrated),
    row("one path, 4 KiB, 70 % reads", 2.91, ONE, (128, BLOCK, 0.7), Role::Predicted),
    row("five paths, 1 MiB, reads", 64.4, FIVE, (128, MIB, 1.0), Role::Predicted),
    row("one path, 1 MiB, reads", 192.0, ONE, (128, MIB, 1.0), Role::Predicted),
];

fn volumes() -> Vec<Card> {
    let small = |row: &Row, about: f64| {
        let trial =
            Trial { pace: Pace::Closed { depth: row.depth }, ..Trial::random_reads(row.size, 1).mixed(row.reads) };
        closed(&trial, &model(row.config), about)
    };
    let large = |row: &Row| {
        let trial =
            Trial { pace: Pace::Closed { depth: row.depth }, ..Trial::random_reads(row.size, 1).mixed(row.reads) };
        trial.lasting(1_000, 5_000).on(&model(row.config))
    };
    let points = |rows: &[Row], modelled: &dyn Fn(&Row) -> f64| {
        let point = |row: &Row| Point {
            load: row.load.into(),
            published: row.published,
            modelled: modelled(row),
            role: row.role,
        };
        rows.iter().map(point).collect()
    };
    vec![
        Card {
            title: "OCI ultra high performance, small operations",
            about: LOGS,
            model: "`oci` of the catalogue on the machine of the logs, as `plimsoll simulate` takes it: times of reads and writes calibrated on the \
                    first row; on each path 113 operations in flight with the agent of the cloud, 32 without. A \
                    machine of 4 OCPUs has one path, in the row of 50 VPU. The model is blind to light loads, too: it \
                    gives 730 us for a write alone, and on a volume of 20 VPU one took 395 us."
                .into(),
            unit: "IOPS",
            points: points(&SMALL, &|row: &Row| small(row, row.published).iops),
            goal: Some(Goal::Worst(0.10)),
            allowed: 0.20,
        },
        Card {
            title: "OCI ultra high performance, large operations",
            about: LOGS,
            model: "The same; the rate of a path calibrated on the first row. The limit of the second is the documented one of the machine, 120 MB/s \
                    for each Gbit/s. The third row was one job that read and wrote by turns, one operation of 1 MiB at a time: what \
                    the initiator and the network need for one operation besides the transfer over a path is not in the model."
                .into(),
            unit: "MB/s",
            points: points(&LARGE, &|row: &Row| large(row).mb()),
            goal: Some(Goal::Worst(0.10)),
            allowed: 0.30,
        },
        Card {
            title: "OCI ultra high performance, response times",
            about: LOGS,
            model: "The same models; reads of a volume of 1,500 GB at 120 VPU on 16 OCPUs. With a failover policy of multipath, \
                    which is the default of multipath-tools, five paths answer as one does."
                .into(),
            unit: "ms",
            points: points(&READ_TIMES, &|row: &Row| {
                if row.size == MIB { large(row).read_ms } else { small(row, 50_000.0).read_ms }
            }),
            goal: Some(Goal::Worst(0.10)),
            allowed: 0.20,
        },
    ]
}
