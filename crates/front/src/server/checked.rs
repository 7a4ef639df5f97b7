//! Jobs on data files with checksums: exclusive on their blocks, verified when they read, with new checksums when they
//! write.
#![allow(unsafe_code)]

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::ops::Range;
use std::os::fd::RawFd;

use io_uring::types::Fd;
use io_uring::{opcode, squeue};
use plimsoll_volume::{Errno, FileId, FileJob, FilePosition, Io, JobId};

use super::Server;
use super::inline_io::InlineIo;
use super::work::{Progress, Task, WorkKind, errno};
use crate::files::CheckedFile;
use crate::files::sums::{BLOCK, Blocks, SUM_BYTES, mismatches, sum};
use crate::pool::{Buffer, Pool};
use crate::slots::Slots;

/// The blocks that a job uses. Meanwhile no other job writes them, or reads those that it writes.
#[derive(Clone, Debug, Default)]
pub(super) struct Guard {
    read: Option<Blocks>,
    write: Option<Blocks>,
    /// It punches clusters without references: their extents need no mark, as the next start punches them again.
    is_punch: bool,
}

impl Guard {
    /// `None` for a job that uses no blocks.
    fn of(io: &Io) -> Option<Self> {
        let blocks = |place: FilePosition, length: u64| Some(Blocks::touched(place, length));
        match *io {
            Io::Read { place, length, .. } => Some(Self { read: blocks(place, length.into()), ..Self::default() }),
            Io::Write { place, length, .. } => Some(Self { write: blocks(place, length.into()), ..Self::default() }),
            Io::Zero { place, length } => Some(Self { write: blocks(place, length), ..Self::default() }),
            Io::Punch { place, length } => {
                Some(Self { write: blocks(place, length), is_punch: true, ..Self::default() })
            }
            Io::Copy { from, to, length } => {
                Some(Self { read: blocks(from, length.into()), write: blocks(to, length.into()), is_punch: false })
            }
            Io::Blank { .. } | Io::Sync { .. } | Io::Commit(_) => None,
        }
    }

    fn conflicts(&self, other: &Self) -> bool {
        let overlap = |a: &Option<Blocks>, b: &Option<Blocks>| match (a, b) {
            (Some(a), Some(b)) => a.file == b.file && a.range.start < b.range.end && b.range.start < a.range.end,
            _ => false,
        };
        overlap(&self.write, &other.write) || overlap(&self.write, &other.read) || overlap(&self.read, &other.write)
    }
}

/// The guards of jobs in progress, and jobs that wait for them.
#[derive(Debug)]
pub(super) struct Guards {
    active: Slots<Guard>,
    /// Jobs that wait for blocks of earlier jobs.
    waiting: VecDeque<(FileJob, Guard)>,
    /// A guard was released since waiting jobs were retried.
    is_released: bool,
    /// Jobs with guards that wait for the marks of their extents.
    unmarked: Vec<(FileJob, u32)>,
    is_marking: bool,
}

impl Guards {
    pub(super) const fn new() -> Self {
        Self {
            active: Slots::new(),
            waiting: VecDeque::new(),
            is_released: false,
            unmarked: Vec::new(),
            is_marking: false,
        }
    }

    fn is_free(&self, guard: &Guard) -> bool {
        let waiting = self.waiting.iter().map(|(_, guard)| guard);
        !self.active.iter().chain(waiting).any(|other| guard.conflicts(other))
    }
}

/// A range of a data file that is read or written, divided by blocks.
#[derive(Clone, Copy, Debug)]
struct BlockRange {
    place: FilePosition,
    length: u32,
}

impl BlockRange {
    const fn end(self) -> u64 {
        self.place.at + self.length as u64
    }

    fn blocks(self) -> Blocks {
        Blocks::touched(self.place, self.length.into())
    }

    /// Its bytes in the first block, unless it covers that.
    fn head(self) -> Option<Range<u64>> {
        let end = (self.place.at / BLOCK + 1) * BLOCK;
        let is_whole = self.place.at.is_multiple_of(BLOCK) && self.end() >= end;
        (!is_whole).then_some(self.place.at..end.min(self.end()))
    }

    /// Its bytes in the last block, unless it covers that or has no other.
    fn tail(self) -> Option<Range<u64>> {
        let start = self.end() / BLOCK * BLOCK;
        (!self.end().is_multiple_of(BLOCK) && start > self.place.at).then_some(start..self.end())
    }

    fn edges(self) -> impl Iterator<Item = Edge> {
        let last = self.blocks().len().saturating_sub(1);
        let head = self.head().map(|range| Edge { range, at: 0, number: 0 });
        let tail = self.tail().map(|range| Edge { range, at: BLOCK as usize, number: last });
        head.into_iter().chain(tail)
    }

    fn has_edges(self) -> bool {
        self.edges().next().is_some()
    }

    /// The blocks that it covers, as bytes.
    fn middle(self) -> Range<u64> {
        let start = self.head().map_or(self.place.at, |head| head.end);
        let end = self.tail().map_or(self.end(), |tail| tail.start);
        start..end.max(start)
    }
}

/// A first or last block that a piece covers in part.
struct Edge {
    /// The bytes of the piece in it.
    range: Range<u64>,
    /// Where the block is in the buffer of edges.
    at: usize,
    /// Its number among the blocks of the piece.
    number: u64,
}

/// The checksum of a block among those of a piece.
fn sum_range(number: u64) -> Range<usize> {
    (number * SUM_BYTES) as usize..((number + 1) * SUM_BYTES) as usize
}

/// A step of a job: one operation of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JobStep {
    ReadSums,
    ReadHead,
    ReadTail,
    ReadMiddle,
    WriteData,
    WriteSums,
}

/// The descriptors of a data file and of its checksums.
#[derive(Clone, Copy, Debug)]
struct Descriptors {
    data: RawFd,
    sums: RawFd,
}

/// A read, a write, or a copy: a read and then a write.
#[derive(Debug)]
pub(super) struct CheckedJob {
    piece: BlockRange,
    files: Descriptors,
    /// The target of a copy.
    to: Option<(FilePosition, Descriptors)>,
    is_write: bool,
    step: JobStep,
    /// Memory of the piece, in the buffer of a flight or in `own`.
    payload: *mut u8,
    own: Option<Buffer>,
    /// The first and the last block, if the piece covers them in part.
    edges: Option<Buffer>,
    sums: Vec<u8>,
    /// The remaining memory of the step.
    memory: *mut u8,
    at: u64,
    left: u32,
    damaged: Vec<FilePosition>,
}

impl CheckedJob {
    fn new(piece: BlockRange, files: Descriptors, payload: *mut u8, is_write: bool) -> Self {
        Self {
            piece,
            files,
            to: None,
            is_write,
            step: JobStep::ReadSums,
            payload,
            own: None,
            edges: None,
            sums: Vec::new(),
            memory: payload,
            at: 0,
            left: 0,
            damaged: Vec::new(),
        }
    }

    /// Begins with its first step.
    fn begin(&mut self, pool: &mut Pool) {
        let target = self.to.map(|(place, _)| BlockRange { place, length: self.piece.length });
        if self.piece.has_edges() || target.is_some_and(BlockRange::has_edges) {
            self.edges = Some(pool.lend_anyway(2 * BLOCK as u32));
        }
        self.begin_piece();
    }

    /// Begins to read or write the piece. A write reads the blocks first that it covers in part.
    fn begin_piece(&mut self) {
        self.sums.clear();
        self.sums.resize((self.piece.blocks().len() * SUM_BYTES) as usize, 0);
        let writes_whole_blocks = self.is_write && !self.piece.has_edges();
        self.go_to(if writes_whole_blocks { JobStep::WriteData } else { JobStep::ReadSums });
    }

    fn go_to(&mut self, step: JobStep) {
        if step == JobStep::WriteData {
            self.compute();
        }
        let blocks = self.piece.blocks();
        let edge = |edges: &Option<Buffer>, at| edges.as_ref().map_or(std::ptr::null_mut(), |edges| edges.at(at));
        let middle = self.piece.middle();
        let within = (middle.start - self.piece.place.at) as usize;
        (self.memory, self.at, self.left) = match step {
            JobStep::ReadSums | JobStep::WriteSums => {
                (self.sums.as_mut_ptr(), blocks.sums_at(), self.sums.len() as u32)
            }
            JobStep::ReadHead => (edge(&self.edges, 0), blocks.at(), BLOCK as u32),
            JobStep::ReadTail => (edge(&self.edges, BLOCK as u32), (blocks.range.end - 1) * BLOCK, BLOCK as u32),
            JobStep::ReadMiddle => {
                (self.payload.wrapping_add(within), middle.start, (middle.end - middle.start) as u32)
            }
            JobStep::WriteData => (self.payload, self.piece.place.at, self.piece.length),
        };
        self.step = step;
    }

    /// The step is done.
    fn next(&mut self) -> Progress {
        let (has_head, has_tail) = (self.piece.head().is_some(), self.piece.tail().is_some());
        let next = match self.step {
            JobStep::ReadSums if has_head => JobStep::ReadHead,
            JobStep::ReadSums | JobStep::ReadHead if has_tail => JobStep::ReadTail,
            JobStep::ReadSums | JobStep::ReadHead | JobStep::ReadTail
                if !self.is_write && !self.piece.middle().is_empty() =>
            {
                JobStep::ReadMiddle
            }
            JobStep::ReadSums | JobStep::ReadHead | JobStep::ReadTail | JobStep::ReadMiddle => {
                if !self.verify() {
                    return Progress::Done(Err(Errno::Io));
                }
                if self.is_write {
                    JobStep::WriteData
                } else {
                    return self.has_read();
                }
            }
            JobStep::WriteData => JobStep::WriteSums,
            JobStep::WriteSums => return Progress::Done(Ok(())),
        };
        self.go_to(next);
        Progress::Again
    }

    /// The piece was read and verified.
    fn has_read(&mut self) -> Progress {
        for Edge { range, at, .. } in self.piece.edges() {
            let Some(edges) = &self.edges else { continue };
            let from = at + (range.start % BLOCK) as usize;
            // SAFETY: the piece has these bytes, and nothing else uses its memory meanwhile.
            let to = unsafe { self.slice(range) };
            to.copy_from_slice(&edges.content()[from..from + to.len()]);
        }
        let Some((place, files)) = self.to.take() else { return Progress::Done(Ok(())) };
        self.piece.place = place;
        (self.files, self.is_write) = (files, true);
        self.begin_piece();
        Progress::Again
    }

    /// Verifies the blocks that were read.
    fn verify(&mut self) -> bool {
        let blocks = self.piece.blocks();
        let mut wrong: Vec<u64> = Vec::new();
        if let Some(edges) = &self.edges {
            for Edge { at, number, .. } in self.piece.edges() {
                let block = &edges.content()[at..at + BLOCK as usize];
                wrong.extend(mismatches(block, &self.sums[sum_range(number)]).map(|_| number));
            }
        }
        if !self.is_write {
            let middle = self.piece.middle();
            let first = middle.start / BLOCK - blocks.range.start;
            let sums = &self.sums[sum_range(first).start..];
            // SAFETY: the piece has these bytes, and nothing else uses its memory meanwhile.
            wrong.extend(mismatches(unsafe { self.slice(middle) }, sums).map(|number| first + number));
        }
        let place = |number| FilePosition { file: blocks.file, at: (blocks.range.start + number) * BLOCK };
        self.damaged = wrong.into_iter().map(place).collect();
        self.damaged.is_empty()
    }

    /// Computes the checksums after the write.
    fn compute(&mut self) {
        for Edge { range, at, number } in self.piece.edges() {
            let within = at + (range.start % BLOCK) as usize;
            // SAFETY: the piece has these bytes, and nothing changes its memory meanwhile.
            let from = unsafe { self.slice(range) };
            let Some(edges) = &mut self.edges else { continue };
            edges.bytes()[within..within + from.len()].copy_from_slice(from);
            self.sums[sum_range(number)].copy_from_slice(&sum(&edges.content()[at..at + BLOCK as usize]));
        }
        let middle = self.piece.middle();
        let first = middle.start / BLOCK - self.piece.blocks().range.start;
        // SAFETY: as above.
        let bytes = unsafe { self.slice(middle) };
        for (number, block) in (first..).zip(bytes.chunks_exact(BLOCK as usize)) {
            self.sums[sum_range(number)].copy_from_slice(&sum(block));
        }
    }

    /// The memory of bytes of the piece.
    ///
    /// # Safety
    /// The piece has these bytes, and nothing else uses their memory for as long as they are used.
    unsafe fn slice<'a>(&self, range: Range<u64>) -> &'a mut [u8] {
        let at = self.payload.wrapping_add((range.start - self.piece.place.at) as usize);
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(at, (range.end - range.start) as usize) }
    }

    const fn file(&self) -> RawFd {
        match self.step {
            JobStep::ReadSums | JobStep::WriteSums => self.files.sums,
            _ => self.files.data,
        }
    }

    const fn writes(&self) -> bool {
        matches!(self.step, JobStep::WriteData | JobStep::WriteSums)
    }

    pub(super) fn entry(&self) -> squeue::Entry {
        let file = Fd(self.file());
        if self.writes() {
            opcode::Write::new(file, self.memory, self.left).offset(self.at).build()
        } else {
            opcode::Read::new(file, self.memory, self.left).offset(self.at).build()
        }
    }

    /// `moved` bytes of the step were moved.
    pub(super) fn moved(&mut self, moved: u32) -> Progress {
        if moved == 0 {
            if self.writes() {
                return Progress::Done(Err(Errno::Io));
            }
            // SAFETY: the step has this much memory left. The file reads as zeros beyond its end.
            unsafe { std::slice::from_raw_parts_mut(self.memory, self.left as usize) }.fill(0);
            return self.next();
        }
        self.memory = self.memory.wrapping_add(moved as usize);
        self.at += u64::from(moved);
        self.left = self.left.saturating_sub(moved);
        if self.left > 0 { Progress::Again } else { self.next() }
    }

    /// Does steps inline while they do not block; `None` if the ring has to do the next step.
    fn at_once(&mut self, inline_io: &mut InlineIo) -> Option<Result<(), Errno>> {
        loop {
            let (file, left) = (self.file(), self.left as usize);
            let moved = if self.writes() {
                // SAFETY: the step has this much memory left, and nothing else changes it meanwhile.
                unsafe { inline_io.write(file, self.memory, left, self.at) }
            } else {
                // SAFETY: the step has this much memory left, and nothing else uses it meanwhile.
                unsafe { inline_io.read(file, self.memory, left, self.at) }
            };
            match self.moved(moved?) {
                Progress::Again => {}
                Progress::Done(outcome) => return Some(outcome),
            }
        }
    }
}

impl Server {
    /// Begins a job on data files with checksums. Returns a job that uses no blocks.
    pub(super) fn begin_checked(&mut self, job: FileJob) -> io::Result<Option<FileJob>> {
        let Some(guard) = Guard::of(&job.io) else { return Ok(Some(job)) };
        self.begin_guarded(job, guard)?;
        Ok(None)
    }

    fn begin_guarded(&mut self, job: FileJob, guard: Guard) -> io::Result<()> {
        if !self.guards.is_free(&guard) {
            self.guards.waiting.push_back((job, guard));
            return Ok(());
        }
        let written = guard.write.clone().filter(|_| !guard.is_punch);
        let number = self.guards.active.insert(guard);
        let Some(blocks) = written else { return self.run_checked(job, number) };
        // Its files have to exist before their extents are marked.
        let reached = self.files.reaching(blocks.file, blocks.range.end * BLOCK);
        let marked = reached.and_then(|_| self.files.sums().map_or(Ok(true), |sums| sums.begin_write(&blocks)));
        match marked {
            Ok(true) => self.run_checked(job, number),
            Ok(false) => {
                self.guards.unmarked.push((job, number));
                self.mark()
            }
            Err(error) => {
                self.guards.active.remove(number);
                self.guards.is_released = true;
                self.worked(job.id, Err(errno(&error)));
                Ok(())
            }
        }
    }

    /// Begins waiting jobs after guards were released; false if none was.
    pub(super) fn retry_guarded(&mut self) -> io::Result<bool> {
        if !std::mem::take(&mut self.guards.is_released) {
            return Ok(false);
        }
        for (job, guard) in std::mem::take(&mut self.guards.waiting) {
            self.begin_guarded(job, guard)?;
        }
        Ok(true)
    }

    /// Marks the extents of waiting writes, one file at a time.
    fn mark(&mut self) -> io::Result<()> {
        while !self.guards.is_marking
            && let Some((_, number)) = self.guards.unmarked.first()
            && let Some(file) = self.guards.active.get(*number).and_then(|guard| Some(guard.write.as_ref()?.file))
            && let Some(sums) = self.files.sums()
        {
            match sums.mark(file).and_then(|extents| Ok((extents, sums.intent(file)?))) {
                Ok((extents, intent)) => {
                    self.guards.is_marking = true;
                    let task = Task::new(JobId(u32::MAX), WorkKind::Mark { intent, file, extents });
                    let number = self.tasks.insert(task);
                    self.submit(number)?;
                }
                Err(error) => self.marked(file, &[], Err(errno(&error)))?,
            }
        }
        Ok(())
    }

    /// Marking the extents of a file has ended.
    pub(super) fn marked(&mut self, file: FileId, extents: &[u32], outcome: Result<(), Errno>) -> io::Result<()> {
        self.guards.is_marking = false;
        if let (Ok(()), Some(sums)) = (outcome, self.files.sums()) {
            sums.marked(file, extents);
        }
        for (job, number) in std::mem::take(&mut self.guards.unmarked) {
            let blocks = self.guards.active.get(number).and_then(|guard| guard.write.clone());
            let is_marked =
                blocks.as_ref().zip(self.files.sums()).is_some_and(|(blocks, sums)| sums.are_marked(blocks));
            match outcome {
                _ if is_marked => self.run_checked(job, number)?,
                Err(errno) if blocks.is_some_and(|blocks| blocks.file == file) => {
                    self.end_checked(job.id, number, None, Err(errno));
                }
                _ => self.guards.unmarked.push((job, number)),
            }
        }
        self.mark()
    }

    /// Does a job that has its guard and its marks.
    fn run_checked(&mut self, FileJob { id, io }: FileJob, guard: u32) -> io::Result<()> {
        let task = match io {
            Io::Punch { place, length } => self.punch(id, place, length),
            io => self.checked(id, &io),
        };
        let mut task = match task {
            Ok(task) => task,
            Err(errno) => {
                self.end_checked(id, guard, None, Err(errno));
                return Ok(());
            }
        };
        task.guard = Some(guard);
        if let WorkKind::Checked(checked) = &mut task.kind
            && let Some(outcome) = checked.at_once(&mut self.inline_io)
        {
            self.end_task(task, outcome)
        } else {
            let number = self.tasks.insert(task);
            self.submit(number)
        }
    }

    fn checked(&mut self, id: JobId, io: &Io) -> Result<Task, Errno> {
        let mut checked = match *io {
            Io::Read { ticket, into, place, length } => {
                let payload = self.memory(ticket, into, length)?.address();
                CheckedJob::new(BlockRange { place, length }, self.descriptors(place.file)?, payload, false)
            }
            Io::Write { ticket, from, place, length } => {
                let payload = self.memory(ticket, from, length)?.address();
                CheckedJob::new(BlockRange { place, length }, self.descriptors(place.file)?, payload, true)
            }
            Io::Copy { from, to, length } => {
                let (source, target) = (self.descriptors(from.file)?, self.descriptors(to.file)?);
                let own = self.pool.lend_anyway(length);
                let checked = CheckedJob::new(BlockRange { place: from, length }, source, own.at(0), false);
                CheckedJob { to: Some((to, target)), own: Some(own), ..checked }
            }
            Io::Zero { place, length } => {
                let (files, length) = (self.descriptors(place.file)?, length as u32);
                let mut own = self.pool.lend_anyway(length);
                own.bytes()[..length as usize].fill(0);
                let checked = CheckedJob::new(BlockRange { place, length }, files, own.at(0), true);
                CheckedJob { own: Some(own), ..checked }
            }
            Io::Blank { .. } | Io::Punch { .. } | Io::Sync { .. } | Io::Commit(_) => return Err(Errno::Inval),
        };
        checked.begin(&mut self.pool);
        Ok(Task::new(id, WorkKind::Checked(Box::new(checked))))
    }

    fn descriptors(&mut self, file: FileId) -> Result<Descriptors, Errno> {
        let data = self.files.descriptor(file).map_err(|error| errno(&error))?;
        let sums = self.files.sums().ok_or(Errno::Io)?.descriptor(file).map_err(|error| errno(&error))?;
        Ok(Descriptors { data, sums })
    }

    /// Ends a guarded job, and releases its blocks.
    pub(super) fn end_checked(
        &mut self,
        id: JobId,
        guard: u32,
        checked: Option<Box<CheckedJob>>,
        mut outcome: Result<(), Errno>,
    ) {
        let Some(Guard { write, is_punch, .. }) = self.guards.active.remove(guard) else { return };
        self.guards.is_released = !self.guards.waiting.is_empty();
        if let Some(checked) = checked {
            let has_written = checked.writes();
            let CheckedJob { own, edges, damaged, .. } = *checked;
            own.into_iter().chain(edges).for_each(|buffer| self.pool.give_back(buffer));
            if let (Some(blocks), Err(_), true) = (&write, outcome, has_written) {
                self.files.accept(blocks);
            }
            if let Some(sums) = self.files.sums() {
                for place in damaged {
                    sums.found_damaged(place);
                }
            }
        }
        if let (Some(blocks), Some(sums)) = (write, self.files.sums()) {
            if is_punch {
                outcome = outcome.and_then(|()| sums.zero(&blocks).map_err(|error| errno(&error)));
            } else {
                sums.end_write(&blocks, self.now);
            }
            if outcome.is_ok() {
                sums.found_sound(&blocks);
            }
        }
        self.worked(id, outcome);
    }

    /// Whether data have checksums.
    pub fn has_checksums(&mut self) -> bool {
        self.files.sums().is_some()
    }

    /// Damaged blocks, and the number of reads of each.
    pub fn damaged(&mut self) -> BTreeMap<FilePosition, u64> {
        self.files.sums().map(|sums| sums.damaged().clone()).unwrap_or_default()
    }

    /// A data file with its checksums, for comparison on any thread.
    ///
    /// # Errors
    /// The file does not exist.
    pub fn checked_file(&self, file: FileId) -> io::Result<CheckedFile> {
        self.files.sources(file)
    }

    /// Verifies one block; `None` while it is being written.
    ///
    /// # Errors
    /// The block cannot be read.
    pub fn check_block(&mut self, place: FilePosition) -> io::Result<Option<bool>> {
        let blocks = Blocks::touched(place, BLOCK);
        let guard = Guard { read: Some(blocks), ..Guard::default() };
        if !self.guards.is_free(&guard) {
            return Ok(None);
        }
        let is_sound = self.files.is_sound(place)?;
        if let Some(sums) = self.files.sums().filter(|_| !is_sound) {
            sums.found_damaged(place);
        }
        Ok(Some(is_sound))
    }
}
