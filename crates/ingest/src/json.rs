//! JSON documents: one or several in sequence, complete or truncated, and access to their values.
//!
//! Depth is limited by the parser (128), size by this module.

mod element_lines;

use plimsoll_units::Bytes;
use serde_json::{Map, Value};

use crate::builder::Builder;
use crate::reading::{Doubt, Fate, Origin};
use crate::refusal::{InputFault, Refusal};

use element_lines::string_end;

pub(crate) use element_lines::ElementLines;

/// Maximum bytes of a document: its values take about ten times as much memory.
const MAX_BYTES: usize = 64 << 20;

/// Refuses documents whose values take too much memory.
pub(crate) fn check_size(bytes: &[u8]) -> Result<(), Refusal> {
    if bytes.len() > MAX_BYTES { Err(Refusal::TooLarge { limit: Bytes::new(MAX_BYTES as u64) }) } else { Ok(()) }
}

/// All documents of an input, each with the lines of its elements. The rest after a broken document is skipped with a caution.
pub(crate) fn read_documents(bytes: &[u8], out: &mut Builder) -> Result<Vec<(ElementLines, Value)>, Refusal> {
    check_size(bytes)?;
    let mut documents = Vec::new();
    let mut lines = LineCount { bytes, offset: 0, line: 1 };
    let mut stream = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>();
    loop {
        let begin = stream.byte_offset();
        match stream.next() {
            None => return Ok(documents),
            Some(Ok(value)) => {
                let document = &bytes[begin..stream.byte_offset()];
                documents.push((ElementLines::scan(document.trim_ascii_start(), lines.at(begin)), value));
            }
            Some(Err(error)) => {
                let rest = repaired(&bytes[begin..]).filter(|_| error.is_eof());
                let total = rest.and_then(|text| serde_json::from_slice(&text).ok());
                let mut scan = || ElementLines::scan(bytes[begin..].trim_ascii_start(), lines.at(begin));
                documents.extend(total.map(|value| (scan(), value)));
                let place = Origin::line(error.line() as u64);
                if documents.is_empty() {
                    return Err(out.unusable_at(place, InputFault::NotJson { error: error.to_string() }));
                }
                out.caution(Some(place), Doubt::JsonTruncated);
                out.part("rest of the document", Fate::Broken);
                return Ok(documents);
            }
        }
    }
}

struct LineCount<'a> {
    bytes: &'a [u8],
    offset: usize,
    line: u64,
}

impl LineCount<'_> {
    /// The line in which the next value after `offset` begins; offsets must not decrease.
    fn at(&mut self, offset: usize) -> u64 {
        let blanks = self.bytes[offset..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let passed = &self.bytes[self.offset..offset + blanks];
        self.line += memchr::memchr_iter(b'\n', passed).count() as u64;
        self.offset = offset + blanks;
        self.line
    }
}

/// Completes a truncated document after its last complete value.
fn repaired(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut open: Vec<u8> = Vec::new();
    let mut last: Option<(usize, Vec<u8>)> = None;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = string_end(bytes, at),
            b'{' => open.push(b'}'),
            b'[' => open.push(b']'),
            b'}' | b']' => {
                open.pop();
            }
            b',' if open.len() <= 128 => match &mut last {
                Some((end, closing)) if *closing == open => *end = at,
                last => *last = Some((at, open.clone())),
            },
            _ => {}
        }
        at += 1;
    }
    let (end, closing) = last?;
    let mut text = bytes[..end].to_vec();
    text.extend(closing.iter().rev());
    Some(text)
}

/// The value under the first of these names that exists, ignoring case and word separators.
pub(crate) fn get<'a>(value: &'a Value, names: &[&str]) -> Option<&'a Value> {
    let object = value.as_object()?;
    let exact = names.iter().find_map(|name| object.get(*name));
    exact.or_else(|| {
        names.iter().find_map(|name| object.iter().find(|(key, _)| same(key, name)).map(|(_, value)| value))
    })
}

/// Text under one of these names.
pub(crate) fn get_text<'a>(value: &'a Value, names: &[&str]) -> Option<&'a str> {
    get(value, names)?.as_str()
}

/// The list under any of these names, or an empty list.
pub(crate) fn list<'a>(value: &'a Value, names: &[&str]) -> &'a [Value] {
    get(value, names).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Text under a key of an object.
pub(crate) fn text_at<'a>(object: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    object.get(key)?.as_str()
}

/// A number under a key of an object, possibly quoted.
pub(crate) fn number_at(object: &Map<String, Value>, key: &str) -> Option<f64> {
    number(object.get(key)?)
}

/// A number, possibly quoted.
pub(crate) fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok()).filter(|number: &f64| number.is_finite())
}

/// Equates `aggregated-datapoints` and `aggregatedDatapoints`.
fn same(key: &str, name: &str) -> bool {
    let letters = |text: &str| -> Vec<u8> {
        text.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| byte.to_ascii_lowercase()).collect()
    };
    key.len().abs_diff(name.len()) < 8 && letters(key) == letters(name)
}

#[cfg(test)]
mod tests {
    use super::{Value, get, read_documents};
    use crate::builder::Builder;

    fn check(text: &str, expected: &[(u64, &str)], cautions: usize) {
        let mut out = Builder::test();
        let found = read_documents(text.as_bytes(), &mut out).unwrap_or_default();
        let found: Vec<(u64, Value)> = found.into_iter().map(|(lines, value)| (lines.begin, value)).collect();
        let expected: Vec<(u64, Value)> =
            expected.iter().map(|(line, text)| (*line, serde_json::from_str(text).unwrap())).collect();
        assert_eq!(found, expected, "{text}");
        assert_eq!(out.finish().unwrap().cautions.len(), cautions, "{text}");
    }

    #[test]
    fn documents_may_be_concatenated_and_truncated() {
        check("{\"a\":1}", &[(1, "{\"a\":1}")], 0);
        check("{\"a\":1}\n\n{\"a\":2}\n", &[(1, "{\"a\":1}"), (3, "{\"a\":2}")], 0);
        check("{\"a\":[1,2,{\"b\":3,\"c", &[(1, "{\"a\":[1,2,{\"b\":3}]}")], 1);
        check("{\"a\":[1,2],\"b\":[\"x,y\\\"\",\"z", &[(1, "{\"a\":[1,2],\"b\":[\"x,y\\\"\"]}")], 1);
        check("{\"a\":1} trash", &[(1, "{\"a\":1}")], 1);
        check("{\"a\" 1, \"b\":2}", &[], 0);
        check(&"[".repeat(100_000), &[], 0);
        check("[1", &[], 0);
    }

    #[test]
    fn names_are_found_in_any_notation() {
        let value = serde_json::json!({"aggregated-datapoints": 1, "B": 2});
        assert_eq!(get(&value, &["aggregatedDatapoints"]), Some(&Value::from(1)));
        assert_eq!(get(&value, &["b"]), Some(&Value::from(2)));
        assert_eq!(get(&value, &["c"]), None);
    }
}
