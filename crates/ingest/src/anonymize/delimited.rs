//! Lines of cells with a mark between them: what a client of a database prints, and CSV.

use super::columns::{self, Cell, length};
use super::names::Names;
use super::words::is_number;
use crate::table::plain;

/// A table whose titles were met.
pub(super) struct Delimited {
    mark: char,
    titles: Vec<String>,
}

impl Delimited {
    /// Reads a line of titles.
    pub(super) fn of(line: &str, names: &Names) -> Option<Self> {
        let mark = ['|', ';', '\t', ','].into_iter().find(|mark| line.contains(*mark))?;
        let titles: Vec<String> = cut(line, mark).iter().map(|title| plain(title.trim_matches(['"', ' ']))).collect();
        let told: Vec<&String> = titles.iter().filter(|title| !title.is_empty()).collect();
        let fewest = if matches!(mark, '|' | '\t') { 2 } else { 3 };
        if told.len() < fewest || told.iter().any(|title| is_number(title) || title.starts_with(['-', '+', '{'])) {
            return None;
        }
        let is_known = |title: &String| {
            columns::of(std::slice::from_ref(title), 0) != Cell::Words
                || title.split(' ').all(|word| names.is_word(word))
        };
        // A line with a single word of a program may be anything.
        (told.iter().filter(|title| is_known(title)).count() * 2 > told.len()).then_some(Self { mark, titles })
    }

    /// A line of the table without names; none when it is no line of this table.
    pub(super) fn line(&self, line: &str, names: &mut Names) -> Option<String> {
        let cells = cut(line, self.mark);
        let holds_text = (0..self.titles.len()).any(|index| columns::of(&self.titles, index) == Cell::Length);
        if cells.len() != self.titles.len() {
            // A statement that holds the mark, or goes on in the next line.
            return holds_text.then(|| length(line.trim()));
        }
        let cells = cells.iter().enumerate().map(|(index, cell)| {
            let text = cell.trim_matches(['"', ' ']);
            let cleaned = columns::of(&self.titles, index).clean(text, names);
            if cleaned == text {
                return (*cell).to_owned();
            }
            let blanks = cell.len() - cell.trim_start().len();
            let width = cell.trim_start().chars().count();
            let padded = if self.mark == '|' { format!("{cleaned:width$}") } else { cleaned };
            format!("{:blanks$}{padded}", "")
        });
        Some(cells.collect::<Vec<String>>().join(&self.mark.to_string()))
    }
}

/// The cells of a line; a mark inside of quotes is none.
fn cut(line: &str, mark: char) -> Vec<&str> {
    let (mut cells, mut from, mut quoted) = (Vec::new(), 0, false);
    for (at, letter) in line.char_indices() {
        if letter == '"' && mark != '|' {
            quoted = !quoted;
        } else if letter == mark && !quoted {
            cells.push(&line[from..at]);
            from = at + letter.len_utf8();
        }
    }
    cells.push(&line[from..]);
    cells
}
