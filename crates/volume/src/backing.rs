//! What holds the bytes of volumes, as [`crate::Volumes`] sees it.

use crate::job::{FileId, Job, JobId};
use crate::request::{Errno, Request, Ticket};
use crate::store::{About, Ended, Extent, Store, VolumeId};

/// Turns requests into jobs, and says when they have ended. Decides and never does.
pub trait Backing {
    /// What is known of a volume.
    fn about(&self, volume: VolumeId) -> Option<About<'_>>;

    /// Takes a request in. When it ends, [`Backing::ended`] has its tag.
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

    /// What came to its end since it was last asked.
    fn ended(&mut self) -> std::vec::Drain<'_, Ended>;

    /// Where a volume has space: at most `limit` runs that together cover at most `length` bytes from `offset` on.
    fn extents(&self, volume: VolumeId, offset: u64, length: u64, limit: usize) -> Vec<Extent>;

    /// The data file that a volume is, byte for byte; `None` when a map lies between. What is sparse in it is a hole of the
    /// volume that [`Backing::extents`] does not know.
    fn whole_file(&self, _volume: VolumeId) -> Option<FileId> {
        None
    }

    /// Whether reads are only of places that have their space. Whoever reads others through a mapping gives them some.
    fn reads_what_has_space(&self) -> bool {
        false
    }
}

impl Backing for Store {
    fn about(&self, volume: VolumeId) -> Option<About<'_>> {
        self.about(volume)
    }

    #[inline]
    fn accept(
        &mut self,
        tag: u32,
        ticket: Ticket,
        volume: VolumeId,
        request: &Request,
        jobs: &mut Vec<Job>,
    ) -> Result<(), Errno> {
        self.accept(tag, ticket, volume, request, jobs)
    }

    #[inline]
    fn worked(&mut self, job: JobId, outcome: Result<(), Errno>, jobs: &mut Vec<Job>) {
        self.worked(job, outcome, jobs);
    }

    #[inline]
    fn ended(&mut self) -> std::vec::Drain<'_, Ended> {
        self.ended()
    }

    fn extents(&self, volume: VolumeId, offset: u64, length: u64, limit: usize) -> Vec<Extent> {
        self.extents(volume, offset, length, limit)
    }

    fn reads_what_has_space(&self) -> bool {
        true
    }
}
