//! Columns under a ruler: a line of dashes says where each begins and ends. Cells can be blank, so blanks tell nothing.

/// Where columns are, in letters from the beginning of the line.
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

    /// True for a single run of dashes that stands well inside of the line: a ruler below a heading over several columns,
    /// or the end of a section.
    pub(crate) fn is_inner(&self) -> bool {
        matches!(self.spans.as_slice(), [(from, to)] if *from >= 8 && to - from >= 20)
    }

    /// True for a single run of dashes.
    pub(crate) fn is_single(&self) -> bool {
        self.spans.len() == 1
    }

    /// A line's cells. Each reaches to where the next one begins, and the last to the end of the line.
    pub(crate) fn cells(&self, line: &str) -> Vec<String> {
        if line.is_ascii() {
            return self.cut(line.len(), |from, to| spaced(&line[from..to]));
        }
        let letters: Vec<char> = line.chars().collect();
        self.cut(letters.len(), |from, to| spaced(&letters[from..to].iter().collect::<String>()))
    }

    fn cut(&self, length: usize, slice: impl Fn(usize, usize) -> String) -> Vec<String> {
        let ends = self.spans.iter().skip(1).map(|(from, _)| *from).chain([usize::MAX]);
        self.spans.iter().zip(ends).map(|((from, _), end)| slice((*from).min(length), end.min(length))).collect()
    }
}

/// Words with single spaces, as HTML shows them.
fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<&str>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::Ruler;

    #[test]
    fn cells_are_cut_where_the_ruler_says() {
        let ruler = Ruler::of("------ ---- ----").unwrap();
        assert_eq!(ruler.cells("a b     1    22"), ["a b", "1", "22"]);
        assert_eq!(ruler.cells("a            22 and more"), ["a", "", "22 and more"]);
        assert_eq!(ruler.cells("a"), ["a", "", ""]);
        assert_eq!(ruler.cells("\u{e4}\u{f6} b     1    22"), ["\u{e4}\u{f6} b", "1", "22"]);
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
}
