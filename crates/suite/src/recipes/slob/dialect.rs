//! SLOB's statements in each system.
//!
//! A schema is a table with its index, both named by its number.

use plimsoll_database::System;

use super::layout::{COLUMNS, SchemaLayout};
use super::mysql::Mysql;
use super::oracle::Oracle;
use super::postgres::Postgres;
use super::sqlite::Sqlite;

/// A half-open range of key places.
pub(super) type Places = (u64, u64);

/// Statements of a system, for schemas numbered from 1.
pub(super) trait SlobDialect: Sync {
    /// Creates the table.
    fn table(&self, layout: &SchemaLayout, schema: u32) -> Vec<String>;

    /// Places per statement: large enough to be efficient, small enough to show progress.
    fn places_at_once(&self) -> u64;

    /// Fills places of the table.
    fn fill(&self, layout: &SchemaLayout, schema: u32, places: Places) -> String;

    /// Statements after loading: index, statistics, and the loop if it runs inside the server.
    fn finish(&self, layout: &SchemaLayout, schema: u32) -> Vec<String>;

    /// Query with a row per schema: number, rows with a key, blocks of the table.
    fn count(&self, layout: &SchemaLayout) -> String;
}

/// Statement that runs a session's loop in a schema: schema, `UPDATE_PCT`, seed of the places, microseconds.
pub(super) type LoopCall = fn(u32, u32, u64, u64) -> String;

/// Call of the loop inside the server; `None` if the system has none.
pub(super) fn call(system: System) -> Option<LoopCall> {
    match system {
        System::Postgres => Some(super::postgres::call),
        System::Mysql => Some(super::mysql::call),
        System::Oracle => Some(super::oracle::call),
        System::Sqlite => None,
    }
}

/// The statements of a system.
pub(super) fn dialect(system: System) -> &'static dyn SlobDialect {
    match system {
        System::Postgres => &Postgres,
        System::Mysql => &Mysql,
        System::Sqlite => &Sqlite,
        System::Oracle => &Oracle,
    }
}

/// Table of a schema.
pub(super) fn table(schema: u32) -> String {
    format!("slob_{schema}")
}

/// List of `of(1)`, `of(2)` and so on, for each column.
pub(super) fn columns(count: u64, of: impl Fn(u64) -> String) -> String {
    (1..=count).map(of).collect::<Vec<_>>().join(", ")
}

/// All columns by name.
pub(super) fn every_column() -> String {
    columns(COLUMNS, |number| format!("c{number}"))
}

/// Union of a query over all schemas.
pub(super) fn of_each(layout: &SchemaLayout, of: impl Fn(u32) -> String) -> String {
    (1..=layout.schemas).map(of).collect::<Vec<_>>().join(" UNION ALL ")
}

/// Repetitions of an eight-letter word for at least `bytes` of compressible text.
pub(super) const fn repeats(bytes: u64) -> u64 {
    bytes.div_ceil(8)
}
