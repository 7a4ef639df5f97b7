//! Edits: sequential changes of the set of volumes.
//!
//! An edit that shares the content of a volume waits until no change of it is in flight, and blocks new changes
//! meanwhile: otherwise a write in flight could modify a snapshot after its creation.

use super::{Store, Stored, VolumeId, Waiter};
use crate::job::FileJob;
use crate::record::{Record, VolumeAccess};
use crate::request::Ticket;

/// A change of the set of volumes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Creates a volume that reads as zeros.
    Create {
        /// Size in bytes.
        size: u64,
        /// Description by the shell.
        text: String,
    },
    /// Creates a volume with the current content of another, without copying.
    Fork {
        /// Source, including all acknowledged writes.
        of: VolumeId,
        /// Read-only for a snapshot, writable for a clone.
        access: VolumeAccess,
        /// Description by the shell.
        text: String,
    },
    /// Creates a snapshot of each of several volumes, all with the content of the same moment. The snapshots have
    /// consecutive numbers.
    Snapshots {
        /// Sources, each with the description of its snapshot.
        of: Vec<(VolumeId, String)>,
    },
    /// Replaces the content of a volume by that of another, such as its snapshot. Keeps the size.
    Restore {
        volume: VolumeId,
        /// Source; not larger than the target.
        from: VolumeId,
    },
    /// Grows a volume; the new part reads as zeros.
    Grow {
        volume: VolumeId,
        /// New size in bytes.
        size: u64,
        /// New description, in the same commit.
        text: Option<String>,
    },
    /// Replaces the description.
    Describe { volume: VolumeId, text: String },
    /// Deletes a volume and frees its unshared space.
    Delete { volume: VolumeId },
}

/// Reason why an edit was refused; it had no effect.
#[plimsoll_language::say_errors]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// Whole files cannot be edited.
    #[error("whole files cannot be edited: only volumes of a store can")]
    NoStore,
    #[error("unknown volume {}", .0.0)]
    Unknown(VolumeId),
    /// Volumes cannot shrink.
    #[error("volumes cannot shrink: it has {present} bytes, {requested} were requested")]
    Shrinks {
        /// Current size in bytes.
        present: u64,
        /// Requested size in bytes.
        requested: u64,
    },
    /// Empty, or larger than the store can address.
    #[error("a volume of this store has 1 to {max} bytes, {requested} were requested")]
    Size {
        /// Requested size in bytes.
        requested: u64,
        /// Maximum size in bytes.
        max: u64,
    },
    /// Snapshots cannot be changed.
    #[error("volume {} is a snapshot: clone it and change the clone", .0.0)]
    ReadOnly(VolumeId),
    /// Source and target of a restore are the same.
    #[error("volume {} cannot be restored from itself: name its snapshot", .0.0)]
    Itself(VolumeId),
    /// Requests or edits are in progress.
    #[error("volume {} is in use: wait for its requests and edits to end", .0.0)]
    InUse(VolumeId),
    /// The store has failed.
    #[error("the store has failed and accepts no changes until it is reopened")]
    Failed,
    /// A limit of the store.
    #[error("a store takes at most {max} {of}")]
    TooMany {
        /// Maximum number.
        max: u32,
        /// Limited objects.
        of: &'static str,
    },
}

/// Maximum number of volumes and snapshots ever created in a store; numbers are not reused.
pub(super) const VOLUMES_MAX: u32 = 1 << 20;
/// Maximum length of a description in bytes.
pub(crate) const TEXT_MAX: u32 = 1 << 16;
/// Maximum number of pending edits.
const EDITS_MAX: u32 = 1 << 10;

/// A pending edit.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    pub(super) ticket: Ticket,
    edit: Edit,
    created: VolumeId,
}

impl Edit {
    /// Volumes that must have no change in flight.
    fn quiet(&self) -> Vec<VolumeId> {
        match self {
            Self::Create { .. } | Self::Grow { .. } | Self::Describe { .. } => Vec::new(),
            Self::Fork { of, .. } => vec![*of],
            Self::Snapshots { of } => of.iter().map(|(of, _)| *of).collect(),
            Self::Restore { volume, from } => vec![*volume, *from],
            Self::Delete { volume } => vec![*volume],
        }
    }

    fn text_length(&self) -> usize {
        match self {
            Self::Create { text, .. } | Self::Fork { text, .. } | Self::Describe { text, .. } => text.len(),
            Self::Grow { text, .. } => text.as_ref().map_or(0, String::len),
            Self::Snapshots { of } => of.iter().map(|(_, text)| text.len()).max().unwrap_or(0),
            Self::Restore { .. } | Self::Delete { .. } => 0,
        }
    }

    /// Number of volumes that it creates.
    fn creates(&self) -> u32 {
        match self {
            Self::Create { .. } | Self::Fork { .. } => 1,
            Self::Snapshots { of } => of.len() as u32,
            _ => 0,
        }
    }
}

impl Store {
    /// Begins an edit: executed when its volumes are quiet, ends when durable.
    pub(crate) fn edit(&mut self, ticket: Ticket, edit: &Edit, jobs: &mut Vec<FileJob>) -> Result<VolumeId, EditError> {
        let created = self.check(edit)?;
        for _ in 0..edit.creates() {
            self.stored.push(None);
        }
        if let Edit::Delete { volume } = edit {
            self.stored_mut(*volume)?.leaving = true;
        }
        self.edits.push_back(Waiting { ticket, edit: edit.clone(), created });
        self.make_edits(jobs);
        Ok(created)
    }

    fn stored_mut(&mut self, volume: VolumeId) -> Result<&mut Stored, EditError> {
        let stored = self.stored.get_mut(volume.0 as usize).and_then(Option::as_mut);
        stored.filter(|stored| !stored.leaving).ok_or(EditError::Unknown(volume))
    }

    fn check(&mut self, edit: &Edit) -> Result<VolumeId, EditError> {
        if self.failed {
            return Err(EditError::Failed);
        }
        if edit.text_length() > TEXT_MAX as usize {
            return Err(EditError::TooMany { max: TEXT_MAX, of: "bytes of text about a volume" });
        }
        if self.edits.len() >= EDITS_MAX as usize {
            return Err(EditError::TooMany { max: EDITS_MAX, of: "edits at the same time" });
        }
        let (max, next) = (self.geometry.size_max(), self.stored.len() as u32);
        let fits = |requested: u64| {
            if requested == 0 || requested > max { Err(EditError::Size { requested, max }) } else { Ok(()) }
        };
        let new = if next.saturating_add(edit.creates()) <= VOLUMES_MAX {
            Ok(VolumeId(next))
        } else {
            Err(EditError::TooMany { max: VOLUMES_MAX, of: "volumes and snapshots" })
        };
        if let Edit::Snapshots { of } = edit {
            of.iter().try_for_each(|(of, _)| self.stored_mut(*of).map(drop))?;
            return new;
        }
        match *edit {
            Edit::Snapshots { .. } => new,
            Edit::Create { size, .. } => fits(size).and(new),
            Edit::Fork { of, .. } => self.stored_mut(of).and(new),
            Edit::Restore { volume, from } if volume == from => Err(EditError::Itself(volume)),
            Edit::Restore { volume, from } => {
                let source_size = self.stored_mut(from)?.size;
                let target = self.writable(volume)?;
                if source_size > target.size {
                    return Err(EditError::Shrinks { present: source_size, requested: target.size });
                }
                Ok(volume)
            }
            Edit::Grow { volume, size, .. } => {
                let present = self.writable(volume)?.size;
                if size < present {
                    return Err(EditError::Shrinks { present, requested: size });
                }
                fits(size).map(|()| volume)
            }
            Edit::Describe { volume, .. } => self.stored_mut(volume).map(|_| volume),
            Edit::Delete { volume } => {
                let waits = self.edits.iter().any(|waiting| waiting.edit.quiet().contains(&volume));
                let stored = self.stored_mut(volume)?;
                if stored.in_flight > 0 || waits { Err(EditError::InUse(volume)) } else { Ok(volume) }
            }
        }
    }

    fn writable(&mut self, volume: VolumeId) -> Result<&mut Stored, EditError> {
        let stored = self.stored_mut(volume)?;
        if stored.access == VolumeAccess::ReadOnly { Err(EditError::ReadOnly(volume)) } else { Ok(stored) }
    }

    /// Executes pending edits in order while their volumes are quiet.
    pub(super) fn make_edits(&mut self, jobs: &mut Vec<FileJob>) {
        let mut edited = false;
        while let Some(first) = self.edits.front() {
            let mut quiet = true;
            for volume in first.edit.quiet() {
                let Some(stored) = self.stored[volume.0 as usize].as_mut() else { continue };
                // All volumes are frozen until all are quiet; otherwise each could always find another busy.
                stored.frozen = true;
                quiet &= stored.changes == 0;
            }
            if !quiet {
                break;
            }
            let Some(Waiting { ticket, edit, created: volume }) = self.edits.pop_front() else { break };
            for volume in edit.quiet() {
                if let Some(stored) = self.stored[volume.0 as usize].as_mut() {
                    stored.frozen = false;
                }
            }
            self.make(volume, edit);
            self.rounds.waiting.push(Waiter::Edit(ticket));
            edited = true;
        }
        if edited {
            self.retry(jobs);
            self.round(jobs);
        }
    }

    fn make(&mut self, created: VolumeId, edit: Edit) {
        match edit {
            Edit::Create { size, text } => self.create(created, size, VolumeAccess::ReadWrite, text),
            Edit::Fork { of, access, text } => self.create_fork(of, created, access, text),
            Edit::Snapshots { of } => {
                for (number, (of, text)) in of.into_iter().enumerate() {
                    self.create_fork(of, VolumeId(created.0 + number as u32), VolumeAccess::ReadOnly, text);
                }
            }
            Edit::Restore { volume, from } => {
                let size = self.stored[from.0 as usize].as_ref().map_or(0, |stored| stored.size);
                self.grow(volume, size);
                self.fork(from, volume);
            }
            Edit::Grow { volume, size, text } => {
                self.grow(volume, size);
                if let Some(text) = text {
                    self.describe(volume, text);
                }
            }
            Edit::Describe { volume, text } => self.describe(volume, text),
            Edit::Delete { volume } => {
                if let Some(stored) = self.stored[volume.0 as usize].take() {
                    self.rounds.record(Record::Delete { volume });
                    self.release_all(&stored);
                }
            }
        }
    }

    fn create(&mut self, volume: VolumeId, size: u64, access: VolumeAccess, text: String) {
        self.rounds.record(Record::Create { volume, size, access });
        if !text.is_empty() {
            self.rounds.record(Record::Describe { volume, text: text.clone() });
        }
        self.stored[volume.0 as usize] = Some(Stored::new(size, access, text));
    }

    fn create_fork(&mut self, of: VolumeId, created: VolumeId, access: VolumeAccess, text: String) {
        let size = self.stored[of.0 as usize].as_ref().map_or(0, |stored| stored.size);
        self.create(created, size, access, text);
        self.fork(of, created);
    }

    fn describe(&mut self, volume: VolumeId, text: String) {
        if let Some(stored) = self.stored[volume.0 as usize].as_mut() {
            stored.text.clone_from(&text);
            self.rounds.record(Record::Describe { volume, text });
        }
    }

    /// Never shrinks: another edit may have grown the volume since the check.
    fn grow(&mut self, volume: VolumeId, size: u64) {
        let Some(stored) = self.stored[volume.0 as usize].as_mut() else { return };
        if size > stored.size {
            stored.size = size;
            self.rounds.record(Record::Grow { volume, size });
        }
    }

    fn fork(&mut self, from: VolumeId, to: VolumeId) {
        let Some(source) = self.stored[from.0 as usize].as_ref() else { return };
        let map = source.map.clone();
        for (_, count, at) in map.allocated(0..self.geometry.clusters(source.size)) {
            self.space.share((at, count));
        }
        if let Some(target) = self.stored[to.0 as usize].as_mut() {
            let before = std::mem::replace(&mut target.map, map);
            let size = target.size;
            for (_, count, at) in before.allocated(0..self.geometry.clusters(size)) {
                self.rounds.release((at, count));
            }
        }
        self.rounds.record(Record::Fork { from, to });
    }

    fn release_all(&mut self, stored: &Stored) {
        for (_, count, at) in stored.map.allocated(0..self.geometry.clusters(stored.size)) {
            self.rounds.release((at, count));
        }
    }
}
