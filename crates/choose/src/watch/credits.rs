//! Burst credits of a limit: the state machine of the model, run along the observed load and ahead of it.
//!
//! The balance at the start is unknown, so two machines bound it: full at the start, and empty at the start.

use plimsoll_catalogue::Counts;
use plimsoll_model::{Chain, ChainSpec, Model, ModelAnswer, Named, Rate, Stage, StageSpec};
use plimsoll_units::{Bytes, Instant, Iops, Kind, Op, Slot, Span, Throughput};

/// Maximum interval between two spendings of an observed load.
const STEP: Span = Span::from_secs(1);
/// The same ahead of time.
const FORECAST_STEP: Span = Span::from_secs(10);
/// Maximum number of spendings in a time without observations.
const MAX_STEPS: u64 = 10_000;

/// Credits of a limit between two bounds.
#[derive(Clone, Debug)]
pub(super) struct CreditMeter {
    /// Operations or bytes of full credits.
    pub(super) burst: u64,
    /// Units per second that refill the credits.
    rate: f64,
    upper: CreditMachine,
    lower: CreditMachine,
}

impl CreditMeter {
    /// Credits of a limit of `rate` operations or bytes per second. `share` is the balance at `start`, 0 to 1, if known.
    pub(super) fn new(counts: Counts, rate: f64, burst: f64, start: Instant, share: Option<f64>) -> Self {
        let burst = burst.round().max(1.0) as u64;
        let machine = |share: f64| {
            let mut machine = CreditMachine::new(counts, rate, burst);
            machine.spend(start, burst as f64 * (1.0 - share));
            machine
        };
        Self { burst, rate, upper: machine(share.unwrap_or(1.0)), lower: machine(share.unwrap_or(0.0)) }
    }

    /// Spends `units` per second from the last time until `end`.
    pub(super) fn observe(&mut self, begin: Instant, end: Instant, units: f64) {
        for machine in [&mut self.upper, &mut self.lower] {
            let mut now = begin;
            while now < end {
                let step = STEP.min(end.since(now));
                now += step;
                machine.spend(now, units * step.as_secs_f64());
            }
        }
    }

    /// Assumes the extremes for a time without observations: no load, and the highest load, of `peak` units per second.
    pub(super) fn skip(&mut self, begin: Instant, end: Instant, peak: Option<f64>) {
        let Some(peak) = peak else {
            self.lower.spend(end, self.burst as f64);
            return;
        };
        let step = (end.since(begin) / MAX_STEPS).max(STEP);
        let mut now = begin;
        while now < end {
            let length = step.min(end.since(now));
            now += length;
            self.lower.spend(now, peak * length.as_secs_f64());
        }
    }

    /// Shares of the credits that are left at least and at most, 0 to 1.
    pub(super) fn shares(&self, now: Instant) -> [f64; 2] {
        [&self.lower, &self.upper].map(|machine| machine.left(now) as f64 / self.burst as f64)
    }

    /// Time until operations wait for credits, if they were full at the start, under a load of `units` per second at each
    /// time. `None` if they last until the `horizon`.
    pub(super) fn end_within(&self, now: Instant, horizon: Span, units: impl Fn(Instant) -> f64) -> Option<Span> {
        let mut machine = self.upper.clone();
        let mut at = now;
        while at.since(now) < horizon {
            let per_second = units(at);
            let before = machine.left(at) as f64;
            at += FORECAST_STEP;
            if machine.spend(at, per_second * FORECAST_STEP.as_secs_f64()) {
                // They are refilled while they are spent.
                let rest = before / (per_second - self.rate).max(1.0);
                return Some(at.since(now) - FORECAST_STEP + Span::from_secs_f64(rest).min(FORECAST_STEP));
            }
        }
        None
    }
}

/// A limit of the model, whose operations are as long as the units that they spend.
#[derive(Clone, Debug)]
struct CreditMachine {
    chain: Chain,
    /// Fraction of a unit that is not spent yet.
    rest: f64,
    answers: Vec<ModelAnswer>,
}

impl CreditMachine {
    fn new(counts: Counts, rate: f64, burst: u64) -> Self {
        let rate = match counts {
            Counts::Operations => Rate::Operations(Iops::from_f64(rate.max(0.001))),
            Counts::Bytes => Rate::Bytes(Throughput::per_second(rate.round().max(1.0) as u64)),
        };
        let stage = StageSpec::Limit { rate, burst, unit: Some(Bytes::new(1)) };
        let spec = ChainSpec::new(vec![Named { stage, name: None }]).expect("rate and burst are above zero");
        Self { chain: Chain::new(&spec, 0), rest: 0.0, answers: Vec::new() }
    }

    fn left(&self, now: Instant) -> u64 {
        self.chain.burst_left(now, Stage(0)).expect("the chain has a single limit")
    }

    /// Spends units at `now`; true if they exceed the credits, which are then used up.
    fn spend(&mut self, now: Instant, units: f64) -> bool {
        self.rest += units;
        let left = self.left(now);
        let is_over = self.rest > left as f64;
        let mut due = if is_over { left } else { self.rest as u64 };
        self.rest = if is_over { 0.0 } else { self.rest - due as f64 };
        while due > 0 {
            let length = u32::try_from(due).unwrap_or(u32::MAX);
            let op = Op { offset: 0, length, kind: Kind::Read, stream: 0 };
            self.chain.submit(now, Slot(0), &op);
            self.chain.drain(now, &mut self.answers);
            self.answers.clear();
            due -= u64::from(length);
        }
        is_over
    }
}
