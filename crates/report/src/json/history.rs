//! The load line of a series of runs over time.

use plimsoll_record::{LoadLine, Objective};

use super::each;
use crate::pages::HistoryRun;

view! {
    /// The load line of runs of the same load on a target, in chronological order, with its changes.
    struct History from history: (&str, Objective, &[HistoryRun]) {
        /// Name and version of this format.
        #[schemars(extend("const" = "plimsoll.history/1"))]
        format: &'static str = "plimsoll.history/1",
        /// The target.
        target: String = history.0.to_owned(),
        /// Objective of the load lines, such as `p99 <= 1 ms`.
        objective: String = history.1.to_string(),
        /// The runs.
        runs: Vec<HistoryEntry> = each(history.2),
    }

    /// A run of the series.
    struct HistoryEntry from run: &HistoryRun {
        /// Name that commands accept.
        name: String = run.name.clone(),
        /// The day of its start, in UTC; empty if unknown.
        day: String = run.day.clone(),
        /// The load line; null if the run has none.
        load_line: Option<LoadLine> = run.line,
        /// The change that begins with this run: the ratio of the load lines of the runs from it to the next change, to
        /// those since the previous one; null if there is none.
        change: Option<plimsoll_analyse::LineComparison> = run.change.map(|change| change.lines),
    }
}
