//! sql-bench: the eight tests that were distributed with MySQL, on generated data of the same cardinalities.
//!
//! A single session executes all statements in autocommit mode. A section that executes a share of its full count uses
//! tables of full size, so that a statement costs the same as in the full benchmark.

mod alter_table;
mod atis;
mod big_tables;
mod connect;
mod create;
mod dialect;
mod figures;
mod insert;
mod section;
mod select;
mod wisconsin;

use clap::ValueEnum;
use plimsoll_database::System;
use plimsoll_record::{Listing, SqlBenchVerdict, Verdict};
use plimsoll_units::Span;

use self::dialect::SqlDialect;
use self::figures::SectionFigure;
use self::section::{BenchSection, Counting, Ledger, SectionPlan, ask};
use crate::ground::Facts;
use crate::options::{OptionsError, SuiteOptions, Surroundings};
use crate::recipe::{CompletedStep, Recipe, settings};
use crate::step::Step;

/// A test of sql-bench.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SqlBenchTest {
    /// A timetable of 28 tables: joins and groups
    Atis,
    /// Adding and dropping columns and indexes
    AlterTable,
    /// A table of 1000 columns
    BigTables,
    /// Connections, and the smallest queries
    Connect,
    /// Creating and dropping 10,000 tables: the only test limited by storage
    Create,
    /// 300,000 rows, queried, changed, joined and deleted
    Insert,
    /// 10,000 rows, queried repeatedly
    Select,
    /// The Wisconsin benchmark
    Wisconsin,
}

impl SqlBenchTest {
    /// All tests, in order.
    pub const ALL: [Self; 8] = [
        Self::Atis,
        Self::AlterTable,
        Self::BigTables,
        Self::Connect,
        Self::Create,
        Self::Insert,
        Self::Select,
        Self::Wisconsin,
    ];

    /// Name in sql-bench.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Atis => "ATIS",
            Self::AlterTable => "alter-table",
            Self::BigTables => "big-tables",
            Self::Connect => "connect",
            Self::Create => "create",
            Self::Insert => "insert",
            Self::Select => "select",
            Self::Wisconsin => "wisconsin",
        }
    }

    fn sections(self, plan: &SectionPlan) -> Vec<BenchSection> {
        match self {
            Self::Atis => atis::sections(plan),
            Self::AlterTable => alter_table::sections(plan),
            Self::BigTables => big_tables::sections(plan),
            Self::Connect => connect::sections(plan),
            Self::Create => create::sections(plan),
            Self::Insert => insert::build_sections(plan),
            Self::Select => select::build_sections(plan),
            Self::Wisconsin => wisconsin::sections(plan),
        }
    }
}

/// Options of sql-bench.
#[derive(Clone, Debug, PartialEq, clap::Args)]
pub struct SqlBenchOptions {
    /// The tests; by default all
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "TEST",
        default_values_t = SqlBenchTest::ALL,
        hide_default_value = true
    )]
    pub tests: Vec<SqlBenchTest>,
    /// Number of executions of each section, as a share of its full count. 1 is the whole benchmark, which takes hours
    /// if a commit takes a millisecond; the tables always have their full size
    #[arg(long, value_name = "SHARE", default_value_t = 0.05)]
    pub scale: f64,
    /// Size of the tables, as a share of the full size. Only for trying it out: results are not comparable
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    pub size: f64,
    /// Time after which a section is stopped and extrapolated
    #[arg(long, value_name = "TIME", default_value = "600s")]
    pub time_limit: Span,
}

impl SuiteOptions for SqlBenchOptions {
    fn recipe(&self, _surroundings: &Surroundings, facts: &Facts) -> Result<Box<dyn Recipe>, OptionsError> {
        Ok(Box::new(SqlBench::new(self.clone(), facts)?))
    }
}

/// Options that leave nothing to execute.
#[rustfmt::skip]
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
enum SqlBenchError {
    #[error("{0}: sql-bench needs a database: name one, or --make one")] NoDatabase(String),
    #[error("--{name} {share}: write a share of the full benchmark, such as 0.1, or 1 for all")]
    Share { name: &'static str, share: f64 },
    #[error("nothing to do: name at least one test, and a --time-limit such as 600s")] Empty,
}

/// A section with its test.
struct Placed {
    /// `None` for the examined commits before the tests.
    test: Option<SqlBenchTest>,
    section: BenchSection,
}

/// sql-bench as a recipe.
pub struct SqlBench {
    options: SqlBenchOptions,
    system: System,
    sections: Vec<Placed>,
    /// Section of each executed step; sections without statements have no step.
    given: Vec<usize>,
}

/// Number of commits examined before the tests, and their maximum time.
const COMMITS: u64 = 200;
const COMMITS_MAX_SPAN: Span = Span::from_secs(10);
const COMMITS_NAME: &str = "one row in a transaction";

impl SqlBench {
    /// The recipe on a ground with these facts.
    ///
    /// # Errors
    /// No database, an invalid share, or nothing to do.
    pub fn new(options: SqlBenchOptions, facts: &Facts) -> Result<Self, OptionsError> {
        let Some((system, _)) = &facts.database else {
            return Err(SqlBenchError::NoDatabase(facts.subject.name.clone()).into());
        };
        for (name, share) in [("scale", options.scale), ("size", options.size)] {
            if !(share > 0.0 && share <= 1.0) {
                return Err(SqlBenchError::Share { name, share }.into());
            }
        }
        if options.time_limit.is_zero() || options.tests.is_empty() {
            return Err(SqlBenchError::Empty.into());
        }
        let plan = SectionPlan { dialect: SqlDialect(*system), scale: options.scale, size: options.size };
        let mut sections: Vec<Placed> =
            commits(&plan).into_iter().map(|section| Placed { test: None, section }).collect();
        for test in SqlBenchTest::ALL.into_iter().filter(|test| options.tests.contains(test)) {
            sections.extend(test.sections(&plan).into_iter().map(|section| Placed { test: Some(test), section }));
        }
        Ok(Self { system: *system, options, sections, given: Vec::new() })
    }

    /// Executions of the sections of a test so far.
    fn ledger(&self, test: Option<SqlBenchTest>, done: &[CompletedStep]) -> Ledger {
        let of_test = self.given.iter().zip(done).filter(|(place, _)| self.sections[**place].test == test);
        let counted = of_test.map(|(place, done)| {
            (self.sections[*place].section.name, done.result.statements().map_or(0, |observed| observed.done))
        });
        Ledger(counted.collect())
    }

    /// Figures of the sections in order, without sections that were not reached.
    fn figures<'a>(&'a self, done: &'a [CompletedStep]) -> Vec<SectionFigure<'a>> {
        let reached = self.given.iter().zip(done).map(|(place, _)| *place).max();
        let mut figures = Vec::new();
        for (place, Placed { test, section }) in self.sections.iter().enumerate() {
            let completed = self.given.iter().position(|given| *given == place).and_then(|step| done.get(step));
            let is_reached = reached.is_some_and(|reached| place <= reached);
            if let Some(test) = test.filter(|_| is_reached) {
                figures.extend(SectionFigure::of(test, section, completed));
            }
        }
        figures
    }

    /// Whether all sections of this test were executed.
    fn is_complete(&self, test: SqlBenchTest, done: &[CompletedStep]) -> bool {
        let last = self.sections.iter().rposition(|placed| placed.test == Some(test));
        let reached = self.given.iter().zip(done).map(|(place, _)| *place).max();
        last.zip(reached).is_some_and(|(last, reached)| last <= reached)
    }

    /// The commits examined before the tests.
    fn commits(done: &[CompletedStep]) -> Option<&crate::sql::StatementsResult> {
        done.iter().find(|done| done.step.name == COMMITS_NAME).and_then(|done| done.result.statements())
    }
}

/// Single-row transactions, to measure a commit.
fn commits(plan: &SectionPlan) -> Vec<BenchSection> {
    let dialect = plan.dialect;
    let create =
        format!("CREATE TABLE committed (id {} NOT NULL PRIMARY KEY, v {})", dialect.int(), dialect.varchar(100));
    vec![
        BenchSection::preparation("a table for commits", vec![create]),
        BenchSection::counted(COMMITS_NAME, COMMITS, COMMITS, |index| {
            ask(format!("INSERT INTO committed (id, v) VALUES ({index}, 'committed by itself')"))
        }),
        BenchSection::preparation("no table for commits", vec!["DROP TABLE committed".into()]),
    ]
}

impl Recipe for SqlBench {
    fn name(&self) -> &'static str {
        "sql-bench"
    }

    fn follows(&self) -> String {
        "sql-bench of MySQL, its eight tests on made-up data of the same cardinalities".into()
    }

    fn settings(&self) -> Vec<(String, String)> {
        let options = &self.options;
        let tests: Vec<&str> =
            SqlBenchTest::ALL.iter().filter(|test| options.tests.contains(test)).map(|test| test.name()).collect();
        settings([
            ("system", self.system.to_string()),
            ("tests", tests.join(", ")),
            ("scale", format!("each section executes {} times its full count", options.scale)),
            ("size", format!("tables have {} times their full size", options.size)),
            ("time limit", format!("{} for each section", options.time_limit)),
        ])
    }

    fn expected(&self) -> usize {
        self.sections.len()
    }

    fn next(&mut self, done: &[CompletedStep], _facts: &Facts) -> Option<Step> {
        let mut place = self.given.last().map_or(0, |place| place + 1);
        loop {
            let Placed { test, section } = self.sections.get(place)?;
            let limit = if test.is_some() { self.options.time_limit } else { COMMITS_MAX_SPAN };
            if let Some(statements) = section.statements(&self.ledger(*test, done), limit) {
                let counts = test.is_some() && matches!(section.counting, Counting::Figure { .. });
                let name =
                    test.map_or_else(|| section.name.into(), |test| format!("{}: {}", test.name(), section.name));
                self.given.push(place);
                let step = Step::statements(name, statements);
                return Some(if counts { step } else { step.uncounted() });
            }
            place += 1;
        }
    }

    fn listings(&self, done: &[CompletedStep], _facts: &Facts) -> Vec<Listing> {
        let figures = self.figures(done);
        if figures.is_empty() {
            return Vec::new();
        }
        let has_full_size = self.options.size >= 1.0;
        let complete: Vec<SqlBenchTest> =
            SqlBenchTest::ALL.into_iter().filter(|test| self.is_complete(*test, done)).collect();
        vec![
            Listing {
                title: "sql-bench compared with an article".into(),
                text: figures::beside(&figures, &complete, has_full_size),
            },
            Listing { title: "sql-bench tests".into(), text: figures::tests(&figures, has_full_size) },
            Listing { title: "sql-bench totals per operation".into(), text: figures::totals(&figures, has_full_size) },
        ]
    }

    fn verdicts(&self, done: &[CompletedStep], facts: &Facts) -> Vec<Verdict> {
        let figures = self.figures(done);
        let mut verdicts: Vec<Verdict> = figures::wrong(&figures).into_iter().map(Verdict::from).collect();
        verdicts.extend(figures::verdicts(Self::commits(done), &figures, facts));
        let published =
            [SqlBenchVerdict::PublishedCreate, SqlBenchVerdict::PublishedAlterTable, SqlBenchVerdict::PublishedInsert];
        verdicts.extend(figures::notes(&figures, &self.options).into_iter().chain(published).map(Verdict::from));
        verdicts
    }

    fn has_failed(&self, done: &[CompletedStep]) -> bool {
        done.iter().filter_map(|done| done.result.statements()).any(|observed| observed.wrong > 0)
    }
}
