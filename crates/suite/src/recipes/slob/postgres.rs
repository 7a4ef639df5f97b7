//! Statements for `PostgreSQL` 11 and later.
//!
//! A fill factor of 10 keeps every other row out of a block, and leaves room for the row's next versions: an update stays in
//! its block, and versions before it are pruned when the block is read again. Random bytes are chained hashes, which
//! nothing compresses and every version has.

use super::dialect::{Dialect, Places, columns, every_column, of_each, repeats, table};
use super::layout::{COLUMNS, Layout};

pub(super) struct Postgres;

/// Bytes that `sha512` gives.
const HASH: u64 = 64;

/// Bytes of this length from the expression `from`, which hashes are made of together with a number.
fn bytes(layout: &Layout, length: u64, from: &str) -> String {
    if layout.compressible {
        return format!("decode(repeat('706c696d736f6c6c', {}), 'hex')", repeats(length));
    }
    format!(
        "(SELECT string_agg(sha512({from} || int8send(g)), ''::bytea) FROM generate_series(1, {}) g)",
        length.div_ceil(HASH)
    )
}

fn slice(layout: &Layout, number: u64) -> String {
    format!("substr(v, {}, {})", (number - 1) * layout.column + 1, layout.column)
}

impl Dialect for Postgres {
    fn table(&self, layout: &Layout, schema: u32) -> Vec<String> {
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

    fn fill(&self, layout: &Layout, schema: u32, (from, to): Places) -> String {
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

    fn finish(&self, layout: &Layout, schema: u32) -> Vec<String> {
        let name = table(schema);
        vec![
            format!("CREATE UNIQUE INDEX {name}_k ON {name} (k)"),
            // Frozen rows have nothing left that reading them would write.
            format!("VACUUM (FREEZE, ANALYZE) {name}"),
            procedure(layout, schema),
        ]
    }

    fn count(&self, layout: &Layout) -> String {
        let block = layout.block;
        of_each(layout, |schema| {
            let name = table(schema);
            format!("SELECT {schema}, (SELECT count(*) FROM {name}), pg_relation_size('{name}') / {block}")
        })
    }
}

/// Calls the loop below.
pub(super) fn call(schema: u32, update_pct: u32, seed: u64, burst_us: u64) -> String {
    // The server takes numbers with a sign.
    format!("CALL slob_work_{schema}({burst_us}, {}, {update_pct}, NULL)", seed >> 11)
}

/// The loop: each unit of work appends its kind, when it began and how long it took, in microseconds.
///
/// Settings are of the session: a procedure that has some of its own may not commit. A read of a mixed load commits, too, as
/// its snapshot would otherwise keep old versions of rows in their blocks.
fn procedure(layout: &Layout, schema: u32) -> String {
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
    format!(
        "CREATE PROCEDURE slob_work_{schema}(burst bigint, seed bigint, pct integer, INOUT told text) LANGUAGE plpgsql AS $$
DECLARE
  began timestamptz; t1 timestamptz; t2 timestamptz; t3 timestamptz;
  units bigint[] := '{{}}'; i integer := 0; n bigint; r bigint; v bytea; seen bigint;
BEGIN
  PERFORM set_config('enable_seqscan', 'off', false), set_config('enable_bitmapscan', 'off', false),
    set_config('plan_cache_mode', 'force_generic_plan', false), setseed(seed / 9007199254740992.0);
  n := coalesce(nullif(current_setting('plimsoll.unit', true), '')::bigint, seed % 100);
  began := clock_timestamp();
  LOOP
    {place}
    IF pct = 100 OR (n % 2 = 1 AND n % 100 / 2 < pct) THEN
      v := {value};
      t1 := clock_timestamp();
      UPDATE {name} SET {set} WHERE k > r - {unit} AND k < r;
      t2 := clock_timestamp();
      COMMIT;
      t3 := clock_timestamp();
      units[i + 1] := 1;
      units[i + 2] := extract(epoch FROM t1 - began) * 1000000;
      units[i + 3] := extract(epoch FROM t2 - t1) * 1000000;
      units[i + 4] := 2;
      units[i + 5] := extract(epoch FROM t2 - began) * 1000000;
      units[i + 6] := extract(epoch FROM t3 - t2) * 1000000;
      i := i + 6;
    ELSE
      t1 := clock_timestamp();
      SELECT sum(length(c2)) INTO seen FROM {name} WHERE k > r - {unit} AND k < r;
      t2 := clock_timestamp();
      units[i + 1] := 0;
      units[i + 2] := extract(epoch FROM t1 - began) * 1000000;
      units[i + 3] := extract(epoch FROM t2 - t1) * 1000000;
      i := i + 3;
      IF pct > 0 THEN COMMIT; END IF;
    END IF;
    n := n + 1;
    {think}
    EXIT WHEN extract(epoch FROM clock_timestamp() - began) * 1000000 >= burst;
  END LOOP;
  PERFORM set_config('plimsoll.unit', n::text, false);
  told := array_to_string(units, ' ');
END $$"
    )
}
