//! The interface of database systems: sessions, observers, and databases.

use plimsoll_language::say;
use plimsoll_record::{DatabaseAbout, DatabaseCounters, Spent};
use plimsoll_units::{Bytes, Span};
use serde_json::{Map, Value as Json};

use crate::failure::{Failure, FailureKind};
use crate::system::System;
use crate::value::{Row, Value};

/// The result of a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    pub rows: u64,
    pub changed: u64,
    /// Sum of the hashes of all returned rows: equal for equal rows in any order.
    pub digest: u64,
}

/// A statement that a session has prepared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prepared(pub usize);

/// A connection, used by one thread at a time.
pub trait Session: Send {
    /// Runs statements separated by `;`, without parameters. Rows are counted and dropped; the counts of all statements
    /// are added.
    fn run(&mut self, sql: &str) -> Result<Answer, Failure>;

    /// Runs a statement without parameters and returns its rows; of a `CALL` those of its last result.
    fn rows(&mut self, sql: &str) -> Result<Vec<Row>, Failure>;

    /// Prepares a statement. Parameters are `?` in every system.
    fn prepare(&mut self, sql: &str) -> Result<Prepared, Failure>;

    /// Runs a prepared statement. Rows are counted and dropped.
    fn execute(&mut self, prepared: Prepared, values: &[Value]) -> Result<Answer, Failure>;

    /// Runs a prepared statement and returns its rows.
    fn fetch(&mut self, prepared: Prepared, values: &[Value]) -> Result<Vec<Row>, Failure>;

    /// Begins a read-write transaction.
    fn begin(&mut self) -> Result<(), Failure> {
        self.run("BEGIN").map(drop)
    }

    /// Commits the transaction; the server's settings decide whether that is durable.
    fn commit(&mut self) -> Result<(), Failure> {
        self.run("COMMIT").map(drop)
    }

    /// Rolls the transaction back.
    fn rollback(&mut self) -> Result<(), Failure> {
        self.run("ROLLBACK").map(drop)
    }

    /// Makes later transactions of this session read-only: a write fails with [`FailureKind::ReadOnly`]. A statement that
    /// explicitly starts a read-write transaction still gets one.
    ///
    /// # Errors
    /// [`FailureKind::Unsupported`] if the system has no read-only sessions.
    fn read_only(&mut self) -> Result<(), Failure>;

    /// Flushes the statistics of this session to the server, if the server would otherwise count them later.
    fn report_statistics(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// A handle that cancels a statement of this session from another thread.
    fn cancel(&self) -> Box<dyn Cancel>;

    /// The server's number of this session (PostgreSQL: process; MySQL: connection); `None` if unknown.
    fn number(&self) -> Option<u64> {
        None
    }
}

/// Cancels the statement of a session from another thread.
pub trait Cancel: Send + Sync {
    /// Requests the end of the statement. A request after its end has no effect.
    fn cancel(&self);
}

/// A separate connection for observation.
pub trait Observer: Send {
    /// All counters, since an arbitrary moment: only differences have a meaning. Unknown counters are none.
    fn counters(&mut self) -> Result<DatabaseCounters, Failure>;

    /// The current activity of the connected ones of these sessions; empty if the server does not report it.
    fn activity(&mut self, sessions: &[u64]) -> Result<Vec<Spent>, Failure>;

    /// Time of all sessions by activity, since an arbitrary moment: only differences have a meaning. Calls in progress
    /// are not included. None if the database has no such counters and [`Observer::activity`] has to be sampled.
    fn spent(&mut self) -> Option<Vec<(Spent, Span)>> {
        None
    }

    /// Head of a file of `plimsoll collect`; empty if there is none.
    fn head(&mut self) -> Result<Map<String, Json>, Failure> {
        Ok(Map::new())
    }

    /// Snapshot of an interval of `plimsoll collect`; empty if there is none.
    fn snapshot(&mut self) -> Result<Map<String, Json>, Failure> {
        Ok(Map::new())
    }
}

/// How changed settings take effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsChange {
    /// While the server runs.
    Reload,
    /// With a restart, of a server that was created for the run.
    Restart,
}

/// A database of a server or in a file.
pub trait Database: Send + Sync {
    fn system(&self) -> System;

    /// Name of the database, or of the schema if a server has a single database; none for a file.
    fn name(&self) -> Option<&str> {
        None
    }

    /// Version, storage settings, and the location of the data if known.
    fn about(&self) -> &DatabaseAbout;

    fn session(&self) -> Result<Box<dyn Session>, Failure>;

    fn observer(&self) -> Result<Box<dyn Observer>, Failure>;

    /// Tables and other objects without those of the system, by kind and name: `table orders`.
    fn contents(&self) -> Result<Vec<String>, Failure>;

    /// Size of the contents in bytes.
    fn size(&self) -> Result<Bytes, Failure>;

    /// Drops all objects of [`Database::contents`], or those with these names. With all of them, dependent objects are
    /// dropped as well; otherwise they cause a failure. DESTROYS DATA. [`Database::destroy_contents`] checks the
    /// permission.
    fn drop_contents(&self, only: Option<&[String]>) -> Result<(), Failure>;

    /// Drops all contents, or those with these names. DESTROYS DATA.
    ///
    /// # Errors
    /// System databases are always refused; a statement failed.
    fn destroy_contents(&self, only: Option<&[String]>) -> Result<(), Failure> {
        self.check_not_system()?;
        self.drop_contents(only)
    }

    /// Refuses system databases and schemas.
    ///
    /// # Errors
    /// [`FailureKind::SystemDatabase`].
    fn check_not_system(&self) -> Result<(), Failure> {
        let system = self.system();
        // The only database of a created server may be its default database.
        match self.name().filter(|name| !self.about().created && system.reserves(name)) {
            None => Ok(()),
            Some(name) => Err(Failure::new(
                FailureKind::SystemDatabase,
                say!(
                    "{name} is a system database of {system}: plimsoll never creates or drops anything in it, not \
                     even with --destroy: create a database for plimsoll"
                ),
            )),
        }
    }

    /// The reason why a server created for the run ended or cannot continue, in a line; none if unknown.
    fn post_mortem(&self) -> Option<String> {
        None
    }

    /// Writes the dirty blocks of the server's cache (`CHECKPOINT` or similar), so that a step does not include the
    /// writes of the previous one. No effect if the system has no checkpoint.
    fn checkpoint(&self) -> Result<(), Failure> {
        Ok(())
    }

    /// Changes settings of the server, for all its sessions that are opened later. With a restart, these are all changes.
    ///
    /// # Errors
    /// A setting or its value is refused, the user lacks the privilege, or the server does not start with them.
    fn configure(&mut self, _settings: &[(String, String)], _change: SettingsChange) -> Result<(), Failure> {
        Err(Failure::new(FailureKind::Unsupported, say!("settings of {} cannot be changed here", self.system())))
    }

    /// Puts the settings changed by [`Database::configure`] back, as far as the server outlives the run.
    ///
    /// # Errors
    /// A statement failed: the settings stay changed.
    fn restore_settings(&mut self) -> Result<(), Failure> {
        Ok(())
    }
}
