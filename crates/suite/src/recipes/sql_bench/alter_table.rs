//! The test alter-table: columns and indexes that come and go on a table with rows.
//!
//! Knows nothing about how figures are shown.

use plimsoll_database::System;

use super::section::{Plan, Section, ask};
use crate::sql::Asked;

/// Columns that it begins with.
const FIRST: u64 = 8;
/// Columns that it grows to.
const LAST: u64 = 1000;
/// Columns of one statement.
const AT_ONCE: u64 = 10;
/// Indexes that are made and dropped.
const INDEXES: u64 = 8;

pub(super) fn sections(plan: &Plan) -> Vec<Section> {
    let dialect = plan.dialect;
    let last = FIRST + plan.rows(LAST - FIRST);
    let statements = (last - FIRST).div_ceil(AT_ONCE);
    let full = (LAST - FIRST).div_ceil(AT_ONCE);
    let columns = move |index: u64| {
        let from = FIRST + index * AT_ONCE;
        from..(from + AT_ONCE).min(last)
    };
    let texts = |statements: Vec<String>| statements.into_iter().map(Asked::text).collect::<Vec<_>>();
    let names: Vec<String> = (0..FIRST).map(|column| format!("i{column} {} NOT NULL", dialect.int())).collect();
    let create = format!("CREATE TABLE altered ({})", names.join(", "));
    let note = match dialect.0 {
        System::Sqlite => "SQLite changes one column in a statement: ten statements, timed together",
        _ => "",
    };
    vec![
        Section::preparation("create_table", vec![create]),
        Section::repeated(plan, "insert", 1000, |row| {
            let values: Vec<String> = (0..FIRST).map(|column| (row * FIRST + column).to_string()).collect();
            ask(format!("INSERT INTO altered VALUES ({})", values.join(", ")))
        }),
        Section::begun("remaining_rows", super::section::Counting::Preparation, move |ledger| {
            let (done, rows) = (ledger.done("insert"), 1000);
            let at = move |index: u64| {
                let from = done + index * 100;
                let row = |row: u64| (0..FIRST).map(|column| (row * FIRST + column).to_string()).collect::<Vec<_>>();
                let rows = (from..(from + 100).min(rows)).map(|number| row(number).join(", "));
                ask(dialect.insert_rows("altered", "i0, i1, i2, i3, i4, i5, i6, i7", rows))
            };
            ((rows - done).div_ceil(100), std::sync::Arc::new(at))
        }),
        Section::counted("alter_table_add", full, statements, move |index| {
            texts(dialect.add_columns("altered", 'i', columns(index)))
        })
        .noting(note),
        Section::entire("create_index", INDEXES, |index| {
            ask(format!("CREATE INDEX altered_{index} ON altered (i{index})"))
        }),
        Section::entire("drop_index", INDEXES, move |index| {
            ask(dialect.drop_index("altered", &format!("altered_{index}")))
        }),
        Section::counted("alter_table_drop", full, statements, move |index| {
            texts(dialect.drop_columns("altered", 'i', columns(index)))
        })
        .noting(note),
        Section::preparation("drop_table", vec!["DROP TABLE altered".into()]),
    ]
}
