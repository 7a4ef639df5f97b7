//! What stands under a title: numbers, words of the program, or names.

use super::names::{Kind, Names};
use super::words::{Unknown, clean, is_number};

/// What a cell may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    /// The program's own words: events, statistics, types of files.
    Kept,
    /// Numbers, words, and what is taken for a name.
    Words,
    /// A name.
    Name(Kind),
    /// A text that says what somebody does: nothing stays but its length.
    Length,
}

/// Titles as they are compared, with what stands under them.
const TITLES: &[(Cell, &[&str])] = &[
    (
        Cell::Kept,
        &[
            "event",
            "wait event",
            "wait class",
            "statistic",
            "statistic name",
            "filetype name",
            "filetype",
            "function name",
            "function",
            "function/file name",
            "stat_name",
            "event_name",
            "wait_class",
            "function_name",
            "release",
            "version",
        ],
    ),
    (Cell::Name(Kind::Database), &["db name", "unique name", "database", "database name", "container name"]),
    (Cell::Name(Kind::Database), &["pdb name", "pdb", "con name", "datname", "db_name"]),
    (
        Cell::Name(Kind::Number),
        &[
            "db id",
            "database id",
            "dbid",
            "container db id",
            "datid",
            "queryid",
            "plan hash value",
            "plan_hash",
            "plan_hash_value",
            "userid",
        ],
    ),
    (Cell::Name(Kind::Instance), &["instance", "instance name", "inst name"]),
    (Cell::Name(Kind::Host), &["host name", "host", "hostname", "# hostname", "cell name", "machine"]),
    (Cell::Name(Kind::Tablespace), &["tablespace", "tablespace name", "ts name", "tablespace name begin"]),
    (Cell::Name(Kind::File), &["filename", "file name", "file"]),
    (Cell::Name(Kind::User), &["owner", "schema", "schema name", "user name", "username", "usename", "user"]),
    (Cell::Name(Kind::Object), &["object name", "subobject name", "relname", "table", "index", "table_name"]),
    (Cell::Name(Kind::Service), &["service name", "service"]),
    (Cell::Name(Kind::Program), &["sql module", "module", "program", "action", "application_name", "client"]),
    (Cell::Name(Kind::Statement), &["sql id", "sql_id", "sqlid", "old hash value"]),
    (Cell::Length, &["sql text", "sql_text", "query", "statement", "digest_text", "info", "comment"]),
];

/// What stands in a column. Titles are in lower case, with single spaces.
pub(super) fn of(columns: &[String], index: usize) -> Cell {
    let title = columns.get(index).map_or("", String::as_str);
    // Statspack writes the host's name below two titles.
    if title == "name" && columns.first().is_some_and(|first| first == "host") {
        return Cell::Name(Kind::Host);
    }
    let found = TITLES.iter().find(|(_, titles)| titles.contains(&title));
    found.map_or(Cell::Words, |(cell, _)| *cell)
}

impl Cell {
    /// A cell without names.
    pub(super) fn clean(self, text: &str, names: &mut Names) -> String {
        let text = text.trim();
        if text.is_empty() {
            return String::new();
        }
        match self {
            Self::Kept if is_program(text) => text.to_owned(),
            Self::Kept | Self::Words => clean(text, Unknown::Name, names),
            Self::Name(Kind::Number) => names.of(Kind::Number, text),
            Self::Name(_) if matches!(text, "*" | "N/A" | "n/a" | "TOTAL" | "\\N" | "NULL") => text.to_owned(),
            // Numbers stand for statements, and for nothing else that has a column of names.
            Self::Name(kind) if kind != Kind::Statement && is_number(text) => text.to_owned(),
            Self::Name(kind) => names.of(kind, text),
            Self::Length => length(text),
        }
    }
}

/// As programs write their own words: short, and without the marks of addresses, paths and statements.
fn is_program(text: &str) -> bool {
    const LONGEST: usize = 100;
    text.len() <= LONGEST && !text.contains(['@', '\\', '"', '\'', ';', '{', '}'])
}

/// All that stays of a text.
pub(super) fn length(text: &str) -> String {
    format!("({} letters)", text.chars().count())
}
