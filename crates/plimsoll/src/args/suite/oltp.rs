//! Flags of `plimsoll suite oltp`.

use clap::{Args, ValueEnum};
use plimsoll_record::Objective;
use plimsoll_suite::recipes::oltp::{Loads, Oltp, OltpOptions, Script};
use plimsoll_suite::{Facts, Recipe, SuiteOptions, Surroundings};
use plimsoll_units::{Iops, Span};

/// `plimsoll suite oltp`
#[derive(Debug, Args)]
pub struct OltpArgs {
    /// Which transactions
    #[arg(long, value_enum, default_value_t)]
    pub script: ScriptWord,
    /// Branches of 100,000 accounts, by default 10; with --script new-order warehouses, by default 2
    #[arg(long, value_name = "COUNT")]
    pub scale: Option<u32>,
    /// Send each statement on its own, prepared, as pgbench does; otherwise a transaction is one call of a procedure, where
    /// the system has them
    #[arg(long)]
    pub statements: bool,
    /// Closed loads of so many clients, and nothing else: 1,4,16; by default more and more until they bring no more
    #[arg(long, value_name = "COUNTS", value_delimiter = ',')]
    pub clients: Option<Vec<u32>>,
    /// Open loads of so many transactions a second, and nothing else: 100,200. Arrivals are independent of each other
    #[arg(long, visible_alias = "rates", value_name = "RATES", value_delimiter = ',', conflicts_with = "clients")]
    pub rate: Option<Vec<Iops>>,
    /// After the closed loads, open ones below the most that they brought, and up to the load line
    #[arg(long, conflicts_with_all = ["clients", "rate"])]
    pub open: bool,
    /// Measuring time in all
    #[arg(short, long, value_name = "TIME", default_value = "1m")]
    pub duration: Span,
    /// How long each load lasts, instead of a part of that
    #[arg(long, value_name = "TIME")]
    pub measure: Option<Span>,
    /// What the load line has to meet, such as 'p99<=20ms' or 'mean<=5ms'
    #[arg(short, long)]
    pub objective: Option<Objective>,
    /// What determines random numbers
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Sessions at most
    #[arg(long, value_name = "COUNT", default_value_t = 64)]
    pub max_sessions: u32,
}

/// Which transactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ScriptWord {
    /// TPC-B-like: an account, a teller and a branch are changed, and it is remembered, as pgbench does by default
    #[default]
    TpcB,
    /// An account is changed, and it is remembered, as pgbench -N does
    SimpleUpdate,
    /// An account is looked up, as pgbench -S does
    SelectOnly,
    /// TPC-C-like, not TPC-C: new orders, payments and questions after an order, 10:10:1
    NewOrder,
}

impl From<ScriptWord> for Script {
    fn from(word: ScriptWord) -> Self {
        match word {
            ScriptWord::TpcB => Self::TpcB,
            ScriptWord::SimpleUpdate => Self::SimpleUpdate,
            ScriptWord::SelectOnly => Self::SelectOnly,
            ScriptWord::NewOrder => Self::NewOrder,
        }
    }
}

impl SuiteOptions for OltpArgs {
    fn sessions(&self) -> u32 {
        self.max_sessions
    }

    fn recipe(&self, _surroundings: &Surroundings, facts: &Facts) -> Result<Box<dyn Recipe>, String> {
        let loads = match (&self.clients, &self.rate) {
            (Some(clients), _) => Loads::Clients(clients.clone()),
            (_, Some(rates)) => Loads::Rates(rates.clone()),
            _ if self.open => Loads::Searched,
            _ => Loads::Rising,
        };
        let options = OltpOptions {
            script: self.script.into(),
            scale: self.scale.unwrap_or(if self.script == ScriptWord::NewOrder { 2 } else { 10 }),
            statements: self.statements,
            loads,
            duration: self.duration,
            measure: self.measure,
            objective: self.objective,
            seed: self.seed,
            most_sessions: self.max_sessions,
        };
        Ok(Box::new(Oltp::new(options, facts)?))
    }
}
