//! Repairs of text that was copied from a mail, a web page or a terminal.

use memchr::memmem;

use super::numbering::Numbering;
use super::quotes::{CellUnquoting, Unquoting};

/// The repairs that a text needs, applied piece by piece.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repairs {
    /// Lines end with a carriage return alone, as in files of old Macs.
    is_of_returns: bool,
    cleaning: Option<Cleaning>,
    unquoting: Option<Unquoting>,
    numbering: Option<Numbering>,
    cells: Option<CellUnquoting>,
}

impl Repairs {
    /// For a text that begins with `head`, which is repaired as well.
    pub(crate) fn of(head: &mut Vec<u8>) -> Self {
        const MIN_LINES: usize = 3;
        let count = |mark: u8| memchr::memchr_iter(mark, head).count();
        let is_of_returns = count(b'\n') == 0 && count(0) == 0 && count(b'\r') >= MIN_LINES;
        let mut repairs = Self { is_of_returns, cleaning: Cleaning::of(head), ..Self::default() };
        repairs.clone().apply(head);
        repairs.unquoting = Unquoting::of(head);
        if let Some(unquoting) = &repairs.unquoting {
            unquoting.clone().apply(head);
        }
        repairs.numbering = Numbering::of(head);
        if let Some(numbering) = &repairs.numbering {
            numbering.clone().apply(head);
        }
        repairs.cells = CellUnquoting::of(head);
        if let Some(cells) = &repairs.cells {
            cells.clone().apply(head);
        }
        repairs
    }

    /// Repairs a piece.
    pub(crate) fn apply(&mut self, text: &mut Vec<u8>) {
        if self.is_of_returns {
            text.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
        }
        if let Some(cleaning) = &mut self.cleaning {
            cleaning.apply(text);
        }
        if let Some(unquoting) = &mut self.unquoting {
            unquoting.apply(text);
        }
        if let Some(numbering) = &mut self.numbering {
            numbering.apply(text);
        }
        if let Some(cells) = &mut self.cells {
            cells.apply(text);
        }
    }
}

/// Replaces no-break spaces with blanks, and removes the control sequences of terminals (ECMA-48: `ESC [`, parameters,
/// and a final byte).
#[derive(Clone, Debug, Default)]
struct Cleaning {
    /// The beginning of a space or sequence at the end of a piece.
    pending: Vec<u8>,
}

/// No-break, figure and narrow no-break space in UTF-8.
const SPACES: [&[u8]; 3] = [b"\xc2\xa0", b"\xe2\x80\x87", b"\xe2\x80\xaf"];
const SEQUENCE: &[u8] = b"\x1b[";

impl Cleaning {
    fn of(head: &[u8]) -> Option<Self> {
        let has = |mark: &[u8]| memmem::find(head, mark).is_some();
        (has(SEQUENCE) || SPACES.into_iter().any(has)).then(Self::default)
    }

    fn apply(&mut self, text: &mut Vec<u8>) {
        let mut cleaned = Vec::with_capacity(text.len());
        for &byte in text.iter() {
            self.pending.push(byte);
            let pending = self.pending.as_slice();
            if SPACES.contains(&pending) {
                cleaned.push(b' ');
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
                cleaned.extend_from_slice(&pending[..pending.len() - usize::from(is_begin)]);
                self.pending.clear();
                self.pending.extend(is_begin.then_some(byte));
                continue;
            }
            self.pending.clear();
        }
        *text = cleaned;
    }
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
    fn no_break_spaces_are_blanks() {
        check("a\u{a0}b\u{202f}c\u{2007}d \u{2013}\u{c2}\u{c2}\u{a0}", "a b c d \u{2013}\u{c2}\u{c2} ");
        check("a \u{2013} b\u{e9}", "a \u{2013} b\u{e9}");
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
