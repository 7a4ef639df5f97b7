//! An Oracle service as a database.
//!
//! Not run against a server: see the README.

use std::path::Path;
use std::time::Duration;

use oracledb::Config;
use plimsoll_database::{Database, DatabaseAddress, Failure, FailureKind, Observer, Row, Session, System};
use plimsoll_record::DatabaseAbout;
use plimsoll_units::Bytes;

use super::observer::OracleObserver;
use super::place::OracleLocation;
use super::session::{self, OracleSession};

/// Oldest supported version.
const OLDEST: usize = 12;
/// Size of the cursor cache of a session.
const CURSORS: usize = 200;
/// Timeout of the first reply.
const CONNECT_WITHIN: Duration = Duration::from_secs(20);
/// Default block size in bytes.
const BLOCK: u64 = 8192;

/// Storage settings.
const SETTINGS: [&str; 9] = [
    "commit_logging",
    "commit_wait",
    "db_block_checksum",
    "db_cache_size",
    "disk_asynch_io",
    "filesystemio_options",
    "log_buffer",
    "memory_target",
    "sga_target",
];

/// The driver of `oracle://` addresses.
pub(super) fn connect(address: &DatabaseAddress) -> Result<Box<dyn Database>, Failure> {
    Ok(Box::new(Oracle::connect(address)?))
}

/// A service.
struct Oracle {
    config: Config,
    /// The user, whose schema is the database.
    schema: String,
    about: DatabaseAbout,
}

impl Oracle {
    /// Connects once to query version and settings.
    fn connect(address: &DatabaseAddress) -> Result<Self, Failure> {
        let place = OracleLocation::of(address)?;
        let failed = |error: &oracledb::Error| {
            let kind = match session::kind(error) {
                // The first connection cannot be lost.
                FailureKind::Lost | FailureKind::Statement => FailureKind::Unreachable,
                other => other,
            };
            Failure::new(kind, format!("{address}: Oracle: {}", error.to_string().replace('\n', " ")))
        };
        let config = Config::default()
            .set_credentials(&place.user, &place.password)
            .set_stmtcachesize(CURSORS)
            .set_transport_connect_timeout(Some(CONNECT_WITHIN))
            .set_connect_string(&place.service)
            .map_err(|error| failed(&error))?;
        let mut session = OracleSession::connect(&config).map_err(|error| failed(&error))?;
        let version = session.version().map_err(|error| failed(&error))?;
        if version.0 < OLDEST {
            let advice = "plimsoll needs Oracle 12 or later";
            return Err(Failure::new(FailureKind::TooOld, format!("{address}: it is version {version}: {advice}")));
        }
        let about = database_about(&mut session, version.to_string(), &place)?;
        Ok(Self { config, schema: place.user, about })
    }

    fn open(&self) -> Result<OracleSession, Failure> {
        OracleSession::connect(&self.config).map_err(|error| session::failure(&error, "a new session"))
    }

    /// Objects owned by the user, as `(kind, name)`.
    fn objects(&self) -> Result<Vec<(String, String)>, Failure> {
        // Indexes, triggers and bodies belong to other objects. Dropped objects in the recycle bin are not listed.
        let rows = self.open()?.rows(
            "SELECT object_type, object_name FROM user_objects WHERE object_type IN ('MATERIALIZED VIEW', 'VIEW', 'TABLE', \
             'SEQUENCE', 'PROCEDURE', 'FUNCTION', 'PACKAGE', 'SYNONYM', 'TYPE') AND generated = 'N' \
             AND object_name NOT LIKE 'BIN$%' ORDER BY DECODE(object_type, 'MATERIALIZED VIEW', 0, 'VIEW', 1, 'TABLE', 2, \
             'TYPE', 4, 3), object_name",
        )?;
        Ok(rows.iter().filter_map(pair).collect())
    }
}

impl Database for Oracle {
    fn system(&self) -> System {
        System::Oracle
    }

    fn name(&self) -> Option<&str> {
        Some(&self.schema)
    }

    fn about(&self) -> &DatabaseAbout {
        &self.about
    }

    fn session(&self) -> Result<Box<dyn Session>, Failure> {
        Ok(Box::new(self.open()?))
    }

    fn observer(&self) -> Result<Box<dyn Observer>, Failure> {
        Ok(Box::new(OracleObserver::new(self.open()?)))
    }

    fn contents(&self) -> Result<Vec<String>, Failure> {
        Ok(self.objects()?.iter().map(listed).collect())
    }

    fn size(&self) -> Result<Bytes, Failure> {
        let rows = self.open()?.rows("SELECT NVL(SUM(bytes), 0) FROM user_segments")?;
        Ok(Bytes::new(number(rows).unwrap_or_default()))
    }

    fn drop_contents(&self, only: Option<&[String]>) -> Result<(), Failure> {
        let mut session = self.open()?;
        let required = |object: &(String, String)| only.is_none_or(|only| only.contains(&listed(object)));
        for (kind, name) in self.objects()?.into_iter().filter(required) {
            let rest = match (kind.as_str(), only) {
                ("TABLE", None) => " CASCADE CONSTRAINTS PURGE",
                ("TABLE", Some(_)) => " PURGE",
                ("TYPE", None) => " FORCE",
                _ => "",
            };
            match session.run(&format!("DROP {kind} \"{name}\"{rest}")) {
                // The table of a materialized view is dropped with it.
                Err(failure) if failure.kind == FailureKind::Missing => {}
                outcome => drop(outcome?),
            }
        }
        Ok(())
    }

    /// Requires the privilege `ALTER SYSTEM`. No effect without it, because most users of a schema lack it.
    fn checkpoint(&self) -> Result<(), Failure> {
        match self.open()?.run("ALTER SYSTEM CHECKPOINT") {
            Err(failure) if failure.kind == FailureKind::Refused => Ok(()),
            outcome => outcome.map(drop),
        }
    }
}

/// Kind and name of an object, such as `table ORDERS`.
fn listed((kind, name): &(String, String)) -> String {
    format!("{} {name}", kind.to_lowercase())
}

/// Version and settings of the server, as far as visible to this user.
fn database_about(
    session: &mut OracleSession,
    version: String,
    place: &OracleLocation,
) -> Result<DatabaseAbout, Failure> {
    let names = SETTINGS.map(|name| format!("'{name}'")).join(", ");
    let settings = format!("SELECT name, value FROM v$parameter WHERE name IN ({names}) ORDER BY name");
    let settings: Vec<(String, String)> = visible(session, &settings)?.iter().filter_map(pair).collect();
    let setting =
        |name: &str| settings.iter().find_map(|(existing, value)| (existing == name).then_some(value.as_str()));
    let block = number(visible(session, "SELECT MAX(block_size) FROM user_tablespaces")?);
    let cache = number(visible(session, "SELECT bytes FROM v$sgainfo WHERE name = 'Buffer Cache Size'")?);
    let files = visible(session, "SELECT MIN(file_name), 1 FROM dba_data_files")?;
    let file = files.first().and_then(|row| row.first()?.text()).unwrap_or_default();
    Ok(DatabaseAbout {
        system: System::Oracle.name().into(),
        version,
        block: Bytes::new(block.unwrap_or(BLOCK)),
        cache: cache.map(Bytes::new),
        // Files of ASM, whose names begin with +, bypass the page cache.
        direct: setting("filesystemio_options").map(|value| {
            file.starts_with('+') || ["SETALL", "DIRECTIO"].contains(&value.to_ascii_uppercase().as_str())
        }),
        memory: None,
        durable: setting("commit_wait").map(|value| !value.eq_ignore_ascii_case("NOWAIT")),
        folder: folder(file, place),
        created: false,
        settings,
    })
}

/// Rows of a view; empty without the privilege.
pub(super) fn visible(session: &mut OracleSession, sql: &str) -> Result<Vec<Row>, Failure> {
    match session.rows(sql) {
        Err(failure) if [FailureKind::Missing, FailureKind::Refused].contains(&failure.kind) => Ok(Vec::new()),
        outcome => outcome,
    }
}

fn number(rows: Vec<Row>) -> Option<u64> {
    u64::try_from(rows.into_iter().next()?.first()?.int()?).ok()
}

fn pair(row: &Row) -> Option<(String, String)> {
    let [first, second] = row.as_slice() else { return None };
    // An unset parameter is NULL, which Oracle does not distinguish from empty text.
    Some((first.text()?.into(), second.text().unwrap_or_default().into()))
}

/// Directory of a data file, if the server runs on this machine.
fn folder(file: &str, place: &OracleLocation) -> Option<String> {
    let path = Path::new(file);
    (place.is_here() && path.is_absolute() && path.exists()).then(|| Some(path.parent()?.display().to_string()))?
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn silent_or_foreign_server_is_unreachable() {
        let refused = |url: &str| connect(&url.parse().unwrap()).err().unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let url = format!("oracle://me:secret@127.0.0.1:{port}/orcl");
        let other = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        });
        let failure = refused(&url);
        other.join().unwrap();
        // The listener is closed with its thread.
        for failure in [failure, refused(&url)] {
            assert_eq!(failure.kind, FailureKind::Unreachable, "{failure}");
            assert!(!failure.message.contains("secret") && !failure.message.contains('\n'), "{failure}");
        }
        assert_eq!(refused("oracle://nobody").kind, FailureKind::Unreachable);
    }
}
