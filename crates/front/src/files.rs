//! The data files of volumes, and the log of their maps: in memory, given, or in a data directory.
//!
//! A data file is made when it is first used.

mod directory;
mod inspection;
pub(crate) mod sums;

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use plimsoll_volume::{Extent, FileId, FilePosition, Log, StoreId, Superblock, SuperblockData, Unreferenced};
use rustix::fs::{AtFlags, FallocateFlags, MemfdFlags};

use self::directory::{
    DataFile, Directory, LOG, LOG_NEW, SuperblockFile, create_file, data_name, list_lengths, make_data_file,
};
use self::sums::{BLOCK, BlockSums, Blocks, SumFile};
use crate::view::{Mapping, View};

pub use self::directory::{DirectoryError, is_served};
pub use self::inspection::Inspection;
pub use self::sums::{CheckedFile, Recomputed};

/// Allocated space beyond the end of a log: a full disk could not take the commit that frees space otherwise.
const LOG_AHEAD: u64 = 256 << 10;

/// Increment of the length of a data file, sparse. A file grows before it is written there, so that no write changes
/// its length.
const GROWTH: u64 = 64 << 20;

/// The location of data files.
#[derive(Debug)]
enum Home {
    Memory,
    /// Given as open files.
    Given,
    /// In a directory, as `data.0`, `data.1` and so on.
    Directory(Box<ServedDirectory>),
}

#[derive(Debug)]
struct ServedDirectory {
    directory: Directory,
    superblock: SuperblockFile,
    /// The checksums of the data files, if any.
    sums: Option<BlockSums>,
    log: OwnedFd,
    /// Allocated bytes of the log.
    log_space: u64,
}

#[derive(Debug)]
pub struct DataFiles {
    home: Home,
    open: Vec<Option<Open>>,
}

#[derive(Debug)]
struct Open {
    mapping: Option<Mapping>,
    descriptor: OwnedFd,
    /// Length in bytes of a file that may grow; the maximum for others.
    length: u64,
}

/// Whether a data directory has to have checksums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checksums {
    /// As it was made; without, if it is new.
    #[default]
    AsMade,
    /// Required; a new directory gets them.
    Required,
}

/// The contents of a data directory when it was opened.
#[derive(Debug)]
pub struct DirectoryContents {
    /// Its log; empty in a new directory. A torn commit at its end has been cut off.
    pub log: Log,
    /// Bytes of each data file, 0 for one that is missing.
    pub lengths: Vec<u64>,
    /// The treatment of unreferenced clusters.
    pub unreferenced: Unreferenced,
    /// The torn commit that was cut off the log.
    pub torn: Option<TornCommit>,
}

/// A torn commit, which never became durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TornCommit {
    /// Bytes.
    pub bytes: u64,
    /// The file that keeps it; `None` on a full disk.
    pub file: Option<PathBuf>,
}

impl DirectoryContents {
    /// No contents.
    pub const fn empty() -> Self {
        let log = Log { commits: Vec::new(), length: 0, later: Vec::new(), id: None };
        Self { log, lengths: Vec::new(), unreferenced: Unreferenced::Punch, torn: None }
    }
}

impl DataFiles {
    pub const fn memory() -> Self {
        Self { home: Home::Memory, open: Vec::new() }
    }

    /// Open files in the order of their numbers, for [`plimsoll_volume::Flat`]. Their access has to suffice for the
    /// clients.
    pub fn given(files: impl IntoIterator<Item = OwnedFd>) -> Self {
        let given = |descriptor| Some(Open { mapping: None, descriptor, length: u64::MAX });
        Self { home: Home::Given, open: files.into_iter().map(given).collect() }
    }

    /// Opens a data directory exclusively, and returns its contents. An empty directory becomes a data directory;
    /// others are refused, and so are data directories that have lost durable data.
    pub fn directory(path: &Path, checksums: Checksums) -> Result<(Self, DirectoryContents), DirectoryError> {
        let directory = Directory::lock(path)?;
        let mut superblock = directory.superblock_or_new(checksums)?;
        let Superblock { id, next, has_checksums, .. } = superblock.state;
        let bytes = directory.log_bytes()?;
        let data_files = directory.data_files(id)?;
        // No data file exists before the first commit.
        let next = if data_files.is_empty() { next } else { next.max(1) };
        let log = check_log(&directory, Log::read(&bytes), id, next)?;
        let lengths = list_lengths(&data_files);
        let open = open_data_files(&directory, data_files)?;
        let sums = if has_checksums { Some(open_sums(&directory, id, &open)?) } else { None };
        let log_file = directory.log()?;
        let torn = cut_torn(&directory, &mut superblock, &log_file, &bytes[log.length as usize..], log.length)?;
        rustix::fs::fsync(&directory.descriptor).map_err(|source| directory.io(source))?;
        // A log on a full disk has no space beyond its end.
        let log_space = reserve(&log_file, log.length).unwrap_or(log.length);
        let keeps = superblock.state.keeps_unreferenced;
        let unreferenced = if keeps { Unreferenced::Keep } else { Unreferenced::Punch };
        let home = Home::Directory(Box::new(ServedDirectory { directory, superblock, sums, log: log_file, log_space }));
        Ok((Self { home, open }, DirectoryContents { log, lengths, unreferenced, torn }))
    }

    /// Whether data can be made durable.
    pub(crate) const fn are_durable(&self) -> bool {
        !matches!(self.home, Home::Memory)
    }

    /// The checksums of the data files, if any.
    #[inline]
    pub(crate) fn sums(&mut self) -> Option<&mut BlockSums> {
        let Home::Directory(served) = &mut self.home else { return None };
        served.sums.as_mut()
    }

    /// Recomputes checksums that are uncertain after an unclean end. Has to precede all reads.
    ///
    /// # Errors
    /// They cannot be read or written.
    pub fn recover_sums(&mut self) -> io::Result<Recomputed> {
        let mut all = Recomputed::default();
        self.for_sums(|sums, number, data| {
            let Recomputed { bytes, blocks } = sums.recover(number, data)?;
            (all.bytes, all.blocks) = (all.bytes + bytes, all.blocks + blocks);
            Ok(())
        })?;
        Ok(all)
    }

    fn for_sums(
        &mut self,
        mut each: impl FnMut(&mut BlockSums, u32, BorrowedFd<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let Home::Directory(served) = &mut self.home else { return Ok(()) };
        let Some(sums) = &mut served.sums else { return Ok(()) };
        let open = self.open.iter().enumerate().filter_map(|(number, open)| Some((number as u32, open.as_ref()?)));
        open.map(|(number, open)| each(sums, number, open.descriptor.as_fd())).fold(Ok(()), io::Result::and)
    }

    /// Accepts the data of blocks that a failed write may have changed, as they are.
    pub(crate) fn accept(&mut self, blocks: &Blocks) {
        let Home::Directory(served) = &self.home else { return };
        if let (Some(sums), Some(Some(open))) = (&served.sums, self.open.get(blocks.file.0 as usize)) {
            // Other blocks stay damaged: they are not served until they are written.
            let _ = sums.accept(open.descriptor.as_fd(), blocks);
        }
    }

    /// Whether the block at a position matches its checksum.
    pub(crate) fn is_sound(&self, place: FilePosition) -> io::Result<bool> {
        let sources = self.sources(place.file)?;
        Ok(sources.scan(place.at, BLOCK)?.is_empty())
    }

    /// A data file and its checksums, for any thread.
    pub(crate) fn sources(&self, file: FileId) -> io::Result<CheckedFile> {
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        let Home::Directory(served) = &self.home else { return Err(missing()) };
        let open = self.open.get(file.0 as usize).and_then(Option::as_ref).ok_or_else(missing)?;
        let sums = served.sums.as_ref().ok_or_else(missing)?.source(file)?;
        Ok(CheckedFile { data: open.descriptor.try_clone()?, sums })
    }

    /// The descriptor of a data file.
    #[inline]
    pub(crate) fn descriptor(&mut self, file: FileId) -> io::Result<RawFd> {
        match self.open.get(file.0 as usize) {
            Some(Some(open)) => Ok(open.descriptor.as_raw_fd()),
            _ => self.make(file),
        }
    }

    /// The descriptor of a data file, which is grown to at least `length` bytes if it may grow.
    #[inline]
    pub(crate) fn reaching(&mut self, file: FileId, length: u64) -> io::Result<RawFd> {
        let descriptor = self.descriptor(file)?;
        match self.open.get_mut(file.0 as usize) {
            Some(Some(open)) if open.length < length => {
                if let Home::Directory(served) = &self.home
                    && let Some(sums) = &served.sums
                {
                    sums.reserve(file, open.length, length.next_multiple_of(GROWTH))?;
                }
                open.grow(length)
            }
            _ => Ok(descriptor),
        }
    }

    /// A view of a range of a data file; `None` if it has to be read.
    #[inline]
    pub(crate) fn view(&self, place: FilePosition, length: u32) -> Option<View> {
        let open = self.open.get(place.file.0 as usize)?.as_ref()?;
        open.mapping.as_ref()?.view(place.at, length)
    }

    /// The runs of data and of holes of a data file: see [`sparse::find_extents`](crate::sparse::find_extents).
    pub(crate) fn extents(&mut self, place: FilePosition, length: u64, limit: usize) -> io::Result<Vec<Extent>> {
        self.descriptor(place.file)?;
        let open = self.open.get(place.file.0 as usize).and_then(Option::as_ref).ok_or(io::ErrorKind::NotFound)?;
        Ok(crate::sparse::find_extents(open.descriptor.as_fd(), place.at, length, limit))
    }

    #[cold]
    fn make(&mut self, file: FileId) -> io::Result<RawFd> {
        let index = file.0 as usize;
        let created = match &mut self.home {
            Home::Given => return Err(io::ErrorKind::NotFound.into()),
            Home::Memory => rustix::fs::memfd_create(data_name(file.0), MemfdFlags::CLOEXEC)?,
            Home::Directory(served) => {
                if let Some(sums) = &mut served.sums {
                    let id = served.superblock.state.id;
                    sums.insert(file.0, SumFile::make(&served.directory.descriptor, id, file.0)?);
                }
                make_data_file(&served.directory.descriptor, served.superblock.state.id, file.0)?
            }
        };
        if index >= self.open.len() {
            self.open.resize_with(index + 1, || None);
        }
        let number = created.as_raw_fd();
        let mapping = if self.are_durable() { None } else { Mapping::new(&created) };
        let length = if self.are_durable() { 0 } else { u64::MAX };
        self.open[index] = Some(Open { mapping, descriptor: created, length });
        Ok(number)
    }

    /// The identity of the store; `None` without a directory.
    pub(crate) fn id(&self) -> Option<StoreId> {
        let Home::Directory(served) = &self.home else { return None };
        Some(served.superblock.state.id)
    }

    /// The confirmation of a commit once it is durable, for an append; `None` without a directory.
    pub(crate) fn confirmation(&mut self, sequence: u64) -> Option<Confirmation> {
        let Home::Directory(served) = &mut self.home else { return None };
        let (block, at) = served.superblock.confirm(sequence);
        Some(Confirmation { file: served.superblock.file().as_raw_fd(), at, block: Box::new(block) })
    }

    /// The last confirmation was written.
    pub(crate) fn confirmed(&mut self) {
        if let Home::Directory(served) = &mut self.home {
            served.superblock.confirmed();
        }
    }

    /// The log, for an append that ends at byte `end`; `None` without a directory.
    pub(crate) fn log(&mut self, end: u64) -> Option<RawFd> {
        let Home::Directory(served) = &mut self.home else { return None };
        let ServedDirectory { log, log_space, .. } = served.as_mut();
        if end + LOG_AHEAD / 2 > *log_space
            && let Ok(space) = reserve(log, end)
        {
            *log_space = space;
        }
        Some(log.as_raw_fd())
    }

    /// A function that replaces the log atomically by the frame of a commit and confirms it. It runs on any thread,
    /// before [`Self::log_replaced`].
    pub(crate) fn log_replacement(
        &mut self,
        sequence: u64,
    ) -> io::Result<impl FnOnce(Vec<u8>) -> io::Result<Replaced> + Send + use<>> {
        let Home::Directory(served) = &mut self.home else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        let directory = served.directory.descriptor.try_clone()?;
        let superblock = served.superblock.file().try_clone()?;
        let (block, at) = served.superblock.confirm(sequence);
        Ok(move |bytes: Vec<u8>| {
            let replaced = replace_log(&directory, &bytes)?;
            confirm_replaced(&superblock, &block, at)?;
            Ok(replaced)
        })
    }

    pub(crate) fn log_replaced(&mut self, Replaced { log: new, space }: Replaced) {
        if let Home::Directory(served) = &mut self.home {
            (served.log, served.log_space) = (new, space);
            served.superblock.confirmed();
        }
    }
}

impl Drop for DataFiles {
    fn drop(&mut self) {
        // Other extents stay marked: the next start recomputes their checksums.
        let _ = self.for_sums(BlockSums::close);
    }
}

impl Open {
    #[cold]
    fn grow(&mut self, length: u64) -> io::Result<RawFd> {
        let rounded = length.next_multiple_of(GROWTH);
        // If a limit forbids that length, the needed one.
        let grown = rustix::fs::ftruncate(&self.descriptor, rounded).map(|()| rounded);
        self.length = grown.or_else(|_| rustix::fs::ftruncate(&self.descriptor, length).map(|()| length))?;
        Ok(self.descriptor.as_raw_fd())
    }
}

/// The block of the superblock that confirms a commit. It is written before the commit is answered.
#[derive(Debug)]
pub(crate) struct Confirmation {
    pub(crate) file: RawFd,
    /// The byte of the file where the block goes.
    pub(crate) at: u64,
    pub(crate) block: Box<SuperblockData>,
}

/// Refuses a log without all commits below `next`.
fn check_log(directory: &Directory, log: Log, id: StoreId, next: u64) -> Result<Log, DirectoryError> {
    match log.check(id, next) {
        Ok(()) => Ok(log),
        Err(source) => {
            let directory = directory.path().to_path_buf();
            Err(DirectoryError::Log { directory, source, log: Box::new(log) })
        }
    }
}

/// Data files by number, each with a sound header.
fn open_data_files(directory: &Directory, files: Vec<DataFile>) -> Result<Vec<Option<Open>>, DirectoryError> {
    let mut open = Vec::new();
    for DataFile { number, length, file, header } in files {
        header.map_err(|fault| directory.fault(number, &fault))?;
        open.resize_with(number as usize, || None);
        open.push(Some(Open { mapping: None, descriptor: file.into(), length }));
    }
    Ok(open)
}

/// The checksums of data files.
fn open_sums(directory: &Directory, id: StoreId, files: &[Option<Open>]) -> Result<BlockSums, DirectoryError> {
    let mut sums = BlockSums::default();
    for (number, _) in (0..).zip(files).filter(|(_, file)| file.is_some()) {
        let damaged = |why| DirectoryError::Checksums { directory: directory.path().to_path_buf(), why };
        sums.insert(number, directory.sum_file(id, number)?.map_err(damaged)?);
    }
    Ok(sums)
}

/// Cuts a torn commit off the log and keeps it as a file. Unreferenced clusters are kept from now on, as that commit
/// may have referred to them.
fn cut_torn(
    directory: &Directory,
    superblock: &mut SuperblockFile,
    log: &OwnedFd,
    rest: &[u8],
    length: u64,
) -> Result<Option<TornCommit>, DirectoryError> {
    if rest.is_empty() {
        return Ok(None);
    }
    let file = directory.keep_torn(rest)?;
    superblock.state.keeps_unreferenced = true;
    let cut = superblock.store().and_then(|()| {
        rustix::fs::ftruncate(log, length)?;
        Ok(rustix::fs::fsync(log)?)
    });
    cut.map_err(|source| directory.io(source))?;
    Ok(Some(TornCommit { bytes: rest.len() as u64, file }))
}

/// A log that has replaced another.
#[derive(Debug)]
pub(crate) struct Replaced {
    log: OwnedFd,
    /// Bytes that it has space for.
    space: u64,
}

/// Writes a new file, syncs and renames it: at any time there is one complete log of that name.
fn replace_log(directory: &OwnedFd, bytes: &[u8]) -> io::Result<Replaced> {
    let log = OwnedFd::from(create_file(directory, LOG_NEW)?);
    let space = fill(&log, bytes).inspect_err(|_| {
        // It may take the space that is missing; if it stays, the next attempt overwrites it.
        let _ = rustix::fs::unlinkat(directory, LOG_NEW, AtFlags::empty());
    })?;
    rustix::fs::renameat(directory, LOG_NEW, directory, LOG)?;
    // The old log is gone now: a later error must not be reported as a lack of space that left everything unchanged.
    rustix::fs::fsync(directory).map_err(|_| rustix::io::Errno::IO)?;
    Ok(Replaced { log, space })
}

/// Confirms a commit in a log that has replaced another. Fails with `EIO` in any case: after `ENOSPC` the store would
/// continue the old log, which has no name any more.
fn confirm_replaced(superblock: &File, block: &SuperblockData, at: u64) -> io::Result<()> {
    superblock.write_all_at(block, at).map_err(|_| rustix::io::Errno::IO.into())
}

/// Writes a new log. Returns the bytes that it has space for.
fn fill(log: &OwnedFd, mut bytes: &[u8]) -> io::Result<u64> {
    let space = reserve(log, bytes.len() as u64)?;
    while !bytes.is_empty() {
        let written = rustix::io::write(log, bytes)?;
        bytes = &bytes[written..];
    }
    rustix::fs::fsync(log)?;
    Ok(space)
}

/// Allocates space for a log beyond `end`, where the filesystem supports that. Returns the end of the space.
fn reserve(log: &OwnedFd, end: u64) -> rustix::io::Result<u64> {
    let space = end + LOG_AHEAD;
    match rustix::fs::fallocate(log, FallocateFlags::KEEP_SIZE, 0, space) {
        Ok(()) | Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => Ok(space),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_append_leaves_the_newest_superblock_intact() {
        let directory = std::env::temp_dir().join(format!("plimsoll-confirm-{}", std::process::id()));
        std::fs::create_dir(&directory).unwrap();
        let (mut files, _) = DataFiles::directory(&directory, Checksums::AsMade).unwrap();
        let superblock = File::options().write(true).open(directory.join("superblock")).unwrap();
        let write = |Confirmation { at, block, .. }: Confirmation, bytes: usize| {
            superblock.write_all_at(&block[..bytes], at).unwrap();
        };
        let next = || Superblock::read(&std::fs::read(directory.join("superblock")).unwrap()).unwrap().next;
        for sequence in 0..4 {
            let _append_failed = files.confirmation(sequence).unwrap();
            let torn = files.confirmation(sequence).unwrap();
            write(torn, 40);
            assert_eq!(next(), sequence, "a torn confirmation leaves the state before it");
            let complete = files.confirmation(sequence).unwrap();
            write(complete, plimsoll_volume::BLOCK_BYTES);
            files.confirmed();
            assert_eq!(next(), sequence + 1);
        }
        drop(files);
        std::fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn full_disk_after_a_replaced_log_is_reported_as_eio() {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let error = confirm_replaced(&full, &[0; plimsoll_volume::BLOCK_BYTES], 0).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EIO), "the log before must not be continued");
    }
}
