//! The database of a suite: that of a URL, or a server created for the run.

mod stage;

use std::path::Path;

use plimsoll_database::{
    Database as Target, DatabaseAddress, Failure, FailureKind, Make, NoAddress, connect, remove_leftovers,
};
use plimsoll_device::describe_host;
use plimsoll_language::{label, say};
use plimsoll_measure::find_emulated_source;
use plimsoll_record::{DatabaseAbout, Source};
use plimsoll_suite::snapshots::Snapshots;
use plimsoll_suite::{DataError, DatabaseGround, Facts, Ground, LocalStorage, UnderlyingStorage};
use plimsoll_units::Bytes;

use self::stage::EmulatedStorage;
use crate::args::{DatabaseArgs, MakeArgs};
use crate::cli_error::CliError;
use crate::console::Console;
use crate::store;
use crate::volumes::home::find_volume;

/// The backend and, if the database has counters, their snapshots. [`SuiteData`](plimsoll_suite::SuiteData) checks the contents of an existing
/// database.
pub fn open_ground(
    args: &DatabaseArgs,
    sessions: u32,
    console: &mut Console,
) -> Result<(Box<dyn Ground>, Option<Snapshots>), CliError> {
    let DatabasePlace { target, source, place, below } = match &args.url {
        Some(url) => DatabasePlace::on_host(connect_to(url)?.1, String::new()),
        None => DatabasePlace::create(&args.server, sessions, console)?,
    };
    let mut about = target.about().clone();
    if args.server.like.is_some() {
        about.settings.push(("loading".into(), "at the full speed of this host, without the emulation".into()));
    }
    let name = format!("{} {}{place}", about.system, about.version);
    let space = about.folder.as_deref().and_then(free_bytes).unwrap_or_default();
    let facts = Facts::of_database(name, source, target.system(), about);
    let facts = Facts { host: Some(describe_host()), space, ..facts };
    let snapshots = store::runs().folder.and_then(|folder| Snapshots::of(&*target, &folder, crate::PROGRAM));
    let sink = snapshots.as_ref().map(Snapshots::sink);
    Ok((Box::new(DatabaseGround::new(target, facts).on(below).telling(sink)), snapshots))
}

/// A database with its storage.
struct DatabasePlace {
    target: Box<dyn Target>,
    source: Source,
    /// Suffix of its name and version.
    place: String,
    /// Dropped after the target, which a volume may carry.
    below: Option<Box<dyn UnderlyingStorage>>,
}

impl DatabasePlace {
    /// On storage of this host, which may be an emulated volume, or on another host.
    fn on_host(target: Box<dyn Target>, place: String) -> Self {
        let about = target.about();
        // The log of PostgreSQL may be a link to other storage.
        let folder = about.folder.as_deref().map(Path::new);
        let places = folder.into_iter().flat_map(|folder| [folder.to_owned(), folder.join("pg_wal")]);
        let emulated = places.into_iter().find_map(|place| find_emulated_source(&place, &find_volume));
        let source = emulated.unwrap_or_else(|| Source::Measured { engine: about.system.clone() });
        let below = local(about);
        Self { target, source, place, below }
    }

    fn create(server: &MakeArgs, sessions: u32, console: &mut Console) -> Result<Self, CliError> {
        let Some(like) = &server.like else {
            for folder in server.log_path.iter().chain([&server.path, &std::env::temp_dir()]) {
                remove_leftovers_of(folder, console);
            }
            return Ok(Self::on_host(
                make_database(server, &server.path, sessions)?,
                format!(" at {}", server.path.display()),
            ));
        };
        for folder in server.log_path.iter().chain([&std::env::temp_dir()]) {
            remove_leftovers_of(folder, console);
        }
        let stage = EmulatedStorage::make(server, like, console)?;
        let target = make_database(server, stage.point(), sessions)?;
        let source = Source::Emulated { model: stage.model().into() };
        let slowdown = server.slow.map(|times| format!(", {times} times slower")).unwrap_or_default();
        Ok(Self { target, source, place: format!(" on {like}{slowdown}"), below: Some(Box::new(stage)) })
    }
}

/// Removes leftovers of killed runs in a directory, with a message.
fn remove_leftovers_of(directory: &Path, console: &mut Console) {
    let removed: Vec<String> = remove_leftovers(directory).iter().map(|path| path.display().to_string()).collect();
    if !removed.is_empty() {
        console.print_notice(&say!("removed leftovers of a killed run: {}", removed.join(", ")));
    }
}

/// Free bytes at the location of its data.
fn free_bytes(folder: &str) -> Option<Bytes> {
    let filesystem = rustix::fs::statvfs(folder).ok()?;
    Some(Bytes::new(filesystem.f_bavail * filesystem.f_frsize))
}

/// The storage below a database of this host; none for a remote server.
fn local(about: &DatabaseAbout) -> Option<Box<dyn UnderlyingStorage>> {
    let folder = about.folder.as_ref()?;
    Some(Box::new(LocalStorage::below(Some(Path::new(folder)))))
}

/// Connects to the database of a URL.
pub fn connect_to(url: &str) -> Result<(DatabaseAddress, Box<dyn Target>), CliError> {
    let address: DatabaseAddress = url.parse().map_err(|error: NoAddress| CliError::usage(error.to_string()))?;
    let database = connect(&address).map_err(database_error)?;
    Ok((address, database))
}

fn make_database(server: &MakeArgs, folder: &Path, sessions: u32) -> Result<Box<dyn Target>, CliError> {
    let Some(system) = server.make else { return Err(CliError::usage(label!("give a database URL, or --make"))) };
    let options = Make {
        system,
        folder: folder.into(),
        log_folder: server.log_path.clone(),
        cache: server.cache,
        memory: server.memory,
        flushes: server.flushes,
        settings: server.settings.clone(),
        sessions,
    };
    let database = options.make().map_err(database_error)?;
    Ok(Box::new(database))
}

impl From<DataError> for CliError {
    fn from(error: DataError) -> Self {
        match error {
            DataError::Database(failure) => database_error(failure),
            refused => Self::usage(refused),
        }
    }
}

/// Failures that the user can correct become usage errors.
fn database_error(failure: Failure) -> CliError {
    match failure.kind {
        FailureKind::Unreachable
        | FailureKind::Refused
        | FailureKind::Missing
        | FailureKind::SystemDatabase
        | FailureKind::NoSpace
        | FailureKind::TooOld
        | FailureKind::Unsupported => CliError::usage(failure.message),
        _ => CliError::Failed(anyhow::Error::new(failure)),
    }
}
