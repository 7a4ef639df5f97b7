//! Selection of storage for a load: performance and price of a configuration, the cost of lifting its limit, products
//! that sustain a measured load or a demand, and comparison of measurement and theory.
//!
//! Products come from the catalogue. Pure: no clock, file or environment.

mod candidate;
mod climb;
pub mod diagnosis;
pub mod elapsed;
mod explain;
mod gate;
pub mod hours;
mod lift;
mod matching;
mod need;
mod quote;
mod requirements;
mod resemble;
pub mod sizing;
mod trial;
pub mod watch;
pub mod what_if;

pub use climb::{NoConfiguration, sufficient_offers};
pub use explain::{
    AboveCeiling, CachedOperations, Cause, ConfusedUnits, CreditState, ExceededCeiling, Explanation, LoadComparison,
    explain,
};
pub use gate::{GATE_FIGURES, Gate, GateError, GateFigure, GateGap, GateOutcome, JudgedFigure, Percentile};
pub use lift::Lift;
pub use matching::{Matches, Rejected, SuitableOffer, Unsuitable, matching};
pub use need::{Need, ask_of};
pub use quote::{BillingChoice, Quote, quote};
pub use resemble::{Resemblance, resembling};
pub use trial::{Figures, OpenTrials, trial};
