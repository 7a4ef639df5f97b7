//! JSON documents: one or several after the other, whole or cut off, and the way to a value in them.
//!
//! Knows no format. Depth is limited by the parser (128), size here.

use memchr::memchr2;
use plimsoll_units::Bytes;
use serde_json::Value;

use crate::builder::Builder;
use crate::reading::{Fate, Origin};
use crate::refusal::Refusal;

/// Bytes of a document: its values take some ten times as much.
const LARGEST: usize = 64 << 20;

/// All documents of an input, each with the line that it begins in. What follows a broken one is left out, and said.
pub(crate) fn documents(bytes: &[u8], out: &mut Builder) -> Result<Vec<(u64, Value)>, Refusal> {
    if bytes.len() > LARGEST {
        return Err(Refusal::TooLarge { limit: Bytes::new(LARGEST as u64) });
    }
    let mut documents = Vec::new();
    let mut lines = LineCount { bytes, offset: 0, line: 1 };
    let mut stream = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>();
    loop {
        let begin = stream.byte_offset();
        match stream.next() {
            None => return Ok(documents),
            Some(Ok(value)) => documents.push((lines.at(begin), value)),
            Some(Err(error)) => {
                let rest = mended(&bytes[begin..]).filter(|_| error.is_eof());
                let whole = rest.and_then(|text| serde_json::from_slice(&text).ok());
                documents.extend(whole.map(|value| (lines.at(begin), value)));
                let place = Origin::line(error.line() as u64);
                if documents.is_empty() {
                    let what = format!("no JSON ({error}): export it again");
                    return Err(out.unusable_at(place, what));
                }
                out.caution(Some(place), "it ends early or is damaged from here on: what stands before is used");
                out.part("rest of the document", Fate::Broken);
                return Ok(documents);
            }
        }
    }
}

/// Counts lines on the way through a text.
struct LineCount<'a> {
    bytes: &'a [u8],
    offset: usize,
    line: u64,
}

impl LineCount<'_> {
    /// The line in which the next value behind `offset` begins; offsets only rise.
    fn at(&mut self, offset: usize) -> u64 {
        let blanks = self.bytes[offset..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let passed = &self.bytes[self.offset..offset + blanks];
        self.line += memchr::memchr_iter(b'\n', passed).count() as u64;
        self.offset = offset + blanks;
        self.line
    }
}

/// A document that was cut off, ended after its last whole value.
fn mended(bytes: &[u8]) -> Option<Vec<u8>> {
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

/// Where the string ends that begins at `start`; the end of all when it does not.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        if bytes[at + found] == b'"' {
            return at + found;
        }
        at += found + 2;
    }
    bytes.len()
}

/// The value under the first of these names that is there, whatever its case and however its words are joined.
pub(crate) fn get<'a>(value: &'a Value, names: &[&str]) -> Option<&'a Value> {
    let object = value.as_object()?;
    let exact = names.iter().find_map(|name| object.get(*name));
    exact.or_else(|| {
        names.iter().find_map(|name| object.iter().find(|(key, _)| same(key, name)).map(|(_, value)| value))
    })
}

/// Text under one of these names.
pub(crate) fn text<'a>(value: &'a Value, names: &[&str]) -> Option<&'a str> {
    get(value, names)?.as_str()
}

/// A list under one of these names; empty when there is none.
pub(crate) fn list<'a>(value: &'a Value, names: &[&str]) -> &'a [Value] {
    get(value, names).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A number, also when it stands in quotes.
pub(crate) fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok()).filter(|number: &f64| number.is_finite())
}

/// `aggregated-datapoints` and `aggregatedDatapoints` are one name.
fn same(key: &str, name: &str) -> bool {
    let letters = |text: &str| -> Vec<u8> {
        text.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| byte.to_ascii_lowercase()).collect()
    };
    key.len().abs_diff(name.len()) < 8 && letters(key) == letters(name)
}

#[cfg(test)]
mod tests {
    use super::{Value, documents, get};
    use crate::builder::Builder;

    fn check(text: &str, expected: &[(u64, &str)], cautions: usize) {
        let mut out = Builder::test();
        let found = documents(text.as_bytes(), &mut out).unwrap_or_default();
        let expected: Vec<(u64, Value)> =
            expected.iter().map(|(line, text)| (*line, serde_json::from_str(text).unwrap())).collect();
        assert_eq!(found, expected, "{text}");
        assert_eq!(out.finish().unwrap().cautions.len(), cautions, "{text}");
    }

    #[test]
    fn documents_follow_one_another_and_may_be_cut() {
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
    fn names_are_found_however_they_are_written() {
        let value = serde_json::json!({"aggregated-datapoints": 1, "B": 2});
        assert_eq!(get(&value, &["aggregatedDatapoints"]), Some(&Value::from(1)));
        assert_eq!(get(&value, &["b"]), Some(&Value::from(2)));
        assert_eq!(get(&value, &["c"]), None);
    }
}
