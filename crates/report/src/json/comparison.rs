//! Comparisons of runs, and fitted models.

use plimsoll_analyse::{Comparison, Fitted};

view! {
    /// A comparison of runs: the second side with the first.
    struct ComparisonResult from (names, comparison): ([&[String]; 2], &Comparison) {
        /// Name and version of this format.
        #[schemars(extend("const" = "plimsoll.comparison/2"))]
        format: &'static str = "plimsoll.comparison/2",
        /// Runs of the first side: paths as given, or names of kept runs.
        first: Vec<String> = names[0].to_vec(),
        /// Runs of the second side.
        second: Vec<String> = names[1].to_vec(),
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
