//! Layout of a schema: a row per block, keys at random places, nineteen columns.
//!
//! Independent of statements; sizes follow from the block formats of the systems.

use plimsoll_database::System;
use plimsoll_record::DatabaseAbout;

use super::options::{RedoStress, SlobError, SlobOptions, ThinkTime};
use super::scatter::Scatter;

/// Columns without the key, as in SLOB.
pub(super) const COLUMNS: u64 = 19;
/// `PostgreSQL`: page header, row header with padding, line pointer, and column length.
const POSTGRES: (u64, u64, u64, u64) = (24, 24, 4, 4);
/// Row versions in a page of `PostgreSQL`: an update stays in its page while old versions can be pruned. Recent
/// versions cannot, because concurrent transactions may see them.
const VERSIONS: u64 = 4;
/// `InnoDB` stores at least two rows per page: maximum overhead of a page and of a row.
const INNODB: (u64, u64) = (132, 100);
/// `InnoDB`: maximum size of a row on the largest pages.
const INNODB_ROW_MAX: u64 = 16_384;
/// `SQLite`: maximum overhead of a page and its row.
const SQLITE: u64 = 100;
/// Oracle: `VARCHAR2(128)`.
const ORACLE: u64 = 128;

#[derive(Clone, Debug)]
pub(super) struct SchemaLayout {
    pub(super) system: System,
    /// False for `MariaDB` before 10.10, which has no function for random bytes.
    pub(super) has_random_bytes: bool,
    /// Block size in bytes.
    pub(super) block: u64,
    /// Rows per schema; keys are 1 to this number.
    pub(super) rows: u64,
    /// Size of each of the [`COLUMNS`] in bytes.
    pub(super) column: u64,
    /// `WORK_UNIT`.
    pub(super) work_unit: u64,
    /// Number of columns changed by an update.
    pub(super) changed: u64,
    /// First and last end of a range in the hotspot, and its frequency; `None` without a hotspot.
    hot: Option<(u64, u64, u64)>,
    pub(super) think: Option<ThinkTime>,
    /// Whether columns hold compressible text.
    pub(super) compressible: bool,
    pub(super) schemas: u32,
    seed: u64,
}

impl SchemaLayout {
    /// Parameters of its tables and procedures, in a line.
    pub(super) fn data(&self) -> String {
        let Self { schemas, rows, block, column, work_unit, changed, hot, think, compressible, seed, .. } = self;
        format!(
            "schemas {schemas}, rows {rows}, block {block}, columns of {column}, work unit {work_unit}, changed {changed}, \
             hotspot {hot:?}, think time {think:?}, compressible {compressible}, seed {seed}"
        )
    }

    /// Layout of `rows` rows on blocks of `block` bytes.
    ///
    /// # Errors
    /// A row per block is impossible.
    pub(super) fn new(
        system: System,
        about: &DatabaseAbout,
        block: u64,
        rows: u64,
        options: &SlobOptions,
    ) -> Result<Self, SlobError> {
        let unsuitable = || SlobError::Block { system: about.system.clone(), block };
        let column = compute_column_size(system, block).ok_or_else(unsuitable)?;
        let changed = if options.redo_stress == RedoStress::Heavy { COLUMNS } else { 2 };
        let hot = options.hotspot.map(|hot| {
            let (first, size) = (hot.offset.get() / block, hot.size.get() / block);
            (first + options.work_unit + 1, first + size, hot.frequency)
        });
        Ok(Self {
            system,
            has_random_bytes: has_random_bytes(about),
            block,
            rows,
            column,
            work_unit: options.work_unit,
            changed,
            hot,
            think: options.think_time,
            compressible: options.compressible,
            schemas: options.schemas,
            seed: options.seed,
        })
    }

    /// Keys in a range that ends before `end`: the work unit minus 1, as in SLOB.
    pub(super) const fn visited(&self) -> u64 {
        self.work_unit - 1
    }

    /// Minimum end of a range, and the number of possible ends.
    pub(super) const fn ends(&self) -> (u64, u64) {
        (self.work_unit + 1, self.rows - 2 * self.work_unit)
    }

    /// Minimum and maximum end of a range in the hotspot.
    pub(super) fn hot(&self) -> Option<(u64, u64)> {
        self.hot.map(|(first, last, _)| (first, last))
    }

    /// Frequency of the hotspot, minimum end of a range in it, and the number of possible ends.
    pub(super) fn hot_ends(&self) -> Option<(u64, u64, u64)> {
        self.hot.map(|(first, last, frequency)| (frequency, first, last + 1 - first))
    }

    /// Size of all columns of a row in bytes.
    pub(super) const fn row(&self) -> u64 {
        self.column * COLUMNS
    }

    /// Permutation of the keys of a schema, numbered from 1.
    pub(super) fn scatter(&self, schema: u32) -> Scatter {
        Scatter::new(self.rows, self.seed, schema)
    }

    /// Salt of the contents of a schema.
    pub(super) fn salt(&self, schema: u32) -> u64 {
        (self.seed.wrapping_mul(1_000_003).wrapping_add(u64::from(schema))) & 0xffff_ffff
    }
}

/// Size of each column in bytes. Two rows with keys never share a block; where a system requires a second row, it has
/// no key.
fn compute_column_size(system: System, block: u64) -> Option<u64> {
    let each = match system {
        System::Postgres => {
            let (page, row, pointer, length) = POSTGRES;
            let version = (block.checked_sub(page + VERSIONS * pointer)? / VERSIONS) & !7;
            (version.checked_sub(row + 8)? / COLUMNS).checked_sub(length)?
        }
        System::Mysql if block > 32 << 10 => return None,
        System::Mysql => ((block.checked_sub(INNODB.0)? / 2).min(INNODB_ROW_MAX - 66) - INNODB.1) / COLUMNS,
        System::Sqlite => block.checked_sub(SQLITE)? / COLUMNS,
        System::Oracle => ORACLE,
    };
    Some(each & !3).filter(|column| *column >= 16)
}

/// `RANDOM_BYTES` exists in `MariaDB` 10.10 and in all supported versions of `MySQL`.
fn has_random_bytes(about: &DatabaseAbout) -> bool {
    let mut numbers =
        about.version.split(|letter: char| !letter.is_ascii_digit()).filter_map(|part| part.parse::<u32>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    !about.system.contains("MariaDB") && !about.version.contains("MariaDB") || version >= (10, 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_size_excludes_other_rows_from_block() {
        let check = |system, block: u64, expected: Option<u64>| {
            assert_eq!(compute_column_size(system, block), expected, "{system} {block}");
        };
        check(System::Postgres, 8192, Some(100));
        check(System::Postgres, 32_768, Some(424));
        check(System::Mysql, 16_384, Some(420));
        check(System::Mysql, 65_536, None);
        check(System::Sqlite, 4096, Some(208));
        check(System::Sqlite, 8192, Some(424));
        check(System::Sqlite, 512, Some(20));
        check(System::Oracle, 8192, Some(128));
        for block in [4096, 8192, 16_384, 32_768] {
            let both = |system| compute_column_size(system, block).map(|column| column * COLUMNS).unwrap();
            assert!(both(System::Postgres) * VERSIONS < block && both(System::Postgres) > block / 6);
            assert!(3 * both(System::Mysql) > block && 2 * both(System::Mysql) < block);
            assert!(2 * both(System::Sqlite) > block && both(System::Sqlite) < block);
        }
    }

    #[test]
    fn random_bytes_support_follows_version() {
        let check = |system: &str, version: &str, expected| {
            let about = DatabaseAbout { system: system.into(), version: version.into(), ..DatabaseAbout::default() };
            assert_eq!(has_random_bytes(&about), expected, "{system} {version}");
        };
        check("MariaDB", "10.6.12-MariaDB", false);
        check("MariaDB", "10.11.19", true);
        check("MariaDB", "11.4.2", true);
        check("MySQL", "8.0.36", true);
    }
}
