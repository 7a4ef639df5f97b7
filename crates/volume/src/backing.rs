//! The interface between [`crate::Volumes`] and the storage of the volumes' bytes.

use crate::job::{FileId, Job, JobId};
use crate::request::{Errno, Request, Ticket};
use crate::store::{About, Ended, Extent, VolumeId};

/// Turns requests into jobs and reports their end; moves no data itself. The implementations are [`crate::Store`], with a
/// map that is copied on write, and [`crate::Flat`], whose volumes are whole files.
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

    /// A job is finished.
    fn worked(&mut self, job: JobId, outcome: Result<(), Errno>, jobs: &mut Vec<Job>);

    /// Requests and edits that ended since the last call.
    fn ended(&mut self) -> std::vec::Drain<'_, Ended>;

    /// Allocated ranges and holes of a volume: at most `limit` runs that together cover at most `length` bytes from
    /// `offset` on.
    fn extents(&self, volume: VolumeId, offset: u64, length: u64, limit: usize) -> Vec<Extent>;

    /// The data file whose content is that of the volume, byte for byte; `None` if there is a map. Holes of such a file are
    /// holes of the volume that [`Backing::extents`] does not report.
    fn whole_file(&self, _volume: VolumeId) -> Option<FileId> {
        None
    }

    /// Whether reads refer to allocated ranges only. Reading a hole through a memory mapping would allocate it.
    fn reads_only_allocated(&self) -> bool {
        false
    }
}
