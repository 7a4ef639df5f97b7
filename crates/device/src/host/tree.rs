//! What the kernel tells in small text files, read below a root: `/` on a live machine, a fixture in a test.
//!
//! Knows nothing about what the texts mean. Reads a bounded amount, and takes what is not UTF-8 as it comes.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Longest text that is read, in bytes: mount tables of hosts with thousands of containers stay below it.
const TEXT_BYTES_MAX: u64 = 16 << 20;

/// The root that kernel files are read below.
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

    /// Where `path`, absolute or not, lies in this tree.
    pub(crate) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.0.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The text at `path`.
    pub(crate) fn text(&self, path: impl AsRef<Path>) -> io::Result<String> {
        text(&self.path(path))
    }

    /// The text at `path` without the space around it; `None` when it is empty or cannot be read.
    pub(crate) fn word(&self, path: impl AsRef<Path>) -> Option<String> {
        word(&self.path(path))
    }

    /// The names in the directory `path`, in order; none when there is no such directory.
    pub(crate) fn names(&self, path: impl AsRef<Path>) -> io::Result<Vec<String>> {
        names(&self.path(path))
    }

    /// True when something is at `path`.
    pub(crate) fn has(&self, path: impl AsRef<Path>) -> bool {
        self.path(path).exists()
    }
}

/// The text of `file`.
///
/// # Errors
/// Those of reading, and `InvalidData` when it is longer than 16 MiB.
pub(crate) fn text(file: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(file)?.take(TEXT_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > TEXT_BYTES_MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "longer than 16 MiB"));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The text of `file` without the space around it; `None` when it is empty or cannot be read.
pub(crate) fn word(file: &Path) -> Option<String> {
    let word = text(file).ok()?.trim().to_owned();
    (!word.is_empty()).then_some(word)
}

/// The number that `file` holds, in decimal.
pub(crate) fn number<N: std::str::FromStr>(file: &Path) -> Option<N> {
    word(file)?.parse().ok()
}

/// The names in `directory`, in order; none when there is no such directory.
pub(crate) fn names(directory: &Path) -> io::Result<Vec<String>> {
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
