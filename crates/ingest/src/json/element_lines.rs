//! Lines of the elements of arrays in a JSON document, which the parsed values lack.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use memchr::memchr2;

use crate::builder::Builder;
use crate::reading::Origin;

/// Lines in which the elements of a document's arrays begin, by paths such as `Results[2].Values[5]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ElementLines {
    /// The first line of the document.
    pub(crate) begin: u64,
    /// Lines of the elements of each array, by its path; `None` for a document in a single line.
    arrays: Option<BTreeMap<String, Vec<u64>>>,
}

/// An array or object that is not closed yet.
struct OpenValue {
    /// Length of its path.
    length: usize,
    /// The number of elements so far; `None` for an object.
    elements: Option<usize>,
}

impl ElementLines {
    /// Scans a valid document, or the valid beginning of a document.
    pub(super) fn scan(bytes: &[u8], begin: u64) -> Self {
        if !bytes.trim_ascii_end().contains(&b'\n') {
            return Self { begin, arrays: None };
        }
        let mut arrays: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        let (mut open, mut path): (Vec<OpenValue>, String) = (Vec::new(), String::new());
        let (mut line, mut at, mut is_key) = (begin, 0, false);
        while at < bytes.len() {
            let byte = bytes[at];
            match byte {
                b'\n' => line += 1,
                b':' => is_key = false,
                b',' => {
                    is_key = open.last().is_some_and(|value| value.elements.is_none());
                }
                b'}' | b']' => {
                    is_key = false;
                    path.truncate(open.pop().map_or(0, |value| value.length));
                }
                b'"' if is_key => {
                    let end = string_end(bytes, at);
                    path.truncate(open.last().map_or(0, |value| value.length));
                    let gap = if path.is_empty() { "" } else { "." };
                    let key = String::from_utf8_lossy(&bytes[at + 1..end.max(at + 1)]);
                    let _ = write!(path, "{gap}{}", plain_key(&key));
                    at = end;
                }
                byte if byte.is_ascii_whitespace() => {}
                _ => {
                    begin_element(&mut open, &mut path, line, &mut arrays);
                    match byte {
                        b'{' | b'[' => {
                            is_key = byte == b'{';
                            open.push(OpenValue { length: path.len(), elements: (byte == b'[').then_some(0) });
                        }
                        b'"' => at = string_end(bytes, at),
                        _ => at += bytes[at..].iter().take_while(|byte| is_scalar(**byte)).count().max(1) - 1,
                    }
                }
            }
            at += 1;
        }
        Self { begin, arrays: Some(arrays) }
    }

    /// The line in which the element of a path begins, or the closest element around it; 0 if no line is known.
    pub(crate) fn at(&self, path: &str) -> u64 {
        let Some(arrays) = &self.arrays else { return self.begin };
        let path: String = path.split('.').map(plain_key).collect::<Vec<_>>().join(".");
        let mut rest = path.as_str();
        while let Some((array, index)) = rest.rsplit_once('[') {
            let index: Option<usize> = index.split(']').next().and_then(|index| index.parse().ok());
            let lines = arrays.get(array);
            if let Some(line) = lines.zip(index).and_then(|(lines, index)| lines.get(index)) {
                return *line;
            }
            rest = array;
        }
        0
    }

    /// The place of a value of a metric.
    pub(crate) fn origin(&self, table: &str, path: &str, out: &mut Builder) -> Origin {
        out.origin(self.at(path), table, path)
    }
}

/// Notes the line of a value that is an element of an array, and completes its path.
fn begin_element(open: &mut [OpenValue], path: &mut String, line: u64, arrays: &mut BTreeMap<String, Vec<u64>>) {
    let Some(OpenValue { length, elements: Some(index) }) = open.last_mut() else { return };
    path.truncate(*length);
    match arrays.get_mut(path.as_str()) {
        Some(lines) => lines.push(line),
        None => {
            arrays.insert(path.clone(), vec![line]);
        }
    }
    let _ = write!(path, "[{index}]");
    *index += 1;
}

/// A key without the differences that names of quantities may have: `aggregated-datapoints` as `aggregatedDatapoints`.
fn plain_key(key: &str) -> String {
    key.chars().filter(|c| !matches!(c, '-' | '_')).map(|c| c.to_ascii_lowercase()).collect()
}

const fn is_scalar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.')
}

/// The end of the string that begins at `start`, or of the input if it is unclosed.
pub(super) fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        if bytes[at + found] == b'"' {
            return at + found;
        }
        at += found + 2;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_have_the_line_in_which_they_begin() {
        let check = |text: &str, begin: u64, expected: &[(&str, u64)]| {
            let lines = ElementLines::scan(text.as_bytes(), begin);
            let found: Vec<(&str, u64)> = expected.iter().map(|(path, _)| (*path, lines.at(path))).collect();
            assert_eq!(found, expected, "{text}");
        };
        check("{\"A\": [1, {\"b\": [2]}]}\n", 7, &[("A[0]", 7), ("A[1].b[0]", 7), ("x", 7)]);
        let metrics = "{\n \"Results\": [\n  {\"Id\": \"a,[]{}\\\"\", \"Values\": [1.5,\n   -2e3\n  ]},\n  {\n   \"V-alues\": [true,\n null]}\n ]\n}";
        let expected = [
            ("Results[0]", 3),
            ("Results[0].Values[0]", 3),
            ("Results[0].Values[1]", 4),
            ("Results[1]", 6),
            ("Results[1].values[1]", 8),
            ("Results[1].Others[3]", 6),
            ("Results[2].Values[0]", 0),
            ("Others[0]", 0),
        ];
        check(metrics, 1, &expected);
        check("[\n[1,\n2],\n[3]]", 1, &[("[0]", 2), ("[0][1]", 3), ("[1][0]", 4)]);
        check("[\n{\"a\": [1,\n 2, \"un", 1, &[("[0].a[1]", 3), ("[0].a[2]", 3)]);
    }
}
