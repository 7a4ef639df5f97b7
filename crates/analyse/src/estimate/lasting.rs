//! Whether a load line lasts: loads held without a pause after burst allowances were exhausted.

use plimsoll_record::{Estimate, Lasting, LoadLine, LoadSlot, NoLine, Objective, SlotRole};

use super::{Estimated, LoadScale, RUNG_LN, is_disturbed, missed_by};
use crate::batch::median;

/// Maximum logit of the median window: twice the late share allowed by the objective, as a window is a single sample.
const ALLOWED: f64 = std::f64::consts::LN_2;
/// Same for the last of few windows, which scatter more: 15 % late for a p99. After a burst allowance most operations
/// are late.
const ALLOWED_IN_FEW: f64 = 2.9;
const FEW_WINDOWS: usize = 3;
/// Maximum distance in rungs from the load that lasts to the one above it that did not, for the interval; and the
/// uncertainty of both.
const MAX_STEP_RUNGS: f64 = 3.0;
const MARGIN_RUNGS: f64 = 0.5;
/// Maximum completed share of an offered load that is throttled.
const THROTTLED: f64 = 0.9;
/// Maximum distance in rungs at which a hold below the line confirms it: holds are made on the next lower rung.
const SAME_RUNGS: f64 = 1.5;

/// A held load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hold {
    /// Logarithm of the load.
    pub(crate) x: f64,
    /// True if the objective was met in the second half of the windows.
    pub(crate) lasts: bool,
    /// Median completed operations per second of the leading stream in the windows of the second half.
    pub(crate) completed: f64,
    seconds: f64,
    is_disturbed: bool,
}

impl Hold {
    /// False if the objective was missed and the host may be the cause.
    pub(crate) const fn is_telling(&self) -> bool {
        self.lasts || !self.is_disturbed
    }
}

/// Held loads in order of time.
pub(crate) fn find_holds(slots: &[LoadSlot], objective: Objective) -> Vec<Hold> {
    let windows: Vec<&LoadSlot> = slots.iter().filter(|slot| slot.role == SlotRole::Hold).collect();
    windows.chunk_by(|a, b| a.pass == b.pass).filter_map(|windows| hold(windows, objective)).collect()
}

fn hold(windows: &[&LoadSlot], objective: Objective) -> Option<Hold> {
    let late = &windows[windows.len() / 2..];
    let missed: Vec<f64> = late.iter().filter_map(|window| missed_by(window, &objective)).collect();
    let lasts = match missed.last().copied() {
        None => false,
        Some(last) if missed.len() < FEW_WINDOWS => last <= ALLOWED_IN_FEW,
        Some(_) => median(&missed) <= ALLOWED,
    };
    let completed: Vec<f64> = late.iter().map(|window| window.iops - window.beside_iops).collect();
    Some(Hold {
        completed: median(&completed),
        x: windows.first()?.rate()?.ln(),
        lasts,
        is_disturbed: windows.iter().any(|window| is_disturbed(window, &objective)),
        seconds: windows.iter().map(|window| window.span.as_secs_f64()).sum(),
    })
}

/// The estimate after holds: unchanged if its line lasts or was not tested, otherwise the highest lasting load.
pub(super) fn judged(found: &Estimated, slots: &[LoadSlot], objective: Objective, scale: &LoadScale) -> Estimated {
    let Some(Estimate { value, .. }) = found.line.iops() else { return *found };
    let is_at = |hold: &Hold, line: f64| scale.iops(hold.x + SAME_RUNGS * RUNG_LN) >= line;
    // Loads above the line do not test it.
    let tests = |hold: &Hold| hold.is_telling() && scale.iops(hold.x) <= value * RUNG_LN.exp();
    let holds: Vec<Hold> = find_holds(slots, objective).into_iter().filter(tests).collect();
    let Some(first) = holds.first().filter(|first| is_at(first, value)) else { return *found };
    let again = holds.get(1).filter(|second| (second.x - first.x).abs() < 1e-9);
    if let Some(sustained) = [Some(first), again].into_iter().flatten().find(|hold| hold.lasts) {
        let lasting = Lasting::Sustained { iops: scale.iops(sustained.x), seconds: sustained.seconds };
        return with(found, found.line, lasting);
    }
    if again.is_none() {
        // A single failure may be caused by a neighbour.
        return *found;
    }
    let last = holds[holds.len() - 1];
    if !last.lasts {
        let below = scale.iops(last.x);
        return with(found, LoadLine::Refused { objective, why: NoLine::NotLasting { below } }, Lasting::NotHeld);
    }
    let step = holds[holds.len() - 2].x - last.x;
    let step_rungs = (step / RUNG_LN).round().clamp(1.0, MAX_STEP_RUNGS);
    let low = scale.iops(last.x - (step_rungs + MARGIN_RUNGS) * RUNG_LN);
    let is_throttled = |hold: &Hold| hold.completed < THROTTLED * hold.x.exp();
    let (high, lasting) = if is_throttled(first) && again.is_some_and(is_throttled) {
        // The loads in between would have been throttled, too.
        let high = scale.iops(last.x + (step_rungs - MARGIN_RUNGS) * RUNG_LN);
        (high.min(value), Lasting::BurstsOnly { burst_iops: value })
    } else {
        // Late operations alone may be a neighbour's fault, so the line of the slots remains possible.
        let high = found.line.iops().and_then(|iops| iops.interval).map_or(value, |(_, high)| high);
        (high, Lasting::MissedWhenHeld { slots_iops: value })
    };
    let line = LoadLine::At { objective, iops: Estimate { value: scale.iops(last.x), interval: Some((low, high)) } };
    with(found, line, lasting)
}

fn with(found: &Estimated, line: LoadLine, lasting: Lasting) -> Estimated {
    Estimated { line, basis: plimsoll_record::LineBasis { lasting, ..found.basis }, ..*found }
}
