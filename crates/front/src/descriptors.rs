//! File descriptors of the process: connections leave enough of them for the files of a store.

use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Descriptors that connections leave for the store, at most a quarter of the limit.
const RESERVED: u64 = 64;

/// Connections that were refused so far.
static REFUSED: AtomicU64 = AtomicU64::new(0);

/// Raises the limit of open files to its maximum (`ulimit -n` to `ulimit -Hn`).
///
/// # Errors
/// The system does not permit it.
pub fn raise_limit() -> io::Result<()> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    Ok(setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?)
}

/// The limit of open files; `None` without one.
pub fn limit() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}

/// Whether a newly accepted connection leaves enough descriptors for the store; counts a connection that does not.
///
/// The kernel gives the lowest free number, so a high number means that few are free below the limit.
pub fn admits(connection: &impl AsFd) -> bool {
    let number = u64::from(connection.as_fd().as_raw_fd().unsigned_abs());
    let is_admitted = limit().is_none_or(|limit| number < limit - RESERVED.min(limit / 4));
    if !is_admitted {
        REFUSED.fetch_add(1, Ordering::Relaxed);
    }
    is_admitted
}

/// Connections of this process that were refused for want of descriptors.
pub fn refused() -> u64 {
    REFUSED.load(Ordering::Relaxed)
}
