//! Notes on jobs that run otherwise than their words suggest.
//!
//! Programs that start fio take any line on standard error for a failure, and fio itself is silent about such jobs: notes
//! go to the file that was named, or to a terminal.

use std::fmt::Display;
use std::fs::File;
use std::io::{IsTerminal, Write};

use crate::trouble::Trouble;

/// Where notes go.
#[derive(Debug)]
pub enum Notes {
    /// To standard error.
    Shown,
    /// To a file.
    File(File),
    /// Nowhere.
    Dropped,
}

impl Notes {
    /// To `file`, which is truncated; `-` is standard error. Without a file, to standard error if that is a terminal.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn new(file: Option<&str>) -> Result<Self, Trouble> {
        match file {
            Some("-") => Ok(Self::Shown),
            Some(path) => {
                let created = File::create(path);
                created.map(Self::File).map_err(|error| Trouble::usage(format!("--notes={path}: {error}")))
            }
            None if std::io::stderr().is_terminal() => Ok(Self::Shown),
            None => Ok(Self::Dropped),
        }
    }

    /// Writes one line.
    pub fn write(&mut self, note: impl Display) {
        match self {
            Self::Shown => super::say(note),
            // The results count: a run does not fail because its notes cannot be kept.
            Self::File(file) => drop(writeln!(file, "{note}")),
            Self::Dropped => {}
        }
    }
}
