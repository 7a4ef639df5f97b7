//! A simulated database with fixed response times and configurable results.

use plimsoll_database::{ObjectChanges, System};
use plimsoll_record::{Bins, CpuTime, DatabaseAbout, DatabaseCounters, DiskCounters, Source, StorageSide};
use plimsoll_suite::recipes::sql_bench::{SqlBench, SqlBenchOptions};
use plimsoll_suite::{CompletedStep, Facts, StatementsResult, StatementsStep, StepResult, Work};
use plimsoll_units::Span;

/// Behaviour of the simulated database.
pub struct Answers {
    /// Maximum executions of a section, in place of a time limit; preparations are complete.
    pub at_most: u64,
    /// The same for sections that drop tables.
    pub drops: u64,
    /// Section with a single wrong result.
    pub wrong: Option<&'static str>,
    /// Time per statement.
    pub each: Span,
    /// Flushes per modifying statement, as counted by the server and by the device.
    pub server: Option<u64>,
    pub device: Option<u64>,
}

impl Default for Answers {
    fn default() -> Self {
        let (at_most, drops) = (u64::MAX, u64::MAX);
        Self { at_most, drops, wrong: None, each: Span::from_micros(100), server: None, device: None }
    }
}

pub fn facts(system: System) -> Facts {
    let source = Source::Measured { engine: system.name().into() };
    Facts::of_database("played".into(), source, system, DatabaseAbout::default())
}

pub fn recipe(system: System, options: SqlBenchOptions) -> SqlBench {
    SqlBench::new(options, &facts(system)).expect("options that fit")
}

/// The recipe with all of its steps executed.
pub fn played(system: System, options: SqlBenchOptions, answers: &Answers) -> (SqlBench, Vec<CompletedStep>) {
    let mut suite = recipe(system, options);
    let done = crate::grounds::played(&mut suite, &facts(system), |step| {
        let Work::Statements(statements) = &step.work else { panic!("{step:?}") };
        let observed = observe(&step.name, statements, answers);
        CompletedStep { step, result: StepResult::Statements(Box::new(observed)) }
    });
    (suite, done)
}

fn observe(name: &str, step: &StatementsStep, answers: &Answers) -> StatementsResult {
    let max = if name.contains("drop_table_when") { answers.drops } else { answers.at_most };
    let done = step.limit.map_or(step.count, |_| step.count.min(max));
    let (each, span) = (answers.each, Span::from_nanos(answers.each.as_nanos() * done));
    let flushes = if name.contains("select") || name.contains("connect") { 0 } else { done };
    StatementsResult {
        done,
        wrong: u64::from(answers.wrong == Some(name)),
        first_wrong: answers.wrong.map(|_| "1 rows expected, 2 came: SELECT".into()),
        rows: Vec::new(),
        changes: ObjectChanges::default(),
        span,
        each: Bins::counted([(each, done)], span.as_nanos()),
        client: CpuTime { user: span / 4, system: span / 8 },
        counted: DatabaseCounters { log_flushes: answers.server.map(|of| of * flushes), ..DatabaseCounters::default() },
        storage: StorageSide {
            disk: answers.device.map(|of| DiskCounters { flushes: of * flushes, ..DiskCounters::default() }),
            ..StorageSide::default()
        },
    }
}

/// Compares with a stored file. `UPDATE_GENERATED=1` writes it.
#[track_caller]
pub fn check_kept(name: &str, text: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/sql_bench").join(name);
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        std::fs::write(&path, text).expect("the file can be written");
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, stored, "{name} is another: UPDATE_GENERATED=1 writes it anew");
}
