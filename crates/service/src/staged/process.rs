//! A service of volumes in a child process.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use plimsoll_front::notify::MANAGER_VARIABLES;
use plimsoll_language::label;

use super::error::StageError;
use super::folders::ServiceFolders;
use crate::client::{Client, ControlAddress};

/// Timeout of its start on a busy host.
const STARTING: Duration = Duration::from_secs(60);
const ENDING: Duration = Duration::from_secs(30);
/// Interval of checks during start and end.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A service to start in a child process.
#[derive(Clone, Copy, Debug)]
pub struct ServiceCommand<'a> {
    pub program: &'a Path,
    /// Directory of additional product files.
    pub products: Option<&'a Path>,
    /// Dilation of time.
    pub slow: Option<u32>,
}

/// A running service. Ends on drop, or with this process.
#[derive(Debug)]
pub struct RunningService {
    process: Option<Child>,
    /// Client of its control socket.
    pub client: Client,
}

impl RunningService {
    /// Starts a service with its data, sockets and log in `folders`, and waits until it is ready. The calling thread has to
    /// live as long as the service.
    ///
    /// # Errors
    /// It does not start, with its last message, or `is_interrupted` returns true before.
    pub fn start(
        folders: &ServiceFolders,
        command: ServiceCommand<'_>,
        is_interrupted: &dyn Fn() -> bool,
    ) -> Result<Self, StageError> {
        let (control, log) = (folders.run.join("control.sock"), folders.run.join("service.log"));
        let mut arguments =
            vec!["serve".into(), folders.home.as_os_str().to_owned(), "--control".into(), control.clone().into()];
        arguments.extend(["--listen".into(), format!("unix:{}", folders.run.join("nbd.sock").display()).into()]);
        if let Some(products) = command.products {
            let products = std::path::absolute(products)
                .map_err(|error| StageError::io(label!("the current directory"), error))?;
            arguments.extend(["--products".into(), products.into()]);
        }
        if let Some(slow) = command.slow {
            arguments.extend(["--slow".into(), slow.to_string().into()]);
        }
        let program = command.program;
        let spawned = bound_to_this(program, &arguments, &log).or_else(|error| match error.kind() {
            io::ErrorKind::NotFound => spawn(&mut Command::new(program), &arguments, &log),
            _ => Err(error),
        });
        let process = spawned.map_err(|error| StageError::io(label!("starting a service of volumes"), error))?;
        let client = Client::new(ControlAddress::Unix(control), None);
        let client = client.map_err(|error| StageError::io(label!("connecting to the service"), error))?;
        let mut service = Self { process: Some(process), client };
        service.await_answer(&log, is_interrupted)?;
        Ok(service)
    }

    /// True if it responds.
    pub fn answers(&self) -> bool {
        self.client.get("/v1/service").is_ok()
    }

    fn await_answer(&mut self, log: &Path, is_interrupted: &dyn Fn() -> bool) -> Result<(), StageError> {
        let until = Instant::now() + STARTING;
        while !self.answers() {
            let ended = self.process.as_mut().is_none_or(|process| !matches!(process.try_wait(), Ok(None)));
            if ended || Instant::now() > until {
                let message =
                    last_line(log).unwrap_or_else(|| label!("no message; try plimsoll serve manually").into());
                return Err(StageError::NotStarted(message));
            }
            if is_interrupted() {
                return Err(StageError::Interrupted);
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        Ok(())
    }

    /// Stops it and waits for its end.
    pub fn stop(&mut self) {
        let Some(mut process) = self.process.take() else { return };
        let pid = rustix::process::Pid::from_child(&process);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let until = Instant::now() + ENDING;
        while matches!(process.try_wait(), Ok(None)) {
            if Instant::now() > until {
                let _ = process.kill();
                let _ = process.wait();
                return;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}

impl Drop for RunningService {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Starts it so that the kernel terminates it when the starting thread ends.
fn bound_to_this(program: &Path, arguments: &[std::ffi::OsString], log: &Path) -> io::Result<Child> {
    spawn(Command::new("setpriv").args(["--pdeathsig", "TERM", "--"]).arg(program), arguments, log)
}

fn spawn(command: &mut Command, arguments: &[std::ffi::OsString], log: &Path) -> io::Result<Child> {
    for name in MANAGER_VARIABLES {
        command.env_remove(name);
    }
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(log)?);
    // Ctrl-C is handled by this process, which still needs the volume.
    command.process_group(0).spawn()
}

fn last_line(log: &Path) -> Option<String> {
    let text = fs::read_to_string(log).ok()?;
    let line = text.lines().rfind(|line| !line.trim().is_empty())?;
    Some(line.strip_prefix("plimsoll: ").unwrap_or(line).to_owned())
}
