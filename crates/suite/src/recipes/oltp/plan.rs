//! The plan of the sweep from the options.

use plimsoll_analyse::{Precision, SlotPlan, SweepPlan};
use plimsoll_database::System;
use plimsoll_load::{Arrival, Pace};
use plimsoll_record::{LoadSlot, Run, SlotRole};
use plimsoll_units::{Instant, Span};

use super::OltpOptions;

/// Maximum number of sessions.
const MAX_SESSIONS: u32 = 4096;
/// Maximum number of branches or warehouses: account numbers must fit in 32 bits.
const MAX_SCALE: u32 = 20_000;
/// Open loads per pass of a sweep.
const SLOTS_IN_A_PASS: u32 = 5;
/// Maximum number of refining loads around the load line.
const REFINEMENTS: usize = 3;
/// Minimum number of sessions of an open load.
const MIN_OPEN_SESSIONS: u32 = 16;

pub(super) fn plan(options: &OltpOptions) -> Result<SweepPlan, OltpError> {
    check(options)?;
    let named = count_loads(options) as u64;
    let (least, max) = match options.measure {
        Some(measure) => (measure, measure),
        None if named > 0 => (options.duration / (2 * named), options.duration / named),
        None => ((options.duration / 40).max(Span::from_millis(500)), (options.duration / 4).max(Span::from_secs(1))),
    };
    Ok(SweepPlan {
        budget: options.duration,
        depths: options.clients.clone(),
        max_depth: options.max_sessions,
        rates: options.rates.clone(),
        arrival: Arrival::Poisson,
        objective: options.objective,
        precision: Precision::default(),
        repetitions: 1,
        least_point: least,
        max_point: max,
        slots: options.open.then(|| slots(options, least)),
    })
}

/// Number of loads listed in the options.
fn count_loads(options: &OltpOptions) -> usize {
    options.clients.as_ref().map_or(0, Vec::len) + options.rates.as_ref().map_or(0, Vec::len)
}

/// Slots of open loads after the closed ones. No load is held: transactions have no burst allowance.
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

/// Converts the points to slots.
pub(super) fn slots_of(runs: &[Run]) -> Vec<LoadSlot> {
    let mut start = Instant::ZERO;
    let mut open = 0;
    let slot = |run: &Run| {
        let (role, pass) = match run.offered {
            Pace::Closed { .. } => (SlotRole::Max, 0),
            Pace::Open { .. } => {
                open += 1;
                (SlotRole::Pass, (open - 1) / SLOTS_IN_A_PASS)
            }
        };
        // Kinds of transactions are streams of the same load.
        let slot = LoadSlot { beside_iops: 0.0, ..LoadSlot::of(run, role, pass, start) };
        start = start + run.warm_up + run.span;
        slot
    };
    runs.iter().map(slot).collect()
}

/// Options without a measurable load.
#[rustfmt::skip]
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub(super) enum OltpError {
    #[error("no tables are made for {0}: give postgres://, mysql:// or sqlite:")] System(System),
    #[error("a scale of {0}: give --scale from 1 to {MAX_SCALE}")] Scale(u32),
    #[error("{0} sessions: give --max-sessions from 1 to {MAX_SESSIONS}")] Sessions(u32),
    #[error("measuring takes time: give --duration 1m or --measure 10s")] Time,
    #[error("a closed load needs at least 1 client: give --clients 1,2,4,8")] Clients,
    #[error("more clients than {0} sessions: give --clients less or --max-sessions more")] MoreClients(u32),
    #[error("an open load needs some transactions a second: give --rates 100,200")] Rates,
}

fn check(options: &OltpOptions) -> Result<(), OltpError> {
    let scale = options.scale();
    if scale == 0 || scale > MAX_SCALE {
        return Err(OltpError::Scale(scale));
    }
    if options.max_sessions == 0 || options.max_sessions > MAX_SESSIONS {
        return Err(OltpError::Sessions(options.max_sessions));
    }
    if options.duration.is_zero() || options.measure.is_some_and(Span::is_zero) {
        return Err(OltpError::Time);
    }
    if options.clients.as_ref().is_some_and(|clients| clients.is_empty() || clients.contains(&0)) {
        return Err(OltpError::Clients);
    }
    if options.clients.iter().flatten().any(|clients| *clients > options.max_sessions) {
        return Err(OltpError::MoreClients(options.max_sessions));
    }
    if options.rates.as_ref().is_some_and(|rates| rates.is_empty() || rates.iter().any(|rate| rate.as_f64() < 0.01)) {
        return Err(OltpError::Rates);
    }
    Ok(())
}

/// Sessions of an open load: twice the number with the highest throughput, so that arrivals rarely wait for a session;
/// the maximum if unknown.
pub(super) fn sessions_of_open(options: &OltpOptions, runs: &[Run]) -> u32 {
    let closed = runs.iter().filter_map(|run| match run.offered {
        Pace::Closed { depth } => Some((depth, run.figures.iops.value)),
        Pace::Open { .. } => None,
    });
    let best = closed.max_by(|a, b| a.1.total_cmp(&b.1));
    best.map_or(options.max_sessions, |(depth, _)| {
        depth.saturating_mul(2).max(MIN_OPEN_SESSIONS).min(options.max_sessions)
    })
}

pub(super) fn expected_points(options: &OltpOptions) -> usize {
    match count_loads(options) {
        0 if options.open => 35,
        0 => options.max_sessions.ilog2() as usize + 1 + REFINEMENTS,
        named => named,
    }
}

/// Description of the loads.
pub(super) fn words(options: &OltpOptions) -> String {
    if let Some(clients) = &options.clients {
        let clients: Vec<String> = clients.iter().map(u32::to_string).collect();
        return format!("closed, {} clients", clients.join(", "));
    }
    if let Some(rates) = &options.rates {
        let rates: Vec<String> = rates.iter().map(|rate| rate.as_f64().to_string()).collect();
        return format!("open, {} transactions a second (Poisson arrivals)", rates.join(", "));
    }
    let then = if options.open { "open (Poisson arrivals)" } else { "around the load line" };
    format!("closed, rising to at most {} clients, then {then}", options.max_sessions)
}
