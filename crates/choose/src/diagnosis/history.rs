//! A database's windows over time: unusual windows, waits correlated with the load, and the change between two periods.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_analyse::median;
use plimsoll_ingest::{Class, DatabaseDemand, Measure, SessionTime, Slot};

use super::response::spearman;
use super::split::{TimePart, has_shares, split};
use super::totals::{total, value};

/// A database's windows over time.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// Windows with the database's time, in order.
    pub windows: Vec<WindowTime>,
    /// Windows with a quantity far above its median, each with its most unusual quantity: sessions first, by their
    /// excess, then others. At most a twentieth of the windows, because more are a pattern of the load.
    pub unusual: Vec<Unusual>,
    /// Correlation of waits with the load, the strongest first.
    pub with_load: Vec<LoadCorrelation>,
    /// Comparison of the later windows with the earlier ones.
    pub change: Option<PeriodChange>,
}

/// The database's time in a window.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowTime {
    pub slot: Slot,
    /// Mean active sessions.
    pub active: f64,
    /// Operations and bytes per second, where known.
    pub rates: [Option<f64>; 2],
    /// Share of storage, 0 to 1.
    pub storage: f64,
    /// The largest part.
    pub main: TimePart,
    pub main_share: f64,
    /// The largest wait of sessions.
    pub event: Option<Arc<str>>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HistoryQuantity {
    Active,
    /// Mean number of sessions that wait for an event.
    Waiting(Arc<str>),
    /// Mean seconds of a wait for an event.
    WaitSeconds(Arc<str>),
    /// Mean number of sessions on a processor.
    OnProcessor,
    /// Commits a second.
    Commits,
    /// Operations of a class a second.
    Rate(Class),
    /// Mean latency of a class, seconds.
    Latency(Class),
}

/// A window in which a quantity is far above its median.
#[derive(Clone, Debug, PartialEq)]
pub struct Unusual {
    pub slot: Slot,
    pub quantity: HistoryQuantity,
    pub value: f64,
    /// Its median over the windows.
    pub median: f64,
    /// The modified z-score: distance from the median in scaled median absolute deviations.
    pub score: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LoadCorrelation {
    pub event: Arc<str>,
    /// [`HistoryQuantity::Commits`], or [`HistoryQuantity::Rate`] of all operations.
    pub load: HistoryQuantity,
    /// Spearman's rank correlation of waiting sessions and load, -1 to 1.
    pub correlation: f64,
    /// Share of the database's time, 0 to 1.
    pub share: f64,
}

/// Comparison of two periods.
#[derive(Clone, Debug, PartialEq)]
pub struct PeriodChange {
    /// The first window of the later period.
    pub from: Slot,
    /// Number of windows of the earlier and of the later period.
    pub windows: [usize; 2],
    /// Quantities of both, as means over time; active sessions first, then by the size of the change.
    pub quantities: Vec<Changed>,
}

/// A quantity in two periods.
#[derive(Clone, Debug, PartialEq)]
pub struct Changed {
    pub quantity: HistoryQuantity,
    /// Its mean in the earlier period.
    pub before: f64,
    /// Its mean in the later period.
    pub after: f64,
}

/// Minimum windows for a median or a correlation.
const FEW: usize = 8;
/// Number of events to track, by their time.
const EVENTS: usize = 12;

/// The history of a subject with at least two windows; none if the database's time has no shares.
pub(super) fn history(subject: &DatabaseDemand) -> Option<History> {
    let account = subject.account.as_ref().filter(|account| has_shares(&account.total))?;
    let times: Vec<(usize, &SessionTime)> =
        account.slots.iter().enumerate().filter_map(|(slot, spent)| Some((slot, spent.as_ref()?))).collect();
    if times.len() < 2 {
        return None;
    }
    let series = build_series(subject, &times, &account.total);
    Some(History {
        windows: times.iter().filter_map(|(slot, spent)| window(subject, *slot, spent)).collect(),
        unusual: unusual(subject, &times, &series),
        with_load: with_load(&series, &account.total),
        change: change(subject, &times, &series),
    })
}

fn window(subject: &DatabaseDemand, slot: usize, spent: &SessionTime) -> Option<WindowTime> {
    let split = split(spent)?;
    let main = split.main()?;
    let longest = spent.foreground().max_by(|a, b| a.total_s.total_cmp(&b.total_s));
    Some(WindowTime {
        slot: subject.slots[slot],
        active: split.active,
        rates: [Measure::Iops, Measure::Throughput].map(|measure| total(subject, measure, slot)),
        storage: split.storage(),
        main: main.part,
        main_share: main.share,
        event: longest.map(|wait| Arc::clone(&wait.event)),
    })
}

/// The values of each quantity by window, where known.
type QuantitySeries = BTreeMap<HistoryQuantity, Vec<Option<f64>>>;

fn build_series(subject: &DatabaseDemand, times: &[(usize, &SessionTime)], entire: &SessionTime) -> QuantitySeries {
    let mut series = QuantitySeries::new();
    let mut put = |quantity: HistoryQuantity, of: &dyn Fn(usize, &SessionTime) -> Option<f64>| {
        let values: Vec<Option<f64>> = times.iter().map(|(slot, spent)| of(*slot, spent)).collect();
        if values.iter().any(Option::is_some) {
            series.insert(quantity, values);
        }
    };
    put(HistoryQuantity::Active, &|_, spent| Some(spent.database_s / spent.seconds));
    put(HistoryQuantity::OnProcessor, &|_, spent| Some(spent.processor_s? / spent.seconds));
    put(HistoryQuantity::Commits, &|_, spent| Some(spent.commits? / spent.seconds));
    put(HistoryQuantity::Rate(Class::All), &|slot, _| total(subject, Measure::Iops, slot));
    for class in [Class::Read, Class::Write] {
        put(HistoryQuantity::Rate(class), &|slot, _| value(subject, class, Measure::Iops, slot));
        put(HistoryQuantity::Latency(class), &|slot, _| value(subject, class, Measure::Latency, slot));
    }
    for event in entire.foreground().take(EVENTS) {
        let name = &event.event;
        let wait = |spent: &SessionTime| {
            let wait = spent.foreground().find(|wait| wait.event == *name);
            wait.map(|wait| (wait.total_s, wait.count))
        };
        // Events without waits in a window are missing there.
        put(HistoryQuantity::Waiting(Arc::clone(name)), &|_, spent| {
            Some(wait(spent).map_or(0.0, |(seconds, _)| seconds / spent.seconds))
        });
        put(HistoryQuantity::WaitSeconds(Arc::clone(name)), &|_, spent| {
            wait(spent).filter(|(_, count)| *count > 0.0).map(|(seconds, count)| seconds / count)
        });
    }
    series
}

/// Outliers by the modified z-score (Iglewicz, Hoaglin 1993).
fn unusual(subject: &DatabaseDemand, times: &[(usize, &SessionTime)], series: &QuantitySeries) -> Vec<Unusual> {
    const SCORE: f64 = 3.5;
    /// Minimum deviation as a share of the median, for nearly constant values.
    const MIN_DEVIATION: f64 = 0.05;
    const TIMES: f64 = 1.5;
    /// A window in this many may be unusual, and always a few.
    const ONE_IN: usize = 20;
    const ALWAYS: usize = 3;
    let mean = |quantity: &HistoryQuantity| {
        let existing: Vec<f64> = series.get(quantity)?.iter().copied().flatten().collect();
        Some(existing.iter().sum::<f64>() / existing.len() as f64)
    };
    let active = mean(&HistoryQuantity::Active).unwrap_or_default();
    let mut found = Vec::new();
    for (quantity, values) in series {
        let existing: Vec<f64> = values.iter().copied().flatten().collect();
        if existing.len() < FEW {
            continue;
        }
        let middle = median(&existing);
        let deviation = median(&existing.iter().map(|value| (value - middle).abs()).collect::<Vec<f64>>());
        let deviation = deviation.max(MIN_DEVIATION * middle);
        for (index, value) in values.iter().enumerate() {
            let Some(value) = *value else { continue };
            let score = 0.6745 * (value - middle) / deviation;
            let waiting = |event: &Arc<str>| series.get(&HistoryQuantity::Waiting(Arc::clone(event)))?[index];
            let is_far = middle > 0.0 && score > SCORE && value > TIMES * middle;
            if is_far && matters(quantity, (value, middle), active, waiting) {
                let slot = subject.slots[times[index].0];
                found.push(Unusual { slot, quantity: quantity.clone(), value, median: middle, score });
            }
        }
    }
    // Sessions first, by their excess over the median; durations by their score.
    let weight = |unusual: &Unusual| match unusual.quantity {
        HistoryQuantity::Active | HistoryQuantity::Waiting(_) => (1, unusual.value - unusual.median),
        _ => (0, unusual.score),
    };
    found.sort_by(|a, b| weight(b).0.cmp(&weight(a).0).then(weight(b).1.total_cmp(&weight(a).1)));
    let mut observed: Vec<Slot> = Vec::new();
    found.retain(|unusual: &Unusual| {
        let is_new = !observed.contains(&unusual.slot);
        observed.push(unusual.slot);
        is_new
    });
    found.truncate((times.len() / ONE_IN).max(ALWAYS));
    found
}

/// True for a quantity whose excess over its median changes the database's time: rates are load, not symptoms.
/// Durations of waits count if sessions wait for them in that window.
fn matters(
    quantity: &HistoryQuantity,
    (value, median): (f64, f64),
    active: f64,
    waiting: impl Fn(&Arc<str>) -> Option<f64>,
) -> bool {
    /// Minimum excess in sessions, and as a share of the mean active sessions.
    const SESSIONS: f64 = 0.3;
    const SHARE: f64 = 0.25;
    let least = SESSIONS.max(SHARE * active);
    match quantity {
        HistoryQuantity::Active | HistoryQuantity::Waiting(_) => value - median >= least,
        HistoryQuantity::WaitSeconds(event) => value >= 0.001 && waiting(event).is_some_and(|waiting| waiting >= least),
        HistoryQuantity::Latency(_) => value >= 0.001,
        HistoryQuantity::OnProcessor | HistoryQuantity::Commits | HistoryQuantity::Rate(_) => false,
    }
}

fn with_load(series: &QuantitySeries, entire: &SessionTime) -> Vec<LoadCorrelation> {
    /// Minimum share of the time of an event.
    const MIN_SHARE: f64 = 0.02;
    let is_whole = |load: &HistoryQuantity| series.get(load).is_some_and(|values| values.iter().all(Option::is_some));
    let loads = [HistoryQuantity::Commits, HistoryQuantity::Rate(Class::All)];
    let Some(load) = loads.into_iter().find(is_whole) else { return Vec::new() };
    let values =
        |quantity: &HistoryQuantity| series.get(quantity).map(|values| values.iter().copied().flatten().collect());
    let Some(loads): Option<Vec<f64>> = values(&load).filter(|loads: &Vec<f64>| loads.len() >= FEW) else {
        return Vec::new();
    };
    let of = |event: &plimsoll_ingest::EventTime| {
        let waiting: Vec<f64> = values(&HistoryQuantity::Waiting(Arc::clone(&event.event)))?;
        let share = event.total_s / entire.database_s;
        let correlation = spearman(&waiting, &loads);
        (share >= MIN_SHARE).then(|| LoadCorrelation {
            event: Arc::clone(&event.event),
            load: load.clone(),
            correlation,
            share,
        })
    };
    let mut found: Vec<LoadCorrelation> = entire.foreground().take(EVENTS).filter_map(of).collect();
    found.sort_by(|a, b| b.correlation.abs().total_cmp(&a.correlation.abs()));
    found
}

/// Compares the windows before and after the longest gap; without a gap longer than all windows, the two halves.
fn change(subject: &DatabaseDemand, times: &[(usize, &SessionTime)], series: &QuantitySeries) -> Option<PeriodChange> {
    let slot = |index: usize| subject.slots[times[index].0];
    let gap = |index: usize| {
        let (before, after) = (slot(index - 1), slot(index));
        let begin = before.begin?;
        Some(after.begin?.duration_since(begin).as_secs_f64() - before.length.as_secs_f64())
    };
    let longest_s = times.iter().map(|(slot, _)| subject.slots[*slot].length.as_secs_f64()).fold(0.0, f64::max);
    let gaps = (1..times.len()).filter_map(|index| Some((index, gap(index)?)));
    let widest = gaps.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, seconds)| *seconds > longest_s);
    let at = match widest {
        Some((index, _)) => index,
        None if times.len() == 2 || times.len() >= FEW => times.len() / 2,
        None => return None,
    };
    let mean = |values: &[Option<f64>], range: std::ops::Range<usize>| {
        let weighed = range.filter_map(|index| Some((values[index]?, times[index].1.seconds)));
        let sum = weighed.fold((0.0, 0.0), |sum, (value, seconds)| (sum.0 + value * seconds, sum.1 + seconds));
        (sum.1 > 0.0).then(|| sum.0 / sum.1)
    };
    let changed = |(quantity, values): (&HistoryQuantity, &Vec<Option<f64>>)| {
        let (before, after) = (mean(values, 0..at)?, mean(values, at..times.len())?);
        Some(Changed { quantity: quantity.clone(), before, after })
    };
    let mut quantities: Vec<Changed> = series.iter().filter_map(changed).collect();
    let rank = |changed: &Changed| match changed.quantity {
        HistoryQuantity::Active => 0,
        HistoryQuantity::Waiting(_) | HistoryQuantity::OnProcessor => 1,
        _ => 2,
    };
    quantities.sort_by(|a, b| {
        let size = |changed: &Changed| (changed.after - changed.before).abs();
        rank(a).cmp(&rank(b)).then(size(b).total_cmp(&size(a)))
    });
    Some(PeriodChange { from: slot(at), windows: [at, times.len() - at], quantities })
}

impl PeriodChange {
    /// Active sessions in both periods.
    pub fn active(&self) -> Option<&Changed> {
        self.quantities.first().filter(|changed| changed.quantity == HistoryQuantity::Active)
    }

    /// The wait, or the processor time, that changed most in the direction of the active sessions.
    pub fn main(&self) -> Option<&Changed> {
        let active = self.active()?;
        let is_main = |changed: &&Changed| {
            let is_part = matches!(changed.quantity, HistoryQuantity::Waiting(_) | HistoryQuantity::OnProcessor);
            is_part && (changed.after > changed.before) == (active.after > active.before)
        };
        self.quantities.iter().find(is_main)
    }
}
