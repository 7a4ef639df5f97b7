//! A server made for a run: made on the storage under test, started, stopped, removed.

use std::path::PathBuf;

use plimsoll_record::DatabaseAbout;
use plimsoll_units::Bytes;

use crate::failure::{Failure, Kind};
use crate::sqlite;
use crate::system::System;
use crate::target::{Database, Observer, Session};

/// Whether commits reach the storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flushes {
    /// They do, before they are answered.
    #[default]
    Honoured,
    /// They do not: `fsync=off`, `innodb_flush_log_at_trx_commit=0` without doublewrite, `synchronous=OFF`.
    Ignored,
}

/// What server to make.
#[derive(Clone, Debug)]
pub struct Make {
    /// Which system.
    pub system: System,
    /// The directory on the storage under test. The server gets one of its own in it.
    pub folder: PathBuf,
    /// Bytes of the server's own cache.
    pub cache: Bytes,
    /// Memory that the server and the page cache for its files may take together; none for no limit.
    pub memory: Option<Bytes>,
    /// Whether commits reach the storage.
    pub flushes: Flushes,
    /// Settings on top of those, as the server's configuration has them.
    pub settings: Vec<(String, String)>,
    /// Sessions that will be opened at most.
    pub sessions: u32,
}

/// A server that was made. It is stopped and removed when this is dropped.
pub struct Made {
    about: DatabaseAbout,
    /// Its only database; let go before the server is stopped.
    pub database: Box<dyn Database>,
    _server: Box<dyn Send + Sync>,
}

impl Made {
    /// A database that takes its server along: `server` is what stops and removes it when dropped.
    pub fn with(about: DatabaseAbout, database: Box<dyn Database>, server: Box<dyn Send + Sync>) -> Self {
        Self { about: DatabaseAbout { made: true, ..about }, database, _server: server }
    }
}

impl Database for Made {
    fn system(&self) -> System {
        self.database.system()
    }

    fn about(&self) -> &DatabaseAbout {
        &self.about
    }

    fn session(&self) -> Result<Box<dyn Session>, Failure> {
        self.database.session()
    }

    fn observer(&self) -> Result<Box<dyn Observer>, Failure> {
        self.database.observer()
    }

    fn contents(&self) -> Result<Vec<String>, Failure> {
        self.database.contents()
    }

    fn destroy_contents(&self) -> Result<(), Failure> {
        self.database.destroy_contents()
    }

    fn checkpoint(&self) -> Result<(), Failure> {
        self.database.checkpoint()
    }
}

impl Make {
    /// Makes it. The server ends with this process, also when that is killed.
    ///
    /// # Errors
    /// Its programs are not installed, there is too little space, or it does not start: with what its log said last.
    pub fn make(&self) -> Result<Made, Failure> {
        match self.system {
            System::Postgres => crate::postgres::make(self),
            System::Sqlite => sqlite::make(self),
            System::Mysql => crate::mysql::make(self),
            System::Oracle => Err(Failure::new(Kind::Unsupported, format!("{} cannot be made here", self.system))),
        }
    }
}
