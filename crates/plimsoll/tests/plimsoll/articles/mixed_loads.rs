//! OLTP, redo log and backup on one volume: operations of different sizes behind the same limits.

use std::ops::ControlFlow;

use plimsoll_drive::{Rules, Simulated, drive};
use plimsoll_load::{Arrival, BlockMix, Mix, Pace, Pattern, Region, StreamPhase, StreamSpec, Streams};
use plimsoll_model::Chain;
use plimsoll_record::Bins;
use plimsoll_units::{Bytes, Instant, Iops, Span};

use crate::articles::scorecard::{Card, Goal, Point, Role};
use crate::articles::shelf::model;

const MIB: u64 = 1 << 20;
const WARM_UP_S: u64 = 2;
const COUNTED_S: u64 = 20;
/// The backup's own pace: 120 MiB/s in each direction.
const PACE: Pace = Pace::Open { rate: Iops::per_second(240), arrival: Arrival::Constant };
/// The backup as it was where the volume did not reach that pace.
const AT_DEPTH: Pace = Pace::Closed { depth: 8 };

const ABOUT: &str = "fio on one OCI volume of 600 GB over iSCSI, E5.Flex, from logs published in 2026 (rstyczynski/oci_bv4db_arch, sprints 8 \
     to 10): 64 operations of 8 KiB in flight, 70 % reads; a redo log; and a backup of 1 MiB at depth 8, half reads, paced at 120 MiB/s in \
     each direction, which it reached at 20 and 120 VPU.";

/// A published run: configuration, pace of the backup, operations of 8 KiB per second, mean response time of 1 MiB.
struct Mixed {
    load: &'static str,
    config: &'static str,
    backup: Pace,
    small_iops: f64,
    large_ms: f64,
    roles: [Role; 2],
}

const RUNS: [Mixed; 4] = [
    Mixed {
        load: "VPU 10, 8 OCPUs",
        config: "oci:600GB@10vpu on oci/VM.Standard.E5.Flex:8ocpu",
        backup: AT_DEPTH,
        small_iops: 9_136.0,
        large_ms: 38.3,
        roles: [Role::Calibrated; 2],
    },
    Mixed {
        load: "VPU 0, 2 OCPUs",
        config: "oci:600GB@0vpu on oci/VM.Standard.E5.Flex:2ocpu",
        backup: AT_DEPTH,
        small_iops: 1_078.0,
        large_ms: 316.0,
        roles: [Role::Calibrated; 2],
    },
    Mixed {
        load: "VPU 20, 8 OCPUs",
        config: "oci:600GB@20vpu on oci/VM.Standard.E5.Flex:8ocpu",
        backup: PACE,
        small_iops: 14_134.0,
        large_ms: 24.3,
        roles: [Role::Predicted; 2],
    },
    Mixed {
        load: "VPU 120, 40 OCPUs, one path in use",
        config: "oci:600GB@120vpu,policy=failover on oci/VM.Standard.E5.Flex:40ocpu",
        backup: PACE,
        small_iops: 27_270.0,
        large_ms: 7.7,
        roles: [Role::Predicted, Role::OtherRegime],
    },
];

pub fn cards() -> Vec<Card> {
    let results: Vec<(f64, f64)> = RUNS.iter().map(simulate).collect();
    let points = |published: fn(&Mixed) -> f64, modelled: fn(&(f64, f64)) -> f64, role: usize| {
        let point = |(run, result): (&Mixed, &(f64, f64))| Point {
            load: run.load.into(),
            published: published(run),
            modelled: modelled(result),
            role: run.roles[role],
        };
        RUNS.iter().zip(&results).map(point).collect()
    };
    vec![
        Card {
            title: "OCI, OLTP beside a backup on one volume",
            about: ABOUT,
            model: "`oci` of the catalogue on the machine of the logs. Operations pass the limits in pieces of 192 KiB, in turn, \
                    which is calibrated on the first two rows. At VPU 20 the volume's throughput binds, at VPU 120 the queue of \
                    32 of the one iSCSI session that a failover policy uses. Not in the model: the journal of the file system \
                    that the redo log forced at each write."
                .into(),
            unit: "IOPS",
            points: points(|run| run.small_iops, |result| result.0, 0),
            goal: Some(Goal::Worst(0.15)),
            allowed: 0.15,
        },
        Card {
            title: "OCI, a backup beside OLTP on one volume",
            about: ABOUT,
            model: "The same: mean response times of the operations of 1 MiB, from the mean of reads and writes. In the last row \
                    the multipath device passed 1 MiB on in parts of some 50 KiB, each of which took a place of the queue: the \
                    model sends it as one command."
                .into(),
            unit: "ms",
            points: points(|run| run.large_ms, |result| result.1, 1),
            goal: Some(Goal::Worst(0.15)),
            allowed: 0.15,
        },
    ]
}

/// Operations of 8 KiB per second, and the mean response time of 1 MiB in milliseconds.
fn simulate(run: &Mixed) -> (f64, f64) {
    let stream = |name: &str, (size, reads): (u64, f64), pattern: Pattern, part: u64, pace: Pace| StreamSpec {
        name: name.into(),
        mix: Mix { sizes: BlockMix::one(Bytes::new(size)), reads, durable: false, flush_every: 0 },
        pattern,
        region: Region { start: part << 35, length: Bytes::gib(16) },
        pace,
    };
    let specs = [
        stream("oltp", (8192, 0.7), Pattern::Uniform, 0, Pace::Closed { depth: 64 }),
        stream("redo", (4096, 0.0), Pattern::Sequential, 1, Pace::Closed { depth: 1 }),
        stream("backup", (MIB, 0.5), Pattern::Sequential, 2, run.backup),
    ];
    let end = Instant::ZERO + Span::from_secs(WARM_UP_S + COUNTED_S);
    let phase = StreamPhase { end, ..StreamPhase::unbounded(Instant::ZERO) };
    let mut load = Streams::new(&specs, 7, phase).expect("regions hold blocks");
    let mut target = Simulated::new(Chain::new(&model(run.config), 7));
    let rules = Rules::new(4096, Span::from_secs(1));
    let done =
        drive(&mut target, &mut load, &rules, &mut |_| ControlFlow::Continue(())).expect("models have no faults");
    let (mut small, mut large) = (Bins::default(), Bins::default());
    for slice in done.series.iter().skip(WARM_UP_S as usize).take(COUNTED_S as usize) {
        small.merge(&slice.tally.response_where(|counter| counter.stream == 0));
        large.merge(&slice.tally.response_where(|counter| counter.stream == 2));
    }
    (small.count as f64 / COUNTED_S as f64, large.mean().map_or(f64::NAN, Span::as_millis_f64))
}

/// The doubt of the product about sizes states how far the paths together are from the single path of the published run.
#[test]
fn paths_together_carry_several_times_the_rate_of_the_published_single_path() {
    let [.., single] = &RUNS;
    let together = Mixed { config: "oci:600GB@120vpu on oci/VM.Standard.E5.Flex:40ocpu", ..*single };
    let times = simulate(&together).0 / simulate(single).0;
    assert!((2.5..2.9).contains(&times), "{times}");
    let doubts = include_str!("../../../../../catalogue/oci/block-volume.toml");
    assert!(
        doubts.contains("policy=failover), both beside a backup paced") && doubts.contains("gives 2.6 to 2.8 times")
    );
}
