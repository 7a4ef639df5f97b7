//! Length of a commitment to a vendor, in exchange for a lower price.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::Serialize;
use thiserror::Error;

/// A reservation, savings plan or committed use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub enum Commitment {
    /// On demand.
    #[default]
    #[serde(rename = "none")]
    None,
    /// For a year.
    #[serde(rename = "1y")]
    OneYear,
    /// For three years.
    #[serde(rename = "3y")]
    ThreeYears,
}

/// Text that is not a commitment.
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("not a commitment: write none, 1y or 3y")]
pub struct CommitmentError;

impl Commitment {
    /// All lengths, the shortest first.
    pub const ALL: [Self; 3] = [Self::None, Self::OneYear, Self::ThreeYears];

    /// `none`, `1y` or `3y`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::OneYear => "1y",
            Self::ThreeYears => "3y",
        }
    }

    /// Months of its term.
    pub(crate) const fn months(self) -> u32 {
        match self {
            Self::None => 1,
            Self::OneYear => 12,
            Self::ThreeYears => 36,
        }
    }
}

impl fmt::Display for Commitment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Commitment {
    type Err = CommitmentError;

    fn from_str(text: &str) -> Result<Self, CommitmentError> {
        Self::ALL.into_iter().find(|one| one.name() == text).ok_or(CommitmentError)
    }
}
