//! Volumes as plain files, byte for byte: without map, log and snapshots.

use crate::job::{FileId, FileJob, FilePosition, Io, JobId};
use crate::record::{VolumeAccess, VolumeId};
use crate::request::{Command, Errno, Request, Space, Ticket};
use crate::store::{About, Extent, StoreEnd};
use slab::Slab;

/// Volumes in order of their data files' numbers.
#[derive(Debug)]
pub struct Flat {
    volumes: Vec<(u64, VolumeAccess)>,
    under_way: Slab<PendingWork>,
    ended: Vec<StoreEnd>,
    /// Set after a failed sync: acknowledged writes may be lost, so further changes are refused.
    failed: bool,
}

#[derive(Clone, Copy, Debug)]
struct PendingWork {
    tag: u32,
    file: FileId,
    /// Work after the current job.
    rest: Rest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    Nothing,
    Sync,
    /// None: the job was a sync.
    Synced,
}

impl Flat {
    /// Creates volumes with these sizes in bytes, numbered from 0.
    pub fn new(volumes: impl IntoIterator<Item = (u64, VolumeAccess)>) -> Self {
        let volumes = volumes.into_iter().collect();
        Self { volumes, under_way: Slab::new(), ended: Vec::new(), failed: false }
    }

    pub(crate) fn volumes(&self) -> impl Iterator<Item = VolumeId> {
        (0..self.volumes.len() as u32).map(VolumeId)
    }

    fn admit(&self, volume: VolumeId, request: &Request) -> Result<(), Errno> {
        let (size, access) = *self.volumes.get(volume.0 as usize).ok_or(Errno::Inval)?;
        let end = request.offset.checked_add(request.length).ok_or(Errno::Inval)?;
        match request.command {
            Command::Flush if self.failed => Err(Errno::Io),
            Command::Flush => Ok(()),
            _ if request.length == 0 => Err(Errno::Inval),
            _ if request.changes() && access == VolumeAccess::ReadOnly => Err(Errno::Perm),
            _ if request.changes() && self.failed => Err(Errno::Io),
            Command::Write if end > size => Err(Errno::NoSpc),
            _ if end > size => Err(Errno::Inval),
            _ => Ok(()),
        }
    }

    #[inline]
    fn begin(&mut self, work: PendingWork, io: Io, jobs: &mut Vec<FileJob>) {
        jobs.push(FileJob { id: JobId(self.under_way.insert(work) as u32), io });
    }

    /// Size and access of a volume.
    pub fn about(&self, volume: VolumeId) -> Option<About<'_>> {
        self.volumes.get(volume.0 as usize).map(|&(size, access)| About { volume, size, access, text: "" })
    }

    /// Accepts a request and appends the job that begins it. At its end, [`Self::ended`] yields its tag.
    #[inline]
    pub fn accept(
        &mut self,
        tag: u32,
        ticket: Ticket,
        volume: VolumeId,
        request: &Request,
        jobs: &mut Vec<FileJob>,
    ) -> Result<(), Errno> {
        self.admit(volume, request)?;
        let file = FileId(volume.0);
        let place = FilePosition { file, at: request.offset };
        let length = request.length as u32;
        let rest = if request.fua && request.changes() { Rest::Sync } else { Rest::Nothing };
        let (io, rest) = match request.command {
            Command::Read => (Io::Read { ticket, into: 0, place, length }, rest),
            Command::Write => (Io::Write { ticket, from: 0, place, length }, rest),
            Command::Flush => (Io::Sync { file, length: 0 }, Rest::Synced),
            Command::Trim | Command::WriteZeroes { space: Space::Free } => {
                (Io::Punch { place, length: request.length }, rest)
            }
            Command::WriteZeroes { space: Space::Keep } => (Io::Zero { place, length: request.length }, rest),
            Command::Cache => {
                self.ended.push(StoreEnd::Request(tag, Ok(())));
                return Ok(());
            }
        };
        self.begin(PendingWork { tag, file, rest }, io, jobs);
        Ok(())
    }

    /// Reports a finished job.
    #[inline]
    pub fn worked(&mut self, job: JobId, outcome: Result<(), Errno>, jobs: &mut Vec<FileJob>) {
        let Some(work) = self.under_way.try_remove(job.0 as usize) else { return };
        self.failed |= work.rest == Rest::Synced && outcome.is_err();
        if work.rest == Rest::Sync && outcome.is_ok() {
            self.begin(PendingWork { rest: Rest::Synced, ..work }, Io::Sync { file: work.file, length: 0 }, jobs);
            return;
        }
        self.ended.push(StoreEnd::Request(work.tag, outcome));
    }

    /// Drains requests that ended since the last call.
    #[inline]
    pub fn ended(&mut self) -> std::vec::Drain<'_, StoreEnd> {
        self.ended.drain(..)
    }

    /// One allocated range: at most `length` bytes from `offset` on.
    pub fn extents(&self, volume: VolumeId, offset: u64, length: u64) -> Vec<Extent> {
        let size = self.volumes.get(volume.0 as usize).map_or(0, |(size, _)| *size);
        let length = length.min(size.saturating_sub(offset));
        if length == 0 { Vec::new() } else { vec![Extent { length, allocated: true }] }
    }
}
