//! The demand of each window, over all classes.

use plimsoll_ingest::{DatabaseDemand, Measure, MeasureSeries, Statistic};
use plimsoll_model::analytic::Workload;
use plimsoll_units::Bytes;

use crate::sizing::{ClassLoad, ClassWindows};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowDemand {
    /// Operations a second.
    pub iops: f64,
    /// Mean bytes of an operation.
    pub size_bytes: f64,
    /// Share of reads, 0 to 1.
    pub reads: f64,
}

/// Size assumed for a window without operations.
const USUAL_BYTES: f64 = 8_192.0;

impl WindowDemand {
    /// As input of the analytic solution, uniform over a volume of `space`.
    pub fn workload(&self, space: Bytes) -> Workload {
        Workload {
            reads: self.reads,
            durable: 0.0,
            flushes: 0.0,
            length: Bytes::new((self.size_bytes + 0.5).max(512.0) as u64),
            sequential: 0.0,
            space,
        }
    }
}

/// The demand of a subject for each of its slots, where known.
pub fn demand_over_time(subject: &DatabaseDemand) -> Vec<Option<WindowDemand>> {
    let mut windows = ClassWindows::new(subject);
    (0..subject.slots.len()).map(|slot| in_slot(subject, slot, &windows.classes(slot))).collect()
}

fn in_slot(subject: &DatabaseDemand, slot: usize, classes: &[ClassLoad]) -> Option<WindowDemand> {
    let sum = |of: fn(&ClassLoad) -> f64| classes.iter().map(of).sum::<f64>();
    let iops = sum(|load| load.iops);
    if iops > 0.0 {
        let reads = (sum(|load| load.iops * load.reads) / iops).clamp(0.0, 1.0);
        return Some(WindowDemand { iops, size_bytes: sum(|load| load.bytes_per_second) / iops, reads });
    }
    // A window without operations is still billed; a window without data is not.
    let is_rate = |series: &&MeasureSeries| (series.measure, series.statistic) == (Measure::Iops, Statistic::Mean);
    let is_counted = subject.series.iter().filter(is_rate).any(|series| series.values[slot].is_some());
    is_counted.then_some(WindowDemand { iops: 0.0, size_bytes: USUAL_BYTES, reads: 0.5 })
}
