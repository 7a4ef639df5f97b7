//! The last step of compilation: the pace of each centre, from all its visits.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use plimsoll_units::Kind;

use super::closed::{rate_at, solve_rates};
use super::compile::Compiler;
use super::network::{BoundCause, Centre, CentreFlow, CentreForm, Network};
use crate::spec::ChainSpec;

/// The network of a chain; see [`Compiler::compile`].
pub(super) fn compile_network<'a>(
    chain: &'a ChainSpec,
    first: usize,
    stages: usize,
    flows: &[(f64, CentreFlow)],
) -> Network<'a> {
    let mut network = Compiler::compile(chain, first, stages, flows);
    for centre in &mut network.centres {
        pace(centre, stages);
    }
    bound_memories(&mut network, stages);
    for centre in &network.centres {
        if let CentreForm::Window { network: Some(inside), .. } = &centre.kind {
            for (visits, more) in network.visits.iter_mut().zip(&inside.visits) {
                *visits += (centre.ahead.visits + centre.behind.visits) * more;
            }
        }
    }
    network
}

fn pace(centre: &mut Centre<'_>, stages: usize) {
    let (ahead, behind) = (centre.ahead, centre.behind);
    let visits = ahead.visits + behind.visits;
    let time = (ahead.time + behind.time) / visits;
    let transfer = (ahead.transfer + behind.transfer) / visits;
    let mean = time + transfer;
    if visits > 0.0 && mean > 0.0 {
        centre.scv = ((ahead.square + behind.square) / visits / (mean * mean) - 1.0).max(0.0);
    }
    let each = |n: u32, time: f64| (1..=n).map(|j| f64::from(j) / time).collect::<Vec<_>>();
    centre.pace = match &mut centre.kind {
        _ if visits <= 0.0 => Vec::new(),
        CentreForm::Servers(servers) if mean > 0.0 => each(*servers, mean),
        CentreForm::Paced { .. } if mean > 0.0 => vec![1.0 / mean],
        CentreForm::Disk(disk) if mean > 0.0 => {
            (1..=disk.queue).map(|j| 1.0 / (time * disk.positioning_share(j) + transfer)).collect()
        }
        CentreForm::Curve(rates) => rates.clone(),
        CentreForm::Window { slots, inside, visits, network: inner_network } => {
            let inner = compile_network(inside, centre.stage + 1, stages, visits);
            let (rates, state) = solve_rates(&inner, *slots);
            centre.scv = (state.time.variance / (state.time.mean * state.time.mean)).max(1.0);
            *inner_network = Some(Box::new(inner));
            rates
        }
        _ => Vec::new(),
    };
}

/// When a memory is full, its write-back is a closed load with a fixed number of pieces in flight.
fn bound_memories(network: &mut Network<'_>, stages: usize) {
    for memory in &mut network.memories {
        if memory.pieces <= 0.0 {
            continue;
        }
        let flow = CentreFlow { kind: Kind::Write, length: memory.length, sequential: 0.0, space: memory.space };
        let inside = compile_network(memory.inside, memory.stage + 1, stages, &[(1.0, flow)]);
        let rate = rate_at(&inside, memory.max_in_flight() as u32);
        memory.bound = rate * memory.copies / memory.pieces;
    }
}

impl Network<'_> {
    /// The stage that causes a bound: within a full window, the inner bounding stage.
    pub(super) fn bounding_stage(&self, bound: BoundCause) -> usize {
        match bound {
            BoundCause::Centre(index) => {
                let centre = &self.centres[index];
                let CentreForm::Window { network: Some(inside), .. } = &centre.kind else { return centre.stage };
                let (max, inner) = inside.bound();
                let reached = centre.pace.last().is_some_and(|pace| *pace > 0.97 * max);
                if reached { inside.bounding_stage(inner) } else { centre.stage }
            }
            BoundCause::Memory(index) => self.memories[index].stage,
            BoundCause::None => 0,
        }
    }
}
