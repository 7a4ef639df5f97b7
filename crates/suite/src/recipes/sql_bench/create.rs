//! Test create: ten thousand tables created, counted and dropped.
//!
//! The only test of the eight that depends on storage more than on the processor.

use std::sync::Arc;

use plimsoll_database::System;
use plimsoll_record::BenchNote;

use super::dialect::SqlDialect;
use super::section::{BenchSection, Counting, SectionPlan, ask, query};
use crate::sql::SqlRequest;

/// Section that creates the tables used by later sections and verdicts.
pub(super) const MANY: &str = "create_MANY_tables";
const COUNT: &str = "select_group_when_MANY_tables";
const DROP: &str = "drop_table_when_MANY_tables";
/// Tables per section at full scale.
const TABLES: u64 = 10_000;
/// Columns of the table with many keys.
const KEYS: u64 = 16;

pub(super) fn sections(plan: &SectionPlan) -> Vec<BenchSection> {
    let dialect = plan.dialect;
    let body: Arc<str> = plain(dialect).into();
    let (first, again) = (Arc::clone(&body), body);
    let keyed: Arc<str> = create_keyed(dialect).into();
    let count = plan.times(TABLES);
    let figure = Counting::Figure { full: TABLES, at_once: 1 };
    let left = |drop: bool| {
        move |ledger: &super::section::Ledger| {
            // Limited to the tables created within the time limit.
            let created = ledger.done(MANY);
            if drop {
                let dropped = ledger.done(DROP);
                let at = move |index: u64| ask(format!("DROP TABLE made_{}", dropped + index));
                (created - dropped, Arc::new(at) as crate::sql::RequestsAt)
            } else {
                let at = move |index: u64| query(format!("SELECT COUNT(*) FROM made_{index}"), 1);
                (created, Arc::new(at) as crate::sql::RequestsAt)
            }
        }
    };
    let note = (dialect.0 != System::Mysql).then_some(BenchNote::UniqueKeys);
    vec![
        BenchSection::counted(MANY, TABLES, count, move |index| ask(format!("CREATE TABLE made_{index} ({first})"))),
        BenchSection::begun(COUNT, figure, left(false)),
        BenchSection::begun(DROP, figure, left(true)),
        BenchSection::begun("remaining_tables", Counting::Preparation, left(true)),
        BenchSection::counted("create+drop", TABLES, count, move |index| both(index, &again)),
        BenchSection::counted("create_key+drop", TABLES, count, move |index| both(index, &keyed)).noting(note),
    ]
}

fn both(index: u64, body: &str) -> Vec<SqlRequest> {
    let name = format!("passing_{index}");
    vec![SqlRequest::text(format!("CREATE TABLE {name} ({body})")), SqlRequest::text(format!("DROP TABLE {name}"))]
}

fn plain(dialect: SqlDialect) -> String {
    format!(
        "i {} NOT NULL PRIMARY KEY, d {}, f {}, s CHAR(10), v {}",
        dialect.int(),
        dialect.double(),
        dialect.float(),
        dialect.varchar(100)
    )
}

fn create_keyed(dialect: SqlDialect) -> String {
    let int = dialect.int();
    let column = |column: u64| match (dialect.0, column) {
        (_, 0) => format!("k0 {int} NOT NULL PRIMARY KEY"),
        (System::Mysql, _) => format!("k{column} {int} NOT NULL, INDEX key_{column} (k{column})"),
        _ => format!("k{column} {int} NOT NULL UNIQUE"),
    };
    (0..KEYS).map(column).collect::<Vec<_>>().join(", ")
}
