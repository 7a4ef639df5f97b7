//! Queries of the test insert: ordered tables, ranges, and rows by each part of a key.

use std::sync::Arc;

use plimsoll_database::{System, Value};
use plimsoll_record::BenchNote;

use super::RowNumbers;
use crate::recipes::sql_bench::section::{BenchSection, SectionPlan, query, scattered};
use crate::sql::SqlRequest;

/// Rows of an ordered range.
const ORDERED: u64 = 200;
/// Rows of a small range.
const RANGE: u64 = 10;

pub(super) fn sections(plan: &SectionPlan, rows: RowNumbers) -> Vec<BenchSection> {
    [prepared(plan, rows), plan_full_scans(plan, rows), ranges(plan, rows), by_keys(plan, rows), aggregates(plan, rows)]
        .concat()
}

fn prepared(plan: &SectionPlan, rows: RowNumbers) -> Vec<BenchSection> {
    let dialect = plan.dialect;
    let once: Arc<str> = "SELECT id, id2, id3, dummy1 FROM bench1 WHERE id = ?".into();
    let id = move |index| scattered(index, rows.all());
    let note = match dialect.0 {
        System::Sqlite | System::Oracle => BenchNote::ExecutedAsText,
        _ => BenchNote::PreparedInSql,
    };
    vec![
        BenchSection::repeated(plan, "prepared_select", 100_000, move |index| {
            let statements = dialect.prepared_once("bench1", "id, id2, id3, dummy1", "id", id(index));
            let runs = |sql: &str| sql.starts_with("SELECT") || sql.starts_with("EXECUTE");
            let request = |sql: String| SqlRequest::Text { rows: runs(&sql).then_some(1), sql };
            statements.into_iter().map(request).collect()
        })
        .noting(Some(note)),
        BenchSection::repeated(plan, "once_prepared_select", 100_000, move |index| {
            vec![SqlRequest::Prepared {
                sql: Arc::clone(&once),
                values: vec![Value::Int(id(index).cast_signed())],
                rows: Some(1),
            }]
        }),
    ]
}

/// The whole table, ordered with and without an index.
fn plan_full_scans(plan: &SectionPlan, rows: RowNumbers) -> Vec<BenchSection> {
    let orders = [
        ("select_big", ""),
        ("order_by_big_key", " ORDER BY id, id2"),
        ("order_by_big_key_desc", " ORDER BY id DESC, id2 DESC"),
        ("order_by_big_key_prefix", " ORDER BY id"),
        ("order_by_big_key2", " ORDER BY id3"),
        ("order_by_big_key_diff", " ORDER BY id, id3"),
        ("order_by_big", " ORDER BY dummy1, id3"),
    ];
    let section = |(name, order): (&'static str, &'static str)| {
        BenchSection::repeated(plan, name, 10, move |_| {
            query(format!("SELECT dummy1, id3 FROM bench1{order}"), rows.all())
        })
    };
    orders.map(section).to_vec()
}

fn ranges(plan: &SectionPlan, rows: RowNumbers) -> Vec<BenchSection> {
    let length = ORDERED.min(rows.all());
    let ordered = |name: &'static str, key: &'static str, order: &'static str| {
        BenchSection::repeated(plan, name, 500, move |index| {
            let from = rows.somewhere(index, length);
            let to = from + length - 1;
            let sql =
                format!("SELECT id, id3, dummy1 FROM bench1 WHERE {key} BETWEEN {from} AND {to} ORDER BY {order}");
            query(sql, length)
        })
    };
    let small = |name: &'static str, key: &'static str| {
        BenchSection::repeated(plan, name, 5010, move |index| {
            let from = rows.somewhere(index, RANGE);
            let to = from + RANGE - 1;
            query(format!("SELECT dummy1, id3 FROM bench1 WHERE {key} >= {from} AND {key} <= {to}"), RANGE)
        })
    };
    vec![
        ordered("order_by_range", "id", "dummy1, id3"),
        ordered("order_by_key_prefix", "id", "id"),
        ordered("order_by_key2_diff", "id3", "id3, id"),
        BenchSection::repeated(plan, "select_diff_key", 500, move |index| {
            let id = scattered(index, rows.all());
            query(format!("SELECT id, id2 FROM bench1 WHERE id = {id} AND id3 = {}", rows.id3(id)), 1)
        }),
        small("select_range_prefix", "id"),
        small("select_range_key2", "id3"),
    ]
}

/// A row by each part of a key, with and without an index.
fn by_keys(plan: &SectionPlan, rows: RowNumbers) -> Vec<BenchSection> {
    let kinds = [
        ("select_key_prefix", "*", "id = #"),
        ("select_key", "*", "id = # AND id2 = #"),
        ("select_key_return_key", "id", "id = # AND id2 = #"),
        ("select_key2", "*", "id3 = #"),
        ("select_key2_return_key", "id3", "id3 = #"),
        ("select_key2_return_prim", "id", "id3 = #"),
    ];
    let section = |(name, columns, condition): (&'static str, &'static str, &'static str)| {
        BenchSection::repeated(plan, name, 200_000, move |index| {
            let condition = condition.replace('#', &scattered(index, rows.all()).to_string());
            query(format!("SELECT {columns} FROM bench1 WHERE {condition}"), 1)
        })
    };
    kinds.map(section).to_vec()
}

fn aggregates(plan: &SectionPlan, rows: RowNumbers) -> Vec<BenchSection> {
    let on_key = ["MIN(id)", "MAX(id)", "MIN(id3)", "MAX(id3)"];
    let without_key = ["MIN(dummy1)", "MAX(dummy1)", "MIN(id2)", "MAX(id2)"];
    let length = 1000.min(rows.all());
    let one =
        |what: &[&'static str; 4], index: u64| query(format!("SELECT {} FROM bench1", what[(index % 4) as usize]), 1);
    vec![
        BenchSection::repeated(plan, "min_max_on_key", 15_000, move |index| one(&on_key, index)),
        BenchSection::repeated(plan, "min_max", 60, move |index| one(&without_key, index)),
        BenchSection::repeated(plan, "count_on_key", 100, move |index| {
            let from = rows.somewhere(index, length);
            query(format!("SELECT COUNT(*) FROM bench1 WHERE id BETWEEN {from} AND {}", from + length - 1), 1)
        }),
        BenchSection::repeated(plan, "count", 100, |_| query("SELECT COUNT(dummy1) FROM bench1".into(), 1)),
        BenchSection::repeated(plan, "count_distinct_big", 120, move |_| {
            query("SELECT id, COUNT(DISTINCT id3) FROM bench1 GROUP BY id".into(), rows.all())
        }),
    ]
}
