//! Other sizes of the cache above the storage: the saved reads, the storage for the remaining load, and the total price
//! compared with the present choice.

use plimsoll_catalogue::{Catalogue, Money, Price, PriceTerms};
use plimsoll_ingest::{Account, Class, MissCurve};

use crate::diagnosis::cache_steps;
use crate::sizing::{Choice, ClassLoad, DesignPoint, Search, Sizing, SizingRequirements, size};

/// Effect of caches of several sizes.
#[derive(Clone, Debug)]
pub struct CacheWhatIf {
    /// Source of the miss estimates.
    pub by: EstimateSource,
    /// Monthly price of the present choice.
    pub present: Option<Money>,
    /// Mean number of sessions that wait for reads and log writes in peaks with it.
    pub present_waiting: Option<f64>,
    pub sizes: Vec<CacheSize>,
}

/// Source of estimates of reads by cache size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EstimateSource {
    /// The database's own estimate for its buffer cache. It applies to single-block reads and to reads of unknown kind;
    /// scans may bypass the cache and stay.
    Database,
    /// A trace: a cache of whole pages above the traced device.
    Trace,
    /// A cache of all data, which leaves no reads of data.
    AllData,
}

#[derive(Clone, Debug)]
pub struct CacheSize {
    /// Its bytes.
    pub bytes: f64,
    /// Additional bytes; negative for less.
    pub more_bytes: f64,
    /// Remaining reads relative to the present.
    pub reads: f64,
    /// The remaining load.
    pub required: SizingRequirements,
    /// The cheapest suitable storage, if any.
    pub choice: Option<Choice>,
    /// Additional monthly price of memory, negative for less; none without a price of memory.
    pub memory: Option<Money>,
    /// Total of memory and storage; none if either has no price.
    pub sum: Option<Money>,
    /// Saved share of the database's time with the present choice, by fewer reads and by this storage; negative if it
    /// takes longer. None if the database's time is unknown.
    pub saved: Option<f64>,
    /// Mean number of sessions that wait for reads and log writes in peaks; none without a model.
    pub waiting: Option<f64>,
}

impl CacheWhatIf {
    /// The larger cache with the lowest total, if below the price of the present choice. Smaller caches are excluded:
    /// they cost database time, which has no price.
    pub fn better(&self) -> Option<&CacheSize> {
        let cost = |size: &&CacheSize| size.sum.map_or(i128::MAX, |sum| sum.millionths);
        let least = self.sizes.iter().filter(|size| size.more_bytes > 0.0).min_by_key(cost)?;
        (least.sum?.millionths < self.present?.millionths).then_some(least)
    }
}

impl CacheWhatIf {
    /// The smallest larger cache with most of the possible saving of database time, if that is notable.
    pub fn faster(&self) -> Option<&CacheSize> {
        let larger = || self.sizes.iter().filter(|size| size.more_bytes > 0.0);
        let max = larger().filter_map(|size| size.saved).fold(0.0, f64::max);
        larger().find(|size| max >= NOTABLE && size.saved >= Some(MAX * max))
    }
}

/// Minimum saved share of the database's time, and share of the possible saving that is most of it.
const NOTABLE: f64 = 0.05;
const MAX: f64 = 0.8;

/// Bytes of a cache, additional bytes, and remaining reads.
pub(super) type CacheStep = (f64, f64, f64);

/// Evaluated shares of a trace's working set.
const SHARES: [f64; 4] = [0.125, 0.25, 0.5, 1.0];
const GIB: f64 = (1_u64 << 30) as f64;

/// Evaluates other sizes of the cache, given the monthly price of a GiB of memory. None without estimates of misses.
pub fn cache(
    catalogue: &Catalogue,
    terms: &PriceTerms,
    search: &Search,
    sizing: &Sizing,
    (account, misses, memory_price): (Option<&Account>, Option<&MissCurve>, Option<Money>),
) -> Option<CacheWhatIf> {
    let (by, steps) = list_steps(account, misses)?;
    let monthly = |choice: &Choice| choice.price.as_ref().and_then(Price::total);
    let first = sizing.choices.first();
    let present_s = first.and_then(|choice| database_s(choice, (by, 1.0)));
    let with = |(bytes, more_bytes, reads): CacheStep| {
        let required = with_reads(&sizing.required, by, reads);
        let choice = size(catalogue, &required, terms, search).choices.into_iter().next();
        let memory = memory_price
            .map(|price| Money { millionths: (price.millionths as f64 * more_bytes / GIB).round() as i128, ..price });
        let sum = memory.zip(choice.as_ref().and_then(monthly)).and_then(|(memory, storage)| memory.plus(storage));
        let then_s = choice.as_ref().and_then(|choice| database_s(choice, (by, reads)));
        let saved = then_s.zip(present_s).map(|(then_s, present_s)| 1.0 - then_s / present_s);
        let waiting = choice.as_ref().and_then(|choice| choice.waiting(&required.points[0]));
        CacheSize { bytes, more_bytes, reads, required, choice, memory, sum, saved, waiting }
    };
    Some(CacheWhatIf {
        by,
        present: first.and_then(monthly),
        present_waiting: first.and_then(|choice| choice.waiting(&sizing.required.points[0])),
        sizes: steps.into_iter().map(with).collect(),
    })
}

/// Seconds of the database's time with a choice and a share of its reads through the cache. The time of the present
/// load applies, as the latencies are those of its mean rate.
fn database_s(choice: &Choice, (by, reads): (EstimateSource, f64)) -> Option<f64> {
    let effect = choice.effect.as_ref()?;
    let cached: f64 = effect.parts.iter().filter(|part| is_read_through(by, part.class)).map(|part| part.after_s).sum();
    Some(effect.after_s - cached * (1.0 - reads))
}

/// True for waits for reads that a cache saves.
fn is_read_through(by: EstimateSource, class: Class) -> bool {
    is_cached(by, class) && matches!(class, Class::RandomRead | Class::SequentialRead | Class::Read)
}

/// The load if a larger cache leaves a share of the reads, 0 to 1.
pub fn with_reads_left(required: &SizingRequirements, account: Option<&Account>, left: f64) -> SizingRequirements {
    let by = list_steps(account, None).map_or(EstimateSource::Trace, |(by, _)| by);
    with_reads(required, by, left)
}

/// Sizes of the cache by the database's estimate, or by a trace.
pub(super) fn list_steps(
    account: Option<&Account>,
    misses: Option<&MissCurve>,
) -> Option<(EstimateSource, Vec<CacheStep>)> {
    let by_database =
        account.map(estimated).filter(|steps| !steps.is_empty()).map(|steps| (EstimateSource::Database, steps));
    let by_trace = || misses.map(traced).filter(|steps| !steps.is_empty()).map(|steps| (EstimateSource::Trace, steps));
    by_database.or_else(by_trace)
}

fn estimated(account: &Account) -> Vec<CacheStep> {
    let step = |step: &crate::diagnosis::CacheStep| (step.bytes, step.bytes * (1.0 - 1.0 / step.factor), step.reads);
    cache_steps(account, None).iter().map(step).collect()
}

fn traced(misses: &MissCurve) -> Vec<CacheStep> {
    let step = |share: f64| {
        let bytes = misses.working_set_bytes * share;
        Some((bytes, bytes, misses.ratio(bytes)?))
    };
    SHARES.into_iter().filter_map(step).filter(|(bytes, ..)| *bytes > 0.0).collect()
}

/// The load with a share of its reads left.
pub(super) fn with_reads(required: &SizingRequirements, by: EstimateSource, left: f64) -> SizingRequirements {
    let mut changed = required.clone();
    let points = changed.points.iter_mut().chain(&mut changed.usual).map(|point| &mut point.classes);
    for classes in points.chain(changed.series.iter_mut().map(|window| &mut window.classes)) {
        for load in &mut *classes {
            if is_cached(by, load.class) {
                scale(load, left);
            }
        }
        classes.retain(|load| load.iops > 0.0);
        classes.sort_by(|a, b| b.iops.total_cmp(&a.iops));
    }
    changed.points.retain(|point| !point.classes.is_empty());
    changed.usual = changed.usual.filter(|usual| !usual.classes.is_empty());
    if changed.points.is_empty() {
        // An empty load is represented by an operation per second.
        changed.points = required.points.iter().take(1).map(idle).collect();
    }
    changed.mean_iops *= changed.points[0].iops() / required.points[0].iops();
    changed
}

fn is_cached(by: EstimateSource, class: Class) -> bool {
    match by {
        EstimateSource::Trace => true,
        EstimateSource::Database => matches!(class, Class::RandomRead | Class::Read | Class::All),
        EstimateSource::AllData => {
            matches!(class, Class::RandomRead | Class::SequentialRead | Class::Read | Class::All)
        }
    }
}

fn scale(load: &mut ClassLoad, left: f64) {
    let retained = 1.0 - load.reads + load.reads * left;
    load.iops *= retained;
    load.bytes_per_second *= retained;
    load.reads = if retained > 0.0 { load.reads * left / retained } else { load.reads };
}

fn idle(point: &DesignPoint) -> DesignPoint {
    let least = |load: &ClassLoad| ClassLoad { iops: 1.0, bytes_per_second: load.size(), ..*load };
    DesignPoint { classes: point.classes.iter().take(1).map(least).collect(), ..point.clone() }
}
