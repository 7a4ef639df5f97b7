//! How a form of input is recognised and read.
//!
//! A new form is a file or folder of its own beside `awr`, and one line in `forms.rs`. It has:
//!
//! - `pub(crate) const FORM: Form`: its [`Kind`], `resembles`, which looks at the first bytes alone (content, never a
//!   name), and `open`. Say [`Resemblance::Near`] with what is missing whenever a half of the marks is there: that is
//!   what somebody with a damaged or unknown file is told.
//! - a reader: [`crate::LineFormat`] for lines (memory of one line), [`crate::WholeFormat`] for what must be seen as a
//!   whole (HTML, JSON), [`Format`] itself for bytes.
//!
//! A reader hands figures to the [`Builder`] in base units (operations a second, bytes a second, seconds, bytes), each
//! with its origin; it calls [`Builder::part`] once for each section, with what became of it; it says
//! [`Builder::caution`] for what is doubtful or broken, and returns a [`Refusal`] only when nothing can be used. What an
//! input does not say is no figure.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use plimsoll_units::Span;

use crate::builder::Builder;
use crate::kind::Kind;
use crate::refusal::Refusal;

/// What the caller knows of an input beside its bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Input {
    /// What to call it: a file's name, as a rule.
    pub name: String,
    /// When it begins, in UTC, for inputs that do not say so.
    pub begin: Option<DateTime>,
    /// The zone of its times that have no offset; UTC where none is given.
    pub zone: Option<TimeZone>,
    /// How far apart its samples are, for inputs that do not say so.
    pub interval: Option<Span>,
}

impl From<&str> for Input {
    fn from(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }
}

impl From<String> for Input {
    fn from(name: String) -> Self {
        Self { name, ..Self::default() }
    }
}

/// Reads one input of one kind. Keeps what it needs between two calls, and no more.
pub trait Format {
    /// Takes further bytes, cut anywhere: of text in UTF-8, as far as its encoding could be told, or as they are.
    ///
    /// A refusal ends the reading, and what was read before is dropped. What hurts only a part of the input is a
    /// [`crate::Caution`] of the builder instead.
    fn feed(&mut self, bytes: &[u8], out: &mut Builder) -> Result<(), Refusal>;

    /// Learns that there is no more: the last chance for figures, cautions and a refusal.
    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal>;
}

/// A form of input: its kind, how it is recognised, and what reads it.
#[derive(Clone, Copy)]
pub struct Form {
    /// What it is.
    pub kind: Kind,
    /// What its reader takes, and `resembles` looks at.
    pub takes: Takes,
    /// How much the first bytes of an input look like it. They are about [`Form::HEAD`], and may end within a line.
    pub resembles: fn(&[u8]) -> Resemblance,
    /// What reads an input of it.
    pub open: fn(&Input) -> Box<dyn Format>,
}

impl Form {
    /// Bytes by which an input is recognised.
    pub const HEAD: usize = 64 << 10;
}

/// What a reader is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// UTF-8 without byte order mark.
    Text,
    /// Bytes as they are in the file.
    Bytes,
}

/// How much an input looks like a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resemblance {
    /// Not at all.
    None,
    /// Something of it is there.
    Near {
        /// Orders those that are near: the more marks were found, the higher.
        marks: u8,
        /// The mark that it lacks, as it ends the sentence "but it has no ...".
        missing: &'static str,
    },
    /// It is one.
    Is {
        /// Orders those that claim an input: the special form goes before the general one.
        marks: u8,
    },
}
