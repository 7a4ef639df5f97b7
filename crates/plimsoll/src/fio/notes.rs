//! Notes on jobs that deviate from fio.
//!
//! Tools that run fio treat output on standard error as failure, and fio prints no notes. So notes are written to the
//! named file, or to a terminal.

use std::fmt::Display;
use std::fs::File;
use std::io::{IsTerminal, Write};

use crate::cli_error::CliError;

#[derive(Debug)]
pub enum Notes {
    StandardError,
    File(File),
    Dropped,
}

impl Notes {
    /// To `file`, which is truncated; `-` is standard error. Without a file, to standard error if that is a terminal.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn new(file: Option<&str>) -> Result<Self, CliError> {
        match file {
            Some("-") => Ok(Self::StandardError),
            Some(path) => {
                let created = File::create(path);
                created.map(Self::File).map_err(|error| CliError::usage(format!("--notes={path}: {error}")))
            }
            None if std::io::stderr().is_terminal() => Ok(Self::StandardError),
            None => Ok(Self::Dropped),
        }
    }

    pub fn write(&mut self, note: impl Display) {
        match self {
            Self::StandardError => super::print_error(note),
            // A failure to write notes does not fail the run.
            Self::File(file) => drop(writeln!(file, "{note}")),
            Self::Dropped => {}
        }
    }
}
