//! A MariaDB or MySQL server created for a run: data on the storage under test, socket in a private directory.
//!
//! Ends with this process, even if it is killed; removed on drop.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use mysql::Conn;
use mysql::prelude::Queryable;
use plimsoll_language::{label, say};
use rustix::process::Signal;

use super::failures::convert_error;
use super::place::MySqlLocation;
use super::programs::Programs;
use super::{Mysql, settings};
use crate::cgroup::MemoryCgroup;
use crate::failure::{Failure, FailureKind};
use crate::made::{self, Created, Flushes, Make};
use crate::private_folder::{PrivateFolder, short_place};
use crate::server_process::{ServerProcess, User, describe_exit, fatal_message, last_log_lines};
use crate::target::Database;

/// Timeout of the start, sufficient for slow storage.
const START_TIMEOUT: Duration = Duration::from_secs(300);
/// Timeout of the shutdown before the server is killed.
const STOP_TIMEOUT: Duration = Duration::from_secs(60);
/// Connections in addition to the sessions: observers and cancellation.
const SPARE_CONNECTIONS: u32 = 32;
/// Memory in addition to the cache: the server with its log buffers and counters, and each session.
const OWN_MEMORY: u64 = 176 << 20;
const SESSION_MEMORY: u64 = 2 << 20;
/// Name of its only database.
const NAME: &str = "plimsoll";
/// Space of an empty server without its log.
const EMPTY_SERVER_BYTES: u64 = 256 << 20;
/// Maximum number of log lines in a failure.
const MAX_LOG_LINES: usize = 4;

/// A running server and its folders. Fields are dropped in declaration order.
pub(super) struct MySqlServer {
    running: Option<ServerProcess>,
    socket: PrivateFolder,
    data: PrivateFolder,
    /// Of the redo log, if on storage of its own.
    log_folder: Option<PrivateFolder>,
    user: User,
    order: Make,
    cgroup: Option<MemoryCgroup>,
}

/// Log messages that explain an unusable server, most specific first.
const FATAL_MESSAGES: [&str; 4] = ["No space left", "errno: 28", "Error 28", "got signal"];

impl made::MadeServer for MySqlServer {
    fn post_mortem(&self) -> Option<String> {
        let kills = self.cgroup.as_ref().and_then(MemoryCgroup::kills);
        self.data.post_mortem(&[kills, fatal_message(&self.log(), &FATAL_MESSAGES)])
    }

    fn restart(&mut self, settings: &[(String, String)]) -> Result<Box<dyn Database>, Failure> {
        let both = self.order.settings.iter().chain(settings).cloned().collect();
        let options = build_options(&Make { settings: both, ..self.order.clone() })?;
        if let Some(running) = self.running.take() {
            running.stop(Signal::TERM, STOP_TIMEOUT);
        }
        self.launch(&Programs::find()?, &options)?;
        settings::check_values(&mut wait(self)?, settings)?;
        Ok(Box::new(self.connect()?))
    }
}

impl MySqlServer {
    pub(super) fn process(&self) -> u32 {
        self.running.as_ref().map_or(0, ServerProcess::pid)
    }

    fn log(&self) -> PathBuf {
        self.data.path().join("server.log")
    }

    /// Starts the server's process.
    fn launch(&mut self, programs: &Programs, options: &[String]) -> Result<(), Failure> {
        let (data, socket) = (self.data.path(), self.socket.path());
        let mut command = self.user.command(programs.server(), "KILL", self.cgroup.as_ref());
        command.arg("--no-defaults").args([
            path_option("datadir", &data.join("data")),
            path_option("socket", &socket.join("s")),
            path_option("pid-file", &socket.join("pid")),
            path_option("tmpdir", data),
        ]);
        command.args(options).args(log_option(self.log_folder.as_ref()));
        if rustix::process::geteuid().is_root() && self.user == User::Same {
            command.arg("--user=root");
        }
        redirect_output(&mut command, &self.log(), data)?;
        let started = ServerProcess::start(command);
        self.running = Some(started.map_err(|error| unstarted(programs.name(), &error.to_string()))?);
        Ok(())
    }

    /// Connects to its only database.
    fn connect(&self) -> Result<Mysql, Failure> {
        let mut database = Mysql::at(self.place(Some(NAME)), Some(self.process()))?;
        database.about.created = true;
        database.about.memory = self.order.memory;
        let log = self.log_folder.as_ref().map(|log| log.path().display().to_string());
        database.about.settings.extend(log.map(|log| ("innodb_log_group_home_dir".to_owned(), log)));
        Ok(database)
    }

    fn place(&self, name: Option<&str>) -> MySqlLocation {
        MySqlLocation::at_socket(&self.socket.path().join("s"), name)
    }
}

impl Drop for MySqlServer {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop(Signal::TERM, STOP_TIMEOUT);
        }
    }
}

/// Creates a server.
pub(crate) fn make(make: &Make) -> Result<Created, Failure> {
    let programs = Programs::find()?;
    let options = build_options(make)?;
    let server = start(make, &programs, &options)?;
    let mut conn = wait(&server)?;
    conn.query_drop(format!("CREATE DATABASE {NAME} CHARACTER SET utf8mb4")).map_err(|error| convert_error(&error))?;
    drop(conn);
    let database = server.connect()?;
    Ok(Created::with(database.about.clone(), Box::new(database), Box::new(server)))
}

/// Installs the system tables, and starts the server.
fn start(make: &Make, programs: &Programs, options: &[String]) -> Result<MySqlServer, Failure> {
    let name = programs.name();
    let data = PrivateFolder::new(&make.folder, &format!("plimsoll-{name}"))?;
    let own_log_bytes = if make.log_folder.is_some() { 0 } else { log_bytes(make) };
    data.check_space(own_log_bytes + EMPTY_SERVER_BYTES)?;
    let socket = PrivateFolder::new(&short_place(), &format!("plimsoll-{name}"))?;
    let user = data.give_to(User::unless_root("mysql"))?;
    socket.give_to(user.clone())?;
    data.check_entry(&user)?;
    let log_folder = make.log_folder(&format!("plimsoll-{name}"), &user, log_bytes(make))?;
    let datadir = path_option("datadir", &data.path().join("data"));

    let log = data.path().join("install.log");
    let mut install = programs.install(&user);
    // The installation must be flushed: a server does not start from files whose log was not written back.
    let of_files = |option: &&String| option.starts_with("--innodb") && !option.contains("fast-shutdown");
    // A server deletes files in its temporary folder when it starts, so that the folder must not be shared.
    install.env("TMPDIR", data.path()).arg(&datadir).args(options.iter().filter(of_files));
    install.args(log_option(log_folder.as_ref()));
    redirect_output(&mut install, &log, data.path())?;
    let status = install.status().map_err(|error| unstarted(name, &error.to_string()))?;
    if !status.success() {
        return Err(failed_start(&say!("{name}'s tables could not be installed"), &error_lines(&log)));
    }

    let cgroup = make.cgroup(name, OWN_MEMORY, SESSION_MEMORY)?;
    let mut server = MySqlServer { running: None, socket, data, log_folder, user, order: make.clone(), cgroup };
    server.launch(programs, options)?;
    Ok(server)
}

/// Option of the directory of the redo log, if it has storage of its own.
fn log_option(folder: Option<&PrivateFolder>) -> Option<String> {
    folder.map(|folder| path_option("innodb-log-group-home-dir", folder.path()))
}

fn path_option(option: &str, path: &Path) -> String {
    format!("--{option}={}", path.display())
}

/// Waits until the server accepts connections.
fn wait(server: &MySqlServer) -> Result<Conn, Failure> {
    let until = Instant::now() + START_TIMEOUT;
    let place = server.place(None);
    loop {
        match place.open() {
            Ok(conn) => return Ok(conn),
            Err(failure) if Instant::now() > until => {
                return Err(failed_start(label!("the server refuses all connections"), &failure.message));
            }
            Err(_) if server.running.as_ref().is_some_and(ServerProcess::runs) => sleep(Duration::from_millis(20)),
            Err(_) => {
                let how = describe_exit(None);
                let why = made::MadeServer::post_mortem(server);
                let log_lines = why.unwrap_or_else(|| error_lines(&server.log()));
                return Err(failed_start(&say!("the server did not start: {how}"), &log_lines));
            }
        }
    }
}

/// Redirects output to the log, and sets a working directory that the user can access.
fn redirect_output(command: &mut Command, log: &Path, folder: &Path) -> Result<(), Failure> {
    let open = || File::options().create(true).append(true).open(log);
    let failed = |error| Failure::new(FailureKind::Statement, format!("{}: {error}", log.display()));
    let (out, err) = (open().map_err(failed)?, open().map_err(failed)?);
    command.current_dir(folder).stdin(Stdio::null()).stdout(out).stderr(err);
    Ok(())
}

fn unstarted(name: &str, why: &str) -> Failure {
    Failure::new(
        FailureKind::Unsupported,
        say!("{name} cannot be started: {why}: install it, and setpriv of util-linux"),
    )
}

fn failed_start(what: &str, log: &str) -> Failure {
    let full = log.contains("No space left") || log.contains("errno: 28") || log.contains("Error 28");
    let kind = if full { FailureKind::NoSpace } else { FailureKind::Statement };
    Failure::new(kind, say!("{what}: {log}: check folder, cache and settings"))
}

/// Error lines of a log, first error first, because consequences follow at length. The last lines if there are no
/// errors.
fn error_lines(log: &Path) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let errors: Vec<&str> =
        text.lines().filter_map(|line| Some(line.split_once("[ERROR]")?.1.trim())).take(MAX_LOG_LINES).collect();
    if errors.is_empty() { last_log_lines(log, MAX_LOG_LINES) } else { errors.join("; ") }
}

/// Size of the redo log: as large as the cache, so that dirty pages may stay in it, within limits.
fn log_bytes(make: &Make) -> u64 {
    make.cache.get().clamp(96 << 20, 4 << 30)
}

/// Server options. The prefix `loose` marks options that only some systems or versions have.
fn build_options(make: &Make) -> Result<Vec<String>, Failure> {
    let flushes: &[&str] = match make.flushes {
        Flushes::Honoured => &["--innodb-flush-method=O_DIRECT", "--innodb-flush-log-at-trx-commit=1"],
        // Reads still bypass the page cache, so that flushes are the only difference. The log buffer is written when it
        // is full, when a checkpoint needs it, and at the longest interval that can be set.
        Flushes::Ignored => &[
            "--innodb-flush-method=O_DIRECT_NO_FSYNC",
            "--innodb-flush-log-at-trx-commit=0",
            "--innodb-flush-log-at-timeout=2700",
            "--innodb-doublewrite=0",
        ],
    };
    let fixed = [
        "--skip-networking",
        "--loose-mysqlx=0",
        "--skip-log-bin",
        "--skip-name-resolve",
        "--character-set-server=utf8mb4",
        "--max-prepared-stmt-count=1048576",
        "--innodb-adaptive-hash-index=0",
        "--innodb-buffer-pool-dump-at-shutdown=0",
        "--innodb-buffer-pool-load-at-startup=0",
        // Pages are read only on demand, one by one.
        "--innodb-read-ahead-threshold=0",
        "--innodb-random-read-ahead=0",
        "--innodb-flush-neighbors=0",
        // The defaults are for a single rotating disk.
        "--innodb-io-capacity=2000",
        "--innodb-io-capacity-max=20000",
        // Dirty pages are discarded with the data.
        "--innodb-fast-shutdown=2",
        "--innodb-monitor-enable=trx_rw_commits,trx_ro_commits,trx_nl_ro_commits",
        // Only times of file calls of InnoDB are measured.
        "--performance-schema=1",
        "--performance-schema-instrument=%=off",
        "--performance-schema-instrument=wait/io/file/innodb/%=on",
        "--loose-performance-schema-consumer-statements-digest=0",
        "--loose-performance-schema-digests-size=0",
        "--loose-performance-schema-events-waits-history-long-size=0",
        "--loose-performance-schema-events-stages-history-long-size=0",
        "--loose-performance-schema-events-statements-history-long-size=0",
        "--loose-performance-schema-events-transactions-history-long-size=0",
    ];
    let sized = [
        format!("--innodb-buffer-pool-size={}", make.cache.get()),
        format!("--innodb-log-file-size={}", log_bytes(make)),
        format!("--max-connections={}", make.sessions.saturating_add(SPARE_CONNECTIONS).min(100_000)),
    ];
    let mut options: Vec<String> =
        fixed.iter().chain(flushes).map(|option| (*option).to_owned()).chain(sized).collect();
    for (name, value) in &make.settings {
        options.push(setting(name, value)?);
    }
    Ok(options)
}

/// A setting of the user. Paths and the user of the server cannot be overridden.
fn setting(name: &str, value: &str) -> Result<String, Failure> {
    const OURS: [&str; 6] = ["datadir", "socket", "pid-file", "user", "tmpdir", "defaults-file"];
    let dashed = name.replace('_', "-");
    let plain =
        !dashed.is_empty() && dashed.chars().all(|letter| letter.is_ascii_alphanumeric() || "-.".contains(letter));
    if !plain || dashed.starts_with('-') || OURS.contains(&dashed.as_str()) {
        return Err(Failure::new(
            FailureKind::Unsupported,
            say!("the setting {name} cannot be given to a server that is made: leave it out"),
        ));
    }
    Ok(format!("--{dashed}={value}"))
}

#[cfg(test)]
mod tests {
    use plimsoll_units::Bytes;

    use super::*;
    use crate::system::System;

    fn order(flushes: Flushes, settings: &[(&str, &str)]) -> Make {
        Make {
            system: System::Mysql,
            folder: "/nowhere".into(),
            log_folder: None,
            cache: Bytes::new(1 << 30),
            memory: None,
            flushes,
            settings: settings.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
            sessions: 8,
        }
    }

    #[test]
    fn user_settings_come_last_and_cannot_change_paths() {
        let honoured = build_options(&order(Flushes::Honoured, &[("innodb_io_capacity", "7")])).unwrap();
        assert_eq!(honoured.last().unwrap(), "--innodb-io-capacity=7");
        assert!(honoured.contains(&"--innodb-log-file-size=1073741824".to_owned()));
        assert!(honoured.contains(&"--max-connections=40".to_owned()));
        assert!(honoured.contains(&"--innodb-flush-log-at-trx-commit=1".to_owned()));
        let ignored = build_options(&order(Flushes::Ignored, &[])).unwrap();
        assert!(ignored.contains(&"--innodb-doublewrite=0".to_owned()));
        for name in ["datadir", "pid_file", "-x", "", "a b"] {
            assert!(build_options(&order(Flushes::Honoured, &[(name, "1")])).is_err(), "{name}");
        }
    }
}
