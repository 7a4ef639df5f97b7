//! Short transactions in closed and open loads: TPC-B-like transactions as in pgbench, and a TPC-C-like mix of new
//! orders.
//!
//! The sweep of `analyse` determines the next load.

mod bank;
mod ledger;
mod plan;
mod print;
mod trade;
mod verdicts;

use std::sync::Arc;

use plimsoll_analyse::{Precision, Sweep, SweepPoint};
use plimsoll_database::{Row, System};
use plimsoll_load::Pace;
use plimsoll_record::{Inconsistency, Listing, Objective, Run, StepQuantity, Verdict, WrongTable};
use plimsoll_units::{Bytes, Iops, Span};

use super::target::TargetError;
use crate::ground::Facts;
use crate::options::{OptionsError, SuiteOptions, Surroundings};
use crate::recipe::{CompletedStep, Recipe};
use crate::result::StepResult;
use crate::session_run::session_run;
use crate::sql::{SessionWork, SessionsResult, SessionsStep, StatementsStep, TransactionKind, Transactions, named};
use crate::step::{Step, Work};

use ledger::OltpLedger;

/// Names of the steps whose rows the recipe reads.
const LOADED: &str = "Count the loaded rows";
const CHECKED: &str = "Check consistency";
/// Sessions that fill tables, if the system allows concurrent writers.
const FILLERS: u32 = 4;

/// Transaction scripts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Script {
    /// TPC-B-like: an account, a teller and a branch are updated, and a row is added to the history, as pgbench does by
    /// default
    #[default]
    TpcB,
    /// An account is updated, and a row is added to the history, as pgbench -N does
    SimpleUpdate,
    /// An account is read, as pgbench -S does
    SelectOnly,
    /// TPC-C-like, not TPC-C: new order, payment and order status, 10:10:1
    NewOrder,
}

impl Script {
    /// Name on the command line: `tpc-b`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TpcB => "tpc-b",
            Self::SimpleUpdate => "simple-update",
            Self::SelectOnly => "select-only",
            Self::NewOrder => "new-order",
        }
    }

    /// Unit of its scale.
    const fn unit(self) -> &'static str {
        if let Self::NewOrder = self { "warehouses" } else { "branches of 100,000 accounts" }
    }

    fn kinds(self) -> Vec<TransactionKind> {
        let kind = |name: &str, writes| TransactionKind { name: name.into(), writes, is_part: false };
        match self {
            Self::TpcB | Self::SimpleUpdate => vec![kind(self.name(), true)],
            Self::SelectOnly => vec![kind(self.name(), false)],
            Self::NewOrder => vec![kind("new-order", true), kind("payment", true), kind("order-status", false)],
        }
    }
}

/// Execution of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExecutionMode {
    /// A call of a `PostgreSQL` function or procedure.
    Function,
    /// A call of a `MySQL` procedure.
    Procedure,
    /// Individual prepared statements.
    Statements,
}

impl ExecutionMode {
    /// Statement that calls a procedure with a result.
    fn call(self, name: &str, parameters: &str) -> String {
        match self {
            Self::Function => format!("SELECT {name}({parameters})"),
            _ => format!("CALL {name}({parameters})"),
        }
    }
}

/// Options of short transactions.
#[derive(Clone, Debug, clap::Args)]
pub struct OltpOptions {
    /// The transactions
    #[arg(long, value_enum, default_value_t)]
    pub script: Script,
    /// Branches of 100,000 accounts, by default 10; with --script new-order warehouses, by default 2
    #[arg(long, value_name = "COUNT")]
    pub scale: Option<u32>,
    /// Send each statement separately, prepared, as in pgbench; by default a transaction is a single call of a stored
    /// procedure, if the system has them
    #[arg(long)]
    pub statements: bool,
    /// Only closed loads with these numbers of clients, such as 1,4,16; by default the number rises until throughput
    /// does not
    #[arg(long, value_name = "COUNTS", value_delimiter = ',')]
    pub clients: Option<Vec<u32>>,
    /// Only open loads with these rates of transactions per second, such as 100,200; arrivals are independent (Poisson)
    #[arg(
        long = "rate",
        visible_alias = "rates",
        value_name = "RATES",
        value_delimiter = ',',
        conflicts_with = "clients"
    )]
    pub rates: Option<Vec<Iops>>,
    /// After the closed loads, apply open loads below their maximum and up to the load line
    #[arg(long, conflicts_with_all = ["clients", "rates"])]
    pub open: bool,
    /// Total measuring time
    #[arg(short, long, value_name = "TIME", default_value = "1m")]
    pub duration: Span,
    /// Duration of each load, instead of a share of the total
    #[arg(long, value_name = "TIME")]
    pub measure: Option<Span>,
    /// Objective of the load line, such as 'p99<=20ms' or 'mean<=5ms'; by default derived from the lightest load
    #[arg(short, long)]
    pub objective: Option<Objective>,
    /// Seed of the random numbers
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Maximum number of sessions
    #[arg(long, value_name = "COUNT", default_value_t = 64)]
    pub max_sessions: u32,
}

impl OltpOptions {
    /// Number of branches or warehouses.
    pub(super) fn scale(&self) -> u32 {
        self.scale.unwrap_or(if self.script == Script::NewOrder { 2 } else { 10 })
    }
}

impl SuiteOptions for OltpOptions {
    fn sessions(&self) -> u32 {
        let listed = self.clients.as_ref().and_then(|clients| clients.iter().max());
        listed.map_or(self.max_sessions, |clients| (*clients).min(self.max_sessions).max(FILLERS))
    }

    fn recipe(&self, _surroundings: &Surroundings, facts: &Facts) -> Result<Box<dyn Recipe>, OptionsError> {
        Ok(Box::new(Oltp::new(self.clone(), facts)?))
    }
}

/// The tables, their statements and their expected contents.
#[derive(Clone, Debug)]
struct Tables {
    create: Vec<String>,
    /// Phases of loading; statements of a phase are independent.
    fill: Vec<Vec<String>>,
    index: Vec<String>,
    names: Vec<&'static str>,
    /// Initial rows of each table.
    expected: Vec<u64>,
    /// Query of the consistency check, which returns a single row.
    check: String,
}

/// Short transactions.
pub struct Oltp {
    options: OltpOptions,
    by: ExecutionMode,
    tables: Tables,
    before: Vec<Step>,
    sweep: Sweep,
    /// Whether all points are measured.
    swept: bool,
    work: Arc<dyn Transactions>,
    ledger: Arc<OltpLedger>,
}

/// Loading steps, and the transactions, for another suite.
///
/// # Errors
/// As [`Oltp::new`].
pub(super) fn prepare_load(
    options: OltpOptions,
    facts: &Facts,
) -> Result<(Vec<Step>, Arc<dyn Transactions>), OptionsError> {
    let oltp = Oltp::new(options, facts)?;
    Ok((oltp.before, oltp.work))
}

/// A measured point.
struct OltpPoint<'a> {
    step: &'a SessionsStep,
    observed: &'a SessionsResult,
    run: Run,
}

impl Oltp {
    /// The recipe on a ground with these facts.
    ///
    /// # Errors
    /// No database, an unsupported system, an invalid scale or invalid loads.
    pub fn new(options: OltpOptions, facts: &Facts) -> Result<Self, OptionsError> {
        let Some((system, _)) = facts.database else {
            return Err(TargetError::NoDatabase(facts.subject.name.clone()).into());
        };
        let sweep = Sweep::new(plan::plan(&options)?);
        let by = match system {
            _ if options.statements => ExecutionMode::Statements,
            System::Postgres => ExecutionMode::Function,
            System::Mysql => ExecutionMode::Procedure,
            System::Sqlite | System::Oracle => ExecutionMode::Statements,
        };
        let scale = u64::from(options.scale());
        let tables = match options.script {
            Script::NewOrder => trade::tables(system, scale),
            _ => bank::tables(system, scale),
        };
        let tables = tables.ok_or(plan::OltpError::System(system))?;
        let ledger = Arc::new(OltpLedger::default());
        let work: Arc<dyn Transactions> = match options.script {
            Script::NewOrder => {
                Arc::new(trade::Trade { by, warehouses: scale, ledger: Arc::clone(&ledger), seed: options.seed })
            }
            script => Arc::new(bank::Bank { script, by, scale, ledger: Arc::clone(&ledger) }),
        };
        let before = build_preparations(system, by, options.script, &tables);
        Ok(Self { options, by, tables, before, sweep, swept: false, work, ledger })
    }

    fn step(&self, point: &SweepPoint, number: u64, runs: &[Run]) -> Step {
        let (sessions, name) = match point.pace {
            Pace::Closed { depth: 1 } => (1, "1 client".to_owned()),
            Pace::Closed { depth } => (depth, format!("{depth} clients")),
            Pace::Open { rate, .. } => {
                (plan::sessions_of_open(&self.options, runs), format!("{:.0} a second", rate.as_f64()))
            }
        };
        let step = SessionsStep {
            sessions,
            pace: point.pace,
            kinds: self.options.script.kinds(),
            work: SessionWork::Transactions(Arc::clone(&self.work)),
            turns: None,
            warm_up: point.warm_up,
            least: point.least,
            max: point.max,
            precision: Precision::default(),
            objective: self.sweep.objective(),
            checkpoint: true,
            seed: self.options.seed.wrapping_add(number),
        };
        Step::sessions(name, step).measuring(StepQuantity::Transactions)
    }

    /// First row of the query of the step with this name.
    fn first_row<'a>(done: &'a [CompletedStep], name: &str) -> Option<&'a Row> {
        done.iter().find(|done| done.step.name == name)?.result.statements()?.rows.first()
    }

    /// Errors of the loaded data.
    fn load_errors(&self, done: &[CompletedStep]) -> Vec<WrongTable> {
        let Some(row) = Self::first_row(done, LOADED) else { return Vec::new() };
        let was_there = done.iter().any(|done| done.step.loads && matches!(done.result, StepResult::Paused));
        let both = self.tables.names.iter().zip(&self.tables.expected).zip(row);
        both.filter_map(|((name, expected), found)| {
            let (rows, expected) = (found.int().and_then(|found| u64::try_from(found).ok()).unwrap_or(0), *expected);
            // Earlier runs may have added rows to some tables.
            let is_wrong = if was_there { rows < expected } else { rows != expected };
            is_wrong.then(|| WrongTable { table: (*name).into(), rows, expected })
        })
        .collect()
    }

    /// Inconsistencies at the end; `None` if the check was not executed.
    fn inconsistencies(&self, done: &[CompletedStep]) -> Option<Vec<Inconsistency>> {
        let row = Self::first_row(done, CHECKED)?;
        let rows_before = |table: &str| {
            let place = self.tables.names.iter().position(|name| *name == table)?;
            Self::first_row(done, LOADED)?.get(place)?.int()
        };
        let before = |table| rows_before(table).unwrap_or(0);
        Some(match self.options.script {
            Script::NewOrder => {
                let before = trade::Before { orders: before("orders"), payments: before("payments") };
                trade::find_inconsistencies(u64::from(self.options.scale()), row, &before, &self.ledger)
            }
            script => bank::find_inconsistencies(script, row, before("history"), &self.ledger),
        })
    }

    /// Points with completed transactions, in order of execution.
    fn measured(done: &[CompletedStep]) -> Vec<OltpPoint<'_>> {
        done.iter().filter_map(read_point).collect()
    }
}

fn read_point(done: &CompletedStep) -> Option<OltpPoint<'_>> {
    let (Work::Sessions(step), Some(observed)) = (&done.step.work, done.result.sessions()) else { return None };
    let run = session_run(step, observed).run;
    (run.total.operations() + run.total.errors() > 0).then_some(OltpPoint { step, observed, run })
}

/// The steps before the first point.
fn build_preparations(system: System, by: ExecutionMode, script: Script, tables: &Tables) -> Vec<Step> {
    let step = |name: &str, statements: Vec<String>, sessions| {
        let step = StatementsStep { sessions, ..StatementsStep::of(statements) };
        Step::statements(name, step).loading()
    };
    let fillers = if system == System::Sqlite { 1 } else { FILLERS };
    let mut before = vec![step("Create tables", tables.create.clone(), 1)];
    before.extend(tables.fill.iter().map(|statements| step("Load", statements.clone(), fillers)));
    let analyze = |name: &&str| match system {
        System::Postgres => format!("VACUUM ANALYZE {name}"),
        System::Mysql => format!("ANALYZE TABLE {name}"),
        _ => format!("ANALYZE {name}"),
    };
    let mut finish = tables.index.clone();
    finish.extend(tables.names.iter().map(analyze));
    if by != ExecutionMode::Statements {
        finish.extend(procedures(system, script));
    }
    before.push(step("Indexes, statistics, procedures", finish, 1));
    let counts: Vec<String> = tables.names.iter().map(|name| format!("(SELECT count(*) FROM {name})")).collect();
    before.push(Step::query(LOADED, format!("SELECT {}", counts.join(", "))));
    before
}

/// Statements that create the stored procedures of a script, which reduce a transaction to a round trip; empty without
/// procedures.
fn procedures(system: System, script: Script) -> Vec<String> {
    let file = match system {
        System::Postgres => include_str!("oltp/postgres.sql"),
        System::Mysql => include_str!("oltp/mysql.sql"),
        System::Sqlite | System::Oracle => return Vec::new(),
    };
    let names: &[&str] = match script {
        Script::TpcB => &["move_money"],
        Script::SimpleUpdate => &["move_simply"],
        Script::SelectOnly => &[],
        Script::NewOrder => &["place_order", "pay", "order_status"],
    };
    names.iter().map(|name| named(file, name).to_owned()).collect()
}

impl Recipe for Oltp {
    fn name(&self) -> &'static str {
        "oltp"
    }

    fn follows(&self) -> String {
        match self.options.script {
            Script::NewOrder => "three transactions of TPC-C 5.11 and their tables: TPC-C-like, not TPC-C",
            _ => "pgbench of PostgreSQL 15, and with it TPC-B: TPC-B-like, not TPC-B",
        }
        .into()
    }

    fn settings(&self) -> Vec<(String, String)> {
        let options = &self.options;
        let by = if self.by == ExecutionMode::Statements { "prepared statements" } else { "one call of a procedure" };
        let script = match options.script {
            Script::NewOrder => "new-order, payment, order-status (10:10:1)",
            script => script.name(),
        };
        let objective = options.objective.map(|objective| ("objective", objective.to_string()));
        let all = [
            ("transactions", script.to_owned()),
            ("each is", by.to_owned()),
            ("scale", format!("{} {}", options.scale(), options.script.unit())),
            ("loads", plan::words(options)),
            ("seed", options.seed.to_string()),
        ];
        all.into_iter().chain(objective).map(|(name, value)| (name.to_owned(), value)).collect()
    }

    fn data_size(&self) -> Bytes {
        // As stored by PostgreSQL: 100,000 accounts with their key, or a warehouse with its stock and customers.
        let each = if self.options.script == Script::NewOrder { Bytes::mib(90) } else { Bytes::mib(15) };
        Bytes::new(u64::from(self.options.scale()) * each.get())
    }

    fn data_key(&self) -> Option<String> {
        let Self { options, by, .. } = self;
        Some(format!(
            "script {}, scale {}, procedures {}",
            options.script.name(),
            options.scale(),
            *by != ExecutionMode::Statements
        ))
    }

    fn expected(&self) -> usize {
        self.before.len() + plan::expected_points(&self.options) + 1
    }

    fn next(&mut self, done: &[CompletedStep], _facts: &Facts) -> Option<Step> {
        if let Some(step) = self.before.get(done.len()) {
            return Some(step.clone());
        }
        if self.swept || !self.load_errors(done).is_empty() {
            return None;
        }
        let runs: Vec<Run> = Self::measured(done).into_iter().map(|measured| measured.run).collect();
        let slices = done.iter().filter_map(|done| done.result.sessions()).flat_map(|observed| &observed.series);
        let spent = slices.fold(Span::ZERO, |sum, slice| sum + slice.span);
        if let Some(point) = self.sweep.next(&runs, &plan::slots_of(&runs), spent) {
            return Some(self.step(&point, done.len() as u64, &runs));
        }
        self.swept = true;
        Some(Step::query(CHECKED, self.tables.check.clone()))
    }

    fn listings(&self, done: &[CompletedStep], _facts: &Facts) -> Vec<Listing> {
        let measured = Self::measured(done);
        let Some(best) = verdicts::maximum(&measured) else { return Vec::new() };
        let listing = |title: &str, text| Listing { title: title.into(), text };
        vec![
            listing("pgbench's summary of the highest throughput", print::summary(&self.options, self.by, best)),
            listing("All loads", print::loads(&measured)),
            listing("Response times by kind, of the most transactions a second", print::kinds(best)),
        ]
    }

    fn verdicts(&self, done: &[CompletedStep], facts: &Facts) -> Vec<Verdict> {
        verdicts::verdicts(self, done, facts)
    }

    fn has_failed(&self, done: &[CompletedStep]) -> bool {
        !self.load_errors(done).is_empty()
            || self.inconsistencies(done).is_some_and(|inconsistencies| !inconsistencies.is_empty())
    }
}

#[cfg(test)]
mod tests;
