//! The interface of database systems: sessions, observers, and databases.

use plimsoll_record::{DatabaseAbout, DatabaseCounters, Spent};
use plimsoll_units::{Bytes, Span};
use serde_json::{Map, Value as Json};

use crate::address::Address;
use crate::failure::{Failure, Kind};
use crate::system::System;
use crate::value::{Row, Value};
use crate::{oracle, sqlite};

/// The result of a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Rows returned.
    pub rows: u64,
    /// Rows that were changed.
    pub changed: u64,
    /// The sum of the hashes of all returned rows: equal for equal rows in any order.
    pub digest: u64,
}

/// A statement that a session has prepared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prepared(pub usize);

/// A connection, used by one thread at a time.
pub trait Session: Send {
    /// Runs one or several statements, separated by `;`, without parameters. Rows are counted and dropped; those of several
    /// statements are added up.
    fn run(&mut self, sql: &str) -> Result<Answer, Failure>;

    /// Runs one statement without parameters, and gives its rows. Of a `CALL` those of its last result.
    fn rows(&mut self, sql: &str) -> Result<Vec<Row>, Failure>;

    /// Prepares one statement. Parameters are `?` in every system.
    fn prepare(&mut self, sql: &str) -> Result<Prepared, Failure>;

    /// Runs a prepared statement. Rows are counted and dropped.
    fn execute(&mut self, prepared: Prepared, values: &[Value]) -> Result<Answer, Failure>;

    /// Runs a prepared statement, and gives its rows.
    fn fetch(&mut self, prepared: Prepared, values: &[Value]) -> Result<Vec<Row>, Failure>;

    /// Begins a transaction that will write.
    fn begin(&mut self) -> Result<(), Failure> {
        self.run("BEGIN").map(drop)
    }

    /// Ends the transaction, durably as the server is set.
    fn commit(&mut self) -> Result<(), Failure> {
        self.run("COMMIT").map(drop)
    }

    /// Undoes the transaction.
    fn rollback(&mut self) -> Result<(), Failure> {
        self.run("ROLLBACK").map(drop)
    }

    /// Has each later transaction of this session only read: a statement that writes fails with [`Kind::ReadOnly`]. A statement
    /// that asks for a transaction that writes still gets one.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] where the system has no such session.
    fn read_only(&mut self) -> Result<(), Failure>;

    /// Makes the server count the activity of this session so far, if it would count it only later.
    fn report_statistics(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// A handle that cancels a statement of this session from another thread.
    fn cancel(&self) -> Box<dyn Cancel>;

    /// The server's own number of this session (PostgreSQL: its process; MySQL: the connection). None where there is none.
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

    /// Time that sessions spent inside the database in each way, of all that there were, since whatever: only differences
    /// count. A call that has not returned yet is not in it. None where the database does not keep such accounts, so that it
    /// has to be looked at with [`Observer::activity`].
    fn spent(&mut self) -> Option<Vec<(Spent, Span)>> {
        None
    }

    /// What `plimsoll collect` writes once at the head of a file; empty where there is nothing to collect.
    fn head(&mut self) -> Result<Map<String, Json>, Failure> {
        Ok(Map::new())
    }

    /// What `plimsoll collect` writes at each interval; empty where there is nothing to collect.
    fn snapshot(&mut self) -> Result<Map<String, Json>, Failure> {
        Ok(Map::new())
    }
}

/// A database of a server, or in a file.
pub trait Database: Send + Sync {
    /// The database system.
    fn system(&self) -> System;

    /// The name of the database, or of the schema where the system has no databases in a server. None for a file.
    fn name(&self) -> Option<&str> {
        None
    }

    /// Version, settings that matter for storage, and the place of its data as far as it is known.
    fn about(&self) -> &DatabaseAbout;

    /// A new session.
    fn session(&self) -> Result<Box<dyn Session>, Failure>;

    /// A new observer.
    fn observer(&self) -> Result<Box<dyn Observer>, Failure>;

    /// The tables and the like that are in it, without the system's own, by kind and name: `table orders`.
    fn contents(&self) -> Result<Vec<String>, Failure>;

    /// Bytes that its contents take, and that are free once they are dropped.
    fn size(&self) -> Result<Bytes, Failure>;

    /// Drops what [`Database::contents`] lists, or as much of it as these names cover: what depends on it goes with all of it, and
    /// is a failure otherwise. ITS DATA ARE LOST. Where it is allowed to is for [`Database::destroy_contents`] to check.
    fn drop_contents(&self, only: Option<&[String]>) -> Result<(), Failure>;

    /// Drops all contents, or those with these names. ITS DATA ARE LOST.
    ///
    /// # Errors
    /// It is a system database, which is always refused, or a statement failed.
    fn destroy_contents(&self, only: Option<&[String]>) -> Result<(), Failure> {
        self.check_not_system()?;
        self.drop_contents(only)
    }

    /// Refuses the server's own databases and schemas, in which nothing may be created, emptied or dropped.
    ///
    /// # Errors
    /// [`Kind::SystemDatabase`].
    fn check_not_system(&self) -> Result<(), Failure> {
        let system = self.system();
        // The only database of a server that was made for the run may be its default one.
        match self.name().filter(|name| !self.about().made && system.reserves(name)) {
            None => Ok(()),
            Some(name) => Err(Failure::new(
                Kind::SystemDatabase,
                format!(
                    "{name} is a system database of {system}: nothing is created or dropped in it, not even with --destroy: \
                     create a database for plimsoll and name that one"
                ),
            )),
        }
    }

    /// Why a server that was made for the run ended or cannot go on, in one line; none where that is not known.
    fn post_mortem(&self) -> Option<String> {
        None
    }

    /// Writes what is dirty in the server's cache to its files (`CHECKPOINT` or the like), so that a step does not pay for the
    /// one before. Nothing where the system has no such thing.
    fn checkpoint(&self) -> Result<(), Failure> {
        Ok(())
    }
}

/// Connects to the database at an address.
///
/// # Errors
/// It is not reached, does not let one in, is too old, or this program was built without its driver.
pub fn connect(address: &Address) -> Result<Box<dyn Database>, Failure> {
    match address.system {
        System::Postgres => crate::postgres::connect(address),
        System::Oracle => oracle::connect(address),
        System::Sqlite => sqlite::connect(address),
        System::Mysql => crate::mysql::connect(address),
    }
}
