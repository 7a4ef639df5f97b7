//! What a demand asks for in each of its windows, all classes together.

use plimsoll_ingest::{Measure, Series, Statistic, Subject};
use plimsoll_model::analytic::Workload;
use plimsoll_units::Bytes;

use crate::sizing::{ClassLoad, Windows};

/// What is asked for in a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asked {
    /// Operations a second.
    pub iops: f64,
    /// Bytes of an operation, in the mean.
    pub size_bytes: f64,
    /// Share of reads, 0 to 1.
    pub reads: f64,
}

/// Of a window in which nothing is asked.
const USUAL_BYTES: f64 = 8_192.0;

impl Asked {
    /// The same for the analytic solution, anywhere on a volume of so many bytes.
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

/// What a subject asks for, a value for each of its slots; none where no input says it.
pub fn asked_over_time(subject: &Subject) -> Vec<Option<Asked>> {
    let mut windows = Windows::new(subject);
    (0..subject.slots.len()).map(|slot| in_slot(subject, slot, &windows.classes(slot))).collect()
}

fn in_slot(subject: &Subject, slot: usize, classes: &[ClassLoad]) -> Option<Asked> {
    let sum = |of: fn(&ClassLoad) -> f64| classes.iter().map(of).sum::<f64>();
    let iops = sum(|load| load.iops);
    if iops > 0.0 {
        let reads = (sum(|load| load.iops * load.reads) / iops).clamp(0.0, 1.0);
        return Some(Asked { iops, size_bytes: sum(|load| load.bytes_per_second) / iops, reads });
    }
    // A window in which nothing was asked costs as much as another; one that says nothing is none.
    let is_rate = |series: &&Series| (series.measure, series.statistic) == (Measure::Iops, Statistic::Mean);
    let is_said = subject.series.iter().filter(is_rate).any(|series| series.values[slot].is_some());
    is_said.then_some(Asked { iops: 0.0, size_bytes: USUAL_BYTES, reads: 0.5 })
}
