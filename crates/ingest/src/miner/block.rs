//! A block of rows under a ruler, as SQL*Plus prints it.

use crate::awr::Ruler;
use crate::number::Numerals;

/// A block that has not ended.
pub(super) struct Block {
    pub(super) name: String,
    /// The last line that was read of it.
    pub(super) line: u64,
    /// Rows that were handed on.
    pub(super) rows: u32,
    above: String,
    columns: Vec<String>,
    ruler: Option<Ruler>,
}

/// A row with the names of its columns.
pub(super) struct Row<'a> {
    pub(super) block: &'a str,
    pub(super) line: u64,
    columns: &'a [String],
    cells: Vec<String>,
}

/// The blocks that something is read of.
const USED: [&str; 8] = [
    "OS-INFORMATION",
    "OSSTAT",
    "MAIN-METRICS",
    "DATABASE-PARAMETERS",
    "IO-WAIT-HISTOGRAM",
    "IOSTAT-BY-FUNCTION",
    "TOP-N-TIMED-EVENTS",
    "SYSSTAT",
];

impl Block {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), line: 0, rows: 0, above: String::new(), columns: Vec::new(), ruler: None }
    }

    pub(super) fn is_used(&self) -> bool {
        USED.contains(&self.name.as_str())
    }

    /// Takes the line of dashes: what stands above it are the names of columns. Each page has them again.
    pub(super) fn rule(&mut self, ruler: Ruler) {
        self.columns = ruler.cells(&self.above).iter().map(|name| name.to_lowercase()).collect();
        self.ruler = Some(ruler);
    }

    /// Takes any other line.
    pub(super) fn row(&mut self, line: &str, number: u64) -> Option<Row<'_>> {
        self.line = number;
        if !self.is_used() {
            return None;
        }
        line.clone_into(&mut self.above);
        let cells = self.ruler.as_ref()?.cells(line);
        let is_heading = cells.iter().zip(&self.columns).all(|(cell, name)| cell.eq_ignore_ascii_case(name));
        if is_heading {
            return None;
        }
        self.rows += 1;
        Some(Row { block: &self.name, line: number, columns: &self.columns, cells })
    }
}

impl Row<'_> {
    /// The cell of a column; empty where there is none.
    pub(super) fn text(&self, column: &str) -> &str {
        let at = self.columns.iter().position(|name| name == column);
        at.and_then(|at| self.cells.get(at)).map_or("", String::as_str)
    }

    /// The number of a column. Its host may print decimals behind a comma; marks between thousands it never prints.
    pub(super) fn number(&self, column: &str) -> Option<f64> {
        let text = self.text(column);
        let numerals = if text.contains(',') { Numerals::Comma } else { Numerals::Point };
        numerals.number(text)
    }
}
