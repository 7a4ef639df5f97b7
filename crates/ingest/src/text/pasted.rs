//! Repairs of text that was copied from a mail, a web page or a terminal.

use memchr::memmem;
use plimsoll_language::{StaticText, static_text};

use super::numbering::Numbering;
use super::quotes::{CellUnquoting, Unquoting};

/// The repairs that a text needs, applied piece by piece in the order of [`KINDS`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Repairs {
    needed: Vec<(&'static RepairKind, TextRepair)>,
}

/// A repair that a text may need.
#[derive(Debug)]
struct RepairKind {
    /// The marks that are repaired.
    marks: StaticText,
    /// Their treatment.
    treatment: StaticText,
    /// The repair for a text that begins with these bytes, if it needs it.
    detect: fn(&[u8]) -> Option<TextRepair>,
}

/// All repairs. Each is detected in a text that those before it have repaired.
static KINDS: [RepairKind; 5] = [
    RepairKind {
        marks: static_text!("lines ending with carriage returns"),
        treatment: static_text!("are separated there"),
        detect: |head| ends_with_returns(head).then_some(TextRepair::Returns),
    },
    RepairKind {
        marks: static_text!("no-break spaces or terminal sequences"),
        treatment: static_text!("are blanks, or removed"),
        detect: |head| Cleaning::of(head).map(TextRepair::Cleaning),
    },
    RepairKind {
        marks: static_text!("marks of quotation before its lines"),
        treatment: static_text!("are removed"),
        detect: |head| Unquoting::of(head).map(TextRepair::Unquoting),
    },
    RepairKind {
        marks: static_text!("numbers before its lines"),
        treatment: static_text!("are removed"),
        detect: |head| Numbering::of(head).map(TextRepair::Numbering),
    },
    RepairKind {
        marks: static_text!("quotation marks around its lines"),
        treatment: static_text!("are removed"),
        detect: |head| CellUnquoting::of(head).map(TextRepair::Cells),
    },
];

#[derive(Clone, Debug)]
enum TextRepair {
    Returns,
    Cleaning(Cleaning),
    Unquoting(Unquoting),
    Numbering(Numbering),
    Cells(CellUnquoting),
}

impl TextRepair {
    fn apply(&mut self, text: &mut Vec<u8>) {
        match self {
            Self::Returns => text.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n'),
            Self::Cleaning(cleaning) => cleaning.apply(text),
            Self::Unquoting(unquoting) => unquoting.apply(text),
            Self::Numbering(numbering) => numbering.apply(text),
            Self::Cells(cells) => cells.apply(text),
        }
    }
}

impl Repairs {
    /// For a text that begins with `head`, which is repaired as well.
    pub(crate) fn of(head: &mut Vec<u8>) -> Self {
        let mut needed = Vec::new();
        for kind in &KINDS {
            if let Some(repair) = (kind.detect)(head) {
                repair.clone().apply(head);
                needed.push((kind, repair));
            }
        }
        Self { needed }
    }

    /// Repairs a piece.
    pub(crate) fn apply(&mut self, text: &mut Vec<u8>) {
        self.needed.iter_mut().for_each(|(_, repair)| repair.apply(text));
    }

    /// The marks that are repaired, each with its treatment.
    pub(crate) fn list(&self) -> impl Iterator<Item = [&'static str; 2]> {
        self.needed.iter().map(|(kind, _)| [kind.marks.get(), kind.treatment.get()])
    }
}

/// True if lines end with a carriage return alone, as in files of old Macs.
fn ends_with_returns(head: &[u8]) -> bool {
    const MIN_LINES: usize = 3;
    let count = |mark: u8| memchr::memchr_iter(mark, head).count();
    count(b'\n') == 0 && count(0) == 0 && count(b'\r') >= MIN_LINES
}

/// Replaces no-break spaces with blanks, or moves those between the thousands of a number behind it, and removes the control
/// sequences of terminals (ECMA-48: `ESC [`, parameters, and a final byte).
#[derive(Clone, Debug, Default)]
struct Cleaning {
    /// The beginning of a space or sequence at the end of a piece.
    pending: Vec<u8>,
    /// Spaces separate thousands, as in `8 000,5`.
    groups: bool,
    is_after_digit: bool,
    /// A space after a digit, which is removed before another digit.
    gap: bool,
    /// Removed spaces of a number, which follow it instead, so that columns stay in their places.
    removed: usize,
}

/// No-break, figure and narrow no-break space in UTF-8.
const SPACES: [&[u8]; 3] = [b"\xc2\xa0", b"\xe2\x80\x87", b"\xe2\x80\xaf"];
const SEQUENCE: &[u8] = b"\x1b[";

impl Cleaning {
    fn of(head: &[u8]) -> Option<Self> {
        let has = |mark: &[u8]| memmem::find(head, mark).is_some();
        let is_needed = has(SEQUENCE) || SPACES.into_iter().any(has);
        is_needed.then(|| Self { groups: separates_thousands(head), ..Self::default() })
    }

    fn push(&mut self, byte: u8, cleaned: &mut Vec<u8>) {
        if std::mem::take(&mut self.gap) {
            if byte.is_ascii_digit() {
                self.removed += 1;
            } else {
                cleaned.push(b' ');
            }
        }
        if !matches!(byte, b'0'..=b'9' | b'.' | b',') {
            cleaned.extend(std::iter::repeat_n(b' ', std::mem::take(&mut self.removed)));
        }
        self.is_after_digit = byte.is_ascii_digit();
        cleaned.push(byte);
    }

    fn apply(&mut self, text: &mut Vec<u8>) {
        let mut cleaned = Vec::with_capacity(text.len());
        for &byte in text.iter() {
            self.pending.push(byte);
            let pending = self.pending.as_slice();
            if pending.len() == 1 && byte.is_ascii() && byte != SEQUENCE[0] {
                self.push(byte, &mut cleaned);
            } else if SPACES.contains(&pending) {
                if std::mem::take(&mut self.gap) {
                    cleaned.push(b' ');
                }
                self.gap = self.groups && self.is_after_digit;
                if !self.gap {
                    cleaned.push(b' ');
                }
                self.is_after_digit = false;
            } else if pending.starts_with(SEQUENCE) && pending.len() > SEQUENCE.len() {
                // Neither a parameter nor an intermediate byte.
                if matches!(byte, b' '..=b'?') {
                    continue;
                }
                if !(b'@'..=b'~').contains(&byte) {
                    cleaned.push(byte);
                }
            } else if pending == SEQUENCE || SPACES.into_iter().chain([SEQUENCE]).any(|mark| mark.starts_with(pending))
            {
                continue;
            } else {
                // A last byte that begins another space or sequence is examined again.
                let is_begin = pending.len() > 1 && SPACES.into_iter().chain([SEQUENCE]).any(|mark| mark[0] == byte);
                let mut complete = std::mem::take(&mut self.pending);
                complete.truncate(complete.len() - usize::from(is_begin));
                for byte in &complete {
                    self.push(*byte, &mut cleaned);
                }
                self.pending.extend(is_begin.then_some(byte));
                continue;
            }
            self.pending.clear();
        }
        *text = cleaned;
    }
}

/// True if all no-break spaces between digits separate groups of three.
fn separates_thousands(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let letters: Vec<char> = text.chars().collect();
    let is_digit = |at: usize| letters.get(at).is_some_and(char::is_ascii_digit);
    let is_space = |letter: char| matches!(letter, '\u{a0}' | '\u{2007}' | '\u{202f}');
    let is_between = |at: &usize| is_space(letters[*at]) && is_digit(at - 1) && is_digit(at + 1);
    let is_group = |at: usize| {
        let before = (0..at).rev().take_while(|at| is_digit(*at)).count();
        let mark = at.checked_sub(before + 1).map(|at| letters[at]);
        let after = (at + 1..letters.len()).take_while(|at| is_digit(*at)).count();
        before <= 3 && after == 3 && !matches!(mark, Some('.' | ','))
    };
    // A number may be cut at the end of the head.
    let mut between = (1..letters.len().saturating_sub(3)).filter(is_between).peekable();
    between.peek().is_some() && between.all(is_group)
}

#[cfg(test)]
mod tests {
    use super::Repairs;

    fn check(text: &str, expected: &str) {
        for step in [1, 2, 5, 1_000] {
            let mut repairs = Repairs::of(&mut text.as_bytes().to_vec());
            let mut all = Vec::new();
            for piece in text.as_bytes().chunks(step) {
                let mut piece = piece.to_vec();
                repairs.apply(&mut piece);
                all.extend(piece);
            }
            assert_eq!(String::from_utf8(all).unwrap(), expected, "{text:?} in pieces of {step}");
        }
    }

    #[test]
    fn repairs_are_listed_in_their_order() {
        let lines = (1..=12).map(|line| format!("> {line}\tLoad Profile\u{a0}{line}\r"));
        let report = lines.collect::<Vec<_>>().concat();
        let mut head = report.into_bytes();
        let repairs = Repairs::of(&mut head);
        let marks: Vec<&str> = repairs.list().map(|[marks, _]| marks).collect();
        let expected = [
            "lines ending with carriage returns",
            "no-break spaces or terminal sequences",
            "marks of quotation before its lines",
            "numbers before its lines",
        ];
        assert_eq!(marks, expected);
        assert!(head.starts_with(b"Load Profile 1\nLoad Profile 2\n"), "{}", String::from_utf8_lossy(&head));
        assert_eq!(Repairs::of(&mut b"a\nb\n".to_vec()).list().count(), 0);
    }

    #[test]
    fn no_break_spaces_are_blanks() {
        check("a\u{a0}b\u{202f}c\u{2007}d \u{2013}\u{c2}\u{c2}\u{a0}", "a b c d \u{2013}\u{c2}\u{c2} ");
        check("a \u{2013} b\u{e9}", "a \u{2013} b\u{e9}");
        check("reads 2\u{a0}000\u{202f}000,5\u{a0}and 12 more", "reads 2000000,5   and 12 more");
        check("5\u{a0}\u{a0}x 1\u{a0}000", "5  x 1000");
        check("r/s\u{a0}w/s 8\u{a0}120 16.5\u{a0}256 more", "r/s w/s 8 120 16.5 256 more");
    }

    #[test]
    fn returns_end_lines_without_feeds() {
        check("a\rb\rc\r", "a\nb\nc\n");
        check("a\r\nb\r\nc\r\n", "a\r\nb\r\nc\r\n");
    }

    #[test]
    fn terminal_sequences_are_removed() {
        check("\u{1b}[0;34m--a--\u{1b}[0m\n\u{1b}[7lb\u{1b}", "--a--\nb");
        check("> \u{1b}[1ma\n> b\n> c\n", "a\nb\nc\n");
    }
}
