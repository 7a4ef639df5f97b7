//! Files that are written as a whole, or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use plimsoll_drive::Fault;

/// Reason to refuse devices, sockets and directories.
const NOT_REGULAR: &str = "not a regular file; use - for standard output";

/// A path that cannot be written.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
#[error("{path}: cannot be written ({source}): use a file in a writable directory")]
pub struct NotWritable {
    pub path: String,
    pub source: io::Error,
}

/// Writes `bytes` to `path` atomically, through a temporary file in the same directory.
///
/// # Errors
/// The path is no regular file, or cannot be written.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    let failed = |source| Fault { attempt: format!("writing {}", path.display()), source };
    // Symbolic links are kept: their target is replaced.
    let target = &resolve(path);
    if target.exists() && !target.is_file() {
        // A device node must not be replaced by a file.
        return Err(failed(io::Error::other(NOT_REGULAR)));
    }
    let draft = draft_of(target);
    let written = File::create(&draft).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    let placed = written.and_then(|()| fs::rename(&draft, target));
    if placed.is_err() {
        // The temporary file may not exist; the first error is reported.
        let _ = fs::remove_file(&draft);
    }
    placed.map_err(failed)
}

/// Checks before a measurement whether `path` can be written.
///
/// # Errors
/// It cannot.
pub fn check_writable(path: &Path) -> Result<(), NotWritable> {
    let refused = |source| NotWritable { path: path.display().to_string(), source };
    if path.is_dir() {
        return Err(refused(io::Error::other("it is a directory")));
    }
    if path.exists() && !path.is_file() {
        return Err(refused(io::Error::other(NOT_REGULAR)));
    }
    let draft = draft_of(&resolve(path));
    File::create(&draft).and_then(|_| fs::remove_file(&draft)).map_err(refused)
}

fn resolve(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn draft_of(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.part", std::process::id()))
}
