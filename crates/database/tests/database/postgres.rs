//! Tests on PostgreSQL servers created for each test.
#![allow(clippy::print_stderr, clippy::print_stdout, clippy::unwrap_used, reason = "a test that is skipped says why")]

mod contents;
mod failures;
mod life;
mod looking;
mod values;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use plimsoll_database::{
    Created, Database, DatabaseAddress, Failure, FailureKind, Flushes, Make, Session, System, connect,
};
use plimsoll_units::Bytes;

/// A server in a private directory, removed on drop.
struct Server {
    /// `None` after it was stopped.
    created: Option<Created>,
    folder: Folder,
}

/// A directory removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("plimsoll-database-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        // Under root, servers run as another user.
        std::fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn order(folder: &Folder) -> Make {
    Make {
        system: System::Postgres,
        folder: folder.0.clone(),
        log_folder: None,
        cache: Bytes::mib(8),
        memory: None,
        flushes: Flushes::Honoured,
        settings: vec![("log_min_messages".into(), "warning".into())],
        sessions: 8,
    }
}

/// Creates a server; `None`, with the reason printed, if PostgreSQL or setpriv is not installed.
fn create(make: &Make) -> Option<Result<Created, Failure>> {
    let is_missing = |text: &str| text.contains("is installed here") || text.starts_with("setpriv: ");
    match make.make() {
        Err(failure) if failure.kind == FailureKind::Unsupported && is_missing(&failure.message) => {
            eprintln!("skipped: {failure}");
            None
        }
        other => Some(other),
    }
}

impl Server {
    fn start(name: &str) -> Option<Self> {
        let folder = Folder::new(name);
        let created = create(&order(&folder))?.unwrap_or_else(|failure| panic!("{failure}"));
        Some(Self { created: Some(created), folder })
    }

    fn database(&self) -> &dyn Database {
        self.created.as_ref().unwrap().database.as_ref()
    }

    fn session(&self) -> Box<dyn Session> {
        self.database().session().unwrap()
    }

    fn sockets(&self) -> String {
        let rows = self.session().rows("SHOW unix_socket_directories").unwrap();
        rows[0][0].text().unwrap().to_owned()
    }
}

fn connected(url: &str) -> Result<Box<dyn Database>, Failure> {
    connect(&url.parse::<DatabaseAddress>().unwrap())
}

fn unwrap_failure<T>(result: Result<T, Failure>) -> Failure {
    let failure = result.err().expect("it had to fail");
    assert!(!failure.message.contains('\n'), "one line: {failure}");
    failure
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(120);
    while !done() {
        assert!(Instant::now() < end, "{what}: not within two minutes");
        std::thread::sleep(Duration::from_millis(20));
    }
}
