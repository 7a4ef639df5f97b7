//! Source of a figure.

use std::fmt;

use plimsoll_language::{label, say};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::translate::translate;

/// Reliability of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Read in the named source, the vendor's text.
    Verified,
    /// Stated by the user.
    Own,
    /// Published by a person who measured or bought it.
    Published,
    /// Read in a text that cites the vendor.
    Secondary,
    /// Computed from other figures, as described in the note.
    Inferred,
    /// From memory, without a text.
    Unverified,
}

impl Status {
    /// All statuses, most reliable first.
    pub const ALL: [Self; 6] =
        [Self::Verified, Self::Own, Self::Published, Self::Secondary, Self::Inferred, Self::Unverified];

    /// Name in product files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Own => "own",
            Self::Published => "published",
            Self::Secondary => "secondary",
            Self::Inferred => "inferred",
            Self::Unverified => "unverified",
        }
    }

    /// Caveat of figures with this status; `None` if verified.
    pub fn doubt(self) -> Option<&'static str> {
        match self {
            Self::Verified | Self::Own | Self::Published => None,
            Self::Secondary => Some(label!("is known at second hand")),
            Self::Inferred => Some(label!("is inferred from other figures")),
            Self::Unverified => Some(label!("is recalled from memory, not read anywhere")),
        }
    }
}

/// Source of a figure.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[schemars(rename = "Source")]
pub struct Cite {
    /// Title of the document.
    pub title: String,
    /// URL; empty if there is none: null as JSON.
    #[serde(serialize_with = "text_or_null")]
    #[schemars(with = "Option<String>")]
    pub url: String,
    /// Date of the figure, or `undated`.
    pub date: String,
    /// Reliability.
    pub status: Status,
    /// Remark of the catalogue; may be empty: null as JSON.
    #[serde(serialize_with = "text_or_null")]
    #[schemars(with = "Option<String>")]
    pub note: String,
}

fn text_or_null<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    (!text.is_empty()).then_some(text).serialize(serializer)
}

/// `Amazon EBS volume types (2025-09, verified)`.
impl fmt::Display for Cite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&say!("{} ({}, {})", self.title, self.date, translate(self.status.name())))
    }
}
