//! What the counts of a run mean: steady state, intervals, the knee, the load line, what to measure next, whether two
//! curves differ, and which model would have given them.
//!
//! Knows nothing about where the counts came from. Pure: it reads no clock, file or environment and starts no
//! thread; the same runs give the same answer everywhere.

mod batch;
pub mod closed;
mod compare;
mod drift;
mod fit;
pub mod interval;
mod knee;
mod load_line;
mod overload;
mod precision;
mod ranks;
mod rate_drop;
mod standing;
mod steady;
mod sweep;
mod warm_up;

pub use compare::{Change, Comparison, Difference, Quantity, Verdict, compare};
pub use fit::{Alternative, Fitted, Misfit, NotFitted, Parameter, fit};
pub use knee::knee;
pub use load_line::{chosen_objective, ladder, load_line};
pub use precision::{Precision, tight_enough};
pub use steady::{Settle, Settled, settle, settle_recorded};
pub use sweep::{Point, Purpose, Sweep, SweepPlan};
