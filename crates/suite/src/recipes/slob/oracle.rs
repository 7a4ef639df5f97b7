//! Statements for Oracle Database 12.1 and later.
//!
//! A row uses little of its block, and PCTFREE 99 excludes other rows, as in SLOB. Procedures return results by an
//! implicit cursor.

use super::dialect::{Places, SlobDialect, columns, every_column, of_each, table};
use super::layout::{COLUMNS, SchemaLayout};
use crate::sql::filled;

pub(super) struct Oracle;

fn bytes(layout: &SchemaLayout) -> String {
    let length = layout.column;
    if layout.compressible {
        format!("RPAD('plimsoll', {length}, 'plimsoll')")
    } else {
        format!("DBMS_RANDOM.STRING('p', {length})")
    }
}

impl SlobDialect for Oracle {
    fn table(&self, layout: &SchemaLayout, schema: u32) -> Vec<String> {
        let typed = columns(COLUMNS, |number| format!("c{number} VARCHAR2({})", layout.column));
        vec![format!("CREATE TABLE {} (k NUMBER NOT NULL, {typed}) PCTFREE 99 NOCACHE NOCOMPRESS", table(schema))]
    }

    fn places_at_once(&self) -> u64 {
        1024
    }

    fn fill(&self, layout: &SchemaLayout, schema: u32, (from, to): Places) -> String {
        let numbers = format!("(SELECT {from} + LEVEL - 1 AS x FROM dual CONNECT BY LEVEL <= {}) n", to - from);
        let keys = layout.scatter(schema).sql(layout.system, &numbers, "x");
        let value = bytes(layout);
        format!(
            "INSERT INTO {} (k, {}) SELECT k, {} FROM {keys} ORDER BY x",
            table(schema),
            every_column(),
            columns(COLUMNS, |_| value.clone())
        )
    }

    fn finish(&self, layout: &SchemaLayout, schema: u32) -> Vec<String> {
        let name = table(schema);
        vec![
            format!("CREATE UNIQUE INDEX {name}_k ON {name} (k)"),
            format!("BEGIN DBMS_STATS.GATHER_TABLE_STATS(USER, '{}'); END;", name.to_uppercase()),
            procedure(layout, schema),
        ]
    }

    fn count(&self, layout: &SchemaLayout) -> String {
        of_each(layout, |schema| {
            format!(
                "SELECT {schema}, COUNT(*), COUNT(DISTINCT DBMS_ROWID.ROWID_RELATIVE_FNO(ROWID) || '.' || \
                 DBMS_ROWID.ROWID_BLOCK_NUMBER(ROWID)) FROM {}",
                table(schema)
            )
        })
    }
}

/// Statement that calls the loop of a schema.
pub(super) fn call(schema: u32, update_pct: u32, seed: u64, burst_us: u64) -> String {
    format!("CALL slob_work_{schema}({burst_us}, {}, {update_pct})", seed >> 33)
}

/// The loop inside the server. Each unit of work appends its kind, its start and its duration in microseconds.
fn procedure(layout: &SchemaLayout, schema: u32) -> String {
    let (name, unit) = (table(schema), layout.work_unit);
    let set = columns(layout.changed, |number| format!("c{number} = v"));
    let (first, count) = layout.ends();
    let mut place = format!("r := {first} + TRUNC(DBMS_RANDOM.VALUE * {count});");
    if let Some((frequency, first, count)) = layout.hot_ends() {
        place +=
            &format!(" IF MOD(n, {frequency}) = 0 THEN r := {first} + TRUNC(DBMS_RANDOM.VALUE * {count}); END IF;");
    }
    let think = layout.think.map_or_else(String::new, |think| {
        let (least, more) = (think.least.as_secs_f64(), (think.most - think.least).as_secs_f64());
        format!(
            "IF TRUNC(DBMS_RANDOM.VALUE * {}) = 0 THEN DBMS_SESSION.SLEEP({least} + DBMS_RANDOM.VALUE * {more}); END IF;",
            think.frequency
        )
    });
    let value = bytes(layout);
    filled(
        include_str!("oracle.sql"),
        &[
            ("schema", &schema.to_string()),
            ("name", &name),
            ("place", &place),
            ("value", &value),
            ("set", &set),
            ("unit", &unit.to_string()),
            ("think", &think),
            ("column", &layout.column.to_string()),
        ],
    )
}
