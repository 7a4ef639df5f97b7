//! The load of each stage, from the state of a network.

use alloc::vec;
use alloc::vec::Vec;

use super::StageLoad;
use super::closed::closed;
use super::network::{CentreForm, Network, Node};
use super::walk::NetworkState;

/// Sums over the visits of each stage, and the time that it adds to response times.
pub(super) struct Tally {
    pub(super) stages: Vec<StageLoad>,
    pub(super) residence: Vec<f64>,
}

/// The loads of all stages.
pub(super) fn tally_loads(network: &Network<'_>, state: &NetworkState, stages: usize) -> Tally {
    let mut tally = Tally { stages: vec![StageLoad::default(); stages], residence: vec![0.0; stages] };
    tally.way(network, state, &network.way, 1.0, 1.0);
    for (memory, (time, room)) in network.memories.iter().zip(&state.behind) {
        memory.behind.iter().for_each(|(weight, node)| tally.way(network, state, node, *weight, 0.0));
        let inside = state.rate * memory.pieces / memory.copies * time * memory.length;
        tally.stages[memory.stage].utilisation = if *room > 0.0 { 1.0 } else { (inside / memory.capacity).min(1.0) };
        tally.stages[memory.stage].wait_ns += room;
        tally.residence[memory.stage] += room;
    }
    for pause in &network.pauses {
        tally.stages[pause.stage].utilisation = pause.share();
    }
    for (index, centre) in network.centres.iter().enumerate() {
        let visits = centre.ahead.visits + centre.behind.visits;
        let fastest = centre.pace.last().copied().unwrap_or(f64::INFINITY);
        let load = &mut tally.stages[centre.stage];
        load.utilisation = load.utilisation.max((state.rate * visits / centre.copies / fastest).min(1.0));
        if let CentreForm::Window { network: Some(inside), .. } = &centre.kind {
            tally.inside(inside, state.rate * visits / centre.copies, visits, state.crowds[index].service);
        }
    }
    for (load, visits) in tally.stages.iter_mut().zip(&network.visits) {
        load.visits = *visits;
        if *visits > 0.0 {
            load.wait_ns /= visits;
            load.service_ns /= visits;
        }
    }
    tally
}

impl Tally {
    /// Adds a path with `weight` operations per operation of the load, of which `ahead` delay the answer.
    fn way(&mut self, network: &Network<'_>, state: &NetworkState, node: &Node, weight: f64, ahead: f64) {
        match node {
            Node::Delay { stage, mean, .. } => self.add(*stage, weight, ahead, (0.0, *mean)),
            Node::Visit { centre, mean, residence, .. } => {
                let time = state.visit(network, *centre, *mean, *residence);
                let queue_length = &network.centres[*centre].ahead;
                let extra =
                    if queue_length.visits > 0.0 { queue_length.queue_length / queue_length.visits } else { 0.0 };
                let window = matches!(network.centres[*centre].kind, CentreForm::Window { .. });
                let service = if window { 0.0 } else { time.1 };
                self.add(network.centres[*centre].stage, weight, ahead, (time.0 + extra, service));
            }
            Node::Pressure { pressure, delay } => {
                let of = network.thresholds[*pressure].stage;
                self.add(of, weight, ahead, (state.pressed(network, *pressure, *delay), 0.0));
            }
            Node::Cold { stage, extra, share, rest, often } => {
                self.add(*stage, weight, ahead, (state.cold(*extra, *share, *rest, *often), 0.0));
            }
            Node::Await { memory } => {
                self.add(network.memories[*memory].stage, weight, ahead, (state.awaited(network, *memory), 0.0));
            }
            Node::Series(nodes) => nodes.iter().for_each(|node| self.way(network, state, node, weight, ahead)),
            Node::Mix(ways) => {
                for (share, node) in ways {
                    self.way(network, state, node, weight * share, ahead * share);
                }
            }
            Node::Fork { ways, batch, part, .. } => {
                self.way(network, state, part, weight * ways * batch, ahead * batch);
            }
            Node::Repeat { times, node } => self.way(network, state, node, weight * times, ahead * times),
        }
    }

    fn add(&mut self, stage: usize, weight: f64, ahead: f64, (wait, service): (f64, f64)) {
        self.stages[stage].wait_ns += weight * wait;
        self.stages[stage].service_ns += weight * service;
        self.residence[stage] += ahead * (wait + service);
    }

    /// Adds the stages inside a window with a throughput of `rate` operations per ns and copy.
    fn inside(&mut self, inside: &Network<'_>, rate: f64, visits: f64, service: f64) {
        let present = libm::round(rate * service).max(1.0) as u32;
        let mut state = closed(inside, present);
        state.rate = state.rate.min(rate);
        let inner = tally_loads(inside, &state, self.stages.len());
        for (index, load) in inner.stages.into_iter().enumerate().filter(|(_, load)| load.visits > 0.0) {
            let of_all = load.visits * visits;
            self.stages[index].wait_ns += load.wait_ns * of_all;
            self.stages[index].service_ns += load.service_ns * of_all;
            self.stages[index].utilisation = load.utilisation;
            self.residence[index] += inner.residence[index] * visits;
        }
    }
}
