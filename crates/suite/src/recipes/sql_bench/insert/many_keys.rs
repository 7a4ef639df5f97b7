//! End of the test insert: a table with 16 keys, and multi-row inserts.

use super::super::section::{BenchSection, Counting, SectionPlan, ask, scattered};
use super::filled;

/// Rows of the table with many keys.
const ROWS: u64 = 100_000;
/// Rows per multi-row insert.
const AT_ONCE: u64 = 100;
/// Number of indexed columns besides the primary key.
const KEYS: u64 = 15;

pub(super) fn sections(plan: &SectionPlan) -> Vec<BenchSection> {
    let dialect = plan.dialect;
    let int = dialect.int();
    let rows = plan.rows(ROWS);
    let alone = plan.times(ROWS).min(rows);
    let numbers: Vec<String> = (1..=KEYS).map(|key| format!("f{key} {int} NOT NULL")).collect();
    let mut create = vec![format!("CREATE TABLE keyed (id {int} NOT NULL PRIMARY KEY, {})", numbers.join(", "))];
    create.extend((1..=KEYS).map(|key| format!("CREATE INDEX keyed_{key} ON keyed (f{key})")));
    let columns: &'static str = "id, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15";
    let updates = 256.min(rows);
    let multiple = plan.times(ROWS).div_ceil(AT_ONCE);
    vec![
        BenchSection::preparation("create_keyed", create),
        BenchSection::counted("insert_key", ROWS, alone, move |index| {
            ask(format!("INSERT INTO keyed ({columns}) VALUES ({})", row(index, rows)))
        }),
        BenchSection::begun("remaining_keyed", Counting::Preparation, move |ledger| {
            filled(dialect, "keyed", columns, ledger.done("insert_key")..rows, move |index| row(index, rows))
        }),
        BenchSection::counted("update_of_primary_key_many_keys", 256, updates, move |index| {
            ask(format!("UPDATE keyed SET id = {} WHERE id = {index}", rows + index))
        }),
        BenchSection::entire("delete_big_many_keys", 1, move |_| {
            ask(format!("DELETE FROM keyed WHERE f1 < {}", rows / 2))
        }),
        BenchSection::entire("delete_all_many_keys", 1, |_| ask("DELETE FROM keyed".into())),
        BenchSection::preparation("drop_keyed", vec!["DROP TABLE keyed".into(), super::create(dialect, "many")]),
        BenchSection::counted("multiple_value_insert", ROWS, multiple, move |index| {
            let from = index * AT_ONCE;
            let values = (from..from + AT_ONCE).map(|id| format!("{id}, {id}, {id}, 'ABCDEFGHIJ'"));
            ask(dialect.insert_rows("many", super::COLUMNS, values))
        })
        .at_once(AT_ONCE),
        BenchSection::preparation("drop_many", vec!["DROP TABLE many".into()]),
    ]
}

/// Values of a row: its number, and fifteen numbers that alternately ascend, descend and scatter.
fn row(id: u64, rows: u64) -> String {
    let mut text = id.to_string();
    for key in 1..=KEYS {
        let number = match key % 3 {
            0 => (id + key) % rows,
            1 => scattered(id + key, rows),
            _ => rows - 1 - id,
        };
        text.push_str(", ");
        text.push_str(&number.to_string());
    }
    text
}
