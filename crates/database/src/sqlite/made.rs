//! A file created for a run, and removed after it.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::{Setup, Sqlite};
use crate::failure::{Failure, FailureKind};
use crate::leftovers;
use crate::made::{Flushes, Made, MadeServer, Make};

/// Counter for unique names.
static MADE: AtomicU32 = AtomicU32::new(0);

/// Creates a file in the folder.
pub(crate) fn make(make: &Make) -> Result<Made, Failure> {
    if make.memory.is_some() {
        let advice = "SQLite runs inside plimsoll, so its memory alone cannot be limited: choose a scale that is larger \
            than this host's memory, or start plimsoll itself under `systemd-run --scope -p MemoryMax=SIZE`";
        return Err(Failure::new(FailureKind::Unsupported, advice));
    }
    let synchronous = match make.flushes {
        Flushes::Honoured => "FULL",
        Flushes::Ignored => "OFF",
    };
    let pragmas = std::iter::once(("synchronous".into(), synchronous.into())).chain(make.settings.iter().cloned());
    let file = MadeFile::new(&make.folder)?;
    let setup = Setup::new(file.path.clone(), make.cache, pragmas.collect())?;
    let database = Sqlite::open(setup)?;
    Ok(Made::with(database.about.clone(), Box::new(database), Box::new(file)))
}

/// A new, empty file in a private folder, removed on drop with all files that SQLite creates there.
struct MadeFile {
    folder: PathBuf,
    path: PathBuf,
}

impl MadeFile {
    fn new(parent: &Path) -> Result<Self, Failure> {
        let number = MADE.fetch_add(1, Relaxed);
        let suffix = if number == 0 { String::new() } else { format!("-{number}") };
        let folder = parent.join(format!("plimsoll-sqlite-{}{suffix}", std::process::id()));
        let not_created = |error: io::Error| {
            let kind = match error.kind() {
                io::ErrorKind::NotFound => FailureKind::Missing,
                io::ErrorKind::AlreadyExists => FailureKind::Exists,
                io::ErrorKind::StorageFull => FailureKind::NoSpace,
                _ => FailureKind::Refused,
            };
            Failure::new(kind, format!("{} cannot be made: {error}", folder.display()))
        };
        DirBuilder::new().mode(0o700).create(&folder).map_err(not_created)?;
        let file = Self { path: folder.join("data.db"), folder: folder.clone() };
        leftovers::mark(&file.folder).map_err(not_created)?;
        File::create_new(&file.path).map_err(not_created)?;
        Ok(file)
    }
}

impl MadeServer for MadeFile {}

impl Drop for MadeFile {
    fn drop(&mut self) {
        // Files that cannot be removed are left.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
