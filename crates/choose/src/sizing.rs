//! Sizing for a demand: the design point, the catalogue's configurations compared with it, and the cheapest suitable
//! ones.
//!
//! [`SizingRequirements`] are derived from a demand by [`derive_requirements`]; [`size`] finds suitable configurations, [`judge`] assesses a
//! given configuration, and [`layouts`] separates redo and temporary data.

mod alternatives;
mod assess;
mod assumption;
mod attempt;
mod backlog;
mod burst;
mod candidates;
mod classes;
mod compute;
mod derivation;
mod design;
mod frontier;
mod hits;
mod layout;
mod licences;
mod machines;
mod objective;
mod platform;
mod pool;
mod present;
mod product_facts;
mod scaled;
mod search;
mod series;
mod size;
mod speedup;
mod today;

use std::sync::Arc;

use plimsoll_catalogue::{Cite, Counts, Doubt, Money, NoModel, Offer, Peak, Price, Status};
use plimsoll_ingest::Class;
use plimsoll_language::say;
use plimsoll_units::{Bytes, Span};

use crate::climb::NoConfiguration;
use crate::diagnosis::DatabaseEffect;

pub use alternatives::{Alternatives, LessHeadroom, OtherLoad, ScanWindows, WithoutScans};
pub use assumption::{Assumption, LoadAssumption};
pub use backlog::{Allowance, Backlog};
pub(crate) use classes::ClassWindows;
pub use compute::{CellScans, Compute, ComputeOrigin, MemoryOrigin, ProcessorOrigin, ProcessorPeaks};
pub use derivation::{DesignError, check_counted, derive_requirements, find_refusal};
pub use design::{
    Burst, Busiest, ClassLoad, DemandWindow, Design, DesignPoint, Growth, GrowthStep, Measured, PeakSource,
    SizingRequirements, StepKind,
};
pub use frontier::ProviderFrontier;
pub use hits::HitAssumption;
pub use layout::{VolumeContent, VolumeLayout, VolumePart, layouts};
pub use licences::{ProcessorLicences, fewer_processors, more_processors};
pub use objective::{ClassObjective, Reached};
pub use platform::{Cluster, EndedInstances, Exadata, ForeignPlatform, MachineShare, Platform, ShareOrigin};
pub(crate) use pool::map;
pub use pool::{InOrder, Pool};
pub use present::PresentCost;
pub use product_facts::{unclear_rac, unsupported_rac};
pub use scaled::{ScaleKind, ScaledPart};
pub use search::{ScopeError, Search, UnknownProvider};
pub use size::{judge, size};
pub use speedup::{SpeedBound, SpeedLimit};
pub use today::Best;

/// Share by which a price that was inferred or recalled may be too low.
const UNVERIFIED_EXCESS: f64 = 0.25;

/// Completeness of a price, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PriceDoubt {
    /// All parts have a price that was read in a document.
    Firm,
    /// The price of the storage or of the machine was inferred or recalled.
    Unverified,
    /// The storage has a price, the machine has none.
    Partial,
    /// The storage has no price.
    Unpriced,
}

impl PriceDoubt {
    /// The same without the difference between complete prices, verified or not: choices rank by it before the price.
    const fn completeness(self) -> Self {
        match self {
            Self::Unverified => Self::Firm,
            other => other,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Sizing {
    /// The design point.
    pub required: SizingRequirements,
    /// Suitable configurations that meet the objectives, by [`Choice::rank`].
    pub choices: Vec<Choice>,
    /// Priced configurations of all levels, cheapest first; each has fewer waiting sessions than every cheaper one.
    pub frontier: Vec<Choice>,
    /// The same for each provider with priced configurations, by its cheapest; those with slower ones only are last.
    pub providers: Vec<ProviderFrontier>,
    /// Configurations that sustain the load but miss an objective in simulation; the cheapest first.
    pub nearly: Vec<Choice>,
    /// Configurations that sustain the load and meet the objectives, but are slower than today by more than the tolerance;
    /// the cheapest first.
    pub slower: Vec<Choice>,
    /// Layouts that separate redo and temporary data, as [`layouts`] finds them; empty from [`size`].
    pub layouts: Vec<VolumeLayout>,
    /// Products without a suitable configuration, the nearest miss first.
    pub rejected: Vec<Rejection>,
    /// For a database that is licensed by processors: a machine for the recommended configuration that has fewer of them
    /// than its own, at a higher price.
    pub fewer_processors: Option<Attachment>,
    /// A machine for the recommended configuration with the processors that may be needed, if it has more than its own, as
    /// [`more_processors`] finds it; `None` from [`size`].
    pub more_processors: Option<Attachment>,
    /// A wider stripe of the recommended product that costs much less, as [`Alternatives::wider_stripe`]
    /// finds it; `None` from [`size`].
    pub wider: Option<Choice>,
    /// A configuration of the recommended product with less headroom that costs much less; `None` from [`size`].
    pub less_headroom: Option<LessHeadroom>,
    /// The load without a limit of the resource manager, if there is one; `None` from [`size`].
    pub uncapped: Option<OtherLoad>,
    /// The load without assumed peaks, if the windows of the input are so long that these are several times the mean; `None`
    /// from [`size`].
    pub constant_load: Option<OtherLoad>,
    /// The load without a few windows of large reads that determine it, as [`Alternatives::without_scans`] finds it; `None` from
    /// [`size`].
    pub without_scans: Option<WithoutScans>,
    /// What the recommended configuration assumes of the memory of an array; `None` from [`size`].
    pub hits: Option<HitAssumption>,
    /// The cost of today's configuration, if stated.
    pub present: Option<PresentCost>,
    /// Number of evaluated configurations.
    pub evaluated: u64,
}

/// A configuration that sustains the design point.
#[derive(Clone, Debug)]
pub struct Choice {
    pub offer: Offer,
    /// Its price in the requested currency; `None` if the catalogue has none.
    pub price: Option<Price>,
    /// The tightest limit; `None` if the catalogue has none.
    pub binds: Option<DesignLimit>,
    pub next: Option<DesignLimit>,
    /// Simulated latency at the expected load by class; empty if the catalogue has no model.
    pub latency: Vec<ClassLatency>,
    /// Simulated mean latency at the mean load of the input by class, for comparison with today's; empty without a model.
    pub usual: Vec<ClassLatency>,
    /// Backlog of the series at its limits, without peaks inside windows; `None` if a percentile was requested.
    pub backlog: Option<Backlog>,
    /// Classes that are slower than with today's storage, by at least a fifth.
    pub slower: Vec<Slower>,
    /// Effect on the database's time at the mean load of the input; `None` if the input does not split that time.
    pub effect: Option<DatabaseEffect>,
    /// Response times for the objectives; objectives without operations in scope are omitted.
    pub reached: Vec<Reached>,
    /// Additional throughput while burst credits last; not used for sizing.
    pub peak: Option<Peak>,
    /// The provider's cheapest machine with sufficient limits; `None` if the catalogue has none of the provider, or the
    /// configuration names a machine.
    pub machine: Option<Attachment>,
    /// Probability of losing the data of the whole configuration in a year, 0 to 1; `None` if the vendor states none.
    pub yearly_loss: Option<f64>,
    pub risks: Vec<Risk>,
}

/// A ceiling in relation to the design point.
#[derive(Clone, Debug, PartialEq)]
pub struct DesignLimit {
    pub name: Arc<str>,
    pub counts: Counts,
    /// The point of the demand to which it is nearest.
    pub point: Busiest,
    /// Declared operations or bytes per second of all volumes; `None` if the ceiling counts both.
    pub declared: Option<f64>,
    /// Allowed operations per second of that point's mix.
    pub iops: f64,
    /// Their bytes per second.
    pub bytes_per_second: f64,
    /// Allowed over required rate: 1 is just sufficient, 1.2 leaves a fifth.
    pub over: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassLatency {
    pub class: Class,
    pub mean: Span,
    /// 99th percentile; `None` with too few samples.
    pub p99: Option<Span>,
}

/// A class of operations that is slower than with today's storage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slower {
    pub class: Class,
    /// Mean response time today, measured.
    pub today: Span,
    /// Mean response time of the choice, simulated at the mean load of the input.
    pub then: Span,
}

/// The cheapest machine for the volumes of a configuration, by its limits of storage, processors and memory.
#[derive(Clone, Debug)]
pub struct Attachment {
    /// The configuration on the machine.
    pub offer: Offer,
    /// Number of machines: one for each instance of a cluster, each with the part of the load of [`MachineShare`].
    pub count: u32,
    /// Monthly price of all machines; `None` if the catalogue has none.
    pub monthly: Option<Money>,
    /// Price of one machine.
    pub price: Option<Price>,
    /// The tightest limit of a machine.
    pub binds: Option<DesignLimit>,
    pub volumes: u32,
    /// Maximum attachable volumes, if known.
    pub volumes_max: Option<u32>,
    /// Bandwidth of its network interface in Gbit/s, if known.
    pub network_gbps: Option<f64>,
    /// Machines of the provider with the required processors and memory and sufficient limits.
    pub enough: usize,
    /// Those of them without a price, which are taken only where no other suffices.
    pub unpriced: usize,
    /// Machines of the provider in the catalogue; flexible machines count once per evaluated size.
    pub of: usize,
}

impl Attachment {
    /// The machine with its options, and the number of machines if there are several: `2 x aws/r6i.xlarge`.
    pub fn name(&self) -> Option<String> {
        let name = self.offer.short().machine?;
        Some(if self.count > 1 { say!("{} x {name}", self.count) } else { name.to_string() })
    }

    /// Doubts about its price: its age, its source, and that it is not that of the commitment.
    pub fn price_risks(&self) -> Vec<Risk> {
        let doubts = self.price.iter().flat_map(Price::doubts);
        let about = |doubt: Doubt| Risk {
            kind: RiskKind::Price,
            detail: RiskDetail::Statement(say!("the machine: {}", doubt.text)),
            cite: doubt.cite,
        };
        doubts.map(about).collect()
    }
}

/// An uncertainty of a choice.
#[derive(Clone, Debug, PartialEq)]
pub struct Risk {
    pub kind: RiskKind,
    pub detail: RiskDetail,
    /// The source of the figure in question, if any.
    pub cite: Option<Arc<Cite>>,
}

/// Content of an uncertainty.
#[derive(Clone, Debug, PartialEq)]
pub enum RiskDetail {
    /// A statement of the catalogue, or the reason why it has no model.
    Statement(String),
    /// Name of a ceiling that was not verified with the vendor, with the doubt of [`Status::doubt`].
    Ceiling(Arc<str>, &'static str),
    /// The price lacks this part.
    PriceWithout(String),
    /// The loss of one of so many volumes loses all of them.
    Stripe(u32),
    /// The inputs do not show the engine of the database, and the service runs only these.
    UnknownEngine(String),
    /// Sectors of 4 KiB, which Oracle Database before 12.2 does not accept.
    LargeSectors,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RiskKind {
    /// A ceiling was not verified with the vendor.
    Ceiling,
    /// Its latency is inferred or unknown.
    Latency,
    /// Its price was not verified with the vendor, is old, or is incomplete.
    Price,
    /// It has a requirement, such as a minimum machine size.
    Needs,
    /// Data can be lost, or instances cannot share it.
    Safety,
}

/// An unsuitable product or configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejection {
    /// The product, or its nearest configuration.
    pub name: String,
    pub reason: RejectionReason,
}

#[derive(Clone, Debug, PartialEq)]
pub enum RejectionReason {
    /// A ceiling below the design point that cannot be lifted.
    Ceiling(DesignLimit),
    /// In a replay of the series, more operations wait for limits than allowed.
    Waits(Backlog),
    /// The model does not sustain the expected load.
    Sustains {
        /// Sustained operations per second.
        iops: f64,
        /// Expected operations per second.
        required: f64,
        /// The binding stage.
        held_by: String,
    },
    /// No machine of the provider in the catalogue has sufficient limits.
    NoMachine {
        /// Machines of the provider.
        of: usize,
        /// The nearest machine with its limit.
        nearest: Option<(String, DesignLimit)>,
    },
    /// It has no valid configuration: too large, another provider's machine, a rule of the vendor.
    NoConfiguration(NoConfiguration),
    /// It has no model, which objectives need.
    NoModel(NoModel),
    /// It is no candidate for this demand.
    Excluded(Exclusion),
}

/// Reasons why a product or a configuration is no candidate.
#[derive(Clone, Debug, PartialEq)]
pub enum Exclusion {
    /// It has no valid configuration.
    Invalid,
    /// The load does not fit on it.
    Unfit,
    /// Its capacity, and the required capacity, which is larger.
    Capacity(Bytes, Bytes),
    /// The catalogue has no limits of it.
    NoLimits,
    /// Its instance class has too few processors or too little memory.
    InstanceClass,
    /// Its lowest level, while the measured load is below the demand.
    LowestLevel,
    /// The vendor states worse response times than others, without a figure: its statement.
    WorseLatency(String),
    /// Only a single machine can write to it, while the database is a cluster.
    SingleMachine,
    /// A single instance of the service writes, while the database is a cluster.
    SingleInstance,
    /// The service runs only these engines, and the inputs are of Oracle Database.
    OtherEngine(String),
    /// Oracle does not support RAC on it: the statement of the catalogue.
    UnsupportedRac(String),
}

impl Slower {
    /// Ratio of the simulated response time to that of today.
    pub fn times(&self) -> f64 {
        self.then.as_secs_f64() / self.today.as_secs_f64()
    }
}

impl Choice {
    /// Mean number of sessions that wait for reads and log writes at a point, with the response times of the expected
    /// load; for all writes if the input does not separate those of the log. Classes too rare for an answer in the
    /// simulation are omitted. `None` without a model.
    pub fn waiting(&self, point: &DesignPoint) -> Option<f64> {
        let mean = |class| self.latency.iter().find(|latency| latency.class == class).map(|latency| latency.mean);
        (!self.latency.is_empty()).then(|| point.waiting(mean))
    }

    /// True if its response times follow from other figures, or have no source.
    pub fn has_inferred_latency(&self) -> bool {
        self.offer.latency_status().is_some_and(|status| status >= Status::Inferred)
    }

    /// True if it meets all objectives with operations in scope.
    pub fn meets(&self) -> bool {
        self.reached.iter().all(Reached::is_met)
    }

    /// Monthly price of the configuration and its machine; `None` unless all parts have a price.
    pub fn total(&self) -> Option<Money> {
        let storage = self.price.as_ref()?.total()?;
        match &self.machine {
            Some(machine) => storage.plus(machine.monthly?),
            None => Some(storage),
        }
    }

    /// The tightest limit of the configuration and its machine.
    pub fn first_limit(&self) -> Option<&DesignLimit> {
        let of_machine = self.machine.as_ref().and_then(|machine| machine.binds.as_ref());
        self.binds.iter().chain(of_machine).min_by(|a, b| a.over.total_cmp(&b.over))
    }

    pub fn price_doubt(&self) -> PriceDoubt {
        match &self.price {
            None => PriceDoubt::Unpriced,
            Some(_) if self.total().is_none() => PriceDoubt::Partial,
            Some(price) => {
                let machine = self.machine.as_ref().and_then(|machine| machine.price.as_ref());
                machine.map_or(PriceDoubt::Firm, price_doubt).max(price_doubt(price))
            }
        }
    }

    /// Order of preference: the completeness of the price, then the total in units of the currency, with an unverified
    /// price of the storage raised by a quarter. Choices without a total are ordered by their excess over the load: the
    /// smallest sufficient class is probably the cheapest, while a sum without some of its parts is no order.
    pub fn rank(&self) -> (PriceDoubt, f64) {
        let excess = || self.binds.as_ref().map_or(f64::INFINITY, |limit| limit.over);
        let raised = |total: Money| total.as_f64() + self.unverified_excess();
        (self.price_doubt().completeness(), self.total().map_or_else(excess, raised))
    }

    /// What an unverified price of the storage may be too low, in units of the currency; 0 for a verified one.
    fn unverified_excess(&self) -> f64 {
        let unverified = self.price.as_ref().filter(|_| self.has_unverified_price());
        unverified.map_or(0.0, |price| price.monthly.as_f64() * UNVERIFIED_EXCESS)
    }

    /// True if an amount of its price list was inferred or recalled.
    pub fn has_unverified_price(&self) -> bool {
        self.price.as_ref().is_some_and(|price| price_doubt(price) > PriceDoubt::Firm)
    }

    /// Largest ratio of a response time to its objective; 0 without objectives.
    fn miss(&self) -> f64 {
        self.reached.iter().map(Reached::over).fold(0.0, f64::max)
    }
}

fn price_doubt(price: &Price) -> PriceDoubt {
    if price.cite.status >= Status::Inferred { PriceDoubt::Unverified } else { PriceDoubt::Firm }
}

impl RejectionReason {
    /// Sustained share of the design point; 0 for invalid configurations.
    pub fn share(&self) -> f64 {
        match self {
            Self::Ceiling(limit) => limit.over,
            Self::Sustains { iops, required, .. } => iops / required,
            Self::Waits(_) => 1.0,
            Self::NoMachine { nearest, .. } => nearest.as_ref().map_or(0.0, |(_, limit)| limit.over),
            Self::NoConfiguration(_) | Self::NoModel(_) | Self::Excluded(_) => 0.0,
        }
    }
}
