//! The command of `--run`: started when the server is ready; the server ends with it.

use std::ffi::OsString;
use std::process::{Command, ExitStatus};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use anyhow::Context;
use plimsoll_front::{Handle, Server};
use rustix::process::{Pid, Signal, kill_process};

use crate::cli_error::CliError;
use crate::systemd;

/// Time for a command to end after its server.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);

/// A running command.
pub(super) struct Child {
    pid: Pid,
    ended: Receiver<std::io::Result<ExitStatus>>,
}

impl Child {
    /// Starts a shell command with additional variables, and stops the server when it ends.
    pub(super) fn start(
        command: &str,
        variables: &[(&'static str, OsString)],
        handle: Handle,
    ) -> Result<Self, CliError> {
        let mut shell = Command::new("/bin/sh");
        shell.arg("-c").arg(command);
        for name in systemd::ENVIRONMENT {
            shell.env_remove(name);
        }
        shell.envs(variables.iter().map(|(name, value)| (name, value)));
        let mut child = shell.spawn().context("starting /bin/sh")?;
        let pid = Pid::from_child(&child);
        let (tell, ended) = channel();
        let wait = move || {
            let status = child.wait();
            // Received after the server has stopped.
            let _ = tell.send(status);
            let _ = handle.send(Server::stop);
        };
        std::thread::Builder::new().name("command".into()).spawn(wait).context("starting a thread")?;
        Ok(Self { pid, ended })
    }

    /// Terminates the command after the end of the server.
    pub(super) fn end(self) -> Result<(), CliError> {
        let status = self.ended.try_recv().or_else(|_| {
            // It may have ended.
            let _ = kill_process(self.pid, Signal::TERM);
            self.ended.recv_timeout(EXIT_TIMEOUT).map_err(|_| CliError::Interrupted)
        })?;
        let status = status.context("waiting for the command")?;
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        match status.code().or(signal.map(|signal| 128 + signal)) {
            Some(0) => Ok(()),
            code => Err(CliError::Ended(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))),
        }
    }
}
