//! The load line, or a figure of a named load, of a series of runs over time.

use plimsoll_record::{Estimate, LoadLine};

use super::{each, view};
use crate::pages::{HistoryRun, RunHistory};

view! {
    /// A figure of runs of the same load on a target, in chronological order, with its changes.
    struct History from history: &RunHistory {
        /// Name and version of this format.
        #[schemars(extend("const" = "plimsoll.history/2"))]
        format: &'static str = "plimsoll.history/2",
        /// The target.
        target: String = history.target.clone(),
        /// The compared figure, such as `load line` or `p99 at 1,000 IOPS, Poisson`.
        compared: String = history.compared(),
        /// Objective of the load lines, such as `p99 <= 1 ms`; null for the figure of a named load.
        objective: Option<String> = history.objective.map(|objective| objective.to_string()),
        /// The runs.
        runs: Vec<HistoryEntry> = each(&history.runs),
    }

    /// A run of the series.
    struct HistoryEntry from run: &HistoryRun {
        /// Name that commands accept.
        name: String = run.name.clone(),
        /// The day of its start, in UTC; empty if unknown.
        day: String = run.day.clone(),
        /// The load line; null if the run has none, or another figure is compared.
        load_line: Option<LoadLine> = run.line,
        /// The compared figure in operations per second, or nanoseconds of a response time; null if the run does not have
        /// it with an interval.
        figure: Option<Estimate> = run.value.map(|value| value.estimate),
        /// The load exceeded the maximum of the storage: the response time is at least the figure.
        is_overloaded: bool = run.value.is_some_and(|value| value.is_overloaded),
        /// The change that begins with this run: of the runs from it to the next change against those since the previous
        /// one; null if there is none.
        change: Option<HistoryChange> = view(run.change.as_ref()),
    }

    /// A change of the figure.
    struct HistoryChange from change: &plimsoll_analyse::SeriesChange {
        /// Numbers of runs before and after.
        counts: [usize; 2] = change.counts,
        /// Geometric mean of the figure before.
        a: f64 = change.a,
        /// Geometric mean of the figure after.
        b: f64 = change.b,
        /// `b / a` with its 95 % interval.
        ratio: Estimate = change.ratio,
        /// More operations per second, or shorter response times.
        is_better: bool = change.is_better,
    }
}
