//! More or less memory for the cache above the storage: which reads it would save, what storage would carry the rest,
//! and whether both together cost less than the present choice.

use plimsoll_catalogue::{Catalogue, Money, Terms};
use plimsoll_ingest::{Account, Class, MissCurve};

use crate::diagnosis::cache_steps;
use crate::sizing::{Choice, ClassLoad, Point, Search, Sizing, Wanted, size};

/// What caches of several sizes would do.
#[derive(Clone, Debug)]
pub struct CacheWhatIf {
    /// Who says what a cache of another size would do.
    pub by: SaidBy,
    /// Price of the present choice in a month.
    pub present: Option<Money>,
    /// The sizes, ascending.
    pub sizes: Vec<CacheSize>,
}

/// Who says how many reads a cache of another size would leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaidBy {
    /// The database's own estimate of its buffer cache. It is about single blocks, and about reads that are not told
    /// apart: scans may pass the cache by, so they stay.
    Database,
    /// The operations of a trace: a cache of whole pages above what was traced.
    Trace,
}

/// A size of the cache.
#[derive(Clone, Debug)]
pub struct CacheSize {
    /// Bytes of it.
    pub bytes: f64,
    /// Bytes more than at present; below 0 for fewer.
    pub more_bytes: f64,
    /// Reads that are left, over the present ones.
    pub reads: f64,
    /// The load that is left.
    pub wanted: Wanted,
    /// The cheapest storage for it; none when nothing carries it.
    pub choice: Option<Choice>,
    /// What the memory costs more in a month, below 0 when it costs less; none without a price of it.
    pub memory: Option<Money>,
    /// Memory and storage together; none when either has no price.
    pub sum: Option<Money>,
}

impl CacheWhatIf {
    /// The larger cache whose sum is the least, where it is less than the present choice costs. Of smaller ones no price
    /// says what sessions lose by waiting more often.
    pub fn better(&self) -> Option<&CacheSize> {
        let cost = |size: &&CacheSize| size.sum.map_or(i128::MAX, |sum| sum.millionths);
        let least = self.sizes.iter().filter(|size| size.more_bytes > 0.0).min_by_key(cost)?;
        (least.sum?.millionths < self.present?.millionths).then_some(least)
    }
}

/// Bytes of a cache, bytes more than at present, and reads that are left.
type Step = (f64, f64, f64);

/// Shares of a trace's working set that a cache might hold.
const SHARES: [f64; 4] = [0.125, 0.25, 0.5, 1.0];
const GIB: f64 = (1_u64 << 30) as f64;

/// What other sizes of the cache would change, with the price of a GiB of memory in a month. None when nothing says
/// what a cache of another size would do.
pub fn cache(
    catalogue: &Catalogue,
    terms: &Terms,
    search: &Search,
    sizing: &Sizing,
    (account, misses, memory_price): (Option<&Account>, Option<&MissCurve>, Option<Money>),
) -> Option<CacheWhatIf> {
    let by_database = account.map(estimated).filter(|steps| !steps.is_empty()).map(|steps| (SaidBy::Database, steps));
    let by_trace = || misses.map(traced).filter(|steps| !steps.is_empty()).map(|steps| (SaidBy::Trace, steps));
    let (by, steps) = by_database.or_else(by_trace)?;
    let monthly = |choice: &Choice| choice.price.as_ref().map(|price| price.monthly);
    let with = |(bytes, more_bytes, reads): Step| {
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

fn estimated(account: &Account) -> Vec<Step> {
    let step = |step: &crate::diagnosis::CacheStep| (step.bytes, step.bytes * (1.0 - 1.0 / step.factor), step.reads);
    cache_steps(account, None).iter().map(step).collect()
}

fn traced(misses: &MissCurve) -> Vec<Step> {
    let step = |share: f64| {
        let bytes = misses.working_set_bytes * share;
        Some((bytes, bytes, misses.ratio(bytes)?))
    };
    SHARES.into_iter().filter_map(step).filter(|(bytes, ..)| *bytes > 0.0).collect()
}

/// The same load with so many of its reads left.
fn with_reads(wanted: &Wanted, by: SaidBy, left: f64) -> Wanted {
    let mut changed = wanted.clone();
    let points = changed.points.iter_mut().map(|point| &mut point.classes);
    for classes in points.chain(changed.series.iter_mut().map(|window| &mut window.classes)) {
        for load in &mut *classes {
            if by == SaidBy::Trace || matches!(load.class, Class::RandomRead | Class::Read | Class::All) {
                scale(load, left);
            }
        }
        classes.retain(|load| load.iops > 0.0);
        classes.sort_by(|a, b| b.iops.total_cmp(&a.iops));
    }
    changed.points.retain(|point| !point.classes.is_empty());
    if changed.points.is_empty() {
        // Nothing is asked any more: the least that can be said of it is an operation now and then.
        changed.points = wanted.points.iter().take(1).map(idle).collect();
    }
    changed.mean_iops *= changed.points[0].iops() / wanted.points[0].iops();
    changed
}

fn scale(load: &mut ClassLoad, left: f64) {
    let kept = 1.0 - load.reads + load.reads * left;
    load.iops *= kept;
    load.bytes_per_second *= kept;
    load.reads = if kept > 0.0 { load.reads * left / kept } else { load.reads };
}

fn idle(point: &Point) -> Point {
    let least = |load: &ClassLoad| ClassLoad { iops: 1.0, bytes_per_second: load.size(), ..*load };
    Point { classes: point.classes.iter().take(1).map(least).collect(), ..point.clone() }
}
