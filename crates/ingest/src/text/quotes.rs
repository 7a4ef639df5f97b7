//! Marks of quotation before the lines of a mail: `> `, possibly several.

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

#[cfg(test)]
mod tests {
    use super::Unquoting;

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
