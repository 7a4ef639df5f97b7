//! Why a path cannot be measured, in one line that says what to do.
//!
//! Knows nothing about how it was found out.

use std::io;
use std::path::Path;

/// What was not permitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Reaching it: a directory on the way may not be searched.
    Reach,
    /// Reading it.
    Read,
    /// Making files in it.
    MakeFiles,
}

impl Needs {
    const fn name(self) -> &'static str {
        match self {
            Self::Reach => "reach it",
            Self::Read => "read it",
            Self::MakeFiles => "make files in it",
        }
    }
}

/// A path that no load can be offered to.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// Nothing is there.
    #[error("{path}: no such file or directory: give an existing directory, file or block device")]
    Missing {
        /// As it was given.
        path: String,
    },
    /// A symbolic link to nothing.
    #[error(
        "{path}: a symbolic link to {target}, which is not there: give an existing directory, file or block device"
    )]
    Dangling {
        /// As it was given.
        path: String,
        /// What the link says.
        target: String,
    },
    /// The user may not.
    #[error("{path}: no permission to {}: run as a user who has it (sudo, or the group disk), or give another path", needs.name())]
    Forbidden {
        /// As it was given.
        path: String,
        /// What was not permitted.
        needs: Needs,
    },
    /// Neither a directory nor a file nor a block device.
    #[error("{path}: {what}: give a directory, file or block device")]
    Special {
        /// As it was given.
        path: String,
        /// What it is.
        what: &'static str,
    },
    /// On a filesystem whose files the kernel makes up.
    #[error(
        "{path}: made up by the kernel ({filesystem}), not stored: give a directory, file or block device on storage"
    )]
    MadeUp {
        /// As it was given.
        path: String,
        /// Type of the filesystem.
        filesystem: String,
    },
    /// A file or device of no bytes.
    #[error("{path}: holds no bytes: give a file or device that does, or a directory to make a file in")]
    Empty {
        /// As it was given.
        path: String,
    },
    /// A directory on a read-only filesystem.
    #[error("{path}: on a read-only filesystem: give a directory that files can be made in, or a file to read")]
    ReadOnly {
        /// As it was given.
        path: String,
    },
    /// Something else went wrong.
    #[error("{path}: cannot be examined: check that its filesystem or device answers, and see the kernel log (dmesg)")]
    Unread {
        /// As it was given.
        path: String,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
}

impl Unusable {
    /// From the error of looking `path` up.
    pub(crate) fn reaching(path: &Path, error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => match path.read_link() {
                Ok(target) => Self::Dangling { path: shown(path), target: shown(&target) },
                Err(_) => Self::Missing { path: shown(path) },
            },
            _ => Self::using(path, Needs::Reach, error),
        }
    }

    /// From the error of using `path` for what `needs` says.
    pub(crate) fn using(path: &Path, needs: Needs, source: io::Error) -> Self {
        let path = shown(path);
        match source.kind() {
            io::ErrorKind::PermissionDenied => Self::Forbidden { path, needs },
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path },
            _ => Self::Unread { path, source },
        }
    }
}

/// A path as text of one line: control characters escaped.
pub(crate) fn shown(path: &Path) -> String {
    let text = path.display().to_string();
    if !text.contains(char::is_control) {
        return text;
    }
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}
