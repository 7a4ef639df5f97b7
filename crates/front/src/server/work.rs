//! The real work behind requests: jobs of the volumes as operations of the ring.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::RawFd;

use io_uring::types::{Fd, FsyncFlags};
use io_uring::{opcode, squeue};
use plimsoll_units::Instant;
use plimsoll_volume::{Commit, Errno, FileId, FileJob, FilePosition, Io, JobId, SuperblockData, Ticket};

use super::Server;
use super::checked::CheckedJob;
use super::flight::ServedPart;
use super::inline_io::{INLINE_MAX, InlineIo};
use super::ring::Token;
use crate::codec::Division;
use crate::files::Confirmation;
use crate::pool::Buffer;

/// Bytes of zeros that are written at a time if the filesystem cannot zero a range.
const ZEROS_BYTES: u32 = 1 << 20;

/// A job in progress.
#[derive(Debug)]
pub(super) struct Task {
    job: JobId,
    /// The guard of its blocks, where data have checksums.
    pub(super) guard: Option<u32>,
    file: RawFd,
    /// Next byte of the file.
    at: u64,
    /// Remaining bytes.
    left: u64,
    pub(super) kind: WorkKind,
}

#[derive(Debug)]
pub(super) enum WorkKind {
    /// Into or from memory of a flight.
    Read(Memory),
    Write(Memory),
    /// The first half of a copy, with the target of the second half.
    CopyRead {
        buffer: Buffer,
        done: u32,
        to: RawFd,
        to_at: u64,
        length: u32,
    },
    CopyWrite {
        buffer: Buffer,
        done: u32,
    },
    /// By the filesystem, in this mode.
    Allocate {
        mode: i32,
        fallback: Fallback,
    },
    /// To the log, then made durable, then confirmed.
    Append {
        bytes: Vec<u8>,
        done: usize,
        confirmation: Confirmation,
    },
    SyncLog(Confirmation),
    Confirm(Box<SuperblockData>),
    Zeros(Buffer),
    Sync,
    /// The data, then the checksums of a file.
    SyncData {
        sums: RawFd,
        file: FileId,
        begun: Instant,
    },
    SyncSums {
        file: FileId,
        begun: Instant,
    },
    /// Makes the marks of extents durable.
    Mark {
        intent: RawFd,
        file: FileId,
        extents: Vec<u32>,
    },
    Checked(Box<CheckedJob>),
}

/// Remaining memory of a flight's buffer. The flight outlives its tasks, and its tasks use distinct parts of the
/// buffer.
#[derive(Debug)]
pub(super) struct Memory(*mut u8);

impl Memory {
    pub(super) const fn address(&self) -> *mut u8 {
        self.0
    }
}

/// The alternative if a filesystem does not support an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fallback {
    Punch,
    Zeros,
}

/// The state of a job after its preparation.
enum Begun {
    Task(Task),
    Done,
    /// Another thread does it.
    Elsewhere,
}

/// Whether other requests could be delayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Concurrency {
    /// No other request is in flight.
    Alone,
    Shared,
}

const KEEP: i32 = libc::FALLOC_FL_KEEP_SIZE;
const PUNCH: i32 = libc::FALLOC_FL_PUNCH_HOLE | KEEP;
const ZERO: i32 = libc::FALLOC_FL_ZERO_RANGE | KEEP;

impl Server {
    /// Begins all queued jobs.
    #[inline]
    pub(super) fn begin_jobs(&mut self) -> io::Result<()> {
        loop {
            while !self.jobs.is_empty() {
                let mut batch = std::mem::take(&mut self.jobs);
                for job in batch.drain(..) {
                    self.begin(job)?;
                }
                if self.jobs.is_empty() {
                    self.jobs = batch;
                }
            }
            if !self.retry_guarded()? {
                return Ok(());
            }
        }
    }

    #[inline]
    fn begin(&mut self, job: FileJob) -> io::Result<()> {
        let has_sums = self.files.sums().is_some();
        let rest = if has_sums { self.begin_checked(job)? } else { Some(job) };
        let Some(FileJob { id, io }) = rest else { return Ok(()) };
        match self.prepare(id, io) {
            Ok(Begun::Task(task)) => return self.run_task(task),
            Ok(Begun::Done) => self.worked(id, Ok(())),
            Ok(Begun::Elsewhere) => {}
            Err(errno) => self.worked(id, Err(errno)),
        }
        Ok(())
    }

    /// Prepares a job; a job that needs no operation of the ring is done.
    #[inline]
    fn prepare(&mut self, id: JobId, io: Io) -> Result<Begun, Errno> {
        let task = match io {
            Io::Read { ticket, into, place, length } if self.show(ticket, into, place, length) => {
                return Ok(Begun::Done);
            }
            Io::Read { ticket, into, place, length } => {
                let memory = self.memory(ticket, into, length)?;
                self.task(id, place, length.into(), WorkKind::Read(memory))
            }
            Io::Write { ticket, from, place, length } => {
                let memory = self.memory(ticket, from, length)?;
                self.task(id, place, length.into(), WorkKind::Write(memory))
            }
            Io::Blank { ticket, into, length } => {
                self.blank(ticket, into, length);
                return Ok(Begun::Done);
            }
            Io::Sync { .. } | Io::Commit(_) if !self.files.are_durable() => return Ok(Begun::Done),
            Io::Commit(commit) if commit.is_full => {
                self.replace_log(id, &commit);
                return Ok(Begun::Elsewhere);
            }
            Io::Commit(commit) => self.append(id, &commit),
            Io::Copy { from, to, length } => self.copy(id, from, to, length),
            Io::Zero { place, length } => {
                self.task(id, place, length, WorkKind::Allocate { mode: ZERO, fallback: Fallback::Punch })
            }
            Io::Punch { place, length } => self.punch(id, place, length),
            Io::Sync { file, length } => self.sync(id, file, length),
        };
        task.map(Begun::Task)
    }

    /// Does a task inline if that will not block, else in the ring.
    #[inline]
    fn run_task(&mut self, mut task: Task) -> io::Result<()> {
        if task.run_inline(&mut self.inline_io) {
            self.worked(task.job, Ok(()));
            return Ok(());
        }
        let number = self.tasks.insert(task);
        self.submit(number)
    }

    #[inline]
    fn task(&mut self, job: JobId, place: FilePosition, left: u64, kind: WorkKind) -> Result<Task, Errno> {
        let file = match &kind {
            WorkKind::Read(_) | WorkKind::CopyRead { .. } => self.files.descriptor(place.file),
            _ => self.files.reaching(place.file, place.at + left),
        };
        let file = file.map_err(|error| errno(&error))?;
        Ok(Task { job, guard: None, file, at: place.at, left, kind })
    }

    pub(super) fn punch(&mut self, job: JobId, place: FilePosition, length: u64) -> Result<Task, Errno> {
        self.keep_views(place, length);
        self.task(job, place, length, WorkKind::Allocate { mode: PUNCH, fallback: Fallback::Zeros })
    }

    fn sync(&mut self, job: JobId, file: FileId, length: u64) -> Result<Task, Errno> {
        let mut task = self.task(job, FilePosition { file, at: length }, 0, WorkKind::Sync)?;
        if let Some(sums) = self.files.sums() {
            let sums = sums.descriptor(file).map_err(|error| errno(&error))?;
            task.kind = WorkKind::SyncData { sums, file, begun: self.now };
        }
        Ok(task)
    }

    fn append(&mut self, job: JobId, commit: &Commit) -> Result<Task, Errno> {
        let id = self.files.id().ok_or(Errno::Io)?;
        let bytes = commit.encode(id);
        let confirmation = self.files.confirmation(commit.sequence).ok_or(Errno::Io)?;
        let file = self.files.log(commit.at + bytes.len() as u64).ok_or(Errno::Io)?;
        let left = bytes.len() as u64;
        Ok(Task {
            job,
            guard: None,
            file,
            at: commit.at,
            left,
            kind: WorkKind::Append { bytes, done: 0, confirmation },
        })
    }

    fn copy(&mut self, job: JobId, from: FilePosition, to: FilePosition, length: u32) -> Result<Task, Errno> {
        let reaching = self.files.reaching(to.file, to.at + u64::from(length));
        let (to_at, to) = (to.at, reaching.map_err(|error| errno(&error))?);
        // A copy always gets memory, as requests that have theirs wait for it.
        let buffer = self.pool.lend_anyway(length);
        self.task(job, from, length.into(), WorkKind::CopyRead { buffer, done: 0, to, to_at, length })
    }

    #[inline]
    pub(super) fn memory(&self, ticket: Ticket, at: u32, length: u32) -> Result<Memory, Errno> {
        let buffer = self.flights.get(ticket.0 as u32).and_then(|flight| flight.buffer.as_ref()).ok_or(Errno::Io)?;
        let fits = u64::from(at) + u64::from(length) <= buffer.size();
        if fits { Ok(Memory(buffer.at(at))) } else { Err(Errno::Io) }
    }

    /// Serves a read of a single range from a view of the file, without a copy.
    #[inline]
    fn show(&mut self, ticket: Ticket, into: u32, place: FilePosition, length: u32) -> bool {
        let Some(flight) = self.flights.get_mut(ticket.0 as u32) else { return false };
        let Some(buffer) = &mut flight.buffer else { return false };
        if into > 0 || length != flight.length || !buffer.takes_view() {
            return false;
        }
        let view = self.files.view(place, length);
        view.map(|view| buffer.show(view)).is_some()
    }

    /// A punched range may become part of another volume: replies that show it get a copy before.
    fn keep_views(&mut self, place: FilePosition, length: u64) {
        let Ok(file) = self.files.descriptor(place.file) else { return };
        if self.files.view(place, 0).is_none() {
            return;
        }
        for flight in self.flights.iter_mut() {
            if let Some(buffer) = &mut flight.buffer {
                buffer.keep(file, place.at, length);
            }
        }
        for connection in self.connections.iter_mut() {
            for answer in connection.outbox.payloads().chain(connection.later.payloads()) {
                answer.keep(file, place.at, length);
            }
        }
    }

    fn blank(&mut self, ticket: Ticket, into: u32, length: u32) {
        let Some(flight) = self.flights.get_mut(ticket.0 as u32) else { return };
        let is_complete = into == 0 && length == flight.length;
        let is_reportable = match flight.work {
            ServedPart::Part => flight.tag.division == Division::Chunks,
            ServedPart::Full | ServedPart::Timing => flight.tag.holes,
        };
        if is_complete && is_reportable {
            flight.is_hole = true;
        } else if let Some(buffer) = &mut flight.buffer {
            buffer.bytes()[into as usize..][..length as usize].fill(0);
        }
    }

    #[inline]
    pub(super) fn submit(&mut self, number: u32) -> io::Result<()> {
        let Some(task) = self.tasks.get(number) else { return Ok(()) };
        let concurrency = if self.flights.len() > 1 { Concurrency::Shared } else { Concurrency::Alone };
        // SAFETY: the memory belongs to the task, or to the buffer of a flight that waits for it; tasks and flights are
        // kept until the event, and leaked by `Server::drop`.
        unsafe { self.ring.push(task.entry(concurrency), Token::Worked(number)) }
    }

    /// The kernel has completed a task, or a part of it.
    #[inline]
    pub(super) fn advanced(&mut self, number: u32, result: i32) -> io::Result<()> {
        let Some(task) = self.tasks.get_mut(number) else { return Ok(()) };
        let progress = match result {
            interrupted if interrupted == -libc::EINTR || interrupted == -libc::EAGAIN => Progress::Again,
            error if error < 0 => task.failed(error, &mut self.pool),
            moved => task.moved(moved as u32),
        };
        match progress {
            Progress::Again => self.submit(number),
            Progress::Done(outcome) => {
                let Some(task) = self.tasks.remove(number) else { return Ok(()) };
                self.end_task(task, outcome)
            }
        }
    }

    /// Reports the end of a job, and returns its memory.
    pub(super) fn end_task(
        &mut self,
        Task { job, guard, kind, .. }: Task,
        outcome: Result<(), Errno>,
    ) -> io::Result<()> {
        let mut checked = None;
        match kind {
            WorkKind::Confirm(_) if outcome.is_ok() => self.files.confirmed(),
            WorkKind::SyncSums { file, begun } if outcome.is_ok() => {
                if let Some(sums) = self.files.sums() {
                    sums.synced(file, begun);
                }
            }
            WorkKind::Mark { file, extents, .. } => return self.marked(file, &extents, outcome),
            WorkKind::CopyRead { buffer, .. } | WorkKind::CopyWrite { buffer, .. } | WorkKind::Zeros(buffer) => {
                self.pool.give_back(buffer);
            }
            WorkKind::Checked(of) => checked = Some(of),
            _ => {}
        }
        match guard {
            Some(guard) => self.end_checked(job, guard, checked, outcome),
            None => self.worked(job, outcome),
        }
        Ok(())
    }

    #[inline]
    pub(super) fn worked(&mut self, job: JobId, outcome: Result<(), Errno>) {
        self.volumes.worked(self.now, job, outcome, &mut self.jobs);
    }
}

pub(super) enum Progress {
    Again,
    Done(Result<(), Errno>),
}

impl Task {
    /// A task whose operations have their own file and position.
    pub(super) const fn new(job: JobId, kind: WorkKind) -> Self {
        Self { job, guard: None, file: -1, at: 0, left: 0, kind }
    }

    /// Moves the bytes with a system call if that will not block; `true` if all were moved.
    #[inline]
    fn run_inline(&mut self, inline_io: &mut InlineIo) -> bool {
        let moved = match &self.kind {
            // SAFETY: the flight's memory has this many bytes left, and nothing else uses it meanwhile.
            WorkKind::Read(Memory(to)) => unsafe { inline_io.read(self.file, *to, self.left as usize, self.at) },
            // SAFETY: as above.
            WorkKind::Write(Memory(from)) => unsafe { inline_io.write(self.file, *from, self.left as usize, self.at) },
            _ => return false,
        };
        moved.is_some_and(|moved| matches!(self.moved(moved), Progress::Done(Ok(()))))
    }

    /// The operation for the kernel.
    #[inline]
    fn entry(&self, concurrency: Concurrency) -> squeue::Entry {
        let (file, left) = (Fd(self.file), u32::try_from(self.left).unwrap_or(u32::MAX));
        match &self.kind {
            // Long reads run on threads of the kernel, so that the loop and other requests proceed. Alone, a read would
            // only move to another processor.
            WorkKind::Read(Memory(to)) => {
                let entry = opcode::Read::new(file, *to, left).offset(self.at).build();
                let waits = left as usize > INLINE_MAX && concurrency == Concurrency::Shared;
                if waits { entry.flags(squeue::Flags::ASYNC) } else { entry }
            }
            WorkKind::Write(Memory(from)) => opcode::Write::new(file, *from, left).offset(self.at).build(),
            WorkKind::CopyRead { buffer, done, .. } => {
                opcode::Read::new(file, buffer.at(*done), left).offset(self.at).build()
            }
            WorkKind::CopyWrite { buffer, done } => {
                opcode::Write::new(file, buffer.at(*done), left).offset(self.at).build()
            }
            WorkKind::Allocate { mode, .. } => {
                opcode::Fallocate::new(file, self.left).offset(self.at).mode(*mode).build()
            }
            WorkKind::Zeros(zeros) => {
                opcode::Write::new(file, zeros.at(0), left.min(ZEROS_BYTES)).offset(self.at).build()
            }
            WorkKind::Append { bytes, done, .. } => {
                opcode::Write::new(file, bytes[*done..].as_ptr(), left).offset(self.at).build()
            }
            WorkKind::Confirm(block) => opcode::Write::new(file, block.as_ptr(), left).offset(self.at).build(),
            WorkKind::Sync | WorkKind::SyncLog(_) | WorkKind::SyncData { .. } | WorkKind::SyncSums { .. } => {
                opcode::Fsync::new(file).flags(FsyncFlags::DATASYNC).build()
            }
            WorkKind::Mark { intent, .. } => opcode::Fsync::new(Fd(*intent)).flags(FsyncFlags::DATASYNC).build(),
            WorkKind::Checked(checked) => checked.entry(),
        }
    }

    /// `moved` bytes were moved, or an operation without bytes is done.
    #[inline]
    fn moved(&mut self, moved: u32) -> Progress {
        match &mut self.kind {
            WorkKind::Allocate { .. } | WorkKind::Sync | WorkKind::SyncSums { .. } | WorkKind::Mark { .. } => {
                return Progress::Done(Ok(()));
            }
            WorkKind::SyncLog(_) | WorkKind::SyncData { .. } => return self.second_half(),
            WorkKind::Checked(checked) => return checked.moved(moved),
            WorkKind::Read(Memory(to)) if moved == 0 => {
                // SAFETY: the rest of the read lies in the flight's buffer, which nothing else uses meanwhile.
                unsafe { std::slice::from_raw_parts_mut(*to, self.left as usize) }.fill(0);
                return Progress::Done(Ok(()));
            }
            // The file reads as zeros beyond its end.
            WorkKind::CopyRead { buffer, done, .. } if moved == 0 => {
                buffer.bytes()[*done as usize..][..self.left as usize].fill(0);
                self.left = 0;
            }
            _ if moved == 0 => return Progress::Done(Err(Errno::Io)),
            WorkKind::Read(Memory(at)) | WorkKind::Write(Memory(at)) => *at = at.wrapping_add(moved as usize),
            WorkKind::CopyRead { done, .. } | WorkKind::CopyWrite { done, .. } => *done += moved,
            WorkKind::Append { done, .. } => *done += moved as usize,
            // A sector is written as a whole.
            WorkKind::Confirm(_) if u64::from(moved) < self.left => return Progress::Done(Err(Errno::Io)),
            WorkKind::Zeros(_) | WorkKind::Confirm(_) => {}
        }
        self.at += u64::from(moved);
        self.left = self.left.saturating_sub(u64::from(moved));
        if self.left > 0 { Progress::Again } else { self.second_half() }
    }

    fn second_half(&mut self) -> Progress {
        if matches!(self.kind, WorkKind::Read(_) | WorkKind::Write(_)) {
            return Progress::Done(Ok(()));
        }
        match std::mem::replace(&mut self.kind, WorkKind::Sync) {
            WorkKind::CopyRead { buffer, to, to_at, length, .. } => {
                self.kind = WorkKind::CopyWrite { buffer, done: 0 };
                (self.file, self.at, self.left) = (to, to_at, length.into());
            }
            WorkKind::Append { confirmation, .. } => self.kind = WorkKind::SyncLog(confirmation),
            WorkKind::SyncData { sums, file, begun } => {
                self.file = sums;
                self.kind = WorkKind::SyncSums { file, begun };
            }
            WorkKind::SyncLog(Confirmation { file, at, block }) => {
                (self.file, self.at, self.left) = (file, at, block.len() as u64);
                self.kind = WorkKind::Confirm(block);
            }
            other => {
                self.kind = other;
                return Progress::Done(Ok(()));
            }
        }
        Progress::Again
    }

    #[cold]
    fn failed(&mut self, error: i32, pool: &mut crate::pool::Pool) -> Progress {
        if let (libc::EOPNOTSUPP, WorkKind::Allocate { fallback, .. }) = (-error, &self.kind) {
            self.kind = match fallback {
                Fallback::Punch => WorkKind::Allocate { mode: PUNCH, fallback: Fallback::Zeros },
                Fallback::Zeros => {
                    let mut zeros = pool.lend_anyway(ZEROS_BYTES);
                    zeros.bytes().fill(0);
                    WorkKind::Zeros(zeros)
                }
            };
            return Progress::Again;
        }
        // A sync without space for delayed allocations has lost them, as by any other error.
        let is_sync = matches!(self.kind, WorkKind::Sync | WorkKind::SyncData { .. } | WorkKind::SyncSums { .. });
        Progress::Done(Err(if is_sync { Errno::Io } else { errno(&io::Error::from_raw_os_error(-error)) }))
    }
}

/// The error for clients that corresponds to a system error.
pub(super) fn errno(error: &io::Error) -> Errno {
    match error.raw_os_error() {
        Some(libc::ENOSPC | libc::EDQUOT | libc::EFBIG) => Errno::NoSpc,
        _ => Errno::Io,
    }
}
