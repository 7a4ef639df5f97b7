//! Lists of programs line by line: iostat, sar, clients of databases, JSON, and whatever else is text.

use super::columns::{self, Cell, length};
use super::delimited::Delimited;
use super::names::{Kind, Names};
use super::words::{Unknown, clean};
use crate::table::plain;

/// Where a list is.
#[derive(Default)]
pub(super) struct Listing {
    table: Option<Delimited>,
    /// True between a heading under which statements stand, and the next one.
    statements: bool,
}

impl Listing {
    /// A line without names.
    pub(super) fn line(&mut self, line: &str, names: &mut Names) -> String {
        let text = line.trim();
        if text.is_empty() {
            self.table = None;
            return String::new();
        }
        if is_heading(text) {
            self.statements = matches!(text, "TRANSACTIONS") || text.starts_with("LATEST ");
            return line.to_owned();
        }
        if self.statements || begins_statement(text) {
            return if text.bytes().all(|byte| matches!(byte, b'-' | b'=')) { line.to_owned() } else { length(text) };
        }
        if let Some(header) = kernel(line, names) {
            return header;
        }
        if let Some(row) = pair(line, names) {
            return row;
        }
        if let Some(table) = Delimited::of(line, names) {
            self.table = Some(table);
            return clean(line, Unknown::Name, names);
        }
        if line.trim_matches(['-', '+', ' ']).is_empty() {
            return line.to_owned();
        }
        let row = self.table.as_ref().and_then(|table| table.line(line, names));
        row.unwrap_or_else(|| clean(&without_texts(line), Unknown::Name, names))
    }
}

/// A heading of the state of `InnoDB`.
fn is_heading(text: &str) -> bool {
    const HEADINGS: [&str; 13] = [
        "BACKGROUND THREAD",
        "SEMAPHORES",
        "TRANSACTIONS",
        "LATEST DETECTED DEADLOCK",
        "LATEST FOREIGN KEY ERROR",
        "FILE I/O",
        "INSERT BUFFER AND ADAPTIVE HASH INDEX",
        "LOG",
        "BUFFER POOL AND MEMORY",
        "INDIVIDUAL BUFFER POOL INFO",
        "ROW OPERATIONS",
        "TRANSACTION",
        "END OF INNODB MONITOR OUTPUT",
    ];
    HEADINGS.contains(&text)
}

/// True for a line that begins like SQL.
fn begins_statement(text: &str) -> bool {
    const VERBS: [&str; 14] = [
        "select", "insert", "update", "delete", "merge", "create", "alter", "drop", "declare", "begin", "with",
        "grant", "call", "explain",
    ];
    let mut words = text.split([' ', '\t', '(']);
    let first = words.next().unwrap_or_default().to_ascii_lowercase();
    VERBS.contains(&first.as_str()) && words.next().is_some_and(|word| !word.is_empty())
}

/// The first line of what reads `/proc`: the kernel, the host in brackets, a date.
fn kernel(line: &str, names: &mut Names) -> Option<String> {
    let (release, rest) = line.strip_prefix("Linux ")?.split_once(" (")?;
    let (host, rest) = rest.split_once(')')?;
    let version = release.split(|letter: char| !letter.is_ascii_digit() && !matches!(letter, '.' | '-')).next()?;
    let version = version.trim_end_matches(['.', '-']);
    Some(format!("Linux {version} ({}){}", names.of(Kind::Host, host), clean(rest, Unknown::Name, names)))
}

/// A line of a title and its value.
fn pair(line: &str, names: &mut Names) -> Option<String> {
    let (title, value) = line.split_once('|').filter(|(_, value)| !value.contains('|'))?;
    let kind = columns::of(&[plain(title)], 0);
    if kind == Cell::Words || value.trim().is_empty() || plain(value).starts_with("value") {
        return None;
    }
    Some(format!("{title}| {}", kind.clean(value, names)))
}

/// JSON without the strings that hold statements.
fn without_texts(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = ["\"query\"", "\"sql_text\"", "\"statement\""].iter().filter_map(|key| rest.find(key)).min() {
        let key = at + rest[at + 1..].find('"').map_or(1, |end| end + 2);
        let value = rest[key..].trim_start_matches([' ', ':']);
        let begin = rest.len() - value.len();
        out.push_str(&rest[..begin]);
        rest = value;
        if let Some(text) = value.strip_prefix('"') {
            let mut escaped = false;
            let end = text.find(|letter| {
                let ends = letter == '"' && !escaped;
                escaped = letter == '\\' && !escaped;
                ends
            });
            let end = end.unwrap_or(text.len());
            out.push_str(&format!("\"{}", length(&text[..end])));
            rest = &text[end..];
        }
    }
    out + rest
}
