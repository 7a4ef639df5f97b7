//! Records of concurrent sessions, and of series of slices.

use plimsoll_analyse::{Settle, settle};
use plimsoll_record::{Counter, Run, SessionRun, Slice, Tally};
use plimsoll_units::{Instant, Span};

use crate::sql::{SessionsResult, SessionsStep};

/// The series of parts of transactions, or of whole transactions.
pub(crate) fn by_part(step: &SessionsStep, series: &[Slice], parts: bool) -> Vec<Slice> {
    let is_part = |counter: &Counter| step.kinds.get(usize::from(counter.stream)).is_some_and(|kind| kind.is_part);
    let only = |slice: &Slice| Slice { tally: slice.tally.only(|counter| is_part(counter) == parts), ..slice.clone() };
    series.iter().map(only).collect()
}

/// Record of concurrent sessions.
pub fn session_run(step: &SessionsStep, observed: &SessionsResult) -> SessionRun {
    let options = Settle {
        least_warm_up: step.warm_up,
        offered_span: Span::MAX,
        objective: step.objective,
        offered: step.pace,
        unserved: observed.unserved,
    };
    let entire = by_part(step, &observed.series, false);
    let settled = settle(&entire, &options);
    let mut parts = Tally::default();
    let measured = by_part(step, &observed.series, true);
    for slice in measured.iter().filter(|slice| slice.start >= Instant::ZERO + settled.warm_up) {
        parts.merge(&slice.tally);
    }
    let run = Run {
        offered: step.pace,
        warm_up: settled.warm_up,
        span: settled.span,
        total: settled.total,
        unserved: observed.unserved,
        lateness: observed.lateness.clone(),
        series: merge_slices(&entire, settled.span),
        cpu: observed.client,
        bound_by: observed.storage.bound_by.clone(),
        figures: settled.figures,
        findings: settled.findings.into_iter().chain(observed.findings.iter().cloned()).collect(),
    };
    SessionRun {
        sessions: step.sessions,
        kinds: step.kinds.iter().map(|kind| kind.name.clone()).collect(),
        run,
        parts,
        counted: observed.counted,
        storage: observed.storage.clone(),
        split: observed.split.clone(),
        client: observed.client,
        limit: observed.limit.clone(),
        marks: observed.marks.clone(),
    }
}

/// Merges the series into at most 120 slices.
pub(crate) fn merge_slices(series: &[Slice], span: Span) -> Vec<Slice> {
    let unit = (span / 120).max(Span::from_millis(100));
    let mut merged: Vec<Slice> = Vec::new();
    for slice in series {
        match merged.last_mut().filter(|last| last.span < unit) {
            Some(last) => {
                last.tally.merge(&slice.tally);
                last.span += slice.span;
            }
            None => merged.push(Slice { start: Instant::ZERO + slice.start.since(Instant::ZERO), ..slice.clone() }),
        }
    }
    merged
}
