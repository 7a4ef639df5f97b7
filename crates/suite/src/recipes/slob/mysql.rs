//! Statements for `MariaDB` and `MySQL` with `InnoDB` tables.
//!
//! `InnoDB` stores at least two rows per page. Therefore every row with a key is followed by a row without a key that
//! is never read, and the two fill a page. The primary key is the place, so that pages are in loading order; keys are a
//! second, unique index.

use super::dialect::{Places, SlobDialect, columns, every_column, of_each, repeats, table};
use super::layout::{COLUMNS, SchemaLayout};
use crate::sql::filled;

pub(super) struct Mysql;

/// Maximum result of `RANDOM_BYTES`, and size of a hash.
const RANDOM_BYTES_MAX: u64 = 1024;
const HASH: u64 = 64;

/// Expression for bytes of this length. `from` is an expression to be hashed, distinct per row.
fn bytes(layout: &SchemaLayout, length: u64, from: &str) -> String {
    if layout.compressible {
        return format!("LEFT(REPEAT('plimsoll', {}), {length})", repeats(length));
    }
    let (part, of): (u64, &dyn Fn(u64, u64) -> String) = if layout.has_random_bytes {
        (RANDOM_BYTES_MAX, &|_, length| format!("RANDOM_BYTES({length})"))
    } else {
        (HASH, &|number, length| format!("LEFT(UNHEX(SHA2(CONCAT({from}, '/{number}'), 512)), {length})"))
    };
    let parts = (0..length.div_ceil(part)).map(|number| of(number, part.min(length - number * part)));
    let parts = parts.collect::<Vec<_>>();
    if let [one] = &parts[..] { one.clone() } else { format!("CONCAT({})", parts.join(", ")) }
}

impl SlobDialect for Mysql {
    fn table(&self, layout: &SchemaLayout, schema: u32) -> Vec<String> {
        let typed = columns(COLUMNS, |number| format!("c{number} VARBINARY({}) NOT NULL", layout.column));
        vec![format!(
            "CREATE TABLE {} (place BIGINT NOT NULL PRIMARY KEY, k BIGINT, {typed}) ENGINE = InnoDB ROW_FORMAT = DYNAMIC",
            table(schema)
        )]
    }

    fn places_at_once(&self) -> u64 {
        // The statement inserts twice as many rows by recursion, which both systems limit to 1,000 steps.
        256
    }

    fn fill(&self, layout: &SchemaLayout, schema: u32, (from, to): Places) -> String {
        let numbers = format!(
            "(WITH RECURSIVE n AS (SELECT {} AS x UNION ALL SELECT x + 1 FROM n WHERE x < {}) SELECT x FROM n) n",
            from * 2,
            to * 2 - 1
        );
        let keys = layout.scatter(schema).sql(layout.system, &numbers, "(x >> 1)");
        let salt = layout.salt(schema);
        format!(
            "INSERT INTO {} (place, k, {}) SELECT x, IF(x & 1, NULL, k), {} FROM {keys}",
            table(schema),
            every_column(),
            columns(COLUMNS, |number| bytes(layout, layout.column, &format!("x, '/{salt}/{number}'")))
        )
    }

    fn finish(&self, layout: &SchemaLayout, schema: u32) -> Vec<String> {
        let name = table(schema);
        vec![
            format!("CREATE UNIQUE INDEX {name}_k ON {name} (k)"),
            format!("ANALYZE TABLE {name}"),
            procedure(layout, schema),
        ]
    }

    fn count(&self, layout: &SchemaLayout) -> String {
        let block = layout.block;
        of_each(layout, |schema| {
            let name = table(schema);
            format!(
                "SELECT {schema}, (SELECT COUNT(k) FROM {name}), DATA_LENGTH DIV {block} FROM information_schema.TABLES WHERE \
                 TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '{name}'"
            )
        })
    }
}

/// Statement that calls the loop of a schema.
pub(super) fn call(schema: u32, update_pct: u32, seed: u64, burst_us: u64) -> String {
    // State of the server's generator: two numbers of thirty bits.
    let (one, other) = (seed >> 34, seed & 0x3fff_ffff);
    format!("CALL slob_work_{schema}({burst_us}, {one}, {other}, {update_pct})")
}

/// The loop inside the server. Each unit of work appends its kind, its start and its duration in microseconds.
///
/// Text is collected in parts, because appending to a long text copies it. Reads are READ COMMITTED, as in Oracle.
fn procedure(layout: &SchemaLayout, schema: u32) -> String {
    let (name, unit, changed) = (table(schema), layout.work_unit, layout.changed);
    let value = bytes(layout, changed * layout.column, "n, '/', seed1");
    let set = columns(changed, |number| {
        format!("c{number} = SUBSTRING(v, {}, {})", (number - 1) * layout.column + 1, layout.column)
    });
    let (first, count) = layout.ends();
    let mut place = format!("SET r = {first} + FLOOR(RAND() * {count});");
    if let Some((frequency, first, count)) = layout.hot_ends() {
        place += &format!(" IF n % {frequency} = 0 THEN SET r = {first} + FLOOR(RAND() * {count}); END IF;");
    }
    let think = layout.think.map_or_else(String::new, |think| {
        let (least, more) = (think.least.as_secs_f64(), (think.most - think.least).as_secs_f64());
        format!("IF FLOOR(RAND() * {}) = 0 THEN DO SLEEP({least} + RAND() * {more}); END IF;", think.frequency)
    });
    filled(
        include_str!("mysql.sql"),
        &[
            ("schema", &schema.to_string()),
            ("name", &name),
            ("place", &place),
            ("value", &value),
            ("set", &set),
            ("unit", &unit.to_string()),
            ("think", &think),
            ("length", &(changed * layout.column).to_string()),
        ],
    )
}
