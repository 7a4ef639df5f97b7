//! Small text files of the kernel, below a root: `/` on a live machine, a fixture in a test.
//!
//! Reads a bounded amount; invalid UTF-8 is replaced.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Maximum length of a text in bytes: sufficient for mount tables of hosts with thousands of containers.
const TEXT_BYTES_MAX: u64 = 16 << 20;

/// Root of the kernel's files.
#[derive(Clone, Debug)]
pub(crate) struct Tree(PathBuf);

impl Tree {
    /// The live machine.
    pub(crate) fn system() -> Self {
        Self::at("/")
    }

    /// The tree below `root`.
    pub(crate) fn at(root: impl Into<PathBuf>) -> Self {
        Self(root.into())
    }

    /// Path of `path`, absolute or relative, in this tree.
    pub(crate) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.0.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The text at `path`.
    pub(crate) fn text(&self, path: impl AsRef<Path>) -> io::Result<String> {
        text(&self.path(path))
    }

    /// Trimmed text at `path`; `None` if empty or unreadable.
    pub(crate) fn word(&self, path: impl AsRef<Path>) -> Option<String> {
        read_word(&self.path(path))
    }

    /// Sorted names in the directory `path`; empty if it does not exist.
    pub(crate) fn names(&self, path: impl AsRef<Path>) -> io::Result<Vec<String>> {
        list_names(&self.path(path))
    }

    /// True if `path` exists.
    pub(crate) fn has(&self, path: impl AsRef<Path>) -> bool {
        self.path(path).exists()
    }
}

/// The text of `file`.
///
/// # Errors
/// Read errors, and `InvalidData` above 16 MiB.
pub(crate) fn text(file: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(file)?.take(TEXT_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > TEXT_BYTES_MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "longer than 16 MiB"));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Trimmed text of `file`; `None` if empty or unreadable.
pub(crate) fn read_word(file: &Path) -> Option<String> {
    let word = text(file).ok()?.trim().to_owned();
    (!word.is_empty()).then_some(word)
}

/// Decimal number in `file`.
pub(crate) fn number<N: std::str::FromStr>(file: &Path) -> Option<N> {
    read_word(file)?.parse().ok()
}

/// Sorted names in `directory`; empty if it does not exist.
pub(crate) fn list_names(directory: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}
