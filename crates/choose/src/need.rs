//! A storage need: a load, a rate, an objective, a capacity.

use plimsoll_catalogue::Ask;
use plimsoll_load::{Arrival, Pace, Pattern, StreamSpec};
use plimsoll_model::analytic::Workload;
use plimsoll_record::{Curve, Objective};
use plimsoll_units::{Bytes, Iops};

#[derive(Clone, Debug, PartialEq)]
pub struct Need {
    /// The streams, paced at the required rate.
    pub streams: Vec<StreamSpec>,
    /// Operations per second of the leading stream.
    pub iops: f64,
    /// Objective for the response times.
    pub objective: Objective,
    /// Bytes to store.
    pub capacity: Bytes,
}

impl Need {
    /// The load line of a curve as a need. `None` without a load line, or if no load met the objective.
    pub fn of(curve: &Curve, capacity: Bytes) -> Option<Self> {
        let line = curve.load_line?;
        let (objective, iops) = (line.objective(), line.iops()?.value);
        let mut streams = curve.conditions.streams.clone();
        streams.first_mut()?.pace = Pace::Open { rate: Iops::from_f64(iops.max(1.0)), arrival: Arrival::Poisson };
        Some(Self { streams, iops, objective, capacity })
    }

    /// The leading stream's operations, for ceilings.
    pub fn ask(&self) -> Ask {
        ask_of(&self.streams[0])
    }
}

/// A stream as input of the analytic solution.
pub(crate) fn workload_of(stream: &StreamSpec) -> Workload {
    let ask = ask_of(stream);
    let writes = 1.0 - ask.reads;
    let flushes = if stream.mix.flush_every > 0 { writes / f64::from(stream.mix.flush_every) } else { 0.0 };
    Workload {
        reads: ask.reads,
        durable: if stream.mix.durable { 1.0 } else { 0.0 },
        flushes: flushes / (1.0 + flushes),
        length: ask.block,
        sequential: if ask.sequential { 1.0 } else { 0.0 },
        space: stream.region.length,
    }
}

/// A stream's operations, for ceilings: of its mean size.
pub fn ask_of(stream: &StreamSpec) -> Ask {
    let sizes = stream.mix.sizes.sizes();
    let weights: f64 = sizes.iter().map(|(_, weight)| f64::from(*weight)).sum();
    let mean = sizes.iter().map(|(size, weight)| size.get() as f64 * f64::from(*weight)).sum::<f64>() / weights;
    Ask {
        block: Bytes::new((mean + 0.5) as u64),
        reads: stream.mix.reads,
        sequential: stream.pattern == Pattern::Sequential,
    }
}
