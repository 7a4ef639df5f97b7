//! The storage of the volumes' bytes: a store or plain files.

use crate::flat::Flat;
use crate::job::{FileId, FileJob, JobId};
use crate::record::VolumeId;
use crate::request::{Errno, Request, Ticket};
use crate::store::{About, Extent, Store, StoreEnd};

/// Turns requests into jobs and reports their end, without moving data.
///
/// An enum and not a trait, so that a server is compiled once, in its own crate and with its optimisations.
#[derive(Debug)]
pub enum Backing {
    /// Volumes with a copy-on-write map.
    Store(Box<Store>),
    /// Whole files as volumes.
    Flat(Flat),
}

impl Backing {
    /// Size, access and description of a volume.
    pub(crate) fn about(&self, volume: VolumeId) -> Option<About<'_>> {
        match self {
            Self::Store(store) => store.about(volume),
            Self::Flat(flat) => flat.about(volume),
        }
    }

    /// Accepts a request and appends the jobs that can begin. At its end, [`Self::ended`] yields its tag.
    #[inline]
    pub(crate) fn accept(
        &mut self,
        tag: u32,
        ticket: Ticket,
        volume: VolumeId,
        request: &Request,
        jobs: &mut Vec<FileJob>,
    ) -> Result<(), Errno> {
        match self {
            Self::Store(store) => store.accept(tag, ticket, volume, request, jobs),
            Self::Flat(flat) => flat.accept(tag, ticket, volume, request, jobs),
        }
    }

    /// Reports a finished job.
    #[inline]
    pub(crate) fn worked(&mut self, job: JobId, outcome: Result<(), Errno>, jobs: &mut Vec<FileJob>) {
        match self {
            Self::Store(store) => store.worked(job, outcome, jobs),
            Self::Flat(flat) => flat.worked(job, outcome, jobs),
        }
    }

    /// Drains requests and edits that ended since the last call.
    #[inline]
    pub(crate) fn ended(&mut self) -> std::vec::Drain<'_, StoreEnd> {
        match self {
            Self::Store(store) => store.ended(),
            Self::Flat(flat) => flat.ended(),
        }
    }

    /// Allocated ranges and holes of a volume: at most `limit` runs that together cover at most `length` bytes from
    /// `offset` on.
    pub(crate) fn extents(&self, volume: VolumeId, offset: u64, length: u64, limit: usize) -> Vec<Extent> {
        match self {
            Self::Store(store) => store.extents(volume, offset, length, limit),
            Self::Flat(flat) => flat.extents(volume, offset, length),
        }
    }

    /// The data file with the same content as the volume, byte for byte; `None` with a map. Holes of such a file are
    /// holes of the volume that [`Self::extents`] does not report.
    pub(crate) fn flat_file(&self, volume: VolumeId) -> Option<FileId> {
        match self {
            Self::Store(_) => None,
            Self::Flat(_) => Some(FileId(volume.0)),
        }
    }

    /// Whether reads refer to allocated ranges only. Reading a hole through a memory mapping would allocate it.
    pub(crate) const fn reads_only_allocated(&self) -> bool {
        matches!(self, Self::Store(_))
    }
}

impl From<Store> for Backing {
    fn from(store: Store) -> Self {
        Self::Store(Box::new(store))
    }
}

impl From<Flat> for Backing {
    fn from(flat: Flat) -> Self {
        Self::Flat(flat)
    }
}
