//! MySQL and MariaDB over their native protocol, blocking the calling thread.
//!
//! TLS is not supported: servers that require it are reachable through their Unix socket.

mod about;
mod activity;
mod contents;
mod failures;
mod made;
mod observer;
mod place;
mod programs;
mod session;
mod settings;
pub mod snapshots;
mod threads;
mod values;

use std::sync::Arc;

use mysql::Conn;
use plimsoll_language::label;
use plimsoll_record::DatabaseAbout;
use plimsoll_units::Bytes;

use crate::address::DatabaseAddress;
use crate::failure::{Failure, FailureKind};
use crate::system::System;
use crate::target::{Database, Observer, Session, SettingsChange};

pub(crate) use made::make;

/// A database of a MySQL or MariaDB server.
struct Mysql {
    place: Arc<place::MySqlLocation>,
    about: DatabaseAbout,
    /// PID of the server, if it runs on this host.
    process: Option<u32>,
    changed: settings::ChangedSettings,
}

/// Connects to the database at an address.
pub(crate) fn connect(address: &DatabaseAddress) -> Result<Box<dyn Database>, Failure> {
    Ok(Box::new(Mysql::at(place::MySqlLocation::of(address)?, None)?))
}

impl Mysql {
    /// Connects to a database. `process` is the PID of a server created for the run.
    fn at(place: place::MySqlLocation, process: Option<u32>) -> Result<Self, Failure> {
        let variables = about::variables(&mut place.open()?)?;
        about::check_age(&variables)?;
        let process = process.or_else(|| if place.may_be_here() { about::process(&variables) } else { None });
        Ok(Self {
            about: about::about(&variables, process),
            place: Arc::new(place),
            process,
            changed: settings::ChangedSettings::default(),
        })
    }

    fn open(&self) -> Result<Conn, Failure> {
        self.place.open()
    }
}

impl Database for Mysql {
    fn system(&self) -> System {
        System::Mysql
    }

    fn name(&self) -> Option<&str> {
        self.place.database().ok()
    }

    fn about(&self) -> &DatabaseAbout {
        &self.about
    }

    fn session(&self) -> Result<Box<dyn Session>, Failure> {
        Ok(Box::new(session::MysqlSession::new(Arc::clone(&self.place))?))
    }

    fn observer(&self) -> Result<Box<dyn Observer>, Failure> {
        Ok(Box::new(observer::MysqlObserver::new(self.open()?, self.process)?))
    }

    fn contents(&self) -> Result<Vec<String>, Failure> {
        let found = contents::find(&mut self.open()?, &self.place)?;
        Ok(found.iter().map(contents::DatabaseObject::listed).collect())
    }

    fn size(&self) -> Result<Bytes, Failure> {
        contents::query_size(&mut self.open()?)
    }

    fn drop_contents(&self, only: Option<&[String]>) -> Result<(), Failure> {
        contents::destroy(&mut self.open()?, &self.place, only)
    }

    fn checkpoint(&self) -> Result<(), Failure> {
        contents::flush(&mut self.open()?)
    }

    fn configure(&mut self, settings: &[(String, String)], change: SettingsChange) -> Result<(), Failure> {
        if change == SettingsChange::Restart {
            return Err(Failure::new(FailureKind::Unsupported, label!("a server in use is not restarted")));
        }
        self.changed.change(&mut self.place.open()?, settings)
    }

    fn restore_settings(&mut self) -> Result<(), Failure> {
        // The settings of a server that was created for the run end with it.
        if self.about.created { Ok(()) } else { self.changed.restore(&self.place) }
    }
}

impl Drop for Mysql {
    fn drop(&mut self) {
        // Without an earlier call, as after a panic.
        let _ = self.restore_settings();
    }
}
