//! Counters that only rise, and what two snapshots of them say of the time between.
//!
//! Kernels and databases count since they began, or since somebody reset them. A count that fell is a new beginning and
//! gives no figures, or a counter of 32 bits that went round: only forms know which, so they say where it wraps.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use jiff::civil::DateTime;
use plimsoll_units::Span;

use crate::builder::Builder;
use crate::figure::{Class, Measure, Origin, Scope, Window};
use crate::reading::{DatabaseTime, Reading, Wait};

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

/// Hands over what happened between two snapshots of one scope.
pub(crate) fn between(before: &Snapshot, after: &Snapshot, out: &mut Builder) {
    let length = match length(before, after) {
        Ok(length) => length,
        Err(why) => return out.caution(Some(after.origin.clone()), why),
    };
    let earlier: BTreeMap<&Counted, f64> = before.counts.iter().map(|count| (&count.counted, count.value)).collect();
    let mut risen: BTreeMap<&Counted, (f64, &Origin)> = BTreeMap::new();
    for count in &after.counts {
        let Some(earlier) = earlier.get(&count.counted) else { continue };
        let rise = match (count.value - earlier, count.wraps_at) {
            (rise, _) if rise >= 0.0 => rise,
            (rise, Some(wraps_at)) if *earlier <= wraps_at => rise + wraps_at,
            _ => {
                let text = "a counter fell since the snapshot before: it was reset or restarted between the two, so \
                            this window is left out; take the snapshots closer together";
                return out.caution(Some(count.origin.clone()), text);
            }
        };
        risen.insert(&count.counted, (rise, &count.origin));
    }
    let begin = before
        .at
        .or_else(|| after.at.and_then(|at| at.checked_sub(SignedDuration::from_secs_f64(length.as_secs_f64())).ok()));
    let window = out.window(Window { begin, length });
    Risen { counts: risen, seconds: length.as_secs_f64(), at: (after.scope, window) }.put(&after.origin, out);
}

/// How long two snapshots are apart.
fn length(before: &Snapshot, after: &Snapshot) -> Result<Span, String> {
    let apart = match ((before.at, after.at), (before.age, after.age)) {
        (_, (Some(before), Some(after))) if after < before => {
            return Err("it began anew between two snapshots (its uptime fell): this window is left out".to_owned());
        }
        ((Some(before), Some(after)), _) => after.duration_since(before).as_secs_f64(),
        (_, (Some(before), Some(after))) => (after - before).as_secs_f64(),
        _ => return Err("two snapshots without times: nothing can be divided by the time between them".to_owned()),
    };
    if apart > 0.0 {
        Ok(Span::from_secs_f64(apart))
    } else {
        Err("the clock does not go on between two snapshots: this window is left out".to_owned())
    }
}

struct Risen<'a> {
    counts: BTreeMap<&'a Counted, (f64, &'a Origin)>,
    seconds: f64,
    at: (u32, u32),
}

impl Risen<'_> {
    fn get(&self, counted: &Counted) -> Option<(f64, &Origin)> {
        self.counts.get(counted).copied()
    }

    fn put(&self, origin: &Origin, out: &mut Builder) {
        for (counted, (rise, place)) in &self.counts {
            let (class, measure, value) = match counted {
                Counted::Operations(class) => (*class, Measure::Iops, rise / self.seconds),
                Counted::Bytes(class) => (*class, Measure::Throughput, rise / self.seconds),
                Counted::QueueSeconds(class) => (*class, Measure::Depth, rise / self.seconds),
                Counted::BusySeconds(class) => (*class, Measure::Busy, (rise / self.seconds).min(1.0)),
                _ => continue,
            };
            out.mean(self.at, class, measure, value, (*place).clone());
        }
        for (counted, (operations, _)) in &self.counts {
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
        for (counted, (total_s, place)) in &self.counts {
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
    let mut of_scope: BTreeMap<Scope, Vec<(usize, Snapshot)>> = BTreeMap::new();
    for (number, reading) in readings.iter().enumerate() {
        for snapshot in &reading.snapshots {
            let scope = reading.scopes[snapshot.scope as usize].clone();
            of_scope.entry(scope).or_default().push((number, snapshot.clone()));
        }
    }
    let mut builders: Vec<Builder> = readings.into_iter().map(Builder::resume).collect();
    for mut snapshots in of_scope.into_values() {
        snapshots.sort_by_key(|(number, snapshot)| (snapshot.at, snapshot.at.map_or(snapshot.age, |_| None), *number));
        if let [(number, only)] = snapshots.as_slice() {
            alone(only, &mut builders[*number]);
        }
        for pair in snapshots.windows(2) {
            let [(earlier, before), (later, after)] = pair else { continue };
            // Those of one input were compared when it was read.
            if earlier != later {
                between(before, after, &mut builders[*later]);
            }
        }
    }
    builders.into_iter().map(Builder::into_reading).collect()
}

fn alone(only: &Snapshot, out: &mut Builder) {
    let Some(age) = only.age.filter(|age| *age > Span::ZERO) else {
        let text = "one snapshot of counters, and it does not say since when they count: give a second one";
        return out.caution(Some(only.origin.clone()), text);
    };
    let zero = |count: &Count| Count { value: 0.0, ..count.clone() };
    let began = Snapshot {
        at: only.at.and_then(|at| at.checked_sub(SignedDuration::from_secs_f64(age.as_secs_f64())).ok()),
        age: Some(Span::ZERO),
        counts: only.counts.iter().map(zero).collect(),
        ..only.clone()
    };
    let text = "one snapshot of counters: figures are means since they began to count, and every peak is hidden in \
                them; give a second snapshot";
    out.caution(Some(only.origin.clone()), text);
    between(&began, only, out);
}
