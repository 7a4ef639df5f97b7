//! Bytes to tags and text.

use memchr::{memchr, memmem};

/// A piece of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// Text between tags, entities as they are.
    Text(&'a [u8]),
    /// A beginning tag.
    Open(Tag<'a>),
    /// An end tag: its name.
    Close(&'a [u8]),
}

/// A beginning tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag<'a> {
    pub(super) name: &'a [u8],
    attributes: &'a [u8],
}

/// Goes through a document once.
pub(super) struct Scan<'a> {
    document: &'a [u8],
    at: usize,
    /// Up to where lines were counted, and how many there were.
    counted: (usize, u64),
}

impl<'a> Scan<'a> {
    pub(super) fn new(document: &'a [u8]) -> Self {
        Self { document, at: 0, counted: (0, 1) }
    }

    /// The line of what comes next, from 1.
    pub(super) fn line(&mut self) -> u64 {
        let (from, lines) = self.counted;
        let more = memchr::memchr_iter(b'\n', &self.document[from..self.at]).count() as u64;
        self.counted = (self.at, lines + more);
        lines + more
    }

    pub(super) fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let rest = &self.document[self.at..];
            if rest.is_empty() {
                return None;
            }
            if !begins_tag(rest) {
                let end = text_end(rest);
                self.at += end;
                return Some(Token::Text(&rest[..end]));
            }
            if rest.starts_with(b"<!--") {
                self.at += memmem::find(rest, b"-->").map_or(rest.len(), |end| end + 3);
                continue;
            }
            let end = tag_end(rest);
            self.at += end;
            let inside = rest[1..end].strip_suffix(b">").unwrap_or(&rest[1..end]);
            match inside {
                [b'/', name @ ..] => return Some(Token::Close(word(name))),
                [b'!' | b'?', ..] => {}
                _ => {
                    let name = word(inside);
                    return Some(Token::Open(Tag { name, attributes: &inside[name.len()..] }));
                }
            }
        }
    }
}

fn begins_tag(rest: &[u8]) -> bool {
    matches!(rest, [b'<', next, ..] if next.is_ascii_alphabetic() || matches!(next, b'/' | b'!' | b'?'))
}

/// Where text ends: before the next tag.
fn text_end(rest: &[u8]) -> usize {
    let mut from = 1;
    while let Some(found) = memchr(b'<', &rest[from..]) {
        if begins_tag(&rest[from + found..]) {
            return from + found;
        }
        from += found + 1;
    }
    rest.len()
}

/// Where a tag ends, its `>` included. One inside of quotes is none, unless the quotes stay open.
fn tag_end(rest: &[u8]) -> usize {
    const LONGEST: usize = 64 << 10;
    let mut quote = None;
    for (index, &byte) in rest.iter().enumerate().take(LONGEST) {
        match (quote, byte) {
            (None, b'>') => return index + 1,
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
    }
    memchr(b'>', rest).map_or(rest.len(), |end| end + 1)
}

fn word(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(bytes.len());
    &bytes[..end]
}

impl<'a> Tag<'a> {
    /// The value of an attribute, without quotes.
    pub(super) fn attribute(&self, name: &[u8]) -> Option<&'a [u8]> {
        let mut rest = self.attributes;
        while let Some(equals) = memchr(b'=', rest) {
            let before = rest[..equals].trim_ascii_end();
            let after = rest[equals + 1..].trim_ascii_start();
            let (value, next) = value(after);
            if ends_with_word(before, name) {
                return Some(value.trim_ascii());
            }
            rest = next;
        }
        None
    }
}

fn ends_with_word(text: &[u8], name: &[u8]) -> bool {
    let Some(start) = text.len().checked_sub(name.len()) else { return false };
    let (before, word) = text.split_at(start);
    word.eq_ignore_ascii_case(name) && before.last().is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'-')
}

/// An attribute's value at the beginning of `text`, and what follows it.
fn value(text: &[u8]) -> (&[u8], &[u8]) {
    let Some(&quote) = text.first().filter(|byte| matches!(byte, b'"' | b'\'')) else {
        let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
        return text.split_at(end);
    };
    let inside = &text[1..];
    // Quotes that were doubled by a spreadsheet.
    let inside = match inside {
        [second, next, ..] if *second == quote && !next.is_ascii_whitespace() => &inside[1..],
        _ => inside,
    };
    let end = memchr(quote, inside).unwrap_or(inside.len());
    let after = &inside[end..];
    let quotes = after.iter().take(2).take_while(|byte| **byte == quote).count();
    (&inside[..end], &after[quotes..])
}

#[cfg(test)]
mod tests {
    use super::{Scan, Token};

    fn attribute(tag: &str, name: &str) -> Option<String> {
        match Scan::new(tag.as_bytes()).next() {
            Some(Token::Open(tag)) => tag.attribute(name.as_bytes()).map(|v| String::from_utf8_lossy(v).into_owned()),
            _ => None,
        }
    }

    #[test]
    fn attributes_are_found_however_they_are_quoted() {
        let table = [
            ("<th colspan=8>", "colspan", Some("8")),
            ("<th class=\"a b\" COLSPAN=\" 4\" id='x>y'>", "colspan", Some("4")),
            ("<th class=\"\" colspan='2'>", "colspan", Some("2")),
            ("<th class=\"\"awr\"\" colspan=\"\"3\"\">", "colspan", Some("3")),
            ("<th colspan = \"3\">", "colspan", Some("3")),
            ("<th id=\"colspan=9\">", "colspan", None),
            ("<th x-colspan=9>", "colspan", None),
            ("<th colspan>", "colspan", None),
            ("<th colspan=\"7", "colspan", Some("7")),
        ];
        for (tag, name, expected) in table {
            assert_eq!(attribute(tag, name).as_deref(), expected, "{tag}");
        }
    }

    #[test]
    fn text_may_hold_what_looks_like_a_tag() {
        let mut scan = Scan::new(b"a < b\n<!-- <td> --><b>c</b><!DOCTYPE x>\n<3");
        let mut seen = Vec::new();
        while let Some(token) = scan.next() {
            seen.push(match token {
                Token::Text(text) => format!("{:?}", String::from_utf8_lossy(text)),
                Token::Open(tag) => format!("<{}", String::from_utf8_lossy(tag.name)),
                Token::Close(name) => format!("/{}", String::from_utf8_lossy(name)),
            });
        }
        assert_eq!(seen, ["\"a < b\\n\"", "<b", "\"c\"", "/b", "\"\\n<3\""]);
        assert_eq!(scan.line(), 3);
    }
}
