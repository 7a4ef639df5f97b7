//! A search for settings of a database that suit its storage and a load.
//!
//! The search of `analyse` determines the next run; the ground changes the settings and puts them back.

mod load;
mod plan;
mod print;
mod script;
mod verdicts;

use std::collections::VecDeque;

use plimsoll_analyse::{Configuration, Precision, TuneRun, Tuning};
use plimsoll_database::{Row, SettingsChange, System};
use plimsoll_load::{Arrival, Pace};
use plimsoll_record::{DatabaseSide, Listing, StepQuantity, UntriedSetting, Verdict};
use plimsoll_units::{Bytes, Iops, Span};

use crate::ground::Facts;
use crate::options::{OptionsError, SuiteOptions, Surroundings, spelled};
use crate::recipe::{CompletedStep, Recipe};
use crate::result::StepResult;
use crate::session_run::session_run;
use crate::sql::{SessionWork, SessionsResult, SessionsStep};
use crate::step::{SettingsStep, Step, Work};

use super::ladder::SqlScript;
use super::target::TargetError;
use load::PreparedLoad;
use plan::{Prospects, TuneConditions};

/// Name of the step whose rows are the present settings.
const PRESENT: &str = "Read the present settings";
/// Refused configurations in succession after which the server is considered unusable.
const MAX_REFUSALS: usize = 2;

/// Built-in loads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum TuneLoad {
    /// Short transactions that write: TPC-B-like, as in the suite oltp
    #[default]
    Oltp,
    /// Full scans of tables of 4 MiB, a random one each time
    Scan,
    /// Rows of a random range of an index, each in another block: a bitmap heap scan in PostgreSQL
    Range,
}

/// Figure by which configurations are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum TuneGoal {
    /// Transactions per second
    #[default]
    Throughput,
    /// Mean response time
    Mean,
    /// 99th percentile of the response time
    P99,
}

/// Options of the search.
#[derive(Clone, Debug, clap::Args)]
pub struct TuneOptions {
    /// The load
    #[arg(long, value_enum, default_value_t, conflicts_with = "script")]
    pub load: TuneLoad,
    /// File with a transaction of yours instead, in the form of pgbench: \set NAME random(1, 1000), and statements with
    /// :NAME
    #[arg(long, value_name = "FILE")]
    pub script: Option<SqlScript>,
    /// Allow the script to write. YOUR TABLES ARE CHANGED. By default its sessions on an existing database are read-only
    #[arg(long = "allow-writes", requires = "script")]
    pub may_write: bool,
    /// File with statements that run once before the search, such as creating and filling tables
    #[arg(long, value_name = "FILE", requires = "script")]
    pub setup: Option<SqlScript>,
    /// File with statements that run once after the search
    #[arg(long, value_name = "FILE", requires = "script")]
    pub teardown: Option<SqlScript>,
    /// Approximate size of the tables of the loads scan and range; larger than all caches, so that reads reach the storage
    #[arg(long, value_name = "SIZE", default_value = "512MiB")]
    pub table: Bytes,
    /// Branches of 100,000 accounts of the load oltp
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    pub scale: u32,
    /// Number of clients
    #[arg(long, value_name = "COUNT", default_value_t = 8)]
    pub clients: u32,
    /// Open load of this many transactions per second on average, which arrive independently (Poisson); by default each
    /// client starts its next transaction after the previous one
    #[arg(long, value_name = "RATE")]
    pub rate: Option<Iops>,
    /// Figure to improve
    #[arg(long, value_enum, default_value_t)]
    pub goal: TuneGoal,
    /// Try only these settings, such as `io_method,commit_delay`
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Time of the search after loading
    #[arg(long, value_name = "TIME", default_value = "10m")]
    pub budget: Span,
    /// Run all combinations of the values after the search, six times each and outside of its time, and compare the best with the
    /// settings that the search chose
    #[arg(long = "grid")]
    pub has_grid: bool,
    /// Measured time of a run, after a warm-up of a quarter of it
    #[arg(long, value_name = "TIME", default_value = "4s")]
    pub measure: Span,
    /// Seed of the random numbers
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

impl TuneOptions {
    fn pace(&self) -> Pace {
        match self.rate {
            Some(rate) => Pace::Open { rate, arrival: Arrival::Poisson },
            None => Pace::Closed { depth: self.clients },
        }
    }
}

impl SuiteOptions for TuneOptions {
    fn sessions(&self) -> u32 {
        self.clients
    }

    fn uses_own_tables(&self) -> bool {
        self.script.is_none()
    }

    fn writes(&self) -> bool {
        self.uses_own_tables() || self.may_write || self.setup.is_some() || self.teardown.is_some()
    }

    fn recipe(&self, _surroundings: &Surroundings, facts: &Facts) -> Result<Box<dyn Recipe>, OptionsError> {
        Ok(Box::new(Tune::new(self.clone(), facts)?))
    }
}

/// Options without a search.
#[rustfmt::skip]
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
enum TuneError {
    #[error("{0} has no settings to search: give postgres:// or mysql://")] System(System),
    #[error("the throughput of an open load is its rate: give --goal mean or p99 with --rate")] OpenThroughput,
    #[error("the load needs clients, branches and time: give --clients, --scale and --measure")] Load,
    #[error("{name:?} is no setting that is tried: give --only some of {names}")] Setting { name: String, names: String },
}

/// The search as a recipe.
pub struct Tune {
    options: TuneOptions,
    system: System,
    load: PreparedLoad,
    /// Whether the server was created for the run: it may be restarted, and its page cache dropped.
    is_created: bool,
    search: Option<Search>,
}

/// The search after the settings of the server are known.
struct Search {
    tuning: Tuning,
    restarting: Vec<String>,
    untried: Vec<UntriedSetting>,
    /// Number of steps before it.
    before: usize,
    /// Steps of the present run that are not executed yet.
    pending: VecDeque<Step>,
    /// Settings of the server.
    applied: Configuration,
    issued: usize,
    measured: u64,
    refusals: usize,
    has_ended: bool,
}

impl Tune {
    /// The recipe on a ground with these facts.
    ///
    /// # Errors
    /// No database, an unsupported system, or invalid options.
    pub fn new(options: TuneOptions, facts: &Facts) -> Result<Self, OptionsError> {
        let Some((system, ref about)) = facts.database else {
            return Err(TargetError::NoDatabase(facts.subject.name.clone()).into());
        };
        if !matches!(system, System::Postgres | System::Mysql) {
            return Err(TuneError::System(system).into());
        }
        if options.clients == 0 || options.measure.is_zero() || options.scale == 0 {
            return Err(TuneError::Load.into());
        }
        if options.rate.is_some() && options.goal == TuneGoal::Throughput {
            return Err(TuneError::OpenThroughput.into());
        }
        let unknown = options.only.iter().find(|name| !plan::list_names(system).any(|existing| existing == *name));
        if let Some(name) = unknown {
            let names: Vec<&str> = plan::list_names(system).collect();
            return Err(TuneError::Setting { name: name.clone(), names: names.join(",") }.into());
        }
        let is_created = about.created;
        let mut load = PreparedLoad::new(&options, system, facts)?;
        load.before.push(Step::query(PRESENT, plan::query(system)));
        Ok(Self { options, system, load, is_created, search: None })
    }

    /// Begins the search with the rows of the present settings.
    fn begin(&self, rows: &[Row], before: usize) -> Search {
        let conditions = TuneConditions {
            system: self.system,
            restarts: self.is_created,
            writes: self.load.kind.writes,
            only: self.options.only.clone(),
            budget: self.options.budget,
            grid: self.options.has_grid,
        };
        let Prospects { plan, restarting, untried } = Prospects::new(&conditions, rows);
        Search {
            applied: plan.present.clone(),
            tuning: Tuning::new(plan),
            restarting,
            untried,
            before,
            pending: VecDeque::new(),
            issued: 0,
            measured: 0,
            refusals: 0,
            has_ended: false,
        }
    }

    /// A run with the load and this number of its random numbers.
    fn sessions(&self, search: &Search, configuration: &Configuration, done: &[CompletedStep], number: u64) -> Step {
        let name = search.name(configuration);
        let round = done.iter().filter(|done| done.step.counts && done.step.name == name).count();
        let step = SessionsStep {
            sessions: self.options.clients,
            pace: self.options.pace(),
            kinds: vec![self.load.kind.clone()],
            work: SessionWork::Transactions(std::sync::Arc::clone(&self.load.work)),
            turns: None,
            warm_up: self.options.measure / 4,
            least: self.options.measure,
            max: self.options.measure,
            precision: Precision { iops: 0.0, mean: 0.0, quantile: 0.0 },
            objective: None,
            checkpoint: true,
            seed: self.options.seed.wrapping_add(number),
        };
        Step::sessions(name, step).round(u32::try_from(round + 1).unwrap_or(u32::MAX))
    }

    /// Steps of a run: the settings, and the load.
    fn steps_of(&self, search: &Search, run: &TuneRun, done: &[CompletedStep]) -> Vec<Step> {
        let configure = |change| {
            let step = SettingsStep { settings: run.configuration.clone(), change };
            Step::new("Change the settings", Work::Settings(step))
        };
        let sessions = |number| self.sessions(search, &run.configuration, done, number);
        let measure = |number| sessions(number).measuring(StepQuantity::Transactions);
        let needs_restart = |name: &String| search.restarting.contains(name);
        if run.differing.iter().any(needs_restart) {
            // Both sides start with an empty cache, even if the settings remain from the previous run, and read the same.
            return vec![configure(SettingsChange::Restart), measure(search.measured / 2)];
        }
        // Otherwise the same random numbers would find the blocks of the previous run in the cache of the server.
        let number = 2 * search.measured;
        let differs = search.applied.iter().zip(&run.configuration).any(|(a, b)| a != b && needs_restart(&a.0));
        let change = if differs { SettingsChange::Restart } else { SettingsChange::Reload };
        if run.is_first {
            // The server's cache is as after any other run of the comparison.
            let warming = sessions(number + 1).uncounted();
            return vec![configure(change), warming, configure(SettingsChange::Reload), measure(number)];
        }
        vec![configure(change), measure(number)]
    }
}

impl Search {
    /// Name of a configuration: its differences from the settings at the start.
    fn name(&self, configuration: &Configuration) -> String {
        let changes = configuration.iter().zip(self.tuning.present()).filter(|(now, present)| now != present);
        let changes: Vec<String> = changes.map(|((name, value), _)| format!("{name} = {value}")).collect();
        if changes.is_empty() { "present settings".into() } else { changes.join(", ") }
    }

    /// Takes the result of the last step.
    fn take(&mut self, last: &CompletedStep, goal: TuneGoal) {
        match (&last.step.work, &last.result) {
            (Work::Settings(step), StepResult::Configured(result)) => match &result.refused {
                Some(why) => self.refuse(why.clone()),
                None => self.applied.clone_from(&step.settings),
            },
            (Work::Sessions(step), StepResult::Sessions(result)) if last.step.counts => {
                self.measured += 1;
                match judge(step, result, goal) {
                    Some(value) => {
                        self.refusals = 0;
                        self.tuning.observe(value);
                    }
                    None => self.refuse("no transaction was completed".into()),
                }
            }
            _ => {}
        }
    }

    fn refuse(&mut self, why: String) {
        self.pending.clear();
        self.refusals += 1;
        self.tuning.refuse(why);
    }

    const fn is_broken(&self) -> bool {
        self.refusals >= MAX_REFUSALS
    }
}

/// Result of a run, better if higher; `None` without transactions.
fn judge(step: &SessionsStep, result: &SessionsResult, goal: TuneGoal) -> Option<f64> {
    let run = session_run(step, result).run;
    let value = match goal {
        TuneGoal::Throughput => run.figures.iops.value,
        TuneGoal::Mean => 1.0 / run.figures.mean_ns.value,
        TuneGoal::P99 => 1.0 / run.figures.p99_ns.value,
    };
    (run.total.operations() > 0 && value.is_finite() && value > 0.0).then_some(value)
}

impl Recipe for Tune {
    fn name(&self) -> &'static str {
        "tune"
    }

    fn follows(&self) -> String {
        "paired comparisons of settings, one at a time and then together".into()
    }

    fn settings(&self) -> Vec<(String, String)> {
        let options = &self.options;
        let load = options.script.as_ref().map_or_else(|| spelled(&options.load), |script| script.name.clone());
        let rate = options.rate.map(|rate| ("transactions per second".to_owned(), rate.as_f64().to_string()));
        let mut settings = crate::recipe::settings([
            ("load", load),
            ("clients", options.clients.to_string()),
            ("goal", spelled(&options.goal)),
            ("run", format!("{} after a warm-up of {}", options.measure, options.measure / 4)),
            ("time of the search", options.budget.to_string()),
            ("seed", options.seed.to_string()),
        ]);
        settings.extend(rate);
        settings
    }

    fn data_size(&self) -> Bytes {
        load::data_size(&self.options)
    }

    fn data_key(&self) -> Option<String> {
        let options = &self.options;
        match options.load {
            _ if options.script.is_some() => None,
            TuneLoad::Oltp => Some(format!("load oltp, scale {}", options.scale)),
            load => Some(format!("load {}, table {}", spelled(&load), options.table)),
        }
    }

    fn expected(&self) -> usize {
        let after = self.load.after.len();
        let search = self.search.as_ref();
        let search =
            search.map_or(100, |search| search.issued + search.pending.len() + 2 * search.tuning.remaining_runs());
        self.load.before.len() + search + after + 1
    }

    fn next(&mut self, done: &[CompletedStep], _facts: &Facts) -> Option<Step> {
        if let Some(step) = self.load.before.get(done.len()) {
            return Some(step.clone());
        }
        let mut search = if let Some(search) = self.search.take() {
            search
        } else {
            let read = done.iter().rfind(|done| done.step.name == PRESENT)?;
            self.begin(&read.result.statements()?.rows, done.len())
        };
        let step = self.continue_search(&mut search, done);
        let end = done.len().checked_sub(search.before + search.issued);
        search.issued += usize::from(step.is_some());
        let has_ended = search.has_ended;
        self.search = Some(search);
        if has_ended { self.load.after.get(end?).cloned() } else { step }
    }

    fn listings(&self, _done: &[CompletedStep], _facts: &Facts) -> Vec<Listing> {
        self.search.as_ref().map(|search| print::build_listings(self, search)).unwrap_or_default()
    }

    fn verdicts(&self, done: &[CompletedStep], _facts: &Facts) -> Vec<Verdict> {
        self.search.as_ref().map(|search| verdicts::verdicts(search, done)).unwrap_or_default()
    }

    fn judges_partial_runs(&self) -> bool {
        true
    }

    fn database_result(&self, _done: &[CompletedStep], facts: &Facts) -> DatabaseSide {
        // Runs of equal loads have neither a knee nor a load line.
        let about = facts.database.as_ref().map(|(_, about)| about.clone()).unwrap_or_default();
        DatabaseSide { about, ..DatabaseSide::default() }
    }

    fn has_failed(&self, _done: &[CompletedStep]) -> bool {
        self.search.as_ref().is_some_and(Search::is_broken)
    }
}

impl Tune {
    /// The next step of the search; `None` at its end.
    fn continue_search(&self, search: &mut Search, done: &[CompletedStep]) -> Option<Step> {
        if search.has_ended {
            return None;
        }
        if search.issued > 0
            && let Some(last) = done.last()
        {
            search.take(last, self.options.goal);
        }
        if search.pending.is_empty() && !search.is_broken() {
            let spent = done[search.before..].iter().fold(Span::ZERO, |sum, done| sum + done.span());
            if let Some(run) = search.tuning.next(spent) {
                search.pending = self.steps_of(search, &run, done).into();
            }
        }
        let step = search.pending.pop_front();
        search.has_ended = step.is_none();
        step
    }
}

#[cfg(test)]
mod tests;
