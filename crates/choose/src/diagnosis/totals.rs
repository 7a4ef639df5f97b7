//! The demand of a window, divided into disjoint streams.

use plimsoll_ingest::{Class, DatabaseDemand, Measure};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct WindowStream {
    /// Operations a second, above zero.
    pub(super) iops: f64,
    /// Mean bytes of an operation, if known.
    pub(super) bytes: Option<f64>,
    /// Share of reads, 0 to 1.
    pub(super) reads: f64,
    /// Multi-block operations.
    pub(super) sequential: bool,
}

pub(super) fn value(subject: &DatabaseDemand, class: Class, measure: Measure, slot: usize) -> Option<f64> {
    subject.series(class, measure)?.values.get(slot).copied().flatten()
}

/// Operations or bytes a second of reads and writes together.
pub(super) fn total(subject: &DatabaseDemand, measure: Measure, slot: usize) -> Option<f64> {
    let of = |class| value(subject, class, measure, slot);
    match (of(Class::Read), of(Class::Write)) {
        (None, None) => of(Class::All),
        (reads, writes) => Some(reads.unwrap_or(0.0) + writes.unwrap_or(0.0)),
    }
}

/// The streams of a window: single-block and other reads, log and other writes; or a single stream if the input has
/// only totals.
pub(super) fn split_streams(subject: &DatabaseDemand, slot: usize) -> Vec<WindowStream> {
    let rate = |class| value(subject, class, Measure::Iops, slot);
    let bytes = |class| value(subject, class, Measure::Throughput, slot);
    if rate(Class::Read).is_none() && rate(Class::Write).is_none() {
        let reads = match (bytes(Class::Read), bytes(Class::Write)) {
            (Some(reads), Some(writes)) if reads + writes > 0.0 => reads / (reads + writes),
            _ => 1.0,
        };
        let all = stream(rate(Class::All), total(subject, Measure::Throughput, slot), reads, false);
        return all.into_iter().collect();
    }
    let mut streams = Vec::new();
    for (entire, part, reads) in [(Class::Read, Class::RandomRead, 1.0), (Class::Write, Class::RedoWrite, 0.0)] {
        let small = stream(rate(part), bytes(part), reads, false);
        let left =
            |entire: Option<f64>, part: Option<f64>| entire.map(|entire| (entire - part.unwrap_or(0.0)).max(0.0));
        // The rest of the reads are scans if the input separates them.
        let sequential = entire == Class::Read && small.is_some();
        let rest = stream(left(rate(entire), rate(part)), left(bytes(entire), bytes(part)), reads, sequential);
        streams.extend(small.into_iter().chain(rest));
    }
    streams
}

fn stream(iops: Option<f64>, bytes_s: Option<f64>, reads: f64, sequential: bool) -> Option<WindowStream> {
    let iops = iops.filter(|iops| *iops > 0.0)?;
    let bytes = bytes_s.map(|bytes_s| bytes_s / iops).filter(|bytes| *bytes >= 1.0);
    Some(WindowStream { iops, bytes, reads, sequential })
}
