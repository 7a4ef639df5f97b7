//! Uploaded files around a line, and links from figures to the lines that they were read from.

use std::fs::File;
use std::io::{self, BufRead, BufReader};

use maud::html;
use plimsoll_language::{label, say};
use plimsoll_report::{Block, Page};

use crate::ConsoleState;
use crate::answer::{Input, WebRefusal, WebResult};
use crate::layout::{self, Frame};

/// Lines before and after the line.
const CONTEXT_LINES: u64 = 20;
/// Maximum number of displayed bytes of a line.
const MAX_LINE_BYTES: usize = 2_000;
/// Columns of a table of origins.
const COLUMNS: [&str; 2] = ["file", "line"];

/// Links the lines in tables of origins to the pages of their files. `files` are the names of the case's files.
pub fn link(page: &mut Page, case: &str, files: &[String]) {
    let tables = page.sections.iter_mut().flat_map(|section| &mut section.blocks).filter_map(|block| match block {
        Block::Table(table) => Some(table),
        _ => None,
    });
    for table in tables {
        let place = |name: &str| table.columns.iter().position(|column| column.name == name);
        let [Some(file), Some(line)] = COLUMNS.map(place) else { continue };
        for row in &mut table.rows {
            let name = &row[file].text;
            // Files of the same name cannot be distinguished.
            let is_unique = files.iter().filter(|other| *other == name).count() == 1;
            if is_unique && row[line].text.parse::<u64>().is_ok() {
                row[line].link = Some(format!("/choose/{case}/files/{name}/{}#line", row[line].text));
            }
        }
    }
}

/// A file around a line.
pub fn page(shared: &ConsoleState, input: &Input) -> WebResult {
    let (case, name) = (input.part(0), input.part(1));
    let line: u64 = input.part(2).parse().map_err(|_| WebRefusal::bad(label!("a line is a number from 1")))?;
    let path = shared.reports.file(case, name)?;
    let failed = |error: io::Error| WebRefusal::failed(format!("{name}: {error}"));
    let mut reader = BufReader::new(File::open(path).map_err(failed)?);
    let lines = read_context(&mut reader, line).map_err(failed)?;
    if !lines.iter().any(|(number, _)| *number == line) {
        return Err(WebRefusal::not_found(say!("{name} has no line {line}")));
    }
    if lines.iter().any(|(_, text)| text.contains('\0')) {
        return Err(WebRefusal::bad(say!("{name} is compressed or binary: its lines cannot be shown")));
    }
    let title = format!("{name}, {} {line}", label!("line"));
    let frame = Frame { title: &title, place: "/choose", scripts: &[] };
    let content = html! {
        (layout::case_tabs(case, ""))
        h1 { (title) }
        pre class="listing source" tabindex="0" role="region" aria-label=(name) {
            @for (number, text) in &lines {
                @if *number == line { mark id="line" { span { (number) } " " (text) } } @else { span { (number) } " " (text) }
                "\n"
            }
        }
    };
    Ok(layout::page(&frame, &content))
}

/// Number and text of the lines around a line, from 1.
fn read_context(reader: &mut impl BufRead, line: u64) -> io::Result<Vec<(u64, String)>> {
    let mut lines = Vec::new();
    for number in 1..=line.saturating_add(CONTEXT_LINES) {
        let Some(text) = next_line(reader)? else { break };
        if number + CONTEXT_LINES >= line {
            lines.push((number, String::from_utf8_lossy(&text).trim_end_matches('\r').to_owned()));
        }
    }
    Ok(lines)
}

/// The beginning of the next line; `None` at the end.
fn next_line(reader: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let mut is_end = true;
    loop {
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            return Ok((!is_end).then_some(line));
        }
        is_end = false;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let part = &buffer[..end.unwrap_or(buffer.len())];
        line.extend_from_slice(&part[..part.len().min(MAX_LINE_BYTES - line.len())]);
        let length = part.len() + usize::from(end.is_some());
        reader.consume(length);
        if end.is_some() {
            return Ok(Some(line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_around_a_line_are_found_and_cut() {
        let long = "x".repeat(5_000);
        let text = format!("{}{long}\r\nlast", "a\n".repeat(99));
        let lines = |line: u64| read_context(&mut BufReader::with_capacity(7, text.as_bytes()), line).unwrap();
        let found = lines(100);
        assert_eq!((found.first().unwrap().0, found.last().unwrap()), (80, &(101, "last".to_owned())));
        assert_eq!(found[20], (100, "x".repeat(MAX_LINE_BYTES)));
        assert_eq!(lines(1).len(), 21);
        assert!(lines(200).is_empty());
    }
}
