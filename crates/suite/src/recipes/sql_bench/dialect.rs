//! SQL dialects: types, table changes, and multi-row inserts.

use std::ops::Range;

use plimsoll_database::System;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SqlDialect(pub(super) System);

impl SqlDialect {
    /// Integer type for nine digits.
    pub(super) const fn int(self) -> &'static str {
        match self.0 {
            System::Oracle => "NUMBER(10)",
            _ => "INTEGER",
        }
    }

    /// Double-precision type.
    pub(super) const fn double(self) -> &'static str {
        match self.0 {
            System::Oracle => "BINARY_DOUBLE",
            _ => "DOUBLE PRECISION",
        }
    }

    /// Single-precision type.
    pub(super) const fn float(self) -> &'static str {
        match self.0 {
            System::Oracle => "BINARY_FLOAT",
            System::Mysql => "FLOAT",
            _ => "REAL",
        }
    }

    /// Text type for up to `max` characters.
    pub(super) fn varchar(self, max: u32) -> String {
        match self.0 {
            System::Oracle => format!("VARCHAR2({max})"),
            _ => format!("VARCHAR({max})"),
        }
    }

    /// Text type for 65,000 characters.
    pub(super) const fn long_text(self) -> &'static str {
        match self.0 {
            System::Oracle => "CLOB",
            System::Mysql => "MEDIUMTEXT",
            _ => "TEXT",
        }
    }

    /// A query of expressions without a table.
    pub(super) fn constant(self, expressions: &str) -> String {
        match self.0 {
            System::Oracle => format!("SELECT {expressions} FROM dual"),
            _ => format!("SELECT {expressions}"),
        }
    }

    /// A multi-row insert; rows are lists of values without parentheses.
    pub(super) fn insert_rows(self, table: &str, columns: &str, rows: impl Iterator<Item = String>) -> String {
        let mut sql = format!("INSERT INTO {table} ({columns}) ");
        let (first, between, end) = match self.0 {
            System::Oracle => ("SELECT ", " FROM dual UNION ALL SELECT ", " FROM dual"),
            _ => ("VALUES (", "), (", ")"),
        };
        for (index, row) in rows.enumerate() {
            sql.push_str(if index == 0 { first } else { between });
            sql.push_str(&row);
        }
        sql.push_str(end);
        sql
    }

    /// Inserts a row unless its key exists.
    pub(super) fn insert_unless_taken(self, table: &str, key: &str, columns: &str, row: &str) -> String {
        match self.0 {
            System::Mysql => format!("INSERT IGNORE INTO {table} ({columns}) VALUES ({row})"),
            System::Oracle => format!(
                "INSERT /*+ IGNORE_ROW_ON_DUPKEY_INDEX({table}, ({key})) */ INTO {table} ({columns}) VALUES ({row})"
            ),
            _ => format!("INSERT INTO {table} ({columns}) VALUES ({row}) ON CONFLICT DO NOTHING"),
        }
    }

    /// Prepares, executes and deallocates a statement with a numeric parameter; in SQL if the system supports that.
    pub(super) fn prepared_once(self, table: &str, columns: &str, key: &str, value: u64) -> Vec<String> {
        let query = format!("SELECT {columns} FROM {table} WHERE {key} = ");
        match self.0 {
            System::Postgres => vec![
                format!("PREPARE asked (integer) AS {query}$1"),
                format!("EXECUTE asked ({value})"),
                "DEALLOCATE asked".into(),
            ],
            System::Mysql => vec![
                format!("PREPARE asked FROM '{query}?'"),
                format!("SET @asked = {value}"),
                "EXECUTE asked USING @asked".into(),
                "DEALLOCATE PREPARE asked".into(),
            ],
            System::Sqlite | System::Oracle => vec![format!("{query}{value}")],
        }
    }

    pub(super) fn drop_index(self, table: &str, index: &str) -> String {
        match self.0 {
            System::Mysql => format!("DROP INDEX {index} ON {table}"),
            _ => format!("DROP INDEX {index}"),
        }
    }

    /// Adds integer columns named by a letter and a number; in a single statement if the system supports that.
    pub(super) fn add_columns(self, table: &str, letter: char, columns: Range<u64>) -> Vec<String> {
        let int = self.int();
        let names = columns.map(|column| format!("{letter}{column} {int}"));
        self.altered(table, "ADD COLUMN", "ADD", names)
    }

    pub(super) fn drop_columns(self, table: &str, letter: char, columns: Range<u64>) -> Vec<String> {
        let names = columns.map(|column| format!("{letter}{column}"));
        self.altered(table, "DROP COLUMN", "DROP", names)
    }

    fn altered(self, table: &str, each: &str, all: &str, what: impl Iterator<Item = String>) -> Vec<String> {
        match self.0 {
            System::Sqlite => what.map(|one| format!("ALTER TABLE {table} {each} {one}")).collect(),
            System::Oracle => {
                vec![format!("ALTER TABLE {table} {all} ({})", what.collect::<Vec<_>>().join(", "))]
            }
            System::Postgres | System::Mysql => {
                let changes: Vec<String> = what.map(|one| format!("{each} {one}")).collect();
                vec![format!("ALTER TABLE {table} {}", changes.join(", "))]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [System; 4] = [System::Postgres, System::Mysql, System::Sqlite, System::Oracle];

    #[test]
    fn dialects_differ_by_system() {
        let check = |statements: [String; 4], expected: [&str; 4]| assert_eq!(statements, expected);
        check(
            ALL.map(|system| SqlDialect(system).add_columns("t", 'i', 8..10).join("; ")),
            [
                "ALTER TABLE t ADD COLUMN i8 INTEGER, ADD COLUMN i9 INTEGER",
                "ALTER TABLE t ADD COLUMN i8 INTEGER, ADD COLUMN i9 INTEGER",
                "ALTER TABLE t ADD COLUMN i8 INTEGER; ALTER TABLE t ADD COLUMN i9 INTEGER",
                "ALTER TABLE t ADD (i8 NUMBER(10), i9 NUMBER(10))",
            ],
        );
        check(
            ALL.map(|system| SqlDialect(system).drop_columns("t", 'i', 8..10).join("; ")),
            [
                "ALTER TABLE t DROP COLUMN i8, DROP COLUMN i9",
                "ALTER TABLE t DROP COLUMN i8, DROP COLUMN i9",
                "ALTER TABLE t DROP COLUMN i8; ALTER TABLE t DROP COLUMN i9",
                "ALTER TABLE t DROP (i8, i9)",
            ],
        );
        check(
            ALL.map(|system| SqlDialect(system).insert_rows("t", "a, b", (1..3).map(|n| format!("{n}, 'x'")))),
            [
                "INSERT INTO t (a, b) VALUES (1, 'x'), (2, 'x')",
                "INSERT INTO t (a, b) VALUES (1, 'x'), (2, 'x')",
                "INSERT INTO t (a, b) VALUES (1, 'x'), (2, 'x')",
                "INSERT INTO t (a, b) SELECT 1, 'x' FROM dual UNION ALL SELECT 2, 'x' FROM dual",
            ],
        );
        check(
            ALL.map(|system| SqlDialect(system).constant("1")),
            ["SELECT 1", "SELECT 1", "SELECT 1", "SELECT 1 FROM dual"],
        );
        assert_eq!(ALL.map(|system| SqlDialect(system).prepared_once("t", "a", "b", 7).len()), [3, 4, 1, 1]);
    }
}
