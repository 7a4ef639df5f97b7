//! Errors of commands and their exit codes.

use std::path::Path;
use std::{fmt, io};

use plimsoll_device::NotWritable;
use plimsoll_front::sockets::ListenError;
use plimsoll_language::{label, say};
use plimsoll_measure::MeasureError;
use plimsoll_service::block_device::AttachError;
use plimsoll_service::client::ClientError;
use plimsoll_service::staged::StageError;

#[derive(Debug)]
pub enum CliError {
    /// Usage error: a message with the remedy. Exit code 2, nothing was written.
    Usage(String),
    /// The command failed. Exit code 1.
    Failed(anyhow::Error),
    /// Stopped by the user; measured data are kept. Exit code 130 after SIGINT, 143 after SIGTERM.
    Interrupted,
    /// A command of the user failed and has reported it. Its exit code.
    Ended(u8),
}

impl CliError {
    pub fn usage(message: impl fmt::Display) -> Self {
        Self::Usage(message.to_string())
    }

    /// An input that cannot be opened; a usage error if it is missing.
    pub fn reading(path: &Path, error: io::Error) -> Self {
        let path = path.display();
        match error.kind() {
            io::ErrorKind::NotFound => Self::usage(say!("{path}: no such file or directory: check the path")),
            _ => Self::Failed(anyhow::Error::new(error).context(say!("cannot read {path}"))),
        }
    }

    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Failed(_) => 1,
            Self::Interrupted => crate::signals::exit_code(),
            Self::Ended(code) => *code,
        }
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(message) => f.write_str(message),
            Self::Failed(error) => write!(f, "{error:#}"),
            Self::Interrupted => f.write_str(label!("interrupted")),
            Self::Ended(code) => f.write_str(&say!("the command exited with {code}")),
        }
    }
}

impl From<MeasureError> for CliError {
    fn from(error: MeasureError) -> Self {
        match error {
            MeasureError::Usage(message) => Self::Usage(message),
            MeasureError::Interrupted => Self::Interrupted,
            error => Self::Failed(error.into()),
        }
    }
}

impl From<ClientError> for CliError {
    fn from(error: ClientError) -> Self {
        if error.is_mistake() { Self::usage(error.to_string()) } else { Self::Failed(error.into()) }
    }
}

impl From<AttachError> for CliError {
    fn from(error: AttachError) -> Self {
        match error {
            AttachError::Refused(message) => Self::Usage(message),
            AttachError::Client(error) => error.into(),
            error => Self::Failed(error.into()),
        }
    }
}

impl From<StageError> for CliError {
    fn from(error: StageError) -> Self {
        match error {
            StageError::Refused(_) | StageError::TooFast { .. } => Self::Usage(error.to_string()),
            StageError::Interrupted => Self::Interrupted,
            StageError::Attach(error) => error.into(),
            StageError::Client(error) => error.into(),
            error => Self::Failed(error.into()),
        }
    }
}

impl From<ListenError> for CliError {
    fn from(error: ListenError) -> Self {
        Self::usage(format!("{:#}", anyhow::Error::new(error)))
    }
}

impl From<NotWritable> for CliError {
    fn from(error: NotWritable) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<anyhow::Error> for CliError {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}
