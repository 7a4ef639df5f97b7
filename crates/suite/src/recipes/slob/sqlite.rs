//! Statements for `SQLite`, which has no stored procedures: units of work are transactions in this process.
//!
//! A row fills its page: a second row does not fit, and overflow pages are not needed.

use super::dialect::{Places, SlobDialect, columns, every_column, of_each, repeats, table};
use super::layout::{COLUMNS, SchemaLayout};

pub(super) struct Sqlite;

impl SlobDialect for Sqlite {
    fn table(&self, _: &SchemaLayout, schema: u32) -> Vec<String> {
        let typed = columns(COLUMNS, |number| format!("c{number} BLOB NOT NULL"));
        vec![format!("CREATE TABLE {} (place INTEGER PRIMARY KEY, k INTEGER NOT NULL, {typed})", table(schema))]
    }

    fn places_at_once(&self) -> u64 {
        1024
    }

    fn fill(&self, layout: &SchemaLayout, schema: u32, (from, to): Places) -> String {
        let numbers = format!(
            "(WITH RECURSIVE n(x) AS (SELECT {from} UNION ALL SELECT x + 1 FROM n WHERE x < {}) SELECT x FROM n) n",
            to - 1
        );
        let keys = layout.scatter(schema).sql(layout.system, &numbers, "x");
        let length = layout.column;
        let value = if layout.compressible {
            let text = "plimsoll".repeat(repeats(length) as usize);
            format!("CAST('{}' AS BLOB)", &text[..length as usize])
        } else {
            format!("randomblob({length})")
        };
        format!(
            "INSERT INTO {} (place, k, {}) SELECT x, k, {} FROM {keys}",
            table(schema),
            every_column(),
            columns(COLUMNS, |_| value.clone())
        )
    }

    fn finish(&self, _: &SchemaLayout, schema: u32) -> Vec<String> {
        let name = table(schema);
        vec![format!("CREATE UNIQUE INDEX {name}_k ON {name} (k)"), format!("ANALYZE {name}")]
    }

    fn count(&self, layout: &SchemaLayout) -> String {
        of_each(layout, |schema| {
            let name = table(schema);
            format!(
                "SELECT {schema}, (SELECT count(*) FROM {name}), (SELECT count(*) FROM dbstat WHERE name = '{name}' AND pagetype \
                 <> 'internal')"
            )
        })
    }
}

/// Query of the keys between two parameters.
pub(super) fn select(schema: u32) -> String {
    format!("SELECT sum(length(c2)) FROM {} WHERE k > ? AND k < ?", table(schema))
}

/// Update of the columns of the keys between the last two parameters.
pub(super) fn update(layout: &SchemaLayout, schema: u32) -> String {
    let set = columns(layout.changed, |number| format!("c{number} = ?"));
    format!("UPDATE {} SET {set} WHERE k > ? AND k < ?", table(schema))
}
