//! SLOB's statements, from the SQL file of each system. A schema is a table with its index, both named by its number.
//!
//! A row takes a block. In PostgreSQL, a fill factor of 10 excludes other rows and leaves room for new versions of the
//! row: an update stays in its block, and older versions are pruned at the next read. InnoDB stores at least two rows
//! per page: every row with a key is followed by a row without a key that is never read, and the primary key is the
//! place, so that pages are in loading order. In SQLite, a second row does not fit, and overflow pages are not needed. In
//! Oracle, PCTFREE 99 excludes other rows, as in SLOB.
//!
//! Except in SQLite, the loop of units of work is a procedure inside the server (the last statement `finish`), which
//! returns the kind, the start and the duration in microseconds of each unit. PostgreSQL's settings are those of the
//! session, because a procedure with its own settings cannot commit; reads of a mixed load commit as well, because their
//! snapshot would otherwise keep old row versions in the blocks. MySQL's reads are READ COMMITTED, as in Oracle, and text
//! is collected in parts, because appending to a long text copies it. Oracle's result is an implicit cursor.

use plimsoll_database::System;

use super::layout::{COLUMNS, SchemaLayout};
use crate::sql::{all_named, fill_template, named};

/// A half-open range of key places.
pub(super) type Places = (u64, u64);

/// Maximum result of `RANDOM_BYTES` of MySQL, and size of a hash of 512 bits.
const RANDOM_BYTES_MAX: u64 = 1024;
const HASH: u64 = 64;

/// Places per loading statement: large enough to be efficient, small enough to show progress.
pub(super) const fn places_at_once(system: System) -> u64 {
    match system {
        // The statement inserts twice as many rows by recursion, which is limited to 1,000 steps.
        System::Mysql => 256,
        _ => 1024,
    }
}

const fn file(system: System) -> &'static str {
    match system {
        System::Postgres => include_str!("postgres.sql"),
        System::Mysql => include_str!("mysql.sql"),
        System::Sqlite => include_str!("sqlite.sql"),
        System::Oracle => include_str!("oracle.sql"),
    }
}

/// List of `of(1)`, `of(2)` and so on, for each column.
fn columns(count: u64, of: impl Fn(u64) -> String) -> String {
    (1..=count).map(of).collect::<Vec<_>>().join(", ")
}

/// Statements for schemas numbered from 1.
impl SchemaLayout {
    pub(super) fn create(&self, schema: u32) -> Vec<String> {
        let column = named(file(self.system), "column");
        let typed = columns(COLUMNS, |number| column.replace("{number}", &number.to_string()));
        let plain = columns(COLUMNS, |number| format!("ALTER c{number} SET STORAGE PLAIN"));
        self.statements("table", schema, &[("typed", typed), ("plain", plain)])
    }

    /// Fills places of the table.
    pub(super) fn fill(&self, schema: u32, (from, to): Places) -> String {
        self.fill_range(schema, &from.to_string(), &to.to_string())
    }

    /// Fills places of the table, a half-open range of expressions.
    pub(super) fn fill_range(&self, schema: u32, from: &str, to: &str) -> String {
        let numbers = self.statement("numbers", schema, &[("from", from.to_owned()), ("to", format!("({to})"))]);
        // In MySQL, the numbers include those of the rows without a key.
        let place = if self.system == System::Mysql { "(x >> 1)" } else { "x" };
        let salt = self.salt(schema);
        let values = [
            ("keys", self.scatter(schema).sql(self.system, &numbers, place)),
            ("columns", columns(COLUMNS, |number| format!("c{number}"))),
            ("values", columns(COLUMNS, |number| self.bytes(self.column, &format!("x, '/{salt}/{number}'")))),
            ("value", self.bytes(self.row(), &format!("int8send(k) || int8send({salt}::bigint)"))),
            ("slices", columns(COLUMNS, |number| self.slice(number))),
        ];
        self.statement("fill", schema, &values)
    }

    /// Statements after loading: index, statistics, and the loop if it runs inside the server.
    pub(super) fn finish(&self, schema: u32) -> Vec<String> {
        let (from, set): (&str, &dyn Fn(u64) -> String) = match self.system {
            System::Mysql => ("n, '/', seed1", &|number| self.slice(number)),
            System::Oracle => ("", &|_| "v".into()),
            _ => ("int8send(n) || int8send(seed)", &|number| self.slice(number)),
        };
        let length = if self.system == System::Oracle { self.column } else { self.changed * self.column };
        let values = [
            ("place", self.place(schema)),
            ("think", self.think_time(schema)),
            ("value", self.bytes(length, from)),
            ("length", length.to_string()),
            ("set", columns(self.changed, |number| format!("c{number} = {}", set(number)))),
            ("unit", self.work_unit.to_string()),
        ];
        self.statements("finish", schema, &values)
    }

    /// Query with a row per schema: number, rows with a key, blocks of the table.
    pub(super) fn count(&self) -> String {
        let counts: Vec<String> = (1..=self.schemas).map(|schema| self.statement("count", schema, &[])).collect();
        counts.join(" UNION ALL ")
    }

    /// Calls the loop inside the server with the seed of its places, for about `burst_us` microseconds.
    pub(super) fn call(&self, schema: u32, update_pct: u32, seed: u64, burst_us: u64) -> String {
        let seed = match self.system {
            // State of the server's generator: two numbers of thirty bits.
            System::Mysql => format!("{}, {}", seed >> 34, seed & 0x3fff_ffff),
            System::Oracle => (seed >> 33).to_string(),
            // The parameter is a signed integer.
            _ => (seed >> 11).to_string(),
        };
        let values = [("burst", burst_us.to_string()), ("seed", seed), ("pct", update_pct.to_string())];
        self.statement("call", schema, &values)
    }

    /// SQLite: query of the keys between two parameters, and update of those between the last two.
    pub(super) fn select_and_update(&self, schema: u32) -> [String; 2] {
        let set = columns(self.changed, |number| format!("c{number} = ?"));
        ["select", "update"].map(|name| self.statement(name, schema, &[("set", set.clone())]))
    }

    /// The end of the next range, as a variable of the loop; SQLite's loop runs in this process.
    fn place(&self, schema: u32) -> String {
        if self.system == System::Sqlite {
            return String::new();
        }
        let range = |first: u64, count: u64| [("first", first.to_string()), ("count", count.to_string())];
        let (first, count) = self.ends();
        let place = self.statement("place", schema, &range(first, count));
        let hot = self.hot_ends().map(|(frequency, first, count)| {
            let [first, count] = range(first, count);
            self.statement("hot", schema, &[first, count, ("frequency", frequency.to_string())])
        });
        place + &hot.unwrap_or_default()
    }

    fn think_time(&self, schema: u32) -> String {
        let Some(think) = self.think else { return String::new() };
        let values = [
            ("frequency", think.frequency.to_string()),
            ("least", think.least.as_secs_f64().to_string()),
            ("more", (think.max - think.least).as_secs_f64().to_string()),
        ];
        self.statement("think", schema, &values)
    }

    /// Expression for incompressible bytes of this length; where they are hashes, of the expression `from`, which is
    /// distinct per row.
    fn bytes(&self, length: u64, from: &str) -> String {
        // At least as many repetitions of eight letters as the length needs.
        let repeats = length.div_ceil(8);
        match (self.system, self.compressible) {
            (System::Postgres, true) => format!("decode(repeat('706c696d736f6c6c', {repeats}), 'hex')"),
            // Available in all versions.
            (System::Postgres, false) => format!(
                "(SELECT string_agg(sha512({from} || int8send(g)), ''::bytea) FROM generate_series(1, {}) g)",
                length.div_ceil(HASH)
            ),
            (System::Mysql, true) => format!("LEFT(REPEAT('plimsoll', {repeats}), {length})"),
            (System::Mysql, false) => self.random_bytes(length, from),
            (System::Sqlite, true) => {
                format!("CAST('{}' AS BLOB)", &"plimsoll".repeat(repeats as usize)[..length as usize])
            }
            (System::Sqlite, false) => format!("randomblob({length})"),
            (System::Oracle, true) => format!("RPAD('plimsoll', {length}, 'plimsoll')"),
            (System::Oracle, false) => format!("DBMS_RANDOM.STRING('p', {length})"),
        }
    }

    /// MySQL's: random bytes, or hashes, in as many parts as the length needs.
    fn random_bytes(&self, length: u64, from: &str) -> String {
        let max = if self.has_random_bytes { RANDOM_BYTES_MAX } else { HASH };
        let part = |number: u64| match max.min(length - number * max) {
            part if self.has_random_bytes => format!("RANDOM_BYTES({part})"),
            part => format!("LEFT(UNHEX(SHA2(CONCAT({from}, '/{number}'), 512)), {part})"),
        };
        let parts: Vec<String> = (0..length.div_ceil(max)).map(part).collect();
        if let [one] = &parts[..] { one.clone() } else { format!("CONCAT({})", parts.join(", ")) }
    }

    /// The part of the bytes `v` for a column.
    fn slice(&self, number: u64) -> String {
        format!("SUBSTR(v, {}, {})", (number - 1) * self.column + 1, self.column)
    }

    fn statement(&self, name: &str, schema: u32, values: &[(&str, String)]) -> String {
        self.statements(name, schema, values).remove(0)
    }

    /// All statements of this name in the system's file.
    fn statements(&self, name: &str, schema: u32, values: &[(&str, String)]) -> Vec<String> {
        let of_schema = [
            ("name", format!("slob_{schema}")),
            ("schema", schema.to_string()),
            ("block", self.block.to_string()),
            ("column", self.column.to_string()),
        ];
        let values: Vec<(&str, &str)> =
            values.iter().chain(&of_schema).map(|(name, value)| (*name, value.as_str())).collect();
        all_named(file(self.system), name).map(|statement| fill_template(statement, &values)).collect()
    }
}
