//! Start and end of created servers.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use plimsoll_database::{Database, FailureKind, Flushes, Make, SettingsChange, cgroup::MemoryCgroup};
use plimsoll_units::Bytes;

use super::{Folder, Server, create, order, until, unwrap_failure};

/// `TMPFS_MAGIC`.
const IN_MEMORY: u64 = 0x0102_1994;

/// Makes a copy of this test program create a server and wait to be killed.
const PARENT: &str = "PLIMSOLL_TEST_OF_A_KILLED_PARENT";

fn postmaster(database: &dyn Database) -> PathBuf {
    let data = database.about().folder.clone().unwrap();
    let file = fs::read_to_string(Path::new(&data).join("postmaster.pid")).unwrap();
    Path::new("/proc").join(file.lines().next().unwrap())
}

fn entries(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[test]
fn log_of_created_server_is_in_its_own_folder() {
    let (folder, log) = (Folder::new("wal-data"), Folder::new("wal"));
    let Some(created) = create(&Make { log_folder: Some(log.0.clone()), ..order(&folder) }) else { return };
    let mut created = created.unwrap_or_else(|failure| panic!("{failure}"));
    let wal = fs::read_link(format!("{}/pg_wal", created.about().folder.as_ref().unwrap())).unwrap();
    assert!(wal.starts_with(&log.0) && wal.join("000000010000000000000001").exists(), "{wal:?}");
    created.configure(&[], SettingsChange::Restart).unwrap();
    let settings = &created.database.about().settings;
    assert!(settings.iter().any(|(name, value)| name == "pg_wal" && wal.starts_with(value)), "{settings:?}");
    drop(created);
    for folder in [&folder, &log] {
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 0, "{:?}", folder.0);
    }
}

#[test]
fn server_is_removed_on_drop() {
    let Some(mut server) = Server::start("life") else { return };
    let (process, sockets) = (postmaster(server.database()), server.sockets());
    let mut session = server.session();
    assert!(process.exists() && Path::new(&sockets).exists() && sockets.len() < 100);
    assert_eq!(entries(&server.folder.0), 1);
    assert_eq!(fs::metadata(&sockets).unwrap().permissions(), std::os::unix::fs::PermissionsExt::from_mode(0o40_700));
    // Nothing remains, even with an open session.
    session.run("SELECT 1").unwrap();
    server.created = None;
    assert!(!Path::new(&sockets).exists());
    // An ended process is visible until its parent has taken note.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while process.exists() && std::time::Instant::now() < deadline {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(!process.exists());
    assert_eq!(entries(&server.folder.0), 0);
    assert_eq!(unwrap_failure(session.run("SELECT 1")).kind, FailureKind::Lost);
}

#[test]
fn server_settings_can_be_given() {
    let folder = Folder::new("told");
    let mut order = order(&folder);
    order.flushes = Flushes::Ignored;
    order.settings = vec![("random_page_cost".into(), "1.5".into()), ("autovacuum".into(), "on".into())];
    let Some(created) = create(&order) else { return };
    let created = created.unwrap();
    let about = created.database.about();
    assert_eq!(about.durable, Some(false));
    let has = |name: &str, value: &str| about.settings.contains(&(name.into(), value.into()));
    assert!(has("fsync", "off") && has("full_page_writes", "off") && has("autovacuum", "on"), "{:?}", about.settings);
    let cost = created.database.session().unwrap().rows("SHOW random_page_cost").unwrap();
    assert_eq!(cost[0][0].float(), Some(1.5));
}

#[test]
fn failed_start_is_explained_and_leaves_no_files() {
    let folder = Folder::new("wrong");
    let mut order = order(&folder);
    order.settings.push(("no_such_setting".into(), "1".into()));
    let Some(created) = create(&order) else { return };
    let wrong = unwrap_failure(created);
    assert!(wrong.message.contains("no_such_setting"), "{wrong}");
    assert_eq!(entries(&folder.0), 0);
    order.settings.clear();
    order.folder = folder.0.join("none");
    let nowhere = unwrap_failure(order.make());
    assert!(nowhere.kind == FailureKind::Missing && nowhere.message.contains("none"), "{nowhere}");
}

/// Not a test: started and killed by [`a_server_ends_with_a_killed_process`].
#[test]
fn parent() {
    let Some(folder) = std::env::var_os(PARENT) else { return };
    let folder = Folder(folder.into());
    let order = order(&folder);
    // On a thread that ends: the server must survive it.
    let created = std::thread::spawn(move || order.make().unwrap()).join().unwrap();
    println!("\nserver {}", postmaster(created.database.as_ref()).display());
    loop {
        std::thread::park();
    }
}

#[test]
fn a_server_ends_with_a_killed_process() {
    let folder = Folder::new("killed");
    if create(&order(&folder)).is_none() {
        return;
    }
    let mut copy = Command::new(std::env::current_exe().unwrap());
    copy.args(["--exact", "postgres::life::parent", "--nocapture"]).env(PARENT, &folder.0).env("TMPDIR", &folder.0);
    let mut copy = copy.stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(copy.stdout.take().unwrap()).lines();
    let server = lines.map_while(Result::ok).find_map(|line| line.strip_prefix("server ").map(PathBuf::from)).unwrap();
    assert!(server.exists(), "{}", server.display());
    copy.kill().unwrap();
    copy.wait().unwrap();
    until("the server is gone", || !server.exists());
}

#[test]
fn memory_limit_is_enforced() {
    let folder = Folder::new("memory");
    let mut order = order(&folder);
    let limit = Bytes::mib(96);
    order.memory = Some(limit);
    order.flushes = Flushes::Ignored;
    if let Err(failure) = MemoryCgroup::new("try", limit) {
        assert_eq!(failure.kind, FailureKind::Unsupported);
        eprintln!("skipped: {failure}");
        return;
    }
    let Some(created) = create(&order) else { return };
    let created = created.unwrap_or_else(|failure| panic!("{failure}"));
    let database = created.database.as_ref();
    assert_eq!(database.about().memory, Some(limit));
    let mut session = database.session().unwrap();
    session.run("CREATE TABLE big AS SELECT n, repeat('x', 1900) AS t FROM generate_series(1, 102400) n").unwrap();
    database.checkpoint().unwrap();
    let mut observer = database.observer().unwrap();
    session.run("SELECT count(*) FROM big WHERE t <> ''").unwrap();
    let before = observer.counters().unwrap();
    session.run("SELECT count(*) FROM big WHERE t <> ''").unwrap();
    let fetched = observer.counters().unwrap().since(&before).fetched_bytes.unwrap();
    // A filesystem in memory has no reads.
    if rustix::fs::statfs(&folder.0).unwrap().f_type as u64 != IN_MEMORY {
        // At most the limit of the 200 MiB can have stayed in memory.
        assert!(fetched > 100 << 20, "{}", Bytes::new(fetched));
    }
    drop((session, observer));
    drop(created);
    assert_eq!(entries(&folder.0), 0);
}

#[test]
fn killed_server_is_explained_and_kept() {
    let folder = Folder::new("dead");
    let Some(created) = create(&order(&folder)) else { return };
    let created = created.unwrap();
    assert_eq!(created.post_mortem(), None, "it is alive");
    let session = created.session().unwrap();
    let pid = i32::try_from(session.number().unwrap()).unwrap();
    rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), rustix::process::Signal::KILL).unwrap();
    let mut why = None;
    until("the server says so", || {
        why = created.post_mortem();
        why.is_some()
    });
    let why = why.unwrap();
    assert!(why.contains("was terminated by signal 9") && why.contains("are kept in "), "{why}");
    drop((session, created));
    assert_eq!(entries(&folder.0), 1, "the folder with its log stays");
}

#[test]
fn system_database_is_never_emptied() {
    let Some(server) = Server::start("system") else { return };
    let address =
        format!("postgres:///template1?host={}&user=plimsoll", server.sockets().trim_end_matches("/.s.PGSQL.5432"));
    let database = plimsoll_database::connect(&address.parse().unwrap()).unwrap();
    let refused = unwrap_failure(database.destroy_contents(None));
    assert!(refused.kind == FailureKind::SystemDatabase && refused.message.contains("template1"), "{refused}");
    assert_eq!(
        unwrap_failure(plimsoll_database::DataMarker::default().create(&*database)).kind,
        FailureKind::SystemDatabase
    );
}
