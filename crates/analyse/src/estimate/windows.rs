//! Divides runs longer than a slot into windows that count as slots, for loads given by the user and for sessions.

use plimsoll_load::Pace;
use plimsoll_record::{LoadSlot, Run, Slice, SlotRole};
use plimsoll_units::{Instant, Span};

/// Minimum length of a window, and minimum number of operations.
const MIN_LENGTH: Span = Span::from_millis(500);
const OPERATIONS: f64 = 100.0;
/// Number of parts of a run whose windows get distinct pass numbers.
const PARTS: u32 = 10;
/// Excess over the offered rate, as a share of it, that is attributed to other streams.
const BESIDE: f64 = 0.1;

/// Windows of the open loads among `runs`; of the closed loads if none is open.
pub(crate) fn select_windows(runs: &[Run]) -> Vec<LoadSlot> {
    let is_open = |run: &&Run| matches!(run.offered, Pace::Open { .. });
    let only_open = runs.iter().any(|run| is_open(&run));
    let mut begun = Instant::ZERO;
    let mut slots = Vec::new();
    for run in runs {
        if is_open(&run) == only_open {
            slots.extend(of_run(run, begun));
        }
        begun = begun + run.warm_up + run.span;
    }
    slots
}

fn of_run(run: &Run, begun: Instant) -> Vec<LoadSlot> {
    let joined = join_slices(run);
    let count = joined.len() as u32;
    let lateness = run.lateness.coarse();
    let slot = |(index, slice): (u32, Slice)| {
        let part = index * PARTS / count.max(1);
        let start = begun + slice.start.since(Instant::ZERO);
        let slot = LoadSlot::window(run, &slice, SlotRole::Pass, part, start);
        let is_alone = slot.rate().is_none_or(|rate| slot.iops <= rate * (1.0 + BESIDE));
        // Streams of sessions are kinds of transactions, which share a load.
        let beside_iops = if is_alone { 0.0 } else { slot.beside_iops };
        LoadSlot { beside_iops, lateness: lateness.clone(), ..slot }
    };
    (0..).zip(joined).map(slot).collect()
}

/// The series after the warm-up in windows of nearly equal length.
fn join_slices(run: &Run) -> Vec<Slice> {
    let begin = Instant::ZERO + run.warm_up;
    let measured: Vec<&Slice> = run.series.iter().filter(|slice| slice.start >= begin).collect();
    let total = measured.iter().fold(Span::ZERO, |sum, slice| sum + slice.span);
    let seconds = (OPERATIONS / run.figures.iops.value.max(1e-9)).max(MIN_LENGTH.as_secs_f64());
    let count = ((total.as_secs_f64() / seconds) as u64).max(1);
    let length = total / count;
    let mut windows: Vec<Slice> = Vec::new();
    for slice in measured {
        match windows.last_mut().filter(|last| last.span + slice.span / 2 < length) {
            Some(last) => {
                last.tally.merge(&slice.tally);
                last.span += slice.span;
            }
            None => windows.push(slice.clone()),
        }
    }
    // A short rest is merged into the previous window.
    if let [.., _, last] = &windows[..]
        && last.span < length / 2
    {
        let rest = windows.pop().expect("it was seen");
        let last = windows.last_mut().expect("two were there");
        last.tally.merge(&rest.tally);
        last.span += rest.span;
    }
    windows
}
