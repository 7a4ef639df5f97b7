//! Flags of `plimsoll suite sql-bench`.

use clap::{Args, ValueEnum};
use plimsoll_suite::recipes::sql_bench::{SqlBench, SqlBenchOptions, Test};
use plimsoll_suite::{Facts, Recipe};
use plimsoll_units::Span;

use super::{DatabaseArgs, Place, Suite};

/// `plimsoll suite sql-bench`
#[derive(Debug, Args)]
pub struct SqlBenchArgs {
    #[command(flatten)]
    pub place: DatabaseArgs,
    /// The tests, if not all of them
    #[arg(long, value_enum, value_delimiter = ',', value_name = "TEST")]
    pub tests: Vec<TestWord>,
    /// How often each section is asked, as a share of its full count: 1 is the whole benchmark, which takes hours where a
    /// commit takes a millisecond; tables are of full size with any
    #[arg(long, value_name = "SHARE", default_value_t = 0.05)]
    pub scale: f64,
    /// Size of the tables, as a share of their full one: only to try it out, as nothing can be compared then
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    pub size: f64,
    /// Time after which a section begins no more statements, and is extrapolated
    #[arg(long, value_name = "TIME", default_value = "600s")]
    pub time_limit: Span,
}

/// A test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TestWord {
    /// A timetable of 28 tables: joins and groups
    Atis,
    /// Columns and indexes that come and go
    AlterTable,
    /// A table of 1000 columns
    BigTables,
    /// Connections, and the smallest queries
    Connect,
    /// 10,000 tables made and dropped: the one that storage decides
    Create,
    /// 300,000 rows, asked, changed, joined and deleted
    Insert,
    /// 10,000 rows, asked over and over
    Select,
    /// The Wisconsin benchmark
    Wisconsin,
}

impl From<TestWord> for Test {
    fn from(word: TestWord) -> Self {
        match word {
            TestWord::Atis => Self::Atis,
            TestWord::AlterTable => Self::AlterTable,
            TestWord::BigTables => Self::BigTables,
            TestWord::Connect => Self::Connect,
            TestWord::Create => Self::Create,
            TestWord::Insert => Self::Insert,
            TestWord::Select => Self::Select,
            TestWord::Wisconsin => Self::Wisconsin,
        }
    }
}

impl Suite for SqlBenchArgs {
    fn place(&self) -> Place<'_> {
        Place::Database(&self.place)
    }

    fn recipe(&self, facts: &Facts) -> Result<Box<dyn Recipe>, String> {
        let tests: Vec<Test> = self.tests.iter().map(|test| (*test).into()).collect();
        let options = SqlBenchOptions {
            tests: if tests.is_empty() { Test::ALL.to_vec() } else { tests },
            scale: self.scale,
            size: self.size,
            time_limit: self.time_limit,
        };
        Ok(Box::new(SqlBench::new(options, facts)?))
    }
}
