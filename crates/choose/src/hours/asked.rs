//! What a demand asks for in each of its windows, all classes together.

use plimsoll_ingest::{Class, Measure, Subject};
use plimsoll_model::analytic::Workload;
use plimsoll_units::Bytes;

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

/// Where a demand says nothing of sizes.
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

const READS: [Class; 3] = [Class::RandomRead, Class::SequentialRead, Class::TempRead];
const WRITES: [Class; 6] =
    [Class::DataWrite, Class::RedoWrite, Class::TempWrite, Class::Archive, Class::Backup, Class::Other];

/// What a subject asks for, a value for each of its slots; none where no input says it.
pub fn asked_over_time(subject: &Subject) -> Vec<Option<Asked>> {
    (0..subject.slots.len()).map(|slot| in_slot(subject, slot)).collect()
}

fn in_slot(subject: &Subject, slot: usize) -> Option<Asked> {
    let value = |class: Class, measure: Measure| subject.series(class, measure)?.values.get(slot).copied().flatten();
    // The whole, or what it is made of.
    let sum = |whole: Class, parts: &[Class], measure: Measure| {
        value(whole, measure).or_else(|| parts.iter().filter_map(|part| value(*part, measure)).reduce(|a, b| a + b))
    };
    let reads = sum(Class::Read, &READS, Measure::Iops);
    let writes = sum(Class::Write, &WRITES, Measure::Iops);
    let iops = value(Class::All, Measure::Iops).or(match (reads, writes) {
        (None, None) => None,
        (reads, writes) => Some(reads.unwrap_or(0.0) + writes.unwrap_or(0.0)),
    })?;
    let bytes = value(Class::All, Measure::Throughput).or_else(|| {
        let read = sum(Class::Read, &READS, Measure::Throughput)?;
        Some(read + sum(Class::Write, &WRITES, Measure::Throughput).unwrap_or(0.0))
    });
    let size_bytes = bytes.filter(|_| iops > 0.0).map_or(USUAL_BYTES, |bytes| bytes / iops);
    let reads = reads.filter(|_| iops > 0.0).map_or(0.5, |reads| (reads / iops).clamp(0.0, 1.0));
    Some(Asked { iops, size_bytes, reads })
}
