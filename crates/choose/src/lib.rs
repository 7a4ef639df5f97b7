//! Which storage carries a load: what a configuration gives and costs, what lifting its limit costs, which products
//! carry what was measured or what a demand asks for, and how measured figures stand beside theory.
//!
//! Knows no product: those are the catalogue's. Pure: reads no clock, file or environment.

mod asked;
mod candidate;
mod climb;
pub mod diagnosis;
mod explain;
pub mod hours;
mod lift;
mod matching;
mod need;
mod quote;
mod resemble;
pub mod sizing;
mod trial;
pub mod what_if;

pub use explain::{Cause, Explanation, Row, explain};
pub use lift::Lift;
pub use matching::{Carries, Matches, Rejected, matching};
pub use need::{Need, ask_of};
pub use quote::{Quote, quote};
pub use resemble::{Resemblance, resembling};
pub use trial::{Figures, trial};
