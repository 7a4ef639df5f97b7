//! What can go wrong for the user, and with which exit code it ends.

use std::path::Path;
use std::{fmt, io};

/// The end of a command that did not do what was asked.
#[derive(Debug)]
pub enum Trouble {
    /// What was asked cannot be done: one line that says what to do. Exit code 2, nothing was written.
    Usage(String),
    /// What was asked was tried and failed. Exit code 1.
    Failed(anyhow::Error),
    /// The user stopped it; what was measured is kept. Exit code 130 after SIGINT, 143 after SIGTERM.
    Interrupted,
    /// A command of the user's ended so, and has said why. Its exit code.
    Ended(u8),
}

impl Trouble {
    /// Something that the user can mend.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    /// An input that cannot be opened: a usage error where it is missing.
    pub fn reading(path: &Path, error: io::Error) -> Self {
        let path = path.display();
        match error.kind() {
            io::ErrorKind::NotFound => Self::usage(format!("{path}: no such file or folder: check the path")),
            _ => Self::Failed(anyhow::Error::new(error).context(format!("cannot read {path}"))),
        }
    }

    /// The exit code of the process.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Failed(_) => 1,
            Self::Interrupted => crate::signals::exit_code(),
            Self::Ended(code) => *code,
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(message) => f.write_str(message),
            Self::Failed(error) => write!(f, "{error:#}"),
            Self::Interrupted => f.write_str("interrupted"),
            Self::Ended(code) => write!(f, "the command ended with {code}"),
        }
    }
}

impl From<anyhow::Error> for Trouble {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}
