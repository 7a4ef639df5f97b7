//! SQLite, in this process: nothing has to be installed.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use plimsoll_database::{Flushes, Kind, Made, Make, System, Value};
use plimsoll_units::Bytes;

/// A directory that is removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("plimsoll-database-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

fn plan(folder: &Path) -> Make {
    Make {
        system: System::Sqlite,
        folder: folder.into(),
        cache: Bytes::mib(1),
        memory: None,
        flushes: Flushes::Honoured,
        settings: Vec::new(),
        sessions: 4,
    }
}

fn made(folder: &Folder, settings: &[(&str, &str)]) -> Made {
    let settings = settings.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    Make { settings, ..plan(&folder.0) }.make().unwrap()
}

#[test]
fn values_of_every_type_go_in_and_come_back() {
    let folder = Folder::new();
    let made = made(&folder, &[]);
    let mut session = made.database.session().unwrap();
    session.run("CREATE TABLE t (i INTEGER, f REAL, s TEXT, b BLOB, n)").unwrap();
    let values =
        [Value::Int(i64::MIN), Value::Float(0.1), Value::Text("Grüße".into()), Value::Bytes(vec![0, 255]), Value::Null];
    let insert = session.prepare("INSERT INTO t VALUES (?, ?, ?, ?, ?)").unwrap();
    assert_eq!(session.execute(insert, &values).unwrap().changed, 1);
    assert_eq!(session.rows("SELECT * FROM t").unwrap(), [values.to_vec()]);
    let select = session.prepare("SELECT s FROM t WHERE i = ?").unwrap();
    assert_eq!(session.fetch(select, &values[..1]).unwrap(), [[values[2].clone()]]);
    assert!(session.fetch(select, &[1.into()]).unwrap().is_empty());
    assert_eq!(session.execute(select, &[]).unwrap_err().kind, Kind::Statement);
}
