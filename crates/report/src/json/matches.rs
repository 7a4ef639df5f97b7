//! Products that carry a load, and those that do not.

use plimsoll_catalogue::MachineShape;
use plimsoll_choose::{Matches, Need, Rejected, Resemblance, SuitableOffer, Unsuitable};
use plimsoll_units::{Bytes, Span};

use super::{each, finite, offer, view};
use crate::words;

view! {
    /// Products that carry a load, and those that do not.
    struct MatchResult from (need, matches, near): (&Need, &Matches, &[Resemblance]) {
        /// Name and version of this format.
        #[schemars(extend("const" = "plimsoll.match/1"))]
        format: &'static str = "plimsoll.match/1",
        /// The load.
        need: NeedView = need.into(),
        /// Configurations that carry it: those with a price, cheapest first, then the others.
        carries: Vec<Candidate> = matches.suitable.iter().map(|one| (need, one).into()).collect(),
        /// Priced configurations with sufficient limits whose simulated response time misses the objective, cheapest
        /// first.
        nearly: Vec<Candidate> = matches.nearly.iter().map(|one| (need, one).into()).collect(),
        /// Products with the most similar curves, nearest first; empty for a run without closed loads.
        resembles: Vec<ResemblanceView> = each(near),
        /// Products that do not carry it.
        rejected: Vec<RejectedProduct> = each(&matches.rejected),
    }

    /// A load with its objective.
    #[schemars(rename = "Need")]
    struct NeedView from need: &Need {
        /// Operations per second of the leading stream.
        iops: f64 = need.iops,
        /// Objective of the response time, such as `p99 <= 1 ms`.
        objective: String = need.objective.to_string(),
        /// Limit of the objective in nanoseconds.
        objective_limit_ns: Span = need.objective.limit,
        /// Required capacity in bytes.
        capacity_bytes: Bytes = need.capacity,
        /// Descriptions of the streams.
        streams: Vec<String> = need.streams.iter().map(words::stream).collect(),
    }

    /// A configuration with its simulated figures.
    struct Candidate from (need, one): (&Need, &SuitableOffer) {
        #[serde(flatten)]
        offer: offer::OfferView = (&one.offer).into(),
        /// Shape of the machine; null without a machine.
        machine: Option<MachineShape> = one.offer.machine_shape(),
        /// List price; null if there is none.
        price: Option<offer::PriceView> = view(one.price.as_ref()),
        /// Name of the lowest limit; null if there is none.
        binds: Option<String> = one.binds.as_ref().map(|(name, _)| name.clone()),
        /// Operations per second that the lowest limit allows; null if there is none.
        ceiling_iops: Option<f64> = one.binds.as_ref().map(|(_, iops)| *iops),
        /// Ratio of the lowest limit to the needed rate; null if there is none.
        ceiling_over_need: Option<f64> = one.binds.as_ref().and_then(|(_, iops)| finite(iops / need.iops)),
        /// Simulated operations per second.
        simulated_iops: f64 = one.figures.iops,
        /// Simulated mean response time in nanoseconds.
        simulated_mean_ns: Option<f64> = finite(one.figures.mean_ns()),
        /// Simulated response time in nanoseconds by the measure of the objective.
        simulated_objective_ns: Span = one.reached,
    }

    /// A product with a similar curve.
    #[schemars(rename = "Resemblance")]
    struct ResemblanceView from one: &Resemblance {
        /// Configuration.
        configuration: String = one.config.to_string(),
        /// Typical factor between its throughput at a depth and the measured throughput; 1 if equal.
        factor: Option<f64> = finite(one.factor),
        /// Compared depths.
        points: Vec<ResemblancePoint> = each(&one.points),
    }

    /// Throughput at a depth.
    struct ResemblancePoint from (depth, measured, simulated): &(u32, f64, f64) {
        /// Queue depth.
        depth: u32 = *depth,
        /// Measured operations per second.
        measured_iops: f64 = *measured,
        /// Simulated operations per second.
        simulated_iops: f64 = *simulated,
    }

    /// A product that does not carry the load.
    struct RejectedProduct from one: &Rejected {
        /// The product, or its nearest configuration.
        name: String = one.name.clone(),
        /// Kind of the reason.
        kind: &'static str = words::unsuitable_id(&one.reason),
        /// Modelled or simulated operations per second, of a product that does not carry the required.
        #[serde(skip_serializing_if = "Option::is_none")]
        iops: Option<f64> = match one.reason {
            Unsuitable::Sustains { iops, .. } | Unsuitable::Completes { iops, .. } => Some(iops),
            _ => None,
        },
        /// Simulated value of the objective's measure in nanoseconds, of a product that misses it.
        #[serde(skip_serializing_if = "Option::is_none")]
        simulated_objective_ns: Option<Span> = match one.reason {
            Unsuitable::Latency { reached, .. } => Some(reached),
            _ => None,
        },
        /// Reason.
        why: String = words::unsuitable(&one.reason),
    }
}
