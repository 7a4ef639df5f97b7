//! Oracle's reports as text, line by line: cells under a ruler by the titles of their columns, everything else by words.
//! Nothing moves: a reader finds each column where it was.

use super::columns::{self, Cell, length};
use super::names::{Kind, Names};
use super::words::{Unknown, clean, is_number};
use crate::awr::{Ruler, titles};

/// Where a report is.
#[derive(Default)]
pub(super) struct Pages {
    /// Lines that may be titles of columns.
    heads: Vec<String>,
    table: Option<Table>,
    /// True in sections that hold statements.
    statements: bool,
}

struct Table {
    ruler: Ruler,
    columns: Vec<String>,
    /// The ruler of a first line of each row, for tables of two.
    first: Option<(Ruler, Vec<String>)>,
    has_rows: bool,
    /// True when the second line of a row comes next.
    is_second: bool,
}

impl Table {
    /// True for the first of two rulers: a tablespace, or a tablespace and a file.
    fn is_name_alone(&self) -> bool {
        self.first.is_none()
            && self.columns.first().is_some_and(|name| name == "tablespace")
            && (self.columns.len() == 1 || self.columns[1] == "filename")
    }
}

impl Pages {
    /// A line without names.
    pub(super) fn line(&mut self, line: &str, names: &mut Names) -> String {
        let content = line.trim_start_matches('\u{c}');
        let feeds = &line[..line.len() - content.len()];
        feeds.to_owned() + &self.content(content, names)
    }

    fn content(&mut self, line: &str, names: &mut Names) -> String {
        if let Some((heading, about)) = line.split_once("DB/Inst:") {
            return self.section(heading, about, names);
        }
        if line.trim().is_empty() {
            self.heads.clear();
            self.table = self.table.take().filter(|table| !table.has_rows || table.first.is_some());
            return line.to_owned();
        }
        if let Some(ruler) = Ruler::of(line) {
            self.rule(ruler);
            return line.to_owned();
        }
        match &mut self.table {
            Some(table) if !table.is_name_alone() => {
                table.has_rows = true;
                if self.statements && !is_row(&table.ruler, line) {
                    length(line.trim())
                } else {
                    table.row(line, names)
                }
            }
            _ if self.statements && self.heads.len() >= MOST_HEADS => length(line.trim()),
            _ => self.free(line, names),
        }
    }

    fn section(&mut self, heading: &str, about: &str, names: &mut Names) -> String {
        self.heads.clear();
        self.table = None;
        self.statements = heading.to_ascii_lowercase().contains("sql");
        let about = about.trim_start();
        let (who, rest) = about.split_at(about.find(' ').unwrap_or(about.len()));
        let who = who.split_once('/').map(|(database, instance)| {
            let mut of = |kind, name: &str| if name.is_empty() { String::new() } else { names.of(kind, name) };
            format!("{}/{}", of(Kind::Database, database), of(Kind::Instance, instance))
        });
        let heading = clean(heading, Unknown::Cross, names);
        format!("{heading}DB/Inst: {}{}", who.unwrap_or_default(), clean(rest, Unknown::Cross, names))
    }

    fn rule(&mut self, ruler: Ruler) {
        let heads = std::mem::take(&mut self.heads);
        self.table = match self.table.take() {
            Some(table) if table.is_name_alone() && !ruler.is_inner() => {
                Some(Table::new(ruler, &heads, Some((table.ruler, table.columns))))
            }
            Some(table) if table.has_rows || ruler.is_inner() => None,
            None if ruler.is_inner() => None,
            _ => Some(Table::new(ruler, &heads, None)),
        };
    }

    /// A line that is in no table: titles, or a name and its number.
    fn free(&mut self, line: &str, names: &mut Names) -> String {
        if line.starts_with("->") {
            return "->".to_owned();
        }
        if !line.contains("---") {
            self.heads.push(line.to_owned());
        }
        if self.heads.len() > MOST_HEADS {
            self.heads.remove(0);
        }
        clean(line, Unknown::Cross, names)
    }
}

const MOST_HEADS: usize = 8;

/// True for a row of numbers with at most a name: in sections of statements every other line may be a part of one.
fn is_row(ruler: &Ruler, line: &str) -> bool {
    const FEWEST: usize = 4;
    let cells = ruler.cells(line);
    let told: Vec<&String> = cells.iter().filter(|cell| !cell.is_empty()).collect();
    let numbers = told.iter().filter(|cell| is_plain_number(cell)).count();
    numbers >= FEWEST && told.len() - numbers <= 1 && !line.contains(['(', ')', '=', '\''])
}

/// A number as rows have it: a statement has commas behind its numbers.
fn is_plain_number(word: &str) -> bool {
    is_number(word.trim_start_matches(['.', '-'])) && !word.ends_with(',')
}

impl Table {
    fn new(ruler: Ruler, heads: &[String], first: Option<(Ruler, Vec<String>)>) -> Self {
        let columns = titles(&ruler, heads);
        Self { ruler, columns, first, has_rows: false, is_second: false }
    }

    fn row(&mut self, line: &str, names: &mut Names) -> String {
        if let Some((ruler, columns)) = &self.first {
            self.is_second = !self.is_second;
            if self.is_second {
                return under(ruler, columns, line, names);
            }
        }
        under(&self.ruler, &self.columns, line, names)
    }
}

/// The cells of a line under a ruler, each in its place.
fn under(ruler: &Ruler, columns: &[String], line: &str, names: &mut Names) -> String {
    let letters: Vec<char> = line.chars().collect();
    let begins: Vec<usize> = ruler.spans().iter().map(|(from, _)| *from).collect();
    let is_torn = |at: &usize| {
        let around = at.checked_sub(1).and_then(|before| Some((letters.get(before)?, letters.get(*at)?)));
        around.is_some_and(|(before, after)| !before.is_whitespace() && !after.is_whitespace())
    };
    if begins.iter().any(is_torn) {
        return clean(line, Unknown::Name, names);
    }
    let first = begins.first().copied().unwrap_or(0).min(letters.len());
    let mut out: String = clean(&letters[..first].iter().collect::<String>(), Unknown::Cross, names);
    let key = ruler.cells(line).first().and_then(|key| kind_of(key));
    for (index, from) in begins.iter().enumerate() {
        let from = (*from).min(letters.len());
        let next = begins.get(index + 1).copied();
        let part: String = letters[from..next.unwrap_or(letters.len()).min(letters.len()).max(from)].iter().collect();
        let cell = match (index, key) {
            (1, Some(kind)) => Cell::Name(kind),
            _ => columns::of(columns, index),
        };
        out.push_str(&placed(&part, next.is_some(), cell, names));
    }
    out
}

/// Names that stand in the second column, by the first: as AWR-Miner lists them.
fn kind_of(key: &str) -> Option<Kind> {
    match key {
        "DB_NAME" => Some(Kind::Database),
        "HOSTS" => Some(Kind::Host),
        _ => None,
    }
}

/// A cell where it was: as wide as before, unless nothing follows it.
fn placed(part: &str, is_fixed: bool, cell: Cell, names: &mut Names) -> String {
    let text = part.trim();
    let cleaned = cell.clean(text, names);
    if cleaned == text {
        return part.to_owned();
    }
    let blanks = part.chars().count() - part.trim_start().chars().count();
    let width = part.chars().count();
    let room = if is_fixed { width.saturating_sub(blanks + 1) } else { usize::MAX };
    let cut: String = cleaned.chars().take(room).collect();
    let width = if is_fixed { width - blanks } else { 0 };
    format!("{:blanks$}{cut:width$}", "")
}
