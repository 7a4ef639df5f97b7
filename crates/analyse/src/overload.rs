//! Whether an open load arrived faster than it was answered.
//!
//! Once all is drained, the arrivals are known exactly: everything that came back. What was still out when the offering
//! ended is the backlog, free of the noise of random arrivals. While the run goes on, only the nominal rate is known.

use plimsoll_load::Pace;
use plimsoll_record::Slice;

use crate::batch::Piece;
use crate::drift::response_grows;
use crate::steady::Settle;

/// Share of the arrivals that is a backlog, when response times grow or operations were never issued.
const BACKLOG: f64 = 0.02;
/// Share of the arrivals that is a backlog when response times grow strongly.
const SLIGHT_BACKLOG: f64 = 0.01;
/// Fewer operations are no backlog.
const LEAST_BACKLOG: f64 = 10.0;

/// `series` is the whole run; `pieces` its offered part without the least warm-up.
pub(crate) fn is_overloaded(series: &[Slice], pieces: &[Piece], options: &Settle) -> bool {
    let Pace::Open { rate, .. } = options.offered else { return false };
    let in_time = series.iter().take_while(|slice| slice.start.as_nanos() < options.offered_span.as_nanos()).count();
    let (offered, drained) = series.split_at(in_time);
    let Some(last) = offered.last() else { return false };
    let answered = leading(offered);
    let arrived = if drained.is_empty() {
        let nominal = rate.as_f64() * (last.start + last.span).as_nanos() as f64 / 1e9;
        // Four deviations of a Poisson count: not to be taken for a backlog.
        nominal - 4.0 * nominal.sqrt()
    } else {
        answered + leading(drained)
    };
    let backlog = arrived - answered;
    if backlog < LEAST_BACKLOG {
        return false;
    }
    let share = backlog / arrived;
    (share > BACKLOG && (options.unserved > 0 || response_grows(pieces, 1.5)))
        || (share > SLIGHT_BACKLOG && response_grows(pieces, 2.5))
}

/// Operations of the leading stream, failed ones included: only its pace is known.
fn leading(slices: &[Slice]) -> f64 {
    let counters = slices.iter().flat_map(|slice| &slice.tally.0).filter(|counter| counter.stream == 0);
    counters.map(|c| c.operations() + c.errors.iter().map(|(_, n)| n).sum::<u64>()).sum::<u64>() as f64
}
