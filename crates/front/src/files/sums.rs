//! Checksums of data files: a CRC-32C (Castagnoli 1993) for each block of 4 KiB, in the file `sums.N` of `data.N`.
//!
//! A block and its checksum cannot be written in one step. So before the first write to an extent of 16 MiB, the file
//! `intent.N` durably marks it as active, as the activity log of DRBD and the write-intent bitmap of Linux md do
//! (Ellenberg 2007, Brown 2005). The mark is cleared after data and checksums of the extent are durable and it has been
//! idle for a while, and when the server ends. After any other end, the checksums of active extents are computed again
//! from the data as found; all others must match.
//!
//! A checksum is stored exclusive-or that of a block of zeros, so that holes in both files are consistent.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::fs::FileExt;

use plimsoll_units::{Instant, Span};
use plimsoll_volume::{BLOCK_BYTES, FileId, FileKind, FilePosition, StoreId, header, read_header};
use rustix::fs::FallocateFlags;
use rustix::io::Errno;

use super::directory::create_file;

/// Bytes of a block, which has a checksum of its own.
pub(crate) const BLOCK: u64 = 4_096;
/// Bytes of a checksum.
pub(crate) const SUM_BYTES: u64 = 4;
/// Position of checksums and marks, behind a header.
const BODY_AT: u64 = 4_096;
/// Blocks of an extent, which is marked as a whole: 16 MiB.
const EXTENT_BLOCKS: u64 = 4_096;
/// Bytes of a page of marks.
const PAGE: usize = 4_096;
/// The CRC-32C of a block of zeros.
const ZEROS: u32 = 0x98F9_4189;
/// An extent without writes for this long is idle.
const IDLE: Span = Span::from_secs(10);
/// Blocks that are computed or verified at a time.
const CHUNK_BLOCKS: u64 = 256;
/// Maximum of remembered damaged blocks.
const DAMAGED_MAX: usize = 10_000;

/// Blocks of a data file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Blocks {
    pub(crate) file: FileId,
    pub(crate) range: Range<u64>,
}

impl Blocks {
    /// The blocks that bytes touch.
    pub(crate) const fn touched(place: FilePosition, length: u64) -> Self {
        Self { file: place.file, range: place.at / BLOCK..(place.at + length).div_ceil(BLOCK) }
    }

    pub(crate) const fn len(&self) -> u64 {
        self.range.end - self.range.start
    }

    /// The first byte in the data file.
    pub(crate) const fn at(&self) -> u64 {
        self.range.start * BLOCK
    }

    /// The first byte of the checksums in their file.
    pub(crate) const fn sums_at(&self) -> u64 {
        BODY_AT + self.range.start * SUM_BYTES
    }

    fn extents(&self) -> Range<u32> {
        let end = self.range.end.div_ceil(EXTENT_BLOCKS);
        (self.range.start / EXTENT_BLOCKS) as u32..end as u32
    }
}

/// The stored checksum of a block.
#[inline]
pub(crate) fn sum(block: &[u8]) -> [u8; SUM_BYTES as usize] {
    (crc32c::crc32c(block) ^ ZEROS).to_le_bytes()
}

/// The numbers of the blocks whose checksums differ.
#[inline]
pub(crate) fn mismatches(data: &[u8], sums: &[u8]) -> impl Iterator<Item = u64> {
    let pairs = data.chunks_exact(BLOCK as usize).zip(sums.chunks_exact(SUM_BYTES as usize));
    (0..).zip(pairs).filter(|(_, (block, stored))| sum(block) != **stored).map(|(number, _)| number)
}

/// The checksums of one data file.
#[derive(Debug)]
pub(super) struct SumFile {
    sums: File,
    intent: File,
    marks: Vec<u8>,
    /// Extents that are marked, or will be.
    active: BTreeMap<u32, Activity>,
}

/// The state of an active extent.
#[derive(Clone, Copy, Debug, Default)]
struct Activity {
    is_marked: bool,
    /// Writes under way.
    writes: u32,
    /// When the last write ended.
    written: Instant,
}

/// The checksums that were computed again after an unclean end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recomputed {
    /// Bytes of the extents that had been written lately.
    pub bytes: u64,
    /// Blocks among them whose checksums differed.
    pub blocks: u64,
}

/// The checksums of all data files of a directory, and the damage that reads have found.
#[derive(Debug, Default)]
pub(crate) struct BlockSums {
    files: BTreeMap<u32, SumFile>,
    /// Damaged blocks, and the number of reads of each.
    damaged: BTreeMap<FilePosition, u64>,
}

pub(super) fn sums_name(number: u32) -> String {
    format!("sums.{number}")
}

pub(super) fn intent_name(number: u32) -> String {
    format!("intent.{number}")
}

impl SumFile {
    /// Makes the files of a data file that has no content yet, or whose checksums are to be computed. They are durable with
    /// the next `fsync` of the directory.
    pub(super) fn make(directory: &OwnedFd, id: StoreId, number: u32) -> io::Result<Self> {
        let make = |name: String, kind| -> io::Result<File> {
            let file = create_file(directory, &name)?;
            file.write_all_at(&header(kind, id, FileId(number)), 0)?;
            file.sync_all()?;
            Ok(file)
        };
        let intent = make(intent_name(number), FileKind::Intent)?;
        let sums = make(sums_name(number), FileKind::Sums)?;
        Ok(Self { sums, intent, marks: Vec::new(), active: BTreeMap::new() })
    }

    /// Takes opened files, or states the fault.
    pub(super) fn open(sums: File, intent: File, id: StoreId, number: u32) -> io::Result<Result<Self, String>> {
        for (file, kind, name) in
            [(&sums, FileKind::Sums, sums_name(number)), (&intent, FileKind::Intent, intent_name(number))]
        {
            let mut block = [0; BLOCK_BYTES];
            read_full(file.as_fd(), &mut block, 0)?;
            match read_header(kind, &block) {
                Ok(found) if found == (id, FileId(number)) => {}
                Ok(_) => return Ok(Err(format!("{name} belongs to another data file"))),
                Err(error) => return Ok(Err(format!("{name} has no header ({error})"))),
            }
        }
        let length = intent.metadata()?.len().saturating_sub(BODY_AT);
        let mut marks = vec![0; (length as usize).next_multiple_of(PAGE)];
        read_full(intent.as_fd(), &mut marks, BODY_AT)?;
        let marked = |extent: &u32| marks[*extent as usize / 8] >> (extent % 8) & 1 == 1;
        let active = (0..marks.len() as u32 * 8).filter(marked);
        let active = active.map(|extent| (extent, Activity { is_marked: true, ..Activity::default() })).collect();
        Ok(Ok(Self { sums, intent, marks, active }))
    }

    /// Recomputes the checksums of all active extents, and clears their marks.
    fn recover(&mut self, data: BorrowedFd<'_>) -> io::Result<Recomputed> {
        let mut recomputed = Recomputed::default();
        let end = rustix::fs::fstat(data)?.st_size as u64;
        for extent in self.active.keys() {
            let first = u64::from(*extent) * EXTENT_BLOCKS;
            let blocks = first..(first + EXTENT_BLOCKS).min(end.div_ceil(BLOCK)).max(first);
            recomputed.bytes += (blocks.end - blocks.start) * BLOCK;
            recomputed.blocks += recompute(data, &self.sums, blocks)?;
        }
        // Data in the page cache only could still be lost, and would differ then.
        self.close(data)?;
        Ok(recomputed)
    }

    /// Writes pages of marks, from the active extents.
    fn write_marks(&mut self, pages: Range<usize>) -> io::Result<()> {
        if self.marks.len() < pages.end * PAGE {
            self.marks.resize(pages.end * PAGE, 0);
        }
        for page in pages {
            let marks = &mut self.marks[page * PAGE..(page + 1) * PAGE];
            marks.fill(0);
            let first = (page * PAGE * 8) as u32;
            for extent in self.active.range(first..first + (PAGE * 8) as u32).map(|(extent, _)| extent - first) {
                marks[extent as usize / 8] |= 1 << (extent % 8);
            }
            self.intent.write_all_at(marks, BODY_AT + (page * PAGE) as u64)?;
        }
        Ok(())
    }

    /// Clears the marks of extents that are durable and pass the filter.
    fn clear(&mut self, is_idle: impl Fn(&Activity) -> bool) -> io::Result<()> {
        let before = self.active.len();
        self.active.retain(|_, activity| !activity.is_marked || activity.writes > 0 || !is_idle(activity));
        if self.active.len() < before { self.write_marks(0..self.marks.len() / PAGE) } else { Ok(()) }
    }

    /// Makes everything durable, and clears all marks that can be cleared.
    fn close(&mut self, data: BorrowedFd<'_>) -> io::Result<()> {
        if self.active.is_empty() {
            return Ok(());
        }
        rustix::fs::fdatasync(data)?;
        self.sums.sync_data()?;
        self.clear(|_| true)?;
        self.intent.sync_data()
    }

    pub(super) fn is_active(&self, block: u64) -> bool {
        self.active.contains_key(&((block / EXTENT_BLOCKS) as u32))
    }

    /// Bytes of the active extents.
    pub(super) fn active_bytes(&self) -> u64 {
        self.active.len() as u64 * EXTENT_BLOCKS * BLOCK
    }

    pub(super) const fn sums(&self) -> &File {
        &self.sums
    }
}

impl BlockSums {
    pub(super) fn insert(&mut self, number: u32, file: SumFile) {
        self.files.insert(number, file);
    }

    fn file(&self, file: FileId) -> io::Result<&SumFile> {
        self.files.get(&file.0).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn file_mut(&mut self, file: FileId) -> io::Result<&mut SumFile> {
        self.files.get_mut(&file.0).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    pub(super) fn recover(&mut self, number: u32, data: BorrowedFd<'_>) -> io::Result<Recomputed> {
        self.file_mut(FileId(number))?.recover(data)
    }

    pub(super) fn close(&mut self, number: u32, data: BorrowedFd<'_>) -> io::Result<()> {
        self.file_mut(FileId(number))?.close(data)
    }

    /// The descriptor of the checksums of a data file.
    pub(crate) fn descriptor(&self, file: FileId) -> io::Result<RawFd> {
        Ok(self.file(file)?.sums.as_raw_fd())
    }

    pub(super) fn source(&self, file: FileId) -> io::Result<File> {
        self.file(file)?.sums.try_clone()
    }

    /// The descriptor of the marks of a data file.
    pub(crate) fn intent(&self, file: FileId) -> io::Result<RawFd> {
        Ok(self.file(file)?.intent.as_raw_fd())
    }

    /// A write to these blocks begins. Returns whether their extents are durably marked already.
    pub(crate) fn begin_write(&mut self, blocks: &Blocks) -> io::Result<bool> {
        let file = self.file_mut(blocks.file)?;
        let mut are_marked = true;
        for extent in blocks.extents() {
            let activity = file.active.entry(extent).or_default();
            activity.writes += 1;
            are_marked &= activity.is_marked;
        }
        Ok(are_marked)
    }

    /// A write to these blocks has ended.
    pub(crate) fn end_write(&mut self, blocks: &Blocks, now: Instant) {
        let Ok(file) = self.file_mut(blocks.file) else { return };
        for extent in blocks.extents() {
            if let Some(activity) = file.active.get_mut(&extent) {
                (activity.writes, activity.written) = (activity.writes - 1, now);
            }
        }
    }

    /// True when the extents of these blocks are durably marked.
    pub(crate) fn are_marked(&self, blocks: &Blocks) -> bool {
        let is_marked = |file: &SumFile, extent| file.active.get(&extent).is_some_and(|activity| activity.is_marked);
        self.file(blocks.file).is_ok_and(|file| blocks.extents().all(|extent| is_marked(file, extent)))
    }

    /// Writes the marks of all extents that are not marked yet, and returns those: they are marked once the file is synced.
    pub(crate) fn mark(&mut self, file: FileId) -> io::Result<Vec<u32>> {
        let file = self.file_mut(file)?;
        let unmarked = file.active.iter().filter(|(_, activity)| !activity.is_marked);
        let unmarked: Vec<u32> = unmarked.map(|(extent, _)| *extent).collect();
        let page = |extent: &u32| *extent as usize / (PAGE * 8);
        if let (Some(first), Some(last)) = (unmarked.first(), unmarked.last()) {
            file.write_marks(page(first)..page(last) + 1)?;
        }
        Ok(unmarked)
    }

    /// The marks of these extents are durable.
    pub(crate) fn marked(&mut self, file: FileId, extents: &[u32]) {
        let Ok(file) = self.file_mut(file) else { return };
        for extent in extents {
            if let Some(activity) = file.active.get_mut(extent) {
                activity.is_marked = true;
            }
        }
    }

    /// Data and checksums that were written before `begun` are durable: clears the marks of idle extents.
    pub(crate) fn synced(&mut self, file: FileId, begun: Instant) {
        if let Ok(file) = self.file_mut(file) {
            // A mark that stays only costs time after an unclean end.
            let _ = file.clear(|activity| activity.written + IDLE < begun);
        }
    }

    /// Allocates the checksums for a range of a data file, so that a full disk cannot fail their writes.
    pub(super) fn reserve(&self, file: FileId, from: u64, to: u64) -> io::Result<()> {
        let (first, last) = (BODY_AT + from / BLOCK * SUM_BYTES, BODY_AT + to.div_ceil(BLOCK) * SUM_BYTES);
        match rustix::fs::fallocate(&self.file(file)?.sums, FallocateFlags::KEEP_SIZE, first, last - first) {
            Err(Errno::OPNOTSUPP) => Ok(()),
            other => Ok(other?),
        }
    }

    /// The blocks read as zeros from now on.
    pub(crate) fn zero(&self, blocks: &Blocks) -> io::Result<()> {
        let allocate = |flags| {
            let (at, length) = (blocks.sums_at(), blocks.len() * SUM_BYTES);
            Ok(rustix::fs::fallocate(&self.file(blocks.file)?.sums, flags | FallocateFlags::KEEP_SIZE, at, length)?)
        };
        // The space stays where the filesystem can do that: later checksums need it.
        match allocate(FallocateFlags::ZERO_RANGE) {
            Err(error) if Errno::from_io_error(&error) == Some(Errno::OPNOTSUPP) => {
                allocate(FallocateFlags::PUNCH_HOLE)
            }
            other => other,
        }
    }

    /// Recomputes checksums after a write failed and left an unknown part of itself.
    pub(crate) fn accept(&self, data: BorrowedFd<'_>, blocks: &Blocks) -> io::Result<()> {
        recompute(data, &self.file(blocks.file)?.sums, blocks.range.clone()).map(drop)
    }

    /// The block at a place was read, and is damaged.
    pub(crate) fn found_damaged(&mut self, place: FilePosition) {
        if self.damaged.len() < DAMAGED_MAX || self.damaged.contains_key(&place) {
            *self.damaged.entry(place).or_default() += 1;
        }
    }

    /// The blocks were written, or are not referenced any more.
    pub(crate) fn found_sound(&mut self, blocks: &Blocks) {
        if !self.damaged.is_empty() {
            let place = |block| FilePosition { file: blocks.file, at: block * BLOCK };
            let sound = place(blocks.range.start)..place(blocks.range.end);
            self.damaged.retain(|place, _| !sound.contains(place));
        }
    }

    /// Damaged blocks, and the number of reads of each.
    pub(crate) const fn damaged(&self) -> &BTreeMap<FilePosition, u64> {
        &self.damaged
    }
}

/// A data file and its checksums, which may be in use.
#[derive(Debug)]
pub struct CheckedFile {
    pub(super) data: OwnedFd,
    pub(super) sums: File,
}

impl CheckedFile {
    /// Positions of blocks within `length` bytes from `at` on that differ from their checksums.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn scan(&self, at: u64, length: u64) -> io::Result<Vec<u64>> {
        let blocks = at / BLOCK..(at + length).div_ceil(BLOCK);
        let damaged = scan(self.data.as_fd(), &self.sums, blocks)?;
        Ok(damaged.into_iter().map(|block| block * BLOCK).collect())
    }
}

/// Reads until a buffer is full or the file ends. Returns the bytes that were read.
pub(super) fn read_up_to(file: BorrowedFd<'_>, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < bytes.len() {
        match rustix::io::pread(file, &mut bytes[filled..], at + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(filled)
}

/// Fills a buffer, with zeros for bytes beyond the end of the file.
fn read_full(file: BorrowedFd<'_>, bytes: &mut [u8], at: u64) -> io::Result<()> {
    let read = read_up_to(file, bytes, at)?;
    bytes[read..].fill(0);
    Ok(())
}

/// Recomputes checksums from data as they are. Returns the number that differed. The first block, with the header of
/// the file, has none.
pub(super) fn recompute(data: BorrowedFd<'_>, sums: &File, blocks: Range<u64>) -> io::Result<u64> {
    let mut differed = 0;
    for_chunks(data, sums, blocks.start.max(1)..blocks.end, |blocks, bytes, stored| {
        let wrong: Vec<u64> = mismatches(bytes, stored).collect();
        if wrong.is_empty() {
            return Ok(());
        }
        differed += wrong.len() as u64;
        let right: Vec<u8> = bytes.chunks_exact(BLOCK as usize).flat_map(sum).collect();
        sums.write_all_at(&right, blocks.sums_at())
    })?;
    Ok(differed)
}

/// The blocks whose checksums differ. They may be written meanwhile.
pub(super) fn scan(data: BorrowedFd<'_>, sums: &File, blocks: Range<u64>) -> io::Result<Vec<u64>> {
    let mut damaged = Vec::new();
    for_chunks(data, sums, blocks, |blocks, bytes, stored| {
        damaged.extend(mismatches(bytes, stored).map(|number| blocks.range.start + number));
        Ok(())
    })?;
    Ok(damaged)
}

fn for_chunks(
    data: BorrowedFd<'_>,
    sums: &File,
    blocks: Range<u64>,
    mut each: impl FnMut(&Blocks, &[u8], &[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut bytes = vec![0; (CHUNK_BLOCKS * BLOCK) as usize];
    let mut stored = vec![0; (CHUNK_BLOCKS * SUM_BYTES) as usize];
    let mut first = blocks.start;
    while first < blocks.end {
        let end = (first + CHUNK_BLOCKS).min(blocks.end);
        let here = Blocks { file: FileId(0), range: first..end };
        let (bytes, stored) =
            (&mut bytes[..(here.len() * BLOCK) as usize], &mut stored[..(here.len() * SUM_BYTES) as usize]);
        read_full(data, bytes, here.at())?;
        read_full(sums.as_fd(), stored, here.sums_at())?;
        each(&here, bytes, stored)?;
        first = end;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_zeros_have_a_checksum_of_zero() {
        assert_eq!(sum(&[0; BLOCK as usize]), [0; 4]);
        let mut block = [0; BLOCK as usize];
        block[100] = 1;
        assert_ne!(sum(&block), [0; 4]);
    }

    #[test]
    fn extents_are_marked_before_writes_and_cleared_when_idle() {
        let path = std::env::temp_dir().join(format!("plimsoll-sums-{}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        let directory = OwnedFd::from(File::open(&path).unwrap());
        let id = StoreId([3; 16]);
        let file = FileId(0);
        let mut sums = BlockSums::default();
        sums.insert(0, SumFile::make(&directory, id, 0).unwrap());
        let marks = || std::fs::read(path.join(intent_name(0))).unwrap().get(BODY_AT as usize).copied().unwrap_or(0);
        let blocks = Blocks::touched(FilePosition { file, at: EXTENT_BLOCKS * BLOCK * 3 - 1 }, 2);
        let other = Blocks::touched(FilePosition { file, at: 0 }, 1);
        assert!(!sums.begin_write(&blocks).unwrap(), "two extents have to be marked");
        let marked = sums.mark(file).unwrap();
        assert_eq!((marks(), sums.are_marked(&blocks)), (0b1100, false), "written, and not durable yet");
        sums.marked(file, &marked);
        assert!(sums.are_marked(&blocks) && !sums.begin_write(&other).unwrap());
        let marked = sums.mark(file).unwrap();
        sums.marked(file, &marked);
        assert_eq!(marks(), 0b1101);
        sums.end_write(&blocks, Instant::ZERO);
        sums.synced(file, Instant::ZERO + IDLE);
        assert_eq!(marks(), 0b1101, "not idle for long enough");
        sums.synced(file, Instant::ZERO + IDLE + Span::from_nanos(1));
        assert_eq!(marks(), 0b0001, "a write is under way in the first extent");
        assert!(!sums.begin_write(&blocks).unwrap(), "a cleared extent is marked anew");
        std::fs::remove_dir_all(path).unwrap();
    }
}
