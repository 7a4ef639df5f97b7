//! What can go wrong for the user, and with which exit code it ends.

use std::fmt;

/// The end of a command that did not do what was asked.
#[derive(Debug)]
pub enum Trouble {
    /// What was asked cannot be done: one line that says what to do. Exit code 2, nothing was written.
    Usage(String),
    /// What was asked was tried and failed. Exit code 1.
    Failed(anyhow::Error),
    /// The user stopped it; what was measured is kept. Exit code 130, as shells expect of Ctrl-C.
    Interrupted,
    /// A command of the user's ended so, and has said why. Its exit code.
    Ended(u8),
}

impl Trouble {
    /// Something that the user can mend.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    /// The exit code of the process.
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Failed(_) => 1,
            Self::Interrupted => 130,
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
