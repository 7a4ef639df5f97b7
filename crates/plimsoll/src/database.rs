//! From what a user named to the database that a suite loads: one that is there, or one made for the run.

mod snapshots;
mod stage;

use std::path::Path;

use plimsoll_database::{Address, Database as Target, Failure, Kind, Make, NoAddress, connect};
use plimsoll_device::describe_host;
use plimsoll_record::{DatabaseAbout, Source, Subject};
use plimsoll_suite::{Below, Database, Facts, Ground, Local, Nature};
use plimsoll_units::Bytes;

pub use snapshots::Snapshots;

use self::stage::Stage;
use crate::args::{DatabaseArgs, MakeArgs};
use crate::console::Console;
use crate::trouble::Trouble;

/// The ground, and where snapshots of the database's counters go; none where it gives none. A database that is there is empty,
/// or was emptied with the user's leave.
pub fn ground(
    args: &DatabaseArgs,
    sessions: u32,
    console: &mut Console,
) -> Result<(Box<dyn Ground>, Option<Snapshots>), Trouble> {
    let Placed { target, source, place, below } = match &args.url {
        Some(url) => Placed::existing(url, args.destroy.as_deref())?,
        None => Placed::made(&args.making, sessions, console)?,
    };
    let about = target.about().clone();
    let facts = Facts {
        source,
        subject: Subject {
            name: format!("{} {}{place}", about.system, about.version),
            kind: "database".into(),
            size: Bytes::default(),
            device: None,
        },
        host: Some(describe_host()),
        space: about.folder.as_deref().and_then(available).unwrap_or_default(),
        grid: 1,
        nature: Nature::Database,
        read_only: false,
        stages: Vec::new(),
        page_cache: None,
        database: Some((target.system(), about)),
    };
    let snapshots = Snapshots::of(&*target);
    let sink = snapshots.as_ref().map(Snapshots::sink);
    Ok((Box::new(Database::new(target, facts).on(below).telling(sink)), snapshots))
}

/// A database, and what it is on.
struct Placed {
    target: Box<dyn Target>,
    source: Source,
    /// What stands behind its name and version.
    place: String,
    /// Dropped after the target, which a volume may carry.
    below: Option<Box<dyn Below>>,
}

impl Placed {
    fn existing(url: &str, destroy: Option<&str>) -> Result<Self, Trouble> {
        Ok(Self::here(existing(url, destroy)?, String::new()))
    }

    /// On storage as it is.
    fn here(target: Box<dyn Target>, place: String) -> Self {
        let about = target.about();
        let source = Source::Measured { engine: about.system.clone() };
        let below = local(about);
        Self { target, source, place, below }
    }

    fn made(making: &MakeArgs, sessions: u32, console: &mut Console) -> Result<Self, Trouble> {
        let Some(like) = &making.like else {
            return Ok(Self::here(made(making, &making.path, sessions)?, format!(" at {}", making.path.display())));
        };
        let stage = Stage::make(making, like, console)?;
        let target = made(making, stage.point(), sessions)?;
        let source = Source::Emulated { model: stage.model().into() };
        let slowed = making.slow.map(|times| format!(", {times} times slower")).unwrap_or_default();
        Ok(Self { target, source, place: format!(" on {like}{slowed}"), below: Some(Box::new(stage)) })
    }
}

/// Bytes that are free where its data are.
fn available(folder: &str) -> Option<Bytes> {
    let filesystem = rustix::fs::statvfs(folder).ok()?;
    Some(Bytes::new(filesystem.f_bavail * filesystem.f_frsize))
}

/// What lies below a database of this host. Of a server elsewhere nothing is below here, and its host is not this one.
fn local(about: &DatabaseAbout) -> Option<Box<dyn Below>> {
    let folder = about.folder.as_ref()?;
    Some(Box::new(Local::below(Some(Path::new(folder)))))
}

fn existing(url: &str, destroy: Option<&str>) -> Result<Box<dyn Target>, Trouble> {
    let address: Address = url.parse().map_err(|error: NoAddress| Trouble::usage(error.to_string()))?;
    let target = connect(&address).map_err(trouble)?;
    let contents = target.contents().map_err(trouble)?;
    let Some(first) = contents.first() else { return Ok(target) };
    match destroy {
        Some(name) if Some(name) == address.name() => {
            target.destroy_contents().map_err(trouble)?;
            Ok(target)
        }
        Some(name) => Err(Trouble::usage(format!(
            "--destroy {name}: that is not the database's name, which is {}",
            address.name().unwrap_or("unknown")
        ))),
        None => Err(Trouble::usage(format!(
            "{address}: it is not empty: it has {first}{}: name an empty database, or add --destroy {} if all of it may be lost",
            if contents.len() > 1 { format!(" and {} more", contents.len() - 1) } else { String::new() },
            address.name().unwrap_or("NAME"),
        ))),
    }
}

fn made(making: &MakeArgs, folder: &Path, sessions: u32) -> Result<Box<dyn Target>, Trouble> {
    let Some(system) = making.make else { return Err(Trouble::usage("name a database, or --make one")) };
    let wanted = Make {
        system: system.into(),
        folder: folder.into(),
        cache: making.cache,
        memory: making.memory,
        flushes: making.flushes.into(),
        settings: making.settings.clone(),
        sessions,
    };
    let made = wanted.make().map_err(trouble)?;
    Ok(Box::new(made))
}

/// What the user can mend is said as that.
fn trouble(failure: Failure) -> Trouble {
    match failure.kind {
        Kind::Unreachable | Kind::Refused | Kind::Missing | Kind::NoSpace | Kind::TooOld | Kind::Unsupported => {
            Trouble::usage(failure.message)
        }
        _ => Trouble::Failed(anyhow::Error::new(failure)),
    }
}
