//! Times and waits of many readings as one account.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Account, CacheCurve, EventTime, Place, Spent};
use crate::demand::slots::Placed;
use crate::events::Waited;
use crate::figure::Origin;
use crate::reading::{CacheAdvice, Reading, Wait};

/// Puts the short waits of each scope, window and thing that is waited for together.
pub(super) fn short(waits: Vec<(Waited, Wait)>) -> Vec<Wait> {
    let mut together: BTreeMap<(u32, u32, Waited), Wait> = BTreeMap::new();
    for (waited, wait) in waits {
        let sum = together.entry((wait.scope, wait.window, waited)).or_insert_with(|| Wait {
            event: waited.rest().to_owned(),
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

/// The account of those scopes that `is_meant` says; none when no window of theirs says how long sessions worked.
pub(in crate::demand) fn account(
    readings: &[&Reading],
    placed: &Placed,
    is_meant: impl Fn(&Reading, u32) -> bool,
) -> Option<Account> {
    let mut sums: Vec<Sum> = placed.slots.iter().map(|slot| Sum::new(slot.length.as_secs_f64())).collect();
    let mut inputs: BTreeMap<usize, Arc<str>> = BTreeMap::new();
    let mut curves: BTreeMap<(String, String, usize, u32, u32), CacheCurve> = BTreeMap::new();
    for (number, reading) in readings.iter().enumerate() {
        let mut place = |origin: &Origin| Place {
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
            sum.processor_s.add(time.processor_s);
            sum.commits.add(time.commits);
            sum.processors(reading, time.scope, time.processors.map(f64::from));
        }
        for host in &reading.hosts {
            let Some(slot) = slot(host.scope, host.window) else { continue };
            let name = who(reading, host.scope);
            sums[slot].hosts.insert(name, (host.busy_s, host.busy_s + host.idle_s));
        }
        for database in &reading.databases {
            let Some(slot) = slot(database.scope, database.window) else { continue };
            sums[slot].processors(reading, database.scope, database.processors);
            let instance = reading.scopes[database.scope as usize].instance.clone();
            sums[slot].caches.extend(database.cache_bytes.map(|bytes| (instance, bytes)));
            sums[slot].memories.extend(database.memory_bytes.map(|bytes| (who(reading, database.scope), bytes)));
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
            let key = (instance.clone(), advice.pool.clone(), number, advice.scope, advice.window);
            let curve = curves.entry(key).or_insert_with(|| CacheCurve {
                instance,
                pool: advice.pool.clone(),
                size_bytes: 0.0,
                reads: 0.0,
                points: Vec::new(),
                place: place(&advice.origin),
            });
            point(curve, advice);
        }
    }
    let last = |of: fn(&Sum) -> &BTreeMap<String, f64>| {
        sums.iter().rev().map(of).find(|by_name| !by_name.is_empty()).map(|by_name| by_name.values().sum())
    };
    let (cache_bytes, memory_bytes) = (last(|sum| &sum.caches), last(|sum| &sum.memories));
    let slots: Vec<Option<Spent>> = sums.into_iter().map(Sum::spent).collect();
    let whole = whole(&slots)?;
    let slots = slots.into_iter().map(|slot| slot.map(without_histograms)).collect();
    Some(Account { whole, slots, cache_bytes, memory_bytes, caches: busiest(curves.into_values()) })
}

/// A host by its name, or the instance where it has none.
fn who(reading: &Reading, scope: u32) -> String {
    let scope = &reading.scopes[scope as usize];
    if scope.host.is_empty() { scope.instance.clone() } else { scope.host.clone() }
}

/// A sum of what everybody says: none as soon as one does not.
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

    fn said(&self) -> Option<f64> {
        self.sum.filter(|_| !self.is_lacking)
    }
}

/// A window as it comes together.
struct Sum {
    seconds: f64,
    database_s: f64,
    longest_s: f64,
    place: Option<Place>,
    processor_s: Total,
    commits: Total,
    processors: BTreeMap<String, f64>,
    /// By host: seconds of its processors that were busy, and all.
    hosts: BTreeMap<String, (f64, f64)>,
    caches: BTreeMap<String, f64>,
    memories: BTreeMap<String, f64>,
    waits: Waits,
}

impl Sum {
    /// What counters that are read one after the other, and waits that work as well, may stray.
    const SLACK: f64 = 1.25;

    fn new(seconds: f64) -> Self {
        Self {
            seconds,
            database_s: 0.0,
            longest_s: 0.0,
            place: None,
            processor_s: Total::default(),
            commits: Total::default(),
            processors: BTreeMap::new(),
            hosts: BTreeMap::new(),
            caches: BTreeMap::new(),
            memories: BTreeMap::new(),
            waits: Waits::default(),
        }
    }

    fn processors(&mut self, reading: &Reading, scope: u32, processors: Option<f64>) {
        if let Some(processors) = processors.filter(|processors| *processors > 0.0) {
            self.processors.insert(who(reading, scope), processors);
        }
    }

    fn wait(&mut self, wait: &Wait, place: &mut impl FnMut(&Origin) -> Place) {
        let waited = Waited::of(&wait.event);
        if waited == Waited::Idle {
            return;
        }
        let histogram: Vec<(f64, f64)> =
            wait.histogram.iter().map(|(bound, share)| (*bound, share * wait.count)).collect();
        let one = EventTime {
            event: Arc::from(wait.event.as_str()),
            waited,
            foreground: wait.foreground,
            count: wait.count,
            total_s: wait.total_s,
            histogram,
            place: place(&wait.origin),
        };
        self.waits.add(&one);
    }

    fn spent(mut self) -> Option<Spent> {
        // What is longer than all that is not work is part of no session's time: it is idle by another name.
        let left_s = self.database_s - self.processor_s.said().unwrap_or(0.0);
        self.waits.drop_longer(left_s * Self::SLACK);
        let (busy, all) = self.hosts.values().fold((0.0, 0.0), |(busy, all), host| (busy + host.0, all + host.1));
        Some(Spent {
            seconds: self.seconds,
            database_s: self.database_s,
            processor_s: self.processor_s.said(),
            processors: (!self.processors.is_empty()).then(|| self.processors.values().sum()),
            host_busy: (all > 0.0).then(|| busy / all),
            commits: self.commits.said(),
            waits: self.waits.sorted(),
            place: self.place?,
        })
    }
}

/// Waits by event, and where each was longest.
#[derive(Default)]
struct Waits {
    by_event: BTreeMap<(Arc<str>, bool), (EventTime, f64)>,
}

impl Waits {
    fn add(&mut self, one: &EventTime) {
        let key = (Arc::clone(&one.event), one.foreground);
        let Some((sum, longest_s)) = self.by_event.get_mut(&key) else {
            self.by_event.insert(key, (one.clone(), one.total_s));
            return;
        };
        if one.total_s > *longest_s {
            (sum.place, *longest_s) = (one.place.clone(), one.total_s);
        }
        sum.count += one.count;
        sum.total_s += one.total_s;
        sum.histogram = both(&sum.histogram, &one.histogram);
    }

    /// Drops events of sessions that are not known and longer than this.
    fn drop_longer(&mut self, seconds: f64) {
        let is_idle =
            |wait: &EventTime| wait.waited == Waited::Other && wait.foreground && wait.total_s > seconds.max(1.0);
        self.by_event.retain(|_, (wait, _)| !is_idle(wait));
    }

    fn sorted(self) -> Vec<EventTime> {
        let mut waits: Vec<EventTime> = self.by_event.into_values().map(|(wait, _)| wait).collect();
        waits.sort_by(|a, b| b.total_s.total_cmp(&a.total_s));
        waits
    }
}

/// Waits of two histograms by their bounds. A wait stays below the bound that was said of it.
fn both(a: &[(f64, f64)], b: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut sum: Vec<(f64, f64)> = a.iter().chain(b).copied().collect();
    sum.sort_by(|a, b| a.0.total_cmp(&b.0));
    sum.dedup_by(|next, kept| {
        let same = next.0.total_cmp(&kept.0).is_eq();
        if same {
            kept.1 += next.1;
        }
        same
    });
    sum
}

/// All windows as one.
fn whole(slots: &[Option<Spent>]) -> Option<Spent> {
    let mut waits = Waits::default();
    let mut whole: Option<Spent> = None;
    let (mut busy, mut longest_s) = ((0.0, 0.0), 0.0);
    for slot in slots.iter().flatten() {
        slot.waits.iter().for_each(|wait| waits.add(wait));
        if let Some(share) = slot.host_busy {
            busy = (busy.0 + share * slot.seconds, busy.1 + slot.seconds);
        }
        let Some(sum) = &mut whole else {
            whole = Some(Spent { waits: Vec::new(), ..slot.clone() });
            longest_s = slot.database_s;
            continue;
        };
        if slot.database_s > longest_s {
            (sum.place, longest_s) = (slot.place.clone(), slot.database_s);
        }
        sum.seconds += slot.seconds;
        sum.database_s += slot.database_s;
        sum.processor_s = sum.processor_s.zip(slot.processor_s).map(|(a, b)| a + b);
        sum.commits = sum.commits.zip(slot.commits).map(|(a, b)| a + b);
        sum.processors = [sum.processors, slot.processors].into_iter().flatten().max_by(f64::total_cmp);
    }
    let mut whole = whole?;
    whole.host_busy = (busy.1 > 0.0).then(|| busy.0 / busy.1);
    whole.waits = waits.sorted();
    Some(whole)
}

fn without_histograms(mut spent: Spent) -> Spent {
    spent.waits.iter_mut().for_each(|wait| wait.histogram = Vec::new());
    spent
}

/// Adds a row of the advice. The row nearest to the present size says how large that is.
fn point(curve: &mut CacheCurve, advice: &CacheAdvice) {
    let distance = (advice.size_factor - 1.0).abs();
    if curve.points.iter().all(|(factor, _)| (factor - 1.0).abs() > distance) {
        (curve.size_bytes, curve.reads) = (advice.size_bytes / advice.size_factor, advice.reads);
    }
    let at = curve.points.partition_point(|(factor, _)| *factor < advice.size_factor);
    curve.points.insert(at, (advice.size_factor, advice.read_factor));
}

/// Of each instance and pool the curve with the most reads.
fn busiest(curves: impl Iterator<Item = CacheCurve>) -> Vec<CacheCurve> {
    let mut kept: Vec<CacheCurve> = Vec::new();
    let mut seen: BTreeSet<(String, String)> = BTreeSet::new();
    let mut curves: Vec<CacheCurve> = curves.filter(|curve| curve.points.len() > 1).collect();
    curves.sort_by(|a, b| b.reads.total_cmp(&a.reads));
    for curve in curves {
        if seen.insert((curve.instance.clone(), curve.pool.clone())) {
            kept.push(curve);
        }
    }
    kept
}
