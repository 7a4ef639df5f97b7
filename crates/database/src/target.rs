//! What every database can do here.

use plimsoll_record::{DatabaseAbout, DatabaseCounters};
use plimsoll_units::Span;
use serde_json::{Map, Value as Json};

use crate::address::Address;
use crate::failure::Failure;
use crate::system::System;
use crate::value::{Row, Value};
use crate::{oracle, sqlite};

/// What came of a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Rows that came back.
    pub rows: u64,
    /// Rows that were changed.
    pub changed: u64,
    /// The sum of the hashes of all rows that came back: equal for equal rows in any order.
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

    /// Has the server count what this session did so far, where it would count that later by itself.
    fn settle(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// What ends a statement of this session from another thread.
    fn cancel(&self) -> Box<dyn Cancel>;

    /// The server's own number of this session (PostgreSQL: its process; MySQL: the connection). None where there is none.
    fn number(&self) -> Option<u64> {
        None
    }
}

/// Ends a session's statement from another thread.
pub trait Cancel: Send + Sync {
    /// Asks for it. That it came too late is no failure.
    fn cancel(&self);
}

/// What a session is doing at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Activity {
    /// It works on a processor, or waits for one.
    Processor,
    /// It waits for blocks of data to be read.
    Read,
    /// It waits for blocks of data to be written.
    Write,
    /// It waits for the log to be written or flushed: a commit.
    Commit,
    /// It waits for a lock that another transaction holds.
    Lock,
    /// It waits for something inside the server: latches, buffers that others are reading.
    Internal,
    /// It waits for the client to ask.
    Client,
    /// It waits for something else.
    Other,
}

/// A connection of its own that looks on.
pub trait Observer: Send {
    /// All counters since the server started, or since whatever: only differences count. What is not known is none.
    fn counters(&mut self) -> Result<DatabaseCounters, Failure>;

    /// What those of these sessions are doing now that are connected; empty where the server does not say.
    fn activity(&mut self, sessions: &[u64]) -> Result<Vec<Activity>, Failure>;

    /// Time that sessions spent inside the database in each way, of all that there were, since whatever: only differences
    /// count. A call that has not returned yet is not in it. None where the database does not keep such accounts, so that it
    /// has to be looked at with [`Observer::activity`].
    fn spent(&mut self) -> Option<Vec<(Activity, Span)>> {
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
    /// Which system it is.
    fn system(&self) -> System;

    /// What it is: version, settings that matter for storage, where its data are as far as that is known.
    fn about(&self) -> &DatabaseAbout;

    /// A new session.
    fn session(&self) -> Result<Box<dyn Session>, Failure>;

    /// A new observer.
    fn observer(&self) -> Result<Box<dyn Observer>, Failure>;

    /// Names of the tables and the like that are in it, without the system's own.
    fn contents(&self) -> Result<Vec<String>, Failure>;

    /// Drops all of that. ITS DATA ARE LOST.
    fn destroy_contents(&self) -> Result<(), Failure>;

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
