//! Recovery of a store from its commits, and the records of its complete state.

use std::collections::BTreeMap;

use super::{ClusterSpace, Geometry, Store, Stored, VolumeId, clusters_of};
use crate::job::{FileId, FileJob};
use crate::record::{Commit, Record, VolumeAccess};

/// Reason why commits do not describe a store.
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unrecoverable {
    /// No commits, or the first is not full.
    #[error("the metadata do not begin with a whole commit: not those of a store, or their beginning is lost")]
    NoBeginning,
    #[error("commit {expected} is missing: commit {found} follows its predecessor")]
    Missing { expected: u64, found: u64 },
    /// A record contradicts earlier records.
    #[error("commit {0} contradicts earlier commits: the metadata are damaged")]
    Contradiction(u64),
    /// Data files are shorter than the map, or missing.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Short(Vec<ShortFile>),
}

/// A data file that is shorter than required by the map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShortFile {
    pub file: FileId,
    /// Length in bytes; 0 if missing.
    pub length: u64,
    /// Required length in bytes.
    pub needed: u64,
    /// Volumes with content beyond its end.
    pub volumes: Vec<VolumeId>,
}

impl std::fmt::Display for ShortFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { file: FileId(file), length, needed, .. } = self;
        match length {
            0 => write!(f, "data.{file} is missing, and volumes have content in it up to byte {needed}"),
            _ => write!(f, "data.{file} has {length} bytes, and volumes have content in it up to byte {needed}"),
        }
    }
}

/// Treatment of unreferenced clusters during recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreferenced {
    Punch,
    /// Keep unchanged: a dropped commit may have referred to them.
    Keep,
}

/// A recovered store, and the work before it is served.
#[derive(Debug)]
pub struct Recovered {
    /// The store as of its last commit.
    pub store: Store,
    /// First punches of unreferenced clusters; further punches follow as these are worked. Until then space is
    /// allocated beyond the current files.
    pub jobs: Vec<FileJob>,
    /// Unreferenced bytes of the data files, including holes.
    pub unreferenced_bytes: u64,
}

impl Store {
    /// Recovers a store as of its last commit. `commits` start with the last full commit; `lengths` are the lengths of
    /// the data files in bytes, 0 if missing; `capacity` is the allowed total in bytes.
    pub fn recover(
        commits: impl IntoIterator<Item = Commit>,
        lengths: &[u64],
        capacity: u64,
        unreferenced: Unreferenced,
    ) -> Result<Recovered, Unrecoverable> {
        let mut replay = Replay::default();
        for commit in commits {
            replay.apply(&commit)?;
        }
        replay.finish(lengths, capacity, unreferenced)
    }

    /// The complete current state as records.
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

/// State of the replay of commits.
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
        if commit.is_full {
            *self = Self { next: sequence, log_records_first: records, ..Self::default() };
        }
        if commit.is_full != matches!(commit.records.first(), Some(Record::Geometry { .. })) {
            return Err(Unrecoverable::Contradiction(sequence));
        }
        if self.geometry.is_none() && !commit.is_full {
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

    /// `None` if the record contradicts earlier records.
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
                let clusters_per_file = self.geometry?.clusters_per_file;
                let stored = self.within(volume, first, count)?;
                at.checked_add(count).filter(|end| *end < u32::MAX)?;
                // Excludes a file's first cluster, and runs across the end of a file.
                (count == 0 || (at % clusters_per_file > 0 && at % clusters_per_file + count <= clusters_per_file))
                    .then_some(())?;
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
                let max = self.geometry?.size_max();
                let stored = self.stored_mut(volume)?;
                (size >= stored.size && size <= max).then_some(())?;
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

    fn create(&mut self, volume: VolumeId, size: u64, access: VolumeAccess) -> Option<()> {
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

    fn finish(self, lengths: &[u64], capacity: u64, unreferenced: Unreferenced) -> Result<Recovered, Unrecoverable> {
        let geometry = self.geometry.ok_or(Unrecoverable::NoBeginning)?;
        let mut references: Vec<u32> = Vec::new();
        let mut short: BTreeMap<u32, ShortFile> = BTreeMap::new();
        for (number, stored) in self.stored.iter().enumerate() {
            let Some(stored) = stored else { continue };
            for (_, count, at) in stored.map.allocated(0..geometry.clusters(stored.size)) {
                if references.len() < (at + count) as usize {
                    references.resize((at + count) as usize, 0);
                }
                for count in &mut references[at as usize..(at + count) as usize] {
                    *count += 1;
                }
                let file = geometry.file(at);
                let (length, needed) = (length_of(lengths, file), geometry.file_bytes(file, at + count));
                if length < needed {
                    let volumes = Vec::new();
                    let short = short.entry(file.0).or_insert(ShortFile { file, length, needed, volumes });
                    short.needed = short.needed.max(needed);
                    short.volumes.push(VolumeId(number as u32));
                    short.volumes.dedup();
                }
            }
        }
        if !short.is_empty() {
            return Err(Unrecoverable::Short(short.into_values().collect()));
        }
        let empty = ClusterSpace::new(clusters_of(geometry, capacity), geometry.clusters_per_file);
        let (space, unclean) = ClusterSpace::recovered(references, mark(geometry, lengths), empty);
        let unreferenced_bytes = geometry.byte(1) * unclean.iter().map(|(_, count)| u64::from(*count)).sum::<u64>();
        let mut store = Store::with(geometry, self.stored, space);
        store.rounds.resume(self.next, self.log_end, self.log_records, self.log_records_first);
        let mut jobs = Vec::new();
        if unreferenced == Unreferenced::Punch {
            for run in unclean {
                store.punch(run, &mut jobs);
            }
        }
        Ok(Recovered { store, jobs, unreferenced_bytes })
    }
}

fn length_of(lengths: &[u64], file: FileId) -> u64 {
    lengths.get(file.0 as usize).copied().unwrap_or(0)
}

/// End of the last data file, in clusters of all data files.
fn mark(geometry: Geometry, lengths: &[u64]) -> u32 {
    let Some(last) = lengths.len().checked_sub(1) else { return 0 };
    let within = geometry.clusters(lengths[last].min(geometry.byte(geometry.clusters_per_file)));
    let before = (last as u32).saturating_mul(geometry.clusters_per_file);
    before.saturating_add(within).min(u32::MAX - 1)
}
