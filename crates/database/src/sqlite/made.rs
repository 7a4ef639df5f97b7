//! A file created for a run, and removed after it.

use std::fs::File;

use super::{Setup, Sqlite};
use plimsoll_language::label;

use crate::failure::{Failure, FailureKind};
use crate::made::{Created, Flushes, MadeServer, Make};
use crate::private_folder::{PrivateFolder, not_created};

/// Creates a file in the folder.
pub(crate) fn make(make: &Make) -> Result<Created, Failure> {
    if make.memory.is_some() {
        let advice = label!(
            "SQLite runs inside plimsoll, so its memory alone cannot be limited: choose a scale that is larger \
            than this host's memory, or start plimsoll itself under `systemd-run --scope -p MemoryMax=SIZE`"
        );
        return Err(Failure::new(FailureKind::Unsupported, advice));
    }
    let synchronous = match make.flushes {
        Flushes::Honoured => "FULL",
        Flushes::Ignored => "OFF",
    };
    let pragmas = std::iter::once(("synchronous".into(), synchronous.into())).chain(make.settings.iter().cloned());
    let folder = PrivateFolder::new(&make.folder, "plimsoll-sqlite")?;
    let file = folder.path().join("data.db");
    File::create_new(&file).map_err(|error| not_created(&make.folder, &error))?;
    let database = Sqlite::open(Setup::new(file, make.cache, pragmas.collect())?)?;
    Ok(Created::with(database.about.clone(), Box::new(database), Box::new(folder)))
}

/// Removed on drop with all files that SQLite creates there.
impl MadeServer for PrivateFolder {}
