//! Test connect: connections, and minimal queries.

use std::sync::Arc;

use plimsoll_database::Value;

use super::section::{BenchSection, SectionPlan, query};
use crate::sql::SqlRequest;

/// Length of the long text in characters.
const LONG: usize = 65_000;

pub(super) fn sections(plan: &SectionPlan) -> Vec<BenchSection> {
    let dialect = plan.dialect;
    let simple = dialect.constant("10");
    let (simple_again, row) = (simple.clone(), "SELECT number_of, text_of FROM met WHERE number_of = 1");
    let create = vec![
        format!("CREATE TABLE met (number_of {}, text_of {})", dialect.int(), dialect.varchar(20)),
        "INSERT INTO met VALUES (1, 'first')".into(),
        "INSERT INTO met VALUES (2, 'second')".into(),
        format!("CREATE TABLE met_long (text_of {})", dialect.long_text()),
    ];
    let long: Arc<str> = "INSERT INTO met_long VALUES (?)".into();
    let text: Arc<str> = "a long text ".repeat(LONG.div_ceil(12))[..LONG].into();
    vec![
        BenchSection::preparation("create_table", create),
        BenchSection::repeated(plan, "connect", 10_000, |_| vec![SqlRequest::Reconnect]),
        BenchSection::repeated(plan, "connect+select_simple", 10_000, move |_| {
            [vec![SqlRequest::Reconnect], query(simple.clone(), 1)].concat()
        }),
        BenchSection::repeated(plan, "select_simple", 100_000, move |index| {
            query(dialect.constant(&(index + 10).to_string()), 1)
        }),
        BenchSection::repeated(plan, "select_simple_cache", 100_000, move |_| query(simple_again.clone(), 1)),
        BenchSection::repeated(plan, "connect+select_1_row", 10_000, move |_| {
            [vec![SqlRequest::Reconnect], query(row.into(), 1)].concat()
        }),
        // The condition differs each time, and is always true.
        BenchSection::repeated(plan, "select_1_row", 100_000, |index| {
            query(format!("SELECT number_of, text_of FROM met WHERE number_of = 1 AND number_of < {}", index + 2), 1)
        }),
        BenchSection::repeated(plan, "select_1_row_cache", 100_000, move |_| query(row.into(), 1)),
        BenchSection::repeated(plan, "select_2_rows", 100_000, |_| {
            query("SELECT number_of, text_of FROM met".into(), 2)
        }),
        BenchSection::repeated(plan, "select_column+column", 100_000, |_| {
            query("SELECT number_of + number_of FROM met WHERE number_of = 2".into(), 1)
        }),
        BenchSection::begun("long_text", super::section::Counting::Preparation, move |_| {
            let (sql, text) = (Arc::clone(&long), Arc::clone(&text));
            let values = move || vec![Value::Text(text.to_string())];
            (1, Arc::new(move |_| vec![SqlRequest::Prepared { sql: Arc::clone(&sql), values: values(), rows: None }]))
        }),
        BenchSection::repeated(plan, "select_big_str", 10_000, |_| query("SELECT text_of FROM met_long".into(), 1)),
        BenchSection::preparation("drop_table", vec!["DROP TABLE met".into(), "DROP TABLE met_long".into()]),
    ]
}
