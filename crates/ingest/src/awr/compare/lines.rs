//! The text of a comparison: tables under rulers, each with the names of its columns in the line above.

use super::Comparison;
use crate::awr::ruler::Ruler;
use crate::table::{Row, Table, plain};

const MOST_ROWS: usize = 200_000;

/// Collects tables from lines.
#[derive(Default)]
pub(in crate::awr) struct Lines {
    comparison: Comparison,
    heading: String,
    above: String,
    table: Option<(Ruler, Table)>,
}

impl Lines {
    /// Takes the report's title.
    pub(in crate::awr) fn title(&mut self, title: &str) {
        self.comparison.title(title);
    }

    /// Takes any line.
    pub(in crate::awr) fn line(&mut self, line: &str, number: u64) {
        let line = line.trim_start_matches('\u{c}').trim_end();
        if let Some((heading, about)) = line.split_once("DB/Inst:") {
            self.end_table();
            heading.trim().trim_end_matches("First").trim_end().clone_into(&mut self.heading);
            let (first, second) = about.split_once("DB/Inst:").unwrap_or((about, ""));
            for (side, about) in [first, second].into_iter().enumerate() {
                let names = about.split_whitespace().next().and_then(|names| names.split_once('/'));
                if let Some((database, instance)) = names {
                    self.comparison.names(side, database, instance);
                }
                let seconds = about.split_once("Elapsed time:").and_then(|(_, rest)| rest.split_once("sec"));
                if let Some((seconds, _)) = seconds {
                    self.comparison.lasted(side, seconds);
                }
            }
        } else if line.is_empty() {
            self.end_table();
        } else if let Some(ruler) = Ruler::of(line) {
            self.end_table();
            if !ruler.is_inner() {
                let columns = ruler.cells(&self.above).iter().map(|name| plain(name)).collect();
                let table = Table { heading: self.heading.clone(), line: number, columns, ..Table::default() };
                self.table = Some((ruler, table));
            }
        } else if let Some((ruler, table)) = &mut self.table {
            if table.rows.len() < MOST_ROWS {
                let is_sets = table.columns.first().is_some_and(|name| name == "snapshot set");
                let words = if is_sets { worded(line) } else { Vec::new() };
                let cells = if words.len() == table.columns.len() { words } else { ruler.cells(line) };
                table.rows.push(Row { line: number, cells });
            } else {
                table.cut = true;
            }
        }
        line.clone_into(&mut self.above);
    }

    /// Both periods, when all lines have come.
    pub(in crate::awr) fn finish(mut self) -> Comparison {
        self.end_table();
        self.comparison
    }

    fn end_table(&mut self) {
        if let Some((_, table)) = self.table.take() {
            self.comparison.table(&table);
        }
    }
}

/// The cells of a row in which none is blank, with a date, its time and its day in one: those of snapshots do not stand
/// where their ruler says.
fn worded(line: &str) -> Vec<String> {
    let mut cells: Vec<String> = Vec::new();
    let mut words = line.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let mut cell = word.to_owned();
        let is_date = word.matches('-').count() == 2;
        while is_date && words.peek().is_some_and(|next| next.contains(':') || next.starts_with('(')) {
            cell.push(' ');
            cell.push_str(words.next().unwrap_or_default());
        }
        cells.push(cell);
    }
    cells
}
