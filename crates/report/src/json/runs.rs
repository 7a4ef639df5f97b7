//! Kept runs.

use super::each;
use crate::pages::KeptRun;

view! {
    /// Kept runs, latest first.
    struct Runs from runs: &[KeptRun] {
        /// Name and version of this format.
        #[schemars(extend("const" = "plimsoll.runs/1"))]
        format: &'static str = "plimsoll.runs/1",
        /// The runs.
        runs: Vec<Run> = each(runs),
    }

    /// A kept run.
    struct Run from run: &KeptRun {
        /// Name that commands accept.
        name: String = run.name.clone(),
        /// The result in a sentence: a load line, or the reason why there is none.
        result: String = run.result.clone(),
        /// The load line in operations per second; null if there is none.
        load_line_iops: Option<f64> = run.iops,
        /// Objective of the load line, such as `p99 <= 1 ms`; null if there is none.
        objective: Option<String> = run.objective.map(|objective| objective.to_string()),
    }
}
