//! Rounds of durability: sync what was written, commit what the maps became, answer who waited.

use std::collections::BTreeSet;

use super::{Ended, Owner, Store, Waiter};
use crate::job::{FileId, Io, Job};
use crate::record::{Commit, Record};
use crate::request::Errno;
use crate::store::space::Clusters;

/// So many records begin a round of their own accord: what a crash loses of unflushed changes stays small.
const RECORDS_ENOUGH: usize = 1 << 12;
/// So many are kept; then changes wait for a commit, and fail while commits fail.
const RECORDS_MAX: usize = 1 << 16;
/// Runs that are punched at the same time.
const PUNCHES_MAX: u32 = 16;
/// A log is not replaced by a shorter one before it has so many records, if nothing else is set.
const LOG_RECORDS_MIN: u64 = 1 << 14;

/// What is not durable yet, and what is becoming so.
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    /// Who waits for the next round.
    pub(super) waiting: Vec<Waiter>,
    /// Somebody waits for space that a round would free.
    pub(super) is_wanted: bool,
    /// Changes of maps that no commit holds yet.
    pending: Vec<Record>,
    /// References that maps let go since the last round began.
    released: Vec<Clusters>,
    /// Files that were written since they were last synced.
    dirty: BTreeSet<FileId>,
    present: Option<Round>,
    /// The next commit's number.
    sequence: u64,
    /// Where the next commit begins in a log.
    log_end: u64,
    /// Records in the log, and how many it had when it was begun.
    log_records: u64,
    log_records_first: u64,
    /// It is not begun anew before it has so many.
    pub(super) log_records_min: u64,
    /// The next commit has to be a whole one.
    is_fresh: bool,
    /// The last commit failed.
    has_stalled: bool,
}

/// A round under way.
#[derive(Clone, Debug)]
struct Round {
    waiters: Vec<Waiter>,
    syncs: u32,
    failed: Option<Errno>,
    /// Taken when it began: what happened since is not covered by its syncs.
    commit: Option<Box<Commit>>,
    records: Vec<Record>,
    released: Vec<Clusters>,
    /// The epoch that was the present one when it began.
    epoch: u64,
    whole: bool,
    /// Bytes and records of its commit.
    committed: (u64, u64),
}

impl Rounds {
    pub(super) const fn new() -> Self {
        Self {
            waiting: Vec::new(),
            is_wanted: false,
            pending: Vec::new(),
            released: Vec::new(),
            dirty: BTreeSet::new(),
            present: None,
            sequence: 0,
            log_end: 0,
            log_records: 0,
            log_records_first: 0,
            log_records_min: LOG_RECORDS_MIN,
            is_fresh: true,
            has_stalled: false,
        }
    }

    /// After a crash: the log goes on behind the last commit that was whole.
    pub(super) const fn resume(&mut self, sequence: u64, log_end: u64, log_records: u64, log_records_first: u64) {
        self.is_fresh = false;
        self.sequence = sequence;
        self.log_end = log_end;
        self.log_records = log_records;
        self.log_records_first = log_records_first;
    }

    /// Keeps a change for the next commit; neighbouring clusters become one record.
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

    /// True when there are too many changes that no commit holds.
    pub(super) const fn is_choked(&self) -> bool {
        self.pending.len() >= RECORDS_MAX
    }

    /// True when the last commit failed.
    pub(super) const fn has_stalled(&self) -> bool {
        self.has_stalled
    }

    fn may_free_space(&self) -> bool {
        let under_way = self.present.as_ref().is_some_and(|round| !round.released.is_empty());
        !self.has_stalled && (under_way || !self.released.is_empty())
    }

    fn is_due(&self) -> bool {
        let of_its_own_accord = self.pending.len() >= RECORDS_ENOUGH || self.is_wanted;
        self.present.is_none() && (!self.waiting.is_empty() || (of_its_own_accord && !self.has_stalled))
    }
}

impl Store {
    /// Begins a round if one is due.
    pub(super) fn round(&mut self, jobs: &mut Vec<Job>) {
        while self.rounds.is_due() {
            self.rounds.is_wanted = false;
            let waiters = std::mem::take(&mut self.rounds.waiting);
            if self.failed {
                self.answer(waiters, Err(Errno::Io));
                continue;
            }
            let files = std::mem::take(&mut self.rounds.dirty);
            let records = std::mem::take(&mut self.rounds.pending);
            if files.is_empty() && records.is_empty() {
                self.answer(waiters, Ok(()));
                continue;
            }
            self.begin_round(waiters, files.len() as u32, records);
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

    fn begin_round(&mut self, waiters: Vec<Waiter>, syncs: u32, records: Vec<Record>) {
        let whole = !records.is_empty() && (self.rounds.is_fresh || self.is_log_long());
        let at = if whole { 0 } else { self.rounds.log_end };
        let written = if whole { self.everything() } else { records.clone() };
        let commit = Commit { sequence: self.rounds.sequence, whole, at, records: written };
        let committed = if records.is_empty() { (0, 0) } else { (commit.encoded_bytes(), commit.records.len() as u64) };
        let commit = (!records.is_empty()).then(|| Box::new(commit));
        let released = std::mem::take(&mut self.rounds.released);
        let epoch = self.epochs.end();
        let round = Round { waiters, syncs, failed: None, commit, records, released, epoch, whole, committed };
        self.rounds.present = Some(round);
    }

    pub(super) fn synced(&mut self, outcome: Result<(), Errno>, jobs: &mut Vec<Job>) {
        let Some(round) = self.rounds.present.as_mut() else { return };
        round.syncs -= 1;
        if let Err(errno) = outcome {
            round.failed = Some(errno);
        }
        if round.syncs > 0 {
            return;
        }
        if let Some(errno) = round.failed {
            // The kernel reports a lost page once and then calls it clean: a second sync would lie.
            self.failed = true;
            self.give_up_round(errno, jobs);
        } else {
            self.commit(jobs);
        }
    }

    /// All that the round wrote is durable: now its records may become it.
    fn commit(&mut self, jobs: &mut Vec<Job>) {
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

    pub(super) fn committed(&mut self, outcome: Result<(), Errno>, jobs: &mut Vec<Job>) {
        match outcome {
            Ok(()) => self.finish_round(jobs),
            Err(Errno::NoSpc) if self.is_log_kept() => self.append(jobs),
            Err(errno) => self.give_up_round(errno, jobs),
        }
    }

    /// True when the round was to replace a log that can be continued as well.
    fn is_log_kept(&self) -> bool {
        !self.rounds.is_fresh && self.rounds.present.as_ref().is_some_and(|round| round.whole)
    }

    /// There is no space for a new log beside the present one: that one goes on, and becomes much longer before the next
    /// attempt. On a full disk nothing could be freed otherwise.
    fn append(&mut self, jobs: &mut Vec<Job>) {
        let Rounds { sequence, log_end: at, log_records, .. } = self.rounds;
        self.rounds.log_records_first = log_records;
        let Some(round) = self.rounds.present.as_mut() else { return };
        let commit = Commit { sequence, whole: false, at, records: round.records.clone() };
        round.committed = (commit.encoded_bytes(), commit.records.len() as u64);
        round.whole = false;
        let job = self.job(Owner::Commit, Io::Commit(Box::new(commit)));
        jobs.push(job);
    }

    fn finish_round(&mut self, jobs: &mut Vec<Job>) {
        let Some(round) = self.rounds.present.take() else { return };
        let rounds = &mut self.rounds;
        rounds.has_stalled = false;
        let (bytes, records) = round.committed;
        if records > 0 {
            rounds.sequence += 1;
            rounds.is_fresh = false;
            if round.whole {
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

    /// The records and releases of a failed round wait for the next one.
    fn give_up_round(&mut self, errno: Errno, jobs: &mut Vec<Job>) {
        let Some(mut round) = self.rounds.present.take() else { return };
        self.rounds.has_stalled = true;
        // Whether the log was replaced is not known: only a whole commit fits behind either.
        self.rounds.is_fresh |= round.whole;
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
                Waiter::Edit(ticket) => self.ended.push(Ended::Edit(ticket, outcome)),
            }
        }
    }

    /// True when clusters are on their way back.
    pub(super) fn may_gain_space(&self) -> bool {
        self.punching > 0 || !self.unclean.is_empty() || !self.released.is_empty() || self.rounds.may_free_space()
    }

    /// Lets the references go that durable commits let go and nobody can use any more.
    pub(super) fn reclaim(&mut self, jobs: &mut Vec<Job>) {
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

    /// Clusters that nobody refers to are to be made zero.
    pub(super) fn punch(&mut self, clusters: Clusters, jobs: &mut Vec<Job>) {
        if clusters.1 > 0 {
            self.unclean.push_back(clusters);
            self.punch_more(jobs);
        }
    }

    /// File by file, and a few at a time: requests have to get through.
    fn punch_more(&mut self, jobs: &mut Vec<Job>) {
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

    /// What could not be punched is not used again until the store is opened the next time.
    pub(super) fn punched(&mut self, clusters: Clusters, outcome: Result<(), Errno>, jobs: &mut Vec<Job>) {
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
