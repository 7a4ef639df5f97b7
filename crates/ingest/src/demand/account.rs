//! Time of a database's sessions: storage waits and other parts.
//!
//! Waits of instances and windows add up, with their histograms; each event keeps the place of its longest window.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Placed;
use crate::reading::{
    CacheAdvice, Class, Database, HostTime, Origin, Reading, TimeCounters, Wait, WaitCause, do_waits_exceed,
};

/// Time of a database's sessions.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    /// All windows with this data, each counted once.
    pub total: SessionTime,
    /// By window, in the order of [`crate::DatabaseDemand::slots`], without histograms, where known.
    pub slots: Vec<Option<SessionTime>>,
    /// Total bytes of the buffer caches of all instances, in the last window that contains them.
    pub cache_bytes: Option<f64>,
    /// Total bytes of memory of all hosts, in the last window that contains them.
    pub memory_bytes: Option<f64>,
    /// Bytes of the database's files, in the last window that contains them.
    pub stored_bytes: Option<f64>,
    /// Estimates for other sizes of the buffer cache, for each instance and pool, from the window with the most reads.
    pub caches: Vec<CacheCurve>,
}

/// Time of a database's sessions in a set of windows.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionTime {
    /// Seconds of the windows.
    pub seconds: f64,
    /// Seconds of sessions, working or waiting.
    pub database_s: f64,
    /// Seconds by which `database_s` may be off, as the inputs round it; 0 if it is exact.
    pub rounding_s: f64,
    /// Seconds of these on a processor; none if missing in windows with more than a tenth of the time.
    pub processor_s: Option<f64>,
    /// Processors of all hosts; the maximum over windows.
    pub processors: Option<f64>,
    /// Busy share of the hosts' processors, 0 to 1, including other programs.
    pub host_busy: Option<f64>,
    /// Waiting on the hosts, where known.
    pub host: HostWaiting,
    /// Committed transactions; none if missing in any window.
    pub commits: Option<f64>,
    /// Counters that explain the time, of all windows and instances.
    pub counters: TimeCounters,
    /// Waits of sessions and background processes, the longest first, without idle ones.
    pub waits: Vec<EventTime>,
    /// The place of the database's time; that of the busiest window.
    pub place: InputPosition,
}

/// Waiting on the hosts of a database, where known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostWaiting {
    /// Share of the processors' time that they were idle with I/O in flight, 0 to 1.
    pub io_wait: Option<f64>,
    /// Mean number of processors that were idle with I/O in flight.
    pub processors_in_io_wait: Option<f64>,
    /// Mean number of runnable processes that waited for a processor.
    pub processes: Option<f64>,
    /// Bytes per second that a host paged in, and out, for virtual memory: the mean of the hosts.
    pub paged_bytes_s: Option<[f64; 2]>,
    /// The place of the hosts' processor time; that of the first window.
    pub place: Option<InputPosition>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct EventTime {
    /// The database's name of the event.
    pub event: Arc<str>,
    pub cause: WaitCause,
    /// True for sessions of users, whose waits are part of the database's time; false for background processes.
    pub foreground: bool,
    /// Number of waits.
    pub count: f64,
    /// Seconds of all waits together.
    pub total_s: f64,
    /// Upper bounds in seconds, ascending, the last infinite, and the number of waits in each bucket; empty if unknown.
    /// It may contain more waits than `count`: those of both kinds of sessions.
    pub histogram: Vec<(f64, f64)>,
    /// Its place in the input; that of the longest window.
    pub place: InputPosition,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputPosition {
    pub input: Arc<str>,
    /// Place in the input.
    pub origin: Origin,
}

/// A database's estimate of its reads by the size of its buffer cache.
#[derive(Clone, Debug, PartialEq)]
pub struct CacheCurve {
    /// The instance; empty if unknown.
    pub instance: String,
    /// The pool; `D` is the default pool.
    pub pool: String,
    /// Its present bytes.
    pub size_bytes: f64,
    /// Reads in the window at the present size.
    pub reads: f64,
    /// Sizes relative to the present size, ascending, each with its relative reads.
    pub points: Vec<(f64, f64)>,
    pub place: InputPosition,
}

impl EventTime {
    /// Mean seconds of a wait.
    pub fn mean_s(&self) -> Option<f64> {
        (self.count > 0.0).then(|| self.total_s / self.count)
    }

    /// The bounds, in seconds, of the bucket with this quantile (0 to 1) of the waits. None without a histogram; the upper
    /// bound of the last bucket is infinite.
    pub fn quantile_s(&self, quantile: f64) -> Option<[f64; 2]> {
        let all: f64 = self.histogram.iter().map(|(_, waits)| waits).sum();
        let mut passed = 0.0;
        let reached = self.histogram.iter().position(|(_, waits)| {
            passed += waits;
            passed >= quantile * all * (1.0 - 1e-9)
        });
        let bucket = reached.filter(|_| all > 0.0)?;
        let lower = bucket.checked_sub(1).map_or(0.0, |below| self.histogram[below].0);
        Some([lower, self.histogram[bucket].0])
    }
}

impl SessionTime {
    /// Waits of user sessions, which are part of the database's time.
    pub fn foreground(&self) -> impl Iterator<Item = &EventTime> {
        self.waits.iter().filter(|wait| wait.foreground)
    }

    /// Seconds that user sessions waited for events selected by `is`.
    pub fn waited_s(&self, is: impl Fn(WaitCause) -> bool) -> f64 {
        self.foreground().filter(|wait| is(wait.cause)).map(|wait| wait.total_s).sum()
    }

    /// Seconds that user sessions waited for known events: others may be idle waits.
    pub fn identified_waits_s(&self) -> f64 {
        self.waited_s(|cause| cause != WaitCause::Other)
    }

    /// True if its known waits are longer than it allows, so that some of these figures are wrong.
    pub fn is_contradictory(&self) -> bool {
        do_waits_exceed(self.identified_waits_s(), self.processor_s, self.database_s + self.rounding_s)
    }

    /// Mean seconds of an operation of a class, from waits specific to it: of user sessions, or of background processes
    /// if no user session waits for it.
    pub fn operation_s(&self, class: Class) -> Option<f64> {
        let mean = |foreground: bool| {
            // The time of uncounted waits would be that of the others.
            let of_class = |wait: &&EventTime| {
                wait.cause == WaitCause::Storage(class) && wait.foreground == foreground && wait.count > 0.0
            };
            let waits = self.waits.iter().filter(of_class);
            let (times, seconds): (f64, f64) =
                waits.fold((0.0, 0.0), |sum, wait| (sum.0 + wait.count, sum.1 + wait.total_s));
            (times > 0.0 && seconds > 0.0).then(|| seconds / times)
        };
        // Only the log writer writes the log.
        if class == Class::RedoWrite { mean(false).or_else(|| mean(true)) } else { mean(true).or_else(|| mean(false)) }
    }
}

impl Reading {
    /// Drops waits that are irrelevant for an account: idle ones, those of background processes other than for storage,
    /// and histograms other than of storage. Of the rest, short waits unrelated to storage are merged by meaning.
    /// Accounts change only in those names.
    pub fn thin(&mut self) {
        /// Number of waits unrelated to storage that keep their names.
        const NAMED: usize = 12;
        let mut retained: Vec<Wait> = Vec::new();
        let mut others: Vec<(WaitCause, Wait)> = Vec::new();
        let mut by_name: BTreeMap<String, f64> = BTreeMap::new();
        for mut wait in std::mem::take(&mut self.waits) {
            let cause = wait.cause;
            if cause.class().is_some() {
                retained.push(wait);
            } else if cause != WaitCause::Idle && wait.foreground {
                wait.histogram = Vec::new();
                *by_name.entry(wait.event.clone()).or_default() += wait.total_s;
                others.push((cause, wait));
            }
        }
        let mut longest: Vec<(String, f64)> = by_name.into_iter().collect();
        longest.sort_by(|a, b| b.1.total_cmp(&a.1));
        longest.truncate(NAMED);
        let is_long = |wait: &Wait| longest.iter().any(|(name, _)| *name == wait.event);
        retained.extend(others.extract_if(.., |(_, wait)| is_long(wait)).map(|(_, wait)| wait));
        retained.extend(short(others));
        retained.shrink_to_fit();
        self.waits = retained;
        self.figures.shrink_to_fit();
        self.parts.shrink_to_fit();
    }
}

/// Merges the short waits of each scope, window and meaning.
fn short(waits: Vec<(WaitCause, Wait)>) -> Vec<Wait> {
    let mut together: BTreeMap<(u32, u32, WaitCause), Wait> = BTreeMap::new();
    for (waited, wait) in waits {
        let sum = together.entry((wait.scope, wait.window, waited)).or_insert_with(|| Wait {
            event: waited.rest().to_owned(),
            cause: waited,
            count: 0.0,
            total_s: 0.0,
            histogram: Vec::new(),
            ..wait.clone()
        });
        sum.count += wait.count;
        sum.total_s += wait.total_s;
    }
    together.into_values().collect()
}

/// The account of the scopes selected by `is_meant`; none if no window of theirs contains the time of sessions.
pub(super) fn account(
    readings: &[&Reading],
    placed: &Placed,
    is_meant: impl Fn(&Reading, u32) -> bool,
) -> Option<Account> {
    let mut sums: Vec<WindowTotals<'_>> =
        placed.slots.iter().map(|slot| WindowTotals::new(slot.length.as_secs_f64())).collect();
    let mut inputs: BTreeMap<usize, Arc<str>> = BTreeMap::new();
    let mut curves: BTreeMap<CurveKey, (InputPosition, Vec<&CacheAdvice>)> = BTreeMap::new();
    for (number, reading) in readings.iter().enumerate() {
        let mut place = |origin: &Origin| InputPosition {
            input: Arc::clone(inputs.entry(number).or_insert_with(|| Arc::from(reading.name.as_str()))),
            origin: origin.clone(),
        };
        let slot = |scope: u32, window: u32| {
            is_meant(reading, scope).then(|| placed.slot_of.get(&(number, window)).copied()).flatten()
        };
        for time in &reading.times {
            let Some(slot) = slot(time.scope, time.window) else { continue };
            let sum = &mut sums[slot];
            let longest = sum.place.as_ref().is_none_or(|_| time.database_s > sum.longest_s);
            if longest {
                (sum.place, sum.longest_s) = (Some(place(&time.origin)), time.database_s);
            }
            sum.database_s += time.database_s;
            sum.rounding_s += time.rounding_s;
            sum.processor_s.add(time.processor_s);
            sum.commits.add(time.commits);
            sum.processors(reading, time.scope, time.processors.map(f64::from));
            match &mut sum.counters {
                Some(counters) => counters.add(&time.counters),
                none => *none = Some(time.counters.clone()),
            }
        }
        for host in &reading.hosts {
            let Some(slot) = slot(host.scope, host.window) else { continue };
            sums[slot].host_place.get_or_insert_with(|| place(&host.origin));
            sums[slot].hosts.insert(who(reading, host.scope), host);
        }
        for database in &reading.databases {
            let Some(slot) = slot(database.scope, database.window) else { continue };
            sums[slot].database(reading, database);
        }
        for wait in &reading.waits {
            let Some(slot) = slot(wait.scope, wait.window) else { continue };
            sums[slot].wait(wait, &mut place);
        }
        for advice in &reading.advice {
            if slot(advice.scope, advice.window).is_none() || !(advice.size_factor > 0.0 && advice.read_factor >= 0.0) {
                continue;
            }
            let instance = reading.scopes[advice.scope as usize].instance.clone();
            let key = (instance, advice.pool.clone(), number, advice.scope, advice.window);
            curves.entry(key).or_insert_with(|| (place(&advice.origin), Vec::new())).1.push(advice);
        }
    }
    let last = |of: for<'w> fn(&'w WindowTotals<'_>) -> &'w BTreeMap<String, f64>| {
        sums.iter().rev().map(of).find(|by_name| !by_name.is_empty()).map(|by_name| by_name.values().sum())
    };
    let stored_bytes = sums.iter().rev().find_map(|sum| sum.stored);
    let (cache_bytes, memory_bytes) = (last(|sum| &sum.caches), last(|sum| &sum.memories));
    let slots: Vec<Option<SessionTime>> = sums.into_iter().map(WindowTotals::spent).collect();
    let total = sum_windows(&slots)?;
    let curves =
        curves.into_iter().filter_map(|((instance, pool, ..), (place, rows))| curve(instance, pool, place, rows));
    let slots = slots.into_iter().map(|slot| slot.map(without_histograms)).collect();
    Some(Account { total, slots, cache_bytes, memory_bytes, stored_bytes, caches: busiest(curves) })
}

/// The host's name, or the instance's if the host has none.
fn who(reading: &Reading, scope: u32) -> String {
    let scope = &reading.scopes[scope as usize];
    if scope.host.is_empty() { scope.instance.clone() } else { scope.host.clone() }
}

/// A sum of values; none if any of them is absent.
#[derive(Default)]
struct Total {
    sum: Option<f64>,
    is_lacking: bool,
}

impl Total {
    fn add(&mut self, value: Option<f64>) {
        match value {
            Some(value) => *self.sum.get_or_insert(0.0) += value,
            None => self.is_lacking = true,
        }
    }

    fn value(&self) -> Option<f64> {
        self.sum.filter(|_| !self.is_lacking)
    }
}

/// A window under construction.
#[derive(Default)]
struct WindowTotals<'a> {
    seconds: f64,
    database_s: f64,
    rounding_s: f64,
    longest_s: f64,
    place: Option<InputPosition>,
    processor_s: Total,
    commits: Total,
    processors: BTreeMap<String, f64>,
    hosts: BTreeMap<String, &'a HostTime>,
    host_place: Option<InputPosition>,
    counters: Option<TimeCounters>,
    caches: BTreeMap<String, f64>,
    memories: BTreeMap<String, f64>,
    stored: Option<f64>,
    waits: Waits,
}

impl WindowTotals<'_> {
    /// Tolerance for counters that are read at different times, and for waits that include work.
    const SLACK: f64 = 1.25;

    fn new(seconds: f64) -> Self {
        Self { seconds, ..Self::default() }
    }

    fn processors(&mut self, reading: &Reading, scope: u32, processors: Option<f64>) {
        if let Some(processors) = processors.filter(|processors| *processors > 0.0) {
            self.processors.insert(who(reading, scope), processors);
        }
    }

    fn database(&mut self, reading: &Reading, database: &Database) {
        self.processors(reading, database.scope, database.processors);
        let instance = reading.scopes[database.scope as usize].instance.clone();
        self.caches.extend(database.cache_bytes.map(|bytes| (instance, bytes)));
        self.memories.extend(database.memory_bytes.map(|bytes| (who(reading, database.scope), bytes)));
        self.stored = database.stored_bytes.or(self.stored);
    }

    fn wait(&mut self, wait: &Wait, place: &mut impl FnMut(&Origin) -> InputPosition) {
        let cause = wait.cause;
        if cause == WaitCause::Idle {
            return;
        }
        let histogram: Vec<(f64, f64)> =
            wait.histogram.iter().map(|(bound, share)| (*bound, share * wait.count)).collect();
        let event = EventTime {
            event: Arc::from(wait.event.as_str()),
            cause,
            foreground: wait.foreground,
            count: wait.count,
            total_s: wait.total_s,
            histogram,
            place: place(&wait.origin),
        };
        self.waits.add(&event);
    }

    fn spent(mut self) -> Option<SessionTime> {
        // Waits beyond the session time are idle waits of another name.
        let left_s = self.database_s + self.rounding_s - self.processor_s.value().unwrap_or(0.0);
        self.waits.drop_longer(left_s * Self::SLACK);
        let sum = |of: fn(&HostTime) -> Option<f64>| self.hosts.values().map(|host| of(host)).sum::<Option<f64>>();
        let all_s = sum(|host| Some(host.busy_s + host.idle_s)).filter(|seconds| *seconds > 0.0);
        let share = |of: fn(&HostTime) -> Option<f64>| Some(sum(of)? / all_s?);
        let mean = |of: fn(&HostTime) -> Option<f64>| all_s.and_then(|_| Some(sum(of)? / self.seconds));
        let host = HostWaiting {
            io_wait: share(|host| host.io_wait_s),
            processors_in_io_wait: mean(|host| host.io_wait_s),
            processes: mean(|host| host.queue_s),
            paged_bytes_s: mean(|host| Some(host.paged_bytes?[0]))
                .zip(mean(|host| Some(host.paged_bytes?[1])))
                .map(|(paged_in, paged_out)| [paged_in, paged_out].map(|bytes| bytes / self.hosts.len() as f64)),
            place: self.host_place,
        };
        Some(SessionTime {
            seconds: self.seconds,
            database_s: self.database_s,
            rounding_s: self.rounding_s,
            processor_s: self.processor_s.value(),
            processors: (!self.processors.is_empty()).then(|| self.processors.values().sum()),
            host_busy: share(|host| Some(host.busy_s)),
            host,
            commits: self.commits.value(),
            counters: self.counters.unwrap_or_default(),
            waits: self.waits.sorted(),
            place: self.place?,
        })
    }
}

/// Waits by event, with the place of the longest.
#[derive(Default)]
struct Waits {
    by_event: BTreeMap<(Arc<str>, bool), (EventTime, f64)>,
}

impl Waits {
    fn add(&mut self, event: &EventTime) {
        let key = (Arc::clone(&event.event), event.foreground);
        let Some((sum, longest_s)) = self.by_event.get_mut(&key) else {
            self.by_event.insert(key, (event.clone(), event.total_s));
            return;
        };
        if event.total_s > *longest_s {
            (sum.place, *longest_s) = (event.place.clone(), event.total_s);
        }
        sum.count += event.count;
        sum.total_s += event.total_s;
        sum.histogram = both(&sum.histogram, &event.histogram);
    }

    /// Drops unknown events of sessions that exceed this time.
    fn drop_longer(&mut self, seconds: f64) {
        let is_idle =
            |wait: &EventTime| wait.cause == WaitCause::Other && wait.foreground && wait.total_s > seconds.max(1.0);
        self.by_event.retain(|_, (wait, _)| !is_idle(wait));
    }

    fn sorted(self) -> Vec<EventTime> {
        let mut waits: Vec<EventTime> = self.by_event.into_values().map(|(wait, _)| wait).collect();
        waits.sort_by(|a, b| b.total_s.total_cmp(&a.total_s));
        waits
    }
}

/// Sums two histograms by their bounds. A wait stays below its original bound.
fn both(a: &[(f64, f64)], b: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut sum: Vec<(f64, f64)> = a.iter().chain(b).copied().collect();
    sum.sort_by(|a, b| a.0.total_cmp(&b.0));
    sum.dedup_by(|next, retained| {
        let same = next.0.total_cmp(&retained.0).is_eq();
        if same {
            retained.1 += next.1;
        }
        same
    });
    sum
}

fn sum_windows(slots: &[Option<SessionTime>]) -> Option<SessionTime> {
    let mut waits = Waits::default();
    let mut total: Option<SessionTime> = None;
    let mut longest_s = 0.0;
    for slot in slots.iter().flatten() {
        slot.waits.iter().for_each(|wait| waits.add(wait));
        let Some(sum) = &mut total else {
            total = Some(SessionTime { waits: Vec::new(), ..slot.clone() });
            longest_s = slot.database_s;
            continue;
        };
        if slot.database_s > longest_s {
            (sum.place, longest_s) = (slot.place.clone(), slot.database_s);
        }
        sum.seconds += slot.seconds;
        sum.database_s += slot.database_s;
        sum.rounding_s += slot.rounding_s;
        sum.counters.add(&slot.counters);
        sum.host.place = sum.host.place.take().or_else(|| slot.host.place.clone());
        sum.commits = sum.commits.zip(slot.commits).map(|(a, b)| a + b);
        sum.processors = [sum.processors, slot.processors].into_iter().flatten().max_by(f64::total_cmp);
    }
    let mut total = total?;
    total.processor_s = sum_processor_time(slots);
    total.host_busy = mean_over_time(slots, |slot| slot.host_busy);
    total.host.io_wait = mean_over_time(slots, |slot| slot.host.io_wait);
    total.host.processors_in_io_wait = mean_over_time(slots, |slot| slot.host.processors_in_io_wait);
    total.host.processes = mean_over_time(slots, |slot| slot.host.processes);
    let [paged_in, paged_out] = [0, 1].map(|way| mean_over_time(slots, |slot| Some(slot.host.paged_bytes_s?[way])));
    total.host.paged_bytes_s = paged_in.zip(paged_out).map(|(paged_in, paged_out)| [paged_in, paged_out]);
    total.waits = waits.sorted();
    Some(total)
}

/// Processor time of the windows that have it, unless these are a small part of the database's time. That of the others
/// remains in no counter.
fn sum_processor_time(slots: &[Option<SessionTime>]) -> Option<f64> {
    const MIN_COVERED: f64 = 0.9;
    let timed = |slot: &SessionTime| Some((slot.processor_s?, slot.database_s));
    let (processor_s, covered_s) =
        slots.iter().flatten().filter_map(timed).fold((0.0, 0.0), |sum, slot| (sum.0 + slot.0, sum.1 + slot.1));
    let database_s: f64 = slots.iter().flatten().map(|slot| slot.database_s).sum();
    let is_timed = slots.iter().flatten().any(|slot| slot.processor_s.is_some());
    (is_timed && covered_s >= MIN_COVERED * database_s).then_some(processor_s)
}

/// Mean of a quantity over the windows that have it.
fn mean_over_time(slots: &[Option<SessionTime>], of: impl Fn(&SessionTime) -> Option<f64>) -> Option<f64> {
    let timed = slots.iter().flatten().filter_map(|slot| Some((of(slot)?, slot.seconds)));
    let (sum, seconds) = timed.fold((0.0, 0.0), |sum, (value, seconds)| (sum.0 + value * seconds, sum.1 + seconds));
    (seconds > 0.0).then(|| sum / seconds)
}

fn without_histograms(mut spent: SessionTime) -> SessionTime {
    spent.waits.iter_mut().for_each(|wait| wait.histogram = Vec::new());
    spent
}

/// Instance, pool, input, scope and window of an advice.
type CurveKey = (String, String, usize, u32, u32);

/// Reads from which on their number has more digits than the printed factor.
const EXACT_READS: f64 = 1e3;

/// The curve of an advice. The row nearest to the present size defines that size.
fn curve(instance: String, pool: String, place: InputPosition, mut rows: Vec<&CacheAdvice>) -> Option<CacheCurve> {
    let distance = |row: &CacheAdvice| (row.size_factor - 1.0).abs();
    let present = *rows.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    rows.sort_by(|a, b| a.size_factor.total_cmp(&b.size_factor));
    let is_exact = present.reads >= EXACT_READS;
    let factor = |row: &CacheAdvice| {
        let is_exact = is_exact && row.reads > 0.0;
        if is_exact { row.reads / present.reads * present.read_factor } else { row.read_factor }
    };
    Some(CacheCurve {
        instance,
        pool,
        size_bytes: present.size_bytes / present.size_factor,
        reads: present.reads,
        points: rows.iter().map(|row| (row.size_factor, factor(row))).collect(),
        place,
    })
}

/// The curve with the most reads for each instance and pool.
fn busiest(curves: impl Iterator<Item = CacheCurve>) -> Vec<CacheCurve> {
    let mut retained: Vec<CacheCurve> = Vec::new();
    let mut observed: BTreeSet<(String, String)> = BTreeSet::new();
    let mut curves: Vec<CacheCurve> = curves.filter(|curve| curve.points.len() > 1).collect();
    curves.sort_by(|a, b| b.reads.total_cmp(&a.reads));
    for curve in curves {
        if observed.insert((curve.instance.clone(), curve.pool.clone())) {
            retained.push(curve);
        }
    }
    retained
}
