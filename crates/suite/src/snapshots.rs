//! Snapshots of the database's counters during a suite, in the format of `plimsoll collect`.
//!
//! A write error ends the file, but not the suite.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use plimsoll_database::{Database, System};
use serde_json::{Map, Value, json};

use crate::ground::Sink;

/// Name and version of the format; see docs/inputs.md.
pub const FORMAT: &str = "plimsoll.snapshots/1";

/// An object as a line; a header begins with the format.
pub fn line(object: &Map<String, Value>) -> String {
    let first = ["format", "at"].into_iter().filter_map(|key| object.get_key_value(key));
    let rest = object.iter().filter(|(key, _)| !["format", "at"].contains(&key.as_str()));
    let fields: Vec<String> = first.chain(rest).map(|(key, value)| format!("{}:{value}", json!(key))).collect();
    format!("{{{}}}\n", fields.join(","))
}

/// The current time in the format of snapshots.
pub fn timestamp() -> Value {
    json!(jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string())
}

/// Interval of snapshots in seconds.
const INTERVAL_S: u32 = 1;
/// Minimum number of snapshots for figures.
const MIN_SNAPSHOTS: u64 = 2;

/// A temporary file in the directory of kept runs, removed on drop unless it is kept.
pub struct Snapshots {
    draft: PathBuf,
    writing: Arc<Mutex<Writing>>,
}

struct Writing {
    /// `None` after a write error.
    file: Option<File>,
    count: u64,
}

impl Snapshots {
    /// A file in the folder of runs for the snapshots of a database; `None` if it has no counters, or the folder cannot be
    /// made. `made_by` is the program and its version.
    pub fn of(database: &dyn Database, folder: &Path, made_by: &str) -> Option<Self> {
        let source = match database.system() {
            System::Postgres => "postgres",
            System::Mysql => "mysql",
            System::Sqlite | System::Oracle => return None,
        };
        let head = database.observer().and_then(|mut observer| observer.head()).ok().filter(|head| !head.is_empty())?;
        fs::create_dir_all(folder).ok()?;
        Some(Self::create(folder, source, made_by, head))
    }

    fn create(folder: &Path, source: &str, made_by: &str, mut head: Map<String, Value>) -> Self {
        head.extend([
            ("format".to_owned(), json!(FORMAT)),
            ("program".to_owned(), json!(made_by)),
            ("source".to_owned(), json!(source)),
            ("interval_s".to_owned(), json!(INTERVAL_S)),
        ]);
        let draft = folder.join(format!(".snapshots.{}.part", std::process::id()));
        let file = File::create(&draft).ok();
        let snapshots = Self { draft, writing: Arc::new(Mutex::new(Writing { file, count: 0 })) };
        snapshots.writing.lock().unwrap_or_else(PoisonError::into_inner).put(&head);
        snapshots
    }

    /// Receiver of snapshots.
    pub fn sink(&self) -> Sink {
        let writing = Arc::clone(&self.writing);
        Box::new(move |snapshot| {
            let mut writing = writing.lock().unwrap_or_else(PoisonError::into_inner);
            if snapshot.contains_key("at") {
                writing.put(snapshot);
            } else {
                let at = [("at".to_owned(), timestamp())];
                writing.put(&at.into_iter().chain(snapshot.clone()).collect());
            }
            writing.count += 1;
        })
    }

    /// Renames the file and returns its name; `None` if there are too few snapshots.
    ///
    /// # Errors
    /// The file cannot be renamed.
    pub fn keep(self, path: &Path) -> std::io::Result<Option<String>> {
        let writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if writing.count < MIN_SNAPSHOTS || writing.file.is_none() {
            return Ok(None);
        }
        fs::rename(&self.draft, path)?;
        Ok(Some(path.display().to_string()))
    }
}

impl Drop for Snapshots {
    fn drop(&mut self) {
        // A kept file no longer has this name.
        let _ = fs::remove_file(&self.draft);
    }
}

impl Writing {
    fn put(&mut self, object: &Map<String, Value>) {
        self.file =
            self.file.take().and_then(|mut file| file.write_all(line(object).as_bytes()).is_ok().then_some(file));
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_ingest::{Demand, Ingest, Measure, Outcome};

    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("plimsoll-snapshots-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn object(value: Value) -> Map<String, Value> {
        let Value::Object(object) = value else { panic!("{value} is not an object") };
        object
    }

    /// Snapshot of PostgreSQL after `second` seconds at 1,000 reads and 400 writes of blocks per second.
    fn postgres(second: u64) -> Map<String, Value> {
        object(json!({
            "at": format!("2026-05-04T10:00:{second:02}.000Z"),
            "pg_stat_database": [{"datid": 5, "xact_commit": 100 * second, "blks_read": 1_000 * second,
                "blk_read_time": 2_000 * second, "blk_write_time": 0, "temp_bytes": 0}],
            "pg_stat_bgwriter": [{"buffers_checkpoint": 400 * second, "buffers_clean": 0, "buffers_backend": 0}],
            "pg_stat_wal": [{"wal_bytes": 1_000_000 * second, "wal_write": 100 * second, "wal_sync": 100 * second}],
        }))
    }

    #[test]
    fn snapshots_of_a_suite_are_read_as_demand() {
        let folder = folder("demand");
        let head = object(json!({"version": "15.19", "block_bytes": 8192, "server": "local:5432"}));
        let snapshots = Snapshots::create(&folder, "postgres", "a test", head);
        let mut sink = snapshots.sink();
        (0..12).for_each(|second| sink(&postgres(second)));
        let saved = snapshots.keep(&folder.join("run-snapshots.jsonl")).unwrap().expect("enough snapshots");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "the temporary file was renamed");

        let mut ingest = Ingest::new("run-snapshots.jsonl");
        ingest.feed(&fs::read(&saved).unwrap());
        let outcomes = ingest.finish();
        let reading = outcomes.first().and_then(Outcome::reading).unwrap_or_else(|| panic!("{outcomes:?}"));
        assert!(reading.figures.iter().any(|figure| figure.measure == Measure::Iops), "{reading:?}");
        let demand = Demand::of(&[reading]);
        assert_eq!(demand.subjects.len(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn too_few_snapshots_are_discarded() {
        let folder = folder("few");
        let snapshots = Snapshots::create(&folder, "postgres", "a test", Map::new());
        snapshots.sink()(&object(json!({"pg_stat_wal": []})));
        let text = fs::read_to_string(&snapshots.draft).unwrap();
        assert!(text.lines().nth(1).is_some_and(|line| line.starts_with("{\"at\":")), "{text}");
        assert_eq!(snapshots.keep(&folder.join("run-snapshots.jsonl")).unwrap(), None);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        fs::remove_dir_all(&folder).unwrap();
    }
}
