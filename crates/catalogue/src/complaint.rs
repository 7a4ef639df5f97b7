//! Defects of product files, with their positions.

use std::fmt;

use crate::product_text::ProductText;

/// A defect of a product file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Complaint {
    /// Name of the file as passed to the reader.
    pub file: String,
    /// Line, counted from 1.
    pub line: u32,
    /// Column in characters, counted from 1.
    pub column: u32,
    /// The defect.
    pub what: String,
    /// Allowed alternatives.
    pub allowed: String,
}

/// `file:line:column: what: allowed`.
impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}: {}", self.file, self.line, self.column, self.what, self.allowed)
    }
}

impl std::error::Error for Complaint {}

/// Defects of a text.
pub(crate) struct Complaints<'t> {
    source: &'t ProductText<'t>,
    list: Vec<Complaint>,
}

impl<'t> Complaints<'t> {
    pub(crate) const fn new(source: &'t ProductText<'t>) -> Self {
        Self { source, list: Vec::new() }
    }

    /// Adds a defect at a byte offset.
    pub(crate) fn at(&mut self, byte: usize, what: impl Into<String>, allowed: impl Into<String>) {
        let text = &self.source.text;
        let end = (0..=byte.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        let before = &text[..end];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let (file, line) = self.source.locate(before.matches('\n').count() as u32 + 1);
        self.list.push(Complaint {
            file: file.to_owned(),
            line,
            column: before[line_start..].chars().count() as u32 + 1,
            what: what.into(),
            allowed: allowed.into(),
        });
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All defects in order of position.
    pub(crate) fn into_sorted(mut self) -> Vec<Complaint> {
        let own_first = |complaint: &Complaint| complaint.file != self.source.file;
        self.list.sort_by_key(|complaint| (own_first(complaint), complaint.line, complaint.column));
        self.list.dedup();
        self.list
    }
}
