//! From what a user named to the database that a suite loads: one that is there, or one made for the run.

use std::path::Path;

use plimsoll_database::{Address, Database as Target, Failure, Kind, Make, NoAddress, connect};
use plimsoll_device::describe_host;
use plimsoll_record::{Source, Subject};
use plimsoll_suite::{Below, Database, Facts, Ground, Local, Nature};
use plimsoll_units::Bytes;

use crate::args::DatabaseArgs;
use crate::trouble::Trouble;

/// The ground. A database that is there is empty, or was emptied with the user's leave.
pub fn ground(args: &DatabaseArgs, sessions: u32) -> Result<Box<dyn Ground>, Trouble> {
    let target = match &args.url {
        Some(url) => existing(url, args.destroy.as_deref())?,
        None => made(args, sessions)?,
    };
    let about = target.about().clone();
    let name = match &args.url {
        Some(_) => format!("{} {}", about.system, about.version),
        None => format!("{} {} at {}", about.system, about.version, args.making.path.display()),
    };
    let facts = Facts {
        source: Source::Measured { engine: about.system.clone() },
        subject: Subject { name, kind: "database".into(), size: Bytes::default(), device: None },
        host: Some(describe_host()),
        space: Bytes::default(),
        grid: 1,
        nature: Nature::Database,
        read_only: false,
        stages: Vec::new(),
        page_cache: None,
        database: Some((target.system(), about)),
    };
    let folder = facts.database.as_ref().and_then(|(_, about)| about.folder.clone());
    // Of a server elsewhere nothing is below here, and its host is not this one.
    let below = folder.map(|folder| Box::new(Local::below(Some(Path::new(&folder)))) as Box<dyn Below>);
    Ok(Box::new(Database::new(target, facts).on(below)))
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

fn made(args: &DatabaseArgs, sessions: u32) -> Result<Box<dyn Target>, Trouble> {
    let making = &args.making;
    let Some(system) = making.make else { return Err(Trouble::usage("name a database, or --make one")) };
    let wanted = Make {
        system: system.into(),
        folder: making.path.clone(),
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
