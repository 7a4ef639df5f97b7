//! Tables and facts of things that are no runs and no offers: the caller says what stands in each cell.

use super::TextStyle;
use super::configurations::{left_out, note};
use super::paint::{INDENT, Line, Tone, cut, hanging, wrap};
use super::table::{Align, Column, Table};
use crate::words::clean;

/// A cell is cut after so many columns.
const CELL: usize = 48;

/// The head of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heading {
    /// What it holds.
    pub name: &'static str,
    /// The unit of its figures, or nothing.
    pub unit: &'static str,
    /// How its cells stand.
    pub cells: Cells,
    /// 0 stays where there is not enough width; of the others the highest goes first.
    pub expendable: u8,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cells {
    /// Words, from the left.
    Words,
    /// Figures, below each other by their points.
    Figures,
}

/// A table before it is laid out, for whoever shows it: what stands in each cell, and the notes below.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Filled {
    pub headings: Vec<Heading>,
    pub rows: Vec<Vec<String>>,
    pub notes: Vec<String>,
}

/// The cell of what is not said.
pub(crate) const NONE: &str = "\u{2013}";

impl Filled {
    pub fn new(headings: &[Heading], rows: Vec<Vec<String>>, notes: Vec<String>) -> Self {
        Self { headings: headings.to_vec(), rows, notes }
    }

    /// Without the columns that say nothing.
    pub fn said(self) -> Self {
        let says = |column: &usize| self.rows.iter().any(|row| row[*column] != NONE);
        let columns: Vec<usize> = (0..self.headings.len()).filter(says).collect();
        let cells = |row: &Vec<String>| columns.iter().map(|column| row[*column].clone()).collect();
        Self {
            headings: columns.iter().map(|column| self.headings[*column]).collect(),
            rows: self.rows.iter().map(cells).collect(),
            notes: self.notes,
        }
    }

    /// For a terminal; nothing without rows.
    pub(super) fn lay_out(&self, style: &TextStyle) -> Vec<Vec<Line>> {
        if self.rows.is_empty() { Vec::new() } else { parts(&self.headings, &self.rows, &self.notes, style) }
    }
}

/// Rows below headings, then the notes.
pub(super) fn parts(headings: &[Heading], rows: &[Vec<String>], notes: &[String], style: &TextStyle) -> Vec<Vec<Line>> {
    let cell = |row: &[String], index: usize| row.get(index).map_or(String::new(), |text| cut(&clean(text), CELL));
    let column = |(index, heading): (usize, &Heading)| Column {
        name: heading.name,
        unit: heading.unit,
        align: if heading.cells == Cells::Words { Align::Left } else { Align::Point },
        expendable: heading.expendable,
        cells: rows.iter().map(|row| cell(row, index)).collect(),
    };
    let table = Table { columns: headings.iter().enumerate().map(column).collect(), ..Table::default() };
    let laid = table.lay_out(style);
    let left_out = left_out(&laid);
    let mut lines = laid.lines;
    for text in notes.iter().chain(&left_out) {
        lines.extend(note(&clean(text), style));
    }
    vec![lines]
}

/// A title, then a word and what it is for each fact; facts without a text are left out.
pub(super) fn facts(title: &str, facts: &[(&str, String)], style: &TextStyle) -> Vec<Line> {
    let title = wrap(&clean(title), style.width).into_iter().map(|line| Line::of(line, Tone::Strong));
    let facts = facts.iter().filter(|(_, text)| !text.is_empty());
    title
        .chain(facts.flat_map(|(word, text)| hanging(word, Tone::Quiet, wrap(&clean(text), style.width - INDENT))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::{facts, grid};
    use super::*;

    const HEADINGS: [Heading; 3] = [
        Heading { name: "name", unit: "", cells: Cells::Words, expendable: 0 },
        Heading { name: "rate", unit: "IOPS", cells: Cells::Figures, expendable: 0 },
        Heading { name: "like", unit: "", cells: Cells::Words, expendable: 1 },
    ];

    #[test]
    fn columns_go_where_the_width_ends() {
        let rows = [
            vec!["data".into(), "12.5".into(), "a configuration of forty columns or more".into()],
            vec!["wal".into(), "3,000".into(), "b".into()],
        ];
        let text = grid(&HEADINGS, &rows, &["emulated".into()], &TextStyle::default());
        let wide = "name     rate  like\n         IOPS\n\
            data     12.5  a configuration of forty columns or more\nwal   3,000    b\nemulated\n";
        assert_eq!(text, wide);
        let narrow = grid(&HEADINGS, &rows, &[], &TextStyle { width: 40, ..TextStyle::default() });
        assert!(narrow.ends_with("left out for the width: like\n") && !narrow.contains("forty"), "{narrow}");
    }

    #[test]
    fn facts_hang_and_nothing_escapes() {
        let text = facts("data", &[("level", "20".into()), ("group", String::new())], &TextStyle::default());
        assert_eq!(text, "data\nlevel    20\n");
        let hostile = facts("\u{1b}[31mred", &[], &TextStyle::default());
        assert!(!hostile.contains('\u{1b}'), "{hostile:?}");
    }
}
