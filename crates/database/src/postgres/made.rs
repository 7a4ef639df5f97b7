//! A PostgreSQL server created for a run: directory on the storage under test, settings, start and end.
//!
//! Listens only on a Unix socket in a directory that other users cannot enter, without a password.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use plimsoll_language::{label, say};
use plimsoll_units::Bytes;
use rustix::process::Signal;

use super::place::{PostgresHost, PostgresLocation};
use super::{Postgres, programs, settings};
use crate::cgroup::MemoryCgroup;
use crate::failure::{Failure, FailureKind};
use crate::made::{self, Created, Flushes, Make};
use crate::private_folder::{PrivateFolder, short_place};
use crate::server_process::{ServerProcess, User, describe_exit, fatal_message, last_log_lines};
use crate::target::Database;

/// An empty cluster with its first WAL segments takes some 40 MB; the rest is for operation.
const MIN_SPACE: u64 = 256 << 20;
/// Timeout of the start, sufficient for slow storage.
const START_TIMEOUT: Duration = Duration::from_secs(300);
/// Timeout of the shutdown, which writes nothing.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);
/// Sessions in addition to those requested: observers and short connections.
const SPARE_SESSIONS: u32 = 10;
/// Memory in addition to the cache: the server, and each session.
const OWN_MEMORY: u64 = 64 << 20;
const SESSION_MEMORY: u64 = 2 << 20;

/// Creates a server.
pub(crate) fn make(order: &Make) -> Result<Created, Failure> {
    let mut server = PostgresServer::prepare(order, programs::newest()?)?;
    let free = server.log_folder.as_ref().unwrap_or(&server.folder).check_space(MIN_SPACE)?;
    server.folder.check_space(MIN_SPACE)?;
    server.run_initdb()?;
    let version = programs::read_version(&server.programs);
    let settings = build_settings(order, version, server.sockets.path(), free);
    append(&server.data().join("postgresql.conf"), &written(&settings))?;
    let database = server.start()?;
    Ok(Created::with(database.server.about.clone(), Box::new(database), Box::new(server)))
}

/// A server with its directories. Fields are dropped in declaration order, after the process has ended.
struct PostgresServer {
    user: User,
    /// Directory of the server's programs.
    programs: PathBuf,
    memory: Option<Bytes>,
    process: Option<ServerProcess>,
    sockets: PrivateFolder,
    /// On the storage under test; holds data and messages.
    folder: PrivateFolder,
    /// Of the WAL, if on storage of its own.
    log_folder: Option<PrivateFolder>,
    cgroup: Option<MemoryCgroup>,
}

impl PostgresServer {
    /// Creates directories and cgroup.
    fn prepare(order: &Make, programs: PathBuf) -> Result<Self, Failure> {
        let cgroup = order.cgroup("postgres", OWN_MEMORY, SESSION_MEMORY)?;
        let user = User::unless_root("postgres");
        let folder = PrivateFolder::new(&order.folder, "plimsoll-postgres")?;
        let sockets = PrivateFolder::new(&short_place(), "plimsoll-pg")?;
        for folder in [folder.path(), sockets.path()] {
            user.own(folder).map_err(|error| {
                let line = say!(
                    "{}: {error}: install PostgreSQL with its user, or run as another user than root",
                    folder.display()
                );
                Failure::new(FailureKind::Unsupported, line)
            })?;
        }
        let log_folder = order.log_folder("plimsoll-postgres", &user, MIN_SPACE)?;
        Ok(Self { user, programs, memory: order.memory, process: None, sockets, folder, log_folder, cgroup })
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    /// Command that writes to the log, and ends with this process.
    fn command(&self, program: &Path) -> Result<Command, Failure> {
        let log = File::options().create(true).append(true).open(self.log());
        let twice = log.and_then(|log| Ok((log.try_clone()?, log)));
        let (out, err) = twice.map_err(|error| unusable(self.folder.path(), &error))?;
        let mut command = self.user.command(program, "QUIT", self.cgroup.as_ref());
        // Ignores the caller's environment: PGDATA and the like, message languages, an inaccessible working directory.
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("LC_ALL", "C").current_dir("/");
        command.stdin(Stdio::null()).stdout(out).stderr(err);
        Ok(command)
    }

    /// Creates an empty cluster.
    fn run_initdb(&self) -> Result<(), Failure> {
        let mut command = self.command(&self.programs.join("initdb"))?;
        command.arg("--pgdata").arg(self.data()).args([
            "--username",
            "plimsoll",
            "--encoding",
            "UTF8",
            "--locale",
            "C",
        ]);
        command.args(["--auth-local", "trust", "--auth-host", "reject"]);
        if let Some(log) = &self.log_folder {
            command.arg("--waldir").arg(log.path().join("wal"));
        }
        let status = command.status().map_err(|error| absent(&error))?;
        if status.success() {
            return Ok(());
        }
        let log_lines = last_log_lines(&self.log(), 3);
        let remedy = match log_lines.as_str() {
            log_lines if log_lines.contains("Permission denied") => {
                label!("let the user postgres enter the directories above")
            }
            log_lines if log_lines.contains("No space") => {
                return Err(Failure::new(FailureKind::NoSpace, say!("initdb: {log_lines}: free some")));
            }
            _ => label!("try another directory"),
        };
        Err(Failure::new(
            FailureKind::Unsupported,
            format!("initdb in {}: {log_lines}: {remedy}", self.folder.path().display()),
        ))
    }

    /// Starts the server, and connects to it.
    fn start(&mut self) -> Result<Postgres, Failure> {
        let mut command = self.command(&self.programs.join("postgres"))?;
        command.arg("-D").arg(self.data());
        self.process = Some(ServerProcess::start(command).map_err(|error| absent(&error))?);
        let mut database = self.await_start()?;
        let about = &mut database.server.about;
        about.created = true;
        about.memory = self.memory;
        about.folder = Some(self.data().display().to_string());
        let log = self.log_folder.as_ref().map(|log| log.path().display().to_string());
        about.settings.extend(log.map(|log| ("pg_wal".to_owned(), log)));
        Ok(database)
    }

    /// Waits until the server accepts connections.
    fn await_start(&mut self) -> Result<Postgres, Failure> {
        let until = Instant::now() + START_TIMEOUT;
        loop {
            let place = PostgresLocation {
                host: PostgresHost::Socket(self.sockets.path().to_owned()),
                port: 5432,
                user: "plimsoll".into(),
                password: None,
                database: "postgres".into(),
                options: None,
            };
            match Postgres::open(place) {
                Err(failure) if failure.kind == FailureKind::Unreachable && Instant::now() < until => {}
                other => return other,
            }
            if self.process.as_ref().is_none_or(|process| !process.runs()) {
                let status = self.process.take().and_then(|process| process.stop(Signal::KILL, Duration::ZERO));
                let why = made::MadeServer::post_mortem(self);
                let log_lines = why.unwrap_or_else(|| last_log_lines(&self.log(), 4));
                let line = say!(
                    "the created server did not start ({}): {log_lines}: change its settings or its memory",
                    describe_exit(status)
                );
                return Err(Failure::new(FailureKind::Unsupported, line));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Log messages that explain an unusable server, most specific first.
const FATAL_MESSAGES: [&str; 3] = ["PANIC:", "was terminated by signal", "No space left on device"];

impl made::MadeServer for PostgresServer {
    fn post_mortem(&self) -> Option<String> {
        let kills = self.cgroup.as_ref().and_then(MemoryCgroup::kills);
        self.folder.post_mortem(&[kills, fatal_message(&self.log(), &FATAL_MESSAGES)])
    }

    fn restart(&mut self, settings: &[(String, String)]) -> Result<Box<dyn Database>, Failure> {
        for (name, _) in settings {
            settings::check_name(name)?;
        }
        if let Some(process) = self.process.take() {
            // Fast shutdown: sessions are ended, and dirty blocks are written.
            process.stop(Signal::INT, START_TIMEOUT);
        }
        let file = self.data().join("postgresql.auto.conf");
        fs::write(&file, written(settings)).map_err(|error| unusable(&file, &error))?;
        let database = self.start()?;
        settings::await_values(&database.place, settings)?;
        Ok(Box::new(database))
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        if let Some(process) = self.process.take() {
            // Immediate shutdown without a checkpoint: the data are removed.
            process.stop(Signal::QUIT, STOP_TIMEOUT);
        }
    }
}

fn unusable(folder: &Path, error: &io::Error) -> Failure {
    Failure::new(
        FailureKind::Unsupported,
        say!("a server in {}: {error}: name a directory that can be written", folder.display()),
    )
}

fn absent(error: &io::Error) -> Failure {
    Failure::new(
        FailureKind::Unsupported,
        say!("setpriv, which starts the server: {error}: install the package util-linux"),
    )
}

/// Server settings: requested values, settings that make a session a single stream of I/O, and settings of benchmarks.
/// The caller's settings come last, and take precedence.
fn build_settings(order: &Make, version: u32, sockets: &Path, free: u64) -> Vec<(String, String)> {
    let flushed = if order.flushes == Flushes::Honoured { "on" } else { "off" };
    // WAL may fill a tenth of small storage. On large storage it suffices for time-based checkpoints.
    let log = ((free / 10) >> 20).clamp(128, 4096);
    let mut settings = vec![
        ("listen_addresses", String::new()),
        ("unix_socket_directories", sockets.display().to_string()),
        ("unix_socket_permissions", "0700".into()),
        ("port", "5432".into()),
        ("max_connections", (order.sessions + SPARE_SESSIONS).to_string()),
        // PostgreSQL's minimum is 16 blocks.
        ("shared_buffers", format!("{}kB", (order.cache.get() >> 10).max(128))),
        ("fsync", flushed.into()),
        ("synchronous_commit", flushed.into()),
        ("full_page_writes", flushed.into()),
        ("max_wal_size", format!("{log}MB")),
        ("checkpoint_timeout", "5min".into()),
        // Each session is a single stream of requests, without parallel workers.
        ("max_parallel_workers_per_gather", "0".into()),
        ("max_parallel_maintenance_workers", "0".into()),
        ("jit", "off".into()),
        // Autovacuum would add I/O at arbitrary moments.
        ("autovacuum", "off".into()),
        // Cgroups do not account huge pages.
        ("huge_pages", "off".into()),
        ("track_io_timing", "on".into()),
        ("log_timezone", "UTC".into()),
        ("timezone", "UTC".into()),
    ];
    if version >= 14 {
        settings.push(("track_wal_io_timing", "on".into()));
    }
    settings.retain(|(name, _)| !order.settings.iter().any(|(own, _)| own == name));
    let mut settings: Vec<_> = settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    settings.extend(order.settings.iter().cloned());
    settings
}

/// Formats settings for the configuration file.
fn written(settings: &[(String, String)]) -> String {
    let line = |(name, value): &(String, String)| format!("{name} = '{}'\n", value.replace('\'', "''"));
    settings.iter().map(line).collect()
}

fn append(file: &Path, text: &str) -> Result<(), Failure> {
    let mut all = fs::read_to_string(file).map_err(|error| unusable(file, &error))?;
    all.push_str(text);
    fs::write(file, all).map_err(|error| unusable(file, &error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::System;

    fn order() -> Make {
        Make {
            system: System::Postgres,
            folder: std::env::temp_dir(),
            log_folder: None,
            cache: Bytes::mib(16),
            memory: None,
            flushes: Flushes::Ignored,
            settings: vec![("jit".into(), "on".into()), ("application_name".into(), "it's".into())],
            sessions: 8,
        }
    }

    #[test]
    fn settings_of_the_caller_win() {
        let text = written(&build_settings(&order(), 13, Path::new("/s"), 5 << 30));
        for line in [
            "listen_addresses = ''",
            "max_connections = '18'",
            "shared_buffers = '16384kB'",
            "fsync = 'off'",
            "max_wal_size = '512MB'",
            "jit = 'on'",
            "application_name = 'it''s'",
        ] {
            assert_eq!(text.matches(&format!("{line}\n")).count(), 1, "{line} in {text}");
        }
        assert!(!text.contains("jit = 'off'") && !text.contains("track_wal_io_timing"));
        let newer = build_settings(&order(), 14, Path::new("/s"), 5 << 30);
        assert!(newer.contains(&("track_wal_io_timing".into(), "on".into())));
    }

    #[test]
    fn memory_limit_below_cache_is_refused() {
        let small = Make { memory: Some(Bytes::mib(95)), ..order() };
        let failure = small.cgroup("postgres", OWN_MEMORY, SESSION_MEMORY).err().unwrap();
        assert!(failure.kind == FailureKind::Unsupported && failure.message.contains("at least 96 MiB"), "{failure}");
    }
}
