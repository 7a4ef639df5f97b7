//! Tables printed by database clients: columns under a ruler, boxes, vertical records, and separated values.
//!
//! A format names the columns that it needs, and a line with two of them begins a table. Rows are returned one at a
//! time.

/// The weight of a column's name: unknown, one of several, or sufficient alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnWeight {
    No,
    One,
    Alone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineKind {
    /// Not part of a table.
    Other,
    /// Part of a table without a complete row: a heading, a ruler, a field of a record.
    Table,
    /// A row is complete. The line may already be the first of the next record.
    Row,
    /// A row with too few or too many cells.
    Broken,
}

/// Maximum bytes of a row over several lines.
const MAX_ROW: usize = 1 << 20;
/// Maximum columns of a table.
const MAX_COLUMNS: usize = 1_000;

/// Reads lines as rows.
#[derive(Default)]
pub(crate) struct RowReader {
    existing: ColumnNames,
    shape: RowShape,
    /// Number of the table; equal numbers mean the same table.
    pub(crate) table: u64,
    /// First line of the row.
    pub(crate) line: u64,
    pub(crate) columns: Vec<String>,
    pub(crate) cells: Vec<String>,
    /// End positions of columns in characters, under a ruler.
    ruler: Vec<usize>,
    /// A row that continues on the next line, within quotes.
    pending: String,
    next: Vec<String>,
}

/// The weight of a column's name.
struct ColumnNames(fn(&str) -> ColumnWeight);

impl Default for ColumnNames {
    fn default() -> Self {
        Self(|_| ColumnWeight::No)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum RowShape {
    #[default]
    None,
    Separated(char),
    /// A field on each line. True if records are separated by a line.
    Records(bool),
}

impl RowReader {
    pub(crate) fn new(existing: fn(&str) -> ColumnWeight) -> Self {
        Self { existing: ColumnNames(existing), ..Self::default() }
    }

    /// True if any row of a text satisfies `fits`.
    pub(crate) fn any(text: &str, existing: fn(&str) -> ColumnWeight, fits: impl Fn(&Self) -> bool) -> bool {
        let mut rows = Self::new(existing);
        let is_row = text.lines().any(|line| rows.line(line, 0) == LineKind::Row && fits(&rows));
        is_row || rows.end() && fits(&rows)
    }

    /// Processes a line. After [`LineKind::Row`] its columns and cells are available until the next call.
    pub(crate) fn line(&mut self, line: &str, number: u64) -> LineKind {
        let unboxed;
        let line = if line.contains(is_box) {
            let plain = |letter: char| match letter {
                '│' | '║' => '|',
                '─' | '═' => '-',
                _ if is_box(letter) => '+',
                _ => letter,
            };
            unboxed = line.chars().map(plain).collect::<String>();
            unboxed.as_str()
        } else {
            line
        };
        self.take_record();
        if let Some(first) = record_mark(line) {
            return self.mark(first);
        }
        match self.shape {
            RowShape::Separated(separator) => self.separated(line, separator, number),
            RowShape::Records(marked) => self.field(line, marked, number),
            RowShape::None => self.heading(line, number),
        }
    }

    /// Ends the table. True if a record was in progress, which is then available as a row.
    pub(crate) fn end(&mut self) -> bool {
        self.take_record();
        let open = matches!(self.shape, RowShape::Records(_)) && self.pending.is_empty();
        self.shape = RowShape::None;
        self.pending.clear();
        open && self.columns.iter().any(|name| (self.existing.0)(name) != ColumnWeight::No)
    }

    /// Drops the returned record.
    fn take_record(&mut self) {
        if self.shape == RowShape::None && !self.next.is_empty() {
            self.columns.clear();
            self.cells.clear();
            let value = self.next.pop();
            self.columns.extend(self.next.pop());
            self.cells.extend(value);
            self.shape = RowShape::Records(false);
        }
    }

    /// Processes a separator of records: the preceding record is complete.
    fn mark(&mut self, first: bool) -> LineKind {
        let row = matches!(self.shape, RowShape::Records(_)) && !self.columns.is_empty();
        self.shape = RowShape::Records(true);
        // The row stays available until the next line: `field` begins a new one after a separator.
        self.pending.clear();
        self.pending.push(if first { '1' } else { '+' });
        if row { LineKind::Row } else { LineKind::Table }
    }

    fn heading(&mut self, line: &str, number: u64) -> LineKind {
        let Some(separator) = self.separator(line) else { return self.unmarked(line, number) };
        let mut columns = std::mem::take(&mut self.columns);
        cut(line, separator, &mut columns);
        for name in &mut columns {
            *name = plain_name(name);
        }
        if columns.len() > MAX_COLUMNS {
            return LineKind::Other;
        }
        self.columns = columns;
        self.ruler.clear();
        self.pending.clear();
        self.shape = RowShape::Separated(separator);
        self.table += 1;
        self.line = number;
        LineKind::Table
    }

    /// The separator of the names of columns.
    fn separator(&self, line: &str) -> Option<char> {
        // Ordinary lines do not have two column names, so most end here.
        if line.len() > 16 << 10 {
            return None;
        }
        let weight = |separator: char| -> usize {
            let weigh = |name: &str| match (self.existing.0)(&plain_name(name)) {
                ColumnWeight::No => 0,
                ColumnWeight::One => 1,
                ColumnWeight::Alone => 2,
            };
            let names = line.trim().trim_matches('|').split(separator).map(|name| weigh(unquoted(name)));
            // A name that is sufficient alone must be the only one, or among other columns.
            names.sum()
        };
        ['|', '\t', ',', ';'].into_iter().find(|separator| {
            let many = line.contains(*separator);
            weight(*separator) >= 2 && (many || *separator == '|')
        })
    }

    /// `name|value`: records without separators.
    fn unmarked(&mut self, line: &str, number: u64) -> LineKind {
        let Some((name, value)) = line.split_once('|') else { return LineKind::Other };
        let name = plain_name(name);
        if value.contains('|') || (self.existing.0)(&name) == ColumnWeight::No {
            return LineKind::Other;
        }
        self.table += 1;
        self.line = number;
        self.columns.clear();
        self.cells.clear();
        self.columns.push(name);
        self.cells.push(value.trim().to_owned());
        self.shape = RowShape::Records(false);
        LineKind::Table
    }

    fn field(&mut self, line: &str, marked: bool, number: u64) -> LineKind {
        if !self.pending.is_empty() {
            if self.pending == "1" {
                self.table += 1;
            }
            self.pending.clear();
            self.columns.clear();
            self.cells.clear();
            self.line = number;
        }
        // With `\pset border 2`.
        let boxed = line.trim().strip_prefix('|').and_then(|line| line.strip_suffix('|')).filter(|_| marked);
        let line = boxed.unwrap_or(line);
        let parts = line.split_once('|').or_else(|| line.split_once(':').filter(|_| marked));
        match parts {
            Some((name, value)) if self.columns.len() < MAX_COLUMNS => {
                let name = plain_name(name);
                if !marked && self.columns.first() == Some(&name) {
                    self.next = vec![name, value.trim().to_owned()];
                    self.shape = RowShape::None;
                    return LineKind::Row;
                }
                self.columns.push(name);
                self.cells.push(value.trim().to_owned());
                LineKind::Table
            }
            _ if self.columns.is_empty() => {
                self.shape = RowShape::None;
                self.heading(line, number)
            }
            // Lines after the last record are not fields of it.
            _ if marked => {
                self.shape = RowShape::None;
                LineKind::Row
            }
            _ if line.trim().is_empty() => {
                self.pending.push('+');
                LineKind::Row
            }
            _ => LineKind::Table,
        }
    }

    fn separated(&mut self, line: &str, separator: char, number: u64) -> LineKind {
        if self.pending.is_empty() {
            self.line = number;
            let trimmed = line.trim();
            if is_ruler(trimmed) {
                self.set_ruler(line);
                return LineKind::Table;
            }
            if trimmed.is_empty() || is_footer(trimmed) {
                // A table with a single column ends only here; boxes have a ruler below.
                self.shape = RowShape::None;
                return LineKind::Other;
            }
        }
        let open = separator != '|' && (line.matches('"').count() % 2 == 1) == self.pending.is_empty();
        if open && self.pending.len() + line.len() < MAX_ROW {
            self.pending.push_str(line);
            self.pending.push('\n');
            return LineKind::Table;
        }
        let total = std::mem::take(&mut self.pending);
        let row = if total.is_empty() { line } else { &(total + line) };
        self.row(row, separator, number)
    }

    fn row(&mut self, line: &str, separator: char, number: u64) -> LineKind {
        let mut cells = std::mem::take(&mut self.cells);
        cut(line, separator, &mut cells);
        self.cells = cells;
        if self.columns.len() == 1 && self.separator(line).is_some() {
            return self.heading(line, number);
        }
        if self.cells.len() == self.columns.len() {
            let again = self.columns.len() > 1 || (self.existing.0)(&plain_name(&self.cells[0])) == ColumnWeight::Alone;
            if again && self.cells.iter().zip(&self.columns).all(|(cell, column)| plain_name(cell) == *column) {
                self.table += 1;
                return LineKind::Table;
            }
            return LineKind::Row;
        }
        if self.by_ruler(line) {
            return LineKind::Row;
        }
        if self.separator(line).is_some() {
            return self.heading(line, number);
        }
        // A line without separator is a remark of the client rather than a row.
        if line.contains(separator) { LineKind::Broken } else { LineKind::Other }
    }

    fn set_ruler(&mut self, line: &str) {
        self.ruler.clear();
        self.ruler.extend(line.chars().enumerate().filter(|(_, letter)| *letter == '+').map(|(at, _)| at));
    }

    /// Splits a row at the ruler's positions: cells may contain separators.
    fn by_ruler(&mut self, line: &str) -> bool {
        if self.ruler.len() + 1 != self.columns.len() {
            return false;
        }
        let letters: Vec<char> = line.chars().collect();
        if !self.ruler.iter().all(|at| letters.get(*at) == Some(&'|')) {
            return false;
        }
        let ends = self.ruler.iter().copied().chain([letters.len()]);
        let mut from = 0;
        self.cells.clear();
        for end in ends {
            self.cells.push(letters[from..end].iter().collect::<String>().trim().to_owned());
            from = end + 1;
        }
        true
    }
}

/// True for the characters of which boxes are drawn.
fn is_box(letter: char) -> bool {
    ('\u{2500}'..='\u{257f}').contains(&letter)
}

/// A separator of records as printed by psql and mysql. True for the first record of a table.
fn record_mark(line: &str) -> Option<bool> {
    let line = line.trim();
    if let Some(rest) = line.strip_prefix("-[ RECORD ").or_else(|| line.strip_prefix("+-[ RECORD ")) {
        return Some(rest.starts_with("1 ]"));
    }
    let inner = line.strip_prefix("***")?.trim_matches('*').trim();
    inner.strip_suffix(". row").map(|number| number == "1")
}

fn is_ruler(line: &str) -> bool {
    line.len() >= 3
        && line.contains("--")
        && line.bytes().all(|byte| matches!(byte, b'-' | b'+' | b'|' | b' ' | b'=' | b':'))
}

/// `(3 rows)`, `3 rows in set (0.01 sec)`, `Time: 1.234 ms`.
fn is_footer(line: &str) -> bool {
    let first = line.as_bytes()[0];
    (first == b'(' && line.ends_with(')'))
        || (first.is_ascii_digit() && line.contains(" in set"))
        || line.starts_with("Time: ")
}

/// A name normalised for comparison: lower case, without quotes and blanks.
fn plain_name(name: &str) -> String {
    unquoted(name).to_ascii_lowercase()
}

fn unquoted(cell: &str) -> &str {
    cell.trim().trim_matches('"').trim()
}

/// Splits a line into cells, reusing their memory.
fn cut(line: &str, separator: char, cells: &mut Vec<String>) {
    let mut count = 0;
    let mut put = |cell: &str| {
        if count == cells.len() {
            cells.push(String::new());
        }
        let retained: &mut String = &mut cells[count];
        retained.clear();
        retained.push_str(cell.trim());
        count += 1;
    };
    if separator == '|' {
        let line = line.trim();
        let inner = line.strip_prefix('|').and_then(|line| line.strip_suffix('|')).unwrap_or(line);
        inner.split('|').for_each(&mut put);
    } else {
        super::table::cells(line, separator).for_each(|cell| put(&cell));
    }
    cells.truncate(count);
}

#[cfg(test)]
mod tests;
