//! Slots in which the host withheld the processor from the generator: by a hypervisor, a processor limit or other
//! threads.
//!
//! Decided by the evidence of the host only (stolen time, run delay, throttling, lateness of arrivals), never by the
//! response times: leaving out slots because they missed the objective would raise the load line.
//!
//! A slot is disturbed if the host could have caused as many late operations as the objective allows. Delays far below
//! the limit cannot, however frequent: only those above a fifth of the limit count.

use plimsoll_record::{Bins, HostDelay, HostShares, LoadSlot, Measure, Objective};
use plimsoll_units::Span;

use super::{GENERATOR_MARGIN, is_counted};

/// Minimum number of undisturbed slots for a load line of a run with disturbed slots.
pub(super) const MIN_UNDISTURBED: usize = 8;
/// Share of the delayed operations allowed by an objective on a mean.
const ALLOWED_BY_MEAN: f64 = 0.1;
/// Maximum share of stolen time. The kernel counts it in units of 10 ms of a processor: 2 % of a slot of a quarter second
/// on two processors.
const MAX_STOLEN: f64 = 0.05;
/// Usual period of processor limits: a group is stopped for less.
const LIMIT_PERIOD: Span = Span::from_millis(100);

/// True if the host disturbed the slot, for this objective.
pub(crate) fn is_disturbed(slot: &LoadSlot, objective: &Objective) -> bool {
    let allowed = allowed_share(objective);
    let long = long_delay(objective);
    let late = slot.lateness.above(long) as f64 / slot.lateness.count.max(1) as f64;
    late > allowed || slot.host.as_ref().is_some_and(|host| is_withheld(host, long, allowed))
}

/// True if the processor was withheld for a larger share than `allowed`, by delays longer than `long`.
fn is_withheld(host: &HostDelay, long: Span, allowed: f64) -> bool {
    let elapsed = host.elapsed.as_secs_f64().max(1e-9);
    let share = |span: Span| span.as_secs_f64() / elapsed;
    // Throttling within shorter periods than the limit is covered by the run delay.
    let throttled = host.throttled.filter(|_| long < LIMIT_PERIOD).map_or(0.0, share);
    let waited = longer_than(&host.pauses, long) / elapsed / f64::from(host.loops.max(1));
    throttled > allowed || waited > allowed || host.stolen.map_or(0.0, share) > MAX_STOLEN.max(allowed)
}

/// Total of the spans above `limit` in seconds, to the bin's width.
fn longer_than(bins: &Bins, limit: Span) -> f64 {
    let longer = bins.bins.iter().filter(|(lowest, _)| *lowest > limit.as_nanos());
    longer.map(|(lowest, count)| *lowest as f64 * *count as f64 / 1e9).sum()
}

/// Delays up to this span cannot make an operation late by themselves.
fn long_delay(objective: &Objective) -> Span {
    Span::from_secs_f64(objective.limit.as_secs_f64() / GENERATOR_MARGIN)
}

/// Share of operations that an objective allows to be late.
pub(crate) fn allowed_share(objective: &Objective) -> f64 {
    match objective.measure {
        Measure::Quantile(share) => (1.0 - share).clamp(1e-6, 1.0),
        Measure::Mean => ALLOWED_BY_MEAN,
    }
}

/// Shares of the time in the slots that contribute to a line.
pub(super) fn host_shares(slots: &[LoadSlot]) -> HostShares {
    let hosts: Vec<&HostDelay> =
        slots.iter().filter(|slot| is_counted(slot)).filter_map(|slot| slot.host.as_ref()).collect();
    let elapsed: f64 = hosts.iter().map(|host| host.elapsed.as_secs_f64()).sum();
    let share = |of: &dyn Fn(&HostDelay) -> Option<f64>| {
        let all: Option<Vec<f64>> = hosts.iter().map(|host| of(host)).collect();
        all.filter(|_| elapsed > 0.0).map(|all| (all.iter().sum::<f64>() / elapsed).min(1.0))
    };
    let waited = |host: &HostDelay| Some(host.pauses.sum_ns as f64 / 1e9 / f64::from(host.loops.max(1)));
    HostShares {
        stolen: share(&|host| host.stolen.map(Span::as_secs_f64)),
        throttled: share(&|host| host.throttled.map(Span::as_secs_f64)),
        waiting: share(&|host| host.run_delay.and_then(|_| waited(host))),
    }
}
