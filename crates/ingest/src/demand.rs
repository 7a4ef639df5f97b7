//! The demand of each database from many readings: by class and measure, over time, with percentiles over the windows.
//!
//! Figures of instances and volumes add up within a window; maxima do not. Figures that cannot be combined reliably are
//! kept separate or dropped, with a caution.

pub(crate) mod account;
mod busy;
mod instances;
mod resources;
mod work;

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::DateTime;
use plimsoll_units::Span;

use crate::distribution::ValueDistribution;
use crate::reading::{
    CapLimit, Class, Doubt, LatencyBin, Measure, Multipath, Reading, ReadingDistribution, ReadingScope, ReadingWindow,
    Statistic, WaitCause,
};
use crate::text::timestamp;

pub use account::{Account, CacheCurve, EventTime, HostWaiting, InputPosition, SessionTime};
pub use busy::BusyPeriod;
pub use instances::{InstanceLoad, InstanceRates};
pub use resources::{HostLoad, InstanceFiltering, InstanceResource, is_short_of_memory};
pub use work::PartWork;

/// Shorter mean reads through a page cache, in seconds, are those of memory in part: a read of flash takes 60 to 100
/// microseconds, and over a network several hundred.
pub const MIN_STORAGE_READ_S: f64 = 100e-6;

/// The combined demand of several readings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Demand {
    /// Each database, or host if no database is known, by name.
    pub subjects: Vec<DatabaseDemand>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct DatabaseDemand {
    /// Its name; empty if unknown.
    pub name: String,
    pub instances: Vec<String>,
    /// The load of each instance; empty unless inputs count that of several.
    pub loads: Vec<InstanceLoad>,
    /// Its windows, in the order of time.
    pub slots: Vec<Slot>,
    /// Its operations, in the order of [`Class::ALL`].
    pub series: Vec<MeasureSeries>,
    /// Distributions of operations, and of bytes, of reads and writes together over the windows of the input, if some of
    /// these were joined to slots.
    pub totals: [Option<ValueDistribution>; 2],
    /// Time of its sessions, if known.
    pub account: Option<Account>,
    /// Release of its Oracle Database, the lowest of its inputs; none for other databases and if unknown.
    pub oracle_release: Option<String>,
    /// Operating system and processors of its hosts in the words of Oracle Database; none for other databases and if
    /// unknown.
    pub platform: Option<String>,
    /// Memory and processors of its instances and hosts, where known.
    pub resources: Vec<InstanceResource>,
    /// Scans that storage cells filter for its instances, by window, where known.
    pub filtering: Vec<InstanceFiltering>,
    /// Load of the processors of its hosts, where known.
    pub host: Option<HostLoad>,
    /// Busy periods inside its windows, by time; empty unless inputs have several periods for a window.
    pub busy_periods: Vec<BusyPeriod>,
    /// Its work by part, the whole first; empty if the inputs do not divide it.
    pub works: Vec<PartWork>,
    /// Limits of its volumes and machines, by the provider's metrics.
    pub caps: Vec<Cap>,
    /// Latencies of single reads and writes of its volumes, by class: operations by bin.
    pub latencies: BTreeMap<Class, BTreeMap<LatencyBin, f64>>,
    /// The disks of its hosts that have several paths.
    pub multipaths: Vec<Multipath>,
    /// Its reads and writes go through the page cache of an operating system, which may answer them.
    pub uses_page_cache: bool,
    /// It is a cluster of instances, by the head of its reports.
    pub is_cluster: bool,
    /// Reasons to doubt the combination.
    pub doubts: Vec<Doubt>,
}

/// A limit of a volume or machine, by the provider's metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cap {
    /// The volume or machine; empty if the input does not name it.
    pub part: String,
    /// Its name in the input.
    pub metric: String,
    pub limit: CapLimit,
    /// Points of the metric at the limit.
    pub points: usize,
    /// Number of all points.
    pub of: usize,
    /// Length of the window of each point, if they are equally long.
    pub each: Option<Span>,
    /// Time above the limit, and all time of the metric, where the provider counts time.
    pub time: Option<[Span; 2]>,
    /// Slots with such a point.
    pub slots: Vec<usize>,
}

impl Cap {
    /// Share of the time, or otherwise of the points, at the limit: 0 to 1.
    pub fn share(&self) -> f64 {
        match self.time {
            Some([above, all]) if !all.is_zero() => above.as_secs_f64() / all.as_secs_f64(),
            _ => self.points as f64 / self.of.max(1) as f64,
        }
    }

    /// True if the limit was reached, or nothing completed, in all points.
    pub const fn is_always(&self) -> bool {
        self.points > 0 && self.points == self.of
    }
}

/// A measure of a class over all windows.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasureSeries {
    /// The purpose of the operations.
    pub class: Class,
    /// The quantity, with its unit.
    pub measure: Measure,
    /// Mean or maximum.
    pub statistic: Statistic,
    /// A value for each slot, where known.
    pub values: Vec<Option<f64>>,
    /// Its sources: indices of a reading and of a figure in it.
    pub sources: Vec<(usize, usize)>,
    /// Its distribution over the windows of the input, if some of these were joined to slots.
    pub distribution: Option<ValueDistribution>,
}

/// A summary of a series, weighted by the length of windows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    pub windows: usize,
    pub mean: f64,
    /// Median over time.
    pub p50: f64,
    /// 95th percentile over time.
    pub p95: f64,
    /// The highest window.
    pub maximum: f64,
}

impl Demand {
    /// Combines readings.
    pub fn of(readings: &[&Reading]) -> Self {
        let names = DatabaseNames::of(readings);
        let mut by_subject: BTreeMap<String, Vec<(usize, usize)>> = BTreeMap::new();
        for (number, reading) in readings.iter().enumerate() {
            let subjects: Vec<String> = reading.scopes.iter().map(|scope| names.subject(scope)).collect();
            for (index, figure) in reading.figures.iter().enumerate() {
                let subject = &subjects[figure.scope as usize];
                match by_subject.get_mut(subject) {
                    Some(figures) => figures.push((number, index)),
                    None => drop(by_subject.insert(subject.clone(), vec![(number, index)])),
                }
            }
        }
        let mut subjects: Vec<DatabaseDemand> = by_subject
            .into_iter()
            .map(|(name, figures)| DatabaseDemand::of(name, &names, readings, &figures))
            .collect();
        for subject in &mut subjects {
            subject.doubts.extend(names.doubt(&subject.name));
        }
        Self { subjects }
    }
}

impl DatabaseDemand {
    fn of(name: String, names: &DatabaseNames<'_>, readings: &[&Reading], figures: &[(usize, usize)]) -> Self {
        let wholes = without_parts(readings, figures);
        let mut doubts = Vec::new();
        let placed = place(readings, &wholes, &mut doubts);
        doubts.extend(find_gaps(&placed.slots));
        let mut instances: Vec<String> =
            wholes.iter().map(|at| scope_name(readings, *at)).filter(|name| !name.is_empty()).collect();
        instances.sort();
        instances.dedup();
        let mut cells: BTreeMap<(Class, Measure, Statistic), Vec<Placing>> = BTreeMap::new();
        for (slot, at) in &placed.figures {
            let figure = &readings[at.0].figures[at.1];
            cells.entry((figure.class, figure.measure, figure.statistic)).or_default().push((*slot, *at));
        }
        let rates = collect_rates(readings, &placed.figures);
        let loads = instances::collect_loads(readings, &placed.figures, placed.slots.len());
        let mut series: Vec<MeasureSeries> = cells
            .into_iter()
            .map(|(key, cells)| MeasureSeries::of(key, placed.slots.len(), readings, &cells, &rates))
            .collect();
        let order = |class: Class| Class::ALL.iter().position(|existing| *existing == class);
        series.sort_by_key(|series| (order(series.class), series.measure, series.statistic));
        let is_own = |reading: &Reading, scope: u32| names.subject(&reading.scopes[scope as usize]) == name;
        let account = account::account(readings, &placed, is_own);
        let oracle_release = find_lowest_release(readings, is_own);
        let platform = own_readings(readings, is_own).find_map(|reading| reading.platform.clone());
        let (resources, filtering) = resources::resources(readings, is_own);
        let host = resources::host_load(readings, is_own);
        let busy_periods = busy::collect_periods(readings, &placed, account.as_ref(), is_own);
        let works = work::collect_works(readings, is_own);
        let totals = [Measure::Iops, Measure::Throughput].map(|measure| {
            let is_total = |series: &&MeasureSeries| {
                let is_whole = matches!(series.class, Class::All | Class::Read | Class::Write);
                is_whole && (series.measure, series.statistic) == (measure, Statistic::Mean)
            };
            let sources: Vec<_> = series.iter().filter(is_total).flat_map(|series| series.sources.clone()).collect();
            find_distribution((Class::All, measure, Statistic::Mean), readings, &sources)
        });
        let caps = collect_caps(readings, &placed.slots, is_own);
        let latencies = collect_latencies(readings, is_own);
        let of_hosts = |reading: &&Reading| {
            let own = reading.multipaths.iter().filter(|multipath| is_own(reading, multipath.scope));
            own.cloned().collect::<Vec<_>>()
        };
        let multipaths = readings.iter().flat_map(of_hosts).collect();
        let uses_page_cache = has_doubt(readings, is_own, |doubt| *doubt == Doubt::PageCache);
        let is_cluster = has_doubt(readings, is_own, |doubt| matches!(doubt, Doubt::InstanceOfCluster { .. }));
        Self {
            name,
            instances,
            loads,
            slots: placed.slots,
            series,
            totals,
            account,
            oracle_release,
            platform,
            resources,
            filtering,
            host,
            busy_periods,
            works,
            caps,
            latencies,
            multipaths,
            uses_page_cache,
            is_cluster,
            doubts,
        }
    }

    /// Reads and writes whose operations no input counts: they are unknown, not zero. Their bytes may be known.
    pub fn absent(&self) -> Vec<Class> {
        let counts = |classes: &[Class]| {
            classes.iter().any(|class| {
                let series = self.series(*class, Measure::Iops).into_iter().flat_map(|series| &series.values);
                series.flatten().next().is_some()
            })
        };
        let reads = [Class::All, Class::Read, Class::RandomRead, Class::SequentialRead];
        let writes = [Class::All, Class::Write, Class::DataWrite];
        let existing = [(Class::Read, counts(&reads)), (Class::Write, counts(&writes))];
        existing.into_iter().filter(|(_, is_known)| !is_known).map(|(class, _)| class).collect()
    }

    /// The series of a class and measure, as means.
    pub fn series(&self, class: Class, measure: Measure) -> Option<&MeasureSeries> {
        let is = |series: &&MeasureSeries| {
            (series.class, series.measure, series.statistic) == (class, measure, Statistic::Mean)
        };
        self.series.iter().find(is)
    }

    /// Mean latency of a class in a window, in seconds. None if the waits that determine it are less than a hundredth of
    /// the operations: smart scans of Exadata read most blocks without them.
    pub fn latency_s(&self, class: Class, slot: usize) -> Option<f64> {
        const SHARE: f64 = 0.01;
        let value = |class, measure| self.series(class, measure)?.values.get(slot).copied().flatten();
        let seconds: f64 = value(class, Measure::Latency)?;
        // The single-block reads of a cluster are counted among all reads only.
        let total = if matches!(class, Class::RandomRead | Class::SequentialRead) { Class::Read } else { class };
        let iops = value(class, Measure::Iops).or_else(|| value(total, Measure::Iops)).unwrap_or(0.0);
        let spent = self.account.as_ref().and_then(|account| account.slots.get(slot)?.as_ref());
        let waits: f64 = spent.map_or(0.0, |spent| {
            let of_class = spent.waits.iter().filter(|wait| wait.cause == WaitCause::Storage(class));
            of_class.map(|wait| wait.count).sum()
        });
        let operations = iops * self.slots[slot].length.as_secs_f64();
        (waits == 0.0 || waits >= SHARE * operations).then_some(seconds)
    }

    /// The mean time in seconds of the reads of a window, if it is so short that the page cache answered a part of them. The
    /// reads that reached storage cannot be distinguished from the others.
    pub fn cached_read_s(&self, slot: usize) -> Option<f64> {
        let of_class = |class| self.latency_s(class, slot).filter(|seconds| *seconds > 0.0);
        let seconds = [Class::Read, Class::RandomRead, Class::SequentialRead].into_iter().find_map(of_class)?;
        (self.uses_page_cache && seconds < MIN_STORAGE_READ_S).then_some(seconds)
    }

    /// The summary of a series. Sizes and latencies are averaged over operations, where their rate is known in each window,
    /// others over time.
    pub fn summary(&self, series: &MeasureSeries) -> Option<Summary> {
        let seconds = self.slots.iter().map(|slot| slot.length.as_secs_f64());
        let is_of_operations = matches!(series.measure, Measure::Latency | Measure::Size);
        let rates = self.series(series.class, Measure::Iops).filter(|_| is_of_operations);
        let is_known = |rates: &&MeasureSeries| {
            series.values.iter().zip(&rates.values).all(|(value, rate)| value.is_none() || rate.is_some())
        };
        let weights: Vec<f64> = match rates.filter(is_known) {
            Some(rates) => seconds.zip(&rates.values).map(|(seconds, rate)| seconds * rate.unwrap_or(0.0)).collect(),
            None => seconds.collect(),
        };
        let summary = Summary::of(&self.slots, &series.values, &weights)?;
        Some(series.distribution.as_ref().map_or(summary, |distribution| Summary {
            windows: distribution.windows,
            p50: distribution.quantile(0.5),
            p95: distribution.quantile(0.95),
            maximum: distribution.maximum,
            ..summary
        }))
    }
}

/// The metrics of limits of a subject.
fn collect_caps(readings: &[&Reading], slots: &[Slot], is_own: impl Fn(&Reading, u32) -> bool) -> Vec<Cap> {
    let mut begins: Vec<(DateTime, usize)> =
        slots.iter().enumerate().filter_map(|(index, slot)| Some((slot.begin?, index))).collect();
    begins.sort_unstable();
    let slot_at = |at: &DateTime| {
        let (begin, index) = *begins.get(begins.partition_point(|(begin, _)| begin <= at).checked_sub(1)?)?;
        let is_inside = at.duration_since(begin).as_secs_f64() < slots[index].length.as_secs_f64();
        is_inside.then_some(index)
    };
    let all = readings.iter().flat_map(|reading| reading.caps.iter().map(move |cap| (reading, cap)));
    let own = all.filter(|(reading, cap)| is_own(reading, cap.scope)).map(|(reading, cap)| {
        let reached: BTreeSet<usize> = cap.reached.iter().filter_map(slot_at).collect();
        Cap {
            part: reading.scopes[cap.scope as usize].part.clone(),
            metric: cap.metric.clone(),
            limit: cap.limit,
            points: cap.points,
            of: cap.of,
            each: cap.each,
            time: cap.time,
            slots: reached.into_iter().collect(),
        }
    });
    own.collect()
}

/// Latencies of operations of all volumes of a subject.
fn collect_latencies(
    readings: &[&Reading],
    is_own: impl Fn(&Reading, u32) -> bool,
) -> BTreeMap<Class, BTreeMap<LatencyBin, f64>> {
    let mut all: BTreeMap<Class, BTreeMap<LatencyBin, f64>> = BTreeMap::new();
    let own = readings
        .iter()
        .flat_map(|reading| reading.latencies.iter().filter(|histogram| is_own(reading, histogram.scope)));
    for histogram in own {
        let bins = all.entry(histogram.class).or_default();
        for (bin, count) in &histogram.bins {
            *bins.entry(*bin).or_default() += count;
        }
    }
    all
}

fn scope_name(readings: &[&Reading], at: (usize, usize)) -> String {
    let figure = &readings[at.0].figures[at.1];
    readings[at.0].scopes[figure.scope as usize].instance.clone()
}

/// Figures of totals. Parts count only if their reading has no total of the class.
fn without_parts(readings: &[&Reading], figures: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let is_whole = |at: &(usize, usize)| {
        let figure = &readings[at.0].figures[at.1];
        readings[at.0].scopes[figure.scope as usize].part.is_empty()
    };
    // Arrays without latencies use those of their disks.
    let is_beneath = |at: &(usize, usize)| readings[at.0].beneath.contains(&readings[at.0].figures[at.1].scope);
    let of_time = |at: &(usize, usize)| {
        let figure = &readings[at.0].figures[at.1];
        let is = matches!(figure.measure, Measure::Latency | Measure::Busy);
        is.then_some((at.0, figure.class, figure.measure))
    };
    let timed: BTreeSet<_> = figures.iter().filter(|at| !is_beneath(at)).filter_map(of_time).collect();
    let counts = |at: &(usize, usize)| !is_beneath(at) || of_time(at).is_some_and(|key| !timed.contains(&key));
    let figures: Vec<(usize, usize)> = figures.iter().copied().filter(counts).collect();
    let with_wholes: BTreeSet<usize> = figures.iter().filter(|at| is_whole(at)).map(|at| at.0).collect();
    figures.into_iter().filter(|at| is_whole(at) || !with_wholes.contains(&at.0)).collect()
}

/// A slot and a figure in it: indices of reading and figure.
type Placing = (usize, (usize, usize));

/// Operations per second by slot, class and subject: the weights of latencies and sizes.
type Rates = BTreeMap<(usize, Class, (usize, u32)), f64>;

fn collect_rates(readings: &[&Reading], figures: &[Placing]) -> Rates {
    let mut rates = Rates::new();
    for (slot, at) in figures {
        let figure = &readings[at.0].figures[at.1];
        if (figure.measure, figure.statistic) == (Measure::Iops, Statistic::Mean) {
            rates.insert((*slot, figure.class, (at.0, figure.scope)), figure.value);
        }
    }
    rates
}

impl MeasureSeries {
    fn of(
        (class, measure, statistic): (Class, Measure, Statistic),
        slots: usize,
        readings: &[&Reading],
        cells: &[Placing],
        rates: &Rates,
    ) -> Self {
        let mut values: Vec<Option<f64>> = vec![None; slots];
        let mut weights = vec![0.0; slots];
        for (slot, at) in cells {
            let figure = &readings[at.0].figures[at.1];
            let value = &mut values[*slot];
            *value = Some(match (measure, statistic, *value) {
                (_, _, None) => figure.value,
                // Maxima may not coincide: the highest is a lower bound of the total.
                (_, Statistic::Maximum, Some(so_far)) | (Measure::Busy, _, Some(so_far)) => so_far.max(figure.value),
                (Measure::Iops | Measure::Throughput | Measure::Depth, _, Some(so_far)) => so_far + figure.value,
                (Measure::Latency | Measure::Size, _, Some(so_far)) => {
                    let weight = weigh(readings, rates, *slot, *at);
                    let sum: f64 = weights[*slot] + weight;
                    if sum > 0.0 { (so_far * weights[*slot] + figure.value * weight) / sum } else { so_far }
                }
            });
            weights[*slot] += weigh(readings, rates, *slot, *at);
        }
        let sources: Vec<(usize, usize)> = cells.iter().map(|(_, at)| *at).collect();
        let distribution = find_distribution((class, measure, statistic), readings, &sources);
        Self { class, measure, statistic, values, sources, distribution }
    }
}

/// The distribution at the resolution of the only input of a series.
fn find_distribution(
    (class, measure, statistic): (Class, Measure, Statistic),
    readings: &[&Reading],
    sources: &[(usize, usize)],
) -> Option<ValueDistribution> {
    let (number, _) = *sources.first()?;
    let reading = readings[number];
    if statistic != Statistic::Mean || reading.distributions.is_empty() || sources.iter().any(|at| at.0 != number) {
        return None;
    }
    let scopes: BTreeSet<u32> = sources.iter().map(|at| reading.figures[at.1].scope).collect();
    let is = |one: &&ReadingDistribution| (one.class, one.measure) == (class, measure) && one.scopes == scopes;
    reading.distributions.iter().find(is).map(|one| one.distribution.clone())
}

/// The weight of a latency or size: its operations per second. Disks below an array share its operations evenly.
fn weigh(readings: &[&Reading], rates: &Rates, slot: usize, at: (usize, usize)) -> f64 {
    let figure = &readings[at.0].figures[at.1];
    let beneath = if readings[at.0].beneath.contains(&figure.scope) { 1.0 } else { 0.0 };
    rates.get(&(slot, figure.class, (at.0, figure.scope))).copied().unwrap_or(beneath)
}

impl Summary {
    /// Quantiles over time; the mean with a weight for each window.
    fn of(slots: &[Slot], values: &[Option<f64>], weights: &[f64]) -> Option<Self> {
        let (mut sum, mut total) = (0.0, 0.0);
        for (value, weight) in values.iter().zip(weights).filter_map(|(value, weight)| Some(((*value)?, weight))) {
            sum += value * weight;
            total += weight;
        }
        let pairs = slots.iter().zip(values);
        let mut weighed: Vec<(f64, f64)> =
            pairs.filter_map(|(slot, value)| Some(((*value)?, slot.length.as_secs_f64()))).collect();
        weighed.sort_by(|a, b| a.0.total_cmp(&b.0));
        let seconds: f64 = weighed.iter().map(|(_, seconds)| seconds).sum();
        let (maximum, _) = *weighed.last()?;
        let plain = || weighed.iter().map(|(value, _)| value).sum::<f64>() / weighed.len() as f64;
        let mean = if total > 0.0 { sum / total } else { plain() };
        let at_share = |share: f64| {
            let mut passed = 0.0;
            let reached = weighed.iter().find(|(_, length)| {
                passed += length;
                passed >= share * seconds * (1.0 - 1e-12)
            });
            reached.map_or(maximum, |(value, _)| *value)
        };
        Some(Self { windows: weighed.len(), mean, p50: at_share(0.5), p95: at_share(0.95), maximum })
    }
}

/// The identifiers of the databases with each name.
struct DatabaseNames<'a> {
    numbers: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

impl<'a> DatabaseNames<'a> {
    fn of(readings: &[&'a Reading]) -> Self {
        let mut numbers: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for scope in readings.iter().flat_map(|reading| &reading.scopes).filter(|scope| !scope.database_id.is_empty()) {
            numbers.entry(&scope.database).or_default().insert(&scope.database_id);
        }
        Self { numbers }
    }

    /// The name of a subject. Inputs without identifier belong to the only database of that name, if there is one.
    fn subject(&self, scope: &ReadingScope) -> String {
        match (scope.database.as_str(), scope.database_id.as_str()) {
            ("", _) => scope.host.clone(),
            (name, id) if self.is_shared(name) && !id.is_empty() => format!("{name} (DBID {id})"),
            (name, _) => name.to_owned(),
        }
    }

    /// The caution for a subject whose name several databases share.
    fn doubt(&self, subject: &str) -> Option<Doubt> {
        let name = subject.split(" (DBID ").next().unwrap_or_default();
        let count = self.numbers.get(name).filter(|_| self.is_shared(name))?.len();
        let (is_unidentified, name) = (subject == name, name.to_owned());
        Some(if is_unidentified {
            Doubt::SharedName { count, name }
        } else {
            Doubt::SharedNameIdentified { count, name }
        })
    }

    fn is_shared(&self, name: &str) -> bool {
        self.numbers.get(name).is_some_and(|numbers| numbers.len() > 1)
    }
}

/// A window of the demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Its begin in the time of the inputs, if known.
    pub begin: Option<DateTime>,
    pub length: Span,
    /// The length of the longest averaging window in it, which hides shorter peaks: its own length, unless it joins
    /// quiet windows of a long input.
    pub resolution: Span,
    /// Number of windows that it joins; otherwise 1.
    pub windows: u32,
}

impl Slot {
    /// A window of an input.
    pub const fn of(begin: Option<DateTime>, length: Span) -> Self {
        Self { begin, length, resolution: length, windows: 1 }
    }
}

/// Figures with their slots.
struct Placed {
    slots: Vec<Slot>,
    figures: Vec<(usize, (usize, usize))>,
    /// The slot of each window, unless skipped.
    slot_of: BTreeMap<WindowKey, usize>,
}

/// True if a reading of these scopes has a doubt of a kind.
fn has_doubt(readings: &[&Reading], is_own: impl Fn(&Reading, u32) -> bool, is: fn(&Doubt) -> bool) -> bool {
    own_readings(readings, is_own).any(|reading| reading.cautions.iter().any(|caution| is(&caution.doubt)))
}

/// The readings with scopes selected by `is_own`.
fn own_readings<'r>(
    readings: &[&'r Reading],
    is_own: impl Fn(&Reading, u32) -> bool,
) -> impl Iterator<Item = &'r Reading> {
    readings.iter().copied().filter(move |reading| (0..reading.scopes.len() as u32).any(|scope| is_own(reading, scope)))
}

/// The lowest release among the readings with scopes selected by `is_own`.
fn find_lowest_release(readings: &[&Reading], is_own: impl Fn(&Reading, u32) -> bool) -> Option<String> {
    let numbers = |release: &&String| -> Vec<u32> { release.split('.').map_while(|part| part.parse().ok()).collect() };
    let releases = own_readings(readings, is_own).filter_map(|reading| reading.oracle_release.as_ref());
    releases.min_by_key(numbers).cloned()
}

/// A window of a reading: indices of both.
type WindowKey = (usize, u32);

/// Assigns figures to slots: windows of different instances that begin together share a slot.
fn place(readings: &[&Reading], figures: &[(usize, usize)], doubts: &mut Vec<Doubt>) -> Placed {
    clocks(readings, figures, doubts);
    let owners = group_instances(readings, figures);
    let mut keys: Vec<WindowKey> = owners.keys().copied().collect();
    let window = |key: &WindowKey| -> ReadingWindow { readings[key.0].windows[key.1 as usize] };
    keys.sort_by_key(|key| (window(key).begin, *key));
    let mut slots: Vec<(Slot, BTreeSet<&str>)> = Vec::new();
    let mut slot_of: BTreeMap<WindowKey, usize> = BTreeMap::new();
    let mut last_of: BTreeMap<&str, Slot> = BTreeMap::new();
    for key in keys {
        let ReadingWindow { begin, length } = window(&key);
        let joined = readings[key.0].joined.get(&key.1);
        let slot = joined.map_or(Slot::of(begin, length), |joined| Slot {
            begin,
            length,
            resolution: joined.longest,
            windows: joined.count,
        });
        let who = &owners[&key];
        // Duplicate or overlapping reports: only the first counts.
        let before = who.iter().filter_map(|name| last_of.get(name)).max_by_key(|slot| slot.begin);
        if let Some(before) = before.filter(|before| overlaps(before, &slot)) {
            let input = readings[key.0].name.clone();
            doubts.push(if *before == slot {
                Doubt::WindowGivenTwice { input }
            } else {
                Doubt::WindowOverlaps { input }
            });
            continue;
        }
        // A report of the whole cluster includes its instances.
        let joined = slots.iter_mut().enumerate().rev().take(8).find(|(_, (other, _))| coincide(other, &slot));
        if let Some((index, (_, names))) = joined {
            if names.contains("") || who.contains("") {
                doubts.push(Doubt::WindowCovered { input: readings[key.0].name.clone() });
                continue;
            }
            names.extend(who.iter());
            slot_of.insert(key, index);
        } else {
            slots.push((slot, who.clone()));
            slot_of.insert(key, slots.len() - 1);
        }
        for name in who {
            last_of.insert(name, slot);
        }
    }
    let placed = figures.iter().filter_map(|at| {
        let key = (at.0, readings[at.0].figures[at.1].window);
        Some((*slot_of.get(&key)?, *at))
    });
    let figures = placed.collect();
    Placed { figures, slots: slots.into_iter().map(|(slot, _)| slot).collect(), slot_of }
}

/// The instances with figures in each window.
fn group_instances<'a>(readings: &[&'a Reading], figures: &[(usize, usize)]) -> BTreeMap<WindowKey, BTreeSet<&'a str>> {
    let mut owners: BTreeMap<WindowKey, BTreeSet<&str>> = BTreeMap::new();
    for at in figures {
        let figure = &readings[at.0].figures[at.1];
        let scope = &readings[at.0].scopes[figure.scope as usize];
        owners.entry((at.0, figure.window)).or_default().insert(scope.instance.as_str());
    }
    owners
}

fn seconds_between(earlier: DateTime, later: DateTime) -> f64 {
    later.duration_since(earlier).as_secs_f64()
}

/// True for windows of an instance that overlap by more than an edge.
fn overlaps(before: &Slot, slot: &Slot) -> bool {
    match (before.begin, slot.begin) {
        (Some(earlier), Some(later)) => {
            let shared = before.length.as_secs_f64() - seconds_between(earlier, later);
            shared > 0.1 * before.length.as_secs_f64().min(slot.length.as_secs_f64())
        }
        _ => false,
    }
}

/// True for windows that are equal up to the seconds between snapshots.
fn coincide(a: &Slot, b: &Slot) -> bool {
    let (Some(begin), Some(other)) = (a.begin, b.begin) else { return false };
    let length = a.length.as_secs_f64().max(b.length.as_secs_f64());
    let near = |seconds: f64| seconds.abs() <= 0.1 * length;
    near(seconds_between(begin, other)) && near(a.length.as_secs_f64() - b.length.as_secs_f64())
}

/// Adds a caution for each reading with a scope whose windows are out of order. Several scopes need no common order: a
/// Times between windows without a sample, if the begin of each window is known.
fn find_gaps(slots: &[Slot]) -> Option<Doubt> {
    /// A shorter distance between windows, as a share of their length, is the jitter of a clock.
    const MIN_GAP: f64 = 0.5;
    let mut windows =
        slots.iter().map(|slot| Some((slot.begin?, slot.length.as_secs_f64()))).collect::<Option<Vec<_>>>()?;
    windows.sort_by_key(|(begin, _)| *begin);
    let (first, _) = *windows.first()?;
    let (mut missing_s, mut longest_s, mut longest_begin, mut end_s) = (0.0, 0.0, first, 0.0_f64);
    for (begin, length_s) in windows {
        let begin_s = begin.duration_since(first).as_secs_f64();
        let gap_s = begin_s - end_s;
        if gap_s >= MIN_GAP * length_s {
            missing_s += gap_s;
            if gap_s > longest_s {
                (longest_s, longest_begin) = (gap_s, timestamp::later(first, end_s)?);
            }
        }
        end_s = end_s.max(begin_s + length_s);
    }
    let [span, longest] = [end_s, longest_s].map(Span::from_secs_f64);
    (missing_s > 0.0).then(|| Doubt::Gaps { share: missing_s / end_s, span, begin: longest_begin, longest })
}

/// trace lists the totals of its volumes after its windows.
fn clocks(readings: &[&Reading], figures: &[(usize, usize)], doubts: &mut Vec<Doubt>) {
    let mut last: BTreeMap<(usize, u32), DateTime> = BTreeMap::new();
    let mut doubted = BTreeSet::new();
    for (number, figure) in figures {
        let reading = readings[*number];
        let figure = &reading.figures[*figure];
        let Some(begin) = reading.windows[figure.window as usize].begin else { continue };
        let before = last.insert((*number, figure.scope), begin).filter(|before| begin < *before);
        if let Some(before) = before.filter(|_| doubted.insert(*number)) {
            doubts.push(Doubt::ClockWentBack { input: reading.name.clone(), before, begin });
        }
    }
}
