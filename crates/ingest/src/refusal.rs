//! Reasons why an input gave no figures.

use std::fmt;

use plimsoll_units::Bytes;

use crate::form::Kind;
use crate::reading::Origin;

/// Why an input was not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It has no byte.
    #[error("it is empty: was it copied completely?")]
    Empty,
    /// No form knows it.
    #[error("not a form that is known{}", Nearest(.nearest.as_ref()))]
    Unknown {
        /// What comes nearest, and what it would have that this has not.
        nearest: Option<(Kind, &'static str)>,
    },
    /// It is of a kind that is known, and cannot be used.
    #[error("{kind}{}: {what}", Place(.origin.as_ref()))]
    Unusable {
        /// Its recognised form.
        kind: Kind,
        /// Where reading ended; none for the whole.
        origin: Option<Origin>,
        /// The fault, and the remedy.
        what: String,
    },
    /// It has more bytes than are read of one input.
    #[error("more than {limit} of text: give it in parts")]
    TooLarge {
        /// The most that is read.
        limit: Bytes,
    },
    /// It unpacks to far more than a report would.
    #[error("it unpacks to more than {ratio} times its size, as no report does: unpack it yourself, and look at it")]
    Bomb {
        /// Bytes out of one byte.
        ratio: u64,
    },
    /// An archive, or a file in it, cannot be unpacked.
    #[error("zip archive: {what}")]
    Archive {
        /// The fault, and the remedy.
        what: &'static str,
    },
    /// It has more figures than are kept of one input.
    #[error("more than {limit} figures: give it in parts")]
    TooMany {
        /// The most that are kept.
        limit: usize,
    },
}

/// The end of the sentence about an unknown input.
struct Nearest<'a>(Option<&'a (Kind, &'static str)>);

impl fmt::Display for Nearest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some((kind, missing)) => write!(f, "; nearest is {kind}, but it has no {missing}"),
            None => f.write_str(", and near to none"),
        }
    }
}

/// A place, when there is one.
struct Place<'a>(Option<&'a Origin>);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |origin| write!(f, ", {origin}"))
    }
}
