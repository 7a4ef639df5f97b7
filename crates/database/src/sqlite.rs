//! SQLite: a database in a single file, inside this process.
//!
//! There is no server: SQLite works on the threads of its callers, so that client and database share processor time.
//! Each session has a cache, which SQLite invalidates when another session has committed; below is the host's page
//! cache, because SQLite never opens files with direct I/O. A single session writes at a time: other sessions of this
//! process queue for it, sessions of other processes poll.
//!
//! Settings of an existing file: the journal mode stays, and commits are durable (`synchronous=FULL`). An empty file
//! gets a write-ahead log and pages of 8 KiB, like a created file.

mod failure;
mod gate;
mod ledger;
mod made;
mod observer;
mod session;
mod stopwatch;

use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_record::DatabaseAbout;
use plimsoll_units::Bytes;
use rusqlite::{Connection, OpenFlags};

pub(crate) use self::made::make;
use self::observer::SqliteObserver;
use self::session::{SessionOptions, SessionsState, SqliteSession};
use plimsoll_language::{label, say};

use crate::address::DatabaseAddress;
use crate::failure::{Failure, FailureKind};
use crate::system::System;
use crate::target::{Database, Observer, Session};

/// Page size of initialised files: the block size of PostgreSQL and Oracle, for comparable systems.
const PAGE: u64 = 8192;
/// Log pages that trigger a checkpoint: SQLite's default.
const CHECKPOINT_PAGES: u64 = 1000;
/// Default lock timeout: that of InnoDB.
const BUSY_TIMEOUT: Duration = Duration::from_secs(50);
/// SQLite's default cache size per session.
const CACHE: Bytes = Bytes::kib(2000);

/// Configuration of sessions.
#[derive(Clone, Debug)]
struct Setup {
    file: PathBuf,
    /// Cache per session, in bytes.
    cache: Bytes,
    pragmas: Vec<(String, String)>,
    session_options: SessionOptions,
}

/// A database in a file.
struct Sqlite {
    setup: Setup,
    about: DatabaseAbout,
    shared: SessionsState,
}

/// Opens an existing file, which may be empty.
pub(crate) fn connect(address: &DatabaseAddress) -> Result<Box<dyn Database>, Failure> {
    let file = address.file.clone().unwrap_or_default();
    if !file.exists() {
        let advice = label!("no such file: create an empty file with `touch`");
        return Err(Failure::new(FailureKind::Missing, format!("{}: {advice}", file.display())));
    }
    let setup = Setup::new(file, CACHE, vec![("synchronous".into(), "FULL".into())])?;
    Ok(Box::new(Sqlite::open(setup)?))
}

impl Setup {
    /// Sets pragmas in order. Settings that use this program's hooks are stored separately.
    fn new(file: PathBuf, cache: Bytes, pragmas: Vec<(String, String)>) -> Result<Self, Failure> {
        // Filesystems without a block device have major number 0.
        let on_device = std::fs::metadata(&file).is_ok_and(|file| rustix::fs::major(file.dev()) != 0);
        let mut session_options =
            SessionOptions { busy_timeout: BUSY_TIMEOUT, checkpoint_pages: CHECKPOINT_PAGES, on_device };
        let mut retained = Vec::new();
        for (name, value) in pragmas {
            let number = || {
                let wrong =
                    || Failure::new(FailureKind::Statement, say!("{name}={value}: write a whole number, 0 or more"));
                value.trim().parse::<u64>().map_err(|_| wrong())
            };
            match name.as_str() {
                "busy_timeout" => session_options.busy_timeout = Duration::from_millis(number()?),
                "wal_autocheckpoint" => session_options.checkpoint_pages = number()?,
                _ if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') => {
                    return Err(Failure::new(
                        FailureKind::Statement,
                        say!("{name}: not the name of a pragma of SQLite's"),
                    ));
                }
                _ => retained.push((name, value)),
            }
        }
        Ok(Self { file, cache, pragmas: retained, session_options })
    }

    /// Last value of a pragma.
    fn pragma(&self, name: &str) -> Option<&str> {
        self.pragmas.iter().rev().find_map(|(key, value)| (key == name).then_some(value.as_str()))
    }

    /// Opens a configured connection.
    fn connection(&self) -> Result<Connection, Failure> {
        let attempt = || {
            let connection = Connection::open_with_flags(
                &self.file,
                OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
            )?;
            connection.busy_timeout(self.session_options.busy_timeout)?;
            if read_pragma(&connection, "page_count")? == 0 {
                // The page size is fixed once there is a log.
                let size = self.pragma("page_size").map_or_else(|| PAGE.to_string(), String::from);
                connection.execute_batch(&format!("PRAGMA page_size={size}; PRAGMA journal_mode=WAL"))?;
            }
            connection.execute_batch(&format!("PRAGMA cache_size=-{}; PRAGMA mmap_size=0", self.cache.get() / 1024))?;
            for (name, value) in &self.pragmas {
                connection.execute_batch(&format!("PRAGMA {name}={value}"))?;
            }
            Ok(connection)
        };
        attempt().map_err(|error| failure::of_opening(&error, &self.file))
    }

    fn about(&self, connection: &Connection) -> rusqlite::Result<DatabaseAbout> {
        let journal = text(connection, "journal_mode")?;
        let synchronous = read_pragma(connection, "synchronous")?;
        let words = ["off", "normal", "full", "extra"];
        // With a write-ahead log, `normal` flushes only at checkpoints; with other journals at each commit.
        let durable = synchronous >= 2 || (synchronous == 1 && journal != "wal");
        let settings = [
            ("journal_mode", journal),
            ("synchronous", words.get(synchronous as usize).copied().unwrap_or("unknown").into()),
            ("cache_size", format!("{} for each session", self.cache)),
            ("wal_autocheckpoint", format!("{} pages", self.session_options.checkpoint_pages)),
            ("busy_timeout", format!("{} ms", self.session_options.busy_timeout.as_millis())),
            ("mmap_size", read_pragma(connection, "mmap_size")?.to_string()),
            ("processor time", "the client's: there is no server".into()),
        ];
        let is_other =
            |name: &String| !["journal_mode", "synchronous", "cache_size", "mmap_size"].contains(&name.as_str());
        let others = self.pragmas.iter().filter(|(name, _)| is_other(name)).cloned();
        Ok(DatabaseAbout {
            system: System::Sqlite.name().into(),
            version: rusqlite::version().into(),
            block: Bytes::new(read_pragma(connection, "page_size")?),
            cache: Some(self.cache),
            direct: Some(false),
            memory: None,
            durable: Some(durable),
            folder: folder(&self.file),
            created: false,
            settings: settings.into_iter().map(|(name, value)| (name.into(), value)).chain(others).collect(),
        })
    }
}

impl Sqlite {
    /// Opens the file, and initialises it if empty.
    fn open(setup: Setup) -> Result<Self, Failure> {
        let connection = setup.connection()?;
        let about = setup.about(&connection).map_err(|error| failure::of_opening(&error, &setup.file))?;
        Ok(Self { setup, about, shared: SessionsState::default() })
    }
}

impl Database for Sqlite {
    fn system(&self) -> System {
        System::Sqlite
    }

    fn about(&self) -> &DatabaseAbout {
        &self.about
    }

    fn session(&self) -> Result<Box<dyn Session>, Failure> {
        let session = SqliteSession::new(self.setup.connection()?, self.shared.clone(), self.setup.session_options);
        Ok(Box::new(session.map_err(|error| failure::of_opening(&error, &self.setup.file))?))
    }

    fn observer(&self) -> Result<Box<dyn Observer>, Failure> {
        Ok(Box::new(SqliteObserver::new(&self.about, Arc::clone(&self.shared.ledger))))
    }

    fn contents(&self) -> Result<Vec<String>, Failure> {
        Ok(objects(&self.setup)?.iter().map(listed).collect())
    }

    /// Pages of dropped tables stay in the file for reuse.
    fn size(&self) -> Result<Bytes, Failure> {
        let connection = self.setup.connection()?;
        let read = || Ok(read_pragma(&connection, "page_count")? * read_pragma(&connection, "page_size")?);
        read().map(Bytes::new).map_err(|error| failure::of_statement(&error, "PRAGMA page_count"))
    }

    fn drop_contents(&self, only: Option<&[String]>) -> Result<(), Failure> {
        let mut session = self.session()?;
        // Before the transaction: inside, the pragma has no effect. Disabled, because other tables may refer to a table
        // that is dropped first.
        session.run("PRAGMA foreign_keys=OFF")?;
        session.begin()?;
        let order = |object: &(String, String)| only.is_none_or(|only| only.contains(&listed(object)));
        for (kind, name) in objects(&self.setup)?.into_iter().filter(order) {
            session.run(&format!("DROP {kind} IF EXISTS {}", quoted(&name)))?;
        }
        session.commit()
    }

    /// Checkpoints and truncates the log.
    fn checkpoint(&self) -> Result<(), Failure> {
        let rows = self.session()?.rows("PRAGMA wal_checkpoint(TRUNCATE)")?;
        let busy = rows.first().and_then(|row| row.first()?.int());
        if busy == Some(1) {
            let advice =
                label!("the log could not be copied to the file while others read or write it: end them first");
            return Err(Failure::new(FailureKind::Conflict, format!("{}: {advice}", self.setup.file.display())));
        }
        Ok(())
    }
}

/// Views and tables of the user, as `(kind, name)`. Indexes and triggers belong to tables.
fn objects(setup: &Setup) -> Result<Vec<(String, String)>, Failure> {
    const SQL: &str = "SELECT type, name FROM sqlite_schema WHERE type IN ('view', 'table') \
        AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type DESC, name";
    let connection = setup.connection()?;
    let attempt = || {
        let mut statement = connection.prepare(SQL)?;
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<Vec<_>, _>>()
    };
    attempt().map_err(|error| failure::of_statement(&error, SQL))
}

fn listed((kind, name): &(String, String)) -> String {
    format!("{kind} {name}")
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn read_pragma(connection: &Connection, pragma: &str) -> rusqlite::Result<u64> {
    let read = connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    match read {
        // Builds without a feature return no row for its pragma.
        Err(rusqlite::Error::QueryReturnedNoRows) => Ok(0),
        other => other.map(|value| u64::try_from(value).unwrap_or_default()),
    }
}

fn text(connection: &Connection, pragma: &str) -> rusqlite::Result<String> {
    connection.pragma_query_value(None, pragma, |row| row.get(0))
}

/// Absolute path of the directory of a file.
fn folder(file: &std::path::Path) -> Option<String> {
    let absolute = file.canonicalize().ok()?;
    Some(absolute.parent()?.display().to_string())
}
