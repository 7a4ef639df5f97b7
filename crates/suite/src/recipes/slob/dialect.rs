//! What the statements of this suite are in each system.
//!
//! A schema is a table and its index, both named after its number. Knows nothing about steps or figures.

use plimsoll_database::System;

use super::layout::{COLUMNS, Layout};
use super::mysql::Mysql;
use super::oracle::Oracle;
use super::postgres::Postgres;
use super::sqlite::Sqlite;

/// A range of the places that keys lie at: the first one, and the one after the last.
pub(super) type Places = (u64, u64);

/// Statements of one system, for the schema of a number from 1.
pub(super) trait Dialect: Sync {
    /// Makes the table.
    fn table(&self, layout: &Layout, schema: u32) -> Vec<String>;

    /// Places that one statement fills: enough that it is worth sending, few enough to see loading go on.
    fn places_at_once(&self) -> u64;

    /// Fills places of the table.
    fn fill(&self, layout: &Layout, schema: u32, places: Places) -> String;

    /// What follows when the table is full: index, statistics, and the loop where the server has one.
    fn finish(&self, layout: &Layout, schema: u32) -> Vec<String>;

    /// A row for each schema: its number, its rows with a key, the blocks of its table.
    fn count(&self, layout: &Layout) -> String;
}

/// The statement by which a session works in the schema of a number for so many microseconds: schema, `UPDATE_PCT`, what
/// determines its places, microseconds.
pub(super) type Call = fn(u32, u32, u64, u64) -> String;

/// How a loop inside the server is called; none where there is none.
pub(super) fn call(system: System) -> Option<Call> {
    match system {
        System::Postgres => Some(super::postgres::call),
        System::Mysql => Some(super::mysql::call),
        System::Oracle => Some(super::oracle::call),
        System::Sqlite => None,
    }
}

/// The statements of a system.
pub(super) fn dialect(system: System) -> &'static dyn Dialect {
    match system {
        System::Postgres => &Postgres,
        System::Mysql => &Mysql,
        System::Sqlite => &Sqlite,
        System::Oracle => &Oracle,
    }
}

/// The table of a schema.
pub(super) fn table(schema: u32) -> String {
    format!("slob_{schema}")
}

/// `c1, c2` and so on, each made by `of` its number from 1.
pub(super) fn columns(count: u64, of: impl Fn(u64) -> String) -> String {
    (1..=count).map(of).collect::<Vec<_>>().join(", ")
}

/// All columns by name.
pub(super) fn every_column() -> String {
    columns(COLUMNS, |number| format!("c{number}"))
}

/// One statement that gives the rows of a statement for each schema.
pub(super) fn of_each(layout: &Layout, of: impl Fn(u32) -> String) -> String {
    (1..=layout.schemas).map(of).collect::<Vec<_>>().join(" UNION ALL ")
}

/// Text that compresses, of at least so many bytes: how often its eight letters are repeated.
pub(super) const fn repeats(bytes: u64) -> u64 {
    bytes.div_ceil(8)
}
