//! Private directory of a created database, with checks of access and space.

use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use plimsoll_language::{label, say};
use plimsoll_units::Bytes;

use crate::failure::{Failure, FailureKind};
use crate::leftovers;
use crate::server_process::User;

/// Maximum length of a Unix socket path (107), less the names of the folder and the socket.
const MAX_SOCKET_PARENT: usize = 107 - 40;
/// Maximum number of existing directories that are passed over.
const MAX_EXISTING: u32 = 1000;
/// Directories created by this process: a name is not used again, so that a removed directory stays absent.
static CREATED: AtomicU32 = AtomicU32::new(0);

/// A directory accessible only to its user. Removed with its contents on drop.
pub(crate) struct PrivateFolder {
    path: PathBuf,
    /// Not removed on drop.
    is_kept: AtomicBool,
}

impl PrivateFolder {
    /// Creates a directory in `parent`, with the PID and a number in its name.
    pub(crate) fn new(parent: &Path, name: &str) -> Result<Self, Failure> {
        let process = std::process::id();
        let failed = |error: io::Error| not_created(parent, &error);
        // Absolute, because a server changes its working directory.
        let place = parent.canonicalize().map_err(failed)?;
        for _ in 0..MAX_EXISTING {
            let number = CREATED.fetch_add(1, Ordering::Relaxed) + 1;
            let path = place.join(format!("{name}-{process}-{number}"));
            match DirBuilder::new().mode(0o700).create(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                created => {
                    created.and_then(|()| leftovers::mark(&path)).map_err(failed)?;
                    return Ok(Self { path, is_kept: AtomicBool::new(false) });
                }
            }
        }
        Err(failed(ErrorKind::AlreadyExists.into()))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Joins the reasons of a post-mortem, and keeps the directory with the log from then on; `None` without reasons.
    pub(crate) fn post_mortem(&self, reasons: &[Option<String>]) -> Option<String> {
        let reasons: Vec<&str> = reasons.iter().flatten().map(String::as_str).collect();
        if reasons.is_empty() {
            return None;
        }
        self.is_kept.store(true, Ordering::Relaxed);
        leftovers::keep(&self.path);
        let (reasons, path) = (reasons.join("; "), self.path.display());
        Some(format!("{reasons}: its data and its log are kept in {path}: remove them when they are read"))
    }

    /// Changes the owner to `user`, and returns the user to run the server as: the present user if `user` does not
    /// exist.
    pub(crate) fn give_to(&self, user: User) -> Result<User, Failure> {
        match user.own(&self.path) {
            Ok(()) => Ok(user),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(User::Same),
            Err(error) => Err(not_created(&self.path, &error)),
        }
    }

    /// Refuses a place that the user cannot access.
    pub(crate) fn check_entry(&self, user: &User) -> Result<(), Failure> {
        let User::Other(name) = user else { return Ok(()) };
        let mut test = user.command(Path::new("test"), "KILL", None);
        test.arg("-w")
            .arg(&self.path)
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let status = test.status().map_err(|error| {
            Failure::new(
                FailureKind::Unsupported,
                say!("setpriv: {error}: install util-linux, or run plimsoll as another user"),
            )
        })?;
        if status.success() {
            return Ok(());
        }
        let what = say!("the user {name}, as whom a server runs, may not enter {}", self.path.display());
        Err(Failure::new(
            FailureKind::Refused,
            say!("{what}: let other users enter the directories above it (chmod o+x)"),
        ))
    }

    /// Free space in bytes. Refuses a place with less than `needed`.
    pub(crate) fn check_space(&self, needed: u64) -> Result<u64, Failure> {
        let space = rustix::fs::statvfs(&self.path).map_err(|error| not_created(&self.path, &error.into()))?;
        let free = space.f_bavail.saturating_mul(space.f_frsize);
        if free >= needed {
            return Ok(free);
        }
        let (free, needed) = (Bytes::new(free), Bytes::new(needed));
        let place = self.path.parent().unwrap_or(&self.path).display();
        let what = say!("{place}: {free} are free, and an empty server needs {needed}");
        Err(Failure::new(FailureKind::NoSpace, say!("{what}: free some space, or use a smaller cache")))
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        if !self.is_kept.load(Ordering::Relaxed) {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Parent of socket directories: the directory for temporary files, if its path is short enough.
pub(crate) fn short_place() -> PathBuf {
    let usual = std::env::temp_dir();
    if usual.as_os_str().len() <= MAX_SOCKET_PARENT { usual } else { "/tmp".into() }
}

/// Failure to create a directory or a file in it.
pub(crate) fn not_created(place: &Path, error: &io::Error) -> Failure {
    let (kind, remedy) = match error.kind() {
        ErrorKind::NotFound => (FailureKind::Missing, label!("create it, or name another")),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            (FailureKind::Refused, label!("name a directory that you may write to"))
        }
        ErrorKind::StorageFull => (FailureKind::NoSpace, label!("free some space")),
        _ => (FailureKind::Statement, label!("name another directory")),
    };
    Failure::new(kind, say!("{}: a directory cannot be made: {error}: {remedy}", place.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_parent_is_reported() {
        let failure = PrivateFolder::new(Path::new("/nowhere/at/all"), "plimsoll-mariadb").err().unwrap();
        assert!(failure.kind == FailureKind::Missing && failure.message.contains("/nowhere/at/all"), "{failure}");
    }
}
