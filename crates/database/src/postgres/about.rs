//! What a PostgreSQL server is: its version, and the settings that matter for its storage.

use std::fs;
use std::path::{Path, PathBuf};

use plimsoll_record::DatabaseAbout;
use plimsoll_units::Bytes;

use super::session::PostgresSession;
use crate::failure::{Failure, Kind};
use crate::target::Session;
use crate::value::{Row, Value};

/// Those that are kept with a result, where the version has them.
const SETTINGS: &str = "shared_buffers,fsync,synchronous_commit,full_page_writes,wal_level,wal_sync_method,wal_buffers,\
                        wal_compression,max_wal_size,checkpoint_timeout,checkpoint_completion_target,autovacuum,\
                        effective_io_concurrency,io_method,max_connections,max_parallel_workers_per_gather,jit,\
                        huge_pages,track_io_timing,track_wal_io_timing,debug_io_direct,io_direct,data_checksums";

/// The oldest version whose views are known, as PostgreSQL counts.
const OLDEST: i64 = 120_000;

/// A server, as far as it lets itself be known.
pub(super) struct Server {
    pub(super) about: DatabaseAbout,
    /// Its version as one number: 150013 is 15.13.
    pub(super) version: u64,
    /// Its first process, where that is on this host.
    pub(super) postmaster: Option<u32>,
}

/// Looks at the server of a session.
pub(super) fn look(talk: &mut PostgresSession) -> Result<Server, Failure> {
    let rows = talk.rows("SELECT current_setting('server_version_num')::int, current_setting('block_size')::bigint")?;
    let number = |row: Option<&Row>, column: usize| row?.get(column)?.int();
    let version = number(rows.first(), 0).unwrap_or_default();
    let shown = talk.version().split(' ').next().unwrap_or_default().to_owned();
    if version < OLDEST {
        let line = format!("PostgreSQL {shown} is too old: plimsoll reads the counters of 12 and later");
        return Err(Failure::new(Kind::TooOld, line));
    }
    let block = number(rows.first(), 1).unwrap_or(8192).unsigned_abs();
    let settings = settings(talk)?;
    let is = |name: &str| settings.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    let direct = is("debug_io_direct").or(is("io_direct")).is_some_and(|kinds| kinds.contains("data"));
    let durable = is("fsync").zip(is("synchronous_commit")).map(|(flushed, commit)| flushed == "on" && commit != "off");
    let cache = talk.rows("SELECT setting::bigint FROM pg_settings WHERE name = 'shared_buffers'")?;
    let cache = number(cache.first(), 0).map(|blocks| Bytes::new(blocks.unsigned_abs() * block));
    let (folder, postmaster) = if talk.is_local() { here(talk)? } else { (None, None) };
    let about = DatabaseAbout {
        system: "PostgreSQL".into(),
        version: shown,
        block: Bytes::new(block),
        cache,
        direct: Some(direct),
        memory: None,
        durable,
        folder: folder.map(|folder| folder.display().to_string()),
        made: false,
        settings,
    };
    Ok(Server { about, version: version.unsigned_abs(), postmaster })
}

fn settings(talk: &mut PostgresSession) -> Result<Vec<(String, String)>, Failure> {
    let rows = talk.rows(&format!(
        "SELECT s.name, current_setting(s.name) FROM unnest(string_to_array('{SETTINGS}', ',')) WITH ORDINALITY w (name, at) \
         JOIN pg_settings s ON s.name = w.name ORDER BY w.at"
    ))?;
    let pair = |row: &Row| Some((row.first()?.text()?.to_owned(), row.get(1)?.text()?.to_owned()));
    Ok(rows.iter().filter_map(pair).collect())
}

/// The data directory and the first process, where they are on this host and this user may know.
///
/// A port of this host may be that of a container or a tunnel, with the same paths on the other side: only when the
/// server began when the file of its process says so is it the one.
fn here(talk: &mut PostgresSession) -> Result<(Option<PathBuf>, Option<u32>), Failure> {
    // To those who may not know it the setting is not there.
    let rows = talk.rows(
        "SELECT setting, extract(epoch FROM pg_postmaster_start_time())::float8 FROM pg_settings \
         WHERE name = 'data_directory'",
    )?;
    let Some([Value::Text(folder), Value::Float(began)]) = rows.first().map(Vec::as_slice) else {
        return Ok((None, None));
    };
    let folder = PathBuf::from(folder);
    let process = fs::read_to_string(folder.join("postmaster.pid")).ok().and_then(|text| process(&text, *began));
    // The directory is closed to other users; then its being there has to do.
    let readable = fs::read_dir(&folder).is_ok();
    let known = if readable { process.is_some() } else { Path::new(&folder).exists() };
    Ok((known.then_some(folder), process))
}

/// The process in a `postmaster.pid` of a server that began then, in seconds since 1970.
fn process(text: &str, began: f64) -> Option<u32> {
    let lines: Vec<&str> = text.lines().collect();
    let written: f64 = lines.get(2)?.trim().parse().ok()?;
    // The file has whole seconds, taken a moment before or after.
    if (written - began).abs() < 5.0 { lines.first()?.trim().parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::process;

    #[test]
    fn a_process_is_the_one_that_began_then() {
        let file = "4711\n/data\n1700000000\n5432\n/tmp\n\n  1 2\nready\n";
        assert_eq!(process(file, 1_700_000_000.7), Some(4711));
        assert_eq!(process(file, 1_700_000_100.0), None);
        assert_eq!(process("", 0.0), None);
    }
}
