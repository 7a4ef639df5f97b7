//! The load of an interval, from a demand or from a line of a history file.

use std::fmt::Write;

use jiff::civil::{DateTime, date};
use plimsoll_catalogue::Ask;
use plimsoll_ingest::{Class, DatabaseDemand, Measure};
use plimsoll_units::{Bytes, Instant, Span};

use crate::diagnosis::{DiagnoseOptions, diagnose};
use crate::sizing::ClassWindows;

#[derive(Clone, Debug, PartialEq)]
pub struct LoadSample {
    /// Its end: nanoseconds since 1970 in UTC, or since the begin of inputs without times.
    pub end: Instant,
    pub length: Span,
    /// Concurrent flows; empty if the storage was idle.
    pub flows: Vec<LoadFlow>,
    /// Whether the source has bytes; without them sizes are assumed, and limits of bytes are not watched.
    pub has_bytes: bool,
    /// Mean seconds of reads and of writes, if the source has them.
    pub latency_s: [Option<f64>; 2],
    /// Sessions of the database, if the source has their time.
    pub sessions: Option<SessionLoad>,
    /// Connections to the database and their maximum, at the end of the interval, if the source has them.
    pub connections: Option<[f64; 2]>,
}

/// A flow of operations of a kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadFlow {
    /// Operations per second, above zero.
    pub iops: f64,
    /// Mean bytes of an operation.
    pub bytes: f64,
    /// Share of reads, 0 to 1.
    pub reads: f64,
    /// Consecutive addresses.
    pub sequential: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SessionLoad {
    /// Mean active sessions.
    pub active: f64,
    /// Share of their time in storage, 0 to 1.
    pub storage: f64,
}

/// Number of columns of a line before the flows.
const HEAD_COLUMNS: usize = 9;
/// Maximum number of flows of a line.
const MAX_FLOWS: usize = 64;

impl LoadSample {
    /// Start of the interval.
    pub fn begin(&self) -> Instant {
        self.end - self.length
    }

    /// Operations per second of reads and of writes.
    pub fn iops(&self) -> [f64; 2] {
        self.sum(|flow| flow.iops)
    }

    /// Bytes per second of reads and of writes; `None` if the source lacks them.
    pub fn bytes_per_second(&self) -> Option<[f64; 2]> {
        self.has_bytes.then(|| self.sum(|flow| flow.iops * flow.bytes))
    }

    fn sum(&self, rate: fn(&LoadFlow) -> f64) -> [f64; 2] {
        self.flows.iter().fold([0.0, 0.0], |[reads, writes], flow| {
            [reads + rate(flow) * flow.reads, writes + rate(flow) * (1.0 - flow.reads)]
        })
    }

    /// A line of a history file: columns, and their checksum (CRC-32C).
    pub fn to_line(&self) -> String {
        // The share of no storage waits is a negative zero.
        let optional = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| (value + 0.0).to_string());
        let mut line = format!(
            "{} {} {} {} {} {} {} {} {}",
            self.end.as_nanos(),
            self.length.as_nanos(),
            u8::from(self.has_bytes),
            optional(self.latency_s[0]),
            optional(self.latency_s[1]),
            optional(self.sessions.map(|sessions| sessions.active)),
            optional(self.sessions.map(|sessions| sessions.storage)),
            optional(self.connections.map(|[used, _]| used)),
            optional(self.connections.map(|[_, maximum]| maximum)),
        );
        for flow in self.flows.iter().take(MAX_FLOWS) {
            let sequential = u8::from(flow.sequential);
            write!(line, " {},{},{},{sequential}", flow.iops, flow.bytes, flow.reads)
                .expect("writing to a string does not fail");
        }
        let sum = crc32c::crc32c(line.as_bytes());
        format!("{line} {sum:08x}\n")
    }

    /// Reads a line without its line end; `None` if it is damaged.
    pub fn from_line(line: &str) -> Option<Self> {
        let (columns, sum) = line.rsplit_once(' ')?;
        if u32::from_str_radix(sum, 16).ok()? != crc32c::crc32c(columns.as_bytes()) {
            return None;
        }
        let words: Vec<&str> = columns.split(' ').collect();
        let (head, flows) = words.split_at_checked(HEAD_COLUMNS)?;
        let number = |index: usize| head[index].parse::<f64>().ok();
        let session = |active, storage| SessionLoad { active, storage };
        Some(Self {
            end: Instant::from_nanos(head[0].parse().ok()?),
            length: Span::from_nanos(head[1].parse().ok()?),
            has_bytes: head[2] == "1",
            latency_s: [number(3), number(4)],
            sessions: number(5).zip(number(6)).map(|(active, storage)| session(active, storage)),
            connections: number(7).zip(number(8)).map(<[f64; 2]>::from),
            flows: flows.iter().take(MAX_FLOWS).map(|flow| LoadFlow::parse(flow)).collect::<Option<_>>()?,
        })
    }
}

impl LoadFlow {
    fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split(',').map(|number| number.parse::<f64>().ok().filter(|number| *number >= 0.0));
        let mut next = || numbers.next().flatten();
        let flow = Self { iops: next()?, bytes: next()?, reads: next()?, sequential: next()? > 0.0 };
        (flow.iops.is_finite() && flow.bytes >= 1.0 && flow.bytes.is_finite() && flow.reads <= 1.0).then_some(flow)
    }

    /// Mean size as bytes, at least 512.
    fn block(&self) -> Bytes {
        Bytes::new(self.bytes.round().max(512.0) as u64)
    }
}

/// Flows as operations with their rates.
pub(super) fn mix_of(flows: &[LoadFlow]) -> Vec<(Ask, f64)> {
    let ask = |flow: &LoadFlow| Ask { block: flow.block(), reads: flow.reads, sequential: flow.sequential };
    flows.iter().filter(|flow| flow.iops > 0.0).map(|flow| (ask(flow), flow.iops)).collect()
}

/// The loads of the windows of a demand, in the order of time. Windows without rates are absent.
pub fn read_samples(subject: &DatabaseDemand) -> Vec<LoadSample> {
    let diagnosis = diagnose(subject, &DiagnoseOptions::default());
    let split = diagnosis.split.as_ref();
    let in_all = split.map(|split| SessionLoad { active: split.active, storage: split.storage() });
    let windows = diagnosis.history.as_ref().map_or(&[][..], |history| &history.windows);
    let mut classes = ClassWindows::new(subject);
    let mut elapsed = Instant::ZERO;
    let mut samples = Vec::new();
    for (index, slot) in subject.slots.iter().enumerate() {
        elapsed += slot.length;
        let has = |measure: Measure| {
            let value = |class| subject.series(class, measure)?.values.get(index).copied().flatten();
            [Class::All, Class::Read, Class::Write].into_iter().any(|class| value(class).is_some())
        };
        if slot.length.is_zero() || !has(Measure::Iops) {
            continue;
        }
        let session = windows.iter().find(|window| window.slot == *slot);
        let session = session.map(|window| SessionLoad { active: window.active, storage: window.storage });
        let flows = classes.classes(index).into_iter().map(|load| LoadFlow {
            iops: load.iops,
            bytes: load.size(),
            reads: load.reads,
            sequential: load.sequential,
        });
        samples.push(LoadSample {
            end: slot.begin.and_then(since_epoch).map_or(elapsed, |begin| begin + slot.length),
            length: slot.length,
            flows: flows.collect(),
            has_bytes: has(Measure::Throughput) || has(Measure::Size),
            latency_s: [Class::Read, Class::Write].map(|class| subject.latency_s(class, index)),
            sessions: session.or(in_all.filter(|_| subject.slots.len() == 1)),
            connections: None,
        });
    }
    samples
}

/// A time of inputs in UTC.
fn since_epoch(time: DateTime) -> Option<Instant> {
    let since = time.duration_since(date(1970, 1, 1).at(0, 0, 0, 0));
    u64::try_from(since.as_nanos()).ok().map(Instant::from_nanos)
}
