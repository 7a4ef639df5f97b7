//! Executes the jobs of a store in memory, in random order, with simulated power failures.
//!
//! Unsynced data are lost, kept or torn by a crash, sector by sector; a commit in progress is complete, partial or
//! absent. A file maps sectors to the last written value.

use std::collections::BTreeMap;

use fastrand::Rng;
use plimsoll_volume::{
    Commit, Errno, FileId, FileJob, FilePosition, Io, JobId, Log, Recovered, Store, StoreId, Ticket, Unreferenced,
};

pub const SECTOR: u64 = 512;

const ID: StoreId = StoreId([1; 16]);

type Sector = (FileId, u64);

#[derive(Clone, Debug, Default)]
pub struct Disk {
    /// Values that reads return.
    observed: BTreeMap<Sector, u64>,
    /// Values that survive a crash.
    durable: BTreeMap<Sector, u64>,
    /// Minimum length of each file in bytes.
    lengths: BTreeMap<FileId, u64>,
    /// Changes since the last sync of each file.
    unsynced: BTreeMap<FileId, Vec<(u64, u64)>>,
    log: Vec<u8>,
    /// Number of the first unacknowledged commit.
    next: u64,
    /// Accepted jobs; syncs with the number of changes that they cover.
    jobs: Vec<(FileJob, usize)>,
    pub payloads: BTreeMap<Ticket, Vec<u64>>,
}

/// Selection of failing jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Luck {
    Good,
    NoSpace,
}

impl Disk {
    pub fn take_over(&mut self, jobs: &mut Vec<FileJob>) {
        for job in jobs.drain(..) {
            let covered = match &job.io {
                Io::Sync { file, .. } => self.unsynced.get(file).map_or(0, Vec::len),
                _ => 0,
            };
            if let Io::Commit(_) = job.io {
                assert!(!self.jobs.iter().any(|(job, _)| matches!(job.io, Io::Commit(_))), "one commit at a time");
            }
            self.jobs.push((job, covered));
        }
    }

    pub fn is_idle(&self) -> bool {
        self.jobs.is_empty()
    }

    /// Executes a random job.
    pub fn work(&mut self, random: &mut Rng, luck: Luck) -> Option<(JobId, Result<(), Errno>)> {
        if self.jobs.is_empty() {
            return None;
        }
        let (job, covered) = self.jobs.swap_remove(random.usize(0..self.jobs.len()));
        let fails = luck == Luck::NoSpace
            && match &job.io {
                Io::Write { .. } | Io::Copy { .. } | Io::Commit(_) | Io::Sync { .. } => true,
                Io::Read { .. } | Io::Blank { .. } | Io::Zero { .. } | Io::Punch { .. } => false,
            };
        if !fails {
            self.do_wholly(job.io, covered);
            return Some((job.id, Ok(())));
        }
        if let Io::Sync { .. } = &job.io {
            // The file could not be extended, before its sync.
            return Some((job.id, Err(Errno::NoSpc)));
        }
        let is_full = matches!(&job.io, Io::Commit(commit) if commit.is_full);
        if is_full && random.bool() {
            // No space for a second log: the old log is unchanged.
            return Some((job.id, Err(Errno::NoSpc)));
        }
        self.do_in_part(&job.io, random);
        Some((job.id, Err(if is_full { Errno::Io } else { Errno::NoSpc })))
    }

    fn do_wholly(&mut self, io: Io, covered: usize) {
        match io {
            Io::Read { ticket, into, place, length } => {
                let values: Vec<u64> = sectors(place, length.into()).map(|sector| self.value(sector)).collect();
                self.fill(ticket, into, &values);
            }
            Io::Blank { ticket, into, length } => {
                self.fill(ticket, into, &vec![0; (u64::from(length) / SECTOR) as usize]);
            }
            Io::Sync { file, length } => {
                let durable = self.lengths.entry(file).or_default();
                *durable = length.max(*durable);
                let rest = self.unsynced.entry(file).or_default().split_off(covered);
                let done = self.unsynced.insert(file, rest).unwrap_or_default();
                self.durable.extend(done.into_iter().map(|(sector, value)| ((file, sector), value)));
            }
            Io::Commit(commit) => {
                self.log = replay_writes(&self.log, &commit);
                self.next = commit.sequence + 1;
            }
            other => {
                for (sector, value) in self.changes(&other) {
                    self.change(sector, value);
                }
            }
        }
    }

    /// Partial effect of a failed or interrupted job.
    fn do_in_part(&mut self, io: &Io, random: &mut Rng) {
        if let Io::Commit(commit) = io {
            let replayed = replay_writes(&self.log, commit);
            if commit.is_full {
                // Written to another file and renamed: either the old or the new log.
                if random.bool() {
                    self.log = replayed;
                }
            } else {
                let length = random.usize(commit.at as usize..=replayed.len());
                self.log = replayed[..length].to_vec();
            }
            return;
        }
        for (sector, value) in self.changes(io) {
            if random.bool() {
                self.change(sector, value);
            }
        }
    }

    fn changes(&self, io: &Io) -> Vec<(Sector, u64)> {
        match *io {
            Io::Write { ticket, from, place, length } => {
                let first = (u64::from(from) / SECTOR) as usize;
                let payload = &self.payloads[&ticket][first..];
                sectors(place, length.into()).zip(payload.iter().copied()).collect()
            }
            Io::Copy { from, to, length } => {
                let values = sectors(from, length.into()).map(|sector| self.value(sector));
                sectors(to, length.into()).zip(values).collect()
            }
            Io::Zero { place, length } => sectors(place, length).map(|sector| (sector, 0)).collect(),
            Io::Punch { place, length } => {
                let end = (place.file, (place.at + length) / SECTOR);
                let begin = (place.file, place.at / SECTOR);
                self.observed.range(begin..end).map(|(sector, _)| (*sector, 0)).collect()
            }
            Io::Read { .. } | Io::Blank { .. } | Io::Sync { .. } | Io::Commit(_) => Vec::new(),
        }
    }

    fn change(&mut self, sector: Sector, value: u64) {
        self.observed.insert(sector, value);
        self.unsynced.entry(sector.0).or_default().push((sector.1, value));
    }

    fn value(&self, sector: Sector) -> u64 {
        self.observed.get(&sector).copied().unwrap_or(0)
    }

    fn fill(&mut self, ticket: Ticket, into: u32, values: &[u64]) {
        let payload = self.payloads.get_mut(&ticket).expect("reads have a payload");
        let first = (u64::from(into) / SECTOR) as usize;
        payload[first..first + values.len()].copy_from_slice(values);
    }

    /// Power failure: jobs in progress are executed partially, unsynced data may be lost.
    pub fn crash(&mut self, random: &mut Rng) {
        for (job, _) in std::mem::take(&mut self.jobs) {
            self.do_in_part(&job.io, random);
        }
        let survives = random.u8(0..=3);
        for (file, changes) in std::mem::take(&mut self.unsynced) {
            for (sector, value) in changes {
                if random.u8(1..=3) <= survives {
                    self.durable.insert((file, sector), value);
                }
            }
        }
        self.observed = self.durable.clone();
        self.payloads.clear();
    }

    /// Opens the files as a shell does, truncating a torn commit. `None` without any commit.
    pub fn open(&mut self, capacity: u64) -> Option<Recovered> {
        let log = Log::read(&self.log);
        assert_eq!(log.check(ID, self.next), Ok(()), "a crash tears only the end");
        self.log.truncate(log.length as usize);
        if log.commits.is_empty() {
            return None;
        }
        let files = self.observed.last_key_value().map_or(0, |((file, _), _)| file.0 + 1);
        let files = self.lengths.last_key_value().map_or(files, |(file, _)| files.max(file.0 + 1));
        // Minimum lengths, plus unsynced bytes that may survive.
        let written = |file: u32| {
            let range = (FileId(file), 0)..(FileId(file + 1), 0);
            self.observed.range(range).next_back().map_or(0, |((_, sector), _)| (sector + 1) * SECTOR)
        };
        let synced = |file: u32| self.lengths.get(&FileId(file)).copied().unwrap_or(0);
        let lengths: Vec<u64> = (0..files).map(|file| synced(file).max(written(file))).collect();
        let recovered = Store::recover(log.commits, &lengths, capacity, Unreferenced::Punch);
        Some(recovered.expect("commits are recoverable"))
    }
}

fn replay_writes(log: &[u8], commit: &Commit) -> Vec<u8> {
    let mut bytes = if commit.is_full { Vec::new() } else { log[..commit.at as usize].to_vec() };
    assert_eq!(bytes.len() as u64, commit.at);
    bytes.extend(commit.encode(ID));
    bytes
}

fn sectors(place: FilePosition, length: u64) -> impl Iterator<Item = Sector> {
    assert!(place.at.is_multiple_of(SECTOR) && length.is_multiple_of(SECTOR));
    (place.at / SECTOR..(place.at + length) / SECTOR).map(move |sector| (place.file, sector))
}
