//! Tests of SQLite, which needs no installation.
#![allow(clippy::unwrap_used, clippy::print_stderr)] // a failed test panics, a skipped test prints its reason

use plimsoll_record::Spent;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use plimsoll_database::{
    Created, Database, DatabaseAddress, FailureKind, Flushes, Make, Observer, System, Value, connect,
};
use plimsoll_units::{Bytes, Span};

/// A directory removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("plimsoll-database-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn files(&self) -> Vec<String> {
        std::fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

fn plan(folder: &Path, settings: &[(&str, &str)]) -> Make {
    Make {
        system: System::Sqlite,
        folder: folder.into(),
        log_folder: None,
        cache: Bytes::mib(1),
        memory: None,
        flushes: Flushes::Honoured,
        settings: settings.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
        sessions: 4,
    }
}

fn create(folder: &Folder, settings: &[(&str, &str)]) -> Created {
    plan(&folder.0, settings).make().unwrap()
}

/// A statement of arbitrary duration: counts to a number.
fn counting(to: u64) -> String {
    format!("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {to}) SELECT max(n) FROM c")
}

#[test]
fn values_of_every_type_go_in_and_come_back() {
    let folder = Folder::new();
    let created = create(&folder, &[]);
    let mut session = created.session().unwrap();
    session.run("CREATE TABLE t (i INTEGER, f REAL, s TEXT, b BLOB, n)").unwrap();
    let values =
        [Value::Int(i64::MIN), Value::Float(0.1), Value::Text("Grüße".into()), Value::Bytes(vec![0, 255]), Value::Null];
    let insert = session.prepare("INSERT INTO t VALUES (?, ?, ?, ?, ?)").unwrap();
    assert_eq!(session.execute(insert, &values).unwrap().changed, 1);
    assert_eq!(session.rows("SELECT * FROM t").unwrap(), [values.to_vec()]);
    let select = session.prepare("SELECT s FROM t WHERE i = ?").unwrap();
    assert_eq!(session.fetch(select, &values[..1]).unwrap(), [[values[2].clone()]]);
    assert!(session.fetch(select, &[1.into()]).unwrap().is_empty());
    assert_eq!(session.execute(select, &[]).unwrap_err().kind, FailureKind::Statement);
}

#[test]
fn several_statements_run_in_order_and_counts_add_up() {
    let folder = Folder::new();
    let created = create(&folder, &[]);
    let mut session = created.session().unwrap();
    let answer = session
        .run("CREATE TABLE t (i INTEGER, s TEXT); INSERT INTO t VALUES (1, 'a;b'), (2, 'c'); -- two\n SELECT * FROM t;")
        .unwrap();
    assert_eq!((answer.rows, answer.changed), (2, 2));
    let backwards = session.run("SELECT * FROM t ORDER BY i DESC").unwrap();
    assert_eq!(backwards.digest, answer.digest);
    assert_eq!(backwards.changed, 0, "what was changed before is not this statement's");
    let select = session.prepare("SELECT i, s FROM t WHERE i <= ?").unwrap();
    assert_eq!(session.execute(select, &[2.into()]).unwrap().digest, answer.digest);
    assert_ne!(session.execute(select, &[1.into()]).unwrap().digest, answer.digest);
    assert_eq!(session.run("UPDATE t SET s = s; UPDATE t SET s = 'd' WHERE i = 1").unwrap().changed, 3);
    assert_eq!(session.run("  ; -- nothing").unwrap().rows, 0);
}

#[test]
fn failures_are_classified() {
    let folder = Folder::new();
    let created = create(&folder, &[]);
    let mut session = created.session().unwrap();
    session.run("CREATE TABLE t (i INTEGER PRIMARY KEY)").unwrap();
    session.run("INSERT INTO t VALUES (1)").unwrap();
    for (sql, kind) in [
        ("SELECT * FROM missing", FailureKind::Missing),
        ("SELECT missing(1)", FailureKind::Missing),
        ("SELECT missing FROM t", FailureKind::Statement),
        ("CREATE TABLE t (i INTEGER)", FailureKind::Exists),
        ("INSERT INTO t VALUES (1)", FailureKind::Statement),
        ("SELEKT 1", FailureKind::Statement),
    ] {
        let failure = session.run(sql).unwrap_err();
        assert_eq!(failure.kind, kind, "{failure}");
        assert!(!failure.message.contains('\n') && failure.message.contains(sql), "{failure}");
    }
    let address = |name: &str| DatabaseAddress::sqlite(folder.0.join(name));
    let refused = |name: &str| connect(&address(name)).err().unwrap().kind;
    assert_eq!(refused("missing.db"), FailureKind::Missing);
    std::fs::write(folder.0.join("no.db"), "no database, but longer than the head of one".repeat(40)).unwrap();
    assert_eq!(refused("no.db"), FailureKind::Unreachable);
    assert_eq!(refused("."), FailureKind::Unreachable);
    let missing = plan(&folder.0.join("missing"), &[]).make().err().unwrap();
    assert_eq!(missing.kind, FailureKind::Missing, "{missing}");
    let with_log = Make { log_folder: Some(folder.0.clone()), ..plan(&folder.0, &[]) };
    assert!(with_log.make().is_err_and(|failure| failure.message.contains("--log-path")));
    let limited = Make { memory: Some(Bytes::gib(1)), ..plan(&folder.0, &[]) };
    assert_eq!(limited.make().err().unwrap().kind, FailureKind::Unsupported);
    for wrong in [("busy_timeout", "soon"), ("x; DROP TABLE t", "1")] {
        assert_eq!(plan(&folder.0, &[wrong]).make().err().unwrap().kind, FailureKind::Statement);
    }
    assert_eq!(folder.files().len(), 2, "what could not be made left nothing: {:?}", folder.files());
}

#[test]
fn statement_is_cancelled_from_another_thread() {
    let folder = Folder::new();
    let created = create(&folder, &[]);
    let mut session = created.session().unwrap();
    let cancel = session.cancel();
    cancel.cancel();
    assert_eq!(session.run("SELECT 1").unwrap().rows, 1, "a cancel that came too late does nothing");
    std::thread::scope(|scope| {
        let running = scope.spawn(move || session.run(&counting(u64::MAX / 2)).unwrap_err());
        // The statement may not have begun: a single request is not enough.
        while !running.is_finished() {
            cancel.cancel();
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(running.join().unwrap().kind, FailureKind::Cancelled);
    });
}

#[test]
fn writers_wait_and_readers_do_not() {
    let folder = Folder::new();
    let created = create(&folder, &[]);
    let database = &created;
    let mut setup = database.session().unwrap();
    setup.run("CREATE TABLE t (i INTEGER); INSERT INTO t VALUES (0)").unwrap();
    let add = || {
        let mut session = database.session().unwrap();
        for _ in 0..50 {
            session.begin().unwrap();
            let value = session.rows("SELECT i FROM t").unwrap()[0][0].int().unwrap();
            let update = session.prepare("UPDATE t SET i = ?").unwrap();
            session.execute(update, &[(value + 1).into()]).unwrap();
            session.commit().unwrap();
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(add);
        }
    });
    assert_eq!(setup.rows("SELECT i FROM t").unwrap(), [[Value::Int(200)]], "no update was lost");
    setup.begin().unwrap();
    setup.run("UPDATE t SET i = -1").unwrap();
    let mut reader = database.session().unwrap();
    assert_eq!(reader.rows("SELECT i FROM t").unwrap(), [[Value::Int(200)]]);
    setup.rollback().unwrap();
    assert_eq!(reader.rows("SELECT i FROM t").unwrap(), [[Value::Int(200)]]);
    setup.rollback().unwrap();
    assert_eq!(database.observer().unwrap().counters().unwrap().commits, Some(202));
}

#[test]
fn lock_timeout_and_cancelled_wait_are_reported() {
    let folder = Folder::new();
    let created = create(&folder, &[("busy_timeout", "20")]);
    let mut first = created.session().unwrap();
    first.run("CREATE TABLE t (i INTEGER)").unwrap();
    first.begin().unwrap();
    let mut second = created.session().unwrap();
    let failure = second.begin().unwrap_err();
    assert_eq!(failure.kind, FailureKind::Conflict, "{failure}");
    assert_eq!(second.run("INSERT INTO t VALUES (1)").unwrap_err().kind, FailureKind::Conflict);
    first.commit().unwrap();
    second.begin().unwrap();
    drop(second);
    first.begin().unwrap();
    drop(first);

    let patient = create(&folder, &[("busy_timeout", "600000")]);
    let mut first = patient.session().unwrap();
    first.begin().unwrap();
    let mut second = patient.session().unwrap();
    let cancel = second.cancel();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(move || second.begin().unwrap_err());
        while !waiting.is_finished() {
            cancel.cancel();
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(waiting.join().unwrap().kind, FailureKind::Cancelled);
    });
}

fn spent(observer: &mut dyn Observer, activity: Spent) -> Span {
    let all = observer.spent().unwrap();
    all.iter().find_map(|(of, time)| (*of == activity).then_some(*time)).unwrap()
}

#[test]
fn session_time_is_accounted() {
    let folder = Folder::new();
    let created = create(&folder, &[]);
    let mut observer = created.observer().unwrap();
    if observer.spent().is_none() {
        eprintln!("skipped: this kernel does not say how long threads wait for processors");
        return;
    }
    let mut first = created.session().unwrap();
    first.run("CREATE TABLE t (i INTEGER)").unwrap();
    let total = |observer: &mut dyn Observer| -> u64 {
        observer.spent().unwrap().iter().map(|(_, time)| time.as_nanos()).sum()
    };

    let (before, worked, started) = (total(&mut *observer), spent(&mut *observer, Spent::Processor), Instant::now());
    first.run(&counting(300_000)).unwrap();
    let took = started.elapsed().as_nanos() as u64;
    let counted = total(&mut *observer) - before;
    assert!(counted <= took && counted >= took / 2, "{counted} of {took} ns");
    let worked = spent(&mut *observer, Spent::Processor).as_nanos() - worked.as_nanos();
    assert!(worked > counted / 2, "counting is work: {worked} of {counted} ns");

    assert_eq!(spent(&mut *observer, Spent::Locked), Span::from_nanos(0));
    first.begin().unwrap();
    let mut second = created.session().unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(move || second.begin().and_then(|()| second.commit()));
        std::thread::sleep(Duration::from_millis(300));
        first.commit().unwrap();
        waiting.join().unwrap().unwrap();
    });
    let locked = spent(&mut *observer, Spent::Locked);
    assert!(locked > Span::from_nanos(0), "one waited for the other's lock");
    assert_eq!(observer.counters().unwrap().lock_time, Some(locked));

    for i in 0..200 {
        first.run(&format!("INSERT INTO t VALUES ({i})")).unwrap();
    }
    let committing = spent(&mut *observer, Spent::Committing);
    // Major number 0: without a block device, or hidden.
    let major = std::fs::metadata(&folder.0).unwrap().dev() >> 8;
    if major == 0 {
        eprintln!("skipped: flushes of {} may take no time", folder.0.display());
    } else {
        assert!(committing > Span::from_nanos(0), "200 flushes took no time");
    }
}

#[test]
fn counters_count() {
    let folder = Folder::new();
    let created = create(&folder, &[("wal_autocheckpoint", "20")]);
    let mut session = created.session().unwrap();
    let mut observer = created.observer().unwrap();
    session.run("CREATE TABLE t (i INTEGER PRIMARY KEY, s TEXT)").unwrap();
    let before = observer.counters().unwrap();
    let insert = session.prepare("INSERT INTO t VALUES (?, ?)").unwrap();
    for i in 0..100 {
        session.execute(insert, &[Value::Int(i), Value::Text("x".repeat(6000))]).unwrap();
    }
    let counted = observer.counters().unwrap().since(&before);
    assert_eq!((counted.commits, counted.log_flushes), (Some(100), Some(100)));
    let log = counted.log_bytes.unwrap();
    // Each commit logs the page of its row and mostly the page above it, each with a header.
    assert!((100 * 8216..400 * 8216).contains(&log) && log.is_multiple_of(8216), "{log}");
    assert!(counted.writes.unwrap() >= 100, "{counted:?}");
    assert_eq!(counted.hits, None);
    let before = observer.counters().unwrap();
    let mut fresh = created.session().unwrap();
    assert_eq!(fresh.run("SELECT * FROM t").unwrap().rows, 100);
    let counted = observer.counters().unwrap().since(&before);
    assert!(counted.reads.unwrap() >= 100, "{counted:?}");
    assert_eq!(counted.commits, Some(0), "who only reads commits nothing");
    assert!(observer.activity(&[1]).unwrap().is_empty());
}

#[test]
fn contents_are_listed_and_dropped() {
    let folder = Folder::new();
    let path = folder.0.join("given.db");
    std::fs::write(&path, "").unwrap();
    let address: DatabaseAddress = format!("sqlite:{}", path.display()).parse().unwrap();
    let database = connect(&address).unwrap();
    assert!(database.contents().unwrap().is_empty());
    let mut session = database.session().unwrap();
    session
        .run(
            "CREATE TABLE a (i INTEGER PRIMARY KEY AUTOINCREMENT); CREATE TABLE \"b \"\"c\" (a REFERENCES a);
            CREATE VIEW v AS SELECT * FROM a; CREATE INDEX x ON a (i); INSERT INTO a VALUES (1);
            INSERT INTO \"b \"\"c\" VALUES (1)",
        )
        .unwrap();
    assert_eq!(database.contents().unwrap(), ["view v", "table a", "table b \"c"]);
    database.destroy_contents(None).unwrap();
    assert!(database.contents().unwrap().is_empty());
    let about = database.about();
    assert_eq!((about.created, about.block, about.durable), (false, Bytes::new(8192), Some(true)));
    assert_eq!(about.folder.as_deref().map(Path::new), Some(folder.0.canonicalize().unwrap().as_path()));
    drop((session, database));
    assert!(path.exists(), "what was given stays");
}

#[test]
fn created_file_has_settings_and_is_removed() {
    let folder = Folder::new();
    let first = create(&folder, &[("page_size", "4096"), ("journal_mode", "truncate")]);
    let ignored = Make { flushes: Flushes::Ignored, ..plan(&folder.0, &[]) }.make().unwrap();
    for (created, block, durable, journal) in [(&first, 4096, true, "truncate"), (&ignored, 8192, false, "wal")] {
        let about = created.about();
        assert!(about.created);
        assert_eq!((about.block, about.durable), (Bytes::new(block), Some(durable)));
        assert_eq!((about.cache, about.direct, about.memory), (Some(Bytes::mib(1)), Some(false), None));
        assert!(about.settings.contains(&("journal_mode".into(), journal.into())), "{about:?}");
        let mut session = created.session().unwrap();
        session.run("CREATE TABLE t (i INTEGER); INSERT INTO t VALUES (1)").unwrap();
        assert_eq!(session.rows("PRAGMA page_size").unwrap(), [[Value::Int(block.cast_signed())]]);
        created.checkpoint().unwrap();
        let log = folder.0.join(&folder.files()[0]).join("data.db-wal");
        assert_eq!(std::fs::metadata(log).map_or(0, |log| log.len()), 0);
    }
    assert!(folder.files().iter().all(|name| name.starts_with("plimsoll-sqlite-")), "{:?}", folder.files());
    drop((first, ignored));
    assert!(folder.files().is_empty(), "{:?}", folder.files());
}

#[test]
fn no_space_is_reported_and_rolled_back() {
    let folder = Folder::new();
    fills_up(&create(&folder, &[("max_page_count", "64")]));
}

#[test]
fn full_disk_is_reported() {
    if std::env::var_os("PLIMSOLL_ROOT_TESTS").is_none() {
        eprintln!("skipped: mounts a small filesystem: set PLIMSOLL_ROOT_TESTS=1, as root");
        return;
    }
    let folder = Folder::new();
    let run = |program: &str, arguments: &[&str]| {
        assert!(Command::new(program).args(arguments).arg(&folder.0).status().unwrap().success(), "{program}");
    };
    run("mount", &["-t", "tmpfs", "-o", "size=2m", "none"]);
    let filled = std::panic::catch_unwind(|| fills_up(&create(&folder, &[])));
    run("umount", &[]);
    filled.unwrap();
}

fn fills_up(created: &Created) {
    let mut session = created.session().unwrap();
    session.run("CREATE TABLE t (s TEXT); INSERT INTO t VALUES ('kept')").unwrap();
    session.begin().unwrap();
    let insert = session.prepare("INSERT INTO t VALUES (?)").unwrap();
    let text = Value::Text("x".repeat(100_000));
    let failure = (0..1000).find_map(|_| session.execute(insert, std::slice::from_ref(&text)).err()).unwrap();
    assert_eq!(failure.kind, FailureKind::NoSpace, "{failure}");
    session.rollback().unwrap();
    assert_eq!(session.rows("SELECT s FROM t").unwrap(), [[Value::Text("kept".into())]]);
}
