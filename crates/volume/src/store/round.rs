//! Rounds of durability: sync written files, commit changes of the maps, complete waiters.

use std::collections::BTreeSet;

use super::{Owner, Store, StoreEnd, Waiter};
use crate::job::{FileId, FileJob, Io};
use crate::record::{Commit, Record};
use crate::request::Errno;
use crate::store::space::Clusters;

/// Number of records that starts a round by itself, which limits the loss of unflushed changes by a crash.
const RECORDS_ENOUGH: usize = 1 << 12;
/// Number of written bytes that starts a round by itself, with the same purpose.
const BYTES_ENOUGH: u64 = 256 << 20;
/// Maximum number of pending records; then changes wait for a commit, or fail if commits fail.
const RECORDS_MAX: usize = 1 << 16;
/// Maximum number of concurrent punches.
const PUNCHES_MAX: u32 = 16;
/// Default minimum number of records in a log before it is replaced by a shorter one.
const LOG_RECORDS_MIN: u64 = 1 << 14;

/// Changes that are not durable yet.
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    /// Waiters of the next round.
    pub(super) waiting: Vec<Waiter>,
    /// A request waits for space that a round would free.
    pub(super) is_wanted: bool,
    /// The next round begins although the last one failed.
    is_repeated: bool,
    /// Changes of maps that are in no commit yet.
    pending: Vec<Record>,
    /// References released by maps since the last round began.
    released: Vec<Clusters>,
    /// Files written since their last sync.
    dirty: BTreeSet<FileId>,
    /// Bytes written since the last round began.
    written: u64,
    present: Option<Round>,
    /// Number of the next commit.
    sequence: u64,
    /// Offset of the next commit in the log.
    log_end: u64,
    /// Records in the log, and their number when the log was started.
    log_records: u64,
    log_records_first: u64,
    /// Minimum number of records before the log is replaced.
    pub(super) log_records_min: u64,
    /// The next commit must be full.
    is_fresh: bool,
    /// The error of the last round, if it failed.
    stalled: Option<Errno>,
}

#[derive(Clone, Debug)]
struct Round {
    waiters: Vec<Waiter>,
    files: BTreeSet<FileId>,
    syncs: u32,
    failed: Option<Errno>,
    /// Created when the round began, as its syncs do not cover later changes.
    commit: Option<Box<Commit>>,
    records: Vec<Record>,
    released: Vec<Clusters>,
    /// The epoch that was current when it began.
    epoch: u64,
    is_full: bool,
    /// Bytes and records of its commit.
    committed: (u64, u64),
}

impl Rounds {
    pub(super) const fn new() -> Self {
        Self {
            waiting: Vec::new(),
            is_wanted: false,
            is_repeated: false,
            pending: Vec::new(),
            released: Vec::new(),
            dirty: BTreeSet::new(),
            written: 0,
            present: None,
            sequence: 0,
            log_end: 0,
            log_records: 0,
            log_records_first: 0,
            log_records_min: LOG_RECORDS_MIN,
            is_fresh: true,
            stalled: None,
        }
    }

    /// Continues the log after the last complete commit.
    pub(super) const fn resume(&mut self, sequence: u64, log_end: u64, log_records: u64, log_records_first: u64) {
        self.is_fresh = false;
        self.sequence = sequence;
        self.log_end = log_end;
        self.log_records = log_records;
        self.log_records_first = log_records_first;
    }

    /// Adds a change to the next commit; merges consecutive clusters.
    pub(super) fn record(&mut self, record: Record) {
        match (self.pending.last_mut(), &record) {
            (
                Some(Record::Map { volume, first, count, at }),
                Record::Map { volume: other, first: f, count: c, at: a },
            ) if volume == other && *first + *count == *f && *at + *count == *a => {
                *count += c;
            }
            _ => self.pending.push(record),
        }
    }

    pub(super) fn release(&mut self, clusters: Clusters) {
        match self.released.last_mut() {
            Some((first, count)) if *first + *count == clusters.0 => *count += clusters.1,
            _ => self.released.push(clusters),
        }
    }

    pub(super) fn wrote(&mut self, file: FileId) {
        self.dirty.insert(file);
    }

    /// Counts written bytes towards the next round.
    pub(super) const fn wrote_bytes(&mut self, bytes: u64) {
        self.written = self.written.saturating_add(bytes);
    }

    /// True if changes are in no round yet.
    pub(super) fn has_changes(&self) -> bool {
        !self.dirty.is_empty() || !self.pending.is_empty()
    }

    /// True if too many changes are uncommitted.
    pub(super) const fn is_choked(&self) -> bool {
        self.pending.len() >= RECORDS_MAX
    }

    /// The error of the last round, if it failed.
    pub(super) const fn stalled(&self) -> Option<Errno> {
        self.stalled
    }

    /// Begins the next round without waiters, also after a failed one.
    pub(super) const fn want(&mut self) {
        self.is_wanted = true;
        self.is_repeated = true;
    }

    fn may_free_space(&self) -> bool {
        let under_way = self.present.as_ref().is_some_and(|round| !round.released.is_empty());
        self.stalled.is_none() && (under_way || !self.released.is_empty())
    }

    /// True while a round runs, or if another one is due.
    pub(super) fn is_active(&self) -> bool {
        self.present.is_some() || self.is_due()
    }

    fn is_due(&self) -> bool {
        let is_much = self.pending.len() >= RECORDS_ENOUGH || self.written >= BYTES_ENOUGH;
        let without_waiters = (is_much || self.is_wanted) && (self.stalled.is_none() || self.is_repeated);
        self.present.is_none() && (!self.waiting.is_empty() || without_waiters)
    }
}

impl Store {
    /// Starts a round if due.
    pub(super) fn round(&mut self, jobs: &mut Vec<FileJob>) {
        while self.rounds.is_due() {
            (self.rounds.is_wanted, self.rounds.is_repeated) = (false, false);
            let waiters = std::mem::take(&mut self.rounds.waiting);
            if self.failed {
                self.answer(waiters, Err(Errno::Io));
                continue;
            }
            let files = std::mem::take(&mut self.rounds.dirty);
            let records = std::mem::take(&mut self.rounds.pending);
            self.rounds.written = 0;
            if files.is_empty() && records.is_empty() {
                self.answer(waiters, Ok(()));
                continue;
            }
            self.begin_round(waiters, files.clone(), records);
            if files.is_empty() {
                self.commit(jobs);
            }
            for file in files {
                let job =
                    self.job(Owner::Sync, Io::Sync { file, length: self.geometry.file_bytes(file, self.space.mark()) });
                jobs.push(job);
            }
        }
    }

    fn begin_round(&mut self, waiters: Vec<Waiter>, files: BTreeSet<FileId>, records: Vec<Record>) {
        let is_full = !records.is_empty() && (self.rounds.is_fresh || self.is_log_long());
        let at = if is_full { 0 } else { self.rounds.log_end };
        let written = if is_full { self.everything() } else { records.clone() };
        let commit = Commit { sequence: self.rounds.sequence, is_full, at, records: written };
        let committed = if records.is_empty() { (0, 0) } else { (commit.encoded_bytes(), commit.records.len() as u64) };
        let commit = (!records.is_empty()).then(|| Box::new(commit));
        let released = std::mem::take(&mut self.rounds.released);
        let epoch = self.epochs.end();
        let syncs = files.len() as u32;
        let round = Round { waiters, files, syncs, failed: None, commit, records, released, epoch, is_full, committed };
        self.rounds.present = Some(round);
    }

    pub(super) fn synced(&mut self, outcome: Result<(), Errno>, jobs: &mut Vec<FileJob>) {
        let Some(round) = self.rounds.present.as_mut() else { return };
        round.syncs -= 1;
        if let Err(errno) = outcome {
            round.failed = round.failed.filter(|failed| *failed != Errno::NoSpc).or(Some(errno));
        }
        if round.syncs > 0 {
            return;
        }
        match round.failed {
            None => self.commit(jobs),
            // A file could not be extended, before its sync: its data wait for space.
            Some(Errno::NoSpc) => {
                let files = std::mem::take(&mut round.files);
                self.rounds.dirty.extend(files);
                self.give_up_round(Errno::NoSpc, jobs);
            }
            // The kernel reports a lost page once and then marks it clean, so a second sync would succeed wrongly.
            Some(errno) => {
                self.failed = true;
                self.give_up_round(errno, jobs);
            }
        }
    }

    /// Commits the records of the round, whose data are now durable.
    fn commit(&mut self, jobs: &mut Vec<FileJob>) {
        let commit = self.rounds.present.as_mut().and_then(|round| round.commit.take());
        match commit {
            Some(commit) => {
                let job = self.job(Owner::Commit, Io::Commit(commit));
                jobs.push(job);
            }
            None => self.finish_round(jobs),
        }
    }

    fn is_log_long(&self) -> bool {
        let Rounds { log_records, log_records_first, log_records_min, .. } = self.rounds;
        log_records >= log_records_min.max(log_records_first.saturating_mul(4))
    }

    pub(super) fn committed(&mut self, outcome: Result<(), Errno>, jobs: &mut Vec<FileJob>) {
        match outcome {
            Ok(()) => self.finish_round(jobs),
            Err(Errno::NoSpc) if self.is_log_kept() => self.append(jobs),
            Err(errno) => self.give_up_round(errno, jobs),
        }
    }

    /// True if the round was to replace a log that can also be continued.
    fn is_log_kept(&self) -> bool {
        !self.rounds.is_fresh && self.rounds.present.as_ref().is_some_and(|round| round.is_full)
    }

    /// Continues the current log if there is no space for a new one, and delays the next attempt. Otherwise a full disk
    /// could never free space.
    fn append(&mut self, jobs: &mut Vec<FileJob>) {
        let Rounds { sequence, log_end: at, log_records, .. } = self.rounds;
        self.rounds.log_records_first = log_records;
        let Some(round) = self.rounds.present.as_mut() else { return };
        let commit = Commit { sequence, is_full: false, at, records: round.records.clone() };
        round.committed = (commit.encoded_bytes(), commit.records.len() as u64);
        round.is_full = false;
        let job = self.job(Owner::Commit, Io::Commit(Box::new(commit)));
        jobs.push(job);
    }

    fn finish_round(&mut self, jobs: &mut Vec<FileJob>) {
        let Some(round) = self.rounds.present.take() else { return };
        let rounds = &mut self.rounds;
        rounds.stalled = None;
        let (bytes, records) = round.committed;
        if records > 0 {
            rounds.sequence += 1;
            rounds.is_fresh = false;
            if round.is_full {
                (rounds.log_end, rounds.log_records, rounds.log_records_first) = (bytes, records, records);
            } else {
                rounds.log_end += bytes;
                rounds.log_records += records;
            }
        }
        if !round.released.is_empty() {
            self.released.push_back((round.epoch, round.released));
        }
        self.answer(round.waiters, Ok(()));
        self.reclaim(jobs);
        if !self.parked.is_empty() {
            self.retry(jobs);
        }
        self.round(jobs);
    }

    /// Returns the records and releases of a failed round to the next round.
    fn give_up_round(&mut self, errno: Errno, jobs: &mut Vec<FileJob>) {
        let Some(mut round) = self.rounds.present.take() else { return };
        self.rounds.stalled = Some(errno);
        // Unknown whether the log was replaced: only a full commit is valid in both cases.
        self.rounds.is_fresh |= round.is_full;
        round.records.append(&mut self.rounds.pending);
        self.rounds.pending = round.records;
        round.released.append(&mut self.rounds.released);
        self.rounds.released = round.released;
        self.answer(round.waiters, Err(errno));
        self.retry(jobs);
        self.round(jobs);
    }

    fn answer(&mut self, waiters: Vec<Waiter>, outcome: Result<(), Errno>) {
        for waiter in waiters {
            match waiter {
                Waiter::Flight(number) => {
                    if let Err(errno) = outcome {
                        self.fail(number, errno);
                    }
                    self.end(number);
                }
                Waiter::Edit(ticket) => self.ended.push(StoreEnd::Edit(ticket, outcome)),
            }
        }
    }

    /// True if clusters are being freed.
    pub(super) fn may_gain_space(&self) -> bool {
        self.punching > 0 || !self.unclean.is_empty() || !self.released.is_empty() || self.rounds.may_free_space()
    }

    /// Drops references that durable commits released and that no request uses.
    pub(super) fn reclaim(&mut self, jobs: &mut Vec<FileJob>) {
        let mut reclaimed = false;
        while let Some((epoch, _)) = self.released.front()
            && self.epochs.has_passed(*epoch)
        {
            let Some((_, released)) = self.released.pop_front() else { break };
            reclaimed = true;
            for (first, count) in released {
                let mut run: Clusters = (first, 0);
                for cluster in first..first + count {
                    if self.space.release(cluster) {
                        run.1 += 1;
                    } else {
                        self.punch(run, jobs);
                        run = (cluster + 1, 0);
                    }
                }
                self.punch(run, jobs);
            }
        }
        if reclaimed && !self.parked.is_empty() {
            self.retry(jobs);
        }
    }

    /// Queues unreferenced clusters for punching.
    pub(super) fn punch(&mut self, clusters: Clusters, jobs: &mut Vec<FileJob>) {
        if clusters.1 > 0 {
            self.unclean.push_back(clusters);
            self.punch_more(jobs);
        }
    }

    /// Punches file by file with limited concurrency, so that requests are not delayed.
    fn punch_more(&mut self, jobs: &mut Vec<FileJob>) {
        while self.punching < PUNCHES_MAX
            && let Some((first, count)) = self.unclean.pop_front()
        {
            let (place, room) = self.geometry.place(self.geometry.byte(first));
            let here = (room >> self.geometry.shift()).min(count.into()) as u32;
            if here < count {
                self.unclean.push_front((first + here, count - here));
            }
            let job = self.job(Owner::Punch((first, here)), Io::Punch { place, length: self.geometry.byte(here) });
            jobs.push(job);
            self.punching += 1;
        }
    }

    /// Clusters that could not be punched are not reused until the store is reopened.
    pub(super) fn punched(&mut self, clusters: Clusters, outcome: Result<(), Errno>, jobs: &mut Vec<FileJob>) {
        self.punching -= 1;
        if outcome.is_ok() {
            self.space.clean(clusters);
            let file = self.geometry.place(self.geometry.byte(clusters.0)).0.file;
            self.rounds.wrote(file);
        }
        self.punch_more(jobs);
        if !self.parked.is_empty() {
            self.retry(jobs);
        }
        self.round(jobs);
    }
}
