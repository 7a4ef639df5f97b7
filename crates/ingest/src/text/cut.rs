//! The last line of a text without a line end: an interrupted copy may have cut it within its last value.

use super::table::cells;

/// Bytes at the end of a text that are examined.
const TAIL: usize = 8 << 10;
/// Maximum preceding rows that are compared.
const MAX_PEERS: usize = 50;

/// The end of a text.
#[derive(Default)]
pub(crate) struct TextTail(Vec<u8>);

/// A last line that may be incomplete, with its last value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LastLine {
    /// The value differs from those of the preceding rows in a way that only a cut explains, or values are missing.
    Cut(String),
    /// The value may be complete.
    Doubtful(String),
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
        match ['\t', ';', ',', '|'].into_iter().find(|separator| last.contains(*separator)) {
            Some(separator) => judge_separated(&lines, last, separator),
            None => judge_columns(&lines, last),
        }
    }
}

fn judge_separated(lines: &[&str], last: &str, separator: char) -> Option<LastLine> {
    let split = |line: &str| cells(line, separator).map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let quotes = last.matches('"').count();
    let mut fields = split(last);
    let value = fields.pop().unwrap_or_default();
    let before: Vec<&str> =
        lines.iter().rev().copied().take_while(|line| line.contains(separator)).take(MAX_PEERS).collect();
    let widths: Vec<usize> = before.iter().map(|line| split(line).len()).collect();
    let width = *widths.first()?;
    let is_table = width > 2 && widths.iter().all(|own| *own == width);
    if is_table && (fields.len() + 1 < width || quotes % 2 == 1) {
        return Some(LastLine::Cut(value));
    }
    if value.is_empty() || last.trim_end().ends_with('"') {
        return None;
    }
    let peers: Vec<String> = before
        .iter()
        .zip(&widths)
        .filter(|(_, own)| **own == fields.len() + 1)
        .filter_map(|(line, _)| split(line).pop())
        .filter(|peer| !peer.is_empty())
        .collect();
    // Clients of databases pad columns, so that all rows are equally long.
    let length = |line: &str| line.chars().count();
    let is_padded = last.contains(" | ") && before.len() > 1 && decimals(&value).is_some();
    if is_padded && before.iter().all(|line| length(line) == length(before[0])) {
        return (length(last) < length(before[0])).then_some(LastLine::Cut(value));
    }
    judge_value(value, &peers)
}

/// Judges a line of columns between blanks: only a differing number of decimals is evidence.
fn judge_columns(lines: &[&str], last: &str) -> Option<LastLine> {
    let words: Vec<&str> = last.split_whitespace().collect();
    let peers: Vec<String> = lines
        .iter()
        .rev()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|own| own.len() == words.len() && own.len() > 2)
        .take(MAX_PEERS)
        .filter_map(|own| own.last().map(|peer| (*peer).to_owned()))
        .filter(|peer| decimals(peer).is_some())
        .collect();
    let value = words.last().filter(|value| decimals(value).is_some())?;
    judge_value((*value).to_owned(), &peers).filter(|found| matches!(found, LastLine::Cut(_)))
}

fn judge_value(value: String, peers: &[String]) -> Option<LastLine> {
    if peers.is_empty() {
        return None;
    }
    let Some(own) = decimals(&value) else {
        // Times and names: a beginning of an earlier one is a reason to doubt.
        let is_equal = peers.contains(&value);
        let is_digit = |first: char| first.is_ascii_digit();
        let lengths: Vec<usize> = peers.iter().filter(|peer| peer.starts_with(is_digit)).map(String::len).collect();
        let is_shorter = lengths.len() > 1
            && value.starts_with(is_digit)
            && lengths.iter().all(|length| *length == lengths[0] && *length > value.len());
        let is_beginning = peers.iter().any(|peer| peer.starts_with(&value));
        return match (is_equal, is_shorter, is_beginning) {
            (true, ..) | (false, false, false) => None,
            (false, true, _) => Some(LastLine::Cut(value)),
            (false, false, true) => Some(LastLine::Doubtful(value)),
        };
    };
    let numbers: Vec<&String> = peers.iter().filter(|peer| decimals(peer).is_some()).collect();
    let of_peers: Vec<usize> = numbers.iter().filter_map(|peer| decimals(peer)).collect();
    match of_peers.first() {
        Some(first) if *first > 0 && of_peers.iter().all(|own| own == first) => match own < *first {
            true if of_peers.len() > 1 => Some(LastLine::Cut(value)),
            true => Some(LastLine::Doubtful(value)),
            false => None,
        },
        // Whole numbers, or decimals of any length: only a value that is shorter than all others may be a beginning.
        _ => {
            let is_shorter = numbers.len() > 1 && numbers.iter().all(|peer| peer.len() > value.len());
            is_shorter.then_some(LastLine::Doubtful(value))
        }
    }
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
        let cut = |value: &str| Some(LastLine::Cut(value.to_owned()));
        let doubtful = |value: &str| Some(LastLine::Doubtful(value.to_owned()));
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
            assert_eq!(tail.last_line(), expected, "{text}");
        }
    }

    #[test]
    fn pieces_of_any_size_have_the_same_end() {
        let text = "t,a,b\n1,2,500.000\n".repeat(2_000) + "3,2,50";
        for step in [1, 7, 4_096, 20_000, text.len()] {
            let mut tail = TextTail::default();
            text.as_bytes().chunks(step).for_each(|piece| tail.push(piece));
            assert_eq!(tail.last_line(), Some(LastLine::Cut("50".to_owned())), "{step}");
        }
    }
}
