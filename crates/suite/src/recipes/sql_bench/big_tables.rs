//! Test big-tables: a table with a thousand columns.

use std::fmt::Write as _;
use std::sync::Arc;

use super::section::{BenchSection, SectionPlan, ask, query};

/// Number of columns: the maximum of Oracle, and within the limits of the others.
const COLUMNS: u64 = 1000;

pub(super) fn sections(plan: &SectionPlan) -> Vec<BenchSection> {
    let columns = plan.rows(COLUMNS);
    let int = plan.dialect.int();
    let defined: Vec<String> = (1..=columns).map(|column| format!("i{column} {int}")).collect();
    let names: Arc<str> = (1..=columns).map(|column| format!("i{column}")).collect::<Vec<_>>().join(", ").into();
    let listed = Arc::clone(&names);
    let values = move |row: u64| {
        let mut text = String::with_capacity(columns as usize * 5);
        for column in 0..columns {
            let comma = if column == 0 { "" } else { "," };
            let _ = write!(text, "{comma}{}", (row + column) % 1000);
        }
        text
    };
    let create =
        vec![format!("CREATE TABLE wide ({})", defined.join(", ")), format!("INSERT INTO wide VALUES ({})", values(0))];
    vec![
        BenchSection::preparation("create_table", create),
        // All columns by a star, and by their names: a thousand executions each.
        BenchSection::repeated(plan, "select_many_fields", 2000, move |index| match index % 2 {
            0 => query("SELECT * FROM wide".into(), 1),
            _ => query(format!("SELECT {listed} FROM wide"), 1),
        }),
        BenchSection::repeated(plan, "insert_many_fields", 2000, move |index| match index % 2 {
            0 => ask(format!("INSERT INTO wide VALUES ({})", values(index))),
            _ => ask(format!("INSERT INTO wide ({names}) VALUES ({})", values(index))),
        }),
        BenchSection::preparation("drop_table", vec!["DROP TABLE wide".into()]),
    ]
}
