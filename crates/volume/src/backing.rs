//! The interface between [`crate::Volumes`] and the storage of the volumes' bytes.

use crate::job::{FileId, Job, JobId};
use crate::request::{Errno, Request, Ticket};
use crate::store::{About, Ended, Extent, VolumeId};

/// Turns requests into jobs and reports their end, without moving data. The implementations are [`crate::Store`] with a
/// copy-on-write map, and [`crate::Flat`] with whole files as volumes.
pub trait Backing {
    /// Size, access and description of a volume.
    fn about(&self, volume: VolumeId) -> Option<About<'_>>;

    /// Accepts a request and appends the jobs that can begin. At its end, [`Backing::ended`] yields its tag.
    fn accept(
        &mut self,
        tag: u32,
        ticket: Ticket,
        volume: VolumeId,
        request: &Request,
        jobs: &mut Vec<Job>,
    ) -> Result<(), Errno>;

    /// Reports a finished job.
    fn worked(&mut self, job: JobId, outcome: Result<(), Errno>, jobs: &mut Vec<Job>);

    /// Drains requests and edits that ended since the last call.
    fn ended(&mut self) -> std::vec::Drain<'_, Ended>;

    /// Allocated ranges and holes of a volume: at most `limit` runs that together cover at most `length` bytes from
    /// `offset` on.
    fn extents(&self, volume: VolumeId, offset: u64, length: u64, limit: usize) -> Vec<Extent>;

    /// The data file with the same content as the volume, byte for byte; `None` with a map. Holes of such a file are
    /// holes of the volume that [`Backing::extents`] does not report.
    fn whole_file(&self, _volume: VolumeId) -> Option<FileId> {
        None
    }

    /// Whether reads refer to allocated ranges only. Reading a hole through a memory mapping would allocate it.
    fn reads_only_allocated(&self) -> bool {
        false
    }
}
