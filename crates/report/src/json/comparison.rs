//! Comparisons of runs, and fitted models.

use plimsoll_analyse::{Comparison, Fitted};
use plimsoll_record::Curve;

use crate::findings::list_doubts;

view! {
    /// A comparison of runs: the second side with the first.
    struct ComparisonResult from (names, comparison, curves): ([&[String]; 2], &Comparison, &[Curve]) {
        /// Name and version of this format.
        #[schemars(extend("const" = "plimsoll.comparison/2"))]
        format: &'static str = "plimsoll.comparison/2",
        /// Runs of the first side: paths as given, or names of kept runs.
        first: Vec<String> = names[0].to_vec(),
        /// Runs of the second side.
        second: Vec<String> = names[1].to_vec(),
        /// Findings of the runs that limit the verdict, each with the names of its runs, gravest first.
        doubts: Vec<String> = list_doubts(curves.iter(), &names.concat()),
        #[serde(flatten)]
        comparison: Comparison = comparison.clone(),
    }

    /// A model fitted to runs.
    struct FitResult from fitted: &Fitted {
        /// Name and version of this format.
        #[schemars(extend("const" = "plimsoll.fit/2"))]
        format: &'static str = "plimsoll.fit/2",
        #[serde(flatten)]
        fitted: Fitted = fitted.clone(),
    }
}
