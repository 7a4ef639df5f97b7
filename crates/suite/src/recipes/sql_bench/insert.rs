//! Test insert: a table of three times 100,000 rows, queried, changed, joined and emptied.
//!
//! If sections execute a share of their count, the remaining rows are bulk-loaded before the queries, so that each
//! query costs the same as in the full benchmark.

mod changes;
mod many_keys;
mod queries;

use std::sync::Arc;

use super::dialect::SqlDialect;
use super::section::{BenchSection, Counting, SectionPlan, ask, scattered};
use crate::sql::RequestsAt;
use plimsoll_record::BenchNote;

/// Rows of each of three orders: ascending, descending, scattered.
const EACH: u64 = 100_000;
const COLUMNS: &str = "id, id2, id3, dummy1";
/// Rows per bulk-loading statement.
const FILLED: u64 = 250;

#[derive(Clone, Copy, Debug)]
struct RowNumbers {
    /// Rows of each order.
    each: u64,
    /// Rows of each order inserted individually; the rest is bulk-loaded.
    alone: u64,
}

impl RowNumbers {
    fn of(plan: &SectionPlan) -> Self {
        let each = plan.rows(EACH);
        Self { each, alone: plan.times(EACH).min(each) }
    }

    const fn all(self) -> u64 {
        3 * self.each
    }

    /// Key of the row inserted as number `index`: individual inserts first, then bulk loading.
    const fn id(self, index: u64) -> u64 {
        let (order, place) = if index < 3 * self.alone {
            (index / self.alone, index % self.alone)
        } else {
            let (index, others) = (index - 3 * self.alone, self.each - self.alone);
            (index / others, self.alone + index % others)
        };
        match order {
            0 => place,
            1 => 2 * self.each - 1 - place,
            _ => 2 * self.each + scattered(place, self.each),
        }
    }

    /// Second indexed number of a row, also unique.
    const fn id3(self, id: u64) -> u64 {
        scattered(id, self.all())
    }

    fn row(self, id: u64) -> String {
        format!("{id}, {id}, {}, 'ABCDEFGHIJ'", self.id3(id))
    }

    /// First of `length` consecutive numbers at a scattered position.
    const fn somewhere(self, index: u64, length: u64) -> u64 {
        scattered(index, self.all() - length + 1)
    }
}

pub(super) fn build_sections(plan: &SectionPlan) -> Vec<BenchSection> {
    let (dialect, rows) = (plan.dialect, RowNumbers::of(plan));
    let mut sections = vec![
        BenchSection::preparation("create_table", vec![create(dialect, "bench1"), create_index("bench1")]),
        BenchSection::counted("insert", 3 * EACH, 3 * rows.alone, move |index| {
            ask(format!("INSERT INTO bench1 ({COLUMNS}) VALUES ({})", rows.row(rows.id(index))))
        }),
        BenchSection::begun("remaining_rows", Counting::Preparation, move |ledger| {
            let done = ledger.done("insert");
            filled(dialect, "bench1", COLUMNS, done..rows.all(), move |index| rows.row(rows.id(index)))
        }),
        BenchSection::repeated(plan, "insert_duplicates", EACH, move |index| {
            let id = scattered(index, rows.all());
            ask(dialect.insert_unless_taken("bench1", "id, id2", COLUMNS, &rows.row(id)))
        })
        .noting(Some(BenchNote::IgnoredDuplicates)),
    ];
    sections.extend(queries::sections(plan, rows));
    sections.extend(changes::sections(plan, rows));
    sections.extend(many_keys::sections(plan));
    sections
}

fn create(dialect: SqlDialect, table: &str) -> String {
    let int = dialect.int();
    format!(
        "CREATE TABLE {table} (id {int} NOT NULL, id2 {int} NOT NULL, id3 {int} NOT NULL, dummy1 CHAR(30), \
         PRIMARY KEY (id, id2))"
    )
}

fn create_index(table: &str) -> String {
    format!("CREATE INDEX {table}_id3 ON {table} (id3)")
}

/// Statements that bulk-load a range of rows: their number, and a function for each.
fn filled(
    dialect: SqlDialect,
    table: &'static str,
    columns: &'static str,
    rows: std::ops::Range<u64>,
    row: impl Fn(u64) -> String + Send + Sync + 'static,
) -> (u64, RequestsAt) {
    let statements = (rows.end.saturating_sub(rows.start)).div_ceil(FILLED);
    let at = move |index: u64| {
        let from = rows.start + index * FILLED;
        ask(dialect.insert_rows(table, columns, (from..(from + FILLED).min(rows.end)).map(&row)))
    };
    (statements, Arc::new(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_is_inserted_once_with_any_bulk_share() {
        for (each, alone) in [(10, 10), (10, 3), (100, 1), (1000, 999)] {
            let rows = RowNumbers { each, alone };
            let mut ids: Vec<u64> = (0..rows.all()).map(|index| rows.id(index)).collect();
            assert_eq!((ids[0], ids[alone as usize]), (0, 2 * each - 1), "rising, then falling");
            ids.sort_unstable();
            assert!(ids.iter().copied().eq(0..3 * each), "{rows:?}");
            let mut others: Vec<u64> = ids.iter().map(|id| rows.id3(*id)).collect();
            others.sort_unstable();
            assert!(others.iter().copied().eq(0..3 * each), "{rows:?}");
            assert!((0..500).all(|index| rows.somewhere(index, 10) + 10 <= rows.all()));
        }
    }
}
