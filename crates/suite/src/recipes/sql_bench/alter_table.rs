//! Test alter-table: adding and dropping columns and indexes of a table with rows.

use plimsoll_database::System;
use plimsoll_record::BenchNote;

use super::section::{BenchSection, SectionPlan, ask};
use crate::sql::SqlRequest;

const ROWS: u64 = 1000;
/// Initial number of columns.
const FIRST: u64 = 8;
/// Final number of columns.
const LAST: u64 = 1000;
/// Columns per statement.
const AT_ONCE: u64 = 10;
/// Number of indexes created and dropped.
const INDEXES: u64 = 8;

pub(super) fn sections(plan: &SectionPlan) -> Vec<BenchSection> {
    let dialect = plan.dialect;
    let last = FIRST + plan.rows(LAST - FIRST);
    let statements = (last - FIRST).div_ceil(AT_ONCE);
    let full = (LAST - FIRST).div_ceil(AT_ONCE);
    let columns = move |index: u64| {
        let from = FIRST + index * AT_ONCE;
        from..(from + AT_ONCE).min(last)
    };
    let texts = |statements: Vec<String>| statements.into_iter().map(SqlRequest::text).collect::<Vec<_>>();
    let names: Vec<String> = (0..FIRST).map(|column| format!("i{column} {} NOT NULL", dialect.int())).collect();
    let create = format!("CREATE TABLE altered ({})", names.join(", "));
    let insert = |row: u64| {
        let values: Vec<String> = (0..FIRST).map(|column| (row * FIRST + column).to_string()).collect();
        ask(format!("INSERT INTO altered VALUES ({})", values.join(", ")))
    };
    let note = (dialect.0 == System::Sqlite).then_some(BenchNote::SingleColumns);
    vec![
        BenchSection::preparation("create_table", vec![create]),
        BenchSection::repeated(plan, "insert", ROWS, insert),
        BenchSection::rest("remaining_rows", "insert", ROWS, insert),
        BenchSection::counted("alter_table_add", full, statements, move |index| {
            texts(dialect.add_columns("altered", 'i', columns(index)))
        })
        .noting(note),
        BenchSection::entire("create_index", INDEXES, |index| {
            ask(format!("CREATE INDEX altered_{index} ON altered (i{index})"))
        }),
        BenchSection::entire("drop_index", INDEXES, move |index| {
            ask(dialect.drop_index("altered", &format!("altered_{index}")))
        }),
        BenchSection::counted("alter_table_drop", full, statements, move |index| {
            texts(dialect.drop_columns("altered", 'i', columns(index)))
        })
        .noting(note),
        BenchSection::preparation("drop_table", vec!["DROP TABLE altered".into()]),
    ]
}
