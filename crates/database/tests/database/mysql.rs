//! End-to-end tests on a created MariaDB or MySQL server. Skipped if neither is installed.
//!
//! A single server runs all checks in sequence.
#![allow(clippy::print_stderr, clippy::unwrap_used, reason = "a test that is skipped says why")]

use plimsoll_record::Spent;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use plimsoll_database::{
    Created, Database, DatabaseAddress, Failure, FailureKind, Flushes, Make, Session, SettingsChange, System, Value,
    connect,
};
use plimsoll_units::{Bytes, Span};

/// Timeout that suffices on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

type Check = fn(&dyn Database);

/// A folder removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("plimsoll-test-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn order(folder: &Path, flushes: Flushes) -> Make {
    Make {
        system: System::Mysql,
        folder: folder.into(),
        log_folder: None,
        cache: Bytes::new(16 << 20),
        memory: None,
        flushes,
        settings: vec![("innodb_lock_wait_timeout".into(), "120".into())],
        sessions: 16,
    }
}

/// A server, or `None` with the reason printed.
fn server(order: &Make) -> Option<Created> {
    match order.make() {
        Ok(created) => Some(created),
        Err(Failure { kind: FailureKind::Unsupported, message }) => {
            eprintln!("skipped: {message}");
            None
        }
        Err(failure) => panic!("{failure}"),
    }
}

/// Waits until a condition holds.
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < until, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A session in an empty database.
fn fresh(database: &dyn Database) -> Box<dyn Session> {
    database.destroy_contents(None).unwrap();
    assert_eq!(database.contents().unwrap(), Vec::<String>::new());
    database.session().unwrap()
}

fn kind<T>(answer: Result<T, Failure>) -> FailureKind {
    let failure = answer.err().expect("a failure");
    assert!(!failure.message.contains('\n'), "{failure}");
    failure.kind
}

#[test]
fn created_server_passes_all_checks() {
    let folder = Folder::new("mysql");
    let Some(created) = server(&order(&folder.0, Flushes::Honoured)) else { return };
    let database: &dyn Database = &created;
    check_about(database, &folder.0);
    let process = server_of(&folder.0);
    let checks: [(&str, Check); 9] = [
        ("values", values),
        ("digests", digests),
        ("several", several),
        ("procedures", procedures),
        ("failures", failures),
        ("cancel", check_cancel),
        ("locks", locks),
        ("contents", contents),
        ("counters", counters),
    ];
    for (name, check) in checks {
        eprintln!("{name}");
        check(database);
    }
    addresses(&created);
    let mut session = created.session().unwrap();
    drop(created);
    assert_eq!(kind(session.run("SELECT 1")), FailureKind::Lost);
    assert!(!Path::new(&format!("/proc/{process}")).exists());
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 0, "nothing is left");
}

fn server_of(folder: &Path) -> u32 {
    let data = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path().join("data");
    let option = format!("--datadir={}", data.display());
    let numbers = std::fs::read_dir("/proc").unwrap().flatten();
    let mut numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is = |number: &u32| {
        let line = std::fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|word| word == option.as_bytes())
    };
    numbers.find(is).expect("a server")
}

fn check_about(database: &dyn Database, folder: &Path) {
    let about = database.about();
    assert!(["MariaDB", "MySQL"].contains(&about.system.as_str()) && about.created && !about.version.is_empty());
    assert_eq!((about.block, about.cache), (Bytes::new(16 << 10), Some(Bytes::new(16 << 20))));
    assert_eq!(about.durable, Some(true));
    assert!(about.direct.is_some());
    assert!(about.folder.as_ref().is_some_and(|data| Path::new(data).starts_with(folder)), "{about:?}");
    assert!(about.settings.contains(&("innodb_read_ahead_threshold".into(), "0".into())), "{about:?}");
}

fn values(database: &dyn Database) {
    let mut session = fresh(database);
    let columns = "i BIGINT, u BIGINT UNSIGNED, f FLOAT, d DOUBLE, n DECIMAL(10,2), b BIT(10), o BOOL, s VARCHAR(20), \
                   x VARBINARY(20), t TEXT, day DATE, moment DATETIME(3), plain DATETIME, took TIME, y YEAR";
    session.run(&format!("CREATE TABLE v (k INT PRIMARY KEY, {columns})")).unwrap();
    let answer = session
        .run(
            "INSERT INTO v VALUES (1, -5, 18446744073709551615, 0.1, 1e100, 12.30, b'1000000001', TRUE, 'grün', x'00ff', \
             'long', '2024-02-29', '2024-02-29 12:00:00.250', '2024-02-29', '-30:00:01', 1999)",
        )
        .unwrap();
    assert_eq!((answer.rows, answer.changed), (0, 1));
    let expected: Vec<Value> = vec![
        1.into(),
        (-5).into(),
        "18446744073709551615".into(),
        Value::Float(0.1),
        Value::Float(1e100),
        "12.30".into(),
        513.into(),
        1.into(),
        "grün".into(),
        Value::Bytes(vec![0, 0xff]),
        "long".into(),
        "2024-02-29".into(),
        "2024-02-29 12:00:00.250".into(),
        "2024-02-29 00:00:00".into(),
        "-30:00:01".into(),
        1999.into(),
    ];
    assert_eq!(session.rows("SELECT * FROM v").unwrap(), std::slice::from_ref(&expected));
    let all = session.prepare("SELECT * FROM v WHERE k = ?").unwrap();
    assert_eq!(session.fetch(all, &[1.into()]).unwrap(), [expected]);

    let insert = session.prepare("INSERT INTO v (k, i, d, s, x) VALUES (?, ?, ?, ?, ?)").unwrap();
    let row = [2.into(), i64::MIN.into(), Value::Float(0.5), "ü'\\".into(), Value::Bytes(vec![0, 1, 0xfe])];
    assert_eq!(session.execute(insert, &row).unwrap().changed, 1);
    assert_eq!(session.rows("SELECT k, i, d, s, x FROM v WHERE k = 2").unwrap(), [row]);
    let nulls = [3.into(), Value::Null, Value::Null, Value::Null, Value::Null];
    session.execute(insert, &nulls).unwrap();
    assert_eq!(session.rows("SELECT k, i, d, s, x FROM v WHERE k = 3").unwrap(), [nulls]);
    // More statements than a driver's cache would hold.
    let many: Vec<_> = (0..100).map(|number| session.prepare(&format!("SELECT {number} + ?")).unwrap()).collect();
    for (number, prepared) in (0..).zip(many) {
        assert_eq!(session.fetch(prepared, &[1.into()]).unwrap()[0][0].int(), Some(number + 1));
    }
}

fn digests(database: &dyn Database) {
    let mut session = fresh(database);
    session.run("CREATE TABLE d (k INT PRIMARY KEY, s CHAR(10), f DOUBLE, t DATETIME)").unwrap();
    session
        .run("INSERT INTO d VALUES (1, 'a', 1.5, '2024-01-01'), (2, 'b', NULL, NULL), (3, NULL, 2e10, NOW())")
        .unwrap();
    let up = session.run("SELECT * FROM d ORDER BY k").unwrap();
    assert_eq!(up.rows, 3);
    assert_eq!(session.run("SELECT * FROM d ORDER BY k DESC").unwrap(), up);
    let prepared = session.prepare("SELECT * FROM d WHERE k > ?").unwrap();
    assert_eq!(session.execute(prepared, &[0.into()]).unwrap(), up, "both protocols give the same");
    assert_ne!(session.execute(prepared, &[1.into()]).unwrap().digest, up.digest);
    assert_eq!(session.run("UPDATE d SET s = s").unwrap().changed, 3, "rows that were met count");
}

fn several(database: &dyn Database) {
    let mut session = fresh(database);
    let answer = session
        .run(
            "CREATE TABLE a (i INT); INSERT INTO a VALUES (1), (2); UPDATE a SET i = i + 1; SELECT * FROM a; SELECT 1;",
        )
        .unwrap();
    assert_eq!((answer.rows, answer.changed), (3, 4));
    assert_eq!(kind(session.run("INSERT INTO a VALUES (9); SELECT * FROM none; DELETE FROM a")), FailureKind::Missing);
    assert_eq!(session.rows("SELECT COUNT(*) FROM a").unwrap()[0][0].int(), Some(3), "the session goes on");
    session.begin().unwrap();
    session.run("DELETE FROM a").unwrap();
    session.rollback().unwrap();
    session.begin().unwrap();
    session.run("INSERT INTO a VALUES (4)").unwrap();
    session.commit().unwrap();
    assert_eq!(database.session().unwrap().rows("SELECT COUNT(*) FROM a").unwrap()[0][0].int(), Some(4));
}

fn procedures(database: &dyn Database) {
    let mut session = fresh(database);
    session
        .run(
            "CREATE TABLE p (i INT PRIMARY KEY); \
             CREATE PROCEDURE fill(n INT) BEGIN DECLARE i INT DEFAULT 0; SELECT 'first' AS word; \
             WHILE i < n DO SET i = i + 1; INSERT INTO p VALUES (i); END WHILE; \
             SELECT COUNT(*), MAX(i) FROM p; END",
        )
        .unwrap();
    assert_eq!(session.rows("CALL fill(5)").unwrap(), [vec![Value::Int(5), Value::Int(5)]]);
    session.run("DELETE FROM p").unwrap();
    let call = session.prepare("CALL fill(?)").unwrap();
    assert_eq!(session.fetch(call, &[7.into()]).unwrap()[0][1], Value::Int(7));
    assert_eq!(kind(session.run("CALL fill(1)")), FailureKind::Statement, "the key is there");
}

fn failures(database: &dyn Database) {
    let mut session = fresh(database);
    session.run("CREATE TABLE f (i INT PRIMARY KEY)").unwrap();
    assert_eq!(kind(session.run("CREATE TABLE f (i INT)")), FailureKind::Exists);
    assert_eq!(kind(session.run("SELECT * FROM nowhere")), FailureKind::Missing);
    assert_eq!(kind(session.run("CALL nowhere()")), FailureKind::Missing);
    assert_eq!(kind(session.prepare("SELEKT 1")), FailureKind::Statement);
    let one = session.prepare("SELECT ?").unwrap();
    assert_eq!(kind(session.execute(one, &[])), FailureKind::Statement, "a parameter is missing");
    // A deadlock: each session holds a row that the other wants.
    session.run("INSERT INTO f VALUES (1), (2)").unwrap();
    let mut other = database.session().unwrap();
    for (session, row) in [(&mut session, 1), (&mut other, 2)] {
        session.begin().unwrap();
        session.rows(&format!("SELECT * FROM f WHERE i = {row} FOR UPDATE")).unwrap();
    }
    let waiting = std::thread::spawn(move || {
        let answer = other.run("DELETE FROM f WHERE i = 1");
        let _ = other.rollback();
        answer
    });
    let mine = session.run("DELETE FROM f WHERE i = 2");
    session.rollback().unwrap();
    let theirs = waiting.join().unwrap();
    let lost = [mine, theirs].into_iter().filter_map(Result::err).collect::<Vec<_>>();
    assert!(!lost.is_empty() && lost.iter().all(|failure| failure.kind == FailureKind::Conflict), "{lost:?}");
}

fn check_cancel(database: &dyn Database) {
    let mut session = fresh(database);
    let cancel = session.cancel();
    let (ask, requested) = channel();
    let running = std::thread::spawn(move || {
        ask.send(session.number().unwrap()).unwrap();
        // Fails or ends early, depending on the version; an early end returns a row.
        let answer = session.rows("SELECT SLEEP(1000), BENCHMARK(1000000000000, MD5('a'))");
        (answer.map(drop), session.rows("SELECT 1").unwrap())
    });
    let number = requested.recv().unwrap();
    let mut observer = database.observer().unwrap();
    wait_until("the session sleeps", || observer.activity(&[number]).unwrap() == [Spent::Other]);
    wait_until("it is cancelled", || {
        cancel.cancel();
        std::thread::sleep(Duration::from_millis(50));
        running.is_finished()
    });
    let (answer, after) = running.join().unwrap();
    assert_eq!(kind(answer), FailureKind::Cancelled);
    assert_eq!(after, [vec![Value::Int(1)]], "the session goes on");
}

fn locks(database: &dyn Database) {
    let mut session = fresh(database);
    session.run("CREATE TABLE l (i INT PRIMARY KEY, n INT); INSERT INTO l VALUES (1, 0)").unwrap();
    let mut other = database.session().unwrap();
    let (mine, theirs) = (session.number().unwrap(), other.number().unwrap());
    let mut observer = database.observer().unwrap();
    let before = observer.counters().unwrap();
    session.begin().unwrap();
    session.run("UPDATE l SET n = 1").unwrap();
    let waiting = std::thread::spawn(move || other.run("UPDATE l SET n = 2"));
    wait_until("one waits for the other", || observer.activity(&[theirs]).unwrap() == [Spent::Locked]);
    let mut both = observer.activity(&[mine, theirs]).unwrap();
    both.sort_unstable();
    assert_eq!(both, [Spent::Locked, Spent::Client]);
    assert_eq!(observer.activity(&[]).unwrap(), []);
    assert_eq!(observer.activity(&[u64::from(u32::MAX)]).unwrap(), [], "who is not connected is not in it");
    std::thread::sleep(Duration::from_millis(20));
    session.commit().unwrap();
    assert_eq!(waiting.join().unwrap().unwrap().changed, 1);
    let counted = observer.counters().unwrap().since(&before);
    assert!(counted.lock_time.is_some_and(|time| time >= Span::from_millis(10)), "{counted:?}");
}

fn contents(database: &dyn Database) {
    let mut session = fresh(database);
    session
        .run(
            "CREATE TABLE parent (i INT PRIMARY KEY); \
             CREATE TABLE `odd ``name` (i INT PRIMARY KEY, FOREIGN KEY (i) REFERENCES parent (i)); \
             CREATE VIEW looks AS SELECT * FROM parent; \
             CREATE TRIGGER pulls BEFORE INSERT ON parent FOR EACH ROW SET NEW.i = NEW.i + 1; \
             CREATE PROCEDURE does() SELECT 1; \
             CREATE FUNCTION gives() RETURNS INT DETERMINISTIC RETURN 1; \
             CREATE EVENT happens ON SCHEDULE EVERY 1 DAY DO SELECT 1",
        )
        .unwrap();
    if database.about().system == "MariaDB" {
        session.run("CREATE SEQUENCE counts").unwrap();
    }
    let mut names = database.contents().unwrap();
    names.retain(|name| name != "sequence counts");
    names.sort();
    assert_eq!(
        names,
        ["event happens", "function gives", "procedure does", "table odd `name", "table parent", "view looks"]
    );
    database.destroy_contents(None).unwrap();
    assert_eq!(database.contents().unwrap(), Vec::<String>::new());
}

fn counters(database: &dyn Database) {
    let mut session = fresh(database);
    let mut observer = database.observer().unwrap();
    let first = observer.counters().unwrap();
    // Twice the cache, with a commit per batch.
    session.run("CREATE TABLE c (i INT PRIMARY KEY AUTO_INCREMENT, s VARCHAR(1000))").unwrap();
    let rows = vec!["(REPEAT('x', 1000))"; 500].join(",");
    for _ in 0..64 {
        session.run(&format!("INSERT INTO c (s) VALUES {rows}")).unwrap();
    }
    database.checkpoint().unwrap();
    let second = observer.counters().unwrap();
    let wrote = second.since(&first);
    assert!(wrote.commits.is_some_and(|commits| (64..200).contains(&commits)), "{wrote:?}");
    assert!(wrote.log_bytes.is_some_and(|bytes| bytes > 32_000_000), "{wrote:?}");
    assert!(wrote.log_flushes.is_some_and(|flushes| flushes >= 64), "{wrote:?}");
    assert!(wrote.writes.is_some_and(|pages| pages > 1000), "{wrote:?}");
    let read = session.prepare("SELECT s FROM c WHERE i = ?").unwrap();
    for row in 0..2000 {
        assert_eq!(session.execute(read, &[(row * 16 + 1).into()]).unwrap().rows, 1);
    }
    let readings = observer.counters().unwrap().since(&second);
    assert!(readings.reads.is_some_and(|pages| pages > 500), "{readings:?}");
    assert!(readings.hits.is_some_and(|pages| pages > 2000), "{readings:?}");
    assert!(readings.read_time.is_some_and(|time| time > Span::ZERO), "{readings:?}");
    assert!(readings.commits.is_some_and(|commits| commits >= 2000), "single reads are transactions: {readings:?}");
    assert!(readings.cpu.is_some(), "{readings:?}");
    if database.about().direct == Some(true) {
        assert!(readings.fetched_bytes.is_some_and(|bytes| bytes > 500 * 16384), "{readings:?}");
    }
    let head = observer.head().unwrap();
    assert!(head["version"].is_string() && head["block_bytes"] == 16384, "{head:?}");
    let snapshot = observer.snapshot().unwrap();
    assert!(snapshot["at"].is_string() && snapshot["status"]["Innodb_data_reads"].is_u64(), "{snapshot:?}");
}

/// Connects by address, as to an existing server.
fn addresses(created: &Created) {
    let mut session = created.session().unwrap();
    let socket = session.rows("SELECT @@socket").unwrap()[0][0].text().unwrap().to_owned();
    session
        .run("CREATE USER 'shut'@'localhost' IDENTIFIED BY 'se@cret'; GRANT SELECT ON plimsoll.* TO 'shut'@'localhost'")
        .unwrap();
    let at = |user: &str, name: &str| {
        let address: DatabaseAddress = format!("mariadb://{user}@localhost/{name}?socket={socket}").parse().unwrap();
        connect(&address)
    };
    let found = at("shut:se%40cret", "plimsoll").unwrap();
    assert_eq!(found.about().folder, created.about().folder);
    assert!(!found.about().created);
    assert_eq!(kind(found.session().unwrap().run("CREATE TABLE t (i INT)")), FailureKind::Refused);
    // An unprivileged user observes what it may see.
    let mut observer = found.observer().unwrap();
    assert!(observer.counters().unwrap().reads.is_some());
    found.checkpoint().unwrap();
    let failure = at("shut:wrong-secret", "plimsoll").err().unwrap();
    assert!(failure.kind == FailureKind::Refused && !failure.message.contains("wrong-secret"), "{failure}");
    assert_eq!(kind(at("root", "none")), FailureKind::Missing);
    assert_eq!(kind(at("root", "").unwrap().contents()), FailureKind::Missing);
}

#[test]
fn ignored_flushes_are_not_issued() {
    let folder = Folder::new("mysql-lax");
    let Some(created) = server(&order(&folder.0, Flushes::Ignored)) else { return };
    assert_eq!(created.about().durable, Some(false));
    let mut session = created.session().unwrap();
    session.run("CREATE TABLE t (i INT PRIMARY KEY)").unwrap();
    let flushes = |session: &mut dyn Session| {
        let rows = session.rows("SHOW GLOBAL STATUS LIKE 'Innodb_data_fsyncs'").unwrap();
        rows[0][1].int().unwrap()
    };
    let before = flushes(&mut *session);
    for row in 0..500 {
        session.run(&format!("INSERT INTO t VALUES ({row})")).unwrap();
    }
    let after = flushes(&mut *session);
    // Some flushes are background activity.
    assert!(after - before < 250, "{} flushes of 500 commits", after - before);
}

#[test]
fn log_of_created_server_is_in_its_own_folder() {
    let (folder, log) = (Folder::new("redo-data"), Folder::new("redo"));
    let request = Make { log_folder: Some(log.0.clone()), ..order(&folder.0, Flushes::Ignored) };
    let Some(mut created) = server(&request) else { return };
    created.configure(&[], SettingsChange::Restart).unwrap();
    let settings = created.database.about().settings.clone();
    let own = settings.iter().find(|(name, _)| name == "innodb_log_group_home_dir");
    let own = own.unwrap_or_else(|| panic!("{settings:?}"));
    let names = std::fs::read_dir(&own.1).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names: Vec<String> = names.collect();
    assert!(names.iter().any(|name| name.starts_with("ib_logfile") || name.contains("innodb_redo")), "{names:?}");
    drop(created);
    for folder in [&folder, &log] {
        assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 0, "{:?}", folder.0);
    }
}

#[test]
fn failed_creation_has_reason() {
    let folder = Folder::new("mysql-wrong");
    let mut make = order(&folder.0, Flushes::Ignored);
    make.settings = vec![("no_such_setting".into(), "1".into())];
    match make.make().err().unwrap() {
        Failure { kind: FailureKind::Unsupported, message } => eprintln!("skipped: {message}"),
        failure => assert!(failure.message.contains("no-such-setting"), "{failure}"),
    }
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 0, "nothing is left");
    make.folder = folder.0.join("none");
    assert!([FailureKind::Missing, FailureKind::Unsupported].contains(&kind(make.make())));
}

#[test]
fn missing_server_is_unreachable() {
    let at = |address: &str| connect(&address.parse().unwrap()).err().unwrap();
    for address in ["mysql://me:secret@localhost/x?socket=/no/such/socket", "mysql://me:secret@127.0.0.1:1/x"] {
        let failure = at(address);
        assert!(failure.kind == FailureKind::Unreachable && !failure.message.contains("secret"), "{failure}");
    }
}
