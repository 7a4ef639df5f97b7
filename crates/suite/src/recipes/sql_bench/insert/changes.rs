//! Changes of the test insert: updates by key and of whole tables, copies, joins, and deletes.

use super::{COLUMNS, RowNumbers, create, create_index};
use crate::recipes::sql_bench::section::{BenchSection, SectionPlan, ask, query, scattered};

/// Ranges in which the rest of the table is deleted.
const RANGES: u64 = 12;

pub(super) fn sections(plan: &SectionPlan, rows: RowNumbers) -> Vec<BenchSection> {
    [updates(plan, rows), joins(plan, rows), deletes(plan, rows)].concat()
}

fn updates(plan: &SectionPlan, rows: RowNumbers) -> Vec<BenchSection> {
    let id = move |index| scattered(index, rows.all());
    let length = 100.min(rows.all());
    vec![
        BenchSection::repeated(plan, "update_of_key", 50_000, move |index| {
            ask(format!("UPDATE bench1 SET id3 = {} WHERE id = {}", rows.all() + index, id(index)))
        }),
        BenchSection::repeated(plan, "update_of_key_big", 501, move |index| {
            let from = rows.somewhere(index, length);
            ask(format!("UPDATE bench1 SET id3 = id3 + 1 WHERE id BETWEEN {from} AND {}", from + length - 1))
        }),
        BenchSection::repeated(plan, "update_with_key", 300_000, move |index| {
            let id = id(index);
            ask(format!("UPDATE bench1 SET dummy1 = 'changed {}' WHERE id = {id} AND id2 = {id}", index % 1000))
        }),
        BenchSection::repeated(plan, "update_with_key_prefix", 100_000, move |index| {
            ask(format!("UPDATE bench1 SET dummy1 = 'changed {}' WHERE id = {}", index % 1000, id(index)))
        }),
        BenchSection::repeated(plan, "update_big", 10, |index| {
            ask(format!("UPDATE bench1 SET dummy1 = 'all changed {index}'"))
        }),
    ]
}

/// Copies with a single-column key and with a two-column key, joined with the table.
fn joins(plan: &SectionPlan, rows: RowNumbers) -> Vec<BenchSection> {
    let dialect = plan.dialect;
    let copy = |table: &str| ask(format!("INSERT INTO {table} ({COLUMNS}) SELECT {COLUMNS} FROM bench1"));
    let copies = vec![create(dialect, "bench2"), create(dialect, "bench3"), create_index("bench3")];
    let joined = |to: &str, on: &str, condition: &str| {
        format!("SELECT COUNT(a.id), COUNT(b.id) FROM bench1 a LEFT JOIN {to} b ON {on}{condition}")
    };
    let repeated_query =
        |name: &'static str, sql: String| BenchSection::repeated(plan, name, 10, move |_| query(sql.clone(), 1));
    let length = 100.min(rows.all());
    vec![
        BenchSection::preparation("create_copies", copies),
        BenchSection::entire("insert_select_1_key", 1, move |_| copy("bench2")),
        BenchSection::entire("insert_select_2_keys", 1, move |_| copy("bench3")),
        repeated_query("outer_join_on_key", joined("bench2", "a.id = b.id AND a.id2 = b.id2", "")),
        repeated_query("outer_join", joined("bench3", "a.id3 = b.id", "")),
        repeated_query("outer_join_found", joined("bench3", "a.id3 = b.id", " WHERE b.id IS NOT NULL")),
        BenchSection::repeated(plan, "outer_join_not_found", 500, move |index| {
            let from = rows.somewhere(index, length);
            let far = rows.all() * 4;
            let sql = format!(
                "SELECT a.id FROM bench1 a LEFT JOIN bench2 b ON b.id = a.id + {far} \
                 WHERE a.id BETWEEN {from} AND {} AND b.id IS NULL",
                from + length - 1
            );
            query(sql, length)
        }),
        BenchSection::preparation("drop_copies", vec!["DROP TABLE bench2".into(), "DROP TABLE bench3".into()]),
    ]
}

fn deletes(plan: &SectionPlan, rows: RowNumbers) -> Vec<BenchSection> {
    let range = rows.all().div_ceil(RANGES);
    vec![
        BenchSection::repeated(plan, "delete_key", 10_000, move |index| {
            let id = scattered(index, rows.all());
            ask(format!("DELETE FROM bench1 WHERE id = {id} AND id2 = {id}"))
        }),
        BenchSection::entire("delete_range", RANGES, move |index| {
            let from = index * range;
            ask(format!("DELETE FROM bench1 WHERE id BETWEEN {from} AND {}", from + range - 1))
        }),
        BenchSection::preparation("drop_table", vec!["DROP TABLE bench1".into()]),
    ]
}
