//! Directories and mount point of a temporary service: creation, removal, and cleanup after killed processes.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use plimsoll_device::LoopDevice;
use plimsoll_language::say;
use rustix::mount::{UnmountFlags, unmount};

use super::NAME;
use super::error::StageError;
use crate::attach::mounted_file;

/// Prefix of their names, followed by the process ID and a number.
const PREFIX: &str = "plimsoll-volume-";

/// Name of the mount point in the runtime directory.
const POINT: &str = "volume";

/// Directories of a temporary service, removed on drop.
#[derive(Debug)]
pub struct ServiceFolders {
    /// Data of the service, in the directory named by the user.
    pub home: PathBuf,
    /// Sockets, whose paths must be short, and the mount point, which the server's user must be able to access.
    pub run: PathBuf,
    pub point: PathBuf,
}

impl ServiceFolders {
    /// Creates them, and removes leftovers of killed processes in the same places.
    ///
    /// # Errors
    /// The directories cannot be created.
    pub fn make(path: &Path) -> Result<Self, StageError> {
        let unfit = |error: io::Error| {
            StageError::Refused(say!("--path {}: {error}: use a writable directory", path.display()))
        };
        let (path, temporary) = (path.canonicalize().map_err(unfit)?, std::env::temp_dir());
        sweep(&path);
        sweep(&temporary);
        let home = fresh(&path, 0o700).map_err(unfit)?;
        let run = fresh(&temporary, 0o755).map_err(|error| {
            let _ = fs::remove_dir(&home);
            StageError::io(say!("creating a directory in {}", temporary.display()), error)
        })?;
        let folders = Self { point: run.join(POINT), home, run };
        let created = DirBuilder::new().mode(0o755).create(&folders.point);
        created.map_err(|error| StageError::io(format_args!("creating {}", folders.point.display()), error))?;
        Ok(folders)
    }

    /// Unmounts the volume even if it is in use or its service crashed. Returns false if a part remains.
    pub fn pull(&self) -> bool {
        pulled(&self.home)
    }
}

impl Drop for ServiceFolders {
    fn drop(&mut self) {
        if removed(&self.run) {
            removed(&self.home);
        }
    }
}

/// Removes a directory, unless something is mounted in it.
fn removed(folder: &Path) -> bool {
    let point = folder.join(POINT);
    let _ = fs::remove_dir(&point);
    !point.exists() && fs::remove_dir_all(folder).is_ok()
}

/// True if no mount of a service's volume remains.
fn pulled(home: &Path) -> bool {
    let file = mounted_file(home, NAME);
    let lazily = UnmountFlags::DETACH | UnmountFlags::NOFOLLOW;
    let mut all = true;
    for device in LoopDevice::all_over(&file).unwrap_or_default() {
        while let Some(point) = device.mounted_at() {
            if unmount(&point, lazily).is_err() {
                return false;
            }
        }
        all &= device.detach().is_ok();
    }
    // A service that ended normally has unmounted it.
    let _ = file.parent().map(|mount| unmount(mount, lazily));
    all
}

/// Removes directories of ended processes, and unmounts their volumes.
fn sweep(parent: &Path) {
    let own = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let folder = entry.path();
        // Directories of other users are kept.
        let is_own = folder.symlink_metadata().is_ok_and(|stat| stat.is_dir() && stat.uid() == own);
        let process = entry.file_name().to_str().and_then(process_of);
        let is_gone = process.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists());
        if is_own && is_gone && pulled(&folder) {
            removed(&folder);
        }
    }
}

/// Process ID in a directory name.
fn process_of(name: &str) -> Option<u32> {
    let (process, number) = name.strip_prefix(PREFIX)?.split_once('-')?;
    number.parse::<u32>().ok()?;
    process.parse().ok()
}

/// Creates a directory with an unused name.
fn fresh(parent: &Path, mode: u32) -> io::Result<PathBuf> {
    let mut number = 0;
    loop {
        let folder = parent.join(format!("{PREFIX}{}-{number}", std::process::id()));
        match DirBuilder::new().mode(mode).create(&folder) {
            // Independent of the umask.
            Ok(()) => return fs::set_permissions(&folder, Permissions::from_mode(mode)).map(|()| folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_contain_the_process_id() {
        assert_eq!(process_of("plimsoll-volume-4711-0"), Some(4711));
        for other in ["plimsoll-volume-4711", "plimsoll-volume-x-0", "plimsoll-volume-4711-0-kept", "volume-4711-0"] {
            assert_eq!(process_of(other), None, "{other}");
        }
    }

    #[test]
    fn only_leftovers_of_dead_processes_are_removed() {
        let parent = std::env::temp_dir().join(format!("plimsoll-sweep-{}", std::process::id()));
        let folder = |name: &str| {
            let folder = parent.join(name);
            fs::create_dir_all(folder.join("inside")).unwrap();
            folder
        };
        // Larger than any process ID.
        let (dead, alive) =
            (folder("plimsoll-volume-999999999-0"), format!("plimsoll-volume-{}-0", std::process::id()));
        let (alive, other) = (folder(&alive), folder("data"));
        sweep(&parent);
        assert!(!dead.exists() && alive.exists() && other.exists());
        let next = fresh(&parent, 0o755).unwrap();
        assert!(next.ends_with(format!("plimsoll-volume-{}-1", std::process::id())), "{}", next.display());
        fs::remove_dir_all(&parent).unwrap();
    }
}
