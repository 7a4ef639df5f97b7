//! Location of data: copy-on-write maps from clusters of volumes to clusters of data files.
//!
//! The store decides; the shell executes I/O and makes records durable. Crash safety follows from the order in which
//! jobs are issued:
//!
//! 1. Data before map: a commit follows a sync of every data file written before its records were collected.
//! 2. Map before reply: a flush or FUA write completes after the commit that its data need.
//! 3. Durable before reuse: a released cluster is reused only after the commit of its release, after all requests
//!    planned with the old map, and after it was punched.
//! 4. A single commit at a time: flushes that arrive meanwhile share the next.
//! 5. Length before map: a data file is durably extended to the end of a cluster before a commit refers to it. A file
//!    shorter than the map was truncated, and is refused.

mod edit;
mod epoch;
mod geometry;
mod map;
mod plan;
mod recover;
mod round;
mod space;

pub use edit::{Edit, EditError};
pub use geometry::Geometry;
pub use recover::{Recovered, ShortFile, Unrecoverable, Unreferenced};

pub(crate) use edit::TEXT_MAX;

use std::collections::{BTreeSet, VecDeque};

use crate::job::{FileId, FileJob, FilePosition, Io, JobId};
use crate::record::{VolumeAccess, VolumeId};
use crate::request::{Command, Errno, Request, Ticket};
use edit::Waiting;
use epoch::Epochs;
use map::Map;
use plan::Plan;
use round::Rounds;
use slab::Slab;
use space::{ClusterSpace, Clusters};

/// Maximum number of retries of a request while space is being freed.
const AGAIN_MAX: u8 = 32;

/// A run of bytes of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Length in bytes.
    pub length: u64,
    /// Whether it is allocated; a hole reads as zeros.
    pub allocated: bool,
}

/// Size, access and description of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About<'a> {
    pub volume: VolumeId,
    /// Size in bytes.
    pub size: u64,
    pub access: VolumeAccess,
    /// Description by the shell.
    pub text: &'a str,
}

/// Space of a store, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    pub capacity: u64,
    /// Used by volumes and snapshots, without double counting of shared space, including space that is not yet
    /// reusable.
    pub taken: u64,
    pub available: u64,
}

/// All volumes of a data directory: maps their bytes to clusters of data files.
#[derive(Debug)]
pub struct Store {
    geometry: Geometry,
    stored: Vec<Option<Stored>>,
    space: ClusterSpace,
    flights: Slab<AcceptedRequest>,
    jobs: Slab<Owner>,
    /// Clusters of volumes with a copy in progress.
    copying: BTreeSet<(VolumeId, u32)>,
    /// Requests that wait for a cluster copy, an edit, or space, in order of arrival.
    parked: Vec<u32>,
    epochs: Epochs,
    rounds: Rounds,
    /// References released by durable commits, and the epoch that must pass before reuse.
    released: VecDeque<(u64, Vec<Clusters>)>,
    /// Unreferenced runs to be punched, and the number of punches in progress.
    unclean: VecDeque<Clusters>,
    punching: u32,
    edits: VecDeque<Waiting>,
    ended: Vec<StoreEnd>,
    /// Set after a failed data sync: acknowledged writes may be lost, so further changes are refused.
    failed: bool,
    /// When changes become durable.
    durability: Durability,
}

/// When changes of a volume become durable, at the latest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// At the acknowledgement of a flush or an FUA write, and with the next commit.
    #[default]
    Flushes,
    /// At their own acknowledgement.
    Changes,
}

/// Whether a store accepts changes and makes them durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreHealth {
    Good,
    /// The last commit failed with this error: answered changes are not durable, and it is repeated.
    Stalled(Errno),
    /// A data sync failed: answered changes may be lost, and all changes are refused until the store is reopened.
    Failed,
}

/// State of a volume.
#[derive(Clone, Debug)]
struct Stored {
    size: u64,
    access: VolumeAccess,
    text: String,
    map: Map,
    /// Accepted requests that have not ended.
    in_flight: u32,
    /// Number of changes among these with jobs in progress.
    changes: u32,
    /// An edit waits until `changes` is zero.
    frozen: bool,
    /// A deletion is pending.
    leaving: bool,
}

impl Stored {
    const fn new(size: u64, access: VolumeAccess, text: String) -> Self {
        let map = Map::new();
        Self { size, access, text, map, in_flight: 0, changes: 0, frozen: false, leaving: false }
    }
}

#[derive(Clone, Debug)]
struct AcceptedRequest {
    tag: u32,
    ticket: Ticket,
    volume: VolumeId,
    request: Request,
    /// Number of its jobs in progress.
    left: u32,
    outcome: Result<(), Errno>,
    /// Clusters of the volume, and their data clusters after completion.
    moves: Vec<(u32, u32)>,
    epoch: u64,
    /// Number of restarts because of missing space.
    again: u8,
}

#[derive(Clone, Copy, Debug)]
enum Owner {
    Flight {
        number: u32,
        /// The modified file.
        wrote: Option<FileId>,
    },
    Sync,
    Commit,
    Punch(Clusters),
}

/// A request or edit waiting for durability.
#[derive(Clone, Copy, Debug)]
enum Waiter {
    Flight(u32),
    Edit(Ticket),
}

/// The end of a request or edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreEnd {
    Request(u32, Result<(), Errno>),
    Edit(Ticket, Result<(), Errno>),
}

impl Store {
    /// Creates an empty store with `capacity` bytes of data files. Its first commit is full.
    ///
    /// # Panics
    /// If the geometry is invalid.
    pub fn new(geometry: Geometry, capacity: u64) -> Self {
        assert!(geometry.is_valid(), "{geometry:?} is within its bounds");
        Self::with(geometry, Vec::new(), ClusterSpace::new(clusters_of(geometry, capacity), geometry.clusters_per_file))
    }

    fn with(geometry: Geometry, stored: Vec<Option<Stored>>, space: ClusterSpace) -> Self {
        Self {
            geometry,
            stored,
            space,
            flights: Slab::new(),
            jobs: Slab::new(),
            copying: BTreeSet::new(),
            parked: Vec::new(),
            epochs: Epochs::new(),
            rounds: Rounds::new(),
            released: VecDeque::new(),
            unclean: VecDeque::new(),
            punching: 0,
            edits: VecDeque::new(),
            ended: Vec::new(),
            failed: false,
            durability: Durability::Flushes,
        }
    }

    /// Units of the store.
    pub const fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// Used and available space.
    pub fn usage(&self) -> Usage {
        let bytes = |clusters| self.geometry.byte(clusters);
        Usage {
            capacity: bytes(self.space.capacity()),
            taken: bytes(self.space.taken()),
            available: bytes(self.space.available()),
        }
    }

    /// Sets the capacity; below the used space, no more is allocated.
    pub fn set_capacity(&mut self, capacity: u64) {
        self.space.set_capacity(clusters_of(self.geometry, capacity));
    }

    /// Sets the minimum number of records since the last full commit before the next full commit; also requires four
    /// times the records of that commit. Default 16,384.
    pub const fn set_records_kept(&mut self, records: u64) {
        self.rounds.log_records_min = records;
    }

    /// Sets when changes become durable.
    pub const fn set_durability(&mut self, durability: Durability) {
        self.durability = durability;
    }

    /// Whether changes are accepted and become durable.
    pub const fn health(&self) -> StoreHealth {
        match self.rounds.stalled() {
            _ if self.failed => StoreHealth::Failed,
            Some(errno) => StoreHealth::Stalled(errno),
            None => StoreHealth::Good,
        }
    }

    /// True after a failed data sync: reads continue, all other requests fail until the store is reopened.
    pub const fn has_failed(&self) -> bool {
        self.failed
    }

    /// All volumes and snapshots, without those of pending edits.
    pub fn volumes(&self) -> impl Iterator<Item = About<'_>> {
        let about = |(number, stored): (usize, &'_ Option<Stored>)| {
            stored.as_ref().map(|_| VolumeId(number as u32)).and_then(|volume| self.about(volume))
        };
        self.stored.iter().enumerate().filter_map(about)
    }

    /// Description of a volume.
    pub fn about(&self, volume: VolumeId) -> Option<About<'_>> {
        let stored = self.stored(volume)?;
        Some(About { volume, size: stored.size, access: stored.access, text: &stored.text })
    }

    /// Allocated ranges and holes of a volume from `offset` on: at most `limit` runs that together cover at most
    /// `length` bytes.
    pub fn extents(&self, volume: VolumeId, offset: u64, length: u64, limit: usize) -> Vec<Extent> {
        let mut extents: Vec<Extent> = Vec::new();
        let Some(stored) = self.stored(volume) else { return extents };
        let end = offset.saturating_add(length).min(stored.size);
        let clusters = self.geometry.cluster(offset)..self.geometry.clusters(end);
        for run in stored.map.runs(clusters) {
            let from = self.geometry.byte(run.first).max(offset);
            let until = self.geometry.byte(run.first).saturating_add(self.geometry.byte(run.count)).min(end);
            let allocated = run.at.is_some();
            let length = until - from;
            if let Some(last) = extents.last_mut()
                && last.allocated == allocated
            {
                last.length += length;
            } else if extents.len() < limit {
                extents.push(Extent { length, allocated });
            } else {
                break;
            }
        }
        extents
    }

    /// Runs of the data files with the content of a volume or of all volumes, ascending and without duplicates.
    pub fn places(&self, volume: Option<VolumeId>) -> Vec<(FilePosition, u64)> {
        let is_selected = |number: u32| volume.is_none_or(|volume| volume.0 == number);
        let stored = (0..)
            .zip(&self.stored)
            .filter(|(number, _)| is_selected(*number))
            .filter_map(|(_, stored)| stored.as_ref());
        let runs = stored.flat_map(|stored| stored.map.allocated(0..self.geometry.clusters(stored.size)));
        let mut runs: Vec<(u32, u32)> = runs.map(|(_, count, at)| (at, at + count)).collect();
        runs.sort_unstable();
        let mut places: Vec<(FilePosition, u64)> = Vec::new();
        let mut covered = 0;
        for (first, end) in runs {
            let first = first.max(covered);
            if first < end {
                places.push((self.geometry.place(self.geometry.byte(first)).0, self.geometry.byte(end - first)));
                covered = end;
            }
        }
        places
    }

    /// Volumes whose content includes a byte of the data files, each with the offset.
    pub fn volumes_at(&self, FilePosition { file, at }: FilePosition) -> Vec<(VolumeId, u64)> {
        let cluster = file.0 * self.geometry.clusters_per_file + self.geometry.cluster(at);
        let within = at - self.geometry.byte(self.geometry.cluster(at));
        let mut found = Vec::new();
        for (number, stored) in self.stored.iter().enumerate() {
            let Some(stored) = stored else { continue };
            for (first, count, start) in stored.map.allocated(0..self.geometry.clusters(stored.size)) {
                if (start..start + count).contains(&cluster) {
                    let offset = self.geometry.byte(first + (cluster - start)) + within;
                    found.push((VolumeId(number as u32), offset));
                }
            }
        }
        found
    }

    fn stored(&self, volume: VolumeId) -> Option<&Stored> {
        self.stored.get(volume.0 as usize)?.as_ref()
    }

    /// Starts the work of a request, or parks it.
    fn start(&mut self, number: u32, jobs: &mut Vec<FileJob>) {
        match self.plan(number, jobs) {
            Plan::Begun { jobs: 0 } => self.settle(number, jobs),
            Plan::Begun { .. } => {}
            Plan::Parked => {
                self.parked.push(number);
                // It may be the first request that needs space to be freed.
                self.round(jobs);
            }
            Plan::Failed(errno) => {
                self.fail(number, errno);
                self.end(number);
            }
        }
    }

    /// Retries parked requests.
    fn retry(&mut self, jobs: &mut Vec<FileJob>) {
        for number in std::mem::take(&mut self.parked) {
            self.start(number, jobs);
        }
    }

    /// Handles the completion of a request's jobs.
    fn settle(&mut self, number: u32, jobs: &mut Vec<FileJob>) {
        let Some(flight) = self.flights.get_mut(number as usize) else { return };
        let (volume, request, outcome) = (flight.volume, flight.request, flight.outcome);
        let moves = std::mem::take(&mut flight.moves);
        self.epochs.leave(flight.epoch);
        let begins_again = outcome == Err(Errno::NoSpc) && self.may_begin_again(number);
        let has_copied = !moves.is_empty();
        self.finish_moves(volume, moves, outcome, jobs);
        let mut is_quiet = false;
        if request.changes() && outcome.is_ok() {
            self.rounds.wrote_bytes(request.payload());
        }
        if request.changes()
            && let Some(stored) = self.stored[volume.0 as usize].as_mut()
        {
            stored.changes -= 1;
            is_quiet = stored.changes == 0 && stored.frozen;
        }
        if begins_again {
            self.parked.push(number);
            self.rounds.is_wanted = true;
        } else if request.changes() && request.fua && outcome.is_ok() {
            self.rounds.waiting.push(Waiter::Flight(number));
        } else {
            self.end(number);
        }
        self.reclaim(jobs);
        if has_copied {
            self.retry(jobs);
        }
        if is_quiet {
            self.make_edits(jobs);
        }
        self.round(jobs);
    }

    /// Whether a request that failed for lack of disk space is retried: space being punched may suffice, although the
    /// request had been given unused clusters.
    fn may_begin_again(&mut self, number: u32) -> bool {
        let may_gain = self.may_gain_space();
        let Some(flight) = self.flights.get_mut(number as usize).filter(|flight| may_gain && flight.again < AGAIN_MAX)
        else {
            return false;
        };
        (flight.again, flight.outcome) = (flight.again + 1, Ok(()));
        true
    }

    fn fail(&mut self, number: u32, errno: Errno) {
        if let Some(flight) = self.flights.get_mut(number as usize) {
            flight.outcome = flight.outcome.and(Err(errno));
        }
    }

    fn end(&mut self, number: u32) {
        let Some(flight) = self.flights.try_remove(number as usize) else { return };
        if let Some(stored) = self.stored[flight.volume.0 as usize].as_mut() {
            stored.in_flight -= 1;
        }
        self.ended.push(StoreEnd::Request(flight.tag, flight.outcome));
    }

    fn job(&mut self, owner: Owner, io: Io) -> FileJob {
        FileJob { id: JobId(self.jobs.insert(owner) as u32), io }
    }

    /// Accepts a request and appends the jobs that can begin. At its end, [`Self::ended`] yields its tag.
    #[inline]
    pub fn accept(
        &mut self,
        tag: u32,
        ticket: Ticket,
        volume: VolumeId,
        request: &Request,
        jobs: &mut Vec<FileJob>,
    ) -> Result<(), Errno> {
        let failed = self.failed;
        let stored = self.stored.get_mut(volume.0 as usize).and_then(Option::as_mut).ok_or(Errno::Inval)?;
        admit(stored, request, failed)?;
        stored.in_flight += 1;
        let fua = request.fua || self.durability == Durability::Changes;
        let flight = AcceptedRequest {
            tag,
            ticket,
            volume,
            request: Request { fua, ..*request },
            left: 0,
            outcome: Ok(()),
            moves: Vec::new(),
            epoch: 0,
            again: 0,
        };
        let number = self.flights.insert(flight) as u32;
        match request.command {
            Command::Flush => {
                self.rounds.waiting.push(Waiter::Flight(number));
                self.round(jobs);
            }
            Command::Cache => self.end(number),
            _ => self.start(number, jobs),
        }
        Ok(())
    }

    /// Reports a finished job.
    #[inline]
    pub fn worked(&mut self, job: JobId, outcome: Result<(), Errno>, jobs: &mut Vec<FileJob>) {
        match self.jobs.try_remove(job.0 as usize) {
            Some(Owner::Flight { number, wrote }) => {
                if let Some(file) = wrote {
                    self.rounds.wrote(file);
                }
                let Some(flight) = self.flights.get_mut(number as usize) else { return };
                flight.outcome = flight.outcome.and(outcome);
                flight.left -= 1;
                if flight.left == 0 {
                    self.settle(number, jobs);
                }
            }
            Some(Owner::Sync) => self.synced(outcome, jobs),
            Some(Owner::Commit) => self.committed(outcome, jobs),
            Some(Owner::Punch(clusters)) => self.punched(clusters, outcome, jobs),
            None => {}
        }
    }

    /// Begins to make all answered writes durable, without a request that waits for it; also after a failed commit.
    pub fn flush_all(&mut self, jobs: &mut Vec<FileJob>) {
        self.rounds.want();
        self.round(jobs);
    }

    /// True if answered changes are in no commit yet.
    pub fn has_changes(&self) -> bool {
        self.rounds.has_changes()
    }

    /// True while answered writes are made durable.
    pub fn is_flushing(&self) -> bool {
        self.rounds.is_active()
    }

    /// Drains requests and edits that ended since the last call.
    #[inline]
    pub fn ended(&mut self) -> std::vec::Drain<'_, StoreEnd> {
        self.ended.drain(..)
    }
}

/// Validates a request against the volume.
fn admit(stored: &Stored, request: &Request, failed: bool) -> Result<(), Errno> {
    let end = request.offset.checked_add(request.length).ok_or(Errno::Inval)?;
    match (request.command, stored.leaving) {
        (_, true) => Err(Errno::Shutdown),
        (Command::Flush, _) if failed => Err(Errno::Io),
        (Command::Flush, _) => Ok(()),
        _ if request.length == 0 => Err(Errno::Inval),
        _ if request.changes() && stored.access == VolumeAccess::ReadOnly => Err(Errno::Perm),
        _ if request.changes() && failed => Err(Errno::Io),
        (Command::Write, _) if end > stored.size => Err(Errno::NoSpc),
        _ if end > stored.size => Err(Errno::Inval),
        _ => Ok(()),
    }
}

fn clusters_of(geometry: Geometry, capacity: u64) -> u32 {
    // Maps store a cluster as its number plus 1, and the first cluster of each file is not counted.
    u32::try_from(capacity >> geometry.shift()).unwrap_or(u32::MAX).min(u32::MAX - (1 << 16))
}
