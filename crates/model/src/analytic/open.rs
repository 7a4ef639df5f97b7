//! Open loads: waits at many servers (Erlang 1917; other variances after Allen and Cunneen 1978), and the variability
//! of each stage's departures (Whitt 1983, the queueing network analyzer).

use super::closed::thinned;
use super::network::{Centre, CentreForm, Memory, Network, Node};
use super::walk::{CentreState, NetworkState};

/// Rounds of the fixed-point iteration.
const ROUNDS: u32 = 6;
/// Maximum servers for Erlang's formula; Sakasegawa's (1977) approximation beyond.
const MAX_ERLANG_SERVERS: f64 = 4096.0;

/// The state at `rate` operations per ns, which is below every bound.
pub(super) fn open(network: &Network<'_>, rate: f64) -> NetworkState {
    let mut state = NetworkState::empty(network);
    state.rate = rate;
    let mut present = 1.0;
    for _ in 0..ROUNDS {
        let mut got = alloc::vec![(0.0, 0.0); network.centres.len()];
        departures(network, &state, &network.way, (1.0, 1.0), &mut got);
        for ((centre, queue_length), (weight, sum)) in network.centres.iter().zip(&mut state.crowds).zip(got) {
            queue_length.arrivals = if weight > 0.0 { sum / weight } else { 1.0 } * centre.batch();
            let arrivals = rate * (centre.ahead.visits + centre.behind.visits) / centre.copies_used(present);
            waits(centre, queue_length, arrivals);
        }
        for (index, memory) in network.memories.iter().enumerate() {
            let weight: f64 = memory.behind.iter().map(|(weight, _)| weight).sum();
            let times = memory.behind.iter().map(|(weight, node)| weight * state.walk(network, node, 0.0).mean);
            let time: f64 = times.sum();
            state.behind[index].0 = if weight > 0.0 { time / weight } else { 0.0 };
            state.behind[index].1 = room(memory, rate, state.behind[index].0);
        }
        state.time = state.walk(network, &network.way, 0.0);
        state.time.mean += state.behind.iter().map(|(_, room)| room).sum::<f64>();
        present = (rate * state.time.mean).max(1.0);
    }
    pauses(network, &mut state);
    state
}

/// Mean wait of an operation for room: the pieces that fit into a memory are the servers of a queue.
fn room(memory: &Memory<'_>, rate: f64, time: f64) -> f64 {
    let places = libm::floor(memory.capacity / memory.length.max(1.0)).max(1.0);
    let load = rate * memory.pieces / memory.copies * time / places;
    if load >= 1.0 || memory.pieces <= 0.0 {
        return 0.0;
    }
    0.5 * memory.pieces * time / places * all_busy(places, load) / (1.0 - load)
}

/// After a pause, the waiting operations arrive at once; their delay grows as spare capacity shrinks.
fn pauses(network: &Network<'_>, state: &mut NetworkState) {
    for pause in &network.pauses {
        let left = 1.0 - state.rate / network.bound_after(pause.stage);
        state.time.mean += pause.visits * pause.share() * pause.length / 2.0 / left;
    }
}

fn waits(centre: &Centre<'_>, queue_length: &mut CentreState, arrivals: f64) {
    let Some(&fastest) = centre.pace.last() else { return };
    let load = (arrivals / fastest).min(1.0 - 1e-9);
    let residual = f64::midpoint(queue_length.arrivals, centre.scv);
    match &centre.kind {
        CentreForm::Servers(_) | CentreForm::Paced { .. } => {
            queue_length.full = all_busy(centre.servers(), load);
            queue_length.wait = residual * queue_length.full / fastest / (1.0 - load);
            queue_length.service = centre.service();
        }
        CentreForm::Disk { .. } | CentreForm::Curve(_) => while_busy(centre, queue_length, arrivals, residual),
        CentreForm::Window { .. } => by_number(centre, queue_length, arrivals, residual),
    }
    queue_length.present = arrivals * (queue_length.wait + queue_length.service);
    queue_length.waiting = arrivals * queue_length.wait;
    queue_length.residence = queue_length.wait;
    if let CentreForm::Paced { ahead } = centre.kind {
        queue_length.residence =
            if residual > 0.0 { queue_length.wait * libm::exp(-(1.0 - load) * ahead / residual) } else { 0.0 };
    }
}

/// A birth-death process: the pace depends on the number present.
fn by_number(centre: &Centre<'_>, queue_length: &mut CentreState, arrivals: f64, residual: f64) {
    let places = centre.places();
    let fastest = centre.pace[places - 1];
    let (mut p, mut sum, mut inside) = (1.0, 1.0, 0.0);
    for (j, pace) in centre.pace.iter().enumerate() {
        p *= arrivals / pace;
        sum += p;
        inside += p * (j + 1) as f64;
    }
    let load = (arrivals / fastest).min(1.0 - 1e-9);
    // Beyond the last place, probabilities fall geometrically.
    let tail = p * load / (1.0 - load);
    let beyond = tail / (1.0 - load);
    sum += tail;
    inside += tail * places as f64;
    queue_length.full = (p + tail) / sum;
    queue_length.service = inside / sum / arrivals;
    queue_length.wait = beyond / sum / arrivals * residual;
}

/// A single server whose pace depends on the number present. The ratios of successive probabilities are chosen so that
/// a constant pace gives the M/G/1 queue (Pollaczek and Khinchine).
fn while_busy(centre: &Centre<'_>, queue_length: &mut CentreState, arrivals: f64, residual: f64) {
    let ratio = |pace: f64| {
        let load = arrivals / pace;
        let of = |load: f64| load * residual / (1.0 - load + load * residual);
        if load <= 1.0 { of(load) } else { 1.0 / of(1.0 / load) }
    };
    let fastest = centre.pace.last().copied().unwrap_or(f64::INFINITY);
    let (mut p, mut sum, mut present, mut served) = (1.0, 0.0, 0.0, 0.0);
    for (j, pace) in centre.pace.iter().enumerate() {
        if j > 0 {
            p *= ratio(*pace);
        }
        sum += p;
        present += p * (j + 1) as f64;
        served += p * pace;
    }
    let last = ratio(fastest).min(1.0 - 1e-9);
    let tail = p * last / (1.0 - last);
    present += tail * centre.places() as f64 + tail / (1.0 - last);
    served += tail * fastest;
    sum += tail;
    let busy = (arrivals * sum / served).min(1.0);
    queue_length.full = busy;
    queue_length.service = sum / served;
    queue_length.wait = (busy * present / sum / arrivals - queue_length.service).max(0.0);
}

/// Probability that all servers are busy (Erlang C).
pub(super) fn all_busy(servers: f64, load: f64) -> f64 {
    if servers > MAX_ERLANG_SERVERS {
        return libm::pow(load, libm::sqrt(2.0 * (servers + 1.0)) - 1.0);
    }
    let offered = servers * load;
    let blocked = (1..=servers as u32).fold(1.0, |blocked, k| {
        let lost = offered * blocked;
        lost / (f64::from(k) + lost)
    });
    blocked / (1.0 - load * (1.0 - blocked))
}

/// Follows arrivals `(share, scv)` along a path; returns the squared coefficient of variation of the departures.
fn departures(
    network: &Network<'_>,
    state: &NetworkState,
    node: &Node,
    (share, scv): (f64, f64),
    got: &mut [(f64, f64)],
) -> f64 {
    match node {
        Node::Visit { centre: index, .. } => {
            let centre = &network.centres[*index];
            let arrives = thinned(centre, scv);
            got[*index].0 += share;
            got[*index].1 += share * arrives;
            let busy = state.rate * (centre.ahead.visits + centre.behind.visits) / centre.copies;
            let busy = (busy * centre.service() / centre.servers()).min(1.0);
            let paced = matches!(centre.kind, CentreForm::Paced { ahead } if ahead > 0.0);
            if paced {
                return scv;
            }
            let own = (centre.scv - 1.0) / libm::sqrt(centre.servers());
            let leaves = 1.0 + (1.0 - busy * busy) * (arrives - 1.0) + busy * busy * own;
            // Merged departures of several copies approach a Poisson process.
            1.0 + (leaves - 1.0) / centre.copies
        }
        Node::Series(nodes) => nodes.iter().fold(scv, |scv, node| departures(network, state, node, (share, scv), got)),
        Node::Mix(ways) => {
            let way = |(part, node): &(f64, Node)| {
                let some = 1.0 - part * (1.0 - scv);
                part * departures(network, state, node, (share * part, some), got)
            };
            ways.iter().map(way).sum()
        }
        Node::Fork { part: node, ways, batch, .. } => {
            departures(network, state, node, (share * ways * batch, scv), got);
            scv
        }
        Node::Repeat { node, .. } => departures(network, state, node, (share, scv), got),
        Node::Delay { .. } | Node::Pressure { .. } | Node::Cold { .. } | Node::Await { .. } => scv,
    }
}
