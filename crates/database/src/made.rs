//! A server for a run: created on the storage under test, started, stopped, removed.

use std::path::PathBuf;

use plimsoll_language::{label, say};
use plimsoll_record::DatabaseAbout;
use plimsoll_units::Bytes;

use crate::cgroup::MemoryCgroup;
use crate::failure::{Failure, FailureKind};
use crate::private_folder::PrivateFolder;
use crate::server_process::User;
use crate::system::System;
use crate::target::{Database, Observer, Session, SettingsChange};

/// Whether commits reach the storage. If not: `fsync=off`, `innodb_flush_log_at_trx_commit=0` without doublewrite,
/// `synchronous=OFF`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Flushes {
    /// Commits reach the storage
    #[default]
    Honoured,
    /// Commits are not flushed: data are lost when the host fails, as with a volatile cache
    Ignored,
}

/// The server to create.
#[derive(Clone, Debug)]
pub struct Make {
    /// Database system.
    pub system: System,
    /// Directory on the storage under test. The server gets a new folder in it.
    pub folder: PathBuf,
    /// Directory of the log (WAL, redo log) on storage of its own; `None` for that of the data.
    pub log_folder: Option<PathBuf>,
    /// Size of the server's cache, in bytes.
    pub cache: Bytes,
    /// Memory limit of the server together with the page cache of its files; `None` for no limit.
    pub memory: Option<Bytes>,
    /// Whether commits reach the storage.
    pub flushes: Flushes,
    /// Additional settings of the server.
    pub settings: Vec<(String, String)>,
    /// Maximum number of sessions.
    pub sessions: u32,
}

/// Stops and removes a server when it is dropped.
pub trait MadeServer: Send + Sync {
    /// Reason why the server ended or cannot continue, from its log and from its memory limit: a single line with the
    /// path of the log. The folder with the log is kept from then on. `None` without a reason.
    fn post_mortem(&self) -> Option<String> {
        None
    }

    /// Restarts the server with these settings in addition to those of its creation, and connects to its database.
    ///
    /// # Errors
    /// The server does not start with them.
    fn restart(&mut self, _settings: &[(String, String)]) -> Result<Box<dyn Database>, Failure> {
        Err(Failure::new(FailureKind::Unsupported, label!("this server cannot be restarted")))
    }
}

/// A server created for a run. Dropping it stops and removes the server.
pub struct Created {
    about: DatabaseAbout,
    /// Its only database; dropped before the server is stopped.
    pub database: Box<dyn Database>,
    server: Box<dyn MadeServer>,
}

impl Created {
    /// Joins a database and its server, which is dropped after the database.
    pub fn with(about: DatabaseAbout, database: Box<dyn Database>, server: Box<dyn MadeServer>) -> Self {
        Self { about: DatabaseAbout { created: true, ..about }, database, server }
    }
}

impl Database for Created {
    fn system(&self) -> System {
        self.database.system()
    }

    fn name(&self) -> Option<&str> {
        self.database.name()
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

    fn size(&self) -> Result<Bytes, Failure> {
        self.database.size()
    }

    fn drop_contents(&self, only: Option<&[String]>) -> Result<(), Failure> {
        self.database.drop_contents(only)
    }

    fn post_mortem(&self) -> Option<String> {
        self.server.post_mortem()
    }

    fn checkpoint(&self) -> Result<(), Failure> {
        self.database.checkpoint()
    }

    fn configure(&mut self, settings: &[(String, String)], change: SettingsChange) -> Result<(), Failure> {
        match change {
            SettingsChange::Reload => self.database.configure(settings, change),
            SettingsChange::Restart => {
                self.database = self.server.restart(settings)?;
                Ok(())
            }
        }
    }
}

impl Make {
    /// Creates a folder for the log, if it is on storage of its own with at least `needed` bytes.
    ///
    /// # Errors
    /// The directory cannot be used by the user, or has too little space.
    pub(crate) fn log_folder(&self, name: &str, user: &User, needed: u64) -> Result<Option<PrivateFolder>, Failure> {
        let Some(parent) = &self.log_folder else { return Ok(None) };
        let folder = PrivateFolder::new(parent, name)?;
        folder.check_space(needed)?;
        folder.give_to(user.clone())?;
        folder.check_entry(user)?;
        Ok(Some(folder))
    }

    /// Creates the cgroup for the requested memory limit, which must suffice for the cache, `own` bytes, and `session`
    /// bytes per session.
    ///
    /// # Errors
    /// The limit is too small, or cannot be set on this host.
    pub(crate) fn cgroup(&self, name: &str, own: u64, session: u64) -> Result<Option<MemoryCgroup>, Failure> {
        let Some(memory) = self.memory else { return Ok(None) };
        let least = self.cache.get() + own + session * u64::from(self.sessions);
        if memory.get() < least {
            let (cache, sessions) = (self.cache, self.sessions);
            let least = Bytes::mib(least.div_ceil(1 << 20));
            let line = say!(
                "{memory} of memory are too little for a cache of {cache} and {sessions} sessions: give at least {least}, a smaller \
                 cache, or fewer sessions"
            );
            return Err(Failure::new(FailureKind::Unsupported, line));
        }
        MemoryCgroup::new(name, memory).map(Some)
    }
}
