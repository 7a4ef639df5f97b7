//! Folders of an emulated volume, and what is mounted in them: made, removed, and cleared after a program that was killed.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::Context;
use plimsoll_device::LoopDevice;
use plimsoll_service::mounted_file;
use rustix::mount::{UnmountFlags, unmount};

use super::NAME;
use crate::trouble::Trouble;

/// Their names begin so; the number of the process follows, and one more.
const PREFIX: &str = "plimsoll-volume-";

/// The mount point in the folder for what is needed at run time.
const POINT: &str = "volume";

/// Removed when this is dropped.
pub struct Folders {
    /// What the service keeps, below the path that the user named.
    pub home: PathBuf,
    /// Sockets, whose paths have to be short, and the mount point, which a server's own user has to reach.
    pub run: PathBuf,
    /// The mount point.
    pub point: PathBuf,
}

impl Folders {
    /// Makes them, and clears what programs that were killed have left in the same places.
    ///
    /// # Errors
    /// Nothing can be written there.
    pub fn make(path: &Path) -> Result<Self, Trouble> {
        let unfit = |error: io::Error| {
            Trouble::usage(format!("--path {}: {error}: name a directory that can be written to", path.display()))
        };
        let (path, temporary) = (path.canonicalize().map_err(unfit)?, std::env::temp_dir());
        sweep(&path);
        sweep(&temporary);
        let home = fresh(&path, 0o700).map_err(unfit)?;
        let run = fresh(&temporary, 0o755).with_context(|| {
            let _ = fs::remove_dir(&home);
            format!("making a folder in {}", temporary.display())
        })?;
        let folders = Self { point: run.join(POINT), home, run };
        let made = DirBuilder::new().mode(0o755).create(&folders.point);
        made.with_context(|| format!("making {}", folders.point.display()))?;
        Ok(folders)
    }

    /// Takes the volume from under those who still use it, or from where a service that broke off has left it. False when some
    /// of it stays.
    pub fn pull(&self) -> bool {
        pulled(&self.home)
    }
}

impl Drop for Folders {
    fn drop(&mut self) {
        if removed(&self.run) {
            removed(&self.home);
        }
    }
}

/// Removes a folder, unless something is mounted at the point in it: that is not emptied.
fn removed(folder: &Path) -> bool {
    let point = folder.join(POINT);
    let _ = fs::remove_dir(&point);
    !point.exists() && fs::remove_dir_all(folder).is_ok()
}

/// Nothing is mounted any more of the volume that a service keeps there.
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
    // A service that ended in order has unmounted it.
    let _ = file.parent().map(|mount| unmount(mount, lazily));
    all
}

/// Removes folders of processes that are no more, with what is mounted of them.
fn sweep(parent: &Path) {
    let own = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let folder = entry.path();
        // What others have put there is theirs.
        let is_own = folder.symlink_metadata().is_ok_and(|stat| stat.is_dir() && stat.uid() == own);
        let process = entry.file_name().to_str().and_then(process_of);
        let is_gone = process.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists());
        if is_own && is_gone && pulled(&folder) {
            removed(&folder);
        }
    }
}

/// The process that a folder's name tells.
fn process_of(name: &str) -> Option<u32> {
    let (process, number) = name.strip_prefix(PREFIX)?.split_once('-')?;
    number.parse::<u32>().ok()?;
    process.parse().ok()
}

/// A folder with a name that nothing has yet.
fn fresh(parent: &Path, mode: u32) -> io::Result<PathBuf> {
    let mut number = 0;
    loop {
        let folder = parent.join(format!("{PREFIX}{}-{number}", std::process::id()));
        match DirBuilder::new().mode(mode).create(&folder) {
            // Whatever this user hides by default.
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
    fn folders_say_whose_they_are() {
        assert_eq!(process_of("plimsoll-volume-4711-0"), Some(4711));
        for other in ["plimsoll-volume-4711", "plimsoll-volume-x-0", "plimsoll-volume-4711-0-kept", "volume-4711-0"] {
            assert_eq!(process_of(other), None, "{other}");
        }
    }

    #[test]
    fn what_dead_processes_left_is_removed_and_nothing_else() {
        let parent = std::env::temp_dir().join(format!("plimsoll-sweep-{}", std::process::id()));
        let folder = |name: &str| {
            let folder = parent.join(name);
            fs::create_dir_all(folder.join("inside")).unwrap();
            folder
        };
        // No process has so large a number.
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
