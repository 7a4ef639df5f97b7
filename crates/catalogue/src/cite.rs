//! Where a figure comes from. Knows nothing about the figure.

use std::fmt;

/// How sure a figure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// Read in the named source: the vendor's own text.
    Verified,
    /// Printed by somebody who measured or bought it.
    Published,
    /// Read with somebody who cites the vendor.
    Secondary,
    /// Worked out from other figures; the note says how.
    Inferred,
    /// Recalled, read nowhere.
    Unverified,
}

impl Status {
    /// Every status, the surest first.
    pub const ALL: [Self; 5] = [Self::Verified, Self::Published, Self::Secondary, Self::Inferred, Self::Unverified];

    /// Its word in product files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Published => "published",
            Self::Secondary => "secondary",
            Self::Inferred => "inferred",
            Self::Unverified => "unverified",
        }
    }

    /// What a reader should know about a figure of this status; `None` when nothing.
    pub const fn doubt(self) -> Option<&'static str> {
        match self {
            Self::Verified | Self::Published => None,
            Self::Secondary => Some("is known at second hand"),
            Self::Inferred => Some("is inferred from other figures"),
            Self::Unverified => Some("is recalled from memory, not read anywhere"),
        }
    }
}

/// The source of a figure.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cite {
    /// Title of the document.
    pub title: String,
    /// Its address; empty when it has none.
    pub url: String,
    /// When the figure held, or `undated`.
    pub date: String,
    /// How sure it is.
    pub status: Status,
    /// Remark of the catalogue; empty when there is none.
    pub note: String,
}

/// `Amazon EBS volume types (2025-09, verified)`.
impl fmt::Display for Cite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {})", self.title, self.date, self.status.name())
    }
}
