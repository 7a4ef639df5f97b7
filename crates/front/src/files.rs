//! A data directory: the files behind volumes, the log of their maps, and the lock that keeps others out.
//!
//! Data files are opened, or made, when they are first named.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};

use plimsoll_volume::{FileId, Log, LogError, Place};
use rustix::fs::{AtFlags, FallocateFlags, FlockOperation, MemfdFlags, Mode, OFlags};

use crate::view::{Mapping, View};

const LOG: &str = "log";
const LOG_NEW: &str = "log.new";
const LOCK: &str = "lock";

/// Space that a log has ahead of it: without any, a full disk could not take the commit that frees something.
const LOG_AHEAD: u64 = 256 << 10;

/// Where data files are.
#[derive(Debug)]
enum Home {
    /// In memory, gone with the process.
    Memory,
    /// Given, open, and no more than those.
    Given,
    /// In a directory, as `data.0`, `data.1` and so on.
    Directory(Directory),
}

#[derive(Debug)]
struct Directory {
    descriptor: OwnedFd,
    log: OwnedFd,
    /// Bytes that the log has space for.
    log_space: u64,
    /// Held while the server lives; the kernel lets it go when the process ends, however it ends.
    _lock: OwnedFd,
}

/// The data files of a server.
#[derive(Debug)]
pub struct Files {
    home: Home,
    open: Vec<Option<Open>>,
}

#[derive(Debug)]
struct Open {
    /// Gone before the descriptor.
    mapping: Option<Mapping>,
    descriptor: OwnedFd,
}

/// A data directory could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// Somebody else has it open.
    #[error("{} is served by another process: stop it, or use another directory", .0.display())]
    InUse(PathBuf),
    /// The filesystem refused.
    #[error("opening the data directory {}", directory.display())]
    Io {
        /// Which.
        directory: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// Its log cannot be read.
    #[error("reading the log of the data directory {}", directory.display())]
    Log {
        /// Which.
        directory: PathBuf,
        /// Why.
        #[source]
        source: LogError,
    },
}

/// What a data directory held when it was opened.
#[derive(Debug)]
pub struct Held {
    /// Its log; empty in a new directory. What a crash left behind its end has been cut off.
    pub log: Log,
    /// How many data files there are.
    pub files: u32,
}

impl Files {
    /// Files in memory.
    pub const fn memory() -> Self {
        Self { home: Home::Memory, open: Vec::new() }
    }

    /// Files that are open for what their clients may do, in the order of their numbers: [`plimsoll_volume::Flat`]'s.
    pub fn given(files: impl IntoIterator<Item = OwnedFd>) -> Self {
        let given = |descriptor| Some(Open { mapping: None, descriptor });
        Self { home: Home::Given, open: files.into_iter().map(given).collect() }
    }

    /// The files of a directory that exists, and what it holds. Nobody else can open it meanwhile.
    pub fn directory(path: &Path) -> Result<(Self, Held), DirectoryError> {
        let failed = |source: rustix::io::Errno| io_error(path, source.into());
        let open = |name: &str, flags| {
            let mode = Mode::RUSR | Mode::WUSR;
            rustix::fs::open(path.join(name), flags | OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC, mode)
        };
        let lock = open(LOCK, OFlags::empty()).map_err(failed)?;
        match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Err(rustix::io::Errno::WOULDBLOCK) => return Err(DirectoryError::InUse(path.to_path_buf())),
            other => other.map_err(failed)?,
        }
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let descriptor = rustix::fs::open(path, flags, Mode::empty()).map_err(failed)?;
        let log_file = open(LOG, OFlags::empty()).map_err(failed)?;
        let bytes = std::fs::read(path.join(LOG)).map_err(|source| io_error(path, source))?;
        let directory = path.to_path_buf();
        let log = Log::read(&bytes).map_err(|source| DirectoryError::Log { directory, source })?;
        if log.length < bytes.len() as u64 {
            rustix::fs::ftruncate(&log_file, log.length).and_then(|()| rustix::fs::fsync(&log_file)).map_err(failed)?;
        }
        rustix::fs::fsync(&descriptor).map_err(failed)?;
        let files = (0..u32::MAX).find(|number| !path.join(data_name(*number)).exists()).unwrap_or(0);
        // On a disk that is full already, the log has what it has.
        let log_space = reserve(&log_file, log.length).unwrap_or(log.length);
        let home = Home::Directory(Directory { descriptor, log: log_file, log_space, _lock: lock });
        Ok((Self { home, open: Vec::new() }, Held { log, files }))
    }

    /// Whether what is written can be made to last.
    pub(crate) const fn are_durable(&self) -> bool {
        !matches!(self.home, Home::Memory)
    }

    /// The descriptor of a data file.
    #[inline]
    pub(crate) fn descriptor(&mut self, file: FileId) -> io::Result<RawFd> {
        match self.open.get(file.0 as usize) {
            Some(Some(open)) => Ok(open.descriptor.as_raw_fd()),
            _ => self.make(file),
        }
    }

    /// A part of a data file that can be shown; `None` where it has to be read.
    #[inline]
    pub(crate) fn view(&self, place: Place, length: u32) -> Option<View> {
        let open = self.open.get(place.file.0 as usize)?.as_ref()?;
        open.mapping.as_ref()?.view(place.at, length)
    }

    #[cold]
    fn make(&mut self, file: FileId) -> io::Result<RawFd> {
        let index = file.0 as usize;
        let made = match &self.home {
            Home::Given => return Err(io::ErrorKind::NotFound.into()),
            Home::Memory => rustix::fs::memfd_create(data_name(file.0), MemfdFlags::CLOEXEC)?,
            Home::Directory(Directory { descriptor, .. }) => {
                let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC;
                let made = rustix::fs::openat(descriptor, data_name(file.0), flags, Mode::RUSR | Mode::WUSR)?;
                // A new name is durable before anything refers to it.
                rustix::fs::fsync(descriptor)?;
                made
            }
        };
        if index >= self.open.len() {
            self.open.resize_with(index + 1, || None);
        }
        let number = made.as_raw_fd();
        let mapping = if self.are_durable() { None } else { Mapping::new(&made) };
        self.open[index] = Some(Open { mapping, descriptor: made });
        Ok(number)
    }

    /// The log, for an append that ends at byte `end`; `None` outside of a directory.
    pub(crate) fn log(&mut self, end: u64) -> Option<RawFd> {
        let Home::Directory(Directory { log, log_space, .. }) = &mut self.home else { return None };
        if end + LOG_AHEAD / 2 > *log_space
            && let Ok(space) = reserve(log, end)
        {
            *log_space = space;
        }
        Some(log.as_raw_fd())
    }

    /// What replaces the log in one step: done on any thread, and then [taken over](Self::log_replaced).
    pub(crate) fn log_replacement(&self) -> io::Result<impl FnOnce(Vec<u8>) -> io::Result<Replaced> + Send + use<>> {
        let Home::Directory(Directory { descriptor, .. }) = &self.home else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        let directory = descriptor.try_clone()?;
        Ok(move |bytes: Vec<u8>| replace_log(&directory, &bytes))
    }

    pub(crate) fn log_replaced(&mut self, Replaced { log: new, space }: Replaced) {
        if let Home::Directory(Directory { log, log_space, .. }) = &mut self.home {
            (*log, *log_space) = (new, space);
        }
    }
}

/// A log that has taken the place of another.
#[derive(Debug)]
pub(crate) struct Replaced {
    log: OwnedFd,
    /// Bytes that it has space for.
    space: u64,
}

/// Written beside, made durable, and renamed: at every moment there is one whole log of that name.
fn replace_log(directory: &OwnedFd, bytes: &[u8]) -> io::Result<Replaced> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
    let log = rustix::fs::openat(directory, LOG_NEW, flags, Mode::RUSR | Mode::WUSR)?;
    let space = fill(&log, bytes).inspect_err(|_| {
        // It may be the lack of space that it adds to; if it stays, the next one overwrites it.
        let _ = rustix::fs::unlinkat(directory, LOG_NEW, AtFlags::empty());
    })?;
    rustix::fs::renameat(directory, LOG_NEW, directory, LOG)?;
    // From here on the old log is gone: whatever fails, it is not a lack of space that leaves all as it was.
    rustix::fs::fsync(directory).map_err(|_| rustix::io::Errno::IO)?;
    Ok(Replaced { log, space })
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

/// Makes sure that a log can grow beyond `end`, where the filesystem can do that. Returns up to where.
fn reserve(log: &OwnedFd, end: u64) -> rustix::io::Result<u64> {
    let space = end + LOG_AHEAD;
    match rustix::fs::fallocate(log, FallocateFlags::KEEP_SIZE, 0, space) {
        Ok(()) | Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => Ok(space),
        Err(error) => Err(error),
    }
}

fn data_name(number: u32) -> String {
    format!("data.{number}")
}

fn io_error(directory: &Path, source: io::Error) -> DirectoryError {
    DirectoryError::Io { directory: directory.to_path_buf(), source }
}
