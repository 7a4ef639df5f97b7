//! Counting operations by stream and kind.

use plimsoll_units::{Kind, Op, Span};
use serde::{Deserialize, Serialize};

use crate::histogram::{Bins, Recorder};

/// Results of a stream's operations of a kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counter {
    /// Index of the stream in the load.
    pub stream: u8,
    /// Kind of the operations.
    pub kind: Kind,
    /// Bytes transferred by successful operations.
    pub bytes: u64,
    /// Failed operations by `errno`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<(i32, u64)>,
    /// Time from the intended start to completion; for operations that were never issued, the wait until the end.
    pub response: Bins,
    /// Time from submission to completion; absent if equal to the response time, as in a closed load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<Bins>,
}

impl Counter {
    /// Number of successful operations.
    pub fn operations(&self) -> u64 {
        self.service().count
    }

    /// Time from submission to completion.
    pub fn service(&self) -> &Bins {
        self.service.as_ref().unwrap_or(&self.response)
    }

    fn merge(&mut self, other: &Self) {
        if self.service.is_some() || other.service.is_some() {
            let mut service = self.service().clone();
            service.merge(other.service());
            self.service = Some(service);
        }
        self.response.merge(&other.response);
        self.bytes += other.bytes;
        for &(errno, count) in &other.errors {
            add_error(&mut self.errors, errno, count);
        }
    }
}

fn add_error(errors: &mut Vec<(i32, u64)>, errno: i32, count: u64) {
    match errors.iter_mut().find(|(observed, _)| *observed == errno) {
        Some((_, observed)) => *observed += count,
        None => errors.push((errno, count)),
    }
}

/// Counts of operations by stream and kind, without empty pairs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Tally(pub Vec<Counter>);

impl Tally {
    /// Adds the counts of another tally.
    pub fn merge(&mut self, other: &Self) {
        for counter in &other.0 {
            match self.0.iter_mut().find(|c| c.stream == counter.stream && c.kind == counter.kind) {
                Some(mine) => mine.merge(counter),
                None => self.0.push(counter.clone()),
            }
        }
        self.0.sort_by_key(|counter| (counter.stream, counter.kind));
    }

    /// The counters accepted by `accepts`.
    pub fn only(&self, accepts: impl Fn(&Counter) -> bool) -> Self {
        Self(self.0.iter().filter(|counter| accepts(counter)).cloned().collect())
    }

    /// Number of successful operations.
    pub fn operations(&self) -> u64 {
        self.0.iter().map(Counter::operations).sum()
    }

    /// Bytes transferred.
    pub fn bytes(&self) -> u64 {
        self.0.iter().map(|counter| counter.bytes).sum()
    }

    /// Number of failed operations.
    pub fn errors(&self) -> u64 {
        self.0.iter().flat_map(|counter| &counter.errors).map(|(_, count)| count).sum()
    }

    /// Response times of all operations together.
    pub fn response(&self) -> Bins {
        self.response_where(|_| true)
    }

    /// Response times of the counters accepted by `accepts`.
    pub fn response_where(&self, accepts: impl Fn(&Counter) -> bool) -> Bins {
        let mut all = Bins::default();
        self.0.iter().filter(|counter| accepts(counter)).for_each(|counter| all.merge(&counter.response));
        all
    }

    /// Number of operations, or of commits of `writes_each` writes. A flush completes writes: it counts only if there are
    /// no other operations.
    pub fn units(&self, writes_each: Option<u32>) -> u64 {
        let data = self.0.iter().filter(|counter| counter.kind != Kind::Flush);
        match (data.map(Counter::operations).sum::<u64>(), writes_each) {
            (data, Some(writes)) => data / u64::from(writes.max(1)),
            (0, None) => self.operations(),
            (data, None) => data,
        }
    }

    /// Service times of all operations, or of the calls that make commits durable.
    pub fn unit_times(&self, writes_each: Option<u32>) -> Bins {
        let is_flushed = writes_each.is_some() && self.0.iter().any(|counter| counter.kind == Kind::Flush);
        let mut all = Bins::default();
        let durable = self.0.iter().filter(|counter| !is_flushed || counter.kind == Kind::Flush);
        durable.for_each(|counter| all.merge(counter.service()));
        all
    }

    /// Service times of all operations together.
    pub fn service(&self) -> Bins {
        let mut all = Bins::default();
        self.0.iter().for_each(|counter| all.merge(counter.service()));
        all
    }
}

/// The recorder of a tally, written to by the loop.
#[derive(Debug, Default)]
pub struct Counting {
    cells: Vec<Option<Box<TallyCell>>>,
}

#[derive(Debug, Default)]
struct TallyCell {
    bytes: u64,
    errors: Vec<(i32, u64)>,
    /// Operations with equal response and service times, counted once: all of a closed load.
    alike: Recorder,
    response: Recorder,
    service: Recorder,
}

impl Counting {
    /// Creates an empty recorder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts a successful operation.
    #[inline]
    pub fn done(&mut self, op: &Op, response: Span, service: Span) {
        let cell = self.cell(op);
        cell.bytes += u64::from(op.length);
        if response == service {
            cell.alike.record(response);
        } else {
            cell.response.record(response);
            cell.service.record(service);
        }
    }

    /// Counts the wait of an operation that arrived but was never issued.
    #[cold]
    pub fn unserved(&mut self, op: &Op, waited: Span) {
        self.cell(op).response.record(waited);
    }

    /// Counts a failed operation.
    #[cold]
    pub fn failed(&mut self, op: &Op, errno: i32) {
        add_error(&mut self.cell(op).errors, errno, 1);
    }

    #[inline]
    fn cell(&mut self, op: &Op) -> &mut TallyCell {
        let index = usize::from(op.stream) * Kind::ALL.len() + op.kind.index();
        if index >= self.cells.len() {
            self.cells.resize_with(index + 1, || None);
        }
        self.cells[index].get_or_insert_default()
    }

    /// Returns the counts and resets the recorder.
    pub fn take(&mut self) -> Tally {
        let mut counters = Vec::new();
        for (index, cell) in self.cells.iter_mut().enumerate() {
            let Some(cell) = cell.as_deref_mut() else { continue };
            let errors = std::mem::take(&mut cell.errors);
            if cell.alike.is_empty() && cell.response.is_empty() && errors.is_empty() {
                continue;
            }
            let alike = cell.alike.take();
            let (mut response, mut service) = (cell.response.take(), cell.service.take());
            response.merge(&alike);
            service.merge(&alike);
            counters.push(Counter {
                stream: (index / Kind::ALL.len()) as u8,
                kind: Kind::ALL[index % Kind::ALL.len()],
                bytes: std::mem::take(&mut cell.bytes),
                errors,
                service: (service != response).then_some(service),
                response,
            });
        }
        Tally(counters)
    }
}
