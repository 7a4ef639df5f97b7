//! Contents of a database: listing, dropping, and flushing to disk.

use std::thread::sleep;
use std::time::{Duration, Instant};

use mysql::Conn;
use mysql::prelude::Queryable;

use plimsoll_units::Bytes;

use super::failures::convert_error;
use super::place::MySqlLocation;
use super::session::query_rows;
use crate::failure::{Failure, FailureKind};

/// Timeout for writing dirty pages.
const CHECKPOINT_TIMEOUT: Duration = Duration::from_secs(600);

/// Threshold of dirty pages: some pages are modified continuously in the background.
const FEW_PAGES: i64 = 16;

/// Table, view, sequence, routine or event.
pub(super) struct DatabaseObject {
    /// Keyword after `DROP`.
    kind: String,
    name: String,
}

impl DatabaseObject {
    /// Kind and name, such as `table orders`. The kind is necessary: routines and events may have the name of a table.
    pub(super) fn listed(&self) -> String {
        format!("{} {}", self.kind.to_lowercase(), self.name)
    }
}

/// All objects of the database. Triggers belong to tables.
pub(super) fn find(conn: &mut Conn, place: &MySqlLocation) -> Result<Vec<DatabaseObject>, Failure> {
    place.database()?;
    let found = query_rows(
        conn,
        "SELECT CASE table_type WHEN 'VIEW' THEN 'VIEW' WHEN 'SEQUENCE' THEN 'SEQUENCE' ELSE 'TABLE' END, table_name \
         FROM information_schema.tables WHERE table_schema = DATABASE() \
         UNION ALL SELECT routine_type, routine_name FROM information_schema.routines \
         WHERE routine_schema = DATABASE() AND routine_type <> 'PACKAGE BODY' \
         UNION ALL SELECT 'EVENT', event_name FROM information_schema.events WHERE event_schema = DATABASE()",
    )?;
    let object = |row: Vec<crate::Value>| match &row[..] {
        [kind, name] => Some(DatabaseObject { kind: kind.text()?.into(), name: name.text()?.into() }),
        _ => None,
    };
    Ok(found.into_iter().filter_map(object).collect())
}

/// Size of tables and indexes in bytes.
pub(super) fn query_size(conn: &mut Conn) -> Result<Bytes, Failure> {
    let found = query_rows(
        conn,
        "SELECT CAST(COALESCE(SUM(data_length + index_length), 0) AS SIGNED) FROM information_schema.tables \
         WHERE table_schema = DATABASE()",
    )?;
    let size = found.first().and_then(|row| row.first()?.int()).unwrap_or_default();
    Ok(Bytes::new(size.unsigned_abs()))
}

/// Drops all objects of the database, or those with these names that no other table references.
pub(super) fn destroy(conn: &mut Conn, place: &MySqlLocation, only: Option<&[String]>) -> Result<(), Failure> {
    let found = find(conn, place)?;
    let mut drop_all = |sql: String| conn.query_drop(sql).map_err(|error| convert_error(&error));
    if only.is_none() {
        drop_all("SET SESSION foreign_key_checks = 0".into())?;
    }
    let order = |object: &DatabaseObject| only.is_none_or(|only| only.contains(&object.listed()));
    for object in found.into_iter().filter(order) {
        drop_all(format!("DROP {} IF EXISTS `{}`", object.kind, object.name.replace('`', "``")))?;
    }
    Ok(())
}

/// Writes dirty pages to disk. No effect if the user lacks the privilege.
pub(super) fn flush(conn: &mut Conn) -> Result<(), Failure> {
    // Blocks until done in MariaDB. MySQL has the setting only in debug builds.
    match conn.query_drop("SET GLOBAL innodb_log_checkpoint_now = ON").map_err(|error| convert_error(&error)) {
        Ok(()) => return Ok(()),
        Err(error) if error.kind == FailureKind::Lost => return Err(error),
        Err(_) => {}
    }
    let before =
        query_rows(conn, "SELECT @@GLOBAL.innodb_max_dirty_pages_pct_lwm, @@GLOBAL.innodb_max_dirty_pages_pct")?;
    let [low, high] = &before.first().map(Vec::as_slice).unwrap_or_default() else { return Ok(()) };
    let (Some(low), Some(high)) = (low.float(), high.float()) else { return Ok(()) };
    let set = |low: f64, high: f64| {
        format!("SET GLOBAL innodb_max_dirty_pages_pct_lwm = {low}, GLOBAL innodb_max_dirty_pages_pct = {high}")
    };
    match conn.query_drop(set(0.0, 0.0)).map_err(|error| convert_error(&error)) {
        Ok(()) => {}
        Err(error) if error.kind == FailureKind::Refused => return Ok(()),
        Err(error) => return Err(error),
    }
    let waited = until_few(conn);
    conn.query_drop(set(low, high)).map_err(|error| convert_error(&error))?;
    waited
}

fn until_few(conn: &mut Conn) -> Result<(), Failure> {
    let until = Instant::now() + CHECKPOINT_TIMEOUT;
    while Instant::now() < until {
        let dirty = query_rows(conn, "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_dirty'")?;
        let dirty = dirty.first().and_then(|row| row.get(1)?.int()).unwrap_or_default();
        if dirty <= FEW_PAGES {
            return Ok(());
        }
        sleep(Duration::from_millis(50));
    }
    Ok(())
}
