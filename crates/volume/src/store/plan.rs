//! Plans the I/O of a request: ranges of data files to read, write and copy.

use std::ops::Range;

use super::{Owner, Store, VolumeId};
use crate::job::{FileJob, Io, JobId};
use crate::record::Record;
use crate::request::{Command, Errno, Request, Space, Ticket};

/// Result of planning a request.
pub(super) enum Plan {
    /// Jobs were issued.
    Begun { jobs: u32 },
    /// Must wait for another request, an edit, or space.
    Parked,
    /// Not possible.
    Failed(Errno),
}

/// Content of a range after a request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RangeContent {
    Payload,
    Zeros,
}

/// State of a request being planned.
struct Task {
    number: u32,
    ticket: Ticket,
    volume: VolumeId,
    /// First byte of the request, and of its payload.
    offset: u64,
    jobs: u32,
    /// The last write, which may be extended: position in the concatenated data files, position in the payload, and
    /// length.
    open: Option<(u64, u32, u32)>,
    moves: Vec<(u32, u32)>,
    /// Allocated clusters that are not used yet.
    fresh: (u32, u32),
    /// Number of clusters still needed.
    needed: u32,
}

impl Store {
    /// Issues the jobs of a request.
    pub(super) fn plan(&mut self, number: u32, jobs: &mut Vec<FileJob>) -> Plan {
        let Some(flight) = self.flights.get(number as usize) else { return Plan::Begun { jobs: 0 } };
        let (request, volume, ticket) = (flight.request, flight.volume, flight.ticket);
        let needed = if request.changes() {
            match self.may_change(volume, &request) {
                Ok(needed) => needed,
                Err(plan) => return plan,
            }
        } else {
            0
        };
        let mut task = Task {
            number,
            ticket,
            volume,
            offset: request.offset,
            jobs: 0,
            open: None,
            moves: Vec::new(),
            fresh: (0, 0),
            needed,
        };
        let bytes = request.offset..request.offset + request.length;
        match request.command {
            Command::Read => self.plan_read(&mut task, bytes, jobs),
            Command::Write => self.plan_content(&mut task, bytes, RangeContent::Payload, jobs),
            Command::WriteZeroes { space: Space::Keep } => {
                self.plan_content(&mut task, bytes, RangeContent::Zeros, jobs);
            }
            Command::WriteZeroes { space: Space::Free } => self.plan_zeros(&mut task, bytes, jobs),
            Command::Trim => self.plan_unmap(volume, self.covered_clusters(volume, &bytes)),
            Command::Flush | Command::Cache => {}
        }
        self.close(&mut task, jobs);
        if request.changes()
            && let Some(stored) = self.stored[volume.0 as usize].as_mut()
        {
            stored.changes += 1;
        }
        let epoch = self.epochs.enter();
        if let Some(flight) = self.flights.get_mut(number as usize) {
            (flight.left, flight.moves, flight.epoch) = (task.jobs, task.moves, epoch);
        }
        Plan::Begun { jobs: task.jobs }
    }

    /// Number of clusters needed by a change, or the reason why it cannot start.
    fn may_change(&mut self, volume: VolumeId, request: &Request) -> Result<u32, Plan> {
        let Some(stored) = self.stored(volume) else { return Err(Plan::Failed(Errno::Io)) };
        if self.failed {
            return Err(Plan::Failed(Errno::Io));
        }
        let bytes = request.offset..request.offset + request.length;
        let touched = self.touched(&bytes);
        let moving = (volume, touched.start)..(volume, touched.end);
        if stored.frozen || (!self.copying.is_empty() && self.copying.range(moving).next().is_some()) {
            return Err(Plan::Parked);
        }
        let needed = self.demand(volume, request.command, &bytes);
        if self.rounds.is_choked() && (needed > 0 || request.command != Command::Write) {
            return Err(if self.rounds.stalled().is_some() { Plan::Failed(Errno::NoSpc) } else { Plan::Parked });
        }
        if needed <= self.space.available() {
            return Ok(needed);
        }
        if self.may_gain_space() {
            self.rounds.is_wanted = true;
            return Err(Plan::Parked);
        }
        Err(Plan::Failed(Errno::NoSpc))
    }

    fn demand(&self, volume: VolumeId, command: Command, bytes: &Range<u64>) -> u32 {
        let Some(stored) = self.stored(volume) else { return 0 };
        let shared = |at: u32, count: u32| (at..at + count).filter(|at| self.space.is_shared(*at)).count() as u32;
        match command {
            Command::Write | Command::WriteZeroes { space: Space::Keep } => {
                let runs = stored.map.runs(self.touched(bytes));
                runs.map(|run| run.at.map_or(run.count, |at| shared(at, run.count))).sum()
            }
            Command::WriteZeroes { space: Space::Free } => {
                let edges = self.edges(volume, bytes);
                let clusters = edges.into_iter().flatten().map(|edge| self.geometry.cluster(edge.start));
                clusters.filter_map(|index| stored.map.get(index)).map(|at| shared(at, 1)).sum()
            }
            Command::Trim | Command::Read | Command::Flush | Command::Cache => 0,
        }
    }

    /// Clusters touched by a byte range.
    fn touched(&self, bytes: &Range<u64>) -> Range<u32> {
        self.geometry.cluster(bytes.start)..self.geometry.clusters(bytes.end)
    }

    /// Clusters fully covered by a byte range; the last cluster of a volume counts up to the volume's end.
    fn covered_clusters(&self, volume: VolumeId, bytes: &Range<u64>) -> Range<u32> {
        let size = self.stored(volume).map_or(0, |stored| stored.size);
        let end = if bytes.end == size { self.geometry.clusters(bytes.end) } else { self.geometry.cluster(bytes.end) };
        let start = self.geometry.clusters(bytes.start);
        start..end.max(start)
    }

    /// Parts of a byte range that cover clusters partially: up to two pieces, each within a cluster.
    fn edges(&self, volume: VolumeId, bytes: &Range<u64>) -> [Option<Range<u64>>; 2] {
        let covered = self.covered_clusters(volume, bytes);
        if covered.is_empty() && self.geometry.cluster(bytes.start) == self.geometry.cluster(bytes.end - 1) {
            return [Some(bytes.clone()), None];
        }
        let (first, last) = (self.geometry.byte(covered.start), self.geometry.byte(covered.end));
        [(bytes.start < first).then_some(bytes.start..first), (last < bytes.end).then_some(last..bytes.end)]
    }

    fn plan_read(&mut self, task: &mut Task, bytes: Range<u64>, jobs: &mut Vec<FileJob>) {
        let touched = self.touched(&bytes);
        let Some(stored) = self.stored.get(task.volume.0 as usize).and_then(Option::as_ref) else { return };
        for run in stored.map.runs(touched) {
            let start = self.geometry.byte(run.first).max(bytes.start);
            let end = (self.geometry.byte(run.first) + self.geometry.byte(run.count)).min(bytes.end);
            let (mut into, mut left) = ((start - bytes.start) as u32, (end - start) as u32);
            let Some(at) = run.at else {
                let io = Io::Blank { ticket: task.ticket, into, length: left };
                jobs.push(FileJob {
                    id: JobId(self.jobs.insert(Owner::Flight { number: task.number, wrote: None }) as u32),
                    io,
                });
                task.jobs += 1;
                continue;
            };
            let mut line = self.geometry.byte(at) + (start - self.geometry.byte(run.first));
            while left > 0 {
                let (place, room) = self.geometry.place(line);
                let length = room.min(left as u64) as u32;
                let io = Io::Read { ticket: task.ticket, into, place, length };
                jobs.push(FileJob {
                    id: JobId(self.jobs.insert(Owner::Flight { number: task.number, wrote: None }) as u32),
                    io,
                });
                task.jobs += 1;
                (into, line, left) = (into + length, line + length as u64, left - length);
            }
        }
    }

    /// Writes content to every touched cluster, allocating if needed.
    fn plan_content(&mut self, task: &mut Task, bytes: Range<u64>, content: RangeContent, jobs: &mut Vec<FileJob>) {
        for index in self.touched(&bytes) {
            let start = self.geometry.byte(index);
            let piece = start.max(bytes.start)..(start + self.geometry.byte(1)).min(bytes.end);
            self.plan_piece(task, index, piece, content, jobs);
        }
    }

    /// Writes content to a piece of a cluster.
    fn plan_piece(
        &mut self,
        task: &mut Task,
        index: u32,
        piece: Range<u64>,
        content: RangeContent,
        jobs: &mut Vec<FileJob>,
    ) {
        let within = piece.start - self.geometry.byte(index);
        let length = (piece.end - piece.start) as u32;
        let from = (piece.start - task.offset) as u32;
        let at = self.stored(task.volume).and_then(|stored| stored.map.get(index));
        match at {
            Some(at) if !self.space.is_shared(at) => {
                let line = self.geometry.byte(at) + within;
                match content {
                    RangeContent::Payload => self.write(task, line, from, length, jobs),
                    RangeContent::Zeros => self.zero(task, line, length, jobs),
                }
            }
            Some(at) => {
                let to = self.fresh(task);
                task.moves.push((index, to));
                self.copying.insert((task.volume, index));
                let (source, target) = (self.geometry.byte(at), self.geometry.byte(to));
                let end = within + u64::from(length);
                self.copy(task, source, target, within as u32, jobs);
                self.copy(task, source + end, target + end, (self.geometry.byte(1) - end) as u32, jobs);
                // A fresh cluster is already zero.
                if content == RangeContent::Payload {
                    self.write(task, target + within, from, length, jobs);
                }
            }
            None => {
                // Mapped immediately, not after the write: until then it reads as zeros, as before.
                let to = self.fresh(task);
                if let Some(stored) = self.stored[task.volume.0 as usize].as_mut() {
                    stored.map.set(index, Some(to));
                }
                self.rounds.record(Record::Map { volume: task.volume, first: index, count: 1, at: to });
                if content == RangeContent::Payload {
                    self.write(task, self.geometry.byte(to) + within, from, length, jobs);
                }
            }
        }
    }

    /// Zeros with deallocation: complete clusters are unmapped, pieces of others are overwritten.
    fn plan_zeros(&mut self, task: &mut Task, bytes: Range<u64>, jobs: &mut Vec<FileJob>) {
        self.plan_unmap(task.volume, self.covered_clusters(task.volume, &bytes));
        for piece in self.edges(task.volume, &bytes).into_iter().flatten() {
            let index = self.geometry.cluster(piece.start);
            if self.stored(task.volume).is_some_and(|stored| stored.map.get(index).is_some()) {
                self.plan_piece(task, index, piece, RangeContent::Zeros, jobs);
            }
        }
    }

    fn plan_unmap(&mut self, volume: VolumeId, clusters: Range<u32>) {
        let Some(stored) = self.stored[volume.0 as usize].as_mut() else { return };
        let runs: Vec<(u32, u32, u32)> = stored.map.allocated(clusters).collect();
        for (first, count, at) in runs {
            for index in first..first + count {
                stored.map.set(index, None);
            }
            self.rounds.record(Record::Unmap { volume, first, count });
            self.rounds.release((at, count));
        }
    }

    /// Next of the clusters needed by the task.
    fn fresh(&mut self, task: &mut Task) -> u32 {
        if task.fresh.1 == 0 {
            task.fresh = self.space.take(task.needed);
            task.needed -= task.fresh.1;
            // Marks its file for extension even if nothing is written: see the rules of the store.
            self.rounds.wrote(self.geometry.file(task.fresh.0));
        }
        let cluster = task.fresh.0;
        task.fresh = (task.fresh.0 + 1, task.fresh.1 - 1);
        cluster
    }

    /// Writes payload, extending the last write if contiguous.
    fn write(&mut self, task: &mut Task, line: u64, from: u32, length: u32, jobs: &mut Vec<FileJob>) {
        match &mut task.open {
            Some((first, payload, before)) if *first + *before as u64 == line && *payload + *before == from => {
                *before += length;
            }
            _ => {
                self.close(task, jobs);
                task.open = Some((line, from, length));
            }
        }
    }

    /// Issues the pending write.
    fn close(&mut self, task: &mut Task, jobs: &mut Vec<FileJob>) {
        let Some((mut line, mut from, mut left)) = task.open.take() else { return };
        while left > 0 {
            let (place, room) = self.geometry.place(line);
            let length = room.min(left as u64) as u32;
            self.give(task, Io::Write { ticket: task.ticket, from, place, length }, jobs);
            (from, line, left) = (from + length, line + length as u64, left - length);
        }
    }

    /// Within a cluster, so within a file.
    fn zero(&mut self, task: &mut Task, line: u64, length: u32, jobs: &mut Vec<FileJob>) {
        let place = self.geometry.place(line).0;
        self.give(task, Io::Zero { place, length: length.into() }, jobs);
    }

    /// Within a cluster, so within a file on each side.
    fn copy(&mut self, task: &mut Task, from: u64, to: u64, length: u32, jobs: &mut Vec<FileJob>) {
        if length > 0 {
            let (from, to) = (self.geometry.place(from).0, self.geometry.place(to).0);
            self.give(task, Io::Copy { from, to, length }, jobs);
        }
    }

    fn give(&mut self, task: &mut Task, io: Io, jobs: &mut Vec<FileJob>) {
        task.jobs += 1;
        let wrote = match &io {
            Io::Write { place, .. } | Io::Zero { place, .. } | Io::Copy { to: place, .. } => Some(place.file),
            _ => None,
        };
        let job = self.job(Owner::Flight { number: task.number, wrote }, io);
        jobs.push(job);
    }

    /// Maps the clusters that a request has copied, or releases them if it failed.
    pub(super) fn finish_moves(
        &mut self,
        volume: VolumeId,
        moves: Vec<(u32, u32)>,
        outcome: Result<(), Errno>,
        jobs: &mut Vec<FileJob>,
    ) {
        for (index, to) in moves {
            self.copying.remove(&(volume, index));
            let Some(stored) = self.stored[volume.0 as usize].as_mut() else { continue };
            if outcome.is_err() {
                // No map ever referred to it, so no commit must precede reuse.
                self.space.release(to);
                self.punch((to, 1), jobs);
                continue;
            }
            if let Some(at) = stored.map.set(index, Some(to)) {
                self.rounds.release((at, 1));
            }
            self.rounds.record(Record::Map { volume, first: index, count: 1, at: to });
        }
    }
}
