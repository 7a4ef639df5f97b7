//! Statements for `PostgreSQL` 11 and later.
//!
//! A fill factor of 10 excludes other rows from a block and leaves room for new versions of its row: an update stays in
//! its block, and older versions are pruned at the next read. Random bytes are chained hashes, which are incompressible
//! and available in all versions.

use super::dialect::{Places, SlobDialect, columns, every_column, of_each, repeats, table};
use super::layout::{COLUMNS, SchemaLayout};
use crate::sql::filled;

pub(super) struct Postgres;

/// Size of a `sha512` hash.
const HASH: u64 = 64;

/// Expression for bytes of this length, from hashes of `from` and a number.
fn bytes(layout: &SchemaLayout, length: u64, from: &str) -> String {
    if layout.compressible {
        return format!("decode(repeat('706c696d736f6c6c', {}), 'hex')", repeats(length));
    }
    format!(
        "(SELECT string_agg(sha512({from} || int8send(g)), ''::bytea) FROM generate_series(1, {}) g)",
        length.div_ceil(HASH)
    )
}

fn slice(layout: &SchemaLayout, number: u64) -> String {
    format!("substr(v, {}, {})", (number - 1) * layout.column + 1, layout.column)
}

impl SlobDialect for Postgres {
    fn table(&self, layout: &SchemaLayout, schema: u32) -> Vec<String> {
        let name = table(schema);
        let typed = columns(COLUMNS, |number| format!("c{number} bytea NOT NULL"));
        let plain = columns(COLUMNS, |number| format!("ALTER c{number} SET STORAGE PLAIN"));
        let _ = layout;
        vec![
            format!(
                "CREATE TABLE {name} (k bigint NOT NULL, {typed}) WITH (fillfactor = 10, autovacuum_enabled = off, \
                 toast.autovacuum_enabled = off)"
            ),
            format!("ALTER TABLE {name} {plain}"),
        ]
    }

    fn places_at_once(&self) -> u64 {
        1024
    }

    fn fill(&self, layout: &SchemaLayout, schema: u32, (from, to): Places) -> String {
        let numbers = format!("generate_series({from}::bigint, {}::bigint) AS g(x)", to - 1);
        let keys = layout.scatter(schema).sql(layout.system, &numbers, "x");
        let salted = format!("int8send(k) || int8send({}::bigint)", layout.salt(schema));
        format!(
            "INSERT INTO {} (k, {}) SELECT k, {} FROM (SELECT k, {} AS v FROM {keys} OFFSET 0) r",
            table(schema),
            every_column(),
            columns(COLUMNS, |number| slice(layout, number)),
            bytes(layout, layout.row(), &salted)
        )
    }

    fn finish(&self, layout: &SchemaLayout, schema: u32) -> Vec<String> {
        let name = table(schema);
        vec![
            format!("CREATE UNIQUE INDEX {name}_k ON {name} (k)"),
            // Frozen rows need no hint-bit writes when they are read.
            format!("VACUUM (FREEZE, ANALYZE) {name}"),
            procedure(layout, schema),
        ]
    }

    fn count(&self, layout: &SchemaLayout) -> String {
        let block = layout.block;
        of_each(layout, |schema| {
            let name = table(schema);
            format!("SELECT {schema}, (SELECT count(*) FROM {name}), pg_relation_size('{name}') / {block}")
        })
    }
}

/// Statement that calls the loop of a schema.
pub(super) fn call(schema: u32, update_pct: u32, seed: u64, burst_us: u64) -> String {
    // The parameter is a signed integer.
    format!("CALL slob_work_{schema}({burst_us}, {}, {update_pct}, NULL)", seed >> 11)
}

/// The loop inside the server. Each unit of work appends its kind, its start and its duration in microseconds.
///
/// Settings are those of the session, because a procedure with its own settings cannot commit. Reads of a mixed load
/// commit as well, because their snapshot would otherwise keep old row versions in the blocks.
fn procedure(layout: &SchemaLayout, schema: u32) -> String {
    let (name, unit, changed) = (table(schema), layout.work_unit, layout.changed);
    let value = bytes(layout, changed * layout.column, "int8send(n) || int8send(seed)");
    let set = columns(changed, |number| format!("c{number} = {}", slice(layout, number)));
    let (first, count) = layout.ends();
    let mut place = format!("r := {first} + floor(random() * {count});");
    if let Some((frequency, first, count)) = layout.hot_ends() {
        place += &format!(" IF n % {frequency} = 0 THEN r := {first} + floor(random() * {count}); END IF;");
    }
    let think = layout.think.map_or_else(String::new, |think| {
        let (least, more) = (think.least.as_secs_f64(), (think.most - think.least).as_secs_f64());
        format!(
            "IF floor(random() * {}) = 0 THEN PERFORM pg_sleep({least} + random() * {more}); END IF;",
            think.frequency
        )
    });
    filled(
        include_str!("postgres.sql"),
        &[
            ("schema", &schema.to_string()),
            ("name", &name),
            ("place", &place),
            ("value", &value),
            ("set", &set),
            ("unit", &unit.to_string()),
            ("think", &think),
        ],
    )
}
