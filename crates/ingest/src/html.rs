//! The tables of an HTML document, in a single pass over its bytes.
//!
//! Tolerant of common errors: unclosed tags, doubled quotes of attributes (as saved by spreadsheets), `<` in text. It
//! builds no tree, so nesting is free, and keeps a single table at a time.

use memchr::{memchr, memmem};

use crate::text::table::{NamedTable, Row, spaced, titles};

/// The relevant pieces of a document.
#[derive(Debug, PartialEq)]
pub(crate) enum Piece {
    /// A title or heading, in single spaces.
    Heading(String),
    /// A table with at least a row.
    Table(NamedTable),
}

/// Maximum bytes of a cell: statements are longer, numbers are shorter.
const MAX_CELL: usize = 1 << 10;
const MAX_CELLS: usize = 512;
const MAX_ROWS: usize = 200_000;

/// Passes the headings and tables of `document` to `take`, in order. A table whose columns are rejected by `wants` has
/// no rows.
pub(crate) fn pieces(document: &[u8], wants: &dyn Fn(&[String]) -> bool, take: &mut dyn FnMut(Piece)) {
    let mut scan = Scan::new(document);
    let mut grid = Grid { wants, table: None, heading: String::new(), text: None };
    while let Some(token) = scan.next() {
        match token {
            Token::Text(text) => grid.add(text),
            Token::Open(tag) => grid.open(tag, &mut scan, take),
            Token::Close(name) => grid.close(name, take),
        }
    }
    grid.finish(true, take);
}

struct Grid<'a> {
    wants: &'a dyn Fn(&[String]) -> bool,
    table: Option<Drawing>,
    heading: String,
    /// The text of the open cell or heading.
    text: Option<Vec<u8>>,
}

/// A table in progress.
#[derive(Default)]
struct Drawing {
    table: NamedTable,
    /// Rows of headings: text and number of columns.
    heads: Vec<Vec<(String, usize)>>,
    /// None before the first row of numbers.
    required: Option<bool>,
    row: Vec<HtmlCell>,
    line: u64,
}

struct HtmlCell {
    text: String,
    columns: usize,
    is_head: bool,
}

enum KnownTag {
    Table,
    Row,
    Cell { is_head: bool },
    Heading,
    Break,
    Other,
}

fn classify_column(name: &[u8]) -> KnownTag {
    let is = |other: &[u8]| name.eq_ignore_ascii_case(other);
    match name.len() {
        2 if is(b"td") => KnownTag::Cell { is_head: false },
        2 if is(b"th") => KnownTag::Cell { is_head: true },
        2 if is(b"tr") => KnownTag::Row,
        2 if is(b"br") => KnownTag::Break,
        2 if matches!(name, [b'h' | b'H', b'1'..=b'4']) => KnownTag::Heading,
        5 if is(b"table") => KnownTag::Table,
        5 if is(b"title") => KnownTag::Heading,
        _ => KnownTag::Other,
    }
}

impl Grid<'_> {
    fn add(&mut self, text: &[u8]) {
        if let Some(retained) = &mut self.text {
            let room = MAX_CELL - retained.len().min(MAX_CELL);
            retained.extend_from_slice(&text[..text.len().min(room)]);
        }
    }

    fn open(&mut self, tag: Tag<'_>, scan: &mut Scan<'_>, take: &mut dyn FnMut(Piece)) {
        match classify_column(tag.name) {
            KnownTag::Table => {
                self.finish(false, take);
                let line = scan.line();
                let table = NamedTable { heading: self.heading.clone(), line, ..NamedTable::default() };
                self.table = Some(Drawing { table, line, ..Drawing::default() });
            }
            KnownTag::Row => {
                self.end_row();
                if let Some(drawing) = &mut self.table {
                    drawing.line = scan.line();
                }
            }
            KnownTag::Cell { is_head } => {
                self.end_cell();
                if let Some(drawing) = &mut self.table
                    && drawing.row.len() < MAX_CELLS
                    && drawing.required != Some(false)
                {
                    let width =
                        tag.attribute(b"colspan").and_then(|width| std::str::from_utf8(width).ok()?.parse().ok());
                    let columns = width.unwrap_or(1).clamp(1, MAX_CELLS);
                    drawing.row.push(HtmlCell { text: String::new(), columns, is_head });
                    self.text = Some(Vec::new());
                }
            }
            KnownTag::Heading => {
                if self.table.is_none() {
                    self.text = Some(Vec::new());
                }
            }
            KnownTag::Break => self.add(b" "),
            KnownTag::Other => {}
        }
    }

    fn close(&mut self, name: &[u8], take: &mut dyn FnMut(Piece)) {
        match classify_column(name) {
            KnownTag::Table => self.finish(false, take),
            KnownTag::Row => self.end_row(),
            KnownTag::Cell { .. } => self.end_cell(),
            KnownTag::Heading if self.table.is_none() => {
                if let Some(text) = self.text.take() {
                    self.heading = display(&text);
                    take(Piece::Heading(self.heading.clone()));
                }
            }
            _ => {}
        }
    }

    fn end_cell(&mut self) {
        if let (Some(text), Some(drawing)) = (self.text.take(), &mut self.table)
            && let Some(cell) = drawing.row.last_mut()
        {
            cell.text = display(without_cut_tag(&text));
        }
    }

    fn end_row(&mut self) {
        self.end_cell();
        if let Some(drawing) = &mut self.table {
            drawing.end_row(self.wants);
        }
    }

    fn finish(&mut self, cut: bool, take: &mut dyn FnMut(Piece)) {
        if self.table.is_some() {
            self.end_row();
        }
        self.text = None;
        if let Some(mut drawing) = self.table.take() {
            if drawing.required.is_none() {
                drawing.table.columns = joined(&drawing.heads);
            }
            drawing.table.cut |= cut;
            take(Piece::Table(drawing.table));
        }
    }
}

impl Drawing {
    fn end_row(&mut self, wants: &dyn Fn(&[String]) -> bool) {
        let row = std::mem::take(&mut self.row);
        if row.is_empty() || self.required == Some(false) {
            return;
        }
        let is_head =
            row.iter().any(|cell| cell.is_head) && row.iter().all(|cell| cell.is_head || cell.text.is_empty());
        if is_head && self.required.is_none() {
            // Reports have at most two rows of headings; more indicate a layout table.
            if self.heads.len() < 4 {
                self.heads.push(row.into_iter().map(|cell| (cell.text, cell.columns)).collect());
            }
            return;
        }
        if is_head {
            return;
        }
        if self.required.is_none() {
            self.table.columns = joined(&self.heads);
            self.required = Some(wants(&self.table.columns));
        }
        if self.required == Some(false) {
            return;
        }
        if self.table.rows.len() >= MAX_ROWS {
            self.table.cut = true;
            return;
        }
        let cells = row.into_iter().flat_map(|cell| {
            let blanks = cell.columns - 1;
            std::iter::once(cell.text).chain(std::iter::repeat_n(String::new(), blanks))
        });
        self.table.rows.push(Row { line: self.line, cells: cells.take(MAX_CELLS).collect() });
    }
}

/// A name for each column: spanning headings precede its own.
fn joined(heads: &[Vec<(String, usize)>]) -> Vec<String> {
    let spread = |(name, span): &(String, usize)| std::iter::repeat_n(name.clone(), *span);
    titles(heads.iter().map(|head| head.iter().flat_map(spread).take(MAX_CELLS)))
}

/// The text of a cell without an end tag that lost its `<`, as in reports whose names were removed by hand.
fn without_cut_tag(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii_end();
    let start = text.len().saturating_sub(b"/td>".len());
    let is_tag = [b"/td>", b"/th>"].iter().any(|tag| text[start..].eq_ignore_ascii_case(*tag));
    if is_tag { &text[..start] } else { text }
}

/// Displayed text: entities resolved, single spaces.
fn display(text: &[u8]) -> String {
    spaced(&resolved(text))
}

/// Text with its entities resolved.
fn resolved(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_ref();
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.bytes().take(12).position(|byte| byte == b';');
        let found = end.and_then(|end| Some((entity(&rest[1..end])?, end + 1)));
        let (letter, used) = found.unwrap_or(('&', 1));
        out.push(letter);
        rest = &rest[used..];
    }
    out.push_str(rest);
    out
}

/// The preformatted text of a document (`<pre>`) with its lines; empty without any.
pub(crate) fn preformatted(document: &[u8]) -> String {
    let (mut scan, mut text, mut depth) = (Scan::new(document), String::new(), 0_u32);
    while let Some(token) = scan.next() {
        match token {
            Token::Open(tag) if tag.name.eq_ignore_ascii_case(b"pre") => depth += 1,
            Token::Open(tag) if depth > 0 && tag.name.eq_ignore_ascii_case(b"br") => text.push('\n'),
            Token::Close(name) if name.eq_ignore_ascii_case(b"pre") => {
                depth = depth.saturating_sub(1);
                text.push('\n');
            }
            Token::Text(piece) if depth > 0 => text.push_str(&resolved(piece)),
            _ => {}
        }
    }
    text
}

fn entity(name: &str) -> Option<char> {
    match name {
        "nbsp" => Some(' '),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)
        }
    }
}

/// A piece of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    /// Text between tags, with unresolved entities.
    Text(&'a [u8]),
    /// A start tag.
    Open(Tag<'a>),
    /// An end tag: its name.
    Close(&'a [u8]),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tag<'a> {
    name: &'a [u8],
    attributes: &'a [u8],
}

/// A tokenizer for a document.
struct Scan<'a> {
    document: &'a [u8],
    at: usize,
    /// Offset up to which lines were counted, and their number.
    counted: (usize, u64),
}

impl<'a> Scan<'a> {
    fn new(document: &'a [u8]) -> Self {
        Self { document, at: 0, counted: (0, 1) }
    }

    /// The current line, from 1.
    fn line(&mut self) -> u64 {
        let (from, lines) = self.counted;
        let more = memchr::memchr_iter(b'\n', &self.document[from..self.at]).count() as u64;
        self.counted = (self.at, lines + more);
        lines + more
    }

    fn next(&mut self) -> Option<Token<'a>> {
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
                [b'/', name @ ..] => return Some(Token::Close(split_word(name))),
                [b'!' | b'?', ..] => {}
                _ => {
                    let name = split_word(inside);
                    return Some(Token::Open(Tag { name, attributes: &inside[name.len()..] }));
                }
            }
        }
    }
}

fn begins_tag(rest: &[u8]) -> bool {
    matches!(rest, [b'<', next, ..] if next.is_ascii_alphabetic() || matches!(next, b'/' | b'!' | b'?'))
}

/// End of text: before the next tag.
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

/// End of a tag, including its `>`. A `>` inside quotes does not count, unless the quotes are unclosed.
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

fn split_word(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(bytes.len());
    &bytes[..end]
}

impl<'a> Tag<'a> {
    /// The value of an attribute, without quotes.
    fn attribute(&self, name: &[u8]) -> Option<&'a [u8]> {
        let mut rest = self.attributes;
        while let Some(equals) = memchr(b'=', rest) {
            let before = rest[..equals].trim_ascii_end();
            let after = rest[equals + 1..].trim_ascii_start();
            let (value, next) = split_value(after);
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

/// An attribute's value at the beginning of `text`, and the rest.
fn split_value(text: &[u8]) -> (&[u8], &[u8]) {
    let Some(&quote) = text.first().filter(|byte| matches!(byte, b'"' | b'\'')) else {
        let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
        return text.split_at(end);
    };
    let inside = &text[1..];
    // Quotes doubled by a spreadsheet.
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
    use super::{Piece, Scan, Token, pieces};
    use crate::text::table::NamedTable;

    fn read(document: &str) -> (Vec<String>, Vec<NamedTable>) {
        let (mut headings, mut tables) = (Vec::new(), Vec::new());
        pieces(document.as_bytes(), &|_| true, &mut |piece| match piece {
            Piece::Heading(heading) => headings.push(heading),
            Piece::Table(table) => tables.push(table),
        });
        (headings, tables)
    }

    #[test]
    fn headings_over_columns_are_joined() {
        let (headings, tables) = read(
            "<title>A&amp;B</title><h3 class=\"x\">One <a>two</a></h3>\n<table><tr><td>&#160;</td><th colspan=\" 2\">% of Waits\
             </th></tr>\n<tr><th>Event</th><th>&lt;1ms</th><th>&gt;=1ms</th></tr>\n<tr><td>a<td> 1 <td>&nbsp;</tr>\
             <tr><td colspan=2>b</td><td>3</td></tr></table>",
        );
        assert_eq!(headings, ["A&B", "One two"]);
        assert_eq!(tables.len(), 1);
        let table = &tables[0];
        assert_eq!((table.heading.as_str(), table.line, table.cut), ("One two", 2, false));
        assert_eq!(table.columns, ["event", "% of waits <1ms", "% of waits >=1ms"]);
        let rows: Vec<_> = table.rows.iter().map(|row| (row.line, row.cells.join("|"))).collect();
        assert_eq!(rows, [(4, "a|1|".to_owned()), (4, "b||3".to_owned())]);
    }

    #[test]
    fn a_truncated_table_is_marked() {
        let (_, tables) = read("<table><tr><th>A</th></tr><tr><td>1</td></tr><tr><td>2");
        assert!(tables[0].cut);
        assert_eq!(tables[0].rows.len(), 2);
    }

    #[test]
    fn an_end_tag_without_its_bracket_is_no_text() {
        let (_, tables) = read("<table><tr><th>A</th></tr><tr><td>/td><td>x/TD>\n<td>a/b</td></tr></table>");
        assert_eq!(tables[0].rows[0].cells, ["", "x", "a/b"]);
    }

    #[test]
    fn nesting_and_endless_cells_cost_little() {
        let (_, tables) = read(&"<table><tr><td><b>".repeat(100_000));
        assert_eq!(tables.len(), 100_000);
        let long = format!("<table><tr><td>{}</td><td>7</td></tr></table>", "x".repeat(10 << 20));
        let (_, tables) = read(&long);
        assert_eq!(tables[0].rows[0].cell(1), "7");
        assert!(tables[0].rows[0].cell(0).len() <= 1 << 10);
        let (_, tables) = read(&format!("<table><tr>{}</tr></table>", "<td colspan=999999999>x".repeat(10_000)));
        assert_eq!(tables[0].rows[0].cells.len(), 512);
    }

    #[test]
    fn tables_that_nobody_wants_have_no_rows() {
        let mut rows = Vec::new();
        let document = b"<table><tr><th>A</th></tr><tr><td>1</td></tr></table><table><tr><th>B</th></tr><tr><td>2</td></tr></table>";
        pieces(document, &|columns| columns == ["b"], &mut |piece| {
            if let Piece::Table(table) = piece {
                rows.push(table.rows.len());
            }
        });
        assert_eq!(rows, [0, 1]);
    }

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
        let mut observed = Vec::new();
        while let Some(token) = scan.next() {
            observed.push(match token {
                Token::Text(text) => format!("{:?}", String::from_utf8_lossy(text)),
                Token::Open(tag) => format!("<{}", String::from_utf8_lossy(tag.name)),
                Token::Close(name) => format!("/{}", String::from_utf8_lossy(name)),
            });
        }
        assert_eq!(observed, ["\"a < b\\n\"", "<b", "\"c\"", "/b", "\"\\n<3\""]);
        assert_eq!(scan.line(), 3);
    }
}
