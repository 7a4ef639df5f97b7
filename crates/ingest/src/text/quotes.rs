//! Marks of quotation before the lines of a mail: `> `, possibly several.

use super::table::cells;

/// Removes marks of quotation from a text, piece by piece.
#[derive(Clone, Debug)]
pub(crate) struct Unquoting {
    at: LinePosition,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LinePosition {
    /// Before the text of a line: marks are removed.
    Begin,
    /// After a mark: a blank belongs to it.
    AfterMark,
    Text,
}

impl Unquoting {
    /// For a text in which more than half of the lines are quoted.
    pub(crate) fn of(head: &[u8]) -> Option<Self> {
        const MIN_LINES: usize = 3;
        let lines = head.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        let (quoted, all) = lines.fold((0, 0), |(quoted, all), line| (quoted + usize::from(line[0] == b'>'), all + 1));
        (quoted >= MIN_LINES && quoted * 2 > all).then_some(Self { at: LinePosition::Begin })
    }

    /// Removes the marks of a piece.
    pub(crate) fn apply(&mut self, text: &mut Vec<u8>) {
        text.retain(|byte| {
            let (is_kept, at) = match (self.at, byte) {
                (_, b'\n') => (true, LinePosition::Begin),
                (LinePosition::Begin | LinePosition::AfterMark, b'>') => (false, LinePosition::AfterMark),
                (LinePosition::AfterMark, b' ') => (false, LinePosition::Begin),
                _ => (true, LinePosition::Text),
            };
            self.at = at;
            is_kept
        });
    }
}

/// Removes the quotation marks around lines that a spreadsheet wrote as rows of a single cell.
#[derive(Clone, Debug, Default)]
pub(crate) struct CellUnquoting {
    at: CellPosition,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum CellPosition {
    #[default]
    Begin,
    /// In a line without quotation marks around it.
    Plain,
    Quoted,
    /// After a mark within a cell, which ends it or is doubled.
    AfterMark,
}

impl CellUnquoting {
    /// For a report of a database with lines in quotation marks, none of which has several cells.
    pub(crate) fn of(head: &[u8]) -> Option<Self> {
        const MIN_LINES: usize = 3;
        let text = String::from_utf8_lossy(head);
        let is_report = ["WORKLOAD REPOSITORY", "STATSPACK report for"].iter().any(|title| text.contains(title));
        let is_quoted = |line: &&str| line.len() > 1 && line.starts_with('"') && line.ends_with('"');
        let is_single = |line: &str| [',', ';', '\t'].into_iter().all(|mark| cells(line, mark).count() == 1);
        let quoted: Vec<&str> = text.lines().filter(is_quoted).collect();
        (is_report && quoted.len() >= MIN_LINES && quoted.into_iter().all(is_single)).then(Self::default)
    }

    /// Removes the marks of a piece.
    pub(crate) fn apply(&mut self, text: &mut Vec<u8>) {
        text.retain(|byte| {
            let (is_retained, at) = match (self.at, byte) {
                (_, b'\n') => (true, CellPosition::Begin),
                (CellPosition::Begin, b'"') => (false, CellPosition::Quoted),
                (CellPosition::Quoted, b'"') => (false, CellPosition::AfterMark),
                (CellPosition::Quoted | CellPosition::AfterMark, _) => (true, CellPosition::Quoted),
                (CellPosition::Begin | CellPosition::Plain, _) => (true, CellPosition::Plain),
            };
            self.at = at;
            is_retained
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{CellUnquoting, Unquoting};

    #[test]
    fn marks_around_lines_are_removed() {
        let text = "STATSPACK report for\n\"a, \"\"b\"\"\"\n\"1,5\"\r\n\"2,5\"\nc \"d\"\n";
        for step in [1, 2, 100] {
            let mut unquoting = CellUnquoting::of(text.as_bytes()).unwrap();
            let mut all = Vec::new();
            for piece in text.as_bytes().chunks(step) {
                let mut piece = piece.to_vec();
                unquoting.apply(&mut piece);
                all.extend(piece);
            }
            assert_eq!(String::from_utf8(all).unwrap(), "STATSPACK report for\na, \"b\"\n1,5\r\n2,5\nc \"d\"\n");
        }
        assert!(CellUnquoting::of(text.replace("1,5", "1\",\"5").as_bytes()).is_none(), "several cells");
        assert!(CellUnquoting::of(text.replace("STATSPACK", "x").as_bytes()).is_none(), "no report");
    }

    fn check(text: &str, expected: Option<&str>) {
        let unquoted = Unquoting::of(text.as_bytes()).map(|mut unquoting| {
            let mut all = Vec::new();
            for piece in text.as_bytes().chunks(3) {
                let mut piece = piece.to_vec();
                unquoting.apply(&mut piece);
                all.extend(piece);
            }
            String::from_utf8(all).unwrap()
        });
        assert_eq!(unquoted.as_deref(), expected, "{text}");
    }

    #[test]
    fn marks_before_lines_are_removed() {
        check("> a > b\n>  c\n>> d\n> > e\n>\n", Some("a > b\n c\nd\ne\n\n"));
        check("a wrote:\n\n> b\n> c\n>d\n", Some("a wrote:\n\nb\nc\nd\n"));
        check("> a\nb\nc\nd\n", None);
        check("a > b\nc > d\ne > f\n", None);
        check("", None);
    }
}
