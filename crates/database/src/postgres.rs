//! PostgreSQL, 12 and later: its sessions, its counters, and servers made for a run.

pub mod collected;

mod about;
mod activity;
mod contents;
mod made;
mod observer;
mod place;
mod placeholders;
mod programs;
mod session;
mod settings;
mod sqlstate;
mod text;
mod wire;

use std::sync::Arc;

use plimsoll_language::label;
use plimsoll_record::DatabaseAbout;
use plimsoll_units::Bytes;

use crate::address::DatabaseAddress;
use crate::failure::{Failure, FailureKind};
use crate::system::System;
use crate::target::{Database, Observer, Session, SettingsChange};
use place::PostgresLocation;
use session::PostgresSession;

pub(crate) use made::make;

/// A database of a server.
struct Postgres {
    place: Arc<PostgresLocation>,
    server: about::ServerFacts,
    changed: settings::ChangedSettings,
}

/// Connects to the database at an address, with defaults from `PGHOST`, `PGPORT`, `PGUSER`, `PGPASSWORD` and
/// `PGDATABASE`.
pub(crate) fn connect(address: &DatabaseAddress) -> Result<Box<dyn Database>, Failure> {
    let variable = |name: &str| std::env::var(name).ok();
    let place = PostgresLocation::read(&address.url, &variable, &login())
        .map_err(|failure| failure.during(&address.to_string()))?;
    let database = Postgres::open(place).map_err(|failure| failure.during(&address.to_string()))?;
    Ok(Box::new(database))
}

/// Name of the user of this process in `passwd`.
fn login() -> String {
    let uid = rustix::process::geteuid().as_raw().to_string();
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let mine = users.lines().find(|line| line.split(':').nth(2) == Some(&uid));
    let name = mine.and_then(|line| line.split(':').next()).map(str::to_owned);
    name.or_else(|| std::env::var("USER").ok()).unwrap_or(uid)
}

impl Postgres {
    /// Connects, and queries version and settings.
    fn open(place: PostgresLocation) -> Result<Self, Failure> {
        let place = Arc::new(place);
        let server = about::query_server(&mut PostgresSession::open(&place)?)?;
        Ok(Self { place, server, changed: settings::ChangedSettings::default() })
    }
}

impl Database for Postgres {
    fn system(&self) -> System {
        System::Postgres
    }

    fn name(&self) -> Option<&str> {
        Some(&self.place.database)
    }

    fn about(&self) -> &DatabaseAbout {
        &self.server.about
    }

    fn session(&self) -> Result<Box<dyn Session>, Failure> {
        Ok(Box::new(PostgresSession::open(&self.place)?))
    }

    fn observer(&self) -> Result<Box<dyn Observer>, Failure> {
        Ok(Box::new(observer::PostgresObserver::open(&self.place, &self.server)?))
    }

    fn contents(&self) -> Result<Vec<String>, Failure> {
        contents::names(&mut PostgresSession::open(&self.place)?)
    }

    fn size(&self) -> Result<Bytes, Failure> {
        contents::query_size(&mut PostgresSession::open(&self.place)?)
    }

    fn drop_contents(&self, only: Option<&[String]>) -> Result<(), Failure> {
        contents::drop_all(&mut PostgresSession::open(&self.place)?, only)
    }

    fn checkpoint(&self) -> Result<(), Failure> {
        let mut talk = PostgresSession::open(&self.place)?;
        let done = talk.run("CHECKPOINT").map(drop);
        done.map_err(|failure| failure.during(label!("writing the server's cache")))
    }

    fn configure(&mut self, settings: &[(String, String)], change: SettingsChange) -> Result<(), Failure> {
        if change == SettingsChange::Restart {
            return Err(Failure::new(FailureKind::Unsupported, label!("a server in use is not restarted")));
        }
        self.changed.change(&self.place, settings)
    }

    fn restore_settings(&mut self) -> Result<(), Failure> {
        // The settings of a server that was created for the run end with it.
        if self.server.about.created { Ok(()) } else { self.changed.restore(&self.place) }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // Without an earlier call, as after a panic.
        let _ = self.restore_settings();
    }
}
