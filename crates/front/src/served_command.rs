//! A command that is started when a server is ready; the server ends with it.

use std::ffi::OsString;
use std::io;
use std::process::{Command, ExitStatus};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::notify::MANAGER_VARIABLES;
use crate::{Handle, Server};

/// Time for a command to end after its server.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub struct ServedCommand {
    pid: Pid,
    ended: Receiver<io::Result<ExitStatus>>,
}

impl ServedCommand {
    /// Starts a shell command with additional variables, and stops the server when it ends.
    ///
    /// # Errors
    /// No process or thread could be started.
    pub fn start(command: &str, variables: &[(&'static str, OsString)], handle: Handle) -> io::Result<Self> {
        let mut shell = Command::new("/bin/sh");
        shell.arg("-c").arg(command);
        for name in MANAGER_VARIABLES {
            shell.env_remove(name);
        }
        shell.envs(variables.iter().map(|(name, value)| (name, value)));
        let mut child = shell.spawn()?;
        let pid = Pid::from_child(&child);
        let (tell, ended) = channel();
        let wait = move || {
            let status = child.wait();
            // Received after the server has stopped.
            let _ = tell.send(status);
            let _ = handle.send(Server::stop);
        };
        std::thread::Builder::new().name("command".into()).spawn(wait)?;
        Ok(Self { pid, ended })
    }

    /// Terminates the command after the end of the server. Returns its exit code as a shell reports it; `None` if it does not
    /// end in time.
    ///
    /// # Errors
    /// Its status could not be read.
    pub fn end(self) -> io::Result<Option<u8>> {
        let status = self.ended.try_recv().ok().or_else(|| {
            // It may have ended.
            let _ = kill_process(self.pid, Signal::TERM);
            self.ended.recv_timeout(EXIT_TIMEOUT).ok()
        });
        let Some(status) = status.transpose()? else { return Ok(None) };
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        let code = status.code().or(signal.map(|signal| 128 + signal));
        Ok(Some(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
    }
}
