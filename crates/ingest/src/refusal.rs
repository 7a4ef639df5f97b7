//! Reasons for refusing an input.

use std::fmt;

use plimsoll_units::Bytes;

use crate::reading::{FormatName, Origin};

/// The reason why an input was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It has no bytes.
    #[error("it is empty: copy it again")]
    Empty,
    /// It cannot be opened.
    #[error("it cannot be read ({why}): mend or remove it")]
    Unreadable {
        /// The error of the operating system, or the kind of file.
        why: String,
    },
    /// No format matches it.
    #[error("not a known format{}", Nearest(*.nearest))]
    Unknown {
        /// The nearest format, and the mark that is missing.
        nearest: (FormatName, &'static str),
    },
    /// It has a known format but is unusable.
    #[error("{kind}{}: {reason}", Place(.origin.as_ref()))]
    Unusable {
        /// The recognised format.
        kind: FormatName,
        /// The place where reading ended; none for the whole input.
        origin: Option<Origin>,
        /// The fault, and the remedy.
        reason: String,
    },
    /// It exceeds the maximum size.
    #[error("more than {limit} of text: split it into parts")]
    TooLarge {
        /// The maximum size.
        limit: Bytes,
    },
    /// Its compression ratio is implausible for a report.
    #[error("it decompresses to more than {ratio} times its size, unlike any report: decompress and check it manually")]
    Bomb {
        /// Maximum ratio of decompressed to compressed bytes.
        ratio: u64,
    },
    /// An archive, or a file in it, cannot be decompressed.
    #[error("zip archive: {reason}")]
    Archive {
        /// The fault, and the remedy.
        reason: &'static str,
    },
    /// It exceeds the maximum number of figures.
    #[error("more than {limit} figures: split it into parts")]
    TooMany {
        /// The maximum number.
        limit: usize,
    },
}

/// The end of the message about an unknown input.
struct Nearest((FormatName, &'static str));

impl fmt::Display for Nearest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, missing) = self.0;
        write!(f, "; the nearest is {kind}, for {}, but it has no {missing}", content(kind.id))
    }
}

/// The content that is read from a format, for a message.
fn content(id: &str) -> &'static str {
    const BENCHMARKS: [&str; 11] = [
        "bonnie", "crystal", "diskspd", "orion", "pgbench", "pg-test", "slob", "sysbench", "tiotest", "hammerdb", "fio",
    ];
    const DATABASES: [&str; 8] = ["awr", "statspack", "postgres", "mysql", "innodb", "sqlserver", "miner", "plimsoll"];
    let begins = |names: &[&str]| names.iter().any(|name| id.starts_with(name));
    if begins(&["trace", "blk"]) {
        "single operations"
    } else if begins(&BENCHMARKS) {
        "results of benchmarks"
    } else if begins(&DATABASES) {
        "reads, writes and waits of a database"
    } else {
        "operations, bytes and latencies of storage"
    }
}

/// A place, if known.
struct Place<'a>(Option<&'a Origin>);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |origin| write!(f, ", {origin}"))
    }
}
