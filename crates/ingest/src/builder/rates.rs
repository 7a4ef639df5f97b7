//! The figures between two snapshots of monotonic counters.
//!
//! Kernels and databases count since their start, or since a reset. A count that fell indicates either a reset, which
//! gives no figures, or a wrap at 32 bits: only formats can distinguish these, so they provide the value at which a
//! counter wraps.

use plimsoll_language::label;
use plimsoll_units::Span;

use super::Builder;
use crate::reading::{
    Count, Counted, DatabaseTime, Doubt, Measure, Origin, ReadingWindow, Snapshot, TimeCounters, Wait, WaitCause,
    WindowCount,
};
use crate::text::timestamp;

/// Emits the figures between two snapshots of a scope.
pub(crate) fn between(before: &Snapshot, after: &Snapshot, out: &mut Builder) {
    let length = match measure_length(before, after) {
        Ok(length) => length,
        Err(doubt) => return out.caution_once(Some(after.origin.clone()), doubt),
    };
    let mut risen = Vec::with_capacity(after.counts.len());
    for (index, count) in after.counts.iter().enumerate() {
        let Some(earlier) = before.value(&count.counted, index) else { continue };
        match compute_increase(earlier, count) {
            Some(rise) => risen.push((&count.counted, rise, &count.origin)),
            None if count.counted.is_time() => out.caution(Some(count.origin.clone()), Doubt::TimeCounterFell),
            None => return out.caution(Some(count.origin.clone()), Doubt::CounterReset),
        }
    }
    let begin = before.at.or_else(|| after.at.and_then(|at| timestamp::before(at, length)));
    let window = out.window_until(ReadingWindow { begin, length }, (after.at, after.age));
    Risen { counts: &risen, seconds: length.as_secs_f64(), at: (after.scope, window) }.put(&after.origin, out);
}

/// The increase of a counter with at most one wrap. More than half of its range is a reset.
fn compute_increase(earlier: f64, count: &Count) -> Option<f64> {
    let rise = count.value - earlier;
    if rise >= 0.0 {
        return Some(rise);
    }
    let wraps_at = count.wraps_at.filter(|wraps_at| earlier <= *wraps_at)?;
    Some(rise + wraps_at).filter(|round| *round < wraps_at / 2.0)
}

/// The time between two snapshots.
fn measure_length(before: &Snapshot, after: &Snapshot) -> Result<Span, Doubt> {
    let apart = match ((before.at, after.at), (before.age, after.age)) {
        (_, (Some(before), Some(after))) if after < before => {
            return Err(Doubt::Restarted);
        }
        ((Some(before), Some(after)), _) => after.duration_since(before).as_secs_f64(),
        (_, (Some(before), Some(after))) => (after - before).as_secs_f64(),
        _ => return Err(Doubt::UntimedSamples { items: label!("snapshots") }),
    };
    if apart > 0.0 { Ok(Span::from_secs_f64(apart)) } else { Err(Doubt::ClockStuck { item: label!("snapshot") }) }
}

/// The increase of counters of a scope in a window.
pub(crate) struct Risen<'a> {
    /// Each counter once.
    pub(crate) counts: &'a [(&'a Counted, f64, &'a Origin)],
    /// The length of the window.
    pub(crate) seconds: f64,
    /// Scope and window.
    pub(crate) at: (u32, u32),
}

impl Risen<'_> {
    fn get(&self, counted: &Counted) -> Option<(f64, &Origin)> {
        self.counts.iter().find(|(other, ..)| *other == counted).map(|(_, rise, origin)| (*rise, *origin))
    }

    /// Emits its figures: rates, and means of related counters.
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
        for (counted, value, place) in self.counts {
            match counted {
                Counted::Tally(name) => {
                    out.tally(WindowCount { scope, window, name, value: *value, origin: (*place).clone() });
                }
                Counted::ExceededSeconds(limit, metric) => {
                    out.exceeded(self.at, (*limit, metric), [*value, self.seconds], place);
                }
                Counted::Latencies(class, bin) => out.latencies(scope, *class, (*bin, *value)),
                _ => {}
            }
        }
        let value = |counted: &Counted| self.get(counted).map(|(rise, _)| rise);
        if let Some(database_s) = value(&Counted::DatabaseSeconds) {
            out.time(DatabaseTime {
                scope,
                window,
                database_s,
                rounding_s: 0.0,
                processor_s: value(&Counted::ProcessorSeconds),
                processors: None,
                commits: value(&Counted::Commits),
                counters: TimeCounters::default(),
                origin: origin.clone(),
            });
        }
        for (counted, total_s, place) in self.counts {
            let Counted::WaitSeconds(event) = counted else { continue };
            out.wait(Wait {
                scope,
                window,
                event: event.clone(),
                cause: WaitCause::of(event),
                foreground: true,
                count: value(&Counted::Waits(event.clone())).unwrap_or_default(),
                total_s: *total_s,
                histogram: Vec::new(),
                origin: (*place).clone(),
            });
        }
    }
}
