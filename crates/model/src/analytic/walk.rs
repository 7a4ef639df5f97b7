//! Mean and variance of the time of a path, for a given state of the centres.

use alloc::vec;
use alloc::vec::Vec;

use super::network::{Centre, CentreForm, Network, Node, Residence};
use super::order::last_of;

/// Ratio of the variation of a part's wait due to services to that due to arrivals, which all parts of an operation
/// share. With two exponential servers it gives the result of Nelson and Tantawi (1988).
const ALONE: f64 = 1.857;

/// The state of a copy of a centre.
#[derive(Clone, Debug, Default)]
pub(super) struct CentreState {
    /// Queueing time of an arrival, ns; and after subtracting a pace's burst tolerance.
    pub(super) wait: f64,
    pub(super) residence: f64,
    /// Service time at this load, ns.
    pub(super) service: f64,
    /// Operations present, and those of them that wait.
    pub(super) present: f64,
    pub(super) waiting: f64,
    /// Probability that an arrival has to wait, and of 0, 1, ... operations below the number of places.
    pub(super) full: f64,
    pub(super) with: Vec<f64>,
    /// Squared coefficient of variation of the times between arrivals.
    pub(super) arrivals: f64,
}

/// The state of a network.
#[derive(Clone, Debug)]
pub(super) struct NetworkState {
    pub(super) crowds: Vec<CentreState>,
    /// For each memory: time from the answer of a write to its completion, and the wait of writes for room, ns.
    pub(super) behind: Vec<(f64, f64)>,
    /// Operations of the whole load per ns.
    pub(super) rate: f64,
    /// Operations in flight, if bounded.
    pub(super) depth: f64,
    /// Response time, ns.
    pub(super) time: Time,
}

/// Mean and variance of a time; `apart` is the variance that parts of an operation do not share.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Time {
    pub(super) mean: f64,
    pub(super) variance: f64,
    pub(super) apart: f64,
    /// The share of `apart` that is caused by waits.
    pub(super) waits: f64,
}

impl Time {
    fn then(self, next: Self) -> Self {
        Self {
            mean: self.mean + next.mean,
            variance: self.variance + next.variance,
            apart: self.apart + next.apart,
            waits: self.waits + next.waits,
        }
    }
}

impl NetworkState {
    /// The empty network.
    pub(super) fn empty(network: &Network<'_>) -> Self {
        let queue_length = |centre: &Centre<'_>| CentreState {
            service: centre.service(),
            with: vec![1.0],
            arrivals: 1.0,
            ..CentreState::default()
        };
        Self {
            crowds: network.centres.iter().map(queue_length).collect(),
            behind: vec![(0.0, 0.0); network.memories.len()],
            rate: 0.0,
            depth: f64::INFINITY,
            time: Time::default(),
        }
    }

    /// Wait and service of a visit.
    pub(super) fn visit(&self, network: &Network<'_>, centre: usize, mean: f64, residence: Residence) -> (f64, f64) {
        let queue_length = &self.crowds[centre];
        match (residence, &network.centres[centre].kind) {
            (Residence::Served, _) => (queue_length.wait, mean),
            (Residence::Paced, _) => (queue_length.residence, mean),
            (Residence::AtItsPace, CentreForm::Window { .. }) => (queue_length.wait, queue_length.service * mean),
            (Residence::AtItsPace, _) => {
                let unit = network.centres[centre].service();
                (queue_length.wait, if unit > 0.0 { queue_length.service * mean / unit } else { 0.0 })
            }
        }
    }

    /// Mean delay by `pressure`.
    pub(super) fn pressed(&self, network: &Network<'_>, pressure: usize, delay: f64) -> f64 {
        let threshold = &network.thresholds[pressure];
        let offered = self.rate * threshold.cost;
        if offered > threshold.rate { delay * (1.0 - threshold.rate / offered) } else { 0.0 }
    }

    /// Mean delay by cold data.
    pub(super) fn cold(&self, extra: f64, share: f64, rest: f64, often: f64) -> f64 {
        extra * share.max(libm::exp(-self.rate * often * rest))
    }

    /// Mean wait of a flush for preceding writes to `memory`.
    pub(super) fn awaited(&self, network: &Network<'_>, memory: usize) -> f64 {
        let (time, _) = self.behind[memory];
        let memory = &network.memories[memory];
        time * -libm::expm1(-self.rate * memory.pieces / memory.copies * time)
    }

    /// The time of a path.
    pub(super) fn walk(&self, network: &Network<'_>, node: &Node, sync: f64) -> Time {
        match node {
            Node::Delay { mean, variance, .. } => {
                Time { mean: *mean, variance: *variance, apart: *variance, waits: 0.0 }
            }
            Node::Visit { centre, mean, variance, residence } => {
                let (wait, service) = self.visit(network, *centre, *mean, *residence);
                let own = if *residence == Residence::Paced { 0.0 } else { *variance };
                self.spread(&network.centres[*centre], &self.crowds[*centre], (wait, service, own), sync)
            }
            Node::Pressure { pressure, delay } => sometimes(self.pressed(network, *pressure, *delay), *delay),
            Node::Cold { extra, share, rest, often, .. } => sometimes(self.cold(*extra, *share, *rest, *often), *extra),
            Node::Await { memory } => Time { mean: self.awaited(network, *memory), ..Time::default() },
            Node::Series(nodes) => {
                nodes.iter().fold(Time::default(), |time, node| time.then(self.walk(network, node, sync)))
            }
            Node::Mix(ways) => mixed(ways.iter().map(|(share, node)| (*share, self.walk(network, node, sync)))),
            Node::Fork { ways, sync: together, after, part, .. } => {
                let part = self.walk(network, part, *together);
                let scv = if part.mean > 0.0 { part.apart / (part.mean * part.mean) } else { 0.0 };
                let waits = if part.apart > 0.0 { part.waits / part.apart } else { 0.0 };
                let late = last_of(*ways, scv + waits * (1.0 - scv).max(0.0)) * libm::sqrt(part.apart);
                // Corresponding parts of several members are in the same state.
                let (apart, waits) = (part.apart * (1.0 - sync), part.waits * (1.0 - sync));
                Time { mean: part.mean + late + after, apart, waits, ..part }
            }
            Node::Repeat { times, node } => {
                let time = self.walk(network, node, sync);
                let Time { mean, variance, apart, waits } = time;
                Time { mean: times * mean, variance: times * variance, apart: times * apart, waits: times * waits }
            }
        }
    }

    /// The variance of a wait is that of an M/G/1 queue, reduced for a bounded number of operations: if all of them
    /// wait at the same place, all waits are equal.
    fn spread(
        &self,
        centre: &Centre<'_>,
        queue_length: &CentreState,
        (wait, service, own): (f64, f64, f64),
        sync: f64,
    ) -> Time {
        let unit = queue_length.service / centre.places().max(1) as f64;
        let bounded = (1.0 - (1.0 - sync) * queue_length.present / self.depth).max(0.0);
        let spread = queue_length.arrivals + centre.scv;
        let waits = (wait * wait + 2.0 / 3.0 * unit * wait * (1.0 + centre.scv)) * bounded * spread.min(1.0);
        let all = queue_length.arrivals + ALONE * centre.scv;
        let shared = if all > 0.0 { sync * queue_length.arrivals / all } else { sync };
        let apart = waits * (1.0 - shared);
        Time { mean: wait + service, variance: own + waits, apart: own + apart, waits: apart }
    }
}

/// A time that is either `max` or zero.
fn sometimes(mean: f64, max: f64) -> Time {
    let variance = (mean * max - mean * mean).max(0.0);
    Time { mean, variance, apart: variance, waits: 0.0 }
}

fn mixed(ways: impl Iterator<Item = (f64, Time)> + Clone) -> Time {
    let mean: f64 = ways.clone().map(|(share, time)| share * time.mean).sum();
    let between: f64 = ways.clone().map(|(share, time)| share * (time.mean - mean) * (time.mean - mean)).sum();
    let variance: f64 = ways.clone().map(|(share, time)| share * time.variance).sum();
    let apart: f64 = ways.clone().map(|(share, time)| share * time.apart).sum();
    let waits: f64 = ways.map(|(share, time)| share * time.waits).sum();
    Time { mean, variance: variance + between, apart: apart + between, waits }
}
