//! Measured and theoretical figures.

use plimsoll_catalogue::MachineShape;
use plimsoll_choose::{Cause, Explanation, LoadComparison};
use plimsoll_load::Pace;

use super::{each, finite, offer};
use crate::words;

view! {
    /// A measured curve and the theoretical figures of a configuration.
    struct ExplanationResult from explanation: &Explanation {
        /// Name and version of this format.
        #[schemars(extend("const" = "plimsoll.explanation/1"))]
        format: &'static str = "plimsoll.explanation/1",
        #[serde(flatten)]
        offer: offer::OfferView = (&explanation.offer).into(),
        /// Shape of the machine; null without a machine.
        machine: Option<MachineShape> = explanation.offer.machine_shape(),
        #[serde(flatten)]
        standing: offer::StandingView = (&explanation.offer, &explanation.standing).into(),
        /// Quantities of the load outside of those that the model was fitted to; null within, or for other models.
        extrapolated: Option<String> = explanation.extrapolated.clone(),
        /// Figures of each offered load.
        loads: Vec<ComparedLoad> = each(&explanation.rows),
        /// Likely causes of the differences, largest first.
        causes: Vec<CauseView> = each(&explanation.causes),
    }

    /// Measured and theoretical figures of an offered load.
    struct ComparedLoad from row: &LoadComparison {
        /// Queue depth of a closed load; absent for an open load.
        #[serde(skip_serializing_if = "Option::is_none")]
        offered_depth: Option<u32> = match row.offered {
            Pace::Closed { depth } => Some(depth),
            Pace::Open { .. } => None,
        },
        /// Arrivals per second of an open load; absent for a closed load.
        #[serde(skip_serializing_if = "Option::is_none")]
        offered_iops: Option<f64> = match row.offered {
            Pace::Closed { .. } => None,
            Pace::Open { rate, .. } => Some(rate.as_f64()),
        },
        /// Measured operations per second.
        measured_iops: f64 = row.iops.0,
        /// Simulated operations per second.
        theory_iops: f64 = row.iops.1,
        /// Measured over simulated throughput; of an open load, simulated over measured mean response time.
        ratio: Option<f64> = finite(row.ratio()),
        /// Measured mean response time in nanoseconds; null if nothing was measured.
        measured_mean_ns: Option<f64> = finite(row.mean_ns.0),
        /// Simulated mean response time in nanoseconds.
        theory_mean_ns: Option<f64> = finite(row.mean_ns.1),
        /// Measured 99th percentile of the response time in nanoseconds; null if nothing was measured.
        measured_p99_ns: Option<f64> = finite(row.p99_ns.0),
        /// Simulated 99th percentile of the response time in nanoseconds.
        theory_p99_ns: Option<f64> = finite(row.p99_ns.1),
        /// The run had used up the product's burst credits, as the simulated product has.
        credits_used_up: bool = !row.credits.used_up.is_empty(),
        /// Limit that holds the simulated figures; null if there is none.
        theory_binds: Option<String> = row.binds.clone(),
    }

    /// A likely cause of a difference.
    #[schemars(rename = "Cause")]
    struct CauseView from cause: &Cause {
        #[serde(flatten)]
        cause: Cause = cause.clone(),
        /// The difference, in a few words.
        what: String = words::difference(cause),
        /// The likely cause.
        why: String = words::cause(cause),
    }
}
