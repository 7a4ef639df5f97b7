//! A file made for a run, and removed after it.
//!
//! Knows nothing about sessions.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::{Setup, Sqlite};
use crate::failure::{Failure, Kind};
use crate::made::{Flushes, Made, Make};

/// Files of one process are told apart, for it may make several.
static MADE: AtomicU32 = AtomicU32::new(0);

/// Makes a file in the folder, with a log beside it as SQLite needs it.
pub(crate) fn make(make: &Make) -> Result<Made, Failure> {
    if make.memory.is_some() {
        let advice = "SQLite runs inside plimsoll, so its memory alone cannot be limited: choose a scale that is larger \
            than this host's memory, or start plimsoll itself under `systemd-run --scope -p MemoryMax=SIZE`";
        return Err(Failure::new(Kind::Unsupported, advice));
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

/// A new, empty file. It and what SQLite puts beside it are removed on drop.
struct MadeFile {
    path: PathBuf,
}

impl MadeFile {
    fn new(folder: &Path) -> Result<Self, Failure> {
        let number = MADE.fetch_add(1, Relaxed);
        let suffix = if number == 0 { String::new() } else { format!("-{number}") };
        let path = folder.join(format!("plimsoll-sqlite-{}{suffix}.db", std::process::id()));
        match std::fs::OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(_) => Ok(Self { path }),
            Err(error) => {
                let kind = match error.kind() {
                    std::io::ErrorKind::NotFound => Kind::Missing,
                    std::io::ErrorKind::AlreadyExists => Kind::Exists,
                    std::io::ErrorKind::StorageFull => Kind::NoSpace,
                    _ => Kind::Refused,
                };
                Err(Failure::new(kind, format!("{} cannot be made: {error}", path.display())))
            }
        }
    }
}

impl Drop for MadeFile {
    fn drop(&mut self) {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            let mut path = self.path.clone().into_os_string();
            path.push(suffix);
            // Most of them are not there; and what cannot be removed stays to be seen.
            let _ = std::fs::remove_file(path);
        }
    }
}
