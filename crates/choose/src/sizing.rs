//! What to buy for a demand: the design point, every configuration of the catalogue against it, and the cheapest that
//! carry it.
//!
//! Knows no form of report and no product. What is asked is a [`Wanted`], made of a demand by [`wanted`]; [`size`] looks
//! for what carries it, and [`judge`] says the same of one configuration.

mod assess;
mod backlog;
mod burst;
mod classes;
mod design;
mod machines;
mod size;
mod wanted;

use std::sync::Arc;

use plimsoll_catalogue::{Cite, Counts, Offer, Peak, Price};
use plimsoll_ingest::Class;
use plimsoll_units::Span;

pub use backlog::{Allowance, Backlog};
pub(crate) use classes::Windows;
pub use design::{Burst, Busiest, ClassLoad, Design, Growth, Measured, Point, Step, Wanted, Window};
pub use size::{Search, UnknownProvider, judge, size};
pub use wanted::{Unclear, wanted};

/// What was found for a demand.
#[derive(Clone, Debug)]
pub struct Sizing {
    /// What was wanted.
    pub wanted: Wanted,
    /// What carries it and meets the objective: those with a price, the cheapest first, then those without.
    pub choices: Vec<Choice>,
    /// Priced configurations of all levels, cheapest first; each has fewer waiting sessions than every cheaper one.
    pub frontier: Vec<Choice>,
    /// What carries it and misses the objective, as simulated; the cheapest first.
    pub nearly: Vec<Choice>,
    /// Configurations that carry the load and meet the objective, but are slower than today; cheapest first.
    pub slower: Vec<Choice>,
    /// Products that do not carry it in any configuration, the nearest miss first.
    pub rejected: Vec<Rejection>,
    /// Configurations whose ceilings or price were worked out.
    pub looked_at: u64,
}

/// A configuration that carries what is wanted.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The offer.
    pub offer: Offer,
    /// Its price in the wanted currency; `None` when the catalogue has none.
    pub price: Option<Price>,
    /// The limit that the load meets first; `None` when the catalogue knows no limit.
    pub binds: Option<Limit>,
    /// The limit that it meets after that one.
    pub next: Option<Limit>,
    /// How it answers at the expected load, simulated, class by class; empty when the catalogue has no model of it.
    pub latency: Vec<ClassLatency>,
    /// Backlog of the series at its limits, without peaks inside windows; `None` if a percentile was requested.
    pub backlog: Option<Backlog>,
    /// Classes that it answers more slowly than the storage of today, by a fifth and more.
    pub slower: Vec<Slower>,
    /// The objective's measure of it; `None` without an objective or a model.
    pub reached: Option<Span>,
    /// What more it carries while burst credits last. Nothing is sized by it.
    pub peak: Option<Peak>,
    /// Machines of its provider that let the design point through; `None` when there is no such table, or a machine was
    /// named.
    pub machines: Option<Machines>,
    /// What is doubtful about it.
    pub risks: Vec<Risk>,
}

/// A ceiling beside the design point.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// What a person reads when it binds.
    pub name: Arc<str>,
    /// What it counts.
    pub counts: Counts,
    /// Which point of the demand it is nearest to.
    pub point: Busiest,
    /// Operations a second, of that point's mix, that it allows.
    pub iops: f64,
    /// Bytes a second of them.
    pub bytes_per_second: f64,
    /// What it allows over the design point: 1 is just enough, 1.2 leaves a fifth.
    pub over: f64,
}

/// How long operations of a class take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassLatency {
    /// What they are for.
    pub class: Class,
    /// In the mean.
    pub mean: Span,
    /// Not exceeded by 99 of 100; `None` when too few were simulated.
    pub p99: Option<Span>,
}

/// A class of operations that a choice answers more slowly than the storage of today does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slower {
    /// What the operations are for, as the input says.
    pub class: Class,
    /// Mean response time today, measured.
    pub today: Span,
    /// The same of the choice, simulated at the expected load.
    pub then: Span,
}

/// Machines that a configuration can be attached to without being held up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machines {
    /// How many let the design point through.
    pub enough: usize,
    /// Of how many that the catalogue knows of this provider.
    pub of: usize,
    /// Those that let the least more through, the least first.
    pub least: Vec<String>,
}

/// What is doubtful about a choice.
#[derive(Clone, Debug, PartialEq)]
pub struct Risk {
    /// Of which sort.
    pub sort: RiskSort,
    /// One sentence.
    pub text: String,
    /// The source of the figure in question, when it is about one.
    pub cite: Option<Arc<Cite>>,
}

/// Sorts of doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RiskSort {
    /// A ceiling of it was not read with the vendor.
    Ceiling,
    /// When it answers is inferred, or not known.
    Latency,
    /// Its price was not read with the vendor, is old, or is without something.
    Price,
    /// It needs something, such as a machine of some size.
    Needs,
}

/// A product that does not carry what is wanted, or one configuration of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejection {
    /// The product, or the configuration that came nearest.
    pub name: String,
    /// Why.
    pub why: Why,
}

/// Why something does not carry what is wanted.
#[derive(Clone, Debug, PartialEq)]
pub enum Why {
    /// A ceiling is below the design point, and nothing lifts it.
    Ceiling(Limit),
    /// Replayed with the whole series, more waits for its limits than is allowed.
    Waits(Backlog),
    /// The model does not sustain the expected load: so many operations of it a second, of so many.
    Sustains {
        /// What it sustains.
        iops: f64,
        /// What is expected.
        wanted: f64,
        /// What holds it.
        held_by: String,
    },
    /// It cannot be had so: too large, another provider's machine, a rule of the vendor. In words.
    Refused(String),
}

impl Slower {
    /// Ratio of the simulated response time to that of today.
    pub fn times(&self) -> f64 {
        self.then.as_secs_f64() / self.today.as_secs_f64()
    }
}

impl Choice {
    /// Mean number of sessions that wait for reads and log writes at a point: rate times simulated response time (Little
    /// 1961). `None` without a model.
    pub fn waiting(&self, point: &Point) -> Option<f64> {
        let mean = |class: Class| self.latency.iter().find(|one| one.class == class).map(|one| one.mean.as_secs_f64());
        let waited_for = point.classes.iter().filter(|load| load.reads > 0.0 || load.durable);
        waited_for.map(|load| Some(load.iops * mean(load.class)?)).sum()
    }

    /// True if it meets the objective, if there is none, or if no operation is in its scope.
    fn meets(&self, wanted: &Wanted) -> bool {
        let limit = wanted.objective.map(|objective| objective.limit);
        self.reached.zip(limit).is_none_or(|(reached, limit)| reached <= limit)
    }

    /// Ratio of the slowest class, compared with today; 1 if none is slower.
    fn slowdown(&self) -> f64 {
        self.slower.iter().map(Slower::times).fold(1.0, f64::max)
    }
}

impl Why {
    /// How near it came: the share of the design point that it carries, 0 for what cannot be had.
    pub fn share(&self) -> f64 {
        match self {
            Self::Ceiling(limit) => limit.over,
            Self::Sustains { iops, wanted, .. } => iops / wanted,
            Self::Waits(_) => 1.0,
            Self::Refused(_) => 0.0,
        }
    }
}
