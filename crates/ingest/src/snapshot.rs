//! Counters that only rise, and what two snapshots of them say of the time between.
//!
//! Kernels and databases count since they began, or since somebody reset them. A count that fell is a new beginning and
//! gives no figures, or a counter of 32 bits that went round: only forms know which, so they say where it wraps.

use std::collections::BTreeMap;

use jiff::civil::DateTime;
use plimsoll_units::Span;

use crate::builder::Builder;
use crate::figure::{Class, Measure, Origin, Scope, Window};
use crate::reading::{DatabaseTime, Reading, Wait};
use crate::timestamp;

/// Counters of one scope at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Whose: a number of [`Reading::scopes`].
    pub scope: u32,
    /// When it was taken, by its own clock.
    pub at: Option<DateTime>,
    /// How long the counters had been counting.
    pub age: Option<Span>,
    /// What was counted.
    pub counts: Vec<Count>,
    /// Where it begins.
    pub origin: Origin,
}

/// One counter.
#[derive(Clone, Debug, PartialEq)]
pub struct Count {
    /// What is counted.
    pub counted: Counted,
    /// How much so far.
    pub value: f64,
    /// The value at which it begins again from zero; none when it does not.
    pub wraps_at: Option<f64>,
    /// Where it was read.
    pub origin: Origin,
}

/// What a counter counts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Counted {
    /// Operations of a class.
    Operations(Class),
    /// Bytes of a class.
    Bytes(Class),
    /// Seconds that operations of a class took, each counted for itself.
    OperationSeconds(Class),
    /// Seconds weighed by the operations in flight.
    QueueSeconds(Class),
    /// Seconds in which anything was in flight.
    BusySeconds(Class),
    /// Seconds of sessions that worked or waited.
    DatabaseSeconds,
    /// Seconds of sessions on a processor.
    ProcessorSeconds,
    /// Transactions committed.
    Commits,
    /// How often sessions waited for an event.
    Waits(String),
    /// Seconds that sessions waited for an event.
    WaitSeconds(String),
}

/// Hands over what happened between two snapshots of one scope; `window` is the one between them where neither says when
/// it was taken.
pub(crate) fn between(before: &Snapshot, after: &Snapshot, window: Option<u32>, out: &mut Builder) {
    let said = window.map(|window| out.length(window));
    let length = match length(before, after, said) {
        Ok(length) => length,
        Err(why) => return out.caution_once(Some(after.origin.clone()), why),
    };
    let mut risen = Vec::with_capacity(after.counts.len());
    for (index, count) in after.counts.iter().enumerate() {
        let Some(earlier) = before.value(&count.counted, index) else { continue };
        match rise(earlier, count) {
            Some(rise) => risen.push((&count.counted, rise, &count.origin)),
            None if count.counted.is_time() => {
                let text = "a counter of time went back, as kernels let it now and then: left out in this window";
                out.caution(Some(count.origin.clone()), text);
            }
            None => {
                let text = "a counter fell since the snapshot before: it was reset or restarted between the two, so \
                            this window is left out; take the snapshots closer together";
                return out.caution(Some(count.origin.clone()), text);
            }
        }
    }
    let begin = before.at.or_else(|| after.at.and_then(|at| timestamp::before(at, length)));
    let window = match window {
        Some(window) if after.at.is_none() && after.age.is_none() => window,
        _ => out.window_until(Window { begin, length }, (after.at, after.age)),
    };
    Risen { counts: &risen, seconds: length.as_secs_f64(), at: (after.scope, window) }.put(&after.origin, out);
}

/// How far a counter rose, gone round at most once. What would be more than half a round is a new beginning.
fn rise(earlier: f64, count: &Count) -> Option<f64> {
    let rise = count.value - earlier;
    if rise >= 0.0 {
        return Some(rise);
    }
    let wraps_at = count.wraps_at.filter(|wraps_at| earlier <= *wraps_at)?;
    Some(rise + wraps_at).filter(|round| *round < wraps_at / 2.0)
}

impl Snapshot {
    /// The same with its counters, which it has no longer.
    pub(crate) fn take_counts(&mut self) -> Self {
        let counts = std::mem::take(&mut self.counts);
        Self { counts, origin: self.origin.clone(), ..*self }
    }

    /// What a counter said; snapshots of one form have their counters in one order, as a rule.
    fn value(&self, counted: &Counted, index: usize) -> Option<f64> {
        let same = self.counts.get(index).filter(|count| count.counted == *counted);
        same.or_else(|| self.counts.iter().find(|count| count.counted == *counted)).map(|count| count.value)
    }
}

impl Counted {
    /// Seconds of operations or devices: kernels let such go back now and then.
    pub(crate) fn is_time(&self) -> bool {
        matches!(self, Self::OperationSeconds(_) | Self::QueueSeconds(_) | Self::BusySeconds(_))
    }
}

/// How long two snapshots are apart.
fn length(before: &Snapshot, after: &Snapshot, said: Option<Span>) -> Result<Span, &'static str> {
    let apart = match ((before.at, after.at), (before.age, after.age)) {
        (_, (Some(before), Some(after))) if after < before => {
            return Err("it began anew between two snapshots (its uptime fell): this window is left out");
        }
        ((Some(before), Some(after)), _) => after.duration_since(before).as_secs_f64(),
        (_, (Some(before), Some(after))) => (after - before).as_secs_f64(),
        _ => said.ok_or("two snapshots without times: say how far they are apart")?.as_secs_f64(),
    };
    if apart > 0.0 {
        Ok(Span::from_secs_f64(apart))
    } else {
        Err("the clock does not go on between two snapshots: this window is left out")
    }
}

/// How far counters rose in one window of one scope.
pub(crate) struct Risen<'a> {
    /// Each counter once.
    pub(crate) counts: &'a [(&'a Counted, f64, &'a Origin)],
    /// How long the window was.
    pub(crate) seconds: f64,
    /// Scope and window.
    pub(crate) at: (u32, u32),
}

impl Risen<'_> {
    fn get(&self, counted: &Counted) -> Option<(f64, &Origin)> {
        self.counts.iter().find(|(other, ..)| *other == counted).map(|(_, rise, origin)| (*rise, *origin))
    }

    /// Hands over what it comes to: rates, and means of what was counted together.
    pub(crate) fn put(&self, origin: &Origin, out: &mut Builder) {
        for (counted, rise, place) in self.counts {
            let (class, measure, value) = match counted {
                Counted::Operations(class) => (*class, Measure::Iops, rise / self.seconds),
                Counted::Bytes(class) => (*class, Measure::Throughput, rise / self.seconds),
                Counted::QueueSeconds(class) => (*class, Measure::Depth, rise / self.seconds),
                Counted::BusySeconds(class) => (*class, Measure::Busy, (rise / self.seconds).min(1.0)),
                _ => continue,
            };
            out.mean(self.at, class, measure, value, (*place).clone());
        }
        for (counted, operations, _) in self.counts {
            let Counted::Operations(class) = counted else { continue };
            for (counted, measure) in
                [(Counted::Bytes(*class), Measure::Size), (Counted::OperationSeconds(*class), Measure::Latency)]
            {
                if let Some((sum, place)) = self.get(&counted).filter(|_| *operations > 0.0) {
                    out.mean(self.at, *class, measure, sum / operations, place.clone());
                }
            }
        }
        self.database(origin, out);
    }

    fn database(&self, origin: &Origin, out: &mut Builder) {
        let (scope, window) = self.at;
        let value = |counted: &Counted| self.get(counted).map(|(rise, _)| rise);
        if let Some(database_s) = value(&Counted::DatabaseSeconds) {
            out.time(DatabaseTime {
                scope,
                window,
                database_s,
                processor_s: value(&Counted::ProcessorSeconds),
                processors: None,
                commits: value(&Counted::Commits),
                origin: origin.clone(),
            });
        }
        for (counted, total_s, place) in self.counts {
            let Counted::WaitSeconds(event) = counted else { continue };
            out.wait(Wait {
                scope,
                window,
                event: event.clone(),
                foreground: true,
                count: value(&Counted::Waits(event.clone())).unwrap_or_default(),
                total_s: *total_s,
                histogram: Vec::new(),
                origin: (*place).clone(),
            });
        }
    }
}

/// Puts snapshots of one scope that stand in several inputs together: the window between two belongs to the later one.
/// A snapshot that is alone gives the mean since its counters began, where it says when that was.
pub fn join(readings: Vec<Reading>) -> Vec<Reading> {
    let mut of_scope: BTreeMap<Scope, Vec<Covered>> = BTreeMap::new();
    for (input, reading) in readings.iter().enumerate() {
        let mut of_input: BTreeMap<u32, Covered> = BTreeMap::new();
        for snapshot in &reading.snapshots {
            let new = || Covered { input, first: snapshot.clone(), last: None };
            let covered = of_input.entry(snapshot.scope).or_insert_with(new);
            covered.last = Some(snapshot.clone()).filter(|snapshot| *snapshot != covered.first);
        }
        for (scope, covered) in of_input {
            of_scope.entry(reading.scopes[scope as usize].clone()).or_default().push(covered);
        }
    }
    let mut builders: Vec<Builder> = readings.into_iter().map(Builder::resume).collect();
    for mut covered in of_scope.into_values() {
        if let [Covered { input, first, last: None }] = covered.as_slice() {
            alone(first, &mut builders[*input]);
        }
        covered.sort_by_key(|covered| (order(&covered.first), covered.input));
        gaps(&covered, &mut builders);
    }
    builders.into_iter().map(Builder::into_reading).collect()
}

/// What one input has of one scope: a first snapshot, and a last one that was compared with it when the input was read.
struct Covered {
    input: usize,
    first: Snapshot,
    last: Option<Snapshot>,
}

/// Snapshots go by their clock, or by their age where they have none.
fn order(snapshot: &Snapshot) -> (Option<DateTime>, Option<Span>) {
    (snapshot.at, snapshot.at.map_or(snapshot.age, |_| None))
}

/// The windows between what inputs cover, in the order of time.
fn gaps(covered: &[Covered], builders: &mut [Builder]) {
    let mut end: Option<&Snapshot> = None;
    for Covered { input, first, last } in covered {
        let last = last.as_ref().unwrap_or(first);
        if let Some(end) = end {
            if order(end) <= order(first) {
                between(end, first, None, &mut builders[*input]);
            } else {
                let text = "another input has counters of the same time: leave one of the two away";
                builders[*input].caution_once(Some(first.origin.clone()), text);
            }
        }
        end = end.into_iter().chain([last]).max_by_key(|snapshot| order(snapshot));
    }
}

fn alone(only: &Snapshot, out: &mut Builder) {
    let Some(age) = only.age.filter(|age| *age > Span::ZERO) else {
        let text = "one snapshot of counters, and it does not say since when they count: give a second one";
        return out.caution_once(Some(only.origin.clone()), text);
    };
    let zero = |count: &Count| Count { value: 0.0, ..count.clone() };
    let began = Snapshot {
        at: only.at.and_then(|at| timestamp::before(at, age)),
        age: Some(Span::ZERO),
        counts: only.counts.iter().map(zero).collect(),
        ..only.clone()
    };
    let text = "one snapshot of counters: figures are means since they began to count, and every peak is hidden in \
                them; give a second snapshot";
    out.caution_once(Some(only.origin.clone()), text);
    between(&began, only, None, out);
}

#[cfg(test)]
mod tests;
