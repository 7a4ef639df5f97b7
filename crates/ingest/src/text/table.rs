//! Tables of reports: cells of HTML, of columns under a ruler, and of separated values.

use std::borrow::Cow;

/// A table, with its headings joined to a name for each column.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct NamedTable {
    /// The nearest heading above it.
    pub(crate) heading: String,
    /// Its first line.
    pub(crate) line: u64,
    /// Names of its columns, in lower case with single spaces; spanning headings precede the column's own.
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Row>,
    /// The table is truncated by the end of the input or by a limit.
    pub(crate) cut: bool,
}

/// A row of trimmed cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Row {
    pub(crate) line: u64,
    pub(crate) cells: Vec<String>,
}

impl NamedTable {
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// The first column whose name has this prefix.
    pub(crate) fn column_like(&self, start: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.starts_with(start))
    }
}

impl Row {
    /// A cell; empty if missing.
    pub(crate) fn cell(&self, column: usize) -> &str {
        self.cells.get(column).map_or("", String::as_str)
    }
}

/// Normalises a name for comparison: lower case, single spaces.
pub(crate) fn plain(name: &str) -> String {
    spaced(name).chars().flat_map(char::to_lowercase).collect()
}

/// The cells of a line; quotes are removed, and doubled quotes within them are a single quote (RFC 4180).
pub(crate) fn cells(line: &str, separator: char) -> impl Iterator<Item = Cow<'_, str>> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(quoted) = text.trim_start_matches(' ').strip_prefix('"') else {
            let (cell, after) = text.split_once(separator).map_or((text, None), |(cell, after)| (cell, Some(after)));
            rest = after;
            return Some(Cow::Borrowed(cell));
        };
        let mut cell = Cow::Borrowed("");
        let mut from = quoted;
        loop {
            let (inside, after) = from.split_once('"').unwrap_or((from, ""));
            cell += inside;
            let Some(after) = after.strip_prefix('"') else {
                rest = after.split_once(separator).map(|(_, after)| after);
                return Some(cell);
            };
            cell += "\"";
            from = after;
        }
    })
}

/// Positions of columns, in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ruler {
    spans: Vec<(usize, usize)>,
}

impl Ruler {
    /// Reads a line of dashes or tildes.
    pub(crate) fn of(line: &str) -> Option<Self> {
        let line = line.trim_end();
        let is_mark = |byte: u8| matches!(byte, b'-' | b'~');
        if line.bytes().filter(|byte| is_mark(*byte)).count() < 3 || !line.bytes().all(|b| is_mark(b) || b == b' ') {
            return None;
        }
        let (mut spans, mut begin) = (Vec::new(), None);
        for (index, byte) in line.bytes().chain([b' ']).enumerate() {
            match (begin, is_mark(byte)) {
                (None, true) => begin = Some(index),
                (Some(from), false) => {
                    spans.push((from, index));
                    begin = None;
                }
                _ => {}
            }
        }
        Some(Self { spans })
    }

    /// A single column, for a table without a ruler.
    pub(crate) fn full_width() -> Self {
        Self { spans: vec![(0, usize::MAX)] }
    }

    /// True for a single run of dashes that is well inside of the line: a ruler below a spanning heading, or the end of
    /// a section.
    pub(crate) fn is_inner(&self) -> bool {
        matches!(self.spans.as_slice(), [(from, to)] if *from >= 8 && to - from >= 20)
    }

    /// True for a single run of dashes.
    pub(crate) fn is_single(&self) -> bool {
        self.spans.len() == 1
    }

    /// True if the words of a line are below this ruler: numbers end with their column, other cells begin or end with it.
    pub(crate) fn fits(&self, line: &str) -> bool {
        let letters: Vec<char> = line.trim_end().chars().collect();
        let piece = |from: usize, to: usize| letters[from.min(letters.len())..to.min(letters.len())].iter();
        let mut gaps = std::iter::once(0).chain(self.spans.iter().map(|(_, to)| *to)).zip(&self.spans);
        let is_number = |text: &str| {
            text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b','))
                && text.matches('.').count() < 2
        };
        let is_below = |(index, (from, to)): (usize, &(usize, usize))| {
            let is_last = index + 1 == self.spans.len();
            let cell: String = piece(*from, if is_last { usize::MAX } else { *to }).collect();
            let ends = cell.trim_end().chars().count() >= to - from;
            cell.trim().is_empty() || ends || !cell.starts_with(' ') && !is_number(cell.trim())
        };
        gaps.all(|(before, (from, _))| piece(before, *from).all(|letter| *letter == ' '))
            && self.spans.iter().enumerate().all(is_below)
    }

    /// A line's cells. Each extends to the begin of the next, and the last to the end of the line. Words of rows that are
    /// shifted belong to the column with most of their letters.
    pub(crate) fn cells(&self, line: &str) -> Vec<String> {
        if line.is_ascii() {
            let is_blank = |at: usize| line.as_bytes()[at] == b' ';
            return self.cut(line.len(), is_blank, |from, to| spaced(&line[from..to]));
        }
        let letters: Vec<char> = line.chars().collect();
        let slice = |from: usize, to: usize| spaced(&letters[from..to].iter().collect::<String>());
        self.cut(letters.len(), |at| letters[at] == ' ', slice)
    }

    fn cut(
        &self,
        length: usize,
        is_blank: impl Fn(usize) -> bool,
        slice: impl Fn(usize, usize) -> String,
    ) -> Vec<String> {
        let mut begin = self.spans.first().map_or(0, |(from, _)| *from).min(length);
        let ends = self.spans.iter().skip(1).map(|(from, _)| *from).chain([usize::MAX]);
        let found = ends.map(|end| {
            let mut end = end.min(length);
            if (1..length).contains(&end) && !is_blank(end - 1) && !is_blank(end) {
                let word = (0..end).rev().find(|at| is_blank(*at)).map_or(0, |at| at + 1);
                let after = (end..length).find(|at| is_blank(*at)).unwrap_or(length);
                end = if end - word <= after - end { word } else { after };
            }
            let end = end.max(begin);
            slice(std::mem::replace(&mut begin, end), end)
        });
        found.collect()
    }
}

/// Words with single spaces.
pub(crate) fn spaced(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Names of columns: the texts of each column in rows of headings, from top to bottom.
pub(crate) fn titles<R: IntoIterator<Item = String>>(heads: impl IntoIterator<Item = R>) -> Vec<String> {
    let mut columns: Vec<String> = Vec::new();
    for head in heads {
        for (index, cell) in head.into_iter().enumerate() {
            match columns.get_mut(index) {
                Some(column) => {
                    column.push(' ');
                    column.push_str(&cell);
                }
                None => columns.push(cell),
            }
        }
    }
    columns.iter().map(|column| plain(column)).collect()
}

#[cfg(test)]
mod tests {
    use super::{Ruler, cells};

    #[test]
    fn cells_are_split_by_the_ruler() {
        let ruler = Ruler::of("------ ---- ----").unwrap();
        assert_eq!(ruler.cells("a b     1    22"), ["a b", "1", "22"]);
        assert_eq!(ruler.cells("a            22 and more"), ["a", "", "22 and more"]);
        assert_eq!(ruler.cells("a"), ["a", "", ""]);
        assert_eq!(ruler.cells("a b  1234   22"), ["a b", "1234", "22"], "shifted to the left");
        assert_eq!(ruler.cells("a b      1234 22"), ["a b", "1234", "22"], "shifted to the right");
        assert_eq!(ruler.cells("\u{e4}\u{f6} b     1    22"), ["\u{e4}\u{f6} b", "1", "22"]);
    }

    #[test]
    fn lines_are_below_their_ruler() {
        let ruler = Ruler::of("-------- ------- ---------- -----").unwrap();
        let table = [
            ("reads of     1.0        200     3", true),
            ("reads of     1.0 quay         3.5", true),
            ("      12     1.0 11.2.0.4.0 NO", true),
            ("12     1.0        200     3", false),
            ("reads of 1.0        200     3", false),
            ("reads    1.0        200     3", false),
            ("", true),
        ];
        for (line, expected) in table {
            assert_eq!(ruler.fits(line), expected, "{line}");
        }
    }

    #[test]
    fn not_every_line_is_a_ruler() {
        assert_eq!(Ruler::of("--"), None);
        assert_eq!(Ruler::of("--- x"), None);
        assert_eq!(Ruler::of(""), None);
        assert!(Ruler::of(&format!("{}{}", " ".repeat(30), "-".repeat(47))).unwrap().is_inner());
        assert!(!Ruler::of(&"-".repeat(47)).unwrap().is_inner());
        assert!(Ruler::of("~~~~ ---- ----").is_some());
    }

    #[test]
    fn cells_may_be_quoted() {
        let found: Vec<String> = cells("a,\"b,\"\"c\"\"\",,\"d", ',').map(String::from).collect();
        assert_eq!(found, ["a", "b,\"c\"", "", "d"]);
    }
}
