//! The last line of a text without a line end: an interrupted copy may have cut it within its last value. It is compared
//! with the rows before it by a list of rules, of which the first that applies decides.

use plimsoll_language::{StaticText, static_text};

use super::table::cells;

/// Bytes at the end of a text that are examined.
const TAIL: usize = 8 << 10;
/// Maximum preceding rows that are compared.
const MAX_PEERS: usize = 50;

/// The end of a text.
#[derive(Default)]
pub(crate) struct TextTail(Vec<u8>);

/// A last line that may be incomplete, with its last value and the reason.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LastLine {
    /// The value differs from those of the preceding rows in a way that only a cut explains, or values are missing.
    Cut(String, &'static str),
    /// The value may be complete.
    Doubtful(String, &'static str),
}

impl TextTail {
    /// Adds the next bytes of the text.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if bytes.len() >= TAIL {
            self.0.clear();
        }
        self.0.extend_from_slice(&bytes[bytes.len().saturating_sub(TAIL)..]);
        if self.0.len() > 2 * TAIL {
            self.0.drain(..self.0.len() - TAIL);
        }
    }

    /// Compares the last line with the rows before it. None with a line end, for other texts than tables, and for lines
    /// that are complete by their form.
    pub(crate) fn last_line(&self) -> Option<LastLine> {
        let tail = &self.0[self.0.len().saturating_sub(TAIL)..];
        let is_entire = tail.len() < TAIL;
        let text = String::from_utf8_lossy(tail);
        if text.ends_with(['\n', '\r']) {
            return None;
        }
        let mut lines: Vec<&str> = text.lines().skip(usize::from(!is_entire)).collect();
        let last = lines.pop().filter(|last| !last.trim_start().starts_with(['{', '[', '<']))?;
        let row = match ['\t', ';', ',', '|'].into_iter().find(|separator| last.contains(*separator)) {
            Some(separator) => LastRow::of_cells(&lines, last, separator),
            None => LastRow::of_words(&lines, last),
        };
        let row = row?;
        match RULES.iter().find(|(_, applies)| applies(&row))?.0 {
            RowEnd::Complete => None,
            RowEnd::Doubtful(reason) => Some(LastLine::Doubtful(row.value, reason.get())),
            RowEnd::Cut(reason) => Some(LastLine::Cut(row.value, reason.get())),
        }
    }
}

/// How a last line ends, with the reason.
#[derive(Clone, Copy)]
enum RowEnd {
    Complete,
    Doubtful(StaticText),
    Cut(StaticText),
}

/// An end of a row, and the rows that end so.
type Rule = (RowEnd, fn(&LastRow) -> bool);

/// The rules, of which the first that applies decides.
const RULES: [Rule; 11] = [
    (RowEnd::Cut(static_text!("values are missing")), |row| row.lacks_cells),
    // A cut would have removed the quotation mark.
    (RowEnd::Complete, |row| row.is_quoted || row.value.is_empty()),
    // Clients of databases pad columns, so that all rows are equally long.
    (RowEnd::Cut(static_text!("shorter than rows of equal length")), |row| {
        row.padding.is_some_and(|missing| missing > 0)
    }),
    (RowEnd::Complete, |row| row.padding.is_some() || row.peers.is_empty()),
    (RowEnd::Cut(static_text!("fewer decimals than all values before")), |row| {
        row.peers.len() > 1 && row.lacks_decimals()
    }),
    // Between blanks, other differences are no evidence.
    (RowEnd::Complete, |row| !row.is_separated),
    (RowEnd::Doubtful(static_text!("fewer decimals than the value before")), LastRow::lacks_decimals),
    (RowEnd::Complete, LastRow::has_decimals),
    // Numbers without decimals, or with any number of them.
    (RowEnd::Doubtful(static_text!("shorter than all values before it")), |row| row.is_number() && row.is_shorter()),
    (RowEnd::Cut(static_text!("shorter than values of equal length")), |row| {
        row.begins_with_digit() && row.is_shorter_than_equals()
    }),
    (RowEnd::Doubtful(static_text!("beginning of a value before it")), |row| !row.is_number() && row.is_beginning()),
];

/// A last line with the rows before it.
struct LastRow {
    /// Its last value.
    value: String,
    /// Last values of the rows with as many values, without empty ones; numbers only, if it is a number.
    peers: Vec<String>,
    /// Values are between separators rather than blanks.
    is_separated: bool,
    /// It has fewer values than each row before it, or a value in an open quotation mark.
    lacks_cells: bool,
    /// It ends with a quotation mark.
    is_quoted: bool,
    /// Characters that it lacks, if all rows before it are equally long by padding.
    padding: Option<usize>,
}

impl LastRow {
    /// A line of values between separators. None without rows before it, and without a value.
    fn of_cells(lines: &[&str], last: &str, separator: char) -> Option<Self> {
        let split = |line: &str| cells(line, separator).map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
        let own = split(last);
        let value = own.last()?.clone();
        let rows: Vec<&str> =
            lines.iter().rev().copied().take_while(|line| line.contains(separator)).take(MAX_PEERS).collect();
        let widths: Vec<usize> = rows.iter().map(|line| split(line).len()).collect();
        let width = *widths.first()?;
        let is_table = width > 2 && widths.iter().all(|other| *other == width);
        let is_open = last.matches('"').count() % 2 == 1;
        let alike = rows.iter().zip(&widths).filter(|(_, other)| **other == own.len());
        let peers = alike.filter_map(|(line, _)| split(line).pop()).filter(|peer| !peer.is_empty()).collect();
        let length = |line: &str| line.chars().count();
        let is_padded = last.contains(" | ") && rows.len() > 1 && decimals(&value).is_some();
        let is_padded = is_padded && rows.iter().all(|line| length(line) == length(rows[0]));
        Some(Self {
            peers: comparable(&value, peers),
            is_separated: true,
            lacks_cells: is_table && (own.len() < width || is_open),
            is_quoted: last.trim_end().ends_with('"'),
            padding: is_padded.then(|| length(rows[0]).saturating_sub(length(last))),
            value,
        })
    }

    /// A line of columns between blanks. None unless it ends with a number.
    fn of_words(lines: &[&str], last: &str) -> Option<Self> {
        let words: Vec<&str> = last.split_whitespace().collect();
        let value = words.last().filter(|value| decimals(value).is_some())?;
        let rows = lines.iter().rev().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let alike = rows.filter(|own| own.len() == words.len() && own.len() > 2).take(MAX_PEERS);
        let peers = alike.filter_map(|own| own.last().map(|peer| (*peer).to_owned())).collect();
        Some(Self {
            peers: comparable(value, peers),
            value: (*value).to_owned(),
            is_separated: false,
            lacks_cells: false,
            is_quoted: false,
            padding: None,
        })
    }

    fn is_number(&self) -> bool {
        decimals(&self.value).is_some()
    }

    /// Number of decimals that all numbers before it have, if they have any.
    fn decimals_of_peers(&self) -> Option<usize> {
        let mut found = self.peers.iter().filter_map(|peer| decimals(peer)).filter(|_| self.is_number());
        let first = found.next().filter(|first| *first > 0)?;
        found.all(|other| other == first).then_some(first)
    }

    fn has_decimals(&self) -> bool {
        self.decimals_of_peers().is_some()
    }

    fn lacks_decimals(&self) -> bool {
        self.decimals_of_peers().is_some_and(|expected| decimals(&self.value).is_some_and(|own| own < expected))
    }

    /// True if several values before it are all longer.
    fn is_shorter(&self) -> bool {
        self.peers.len() > 1 && self.peers.iter().all(|peer| peer.len() > self.value.len())
    }

    fn begins_with_digit(&self) -> bool {
        self.value.starts_with(|first: char| first.is_ascii_digit())
    }

    /// True if several values before it that begin with a digit, such as times, have the same, greater length.
    fn is_shorter_than_equals(&self) -> bool {
        let is_timed = |peer: &&String| peer.starts_with(|first: char| first.is_ascii_digit());
        let lengths: Vec<usize> = self.peers.iter().filter(is_timed).map(String::len).collect();
        let is_longer = |length: &usize| *length == lengths[0] && *length > self.value.len();
        !self.is_number() && lengths.len() > 1 && lengths.iter().all(is_longer)
    }

    /// True if it is the beginning of a value before it, and none itself.
    fn is_beginning(&self) -> bool {
        !self.peers.contains(&self.value) && self.peers.iter().any(|peer| peer.starts_with(&self.value))
    }
}

/// The values before a number that are numbers; all before another value.
fn comparable(value: &str, mut peers: Vec<String>) -> Vec<String> {
    peers.retain(|peer| decimals(value).is_none() || decimals(peer).is_some());
    peers
}

/// The number of decimals of a number.
fn decimals(text: &str) -> Option<usize> {
    let text = text.trim_start_matches(['-', '+']);
    let is_number = text.starts_with(|first: char| first.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b','));
    let (_, fraction) = text.rsplit_once(['.', ',']).unwrap_or((text, ""));
    is_number.then_some(fraction.len())
}

#[cfg(test)]
mod tests {
    use super::{LastLine, TextTail};

    #[test]
    fn last_lines_are_compared_with_the_rows_before_them() {
        let cut = |value: &str| Some((value.to_owned(), true));
        let doubtful = |value: &str| Some((value.to_owned(), false));
        let table = [
            ("t,a,b\n1,2,500.000\n2,2,510.000\n3,2,50", cut("50")),
            ("t,a,b\n1,2,500.000\n2,2,510.000\n3,2,500.0", cut("500.0")),
            ("t,a,b\n1,2,500.000\n2,2,510.000\n3,2,500.", cut("500.")),
            ("t,a,b\n1,2,500.000\n2,2,510.000\n3,2,500.000", None),
            ("t,a,b\n1,2,500.000\n2,2,510.000\n3,2,50\n", None),
            ("t,a,b\r\n1,2,500.000\r\n2,2,510.000\r\n3,2,50\r", None),
            ("t,a,b\n1,2,500\n2,2,510\n3,2,50", doubtful("50")),
            ("t,a,b\n1,2,500\n2,2,510\n3,2,520", None),
            ("t,a,b\n1,2,500\n2,2,9\n3,2,52", None),
            ("t,a,b\n1,2,500.25\n2,2,510.5\n3,2,50", doubtful("50")),
            ("t,a,b\n1,2,500.25\n2,2,510.5\n3,2,520.5", None),
            ("t,a,b\n1,2,500.000\n2,2,510.000\n3,2", cut("2")),
            ("t,a,b\n1,2,500.000\n2,2,510.000\n3,2,", None),
            ("t;a;b\n1;2;500,25\n2;2;510,25\n3;2;500,2", cut("500,2")),
            ("t\ta\tb\n1\t2\t5.0\n2\t2\t5.1\n3\t2\t5", cut("5")),
            ("\"t\",\"a\",\"b\"\n\"1\",\"2\",\"500\"\n\"2\",\"2\",\"50", cut("50")),
            ("\"t\",\"a\",\"b\"\n\"1\",\"2\",\"500\"\n\"2\",\"2\",\"50\"", None),
            ("t,a,d\n1,2,sda1\n2,2,sda1\n3,2,sda", doubtful("sda")),
            ("t,a,d\n1,2,sda\n2,2,sdb\n3,2,sda", None),
            ("a|b|c\n1|2|2026-01-31 10:00:00\n1|2|2026-01-31 10:00:00\n1|2|2026-01-3", cut("2026-01-3")),
            (" a | b |   c\n---+---+-----\n 1 | 2 | 500\n 1 | 2 | 510\n 1 | 2 |  50", None),
            (" a | b |   c\n 1 | 2 | 500\n 1 | 2 | 510\n 1 | 2 | 50", cut("50")),
            ("a b 1.25\na b 1.50\na b 1.2", cut("1.2")),
            ("a b 125\na b 150\na b 12", None),
            ("[{\"a\": 1},\n{\"a\": 2}", None),
            ("one line, 5", None),
        ];
        for (text, expected) in table {
            let mut tail = TextTail::default();
            tail.push(text.as_bytes());
            let found = tail.last_line().map(|found| match found {
                LastLine::Cut(value, _) => (value, true),
                LastLine::Doubtful(value, _) => (value, false),
            });
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn pieces_of_any_size_have_the_same_end() {
        let text = "t,a,b\n1,2,500.000\n".repeat(2_000) + "3,2,50";
        for step in [1, 7, 4_096, 20_000, text.len()] {
            let mut tail = TextTail::default();
            text.as_bytes().chunks(step).for_each(|piece| tail.push(piece));
            let reason = "fewer decimals than all values before";
            assert_eq!(tail.last_line(), Some(LastLine::Cut("50".to_owned(), reason)), "{step}");
        }
    }
}
