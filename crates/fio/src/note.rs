//! Deviations of the execution of jobs from fio's.

/// A deviation of a job from fio; its words are those of `report`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobNote {
    /// The engine is replaced by `io_uring`.
    EngineByRing { engine: &'static str },
    /// The engine is replaced by threads.
    EngineByThreads { engine: &'static str },
    /// The engine is replaced by threads, as `io_uring` is unavailable for this reason.
    RingRefused { engine: &'static str, reason: String },
    /// Blocks of this method of verification have plimsoll's header, which determines their data.
    OwnBlockHeader { method: &'static str },
    /// `lat` of jobs with a rate is measured from the scheduled start, `clat` from the submission.
    LatencyFromSchedule,
    /// `slat` is part of `clat`.
    NoSubmissionLatency,
    /// Buffered I/O of a target without a page cache, executed as direct I/O.
    NoPageCache,
    /// `unlink=1` of a file that no job created.
    FileRetained { path: String },
}
