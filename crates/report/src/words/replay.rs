//! Outcome of a replay as a sentence.

use plimsoll_language::{label, say};
use plimsoll_record::{Curve, EndReason, Run, Trace};
use plimsoll_units::{Instant, Span};

use crate::{number, pick};

use super::clean;

/// The recording and its outcome: `Replay of db.trace (60,000 operations in 20 s): carried, p99 2.04 ms, worst 9 ms`.
/// `None` if the curve is not a replay.
pub(crate) fn replay(curve: &Curve) -> Option<String> {
    let trace = curve.conditions.trace.as_ref()?;
    let head = say!("Replay of {}", recording(trace));
    let outcome = match pick::fastest(curve) {
        None => label!("no operation completed").into(),
        Some(run) if is_part(curve, run) => {
            let answered = number::integer((run.total.operations() + run.total.errors()) as f64);
            say!("ended early, {answered} completed, p99 {}", number::time(run.figures.p99_ns.value))
        }
        Some(run) if pick::is_open(run) => carried(run),
        Some(run) => say!("completed in {} ({})", length(run), super::pace(&run.offered)),
    };
    Some(format!("{head}: {outcome}{}", retain(curve).unwrap_or_default()))
}

/// True if a replay ended before the whole recording was offered.
fn is_part(curve: &Curve, run: &Run) -> bool {
    let observed = run.total.operations() + run.total.errors() + run.unserved;
    curve.ended != EndReason::Complete
        && curve.conditions.trace.as_ref().is_some_and(|trace| observed < trace.operations)
}

/// `db.trace (60,000 operations in 20 s)`.
pub(crate) fn recording(trace: &Trace) -> String {
    let operations = number::integer(trace.operations as f64);
    let scale = trace.scale.filter(|scale| (scale - 1.0).abs() > 1e-9);
    let scale = scale.map(|scale| say!(", times multiplied by {}", number::three(scale))).unwrap_or_default();
    say!("{} ({operations} operations in {}{scale})", clean(&trace.name), trace.span)
}

/// Whether a recorded load was carried, otherwise its lag at the end.
fn carried(run: &Run) -> String {
    let worst = Span::from_nanos(run.total.response().max_ns);
    if !pick::is_overloaded(run) {
        return say!("carried, p99 {}, worst {worst}", number::time(run.figures.p99_ns.value));
    }
    let unserved = match run.unserved {
        0 => String::new(),
        count => say!(", {} operations not issued", number::integer(count as f64)),
    };
    say!("not carried, {} behind at the end{unserved}", behind(run))
}

/// Short form: `carried`, or the lag at the end; for a closed replay its duration.
pub(crate) fn format_outcome(run: &Run) -> String {
    match (pick::is_open(run), pick::is_overloaded(run)) {
        (true, false) => label!("carried").into(),
        (true, true) => say!("{} behind", behind(run)),
        (false, _) => say!("took {}", length(run)),
    }
}

/// Time from the last arrival to the last completion.
fn behind(run: &Run) -> Span {
    length(run) - run.span
}

fn length(run: &Run) -> Span {
    run.series.last().map_or(Span::ZERO, |slice| (slice.start + slice.span).since(Instant::ZERO))
}

/// Comparison with the objective, if any.
fn retain(curve: &Curve) -> Option<String> {
    let objective = curve.conditions.objective?;
    let run = pick::fastest(curve)?;
    let value = run.figures.objective_ns?.value;
    let verdict = if value <= objective.limit.as_nanos() as f64 { label!("kept") } else { label!("missed") };
    Some(say!("; {objective} was {verdict} ({})", number::time(value)))
}
