//! What a ground saw of a step, before it is kept.

use plimsoll_device::ThreadUsage;
use plimsoll_drive::Seen;
use plimsoll_record::{Bins, CpuTime, Slice, Tally};
use plimsoll_units::{Bytes, Instant, Op, Span};

use crate::sql::{CrowdSeen, StatementsSeen};

/// One operation with its moments, for logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Logged {
    /// What was asked.
    pub op: Op,
    /// When it was handed over, from the beginning of the step.
    pub submitted: Instant,
    /// When it came back.
    pub completed: Instant,
}

/// What a worker used and did.
#[derive(Clone, Debug, Default)]
pub struct WorkerSeen {
    /// What its loop saw.
    pub seen: Seen,
    /// When it began, from the beginning of the step.
    pub began: Instant,
    /// When its last operation came back.
    pub ended: Instant,
    /// How long closing its files took after that; nothing in virtual time.
    pub closed: Span,
    /// Processor time of its thread; none in virtual time.
    pub cpu: Option<CpuTime>,
    /// The same with context switches and page faults.
    pub usage: Option<ThreadUsage>,
    /// Its operations, where it was told to keep them.
    pub log: Vec<Logged>,
    /// How many operations there were at once.
    pub queues: Queues,
    /// Time spent on the job itself, and on reading back.
    pub spent: [Span; 2],
    /// What ended it, if that was an operation that failed.
    pub failed: Option<Failed>,
}

/// An operation that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed {
    /// What was asked, by its place in the worker's files end to end.
    pub op: Op,
    /// The error's number.
    pub errno: i32,
}

/// Counts by how many operations there were at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queues {
    /// Operations that began while so many were in flight, with all that began at the same moment: 1, from 2, 4, 8, 16, 32,
    /// 64.
    pub in_flight: [u64; 7],
    /// Times that so many were handed over together: none, up to 4, 8, 16, 32, 64, and more.
    pub handed_over: [u64; 7],
    /// Times that so many were taken back together, by the same limits.
    pub taken_back: [u64; 7],
}

impl WorkerSeen {
    /// How long it worked.
    pub fn span(&self) -> Span {
        self.ended.since(self.began)
    }

    /// All that it counted.
    pub fn total(&self) -> Tally {
        let mut total = Tally::default();
        self.seen.series.iter().for_each(|slice| total.merge(&slice.tally));
        total
    }
}

/// What a step of blocks showed.
#[derive(Clone, Debug, Default)]
pub struct IoSeen {
    /// Its workers, in their order.
    pub workers: Vec<WorkerSeen>,
    /// All of them, slice by slice.
    pub series: Vec<Slice>,
    /// Operations by the stage that held them, where a model said.
    pub bound_by: Vec<u64>,
    /// What waited in the whole host's page cache to be written when the step ended; none where there is no cache, or the
    /// kernel does not say.
    pub dirty: Option<Bytes>,
}

impl IoSeen {
    /// From the first beginning to the last end.
    pub fn span(&self) -> Span {
        let began = self.workers.iter().map(|worker| worker.began).min().unwrap_or(Instant::ZERO);
        let ended = self.workers.iter().map(|worker| worker.ended).max().unwrap_or(Instant::ZERO);
        ended.since(began)
    }

    /// All that was counted; streams are the workers.
    pub fn total(&self) -> Tally {
        let mut total = Tally::default();
        self.workers.iter().for_each(|worker| total.merge(&worker.total()));
        total
    }

    /// Its series, and those of its workers, each in one slice.
    pub(crate) fn condense(&mut self) {
        condense(&mut self.series);
        for worker in &mut self.workers {
            condense(&mut worker.seen.series);
        }
    }

    /// Adds what another part of the step was held by.
    pub(crate) fn add_bound_by(&mut self, other: &[u64]) {
        self.bound_by.resize(self.bound_by.len().max(other.len()), 0);
        self.bound_by.iter_mut().zip(other).for_each(|(mine, theirs)| *mine += theirs);
    }

    /// Processor time of all workers; none in virtual time.
    pub fn cpu(&self) -> Option<CpuTime> {
        self.workers
            .iter()
            .filter_map(|worker| worker.cpu)
            .reduce(|a, b| CpuTime { user: a.user + b.user, system: a.system + b.system })
    }
}

fn condense(series: &mut Vec<Slice>) {
    if let Some((first, rest)) = series.split_first_mut() {
        for slice in rest {
            first.tally.merge(&slice.tally);
            first.span += slice.span;
        }
        series.truncate(1);
        series.shrink_to_fit();
    }
}

/// What a step of files showed.
#[derive(Clone, Debug, Default)]
pub struct FilesSeen {
    /// Files that were worked on.
    pub files: u64,
    /// How long it took, with the final `sync`.
    pub span: Span,
    /// Time for each file.
    pub each: Bins,
    /// Processor time.
    pub cpu: CpuTime,
}

/// What a step showed.
#[derive(Clone, Debug)]
pub enum StepSeen {
    /// Of blocks.
    Io(IoSeen),
    /// Of files.
    Files(FilesSeen),
    /// Of statements.
    Statements(Box<StatementsSeen>),
    /// Of sessions side by side.
    Crowd(Box<CrowdSeen>),
    /// It could not be done here, and why.
    Skipped(&'static str),
    /// Nothing happened, as planned.
    Paused,
}

impl StepSeen {
    /// What was seen of blocks.
    pub const fn io(&self) -> Option<&IoSeen> {
        if let Self::Io(seen) = self { Some(seen) } else { None }
    }

    /// What was seen of statements.
    pub fn statements(&self) -> Option<&StatementsSeen> {
        if let Self::Statements(seen) = self { Some(seen) } else { None }
    }

    /// What was seen of a crowd.
    pub fn crowd(&self) -> Option<&CrowdSeen> {
        if let Self::Crowd(seen) = self { Some(seen) } else { None }
    }

    /// What was seen of files.
    pub const fn files(&self) -> Option<&FilesSeen> {
        if let Self::Files(seen) = self { Some(seen) } else { None }
    }
}
