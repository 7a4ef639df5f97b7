//! Short transactions from closed and open loads: TPC-B-like ones as pgbench has them, and a TPC-C-like mix of new orders.
//!
//! Which load comes next is for the sweep of `analyse` to say. Knows nothing about drivers.

mod bank;
mod ledger;
mod orders;
mod plan;
mod print;
mod procedures;
mod trade;
mod verdicts;

use std::sync::Arc;

use plimsoll_analyse::{Point, Precision, Sweep};
use plimsoll_database::{Row, System};
use plimsoll_load::Pace;
use plimsoll_record::{Listing, Objective, Run};
use plimsoll_units::{Bytes, Iops, Span};

use crate::ground::Facts;
use crate::recipe::{Done, Recipe, crowd_of};
use crate::seen::StepSeen;
use crate::sql::{Asked, CrowdSeen, CrowdStep, CrowdWork, KindOf, StatementsStep, Transactions};
use crate::step::{FileSpec, Step, Work};

use ledger::Ledger;
use procedures::procedures;

/// Names of the steps whose rows are looked at.
const LOADED: &str = "Count what was loaded";
const CHECKED: &str = "Check what is there";
/// Sessions that fill tables, where a system lets several write.
const FILLERS: u32 = 4;

/// Which transactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Script {
    /// An account, a teller and a branch are changed, and it is remembered.
    #[default]
    TpcB,
    /// An account is changed, and it is remembered: `pgbench -N`.
    SimpleUpdate,
    /// An account is looked up: `pgbench -S`.
    SelectOnly,
    /// New orders, payments and questions after an order, 10:10:1: TPC-C-like, not TPC-C.
    NewOrder,
}

impl Script {
    /// Its word: `tpc-b`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TpcB => "tpc-b",
            Self::SimpleUpdate => "simple-update",
            Self::SelectOnly => "select-only",
            Self::NewOrder => "new-order",
        }
    }

    /// What one of its scale is.
    const fn unit(self) -> &'static str {
        if let Self::NewOrder = self { "warehouses" } else { "branches of 100,000 accounts" }
    }

    fn kinds(self) -> Vec<KindOf> {
        let kind = |name: &str, writes| KindOf { name: name.into(), writes, is_part: false };
        match self {
            Self::TpcB | Self::SimpleUpdate => vec![kind(self.name(), true)],
            Self::SelectOnly => vec![kind(self.name(), false)],
            Self::NewOrder => vec![kind("new-order", true), kind("payment", true), kind("order-status", false)],
        }
    }
}

/// How a transaction is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// A procedure of `PostgreSQL`'s, in one message.
    Function,
    /// A procedure of `MySQL`'s, in one message.
    Procedure,
    /// Statement by statement, each prepared.
    Statements,
}

impl By {
    /// What calls a procedure that brings something back.
    fn call(self, name: &str, parameters: &str) -> String {
        match self {
            Self::Function => format!("SELECT {name}({parameters})"),
            _ => format!("CALL {name}({parameters})"),
        }
    }
}

/// Which loads are offered.
#[derive(Clone, Debug, PartialEq)]
pub enum Loads {
    /// Closed ones of more and more sessions, until they bring no more, then those around the load line.
    Rising,
    /// The same, then open ones below, and up to the load line.
    Searched,
    /// Closed ones of so many sessions.
    Clients(Vec<u32>),
    /// Open ones of so many transactions a second.
    Rates(Vec<Iops>),
}

/// How it is set.
#[derive(Clone, Debug)]
pub struct OltpOptions {
    /// Which transactions.
    pub script: Script,
    /// Branches, or warehouses.
    pub scale: u32,
    /// Statement by statement, also where the system has procedures.
    pub statements: bool,
    /// Which loads.
    pub loads: Loads,
    /// Time of all points together.
    pub duration: Span,
    /// Time of each point; none for what the others leave it.
    pub measure: Option<Span>,
    /// What response times are judged by; none for one chosen from the lightest load.
    pub objective: Option<Objective>,
    /// What determines random numbers.
    pub seed: u64,
    /// Sessions at most.
    pub most_sessions: u32,
}

/// A minute of TPC-B on ten branches, with up to 64 sessions.
impl Default for OltpOptions {
    fn default() -> Self {
        Self {
            script: Script::default(),
            scale: 10,
            statements: false,
            loads: Loads::Rising,
            duration: Span::from_secs(60),
            measure: None,
            objective: None,
            seed: 1,
            most_sessions: 64,
        }
    }
}

/// What tables there are, how they are made, and what has to be in them.
#[derive(Clone, Debug)]
struct Tables {
    create: Vec<String>,
    /// In turns; the statements of each in any order.
    fill: Vec<Vec<String>>,
    index: Vec<String>,
    names: Vec<&'static str>,
    /// Rows of each at first.
    expected: Vec<u64>,
    /// The statement whose only row says whether all agrees.
    check: String,
}

/// Short transactions.
pub struct Oltp {
    options: OltpOptions,
    by: By,
    tables: Tables,
    before: Vec<Step>,
    sweep: Sweep,
    /// All points are made.
    swept: bool,
    work: Arc<dyn Transactions>,
    ledger: Arc<Ledger>,
}

/// A point that was measured.
struct Measured<'a> {
    step: &'a CrowdStep,
    seen: &'a CrowdSeen,
    run: Run,
}

impl Oltp {
    /// Its steps on a ground with these facts.
    ///
    /// # Errors
    /// What to say instead, in one line: no database, a system that it does not know, a scale or loads that cannot be.
    pub fn new(options: OltpOptions, facts: &Facts) -> Result<Self, String> {
        let Some((system, _)) = facts.database else {
            return Err(format!("{}: there is no database here", facts.subject.name));
        };
        let sweep = Sweep::new(plan::plan(&options)?);
        let by = match system {
            _ if options.statements => By::Statements,
            System::Postgres => By::Function,
            System::Mysql => By::Procedure,
            System::Sqlite | System::Oracle => By::Statements,
        };
        let scale = u64::from(options.scale);
        let tables = match options.script {
            Script::NewOrder => orders::tables(system, scale),
            _ => bank::tables(system, scale),
        };
        let tables =
            tables.ok_or_else(|| format!("no tables are made for {system}: give postgres://, mysql:// or sqlite:"))?;
        let ledger = Arc::new(Ledger::default());
        let work: Arc<dyn Transactions> = match options.script {
            Script::NewOrder => {
                Arc::new(trade::Trade { by, warehouses: scale, ledger: Arc::clone(&ledger), seed: options.seed })
            }
            script => Arc::new(bank::Bank { script, by, scale, ledger: Arc::clone(&ledger) }),
        };
        let before = before(system, by, options.script, &tables);
        Ok(Self { options, by, tables, before, sweep, swept: false, work, ledger })
    }

    fn step(&self, point: &Point, number: u64, runs: &[Run]) -> Step {
        let (sessions, name) = match point.pace {
            Pace::Closed { depth: 1 } => (1, "1 client".to_owned()),
            Pace::Closed { depth } => (depth, format!("{depth} clients")),
            Pace::Open { rate, .. } => {
                (plan::sessions_of_open(&self.options, runs), format!("{:.0} a second", rate.as_f64()))
            }
        };
        let crowd = CrowdStep {
            sessions,
            pace: point.pace,
            kinds: self.options.script.kinds(),
            work: CrowdWork::Transactions(Arc::clone(&self.work)),
            turns: None,
            warm_up: point.warm_up,
            least: point.least,
            most: point.most,
            precision: Precision::default(),
            objective: self.sweep.objective(),
            checkpoint: true,
            seed: self.options.seed.wrapping_add(number),
        };
        Step::crowd(name, crowd).measuring("whole transactions as a session sees them, commit included")
    }

    /// What a step was told, by its name.
    fn told<'a>(done: &'a [Done], name: &str) -> Option<&'a Row> {
        done.iter().find(|done| done.step.name == name)?.seen.statements()?.told.first()
    }

    /// What is wrong with what was loaded.
    fn wrongly_loaded(&self, done: &[Done]) -> Vec<String> {
        let Some(row) = Self::told(done, LOADED) else { return Vec::new() };
        let was_there = done.iter().any(|done| done.step.loads && matches!(done.seen, StepSeen::Paused));
        let both = self.tables.names.iter().zip(&self.tables.expected).zip(row);
        both.filter_map(|((name, expected), found)| {
            let found = found.int().and_then(|found| u64::try_from(found).ok()).unwrap_or(0);
            // Transactions of earlier runs added rows to some tables.
            let is_wrong = if was_there { found < *expected } else { found != *expected };
            is_wrong.then(|| format!("{name} has {found} rows instead of {expected}"))
        })
        .collect()
    }

    /// What does not agree at the end; none where that was not looked at.
    fn wrongs(&self, done: &[Done]) -> Option<Vec<String>> {
        let row = Self::told(done, CHECKED)?;
        let rows_before = |table: &str| {
            let place = self.tables.names.iter().position(|name| *name == table)?;
            Self::told(done, LOADED)?.get(place)?.int()
        };
        let before = |table| rows_before(table).unwrap_or(0);
        Some(match self.options.script {
            Script::NewOrder => {
                let before = orders::Before { orders: before("orders"), payments: before("payments") };
                orders::wrongs(u64::from(self.options.scale), row, &before, &self.ledger)
            }
            script => bank::wrongs(script, row, before("history"), &self.ledger),
        })
    }

    /// Points at which something came back, in the order in which they were made.
    fn measured(done: &[Done]) -> Vec<Measured<'_>> {
        done.iter().filter_map(measured).collect()
    }
}

fn measured(done: &Done) -> Option<Measured<'_>> {
    let (Work::Crowd(step), Some(seen)) = (&done.step.work, done.seen.crowd()) else { return None };
    let run = crowd_of(step, seen).run;
    (run.total.operations() + run.total.errors() > 0).then_some(Measured { step, seen, run })
}

/// What comes before the first point.
fn before(system: System, by: By, script: Script, tables: &Tables) -> Vec<Step> {
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
    if by != By::Statements {
        finish.extend(procedures(system, script));
    }
    before.push(step("Indexes, statistics, procedures", finish, 1));
    let counts: Vec<String> = tables.names.iter().map(|name| format!("(SELECT count(*) FROM {name})")).collect();
    before.push(telling(LOADED, format!("SELECT {}", counts.join(", "))));
    before
}

fn telling(name: &str, sql: String) -> Step {
    Step::statements(name, StatementsStep::new(1, move |_| vec![Asked::Told(sql.clone())])).uncounted()
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
        let by = if self.by == By::Statements { "prepared statements" } else { "one call of a procedure" };
        let script = match options.script {
            Script::NewOrder => "new-order, payment, order-status (10:10:1)",
            script => script.name(),
        };
        let objective = options.objective.map(|objective| ("objective", objective.to_string()));
        let all = [
            ("transactions", script.to_owned()),
            ("each is", by.to_owned()),
            ("scale", format!("{} {}", options.scale, options.script.unit())),
            ("loads", plan::words(options)),
            ("seed", options.seed.to_string()),
        ];
        all.into_iter().chain(objective).map(|(name, value)| (name.to_owned(), value)).collect()
    }

    fn files(&self) -> Vec<FileSpec> {
        Vec::new()
    }

    fn loads(&self) -> Bytes {
        // As PostgreSQL lays them out: 100,000 accounts with their key, or a warehouse with its stock and customers.
        let each = if self.options.script == Script::NewOrder { Bytes::mib(90) } else { Bytes::mib(15) };
        Bytes::new(u64::from(self.options.scale) * each.get())
    }

    fn data(&self) -> Option<String> {
        let Self { options, by, .. } = self;
        Some(format!("script {}, scale {}, procedures {}", options.script.name(), options.scale, *by != By::Statements))
    }

    fn expected(&self) -> usize {
        self.before.len() + plan::expected_points(&self.options) + 1
    }

    fn next(&mut self, done: &[Done], _facts: &Facts) -> Option<Step> {
        if let Some(step) = self.before.get(done.len()) {
            return Some(step.clone());
        }
        if self.swept || !self.wrongly_loaded(done).is_empty() {
            return None;
        }
        let runs: Vec<Run> = Self::measured(done).into_iter().map(|measured| measured.run).collect();
        let slices = done.iter().filter_map(|done| done.seen.crowd()).flat_map(|seen| &seen.series);
        let spent = slices.fold(Span::ZERO, |sum, slice| sum + slice.span);
        if let Some(point) = self.sweep.next(&runs, &plan::slots_of(&runs), spent) {
            return Some(self.step(&point, done.len() as u64, &runs));
        }
        self.swept = true;
        Some(telling(CHECKED, self.tables.check.clone()))
    }

    fn listings(&self, done: &[Done], _facts: &Facts) -> Vec<Listing> {
        let measured = Self::measured(done);
        let Some(best) = verdicts::most(&measured) else { return Vec::new() };
        let listing = |title: &str, text| Listing { title: title.into(), text };
        vec![
            listing(
                "As pgbench says it, of the most transactions a second",
                print::summary(&self.options, self.by, best),
            ),
            listing("All loads", print::loads(&measured)),
            listing("Response times by kind, of the most transactions a second", print::kinds(best)),
        ]
    }

    fn verdicts(&self, done: &[Done], facts: &Facts) -> Vec<String> {
        verdicts::verdicts(self, done, facts)
    }

    fn has_failed(&self, done: &[Done]) -> bool {
        !self.wrongly_loaded(done).is_empty() || self.wrongs(done).is_some_and(|wrongs| !wrongs.is_empty())
    }
}

#[cfg(test)]
mod tests;
