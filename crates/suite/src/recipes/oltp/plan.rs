//! From options to the plan of a sweep, and which of its points are wanted.
//!
//! Knows nothing about transactions.

use plimsoll_analyse::{Precision, SlotPlan, SweepPlan};
use plimsoll_load::{Arrival, Pace};
use plimsoll_record::{LoadSlot, Run, SlotRole};
use plimsoll_units::{Instant, Span};

use super::{Loads, OltpOptions};

/// No more sessions than this.
const MOST_SESSIONS: u32 = 4096;
/// Branches or warehouses at most: numbers of accounts have to fit 32 bits.
const MOST_SCALE: u32 = 20_000;
/// Open loads that a sweep measures in one pass.
const SLOTS_IN_A_PASS: u32 = 5;
/// Loads between those that rise, around the load line, at most.
const CLOSER: usize = 3;
/// Sessions that an open load has at least to take from.
const LEAST_OPEN: u32 = 16;

/// The plan of its points.
pub(super) fn plan(options: &OltpOptions) -> Result<SweepPlan, String> {
    check(options)?;
    let named = match &options.loads {
        Loads::Clients(clients) => clients.len() as u64,
        Loads::Rates(rates) => rates.len() as u64,
        Loads::Rising | Loads::Searched => 0,
    };
    let (least, most) = match options.measure {
        Some(measure) => (measure, measure),
        None if named > 0 => (options.duration / (2 * named), options.duration / named),
        None => ((options.duration / 40).max(Span::from_millis(500)), (options.duration / 4).max(Span::from_secs(1))),
    };
    let (depths, rates) = match &options.loads {
        Loads::Clients(clients) => (Some(clients.clone()), None),
        Loads::Rates(rates) => (None, Some(rates.clone())),
        Loads::Rising | Loads::Searched => (None, None),
    };
    Ok(SweepPlan {
        budget: options.duration,
        depths,
        max_depth: options.most_sessions,
        rates,
        arrival: Arrival::Poisson,
        objective: options.objective,
        precision: Precision::default(),
        repetitions: 1,
        least_point: least,
        most_point: most,
        slots: (options.loads == Loads::Searched).then(|| slots(options, least)),
    })
}

/// Slots of open loads, after the closed ones. Nothing is held: transactions have no burst allowance of their own.
fn slots(options: &OltpOptions, least: Span) -> SlotPlan {
    SlotPlan {
        least,
        longest: options.duration / 40,
        scouts: 1,
        hold: 0.0,
        window: least,
        overrun: 0.0,
        seed: options.seed,
    }
}

/// The points so far as slots.
pub(super) fn slots_of(runs: &[Run]) -> Vec<LoadSlot> {
    let mut start = Instant::ZERO;
    let mut open = 0;
    let slot = |run: &Run| {
        let (role, pass) = match run.offered {
            Pace::Closed { .. } => (SlotRole::Most, 0),
            Pace::Open { .. } => {
                open += 1;
                (SlotRole::Pass, (open - 1) / SLOTS_IN_A_PASS)
            }
        };
        // Kinds of transactions are streams that share one load.
        let slot = LoadSlot { beside_iops: 0.0, ..LoadSlot::of(run, role, pass, start) };
        start = start + run.warm_up + run.span;
        slot
    };
    runs.iter().map(slot).collect()
}

fn check(options: &OltpOptions) -> Result<(), String> {
    if options.scale == 0 || options.scale > MOST_SCALE {
        return Err(format!("a scale of {}: give --scale from 1 to {MOST_SCALE}", options.scale));
    }
    if options.most_sessions == 0 || options.most_sessions > MOST_SESSIONS {
        return Err(format!("{} sessions: give --max-sessions from 1 to {MOST_SESSIONS}", options.most_sessions));
    }
    if options.duration.is_zero() || options.measure.is_some_and(Span::is_zero) {
        return Err("measuring takes time: give --duration 1m or --measure 10s".into());
    }
    match &options.loads {
        Loads::Clients(clients) if clients.is_empty() || clients.contains(&0) => {
            Err("a closed load needs at least 1 client: give --clients 1,2,4,8".into())
        }
        Loads::Clients(clients) if clients.iter().any(|clients| *clients > options.most_sessions) => Err(format!(
            "more clients than {} sessions: give --clients less or --max-sessions more",
            options.most_sessions
        )),
        Loads::Rates(rates) if rates.is_empty() || rates.iter().any(|rate| rate.as_f64() < 0.01) => {
            Err("an open load needs some transactions a second: give --rates 100,200".into())
        }
        _ => Ok(()),
    }
}

/// Sessions that an open load takes from: twice as many as brought the most, so that arrivals seldom wait for a free one, and
/// all that there may be where that is not known.
pub(super) fn sessions_of_open(options: &OltpOptions, runs: &[Run]) -> u32 {
    let closed = runs.iter().filter_map(|run| match run.offered {
        Pace::Closed { depth } => Some((depth, run.figures.iops.value)),
        Pace::Open { .. } => None,
    });
    let best = closed.max_by(|a, b| a.1.total_cmp(&b.1));
    best.map_or(options.most_sessions, |(depth, _)| depth.saturating_mul(2).max(LEAST_OPEN).min(options.most_sessions))
}

/// Points that there will be, about.
pub(super) fn expected_points(options: &OltpOptions) -> usize {
    match &options.loads {
        Loads::Clients(clients) => clients.len(),
        Loads::Rates(rates) => rates.len(),
        Loads::Rising => options.most_sessions.ilog2() as usize + 1 + CLOSER,
        Loads::Searched => 35,
    }
}

/// The loads in words.
pub(super) fn words(options: &OltpOptions) -> String {
    let list = |numbers: Vec<String>| numbers.join(", ");
    match &options.loads {
        Loads::Rising => {
            format!("closed, rising to at most {} clients, then around the load line", options.most_sessions)
        }
        Loads::Searched => {
            format!("closed, rising to at most {} clients, then open (Poisson arrivals)", options.most_sessions)
        }
        Loads::Clients(clients) => format!("closed, {} clients", list(clients.iter().map(u32::to_string).collect())),
        Loads::Rates(rates) => {
            let rates = rates.iter().map(|rate| format!("{}", rate.as_f64())).collect();
            format!("open, {} transactions a second (Poisson arrivals)", list(rates))
        }
    }
}
