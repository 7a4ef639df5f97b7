//! Detection of open loads that arrive faster than they are served.
//!
//! After draining, the arrivals are known exactly from the completions; operations outstanding at the end of the
//! offered load are the backlog, without the noise of random arrivals. During the run only the nominal rate is known.

use plimsoll_load::Pace;
use plimsoll_record::Slice;
use plimsoll_units::Span;

use crate::batch::ReducedSlice;
use crate::drift::response_grows;

/// Backlog as a share of arrivals that means overload if response times grow or operations were never issued.
const BACKLOG: f64 = 0.02;
/// Same, if response times grow strongly.
const SLIGHT_BACKLOG: f64 = 0.01;
/// Minimum backlog in operations.
const MIN_BACKLOG: f64 = 10.0;

/// The load that a run was offered.
pub(crate) struct OfferedLoad {
    /// Pace of the leading stream.
    pub pace: Pace,
    /// Time from the start of the run until the end of the offered load.
    pub span: Span,
    /// Operations that arrived but were never issued.
    pub unserved: u64,
}

/// `series` is the whole run; `pieces` its offered part after the minimum warm-up.
pub(crate) fn is_overloaded(series: &[Slice], pieces: &[ReducedSlice], offered: &OfferedLoad) -> bool {
    let Pace::Open { rate, .. } = offered.pace else { return false };
    let count = series.iter().take_while(|slice| slice.start.as_nanos() < offered.span.as_nanos()).count();
    let (in_time, drained) = series.split_at(count);
    let Some(last) = in_time.last() else { return false };
    let answered = leading(in_time);
    let arrived = if drained.is_empty() {
        let nominal = rate.as_f64() * (last.start + last.span).as_nanos() as f64 / 1e9;
        // Tolerance of four standard deviations of a Poisson count.
        nominal - 4.0 * nominal.sqrt()
    } else {
        answered + leading(drained)
    };
    let backlog = arrived - answered;
    if backlog < MIN_BACKLOG {
        return false;
    }
    let share = backlog / arrived;
    (share > BACKLOG && (offered.unserved > 0 || response_grows(pieces, 1.5)))
        || (share > SLIGHT_BACKLOG && response_grows(pieces, 2.5))
}

/// Operations of the leading stream, including failed ones: only its pace is known.
fn leading(slices: &[Slice]) -> f64 {
    let counters = slices.iter().flat_map(|slice| &slice.tally.0).filter(|counter| counter.stream == 0);
    counters.map(|c| c.operations() + c.errors.iter().map(|(_, n)| n).sum::<u64>()).sum::<u64>() as f64
}
