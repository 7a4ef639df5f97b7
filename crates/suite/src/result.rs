//! Results of steps, before they are recorded.

use plimsoll_device::ThreadUsage;
use plimsoll_drive::{BindingStages, LoopResult};
use plimsoll_record::{Bins, CpuTime, Slice, Tally};
use plimsoll_units::{Bytes, Instant, Op, Span};

use crate::sql::{SessionsResult, StatementsResult};

/// An operation with its times, for logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedOperation {
    pub op: Op,
    /// Submission, from the start of the step.
    pub submitted: Instant,
    /// Completion, from the start of the step.
    pub completed: Instant,
}

#[derive(Clone, Debug, Default)]
pub struct WorkerResult {
    /// Result of its loop.
    pub observed: LoopResult,
    /// Start, from the start of the step.
    pub began: Instant,
    /// Completion of its last operation.
    pub ended: Instant,
    /// Time to close its files afterwards; zero in virtual time.
    pub closed: Span,
    /// Processor time of its thread; `None` in virtual time.
    pub cpu: Option<CpuTime>,
    /// Resource usage of its thread, with context switches and page faults; `None` in virtual time.
    pub usage: Option<ThreadUsage>,
    /// Its operations, if they are logged.
    pub log: Vec<LoggedOperation>,
    /// Distribution of the queue depth.
    pub queues: Queues,
    /// Time spent on the job itself and on reading back.
    pub spent: [Span; 2],
    /// The failed operation that ended it, if any.
    pub failed: Option<FailedOperation>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedOperation {
    /// The operation; its offset is in the concatenation of the worker's files.
    pub op: Op,
    /// The `errno`.
    pub errno: i32,
}

/// Distribution of queue depths and batch sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queues {
    /// Operations by queue depth at submission, including their batch: 1, from 2, 4, 8, 16, 32, 64.
    pub in_flight: [u64; 7],
    /// Submissions by batch size: 0, up to 4, 8, 16, 32, 64, and more.
    pub handed_over: [u64; 7],
    /// Completions by batch size, with the same limits.
    pub taken_back: [u64; 7],
}

impl WorkerResult {
    /// From its start to its end.
    pub fn span(&self) -> Span {
        self.ended.since(self.began)
    }

    /// Sum over all slices.
    pub fn total(&self) -> Tally {
        let mut total = Tally::default();
        self.observed.series.iter().for_each(|slice| total.merge(&slice.tally));
        total
    }
}

/// Result of a step on blocks.
#[derive(Clone, Debug, Default)]
pub struct IoResult {
    pub workers: Vec<WorkerResult>,
    /// Slices of all workers, merged.
    pub series: Vec<Slice>,
    /// Operations by the stage of the model that bound them; empty on real storage.
    pub bound_by: BindingStages,
    /// Dirty pages of the whole host at the end of the step; `None` without a page cache, or if unknown.
    pub dirty: Option<Bytes>,
}

impl IoResult {
    /// From the first start to the last end.
    pub fn span(&self) -> Span {
        let began = self.workers.iter().map(|worker| worker.began).min().unwrap_or(Instant::ZERO);
        let ended = self.workers.iter().map(|worker| worker.ended).max().unwrap_or(Instant::ZERO);
        ended.since(began)
    }

    /// Sum over all slices; the streams are the workers.
    pub fn total(&self) -> Tally {
        let mut total = Tally::default();
        self.workers.iter().for_each(|worker| total.merge(&worker.total()));
        total
    }

    /// Merges each series into a single slice.
    pub(crate) fn condense(&mut self) {
        condense(&mut self.series);
        for worker in &mut self.workers {
            condense(&mut worker.observed.series);
        }
    }

    /// Processor time of all workers; `None` in virtual time.
    pub fn cpu(&self) -> Option<CpuTime> {
        self.workers.iter().filter_map(|worker| worker.cpu).reduce(|a, b| a + b)
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

/// Result of a step on small files.
#[derive(Clone, Debug, Default)]
pub struct FilesResult {
    /// Number of processed files.
    pub files: u64,
    /// Duration, including the final `sync`.
    pub span: Span,
    /// Times of the files.
    pub each: Bins,
    /// Processor time.
    pub cpu: CpuTime,
}

/// Result of a change of settings.
#[derive(Clone, Debug, Default)]
pub struct ConfigureResult {
    /// Duration, including a restart.
    pub span: Span,
    /// Reason why the server does not have the settings.
    pub refused: Option<String>,
}

#[derive(Clone, Debug)]
pub enum StepResult {
    /// Of a step on blocks.
    Io(IoResult),
    Files(FilesResult),
    Statements(Box<StatementsResult>),
    Sessions(Box<SessionsResult>),
    /// Of a change of settings.
    Configured(ConfigureResult),
    /// The step is impossible on this ground, with the reason.
    Skipped(&'static str),
    Paused,
}

impl StepResult {
    /// Result on blocks.
    pub const fn io(&self) -> Option<&IoResult> {
        if let Self::Io(observed) = self { Some(observed) } else { None }
    }

    pub fn statements(&self) -> Option<&StatementsResult> {
        if let Self::Statements(observed) = self { Some(observed) } else { None }
    }

    /// Result of concurrent sessions.
    pub fn sessions(&self) -> Option<&SessionsResult> {
        if let Self::Sessions(observed) = self { Some(observed) } else { None }
    }

    pub const fn files(&self) -> Option<&FilesResult> {
        if let Self::Files(observed) = self { Some(observed) } else { None }
    }
}
