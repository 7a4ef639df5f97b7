//! Other sizes of the cache above the storage: the saved reads, the storage for the remaining load, and the total price
//! compared with the present choice.

use plimsoll_catalogue::{Catalogue, Money, PriceTerms};
use plimsoll_ingest::{Account, Class, MissCurve};

use crate::diagnosis::cache_steps;
use crate::sizing::{Choice, ClassLoad, DesignPoint, Search, Sizing, Wanted, size};

/// Effect of caches of several sizes.
#[derive(Clone, Debug)]
pub struct CacheWhatIf {
    /// Source of the miss estimates.
    pub by: EstimateSource,
    /// Monthly price of the present choice.
    pub present: Option<Money>,
    /// The sizes, ascending.
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

/// A size of the cache.
#[derive(Clone, Debug)]
pub struct CacheSize {
    /// Its bytes.
    pub bytes: f64,
    /// Additional bytes; negative for less.
    pub more_bytes: f64,
    /// Remaining reads relative to the present.
    pub reads: f64,
    /// The remaining load.
    pub wanted: Wanted,
    /// The cheapest suitable storage, if any.
    pub choice: Option<Choice>,
    /// Additional monthly price of memory, negative for less; none without a price of memory.
    pub memory: Option<Money>,
    /// Total of memory and storage; none if either has no price.
    pub sum: Option<Money>,
}

impl CacheWhatIf {
    /// The larger cache with the lowest total, if below the price of the present choice. Smaller caches are excluded,
    /// because the cost of longer waits is unknown.
    pub fn better(&self) -> Option<&CacheSize> {
        let cost = |size: &&CacheSize| size.sum.map_or(i128::MAX, |sum| sum.millionths);
        let least = self.sizes.iter().filter(|size| size.more_bytes > 0.0).min_by_key(cost)?;
        (least.sum?.millionths < self.present?.millionths).then_some(least)
    }
}

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
    let (by, steps) = steps(account, misses)?;
    let monthly = |choice: &Choice| choice.price.as_ref().map(|price| price.monthly);
    let with = |(bytes, more_bytes, reads): CacheStep| {
        let wanted = with_reads(&sizing.wanted, by, reads);
        let choice = size(catalogue, &wanted, terms, search).choices.into_iter().next();
        let memory = memory_price
            .map(|price| Money { millionths: (price.millionths as f64 * more_bytes / GIB).round() as i128, ..price });
        let sum = memory.zip(choice.as_ref().and_then(monthly)).and_then(|(memory, storage)| memory.plus(storage));
        CacheSize { bytes, more_bytes, reads, wanted, choice, memory, sum }
    };
    Some(CacheWhatIf {
        by,
        present: sizing.choices.first().and_then(monthly),
        sizes: steps.into_iter().map(with).collect(),
    })
}

/// The load if a larger cache leaves a share of the reads, 0 to 1.
pub fn with_reads_left(wanted: &Wanted, account: Option<&Account>, left: f64) -> Wanted {
    let by = steps(account, None).map_or(EstimateSource::Trace, |(by, _)| by);
    with_reads(wanted, by, left)
}

/// Sizes of the cache by the database's estimate, or by a trace.
pub(super) fn steps(account: Option<&Account>, misses: Option<&MissCurve>) -> Option<(EstimateSource, Vec<CacheStep>)> {
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
pub(super) fn with_reads(wanted: &Wanted, by: EstimateSource, left: f64) -> Wanted {
    let mut changed = wanted.clone();
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
        changed.points = wanted.points.iter().take(1).map(idle).collect();
    }
    changed.mean_iops *= changed.points[0].iops() / wanted.points[0].iops();
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
    let kept = 1.0 - load.reads + load.reads * left;
    load.iops *= kept;
    load.bytes_per_second *= kept;
    load.reads = if kept > 0.0 { load.reads * left / kept } else { load.reads };
}

fn idle(point: &DesignPoint) -> DesignPoint {
    let least = |load: &ClassLoad| ClassLoad { iops: 1.0, bytes_per_second: load.size(), ..*load };
    DesignPoint { classes: point.classes.iter().take(1).map(least).collect(), ..point.clone() }
}
