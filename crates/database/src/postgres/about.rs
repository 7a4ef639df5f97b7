//! Version and storage settings of a PostgreSQL server.

use std::fs;
use std::path::{Path, PathBuf};

use plimsoll_language::say;
use plimsoll_record::DatabaseAbout;
use plimsoll_units::Bytes;

use super::session::PostgresSession;
use crate::failure::{Failure, FailureKind};
use crate::target::Session;
use crate::value::{Row, Value};

/// Settings recorded with a result, if the version has them.
const SETTINGS: &str = "shared_buffers,fsync,synchronous_commit,full_page_writes,wal_level,wal_sync_method,wal_buffers,\
                        wal_compression,max_wal_size,checkpoint_timeout,checkpoint_completion_target,autovacuum,\
                        effective_io_concurrency,io_method,max_connections,max_parallel_workers_per_gather,jit,\
                        huge_pages,track_io_timing,track_wal_io_timing,debug_io_direct,io_direct,data_checksums";

/// Oldest supported version, as `server_version_num`.
const OLDEST: i64 = 120_000;

/// Properties of a server, as far as visible.
pub(super) struct ServerFacts {
    pub(super) about: DatabaseAbout,
    /// `server_version_num`: 150013 is 15.13.
    pub(super) version: u64,
    /// PID of the postmaster, if it runs on this host.
    pub(super) postmaster: Option<u32>,
}

pub(super) fn query_server(talk: &mut PostgresSession) -> Result<ServerFacts, Failure> {
    let rows = talk.rows("SELECT current_setting('server_version_num')::int, current_setting('block_size')::bigint")?;
    let number = |row: Option<&Row>, column: usize| row?.get(column)?.int();
    let version = number(rows.first(), 0).unwrap_or_default();
    let displayed = talk.version().split(' ').next().unwrap_or_default().to_owned();
    if version < OLDEST {
        let line = say!("PostgreSQL {displayed} is too old: plimsoll reads the counters of 12 and later");
        return Err(Failure::new(FailureKind::TooOld, line));
    }
    let block = number(rows.first(), 1).unwrap_or(8192).unsigned_abs();
    let settings = read_settings(talk)?;
    let is = |name: &str| settings.iter().find(|(existing, _)| existing == name).map(|(_, value)| value.as_str());
    let direct = is("debug_io_direct").or(is("io_direct")).is_some_and(|kinds| kinds.contains("data"));
    let durable = is("fsync").zip(is("synchronous_commit")).map(|(flushed, commit)| flushed == "on" && commit != "off");
    let cache = talk.rows("SELECT setting::bigint FROM pg_settings WHERE name = 'shared_buffers'")?;
    let cache = number(cache.first(), 0).map(|blocks| Bytes::new(blocks.unsigned_abs() * block));
    let (folder, postmaster) = if talk.is_local() { here(talk)? } else { (None, None) };
    let about = DatabaseAbout {
        system: "PostgreSQL".into(),
        version: displayed,
        block: Bytes::new(block),
        cache,
        direct: Some(direct),
        memory: None,
        durable,
        folder: folder.map(|folder| folder.display().to_string()),
        created: false,
        settings,
    };
    Ok(ServerFacts { about, version: version.unsigned_abs(), postmaster })
}

fn read_settings(talk: &mut PostgresSession) -> Result<Vec<(String, String)>, Failure> {
    let rows = talk.rows(&format!(
        "SELECT s.name, current_setting(s.name) FROM unnest(string_to_array('{SETTINGS}', ',')) WITH ORDINALITY w (name, at) \
         JOIN pg_settings s ON s.name = w.name ORDER BY w.at"
    ))?;
    let pair = |row: &Row| Some((row.first()?.text()?.to_owned(), row.get(1)?.text()?.to_owned()));
    Ok(rows.iter().filter_map(pair).collect())
}

/// Data directory and postmaster PID, if the server runs on this host and this user may see them.
///
/// A local port may lead to a container or a tunnel with the same paths on the other side. Therefore the start time of
/// the server must match that in its PID file.
fn here(talk: &mut PostgresSession) -> Result<(Option<PathBuf>, Option<u32>), Failure> {
    // The setting is hidden from users without the privilege.
    let rows = talk.rows(
        "SELECT setting, extract(epoch FROM pg_postmaster_start_time())::float8 FROM pg_settings \
         WHERE name = 'data_directory'",
    )?;
    let Some([Value::Text(folder), Value::Float(began)]) = rows.first().map(Vec::as_slice) else {
        return Ok((None, None));
    };
    let folder = PathBuf::from(folder);
    let process = fs::read_to_string(folder.join("postmaster.pid")).ok().and_then(|text| find_process(&text, *began));
    // The directory is not readable for other users; its existence has to suffice.
    let readable = fs::read_dir(&folder).is_ok();
    let existing = if readable { process.is_some() } else { Path::new(&folder).exists() };
    Ok((existing.then_some(folder), process))
}

/// PID in a `postmaster.pid` of a server with this start time, in seconds since 1970.
fn find_process(text: &str, began: f64) -> Option<u32> {
    let lines: Vec<&str> = text.lines().collect();
    let written: f64 = lines.get(2)?.trim().parse().ok()?;
    // The file has whole seconds, taken at a slightly different moment.
    if (written - began).abs() < 5.0 { lines.first()?.trim().parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::find_process;

    #[test]
    fn process_must_match_start_time() {
        let file = "4711\n/data\n1700000000\n5432\n/tmp\n\n  1 2\nready\n";
        assert_eq!(find_process(file, 1_700_000_000.7), Some(4711));
        assert_eq!(find_process(file, 1_700_000_100.0), None);
        assert_eq!(find_process("", 0.0), None);
    }
}
