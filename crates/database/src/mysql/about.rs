//! Version and storage settings of a server.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use mysql::Conn;
use plimsoll_language::say;
use plimsoll_record::DatabaseAbout;
use plimsoll_units::Bytes;

use super::session::query_rows;
use crate::failure::{Failure, FailureKind};

/// Storage settings, in display order. Not every server has all of them.
const SHOWN: [&str; 26] = [
    "innodb_page_size",
    "innodb_buffer_pool_size",
    "innodb_flush_method",
    "innodb_data_file_buffering",
    "innodb_data_file_write_through",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_log_at_timeout",
    "innodb_log_file_buffering",
    "innodb_log_write_through",
    "sync_binlog",
    "log_bin",
    "innodb_doublewrite",
    "innodb_log_file_size",
    "innodb_redo_log_capacity",
    "innodb_io_capacity",
    "innodb_io_capacity_max",
    "innodb_flush_neighbors",
    "innodb_lru_scan_depth",
    "innodb_lru_flush_size",
    "innodb_max_dirty_pages_pct",
    "innodb_read_ahead_threshold",
    "innodb_random_read_ahead",
    "innodb_adaptive_hash_index",
    "innodb_change_buffering",
    "innodb_use_native_aio",
    "performance_schema",
];

const FURTHER_VARIABLES: [&str; 5] = ["version", "version_comment", "datadir", "pid_file", "hostname"];

/// Oldest supported versions: earlier ones lack queried variables or views.
const OLDEST_MYSQL: (u32, u32) = (5, 7);
const OLDEST_MARIADB: (u32, u32) = (10, 3);

/// Variables of the server by name.
pub(super) type Variables = BTreeMap<String, String>;

/// The bit of `open` for direct I/O in the octal flags of `/proc/PID/fdinfo`.
const DIRECT: u32 = if cfg!(any(target_arch = "aarch64", target_arch = "arm")) { 0o200_000 } else { 0o40_000 };

pub(super) fn variables(conn: &mut Conn) -> Result<Variables, Failure> {
    let names: Vec<String> = SHOWN.iter().chain(&FURTHER_VARIABLES).map(|name| format!("'{name}'")).collect();
    let found = query_rows(conn, &format!("SHOW GLOBAL VARIABLES WHERE Variable_name IN ({})", names.join(",")))?;
    let pair = |row: Vec<crate::Value>| match &row[..] {
        [name, value] => Some((name.text()?.to_lowercase(), value.text()?.to_owned())),
        _ => None,
    };
    Ok(found.into_iter().filter_map(pair).collect())
}

/// Refuses servers that are too old.
pub(super) fn check_age(variables: &Variables) -> Result<(), Failure> {
    let version = value(variables, "version");
    let mut numbers = version.split(['.', '-']).map_while(|number| number.parse().ok());
    let is = (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
    let (name, oldest) = if is_mariadb(variables) { ("MariaDB", OLDEST_MARIADB) } else { ("MySQL", OLDEST_MYSQL) };
    if is >= oldest {
        return Ok(());
    }
    let needed = format!("{name} {}.{}", oldest.0, oldest.1);
    Err(Failure::new(FailureKind::TooOld, say!("the server is {name} {version}: use {needed} or later")))
}

/// Describes the server. `process` is its PID if it runs on this host.
pub(super) fn about(variables: &Variables, process: Option<u32>) -> DatabaseAbout {
    let bytes = |name| value(variables, name).parse().ok().map(Bytes::new);
    let folder = process.map(|_| value(variables, "datadir").trim_end_matches('/').to_owned());
    let observed =
        process.zip(folder.as_deref()).and_then(|(process, folder)| opened_direct(process, Path::new(folder)));
    let settings = SHOWN.iter().filter_map(|name| Some(((*name).to_owned(), variables.get(*name)?.clone())));
    DatabaseAbout {
        system: if is_mariadb(variables) { "MariaDB" } else { "MySQL" }.into(),
        version: value(variables, "version").into(),
        block: bytes("innodb_page_size").unwrap_or_default(),
        cache: bytes("innodb_buffer_pool_size"),
        direct: observed.or_else(|| asks_direct(variables)),
        memory: None,
        durable: durable(variables),
        folder,
        created: false,
        settings: settings.collect(),
    }
}

/// PID of the server if it runs on this host, by its PID file and host name.
pub(super) fn process(variables: &Variables) -> Option<u32> {
    let here = fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    if here.trim() != value(variables, "hostname") {
        return None;
    }
    let pid_file = Path::new(value(variables, "datadir")).join(value(variables, "pid_file"));
    let pid: u32 = fs::read_to_string(pid_file).ok()?.trim().parse().ok()?;
    let program = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    matches!(program.trim(), "mariadbd" | "mysqld").then_some(pid)
}

fn value<'a>(variables: &'a Variables, name: &str) -> &'a str {
    variables.get(name).map_or("", String::as_str)
}

fn is_mariadb(variables: &Variables) -> bool {
    let says = |name| value(variables, name).to_lowercase().contains("mariadb");
    says("version") || says("version_comment")
}

/// Whether commits are flushed before they are acknowledged.
fn durable(variables: &Variables) -> Option<bool> {
    let commits = variables.get("innodb_flush_log_at_trx_commit")?;
    let method = value(variables, "innodb_flush_method");
    let log = value(variables, "log_bin") != "ON" || value(variables, "sync_binlog") == "1";
    Some(matches!(commits.as_str(), "1" | "3") && log && !method.eq_ignore_ascii_case("nosync"))
}

/// Whether the settings request direct I/O, which the filesystem may refuse.
fn asks_direct(variables: &Variables) -> Option<bool> {
    // MariaDB 11 has a setting per kind of file, and ignores the old setting at run time.
    let buffering = variables.get("innodb_data_file_buffering").map(|buffering| buffering == "OFF");
    buffering.or_else(|| variables.get("innodb_flush_method").map(|method| method.contains("O_DIRECT")))
}

/// Whether the server has its first data file open with `O_DIRECT`; `None` without permission.
fn opened_direct(process: u32, folder: &Path) -> Option<bool> {
    let file = folder.join("ibdata1");
    let opened = fs::read_dir(format!("/proc/{process}/fd")).ok()?.flatten();
    let number = opened.filter(|entry| fs::read_link(entry.path()).is_ok_and(|path| path == file)).last()?.file_name();
    let text = fs::read_to_string(format!("/proc/{process}/fdinfo/{}", number.to_str()?)).ok()?;
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"))?;
    Some(u32::from_str_radix(flags.trim(), 8).ok()? & DIRECT != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(pairs: &[(&str, &str)]) -> Variables {
        pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
    }

    #[test]
    fn old_servers_are_refused() {
        let check = |version, fits| {
            let found = check_age(&variables(&[("version", version)]));
            assert_eq!(found.is_ok(), fits, "{version}");
            assert!(found.is_ok() || found.unwrap_err().kind == FailureKind::TooOld);
        };
        check("10.11.19-MariaDB-0+deb12u1", true);
        check("10.3.39-MariaDB", true);
        check("10.2.44-MariaDB", false);
        check("5.7.44-log", true);
        check("8.4.0", true);
        check("5.6.51", false);
        check("", false);
    }

    #[test]
    fn durability_and_direct_io_follow_from_settings() {
        let safe = [("innodb_flush_log_at_trx_commit", "1"), ("log_bin", "OFF"), ("sync_binlog", "0")];
        assert_eq!(durable(&variables(&safe)), Some(true));
        assert_eq!(durable(&variables(&[safe[0], ("log_bin", "ON"), safe[2]])), Some(false));
        assert_eq!(durable(&variables(&[safe[0], ("innodb_flush_method", "nosync")])), Some(false));
        assert_eq!(durable(&variables(&[("innodb_flush_log_at_trx_commit", "2")])), Some(false));
        assert_eq!(durable(&variables(&[])), None);
        assert_eq!(asks_direct(&variables(&[("innodb_flush_method", "O_DIRECT_NO_FSYNC")])), Some(true));
        assert_eq!(asks_direct(&variables(&[("innodb_flush_method", "fsync")])), Some(false));
        let newer = [("innodb_flush_method", "fsync"), ("innodb_data_file_buffering", "OFF")];
        assert_eq!(asks_direct(&variables(&newer)), Some(true));
    }
}
