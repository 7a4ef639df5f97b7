//! A service of volumes in a child process.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use plimsoll_service::client::{Client, ControlAddress};

use crate::cli_error::CliError;
use crate::console::Console;

/// Timeout of its start on a busy host.
const STARTING: Duration = Duration::from_secs(60);
/// Timeout of its end.
const ENDING: Duration = Duration::from_secs(30);
/// Interval of checks during start and end.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Variables of service managers, which child processes must not inherit.
const OF_MANAGERS: [&str; 5] = ["NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "WATCHDOG_USEC"];

/// A running service. Ends on drop, or with this process.
pub struct RunningService {
    process: Option<Child>,
    pub client: Client,
}

impl RunningService {
    /// Starts a service with data in `home`, and sockets and log in `run`, and waits until it is ready. The calling
    /// thread has to live as long as the service.
    ///
    /// # Errors
    /// It does not start; with its last message.
    pub fn start(
        home: &Path,
        run: &Path,
        products: Option<&Path>,
        slow: Option<u32>,
        console: &Console,
    ) -> Result<Self, CliError> {
        let (control, log) = (run.join("control.sock"), run.join("service.log"));
        let mut arguments =
            vec!["serve".into(), home.as_os_str().to_owned(), "--control".into(), control.clone().into()];
        arguments.extend(["--listen".into(), format!("unix:{}", run.join("nbd.sock").display()).into()]);
        if let Some(products) = products {
            arguments
                .extend(["--products".into(), std::path::absolute(products).context("the current directory")?.into()]);
        }
        if let Some(slow) = slow {
            arguments.extend(["--slow".into(), slow.to_string().into()]);
        }
        let program = std::env::current_exe().context("finding this program")?;
        let spawned = bound_to_this(&program, &arguments, &log).or_else(|error| match error.kind() {
            io::ErrorKind::NotFound => spawn(&mut Command::new(&program), &arguments, &log),
            _ => Err(error),
        });
        let process = Some(spawned.context("starting a service of volumes")?);
        let client = Client::new(ControlAddress::Unix(control), None).context("connecting to the service")?;
        let mut service = Self { process, client };
        service.await_answer(&log, console)?;
        Ok(service)
    }

    /// True if it responds.
    pub fn answers(&self) -> bool {
        self.client.get("/v1/service").is_ok()
    }

    fn await_answer(&mut self, log: &Path, console: &Console) -> Result<(), CliError> {
        let until = Instant::now() + STARTING;
        while !self.answers() {
            let ended = self.process.as_mut().is_none_or(|process| !matches!(process.try_wait(), Ok(None)));
            if ended || Instant::now() > until {
                let said = last_line(log).unwrap_or_else(|| "no message; try plimsoll serve manually".into());
                return Err(CliError::Failed(anyhow!("the service of the emulated volume does not start: {said}")));
            }
            if console.interrupted() {
                return Err(CliError::Interrupted);
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
    for name in OF_MANAGERS {
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
