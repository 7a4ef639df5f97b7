//! Closed loads: mean-value analysis (Reiser and Lavenberg 1980) in its residual-life form, by adding operations in
//! flight step by step.
//!
//! An arrival finds the state with an operation fewer in flight. For a service in progress it waits the residual life,
//! `S * (ca2 + cs2) / 2`: exact for single servers with Poisson arrivals, and zero if all times are constant. In
//! between, arrivals vary as the rest of the cycle does (`regularity`).

use alloc::vec::Vec;

use super::network::{Centre, CentreForm, Network};
use super::walk::{CentreState, NetworkState};

/// Operations in flight up to which each number is solved; beyond, throughput grows in proportion up to a bound.
const MAX_DEPTH: u32 = 4096;

/// The state with `depth` operations in flight.
pub(super) fn closed(network: &Network<'_>, depth: u32) -> NetworkState {
    let mut steps = Steps::new(network);
    steps.to(depth.max(1));
    steps.state
}

/// Operations per ns with `depth` operations in flight. Up to 64 are added singly, then a sixty-fourth at a time: 0.3 %
/// too many with 4,096 at 89 % of a bound, in a twelfth of the steps.
pub(super) fn rate_at(network: &Network<'_>, depth: u32) -> f64 {
    let mut steps = Steps::new(network);
    while steps.present < depth && steps.state.rate < steps.bound {
        let more = 1 + steps.present / 64;
        steps.add(more.min(depth - steps.present));
    }
    let rate = steps.state.rate;
    rate * network.active(rate / f64::from(depth))
}

/// Operations per ns with 1, 2, ... up to `max` operations in flight, and the state with the last number of them.
pub(super) fn solve_rates(network: &Network<'_>, max: u32) -> (Vec<f64>, NetworkState) {
    let mut steps = Steps::new(network);
    let rates = (1..=max.clamp(1, MAX_DEPTH)).map(|depth| steps.to(depth)).collect();
    (rates, steps.state)
}

/// Solutions for rising numbers of operations in flight.
pub(super) struct Steps<'a, 'b> {
    network: &'a Network<'b>,
    bound: f64,
    /// The state with `present` operations in flight, and with one fewer.
    state: NetworkState,
    fewer: NetworkState,
    present: u32,
}

impl<'a, 'b> Steps<'a, 'b> {
    pub(super) fn new(network: &'a Network<'b>) -> Self {
        let (state, fewer) = (NetworkState::empty(network), NetworkState::empty(network));
        Self { network, bound: network.bound().0, state, fewer, present: 0 }
    }

    /// Operations per ns with `depth` in flight, which must not decrease between calls.
    pub(super) fn to(&mut self, depth: u32) -> f64 {
        // At a bound, additional operations only wait there.
        while self.present < depth.min(MAX_DEPTH) && self.state.rate < self.bound {
            self.add(1);
        }
        if self.present < depth {
            let more = f64::from(depth) / f64::from(self.present);
            self.state.rate = (self.state.rate * more).min(self.bound);
            self.state.depth = f64::from(depth);
            absorb_excess(self.network, &mut self.state);
        }
        self.state.rate * self.network.active(self.state.rate / f64::from(depth))
    }

    /// Solves for more operations in flight. Arrivals find the state before them, so that the error grows with `more`.
    fn add(&mut self, more: u32) {
        self.present += more;
        core::mem::swap(&mut self.state, &mut self.fewer);
        let present = f64::from(self.present);
        let Self { network, bound, state, fewer, .. } = self;
        regularity(network, state, fewer.time.variance);
        state.depth = present;
        if network.depends_on_rate {
            solve_rate(network, state, fewer, *bound);
        } else {
            waits(network, state, fewer, 0.0);
            state.time = state.walk(network, &network.way, 0.0);
            shadows(network, state);
            state.rate = (present / state.time.mean.max(1e-6)).min(*bound);
        }
        absorb_excess(network, state);
        for ((centre, queue_length), found) in network.centres.iter().zip(&mut state.crowds).zip(&fewer.crowds) {
            let arrivals = state.rate * centre.ahead.visits / centre.copies_used(present);
            count(centre, queue_length, found, arrivals, present);
        }
    }
}

/// Finds the rate that puts this many operations in flight, by bisection: write-back and back-pressure depend on the
/// rate.
fn solve_rate(network: &Network<'_>, state: &mut NetworkState, fewer: &NetworkState, bound: f64) {
    state.behind.iter_mut().for_each(|(_, room)| *room = 0.0);
    let in_flight = |state: &mut NetworkState, rate: f64| {
        state.rate = rate;
        waits(network, state, fewer, rate);
        behind(network, state);
        state.time = state.walk(network, &network.way, 0.0);
        rate * state.time.mean
    };
    let (mut low, mut high) = (0.0, bound);
    if bound.is_infinite() {
        in_flight(state, fewer.rate);
        high = 2.0 * fewer.rate.max(state.depth / state.time.mean.max(1e-6));
        while in_flight(state, high) < state.depth {
            high *= 2.0;
        }
    } else if in_flight(state, bound * (1.0 - 1e-9)) < state.depth {
        state.rate = bound;
        return;
    }
    // An additional operation adds at most its share.
    let max = fewer.rate * state.depth / (state.depth - 1.0);
    if fewer.rate > 0.0 && max < high {
        if in_flight(state, max) < state.depth {
            low = max;
        } else if in_flight(state, fewer.rate) < state.depth {
            (low, high) = (fewer.rate, max);
        } else {
            high = max;
        }
    }
    for _ in 0..50 {
        if high - low < 3e-5 * high {
            break;
        }
        let middle = f64::midpoint(low, high);
        if in_flight(state, middle) < state.depth { low = middle } else { high = middle }
    }
    in_flight(state, low);
    // Little's law must hold exactly: the probabilities of the next step amplify any discrepancy.
    state.rate = (state.depth / state.time.mean).min(bound);
}

/// An operation that returns to a limit too early waits for the time that it consumed itself.
fn shadows(network: &Network<'_>, state: &mut NetworkState) {
    let mut found = false;
    for (centre, queue_length) in network.centres.iter().zip(&mut state.crowds) {
        if matches!(centre.kind, CentreForm::Paced { ahead } if ahead <= 0.0) && centre.ahead.visits > 0.0 {
            let round = state.time.mean / centre.ahead.visits * centre.copies - queue_length.residence;
            let own = shortfall(centre.service(), round, state.time.variance);
            queue_length.residence += own;
            queue_length.wait += own;
            found = true;
        }
    }
    if found {
        state.time = state.walk(network, &network.way, 0.0);
    }
}

/// Mean shortfall of a gamma-distributed time of this mean and variance below `bound`.
fn shortfall(bound: f64, mean: f64, variance: f64) -> f64 {
    if variance <= 1e-9 * mean * mean || mean <= 0.0 {
        return 0.0;
    }
    let (shape, scale) = (mean * mean / variance, variance / mean);
    let below = |shape: f64| {
        let x = bound / scale;
        let mut term = libm::exp(shape * libm::log(x) - x - libm::lgamma(shape + 1.0));
        let mut sum = 0.0;
        for k in 1..200 {
            sum += term;
            term *= x / (shape + f64::from(k));
        }
        sum.min(1.0)
    };
    (bound * below(shape) - mean * below(shape + 1.0)).max(0.0)
}

/// Computes the durations of write-back.
fn behind(network: &Network<'_>, state: &mut NetworkState) {
    for (index, memory) in network.memories.iter().enumerate() {
        let weight: f64 = memory.behind.iter().map(|(weight, _)| weight).sum();
        let time: f64 = memory.behind.iter().map(|(weight, node)| weight * state.walk(network, node, 0.0).mean).sum();
        state.behind[index].0 = if weight > 0.0 { time / weight } else { 0.0 };
    }
}

/// Variability of arrivals at each centre: that of the rest of the cycle, relative to the centre's service time.
/// Constant times keep operations apart; random choice among copies makes arrivals independent.
fn regularity(network: &Network<'_>, state: &mut NetworkState, variance: f64) {
    for (centre, queue_length) in network.centres.iter().zip(&mut state.crowds) {
        let unit = centre.service() / centre.places().max(1) as f64;
        let along = if unit > 0.0 { (variance / (unit * unit)).min(1.0) } else { 1.0 };
        queue_length.arrivals = thinned(centre, along);
    }
}

/// The squared coefficient of variation of the arrivals at a single copy.
pub(super) fn thinned(centre: &Centre<'_>, arrivals: f64) -> f64 {
    if centre.in_turn { arrivals / centre.copies } else { 1.0 - (1.0 - arrivals) / centre.copies }
}

/// Computes waits at each centre for an arrival that finds `fewer`, with write-back at `rate`.
fn waits(network: &Network<'_>, state: &mut NetworkState, fewer: &NetworkState, rate: f64) {
    for ((centre, queue_length), found) in network.centres.iter().zip(&mut state.crowds).zip(&fewer.crowds) {
        let copies = centre.copies_used(state.depth);
        let other = rate * centre.behind.visits / copies;
        if other > 0.0 {
            with_background(centre, queue_length, found, other, state.depth);
        } else {
            foreground_only(centre, queue_length, found, state.depth - 1.0);
        }
        if let CentreForm::Paced { ahead } = centre.kind {
            let spare = 1.0 - found.full.min(1.0);
            let spread = queue_length.arrivals + centre.scv;
            let beyond = if spread > 0.0 { libm::exp(-2.0 * spare * ahead / spread) } else { 0.0 };
            queue_length.residence = if ahead > 0.0 { queue_length.wait * beyond } else { queue_length.wait };
        }
    }
}

/// Without write-back.
fn foreground_only(centre: &Centre<'_>, queue_length: &mut CentreState, found: &CentreState, fewer: f64) {
    let Some(fastest) = centre.pace.last() else { return };
    let residual = estimate_residual(centre, queue_length, found, fewer);
    let places = centre.places();
    let with = |j: usize| found.with.get(j).copied().unwrap_or(0.0);
    match centre.kind {
        CentreForm::Servers(_) | CentreForm::Paced { .. } => {
            queue_length.wait = (found.waiting + residual * found.full) / fastest;
            queue_length.service = centre.service();
        }
        CentreForm::Window { .. } => {
            queue_length.wait = (found.waiting + residual * found.full) / fastest;
            let inside = |(j, pace): (usize, &f64)| with(j) * (j + 1) as f64 / pace;
            queue_length.service = centre.pace.iter().enumerate().map(inside).sum::<f64>();
            queue_length.service += found.full * places as f64 / fastest;
        }
        CentreForm::Disk { .. } | CentreForm::Curve(_) => {
            let each = |(j, pace): (usize, &f64)| with(j) / pace;
            queue_length.service = centre.pace.iter().enumerate().map(each).sum::<f64>() + found.full / fastest;
            let before = |(j, pace): (usize, &f64)| with(j) * j as f64 / pace;
            queue_length.wait = centre.pace.iter().enumerate().map(before).sum::<f64>();
            queue_length.wait += (found.waiting + found.full * places as f64) / fastest;
            queue_length.wait -= (1.0 - residual) * (1.0 - with(0)) * queue_length.service;
            queue_length.wait = queue_length.wait.max(0.0);
        }
    }
}

/// Residual service in progress, over the mean service. If nearly all operations are at one centre, an arrival comes
/// just after a departure, so a whole service remains.
fn estimate_residual(centre: &Centre<'_>, queue_length: &CentreState, found: &CentreState, fewer: f64) -> f64 {
    let spread = queue_length.arrivals + centre.scv;
    let here = if fewer > 0.0 { (found.present / fewer).min(1.0) } else { 0.0 };
    let just = if matches!(centre.kind, CentreForm::Paced { .. }) { here } else { here * here };
    spread / 2.0 + (1.0 - spread / 2.0) * just * spread.min(1.0)
}

/// With `other` independent operations per ns and copy in the background.
fn with_background(centre: &Centre<'_>, queue_length: &mut CentreState, found: &CentreState, other: f64, depth: f64) {
    let servers = centre.servers();
    // With few operations in flight, background operations come in bursts between two foreground operations.
    let between = centre.behind.visits / centre.ahead.visits.max(1e-9) / (depth * centre.copies * servers);
    let burst = if matches!(centre.kind, CentreForm::Paced { .. }) { 0.0 } else { (2.0 * between).min(20.0) };
    let residual = f64::midpoint(1.0 + burst, centre.scv);
    let at = |pace: f64| {
        let load = (other / pace).min(1.0 - 1e-9);
        let busy = ((found.present - found.waiting) / servers).min(1.0) + load;
        let full = libm::pow(busy.min(1.0), libm::sqrt(2.0 * (servers + 1.0)) - 1.0);
        (found.waiting + residual * full) / pace / (1.0 - load)
    };
    if !matches!(centre.kind, CentreForm::Disk { .. } | CentreForm::Curve(_)) {
        queue_length.wait = at(centre.pace.last().copied().unwrap_or(f64::INFINITY));
        queue_length.service = centre.service();
        return;
    }
    // The pace depends on both: take the smallest number, at the beginning of a service, consistent with its own pace.
    for (fewer, pace) in centre.pace.iter().enumerate() {
        (queue_length.wait, queue_length.service) = (at(*pace), 1.0 / pace);
        if 1.0 + found.present + other * queue_length.wait <= (fewer + 1) as f64 {
            return;
        }
    }
}

/// Computes occupancy at `arrivals` per ns and copy.
fn count(centre: &Centre<'_>, queue_length: &mut CentreState, found: &CentreState, arrivals: f64, present: f64) {
    let Some(fastest) = centre.pace.last() else { return };
    let places = centre.places();
    let paced = matches!(centre.kind, CentreForm::Paced { .. });
    let max = places.min(present as usize + 1);
    let with = &mut queue_length.with;
    with.clear();
    with.push(0.0);
    let more = centre.pace.iter().zip(&found.with).map(|(pace, p)| arrivals / pace * p);
    with.extend(more.take(max - 1));
    let idle: f64 =
        with.iter().zip(core::iter::once(&0.0).chain(&centre.pace)).map(|(p, pace)| p * (1.0 - pace / fastest)).sum();
    with[0] = (1.0 - arrivals / fastest - idle).max(0.0);
    let below: f64 = with.iter().sum();
    if below > 1.0 {
        for p in with.iter_mut() {
            *p /= below;
        }
    }
    queue_length.full = (1.0 - below).max(0.0);
    let wait = if paced { queue_length.residence } else { queue_length.wait };
    let extra = if centre.ahead.visits > 0.0 { centre.ahead.queue_length / centre.ahead.visits } else { 0.0 };
    let inside = if paced { 0.0 } else { queue_length.service };
    queue_length.present = arrivals * (wait + extra + inside);
    queue_length.waiting = match centre.kind {
        CentreForm::Disk { .. } | CentreForm::Curve(_) if centre.behind.visits <= 0.0 => {
            let served: f64 = with.iter().enumerate().map(|(j, p)| j as f64 * p).sum();
            (queue_length.present - served - queue_length.full * places as f64).max(0.0)
        }
        _ => arrivals * (wait + extra),
    };
}

/// At a bound, attributes the excess of operations in flight to the bounding stage.
fn absorb_excess(network: &Network<'_>, state: &mut NetworkState) {
    let missing = state.depth / state.rate - state.time.mean;
    if missing.is_nan() || missing <= 1e-9 * state.time.mean {
        return;
    }
    match network.bound().1 {
        super::network::BoundCause::Centre(index) => {
            let visits = network.centres[index].ahead.visits;
            let queue_length = &mut state.crowds[index];
            let each = if visits > 0.0 { missing / visits } else { 0.0 };
            queue_length.wait += each;
            queue_length.residence += each;
        }
        super::network::BoundCause::Memory(index) => state.behind[index].1 += missing,
        super::network::BoundCause::None => {}
    }
    state.time.mean = state.depth / state.rate;
}
