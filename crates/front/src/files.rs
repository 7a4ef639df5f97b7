//! A data directory: the files behind volumes, the log of their maps, and the lock that keeps others out.
//!
//! Data files are opened, or made, when they are first named.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};

use plimsoll_volume::{FileId, Log, LogError};
use rustix::fs::{FlockOperation, MemfdFlags, Mode, OFlags};

const LOG: &str = "log";
const LOG_NEW: &str = "log.new";
const LOCK: &str = "lock";

/// Where data files are.
#[derive(Debug)]
enum Home {
    /// In memory, gone with the process.
    Memory,
    /// In a directory, as `data.0`, `data.1` and so on.
    Directory(Directory),
}

#[derive(Debug)]
struct Directory {
    descriptor: OwnedFd,
    log: OwnedFd,
    /// Held while the server lives; the kernel lets it go when the process ends, however it ends.
    _lock: OwnedFd,
}

/// The data files of a server.
#[derive(Debug)]
pub struct Files {
    home: Home,
    open: Vec<Option<OwnedFd>>,
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
        let home = Home::Directory(Directory { descriptor, log: log_file, _lock: lock });
        Ok((Self { home, open: Vec::new() }, Held { log, files }))
    }

    /// Whether what is written can be made to last.
    pub(crate) const fn are_durable(&self) -> bool {
        matches!(self.home, Home::Directory(_))
    }

    /// The descriptor of a data file.
    #[inline]
    pub(crate) fn descriptor(&mut self, file: FileId) -> io::Result<RawFd> {
        match self.open.get(file.0 as usize) {
            Some(Some(open)) => Ok(open.as_raw_fd()),
            _ => self.make(file),
        }
    }

    #[cold]
    fn make(&mut self, file: FileId) -> io::Result<RawFd> {
        let index = file.0 as usize;
        let made = match &self.home {
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
        self.open[index] = Some(made);
        Ok(number)
    }

    /// The log; `None` for files in memory.
    pub(crate) fn log(&self) -> Option<RawFd> {
        match &self.home {
            Home::Memory => None,
            Home::Directory(Directory { log, .. }) => Some(log.as_raw_fd()),
        }
    }

    /// What replaces the log in one step: done on any thread, and then [taken over](Self::log_replaced).
    pub(crate) fn log_replacement(&self) -> io::Result<impl FnOnce(Vec<u8>) -> io::Result<OwnedFd> + Send + use<>> {
        let Home::Directory(Directory { descriptor, .. }) = &self.home else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        let directory = descriptor.try_clone()?;
        Ok(move |bytes: Vec<u8>| replace_log(&directory, &bytes))
    }

    pub(crate) fn log_replaced(&mut self, new: OwnedFd) {
        if let Home::Directory(Directory { log, .. }) = &mut self.home {
            *log = new;
        }
    }
}

/// Written beside, made durable, and renamed: at every moment there is one whole log of that name.
fn replace_log(directory: &OwnedFd, mut bytes: &[u8]) -> io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
    let new = rustix::fs::openat(directory, LOG_NEW, flags, Mode::RUSR | Mode::WUSR)?;
    while !bytes.is_empty() {
        let written = rustix::io::write(&new, bytes)?;
        bytes = &bytes[written..];
    }
    rustix::fs::fsync(&new)?;
    rustix::fs::renameat(directory, LOG_NEW, directory, LOG)?;
    rustix::fs::fsync(directory)?;
    Ok(new)
}

fn data_name(number: u32) -> String {
    format!("data.{number}")
}

fn io_error(directory: &Path, source: io::Error) -> DirectoryError {
    DirectoryError::Io { directory: directory.to_path_buf(), source }
}
