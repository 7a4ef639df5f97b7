//! Statistics of runs: steady state, intervals, the knee, the load line, sweeps, comparison of curves, and fitting of
//! models.
//!
//! Independent of the origin of runs. Pure: reads no clock, file or environment and starts no thread; the same runs
//! give the same result everywhere.

mod batch;
mod by_load;
pub mod closed;
mod compare;
mod described;
mod drift;
mod estimate;
mod fit;
mod history;
pub mod interval;
mod knee;
mod load_line;
mod overload;
mod precision;
mod ranks;
mod rate_drop;
mod standing;
mod steady;
mod student;
mod sweep;
mod tune;
mod verdict;
mod warm_up;

pub use batch::median;
pub use by_load::{by_load, order};
pub use compare::{
    Change, Comparison, Difference, Incomparable, LineComparison, LineHistory, Method, Quantity, Verdict, compare,
    compare_interleaved, compare_lines, compare_sides, compare_turns, different_load,
};
pub use estimate::{
    Estimated, LADDER, OBJECTIVES_BEYOND, RUNG_LN, closed_line, estimate, estimate_of_model, fitted_curve,
    headline_objective, ladder_objectives, rung, rung_load,
};
pub use fit::{
    Alternative, CountedLatencies, FitDoubt, Fitted, FittedRange, Identification, Misfit, NotCalibrated, NotFitted,
    Parameter, StatedLimits, VolumeLatencies, calibrate, fit,
};
pub use history::{MIN_SERIES, SeriesChange, SeriesFigure, SeriesValue, find_changes};
pub use knee::{accept_drift_beyond, is_saturated, knee, reached_knee};
pub use load_line::{chosen_objective, judged, ladder, load_line};
pub use precision::{Precision, tight_enough};
pub use steady::{Settle, Settled, mean_rate, settle, settle_recorded, settle_slot, total_span};
pub use sweep::{Purpose, SlotPlan, Sweep, SweepPlan, SweepPoint};
pub use tune::{Configuration, GridCell, GridResult, TuneCandidate, TuneOutcome, TunePlan, TuneRun, TuneTrial, Tuning};
pub use verdict::{default_objective, judge, share_objective};
