//! Demand as figures: one number each, with what it is about, over which window it was averaged, and where it was read.
//!
//! All inputs come to this one form, however different they look. Values are in base units: a second, operations a second,
//! bytes, bytes a second. What a report does not say is no figure: never a zero.

use std::fmt;
use std::sync::Arc;

use jiff::civil::DateTime;
use plimsoll_units::Span;

/// Whom a figure is about. What a report does not say is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scope {
    /// The database, or the pluggable one inside of it.
    pub database: String,
    /// Its number: two databases may have one name.
    pub database_id: String,
    /// One instance of a clustered database.
    pub instance: String,
    /// The host.
    pub host: String,
    /// A device, volume, file or tablespace of it; empty for all of them.
    pub part: String,
}

/// A figure's averaging window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// When it began, as the report's own clock said; reports seldom name their time zone.
    pub begin: Option<DateTime>,
    /// How long it was. Peaks that are shorter are hidden in an average.
    pub length: Span,
}

/// How a figure speaks for its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Statistic {
    /// The mean over the window.
    Mean,
    /// The highest of shorter windows inside of it; maxima of several volumes do not add up.
    Maximum,
}

/// What operations are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Single blocks of data files, by index.
    RandomRead,
    /// Many blocks at once: scans, direct reads.
    SequentialRead,
    /// Reads that the input does not tell apart.
    Read,
    /// Data files, behind the sessions: checkpoints, database writers.
    DataWrite,
    /// The log that commits wait for: redo, WAL.
    RedoWrite,
    /// Sorts and hashes that do not fit in memory, read back.
    TempRead,
    /// The same, written.
    TempWrite,
    /// Logs copied away.
    Archive,
    /// Backups and restores.
    Backup,
    /// Control files, and what has no class of its own.
    Other,
    /// Writes that the input does not tell apart.
    Write,
    /// Commands that make data durable.
    Flush,
    /// Space given back.
    Discard,
    /// All of it together.
    All,
}

impl Class {
    /// Every class, in the order in which they are shown.
    pub const ALL: [Self; 14] = [
        Self::All,
        Self::Read,
        Self::RandomRead,
        Self::SequentialRead,
        Self::TempRead,
        Self::Write,
        Self::DataWrite,
        Self::RedoWrite,
        Self::TempWrite,
        Self::Archive,
        Self::Backup,
        Self::Other,
        Self::Flush,
        Self::Discard,
    ];

    /// As people call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RandomRead => "random reads",
            Self::SequentialRead => "sequential reads",
            Self::Read => "reads",
            Self::DataWrite => "data writes",
            Self::RedoWrite => "redo",
            Self::TempRead => "temp reads",
            Self::TempWrite => "temp writes",
            Self::Archive => "archive",
            Self::Backup => "backup",
            Self::Other => "other",
            Self::Write => "writes",
            Self::Flush => "flushes",
            Self::Discard => "discards",
            Self::All => "all",
        }
    }
}

/// What a figure measures, and in which unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Measure {
    /// Operations a second.
    Iops,
    /// Bytes a second.
    Throughput,
    /// Bytes of an operation, in the mean.
    Size,
    /// Seconds from the request to the answer, in the mean.
    Latency,
    /// Operations in flight, in the mean.
    Depth,
    /// Share of the window in which anything was in flight, 0 to 1. No measure of saturation on parallel devices.
    Busy,
}

/// Where in its input a figure was read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    /// The line, from 1; 0 where the input has no lines.
    pub line: u64,
    /// The table or section, where there is one.
    pub table: Option<Arc<str>>,
    /// Row and column, counter or path: whatever finds the number there; empty for all of the line or table.
    pub field: Arc<str>,
}

impl Origin {
    /// A whole line.
    pub fn line(line: u64) -> Self {
        Self { line, table: None, field: Arc::from("") }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut gap = "";
        if self.line > 0 {
            write!(f, "line {}", self.line)?;
            gap = ", ";
        }
        if let Some(table) = &self.table {
            write!(f, "{gap}{table}")?;
            gap = ": ";
        }
        if self.field.is_empty() { Ok(()) } else { write!(f, "{gap}{}", self.field) }
    }
}

/// One number.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Whom it is about: a number of [`crate::Reading::scopes`].
    pub scope: u32,
    /// Over which window: a number of [`crate::Reading::windows`].
    pub window: u32,
    /// What the operations are for.
    pub class: Class,
    /// What is measured.
    pub measure: Measure,
    /// How it speaks for the window.
    pub statistic: Statistic,
    /// How much, in the measure's unit.
    pub value: f64,
    /// Where it was read.
    pub origin: Origin,
}
