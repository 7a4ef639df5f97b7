//! The files of a data directory: its superblock, log and data files.
//!
//! No file is opened through a link, and each has to be a regular file of this user that no other user can write.
//! Everything is checked before anything is changed.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::Checksums;
use super::sums::{SumFile, intent_name, read_up_to, sums_name};
use plimsoll_language::{label, say};
use plimsoll_volume::{
    BLOCK_BYTES, BlockError, FileId, FileKind, Log, LogError, StoreId, Superblock, SuperblockData, header, read_header,
};
use rustix::fs::{AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

pub(super) const LOG: &str = "log";
pub(super) const LOG_NEW: &str = "log.new";
/// Torn commits are kept as `log.torn-1` and so on.
const TORN: &str = "log.torn-";
const TORN_MAX: u32 = 10_000;
const LOCK: &str = "lock";
/// Maximum wait for the lock, and the interval of attempts.
const LOCK_TIMEOUT: Duration = Duration::from_millis(250);
const LOCK_RETRY: Duration = Duration::from_millis(5);
const SUPERBLOCK: &str = "superblock";
const SUPERBLOCK_NEW: &str = "superblock.new";
const DATA: &str = "data.";
const DATA_NEW: &str = "data.new";
const DATA_FILES_MAX: u32 = 1 << 16;
/// Magic number of logs of development versions, in directories without a superblock.
const OLD_LOG: [u8; 4] = *b"PLMS";

const OWNER: Mode = Mode::RUSR.union(Mode::WUSR);
/// Write permission of the group and of others.
const SHARED: u32 = 0o022;

/// A data directory could not be opened.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// Another process has it open.
    #[error("{} is served by another process: stop it, or use another directory", .0.display())]
    InUse(PathBuf),
    /// It has no superblock, and foreign files.
    #[error("{} is neither empty nor a data directory of plimsoll: use an empty or new directory", .0.display())]
    Foreign(PathBuf),
    /// It was written before data directories had a superblock.
    #[error(
        "{} is a data directory of an earlier development version: copy its volumes with that version, and name a new \
         directory",
        .0.display()
    )]
    Old(PathBuf),
    /// Its superblock is missing or damaged.
    #[error(
        "the data directory {path} has no sound superblock: plimsoll volume fsck {path} --repair makes it again from the log",
        path = .0.display()
    )]
    NoSuperblock(PathBuf),
    /// It is written in another format.
    #[error("the superblock of the data directory {}", directory.display())]
    Format {
        directory: PathBuf,
        #[source]
        source: BlockError,
    },
    /// A file, or the directory, could be changed by other users, or has another type.
    #[error("{} {why}", path.display())]
    Untrusted {
        /// The file or directory.
        path: PathBuf,
        /// The finding and the remedy.
        why: String,
    },
    /// Checksums are required and missing.
    #[error(
        "the data directory {path} was made without checksums: plimsoll volume fsck {path} --add-checksums adds them \
         while it is not served",
        path = .0.display()
    )]
    NoChecksums(PathBuf),
    /// The checksums of a data file are missing or damaged.
    #[error(
        "the data directory {path}: {why}; plimsoll volume fsck {path} --repair computes the checksums again, from the \
         data as they are",
        path = directory.display()
    )]
    Checksums {
        directory: PathBuf,
        /// The file and the fault.
        why: String,
    },
    /// A data file is not one of this directory.
    #[error("{} {why}: restore it from a copy", path.display())]
    DataFile {
        /// The file or directory.
        path: PathBuf,
        why: String,
    },
    /// The filesystem refused.
    #[error("opening the data directory {}", directory.display())]
    Io {
        directory: PathBuf,
        /// The system error.
        #[source]
        source: io::Error,
    },
    /// Its log has lost commits.
    #[error("the data directory {}", directory.display())]
    Log {
        directory: PathBuf,
        /// The lost commits.
        #[source]
        source: LogError,
        /// Its readable part.
        log: Box<Log>,
    },
}

#[derive(Debug)]
pub(super) struct DataFile {
    pub(super) number: u32,
    /// Bytes.
    pub(super) length: u64,
    pub(super) file: File,
    pub(super) header: Result<(), HeaderFault>,
}

/// The reason why a data file is not one of its directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HeaderFault {
    /// Its header cannot be read.
    Damaged(String),
    /// It has another number or directory.
    Foreign(String),
}

/// A data directory, opened exclusively.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    pub(super) descriptor: OwnedFd,
    /// Held while this lives; the kernel releases it when the process ends, however it ends.
    _lock: OwnedFd,
}

#[derive(Debug)]
pub(super) struct SuperblockFile {
    pub(super) state: Superblock,
    /// The state that is being written, until it is [confirmed](Self::confirmed).
    next: Option<Superblock>,
    file: File,
}

/// True if a process serves or examines a data directory.
///
/// # Errors
/// The directory cannot be read.
pub fn is_served(directory: &Path) -> io::Result<bool> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let lock = match rustix::fs::open(directory.join(LOCK), flags, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(false),
        other => other?,
    };
    match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockShared) {
        Err(Errno::WOULDBLOCK) => Ok(true),
        other => Ok(other.map(|()| false)?),
    }
}

impl Directory {
    /// Locks a data directory, or an empty one.
    pub fn lock(path: &Path) -> Result<Self, DirectoryError> {
        Self::lock_if(path, vacant)
    }

    /// Locks a data directory, even without its superblock; an empty directory is refused.
    pub fn lock_damaged(path: &Path) -> Result<Self, DirectoryError> {
        Self::lock_if(path, |path, descriptor, names| match vacant(path, descriptor, names) {
            Err(DirectoryError::NoSuperblock(_)) => Ok(()),
            Ok(()) => {
                Err(untrusted(path, label!("is empty, and not a data directory yet: plimsoll serve makes it one")))
            }
            other => other,
        })
    }

    fn lock_if(
        path: &Path,
        vacant: fn(&Path, &OwnedFd, &[String]) -> Result<(), DirectoryError>,
    ) -> Result<Self, DirectoryError> {
        let failed = |source: Errno| io_error(path, source);
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let descriptor = rustix::fs::open(path, flags, Mode::empty()).map_err(failed)?;
        check(&descriptor, path, FileType::Directory)?;
        // Before any file is made.
        let names = list_names(&descriptor).map_err(failed)?;
        if !names.iter().any(|name| name == SUPERBLOCK) {
            vacant(path, &descriptor, &names)?;
        }
        let lock = open_file(path, descriptor.as_fd(), LOCK, OFlags::RDWR | OFlags::CREATE)?;
        match lock_exclusively(&lock) {
            Err(Errno::WOULDBLOCK) => return Err(DirectoryError::InUse(path.to_path_buf())),
            other => other.map_err(failed)?,
        }
        Ok(Self { path: path.to_path_buf(), descriptor, _lock: lock })
    }

    /// Its superblock; `None` in a directory that was never a data directory.
    pub(super) fn superblock(&self) -> Result<Option<SuperblockFile>, DirectoryError> {
        let file = match self.open(SUPERBLOCK, OFlags::RDWR) {
            Err(DirectoryError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => File::from(other?),
        };
        let mut bytes = [0; 2 * 4_096];
        let read = read_up_to(file.as_fd(), &mut bytes, 0).map_err(|source| self.io(source))?;
        let directory = self.path.clone();
        let state = Superblock::read(&bytes[..read]).map_err(|error| match error {
            BlockError::Damaged => DirectoryError::NoSuperblock(directory),
            source @ BlockError::Format(_) => DirectoryError::Format { directory, source },
        })?;
        Ok(Some(SuperblockFile { state, next: None, file }))
    }

    /// Its superblock, made in a new directory.
    pub(super) fn superblock_or_new(&self, checksums: Checksums) -> Result<SuperblockFile, DirectoryError> {
        let superblock = if let Some(superblock) = self.superblock()? {
            superblock
        } else {
            let mut state = Superblock::new(identity().map_err(|source| self.io(source))?);
            state.has_checksums = checksums == Checksums::Required;
            self.make(state)?
        };
        if checksums == Checksums::Required && !superblock.state.has_checksums {
            return Err(DirectoryError::NoChecksums(self.path.clone()));
        }
        Ok(superblock)
    }

    /// Makes a superblock, atomically.
    pub(super) fn make(&self, mut state: Superblock) -> Result<SuperblockFile, DirectoryError> {
        let file = self.open(SUPERBLOCK_NEW, OFlags::RDWR | OFlags::CREATE | OFlags::TRUNC)?;
        rustix::fs::fchmod(&self.descriptor, Mode::RWXU).map_err(|source| self.io(source))?;
        let file = File::from(file);
        for _slot in 0..2 {
            let (block, at) = state.advance();
            file.write_all_at(&block, at).map_err(|source| self.io(source))?;
        }
        let named = rustix::fs::fsync(&file)
            .and_then(|()| rustix::fs::renameat(&self.descriptor, SUPERBLOCK_NEW, &self.descriptor, SUPERBLOCK))
            .and_then(|()| rustix::fs::fsync(&self.descriptor));
        named.map_err(|source| self.io(source))?;
        Ok(SuperblockFile { state, next: None, file })
    }

    /// The bytes of its log; none where there is no log.
    pub(super) fn log_bytes(&self) -> Result<Vec<u8>, DirectoryError> {
        let mut file = match self.open(LOG, OFlags::RDONLY) {
            Err(DirectoryError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => File::from(other?),
        };
        let mut bytes = Vec::new();
        io::Read::read_to_end(&mut file, &mut bytes).map_err(|source| self.io(source))?;
        Ok(bytes)
    }

    /// Its log, made where there is none.
    pub(super) fn log(&self) -> Result<OwnedFd, DirectoryError> {
        self.open(LOG, OFlags::RDWR | OFlags::CREATE)
    }

    /// Keeps a torn commit as a file. Returns the file; `None` on a full disk.
    pub(super) fn keep_torn(&self, bytes: &[u8]) -> Result<Option<PathBuf>, DirectoryError> {
        for number in 1..TORN_MAX {
            let name = format!("{TORN}{number}");
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
            let file = match self.open(&name, flags) {
                Err(DirectoryError::Io { source, .. }) if source.kind() == io::ErrorKind::AlreadyExists => continue,
                other => File::from(other?),
            };
            let retained = file.write_all_at(bytes, 0).and_then(|()| file.sync_all());
            return match retained.and_then(|()| Ok(rustix::fs::fsync(&self.descriptor)?)) {
                Ok(()) => Ok(Some(self.path.join(name))),
                Err(error) if error.kind() == io::ErrorKind::StorageFull => {
                    let removed = rustix::fs::unlinkat(&self.descriptor, name, AtFlags::empty());
                    removed.map(|()| None).map_err(|source| self.io(source))
                }
                Err(error) => Err(self.io(error)),
            };
        }
        let why = say!("holds {TORN_MAX} kept ends of logs: move {TORN}* elsewhere");
        Err(DirectoryError::Untrusted { path: self.path.clone(), why })
    }

    pub(super) fn data_files(&self, id: StoreId) -> Result<Vec<DataFile>, DirectoryError> {
        let names = list_names(&self.descriptor).map_err(|source| self.io(source))?;
        let mut files = Vec::new();
        for number in names.iter().filter_map(|name| data_number(name)) {
            let file = File::from(self.open(&data_name(number), OFlags::RDWR)?);
            let mut block = [0; BLOCK_BYTES];
            let read = read_up_to(file.as_fd(), &mut block, 0).map_err(|source| self.io(source))?;
            let header = match read_header(FileKind::Data, &block[..read]) {
                Ok((found, file)) if found == id && file.0 == number => Ok(()),
                Ok((found, file)) if found == id => Err(HeaderFault::Foreign(say!("is data file {}", file.0))),
                Ok((found, _)) => {
                    Err(HeaderFault::Foreign(say!("belongs to another data directory ({found} instead of {id})")))
                }
                Err(error) => Err(HeaderFault::Damaged(say!("has no header of a data file ({error})"))),
            };
            let length = file.metadata().map_err(|source| self.io(source))?.len();
            files.push(DataFile { number, length, file, header });
        }
        files.sort_unstable_by_key(|file| file.number);
        Ok(files)
    }

    /// The checksums of a data file, or their fault.
    pub(super) fn sum_file(&self, id: StoreId, number: u32) -> Result<Result<SumFile, String>, DirectoryError> {
        let open = |name: String| match self.open(&name, OFlags::RDWR) {
            Err(DirectoryError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Ok(Err(say!("{name} is missing")))
            }
            other => other.map(|file| Ok(File::from(file))),
        };
        let (sums, intent) = (open(sums_name(number))?, open(intent_name(number))?);
        match (sums, intent) {
            (Ok(sums), Ok(intent)) => {
                let opened = SumFile::open(sums, intent, id, number);
                opened.map_err(|source| self.io(source))
            }
            (Err(why), _) | (_, Err(why)) => Ok(Err(why)),
        }
    }

    /// The fault of a data file as an error.
    pub(super) fn fault(&self, number: u32, fault: &HeaderFault) -> DirectoryError {
        DirectoryError::DataFile { path: self.path.join(data_name(number)), why: fault.why().to_owned() }
    }

    pub(super) fn open(&self, name: &str, flags: OFlags) -> Result<OwnedFd, DirectoryError> {
        open_file(&self.path, self.descriptor.as_fd(), name, flags)
    }

    pub(super) fn io(&self, source: impl Into<io::Error>) -> DirectoryError {
        io_error(&self.path, source)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl HeaderFault {
    pub(super) fn why(&self) -> &str {
        match self {
            Self::Damaged(why) | Self::Foreign(why) => why,
        }
    }
}

impl SuperblockFile {
    /// The block that confirms a commit, and its position. Until it is [confirmed](Self::confirmed) as written, further
    /// blocks use the same slot: the newest written state is never overwritten.
    pub(super) fn confirm(&mut self, sequence: u64) -> (SuperblockData, u64) {
        let mut next = self.state;
        next.next = sequence + 1;
        let block = next.advance();
        self.next = Some(next);
        block
    }

    /// The last block was written.
    pub(super) fn confirmed(&mut self) {
        if let Some(next) = self.next.take() {
            self.state = next;
        }
    }

    /// Makes the present state durable.
    pub(super) fn store(&mut self) -> io::Result<()> {
        let (block, at) = self.state.advance();
        self.file.write_all_at(&block, at)?;
        self.file.sync_data()
    }

    pub(super) const fn file(&self) -> &File {
        &self.file
    }
}

impl Drop for SuperblockFile {
    fn drop(&mut self) {
        // At a clean end it is as durable as the log; otherwise the kernel writes it back.
        let _ = self.file.sync_data();
    }
}

/// Makes a data file with its header, atomically: no file of that name lacks one.
pub(super) fn make_data_file(directory: &OwnedFd, id: StoreId, number: u32) -> io::Result<OwnedFd> {
    let file = create_file(directory, DATA_NEW)?;
    file.write_all_at(&header(FileKind::Data, id, FileId(number)), 0)?;
    file.sync_all()?;
    let name = data_name(number);
    match rustix::fs::renameat_with(directory, DATA_NEW, directory, &name, RenameFlags::NOREPLACE) {
        // Some filesystems do not support this.
        Err(Errno::INVAL | Errno::NOSYS) => rustix::fs::renameat(directory, DATA_NEW, directory, &name)?,
        other => other?,
    }
    // The name has to be durable before anything refers to it.
    rustix::fs::fsync(directory)?;
    Ok(file.into())
}

/// Makes a file for its owner alone, or truncates an existing one.
pub(super) fn create_file(directory: &OwnedFd, name: &str) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::openat(directory, name, flags, OWNER)?))
}

/// Bytes of each data file by number, 0 for a missing one.
pub(super) fn list_lengths(files: &[DataFile]) -> Vec<u64> {
    let mut lengths = vec![0; files.last().map_or(0, |file| file.number as usize + 1)];
    for file in files {
        lengths[file.number as usize] = file.length;
    }
    lengths
}

fn identity() -> io::Result<StoreId> {
    let mut id = [0; 16];
    io::Read::read_exact(&mut File::open("/dev/urandom")?, &mut id)?;
    Ok(StoreId(id))
}

pub(super) fn data_name(number: u32) -> String {
    format!("{DATA}{number}")
}

fn data_number(name: &str) -> Option<u32> {
    let number = name.strip_prefix(DATA)?.parse().ok()?;
    (number < DATA_FILES_MAX && data_name(number) == name).then_some(number)
}

/// Locks a file that [`is_served`], or a child between fork and exec, may hold for a short time.
fn lock_exclusively(lock: &OwnedFd) -> Result<(), Errno> {
    let end = Instant::now() + LOCK_TIMEOUT;
    loop {
        match rustix::fs::flock(lock, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) if Instant::now() < end => std::thread::sleep(LOCK_RETRY),
            other => return other,
        }
    }
}

/// Refuses a directory with foreign files or without its superblock.
fn vacant(path: &Path, descriptor: &OwnedFd, names: &[String]) -> Result<(), DirectoryError> {
    let is_ours = |name: &str| [LOCK, SUPERBLOCK_NEW, "lost+found"].contains(&name);
    if names.iter().all(|name| is_ours(name)) {
        return Ok(());
    }
    let mut begin = [0; 64];
    // A FIFO of that name would block.
    let read = open_file(path, descriptor.as_fd(), LOG, OFlags::RDONLY | OFlags::NONBLOCK);
    let read = read.and_then(|log| read_up_to(log.as_fd(), &mut begin, 0).map_err(|source| io_error(path, source)));
    let directory = path.to_path_buf();
    match read {
        Ok(length) if begin[..length].starts_with(&OLD_LOG) => Err(DirectoryError::Old(directory)),
        Ok(_) if begin.starts_with(b"PLM2") => Err(DirectoryError::NoSuperblock(directory)),
        _ => Err(DirectoryError::Foreign(directory)),
    }
}

/// The names in a directory, without sockets, which may belong to a service manager.
fn list_names(directory: &OwnedFd) -> rustix::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name != "." && name != ".." && entry.file_type() != FileType::Socket {
            names.push(name);
        }
    }
    Ok(names)
}

fn open_file(path: &Path, directory: BorrowedFd<'_>, name: &str, flags: OFlags) -> Result<OwnedFd, DirectoryError> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(directory, name, flags, OWNER).map_err(|error| match error {
        Errno::LOOP => {
            untrusted(&path.join(name), label!("is a symbolic link, which is not followed: replace it by the file"))
        }
        other => io_error(path, other),
    })?;
    check(&file, &path.join(name), FileType::RegularFile)?;
    Ok(file)
}

/// Refuses files of another type or user, and files that others can write.
fn check(descriptor: &OwnedFd, path: &Path, kind: FileType) -> Result<(), DirectoryError> {
    let stat = rustix::fs::fstat(descriptor).map_err(|source| io_error(path, source))?;
    let own = rustix::process::geteuid().as_raw();
    if FileType::from_raw_mode(stat.st_mode) != kind {
        return Err(untrusted(path, label!("is not a regular file: use another directory")));
    }
    if stat.st_uid != own {
        let why =
            say!("belongs to user {}, and this is user {own}: run as that user, or change its owner", stat.st_uid);
        return Err(untrusted(path, &why));
    }
    if stat.st_mode & SHARED != 0 {
        let mode = stat.st_mode & 0o7777;
        return Err(untrusted(path, &say!("can be written by others (mode {mode:o}): chmod go-w it")));
    }
    Ok(())
}

fn untrusted(path: &Path, why: &str) -> DirectoryError {
    DirectoryError::Untrusted { path: path.to_path_buf(), why: why.to_owned() }
}

fn io_error(directory: &Path, source: impl Into<io::Error>) -> DirectoryError {
    DirectoryError::Io { directory: directory.to_path_buf(), source: source.into() }
}
