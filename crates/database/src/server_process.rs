//! A server process that ends with this process, even if this process is killed, and its user.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use crate::cgroup::MemoryCgroup;

/// Interval at which an ending process is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// User of a process: servers refuse to run as root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum User {
    /// The user of this process.
    Same,
    /// Another user; requires root.
    Other(String),
}

impl User {
    /// `name` if this process is root, otherwise the present user.
    pub fn unless_root(name: &str) -> Self {
        if rustix::process::geteuid().is_root() { Self::Other(name.into()) } else { Self::Same }
    }

    /// Command that runs as this user, and receives the signal `signal` (such as `QUIT`) when the thread that started
    /// it ends.
    ///
    /// Joins the cgroup first, while the process has the permission.
    pub fn command(&self, program: &Path, signal: &str, cgroup: Option<&MemoryCgroup>) -> Command {
        let mut command = match cgroup {
            Some(cgroup) => cgroup.command(Path::new("setpriv")),
            None => Command::new("setpriv"),
        };
        if let Self::Other(name) = self {
            command.arg(format!("--reuid={name}")).arg(format!("--regid={name}")).arg("--init-groups");
        }
        command.arg("--pdeathsig").arg(signal).arg("--").arg(program);
        command
    }

    /// Changes the owner of a file or folder to this user.
    ///
    /// # Errors
    /// The user or the file does not exist.
    pub fn own(&self, path: &Path) -> io::Result<()> {
        let Self::Other(name) = self else { return Ok(()) };
        let (user, group) = numbers(&fs::read_to_string("/etc/passwd")?, name)
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, format!("there is no user {name}")))?;
        std::os::unix::fs::chown(path, Some(user), Some(group))
    }
}

/// UID and GID.
fn numbers(passwd: &str, name: &str) -> Option<(u32, u32)> {
    let line = passwd.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    let mut fields = line.split(':').skip(1);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

/// A child process with the thread that started it. The parent-death signal is sent when that thread ends, so the
/// thread has to live as long as the process.
#[derive(Debug)]
pub struct ServerProcess {
    pid: Pid,
    order: Sender<(Signal, Duration)>,
    thread: Option<JoinHandle<Option<ExitStatus>>>,
}

impl ServerProcess {
    /// Starts the process. Dropping this kills it unless it was stopped before.
    ///
    /// # Errors
    /// See [`Command::spawn`].
    pub fn start(mut command: Command) -> io::Result<Self> {
        let (started, answer) = channel();
        let (order, orders) = channel();
        let thread = std::thread::Builder::new().name("server".into()).spawn(move || match command.spawn() {
            Ok(child) => {
                let pid = Pid::from_child(&child);
                let _ = started.send(Ok(pid));
                keep(child, pid, &orders)
            }
            Err(error) => {
                let _ = started.send(Err(error));
                None
            }
        })?;
        let pid = answer.recv().map_err(io::Error::other)??;
        Ok(Self { pid, order, thread: Some(thread) })
    }

    pub fn pid(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// True while the process runs.
    pub fn runs(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Sends this signal, waits up to `patience`, and then kills the process. Returns its exit status if known.
    pub fn stop(mut self, signal: Signal, patience: Duration) -> Option<ExitStatus> {
        self.end(signal, patience)
    }

    fn end(&mut self, signal: Signal, patience: Duration) -> Option<ExitStatus> {
        let thread = self.thread.take()?;
        // Fails only if the process has already ended.
        let _ = self.order.send((signal, patience));
        thread.join().ok().flatten()
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.end(Signal::KILL, Duration::ZERO);
    }
}

/// Waits until the process ends or is stopped.
fn keep(mut child: Child, pid: Pid, orders: &Receiver<(Signal, Duration)>) -> Option<ExitStatus> {
    let mut until = None;
    loop {
        if let Some(status) = child.try_wait().ok()? {
            return Some(status);
        }
        match until {
            None => match orders.recv_timeout(POLL_INTERVAL * 10) {
                Ok((signal, patience)) => {
                    // The child has not been reaped, so that its PID is still valid.
                    let _ = rustix::process::kill_process(pid, signal);
                    until = Some(Instant::now() + patience);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => until = Some(Instant::now()),
            },
            Some(until) if Instant::now() >= until => {
                child.kill().ok()?;
                return child.wait().ok();
            }
            Some(_) => std::thread::sleep(POLL_INTERVAL),
        }
    }
}

/// The last line of a log that contains the first matching word; `None` without a match.
pub fn fatal_message(log: &Path, words: &[&str]) -> Option<String> {
    let bytes = fs::read(log).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    let found = words.iter().find_map(|word| lines.iter().rfind(|line| line.contains(word)))?;
    Some(format!("from its log: {}", found.trim()))
}

/// The last lines of a server's log, joined into a single line.
pub fn last_log_lines(log: &Path, lines: usize) -> String {
    let mut text = String::new();
    let read = fs::File::open(log).and_then(|mut file| {
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(8 << 10)))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(())
    });
    let all: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    match read {
        Ok(()) if !all.is_empty() => all[all.len().saturating_sub(lines)..].join("; "),
        _ => format!("{} is empty", log.display()),
    }
}

/// Description of an exit status.
pub fn describe_exit(status: Option<ExitStatus>) -> String {
    match status.map(|status| (status.code(), status.signal())) {
        Some((Some(code), _)) => format!("it ended with status {code}"),
        Some((None, Some(signal))) => format!("it was ended by signal {signal}"),
        _ => "it ended".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alive(pid: u32) -> bool {
        Path::new(&format!("/proc/{pid}")).exists()
    }

    /// `None`, with the reason printed, if `setpriv` is missing.
    fn sleeping(seconds: &str) -> Option<Command> {
        let mut command = User::Same.command(Path::new("sleep"), "KILL", None);
        if Command::new(command.get_program()).arg("--version").output().is_err() {
            eprintln!("skipped: {} is not installed", command.get_program().display());
            return None;
        }
        command.arg(seconds);
        Some(command)
    }

    #[test]
    fn process_outlives_starting_thread_and_ends_on_drop() {
        let Some(command) = sleeping("1000") else { return };
        let process = std::thread::spawn(|| ServerProcess::start(command).unwrap()).join().unwrap();
        std::thread::sleep(Duration::from_millis(50));
        assert!(process.runs() && alive(process.pid()));
        let pid = process.pid();
        drop(process);
        assert!(!alive(pid));
    }

    #[test]
    fn signal_is_sent_before_kill() {
        let (Some(long), Some(short)) = (sleeping("1000"), sleeping("0")) else { return };
        let status = ServerProcess::start(long).unwrap().stop(Signal::TERM, Duration::from_secs(60));
        assert_eq!(describe_exit(status), "it was ended by signal 15");
        let short = ServerProcess::start(short).unwrap();
        while short.runs() {
            std::thread::yield_now();
        }
        assert_eq!(describe_exit(short.stop(Signal::TERM, Duration::ZERO)), "it ended with status 0");
        assert!(ServerProcess::start(Command::new("/no/such/program")).is_err());
    }

    #[test]
    fn user_numbers_are_parsed() {
        let passwd = "root:x:0:0::/:/bin/sh\npostgresql:x:9:9::/:\npostgres:x:101:104:PG:/var/lib:/bin/bash\n";
        assert_eq!(numbers(passwd, "postgres"), Some((101, 104)));
        assert_eq!(numbers(passwd, "mysql"), None);
    }

    #[test]
    fn last_log_lines_are_joined() {
        let log = std::env::temp_dir().join(format!("plimsoll-log-{}", std::process::id()));
        fs::write(&log, "one\n\ntwo\nthree\n").unwrap();
        assert_eq!(last_log_lines(&log, 2), "two; three");
        fs::remove_file(&log).unwrap();
        assert!(last_log_lines(&log, 2).ends_with("is empty"));
    }
}
