//! What a row of a view counts.
//!
//! Knows nothing of moments: one row comes in, its counts are added to those of its view.

use crate::counters::{Counters, Place};
use crate::figure::Class;
use crate::rows::Known;
use crate::snapshot::Counted;

/// A view of statistics, or what says something about the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum View {
    Io,
    Database,
    Bgwriter,
    Checkpointer,
    Wal,
    Statements,
    Server,
}

/// Columns by which a table of this family is known.
const COLUMNS: [&str; 52] = [
    "backend_type",
    "object",
    "context",
    "reads",
    "read_bytes",
    "read_time",
    "writes",
    "write_bytes",
    "write_time",
    "extends",
    "extend_bytes",
    "op_bytes",
    "fsyncs",
    "evictions",
    "reuses",
    "writebacks",
    "datname",
    "blks_read",
    "blks_hit",
    "blk_read_time",
    "blk_write_time",
    "temp_bytes",
    "temp_files",
    "xact_commit",
    "xact_rollback",
    "active_time",
    "buffers_clean",
    "maxwritten_clean",
    "buffers_alloc",
    "buffers_checkpoint",
    "buffers_backend",
    "buffers_written",
    "num_timed",
    "num_requested",
    "restartpoints_timed",
    "wal_records",
    "wal_fpi",
    "wal_bytes",
    "wal_write",
    "wal_sync",
    "wal_buffers_full",
    "queryid",
    "calls",
    "shared_blks_read",
    "shared_blks_written",
    "shared_blks_hit",
    "temp_blks_read",
    "temp_blks_written",
    "stats_reset",
    "setting",
    "name",
    "wal_lsn",
];

/// Columns that say something alone.
const ALONE: [&str; 7] =
    ["block_size", "track_io_timing", "track_wal_io_timing", "server_version", "version", "now", "pg_current_wal_lsn"];

/// How much the name of a column says.
pub(super) fn known(name: &str) -> Known {
    let name = plain(name);
    if ALONE.contains(&name) {
        Known::Alone
    } else if COLUMNS.contains(&name) || TIMES.contains(&name) {
        Known::One
    } else {
        Known::No
    }
}

/// What people call the moment of a row.
pub(super) const TIMES: [&str; 12] = [
    "now",
    "at",
    "ts",
    "time",
    "timestamp",
    "taken",
    "taken_at",
    "captured_at",
    "collected_at",
    "sample_time",
    "snap_time",
    "clock_timestamp",
];

/// A name without the unit that some queries add.
pub(super) fn plain(name: &str) -> &str {
    name.strip_suffix("_ms").unwrap_or(name)
}

/// One row: names of columns, and what stands in them.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a> {
    pub(crate) columns: &'a [String],
    pub(crate) cells: &'a [String],
    pub(crate) line: u64,
}

impl<'a> Fields<'a> {
    pub(super) fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|column| plain(column) == name)
    }

    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        let at = self.columns.iter().position(|column| plain(column) == name)?;
        self.cells.get(at).map(String::as_str).filter(|cell| !cell.is_empty() && *cell != "\\N")
    }

    pub(super) fn number(&self, name: &str) -> Option<f64> {
        self.get(name)?.trim().parse().ok()
    }

    /// Milliseconds, as seconds.
    fn seconds(&self, name: &str) -> Option<f64> {
        self.number(name).map(|milliseconds| milliseconds / 1e3)
    }

    /// Which view the row is of.
    pub(super) fn view(&self) -> Option<View> {
        let all = |names: &[&str]| names.iter().all(|name| self.has(name));
        let any = |names: &[&str]| names.iter().any(|name| self.has(name));
        if all(&["backend_type", "context"]) && any(&["reads", "writes", "read_bytes", "write_bytes", "extends"]) {
            Some(View::Io)
        } else if any(&["shared_blks_read", "shared_blks_written", "temp_blks_read", "temp_blks_written"])
            && any(&["calls", "queryid"])
        {
            Some(View::Statements)
        } else if any(&["blks_read", "temp_bytes", "active_time"])
            && any(&["datname", "datid", "xact_commit", "blks_hit", "numbackends"])
        {
            Some(View::Database)
        } else if all(&["wal_bytes"]) && any(&["wal_records", "wal_fpi", "wal_write"]) {
            Some(View::Wal)
        } else if any(&["buffers_clean", "buffers_checkpoint", "buffers_backend"]) {
            Some(View::Bgwriter)
        } else if all(&["buffers_written"]) && any(&["num_timed", "num_requested", "write_time", "sync_time"]) {
            Some(View::Checkpointer)
        } else if all(&["name", "setting"]) || any(&ALONE) || all(&["wal_lsn"]) {
            Some(View::Server)
        } else {
            None
        }
    }
}

impl View {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Io => "pg_stat_io",
            Self::Database => "pg_stat_database",
            Self::Bgwriter => "pg_stat_bgwriter",
            Self::Checkpointer => "pg_stat_checkpointer",
            Self::Wal => "pg_stat_wal",
            Self::Statements => "pg_stat_statements",
            Self::Server => "settings",
        }
    }
}

/// Adds up the rows of one view.
#[derive(Clone, Debug, Default)]
pub(super) struct Layer {
    pub(super) counters: Counters,
    /// Operations whose bytes are blocks, whatever size these have.
    pub(super) blocks: Counters,
    /// True once a row counted bytes on its own.
    pub(super) has_bytes: bool,
}

/// A kind of operation of `pg_stat_io`.
struct Kind {
    count: &'static str,
    bytes: &'static str,
    time: &'static str,
    /// All reads, all writes, or flushes.
    total: Class,
    /// What they are for, where a class says so.
    class: Option<Class>,
    /// What sessions call waiting for them.
    event: &'static str,
}

impl Layer {
    /// Numbers that a row gives, added.
    pub(super) fn add(&mut self, view: View, row: &Fields<'_>) {
        match view {
            View::Io => self.io(row),
            View::Database => self.database(row),
            View::Bgwriter => {
                for name in ["buffers_checkpoint", "buffers_clean", "buffers_backend"] {
                    self.blocks(Class::Write, Some(Class::DataWrite), row.number(name), (row.line, view.name(), name));
                }
            }
            View::Checkpointer => {
                let place = (row.line, view.name(), "buffers_written");
                self.blocks(Class::Write, Some(Class::DataWrite), row.number("buffers_written"), place);
            }
            View::Wal => self.wal(row),
            View::Statements => self.statement(row),
            View::Server => {}
        }
    }

    /// Operations of one block each, in a total and in a class of it.
    fn blocks(&mut self, total: Class, class: Option<Class>, count: Option<f64>, place: Place) {
        for class in [Some(total), class].into_iter().flatten() {
            self.counters.add(Counted::Operations(class), count, place);
            self.blocks.add(Counted::Bytes(class), count, place);
        }
    }

    fn io(&mut self, row: &Fields<'_>) {
        let object = row.get("object").unwrap_or("relation");
        let context = row.get("context").unwrap_or("normal");
        let (read, write) = classes(object, context);
        let event = |data: &'static str, log: &'static str| if object == "wal" { log } else { data };
        let kind = |count, bytes, time, total, class, event| Kind { count, bytes, time, total, class, event };
        let (reads, writes) = (event("DataFileRead", "WALRead"), event("DataFileWrite", "WALWrite"));
        let kinds = [
            kind("reads", "read_bytes", "read_time", Class::Read, read, reads),
            kind("writes", "write_bytes", "write_time", Class::Write, write, writes),
            kind("extends", "extend_bytes", "extend_time", Class::Write, write, "DataFileExtend"),
            kind("fsyncs", "", "fsync_time", Class::Flush, None, event("DataFileSync", "WALSync")),
        ];
        for kind in kinds {
            self.operations(row, &kind);
        }
    }

    fn operations(&mut self, row: &Fields<'_>, kind: &Kind) {
        let table = View::Io.name();
        let (line, count, seconds) = (row.line, row.number(kind.count), row.seconds(kind.time));
        let (counted, timed) = ((line, table, kind.count), (line, table, kind.time));
        if row.get("backend_type") == Some("client backend") {
            self.counters.add(Counted::Waits(kind.event.to_owned()), count, counted);
            self.counters.add(Counted::WaitSeconds(kind.event.to_owned()), seconds, timed);
        }
        for class in [Some(kind.total), kind.class].into_iter().flatten() {
            self.counters.add(Counted::Operations(class), count, counted);
            self.counters.add(Counted::OperationSeconds(class), seconds, timed);
            if kind.bytes.is_empty() {
                continue;
            }
            let bytes = Counted::Bytes(class);
            if row.has(kind.bytes) {
                self.has_bytes = true;
                self.counters.add(bytes, row.number(kind.bytes), (line, table, kind.bytes));
            } else if let Some(size) = row.number("op_bytes") {
                self.counters.add(bytes, count.map(|count| count * size), counted);
            } else {
                self.blocks.add(bytes, count, counted);
            }
        }
    }

    fn database(&mut self, row: &Fields<'_>) {
        let place = |field| (row.line, View::Database.name(), field);
        let read = row.number("blks_read");
        self.blocks(Class::Read, None, read, place("blks_read"));
        let seconds = row.seconds("blk_read_time");
        self.counters.add(Counted::OperationSeconds(Class::Read), seconds, place("blk_read_time"));
        self.counters.add(Counted::Waits("DataFileRead".to_owned()), read, place("blks_read"));
        self.counters.add(Counted::WaitSeconds("DataFileRead".to_owned()), seconds, place("blk_read_time"));
        let seconds = row.seconds("blk_write_time");
        self.counters.add(Counted::WaitSeconds("DataFileWrite".to_owned()), seconds, place("blk_write_time"));
        self.counters.add(Counted::Bytes(Class::TempWrite), row.number("temp_bytes"), place("temp_bytes"));
        self.counters.add(Counted::Commits, row.number("xact_commit"), place("xact_commit"));
        self.counters.add(Counted::DatabaseSeconds, row.seconds("active_time"), place("active_time"));
    }

    fn wal(&mut self, row: &Fields<'_>) {
        let place = |field| (row.line, View::Wal.name(), field);
        let (writes, syncs) = (row.number("wal_write"), row.number("wal_sync"));
        for class in [Class::Write, Class::RedoWrite] {
            self.counters.add(Counted::Operations(class), writes, place("wal_write"));
            self.counters.add(Counted::Bytes(class), row.number("wal_bytes"), place("wal_bytes"));
        }
        self.counters.add(Counted::Operations(Class::Flush), syncs, place("wal_sync"));
        for (class, event, count, column) in [
            (Class::RedoWrite, "WALWrite", writes, "wal_write_time"),
            (Class::Flush, "WALSync", syncs, "wal_sync_time"),
        ] {
            let seconds = row.seconds(column);
            self.counters.add(Counted::OperationSeconds(class), seconds, place(column));
            self.counters.add(Counted::Waits(event.to_owned()), count, place(column));
            self.counters.add(Counted::WaitSeconds(event.to_owned()), seconds, place(column));
        }
    }

    fn statement(&mut self, row: &Fields<'_>) {
        for (column, total, class) in [
            ("shared_blks_read", Class::Read, None),
            ("local_blks_read", Class::Read, Some(Class::TempRead)),
            ("temp_blks_read", Class::Read, Some(Class::TempRead)),
            ("shared_blks_written", Class::Write, Some(Class::DataWrite)),
            ("local_blks_written", Class::Write, Some(Class::TempWrite)),
            ("temp_blks_written", Class::Write, Some(Class::TempWrite)),
        ] {
            self.blocks(total, class, row.number(column), (row.line, View::Statements.name(), column));
        }
    }
}

/// What reads and writes of a row are for. `normal` goes through the buffer cache page by page; the others run through
/// a relation from one end to the other. WAL that is made ahead of its use, or read, is in no class but the total.
fn classes(object: &str, context: &str) -> (Option<Class>, Option<Class>) {
    match (object, context) {
        (_, "init") => (None, None),
        ("wal", _) => (None, Some(Class::RedoWrite)),
        ("temp relation", _) => (Some(Class::TempRead), Some(Class::TempWrite)),
        (_, "bulkread" | "bulkwrite" | "vacuum") => (Some(Class::SequentialRead), Some(Class::DataWrite)),
        _ => (Some(Class::RandomRead), Some(Class::DataWrite)),
    }
}
