//! A store from what a crash left of it, and the records that say everything about one.

use super::{Geometry, Space, Store, Stored, VolumeId, clusters_of};
use crate::job::Job;
use crate::record::{Access, Commit, Record};

/// Why commits are not those of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unrecoverable {
    /// There is no commit, or the first one is not whole.
    #[error("the metadata do not begin with a whole commit: they are not those of a store, or their beginning is lost")]
    NoBeginning,
    /// A commit is missing.
    #[error("commit {expected} is missing: commit {found} follows the one before it")]
    Missing {
        /// The number that should have come.
        expected: u64,
        /// The number that came.
        found: u64,
    },
    /// A record contradicts those before it.
    #[error("commit {0} contradicts those before it: the metadata are damaged")]
    Contradiction(u64),
}

/// A store, and what has to be done before it is served.
#[derive(Debug)]
pub struct Recovered {
    /// The store as of its last commit.
    pub store: Store,
    /// The first punches of clusters that nobody refers to; more follow as they are worked. Until then space is given
    /// out from beyond the present files.
    pub jobs: Vec<Job>,
}

impl Store {
    /// A store as of its last commit. `commits` begin with the last whole one; `files` is how many data files there are,
    /// `capacity` how many bytes of them may be used.
    pub fn recover(
        commits: impl IntoIterator<Item = Commit>,
        files: u32,
        capacity: u64,
    ) -> Result<Recovered, Unrecoverable> {
        let mut replay = Replay::default();
        for commit in commits {
            replay.apply(&commit)?;
        }
        replay.finish(files, capacity)
    }

    /// Everything about the store at this moment, as records.
    pub(super) fn everything(&self) -> Vec<Record> {
        let Geometry { cluster_bytes, clusters_per_file } = self.geometry;
        let volumes = self.stored.len() as u32;
        let mut records = vec![Record::Geometry { cluster_bytes, clusters_per_file, volumes }];
        for (number, stored) in self.stored.iter().enumerate() {
            let Some(stored) = stored else { continue };
            let volume = VolumeId(number as u32);
            records.push(Record::Create { volume, size: stored.size, access: stored.access });
            if !stored.text.is_empty() {
                records.push(Record::Describe { volume, text: stored.text.clone() });
            }
            let runs = stored.map.allocated(0..self.geometry.clusters(stored.size));
            records.extend(runs.map(|(first, count, at)| Record::Map { volume, first, count, at }));
        }
        records
    }
}

/// Commits being applied.
#[derive(Default)]
struct Replay {
    geometry: Option<Geometry>,
    stored: Vec<Option<Stored>>,
    next: u64,
    log_end: u64,
    log_records: u64,
    log_records_first: u64,
}

impl Replay {
    fn apply(&mut self, commit: &Commit) -> Result<(), Unrecoverable> {
        let (sequence, records) = (commit.sequence, commit.records.len() as u64);
        if commit.whole {
            *self = Self { next: sequence, log_records_first: records, ..Self::default() };
        }
        if commit.whole != matches!(commit.records.first(), Some(Record::Geometry { .. })) {
            return Err(Unrecoverable::Contradiction(sequence));
        }
        if self.geometry.is_none() && !commit.whole {
            return Err(Unrecoverable::NoBeginning);
        }
        if sequence != self.next {
            return Err(Unrecoverable::Missing { expected: self.next, found: sequence });
        }
        for record in &commit.records {
            self.record(record).ok_or(Unrecoverable::Contradiction(sequence))?;
        }
        self.next = sequence + 1;
        self.log_end += commit.encoded_bytes();
        self.log_records += records;
        Ok(())
    }

    /// `None` when the record cannot follow those before it.
    fn record(&mut self, record: &Record) -> Option<()> {
        match record {
            &Record::Geometry { cluster_bytes, clusters_per_file, volumes } => {
                let geometry = Geometry { cluster_bytes, clusters_per_file };
                (self.geometry.is_none() && geometry.is_valid() && volumes <= super::edit::VOLUMES_MAX).then_some(())?;
                self.geometry = Some(geometry);
                self.stored.resize_with(volumes as usize, || None);
            }
            &Record::Create { volume, size, access } => self.create(volume, size, access)?,
            &Record::Fork { from, to } => {
                let (source, target) = (self.stored(from)?, self.stored(to)?);
                (source.size <= target.size).then_some(())?;
                let map = source.map.clone();
                self.stored_mut(to)?.map = map;
            }
            &Record::Map { volume, first, count, at } => {
                let stored = self.within(volume, first, count)?;
                at.checked_add(count).filter(|end| *end < u32::MAX)?;
                for step in 0..count {
                    stored.map.set(first + step, Some(at + step));
                }
            }
            &Record::Unmap { volume, first, count } => {
                let stored = self.within(volume, first, count)?;
                for step in 0..count {
                    stored.map.set(first + step, None);
                }
            }
            &Record::Grow { volume, size } => {
                let most = self.geometry?.size_max();
                let stored = self.stored_mut(volume)?;
                (size >= stored.size && size <= most).then_some(())?;
                stored.size = size;
            }
            Record::Describe { volume, text } => self.stored_mut(*volume)?.text.clone_from(text),
            &Record::Delete { volume } => {
                self.stored(volume)?;
                self.stored[volume.0 as usize] = None;
            }
        }
        Some(())
    }

    fn create(&mut self, volume: VolumeId, size: u64, access: Access) -> Option<()> {
        let geometry = self.geometry?;
        let index = volume.0 as usize;
        (size > 0 && size <= geometry.size_max() && volume.0 < super::edit::VOLUMES_MAX).then_some(())?;
        if index >= self.stored.len() {
            self.stored.resize_with(index + 1, || None);
        }
        self.stored[index].is_none().then_some(())?;
        self.stored[index] = Some(Stored::new(size, access, String::new()));
        Some(())
    }

    fn stored(&self, volume: VolumeId) -> Option<&Stored> {
        self.stored.get(volume.0 as usize)?.as_ref()
    }

    fn stored_mut(&mut self, volume: VolumeId) -> Option<&mut Stored> {
        self.stored.get_mut(volume.0 as usize)?.as_mut()
    }

    /// The volume, if it has these clusters.
    fn within(&mut self, volume: VolumeId, first: u32, count: u32) -> Option<&mut Stored> {
        let geometry = self.geometry?;
        let stored = self.stored_mut(volume)?;
        let end = first.checked_add(count)?;
        (end <= geometry.clusters(stored.size)).then_some(stored)
    }

    fn finish(self, files: u32, capacity: u64) -> Result<Recovered, Unrecoverable> {
        let geometry = self.geometry.ok_or(Unrecoverable::NoBeginning)?;
        let mark = files.saturating_mul(geometry.clusters_per_file).min(u32::MAX - 1);
        let mut references: Vec<u32> = Vec::new();
        for stored in self.stored.iter().flatten() {
            for (_, count, at) in stored.map.allocated(0..geometry.clusters(stored.size)) {
                if references.len() < (at + count) as usize {
                    references.resize((at + count) as usize, 0);
                }
                for count in &mut references[at as usize..(at + count) as usize] {
                    *count += 1;
                }
            }
        }
        let (space, unclean) = Space::recovered(references, mark, clusters_of(geometry, capacity));
        let mut store = Store::with(geometry, self.stored, space);
        store.rounds.resume(self.next, self.log_end, self.log_records, self.log_records_first);
        let mut jobs = Vec::new();
        for run in unclean {
            store.punch(run, &mut jobs);
        }
        Ok(Recovered { store, jobs })
    }
}
