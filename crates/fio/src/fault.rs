//! What is wrong with a job, where it stands and what to write instead; and what is worth a word though it runs.
//!
//! Knows no option and no file: both are made where the trouble is found.

use std::fmt;
use std::sync::Arc;

/// Where something was written.
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
            Self::Argument(number) => write!(f, "argument {number}"),
        }
    }
}

/// The kind of a fault: what a caller may want to count or to tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultKind {
    /// fio has no such option or flag.
    Unknown,
    /// fio has it and plimsoll does not do it.
    Unsupported,
    /// The option is known, its value is not one of those that it takes.
    Value,
    /// Each value is sound, together they are not.
    Combination,
    /// The text is no job file, or the arguments no command.
    Structure,
    /// An included file cannot be read, or includes itself.
    Include,
    /// A variable of the environment is not set.
    Variable,
}

/// One reason why a job cannot run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}; {remedy}")]
pub struct Fault {
    /// Where.
    pub place: Place,
    /// Which kind.
    pub kind: FaultKind,
    /// What was found.
    pub what: String,
    /// What to write instead.
    pub remedy: String,
}

/// Something that runs, and not quite as its words suggest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Where.
    pub place: Place,
    /// What was found, and what plimsoll makes of it.
    pub what: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// What is found while reading: nothing stops at the first fault.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    /// In the order in which they were found.
    pub faults: Vec<Fault>,
    /// Likewise.
    pub notes: Vec<Note>,
}

impl Findings {
    /// Limit of each list: a file of nonsense would otherwise be repeated line by line.
    const MAX: usize = 1_000;

    pub(crate) fn fault(&mut self, place: &Place, kind: FaultKind, what: impl Into<String>, remedy: impl Into<String>) {
        let fault = Fault { place: place.clone(), kind, what: what.into(), remedy: remedy.into() };
        // What a global section says is looked at with each job.
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
