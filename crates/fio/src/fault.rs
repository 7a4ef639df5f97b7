//! Errors of jobs with place and remedy, and notes on jobs that run.

use plimsoll_language::say;

use std::fmt;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A line of a file, counted from 1.
    Line(Arc<str>, usize),
    /// An argument of the command line, counted from 1.
    Argument(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(file, line) => write!(f, "{file}:{line}"),
            Self::Argument(number) => f.write_str(&say!("argument {number}")),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultKind {
    /// An option or flag that fio does not have.
    Unknown,
    /// An option of fio that plimsoll does not support.
    Unsupported,
    /// An invalid value of a known option.
    Value,
    /// Valid values that contradict each other.
    Combination,
    /// Malformed job file or command line.
    Structure,
    /// An included file cannot be read, or includes itself.
    Include,
    /// A variable of the environment is not set.
    Variable,
}

/// A reason why a job cannot run.
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}; {remedy}")]
pub struct Fault {
    pub place: Place,
    pub kind: FaultKind,
    pub what: String,
    pub remedy: String,
}

/// A difference between the text of a job and its execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub place: Place,
    /// Description of the text and its execution.
    pub what: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// Faults and notes of a text; parsing continues after a fault.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    /// In the order in which they were found.
    pub faults: Vec<Fault>,
    pub notes: Vec<Note>,
}

impl Findings {
    /// Maximum length of each list, for malformed files.
    const MAX: usize = 1_000;

    pub(crate) fn fault(&mut self, place: &Place, kind: FaultKind, what: impl Into<String>, remedy: impl Into<String>) {
        let fault = Fault { place: place.clone(), kind, what: what.into(), remedy: remedy.into() };
        // Global sections are parsed again with each job.
        if self.faults.len() < Self::MAX && !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }

    pub(crate) fn note(&mut self, place: &Place, what: impl Into<String>) {
        let note = Note { place: place.clone(), what: what.into() };
        if self.notes.len() < Self::MAX && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}
