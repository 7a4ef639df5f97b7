//! Analytic solution of the graph of stages: 2 to 10 us for a stationary load, up to some ms with hundreds of
//! operations in flight and write-back, so that thousands of configurations can be ranked. It has no single operations,
//! addresses or time of day.
//!
//! The simulation is authoritative. `tests/analytic.rs` compares both on some fifty models with 1, 4, 32 and 128
//! operations in flight, and with Poisson arrivals at 50 and 80 % of the capacity. Maximum (mean) deviations:
//!
//! | models of | IOPS, closed | mean response, open |
//! |---|---|---|
//! | limits, stations, banks, links, stalls, splits, caches, buffers | 2.5 % (0.5 %) | 4.5 % (1 %) |
//! | windows, arrays, operations over several servers of a bank | 6 % (1 %) | 14 % (4 %) |
//! | rows of a serial stripe, pieces | 9 % (3 %) | 21 % |
//! | disks | 6 % (1.5 %) | 16 % (6 %) |
//! | memories that write back | 5 % (1 %) | 15 % (2 %) |
//!
//! Open loads at 95 % are as close for single stages, and deviate by up to 30 % where parts of an operation wait for
//! each other. Not modelled:
//!
//! * Bursts: a limit, buffer or memory carries its long-run rate, drain or inner capacity.
//! * Transients: `cold` costs as much as before the first access; caches are warm.
//! * Concurrent sequential operations in an array or a bank: closed loads within some 20 %, no claim for open loads.
//! * A flush right after a burst of writes into a memory, with 1 or 2 operations in flight: up to 25 % of IOPS; reads
//!   between bursts of mostly writes there: up to 15 %.
//! * Late read-ahead: sequential reads load the stages inside `prefetch`, but add no response time.
//! * Operations of several sizes: a [`Workload`] has a single length. How they share a limit in `pieces` is only
//!   simulated.
//! * Tails: means only.

mod closed;
mod compile;
mod finish;
mod flash;
mod hits;
mod network;
mod open;
mod order;
mod parts;
mod service;
mod tally;
mod walk;

pub use flash::write_amplification;
pub use hits::{Popularity, che, che_of};

use alloc::vec::Vec;

use network::CentreFlow;
use plimsoll_units::{Bytes, Kind};

use crate::Stage;
use crate::spec::ChainSpec;

/// A stationary mix of operations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Workload {
    /// Share of reads among reads and writes, 0 to 1.
    pub reads: f64,
    /// Share of the writes that are durable, 0 to 1.
    pub durable: f64,
    /// Flushes per operation, flushes included: 0 to 1.
    pub flushes: f64,
    /// Bytes of each read and write; offsets are multiples of it.
    pub length: Bytes,
    /// Share of operations that begin where the previous operation ended, 0 to 1; the others are uniform.
    pub sequential: f64,
    /// Size of the accessed range, from offset 0.
    pub space: Bytes,
}

/// Intensity of the load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Offered {
    /// A constant number of operations in flight.
    Closed {
        /// Operations in flight, at least 1.
        depth: u32,
    },
    /// Poisson arrivals.
    Open {
        /// Operations per second.
        iops: f64,
    },
}

/// Stationary state under a load.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// Operations answered per second.
    pub iops: f64,
    /// Mean response time, ns; infinite above the capacity.
    pub mean_ns: f64,
    /// Each stage, in the order of [`ChainSpec::names`].
    pub stages: Vec<StageLoad>,
    /// The stage that delays operations most.
    pub binds: Stage,
    /// True if a stage is at its capacity.
    pub saturated: bool,
}

/// Load of a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StageLoad {
    /// Visits per operation; each part of an operation, and each write-back operation, counts.
    pub visits: f64,
    /// Share of its capacity, 0 to 1.
    pub utilisation: f64,
    /// Mean wait of a visit, ns.
    pub wait_ns: f64,
    /// Mean service of a visit, ns.
    pub service_ns: f64,
}

/// Maximum throughput.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capacity {
    /// Operations per second; infinite if bounded only by the load.
    pub iops: f64,
    /// The stage that bounds them.
    pub binds: Stage,
}

/// The stationary state of `spec` under `workload`.
pub fn solve(spec: &ChainSpec, workload: &Workload, offered: Offered) -> Solution {
    let stages = compile::count(spec);
    let network = finish::compile_network(spec, 0, stages, &workload.flows());
    let (bound, bounding) = network.bound();
    let (max, _) = network.bound_with_pauses();
    let state = match offered {
        Offered::Closed { depth } => closed::closed(&network, depth),
        Offered::Open { iops } if iops > 0.0 && iops / 1e9 < max => open::open(&network, iops / 1e9),
        Offered::Open { iops } if iops <= 0.0 => walk::NetworkState::empty(&network),
        Offered::Open { .. } => return overloaded(&network, max, stages),
    };
    let (rate, mean) = match offered {
        Offered::Closed { depth } => {
            let rate = state.rate * network.active(state.rate / f64::from(depth.max(1)));
            (rate, f64::from(depth) / rate)
        }
        Offered::Open { .. } => (state.rate, state.time.mean),
    };
    let tally = tally::tally_loads(&network, &state, stages);
    let longest = tally.residence.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(index, _)| index);
    let saturated = state.rate >= 0.99 * bound;
    let binds = if saturated { network.bounding_stage(bounding) } else { longest };
    Solution { iops: rate * 1e9, mean_ns: mean, stages: tally.stages, binds: Stage(binds as u8), saturated }
}

/// Operations per second for each of `depths` operations in flight, in rising order: the figures of [`solve`], for
/// little more than the time of the last.
pub fn iops_at(spec: &ChainSpec, workload: &Workload, depths: &[u32]) -> Vec<f64> {
    let network = finish::compile_network(spec, 0, compile::count(spec), &workload.flows());
    let mut steps = closed::Steps::new(&network);
    depths.iter().map(|depth| steps.to((*depth).max(1)) * 1e9).collect()
}

/// Arrivals above the capacity: queues grow without bound.
fn overloaded(network: &network::Network<'_>, max: f64, stages: usize) -> Solution {
    let (bound, bounding) = network.bound();
    let mut state = open::open(network, bound * (1.0 - 1e-6));
    state.rate = bound;
    let tally = tally::tally_loads(network, &state, stages);
    let binds = Stage(network.bounding_stage(bounding) as u8);
    Solution { iops: max * 1e9, mean_ns: f64::INFINITY, stages: tally.stages, binds, saturated: true }
}

/// The smallest of the stages' bounds.
pub fn capacity(spec: &ChainSpec, workload: &Workload) -> Capacity {
    let network = finish::compile_network(spec, 0, compile::count(spec), &workload.flows());
    let (bound, bounding) = network.bound_with_pauses();
    Capacity { iops: bound * 1e9, binds: Stage(network.bounding_stage(bounding) as u8) }
}

impl Workload {
    /// Classes of equal operations with their shares.
    fn flows(&self) -> [(f64, CentreFlow); 4] {
        let flow =
            |kind, length| CentreFlow { kind, length, sequential: self.sequential, space: self.space.get() as f64 };
        let length = self.length.get() as f64;
        let others = 1.0 - self.flushes;
        let writes = others * (1.0 - self.reads);
        [
            (others * self.reads, flow(Kind::Read, length)),
            (writes * (1.0 - self.durable), flow(Kind::Write, length)),
            (writes * self.durable, flow(Kind::DurableWrite, length)),
            (self.flushes, flow(Kind::Flush, 0.0)),
        ]
    }
}
