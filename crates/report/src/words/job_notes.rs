//! Deviations of jobs from fio.

use plimsoll_fio::JobNote;
use plimsoll_language::{label, say};

/// The deviation as a line.
pub fn job_note(note: &JobNote) -> String {
    match note {
        JobNote::EngineByRing { engine } => say!("ioengine={engine}: replaced by io_uring"),
        JobNote::EngineByThreads { engine } => say!("ioengine={engine}: replaced by threads with pread and pwrite"),
        JobNote::RingRefused { engine, reason } => {
            say!("ioengine={engine}: io_uring is unavailable ({reason}): replaced by threads with pread and pwrite")
        }
        JobNote::OwnBlockHeader { method } => {
            say!(
                "verify={method}: blocks have plimsoll's own header, which determines their data, and all bytes are \
                 compared"
            )
        }
        JobNote::LatencyFromSchedule => {
            label!("lat is measured from the scheduled start of an operation, clat from its submission").to_owned()
        }
        JobNote::NoSubmissionLatency => label!("slat is not measured: submission time is included in clat").to_owned(),
        JobNote::NoPageCache => {
            label!("the target has no page cache: the figures of buffered jobs are those of direct I/O (direct=1)")
                .to_owned()
        }
        JobNote::FileRetained { path } => say!("{path}: unlink=1 is ignored, as no job created the file"),
    }
}
