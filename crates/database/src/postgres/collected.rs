//! Queries of `plimsoll collect postgres`: `psql` and a session produce the same file.
//!
//! Only statistics views are read, never texts of statements.

/// Query for the head: a single row with a JSON object. Its `num` (`server_version_num`) and `statements` (whether
/// `pg_stat_statements` exists) select the query of a snapshot, and are not written to files.
pub const HEAD: &str = "\
SELECT json_build_object(
  'version', current_setting('server_version'),
  'num', current_setting('server_version_num')::int,
  'statements', to_regclass('pg_stat_statements') IS NOT NULL,
  'block_bytes', current_setting('block_size')::int,
  'cache_bytes', (SELECT setting::bigint FROM pg_settings WHERE name = 'shared_buffers') * current_setting('block_size')::int,
  'server', coalesce(nullif(current_setting('cluster_name'), ''),
                     coalesce(host(inet_server_addr()), 'local') || ':' || current_setting('port')));";

/// Query of a snapshot for a server of this version (150013 is 15.13), with or without sums over statements: a single
/// row with a JSON object.
pub fn snapshot(version: u64, statements: bool) -> String {
    let rows = |view: &str, rows: &str| format!("'{view}', (SELECT json_agg(r) FROM ({rows}) r)");
    let mut views = vec![
        "'at', to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')".to_owned(),
        "'server', json_build_object('track_io_timing', current_setting('track_io_timing'), 'max_connections', \
         current_setting('max_connections')::int)"
            .to_owned(),
    ];
    let active = if version >= 140_000 { ", active_time" } else { "" };
    views.push(rows(
        "pg_stat_database",
        &format!(
            "SELECT datid, numbackends, xact_commit, blks_read, blk_read_time, blk_write_time, temp_bytes{active}, stats_reset \
             FROM pg_stat_database"
        ),
    ));
    views.push(rows("pg_stat_bgwriter", "SELECT * FROM pg_stat_bgwriter"));
    if version >= 170_000 {
        views.push(rows("pg_stat_checkpointer", "SELECT * FROM pg_stat_checkpointer"));
    }
    if version >= 160_000 {
        // Client backends are included before their first I/O, so that the first snapshot has the view.
        let worked = "coalesce(reads, 0) + coalesce(writes, 0) + coalesce(extends, 0) + coalesce(fsyncs, 0) > 0";
        let where_ = format!("SELECT * FROM pg_stat_io WHERE backend_type = 'client backend' OR {worked}");
        views.push(rows("pg_stat_io", &where_));
    }
    if version >= 140_000 {
        views.push(rows("pg_stat_wal", "SELECT * FROM pg_stat_wal"));
    } else {
        let lsn = "CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END";
        views.push(format!("'settings', json_build_object('wal_lsn', {lsn})"));
    }
    if statements {
        let sums = ["calls", "shared_blks_read", "shared_blks_written", "temp_blks_read", "temp_blks_written"];
        let sums: Vec<String> = sums.iter().map(|name| format!("sum({name}) AS {name}")).collect();
        let top = format!(
            "SELECT queryid::text, {} FROM pg_stat_statements WHERE queryid IS NOT NULL GROUP BY queryid ORDER BY \
             sum(shared_blks_read + shared_blks_written + temp_blks_read + temp_blks_written) DESC LIMIT 50",
            sums.join(", ")
        );
        views.push(rows("pg_stat_statements", &top));
    }
    format!("SELECT json_strip_nulls(json_build_object({}));", views.join(", "))
}

#[cfg(test)]
mod tests {
    use super::snapshot;

    #[test]
    fn queries_match_server_version() {
        let has = |version, view: &str| snapshot(version, false).contains(view);
        assert!(
            has(180_000, "pg_stat_io") && has(170_000, "pg_stat_checkpointer") && !has(160_000, "pg_stat_checkpointer")
        );
        assert!(!has(150_020, "pg_stat_io") && has(150_020, "pg_stat_wal") && has(140_000, "active_time"));
        assert!(!has(130_000, "pg_stat_wal") && has(130_000, "pg_current_wal_lsn") && !has(130_000, "active_time"));
        let texts = snapshot(180_000, true);
        assert!(texts.contains("queryid") && !texts.contains(" query ") && !texts.contains("query,"));
    }
}
