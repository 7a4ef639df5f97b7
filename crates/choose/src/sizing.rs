//! What to buy for a demand: the design point, every configuration of the catalogue against it, and the cheapest that
//! carry it.
//!
//! Knows no form of report and no product. A [`Wanted`] is made of a demand by [`wanted`]; [`size`] finds the
//! configurations that carry it, [`judge`] assesses one configuration, and [`layouts`] separates redo and temporary data.

mod assess;
mod backlog;
mod burst;
mod classes;
mod design;
mod layout;
mod machines;
mod objective;
mod platform;
mod product_facts;
mod series;
mod size;
mod wanted;

use std::sync::Arc;

use plimsoll_catalogue::{Cite, Counts, Money, Offer, Peak, Price, Status};
use plimsoll_ingest::Class;
use plimsoll_units::Span;

pub use backlog::{Allowance, Backlog};
pub(crate) use classes::Windows;
pub use design::{Burst, Busiest, ClassLoad, Design, Growth, Measured, Point, Step, Wanted, Window};
pub use layout::{Content, VolumeLayout, VolumePart, layouts};
pub use objective::{ClassObjective, Reached};
pub use platform::{Cluster, Exadata, Platform};
pub use size::{Search, UnknownProvider, judge, size};
pub use wanted::{Unclear, wanted};

/// Factor on the price of a list that was not read anywhere when configurations are ranked: public tables of one such
/// price (Hyperdisk Balanced, 0.08 and 0.10 USD for each GiB) differ by a quarter.
const UNREAD_PRICE: f64 = 1.25;

/// What was found for a demand.
#[derive(Clone, Debug)]
pub struct Sizing {
    /// What was wanted.
    pub wanted: Wanted,
    /// What carries it and meets the objectives, by [`Choice::cost`]: the cheapest first, those without a price last.
    pub choices: Vec<Choice>,
    /// Priced configurations of all levels, cheapest first; each has fewer waiting sessions than every cheaper one.
    pub frontier: Vec<Choice>,
    /// What carries it and misses an objective, as simulated; the cheapest first.
    pub nearly: Vec<Choice>,
    /// Configurations that carry the load and meet the objectives, but are slower than today; cheapest first.
    pub slower: Vec<Choice>,
    /// Layouts that separate redo and temporary data, as [`layouts`] finds them; empty from [`size`].
    pub layouts: Vec<VolumeLayout>,
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
    /// Response times that the objectives are about; without those that no operation is in scope of.
    pub reached: Vec<Reached>,
    /// What more it carries while burst credits last. Nothing is sized by it.
    pub peak: Option<Peak>,
    /// The cheapest machine of its provider that lets the design point through; `None` if the catalogue has none of the
    /// provider, or the configuration names a machine.
    pub machine: Option<Attachment>,
    /// Probability of losing the data of the whole configuration in a year, 0 to 1; `None` if the vendor states none.
    pub yearly_loss: Option<f64>,
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

/// A machine with the volumes of a configuration, chosen by its limits for storage only.
#[derive(Clone, Debug)]
pub struct Attachment {
    /// The configuration on the machine.
    pub offer: Offer,
    /// Price of the machine in a month; `None` if the catalogue has none.
    pub monthly: Option<Money>,
    /// The limit of the machine that the load meets first.
    pub binds: Option<Limit>,
    /// Volumes that are attached.
    pub volumes: u32,
    /// Volumes that can be attached, where the catalogue has the number.
    pub volumes_max: Option<u32>,
    /// Bandwidth of its network interface in Gbit/s, where the catalogue has it.
    pub network_gbps: Option<f64>,
    /// Machines of the provider whose limits allow the design point.
    pub enough: usize,
    /// Machines of the provider in the catalogue, flexible ones once for each size that was tried.
    pub of: usize,
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
    /// Data can be lost, or instances cannot share it.
    Safety,
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
    /// No machine of its provider in the catalogue lets the design point through.
    NoMachine {
        /// Machines of the provider.
        of: usize,
        /// The machine that comes nearest, with its limit.
        nearest: Option<(String, Limit)>,
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

    /// True if it meets every objective that has operations in its scope.
    pub fn meets(&self) -> bool {
        self.reached.iter().all(Reached::is_met)
    }

    /// Price in a month of the configuration with its machine; of the configuration alone if the machine has no price.
    pub fn total(&self) -> Option<Money> {
        let storage = self.price.as_ref()?.monthly;
        let machine = self.machine.as_ref().and_then(|machine| machine.monthly);
        Some(machine.and_then(|machine| storage.plus(machine)).unwrap_or(storage))
    }

    /// The total that it is ranked by, in the units of the currency: prices that were not read anywhere count a quarter
    /// more; infinite without a price.
    pub fn cost(&self) -> f64 {
        let factor = if self.has_unread_price() { UNREAD_PRICE } else { 1.0 };
        self.total().map_or(f64::INFINITY, |total| total.as_f64() * factor)
    }

    /// True if an amount of its price list was inferred or recalled.
    pub fn has_unread_price(&self) -> bool {
        self.price.as_ref().is_some_and(|price| price.cite.status >= Status::Inferred)
    }

    /// How far it misses the objective that it misses most: the response time over its bound; 0 without objectives.
    fn miss(&self) -> f64 {
        self.reached.iter().map(Reached::over).fold(0.0, f64::max)
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
            Self::NoMachine { nearest, .. } => nearest.as_ref().map_or(0.0, |(_, limit)| limit.over),
            Self::Refused(_) => 0.0,
        }
    }
}
