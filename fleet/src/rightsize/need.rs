//! The need of a volume: its busiest points as operations that a configuration has to carry at the same time.

use plimsoll_catalogue::{Ask, Offer};
use plimsoll_model::analytic::Workload;
use plimsoll_units::Bytes;

use crate::replay::Verdict;

/// Concurrent operations, each kind with its operations per second.
pub type NeedMix = Vec<(Ask, f64)>;

/// The part of the time whose points have to be carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum CarriedShare {
    /// The busiest point
    Max,
    /// 99.99 % of the time
    #[value(name = "99.99")]
    P9999,
    /// 99.9 % of the time
    #[value(name = "99.9")]
    P999,
    /// 99 % of the time
    #[value(name = "99")]
    P99,
}

/// The need of a volume.
#[derive(Clone, Debug, PartialEq)]
pub struct VolumeNeed {
    /// The point with the most operations, and the point with the most bytes.
    pub mixes: Vec<NeedMix>,
    /// Operations per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_second: f64,
}

/// Size of operations whose bytes are unknown, for limits that count operations.
const SMALL: u64 = 4_096;
/// Size of operations that use the throughput which has to stay.
const LARGE: u64 = 256 << 10;

impl VolumeNeed {
    /// The need of a verdict. With unknown bytes the throughput of today's offer has to stay, `room` not included.
    pub fn of(verdict: &Verdict, percentile: CarriedShare, today: &Offer, room: f64) -> Self {
        let at = |peak: &[i64; 7], quantiles: &[i64; 3]| {
            let bound = match percentile {
                CarriedShare::Max => peak[0],
                CarriedShare::P9999 => quantiles[2],
                CarriedShare::P999 => quantiles[1],
                CarriedShare::P99 => quantiles[0],
            };
            let share = if peak[0] > 0 { bound.min(peak[0]) as f64 / peak[0] as f64 } else { 0.0 };
            mix_of(peak, share)
        };
        let mut mixes = vec![
            at(&verdict.operations_peak, &verdict.operations_quantiles),
            at(&verdict.bytes_peak, &verdict.bytes_quantiles),
        ];
        mixes.retain(|mix| !mix.is_empty());
        let sum = |mix: &NeedMix, of: fn(&(Ask, f64)) -> f64| mix.iter().map(of).sum::<f64>();
        let highest = |of: fn(&(Ask, f64)) -> f64| mixes.iter().map(|mix| sum(mix, of)).fold(0.0, f64::max);
        let iops = highest(|(_, rate)| *rate);
        let bytes_per_second = highest(|(ask, rate)| ask.block.get() as f64 * rate);
        if verdict.points_without_bytes > 0 {
            let ask = Ask { block: Bytes::new(LARGE), reads: 0.5, sequential: false };
            let present = today.standing(&ask).binding().map_or(0.0, |bound| bound.iops);
            // A limit that counts these operations, too, must not be exceeded by them alone.
            if present > 0.0 {
                mixes.push(vec![(ask, present / room)]);
            }
        }
        Self { mixes, iops, bytes_per_second }
    }

    /// The need of a throttled volume: at least the present limits, in operations of each mix.
    pub fn raise_to(&mut self, today: &Offer) {
        for mix in &mut self.mixes {
            let rate: f64 = mix.iter().map(|(_, rate)| rate).sum();
            let present = today.standing_of(mix).binding().map_or(0.0, |bound| bound.iops);
            if present > rate {
                for (_, part) in mix.iter_mut() {
                    *part *= present / rate;
                }
            }
        }
    }
}

/// Reads and writes of a point.
fn mix_of(peak: &[i64; 7], share: f64) -> NeedMix {
    let [_, _, period, reads, writes, read_bytes, write_bytes] = *peak;
    let kind = |operations: i64, bytes: i64, reads: f64| {
        let rate = operations as f64 / period.max(1) as f64 * share;
        let block = if bytes > 0 { Bytes::new((bytes / operations.max(1)).max(512) as u64) } else { Bytes::new(SMALL) };
        (rate > 0.0).then_some((Ask { block, reads, sequential: false }, rate))
    };
    kind(reads, read_bytes, 1.0).into_iter().chain(kind(writes, write_bytes, 0.0)).collect()
}

/// Mean operations of a volume, as input of the analytic solution, with their rate per second. Those of an idle volume
/// are single small reads and writes.
pub fn mean_workload(verdict: &Verdict) -> (Workload, f64) {
    let [reads, writes, read_bytes, write_bytes] = verdict.total.map(|total| total as f64);
    let operations = reads + writes;
    let is_idle = verdict.total[0] + verdict.total[1] == 0;
    let (reads, length) = if is_idle {
        (0.5, Bytes::new(SMALL))
    } else {
        (reads / operations, Bytes::new(((read_bytes + write_bytes) / operations).max(512.0) as u64))
    };
    // So large that caches of products do not help.
    let space = Bytes::gib(64);
    let workload = Workload { reads, durable: 0.0, flushes: 0.0, length, sequential: 0.0, space };
    (workload, if is_idle { 1.0 } else { operations / verdict.seconds as f64 })
}
