//! A trial of the program.

use super::each;
use crate::pages::{LevelRate, LevelTrial, Trial};
use crate::words;

view! {
    /// A trial of the program: a simulation, a diagnosis with a sizing, and a level change of an emulated volume.
    struct TrialResult from trial: &Trial<'_> {
        /// Name and version of this format.
        #[schemars(extend("const" = "plimsoll.trial/1"))]
        format: &'static str = "plimsoll.trial/1",
        /// The simulated configuration.
        simulated: String = trial.curve.subject.name.clone(),
        /// Its load line in operations per second; null if there is none.
        load_line_iops: Option<f64> = trial.curve.load_line.and_then(|line| line.iops()).map(|iops| iops.value),
        /// Verdicts on the sample report, a sentence each.
        diagnosis: Vec<String> =
            trial.diagnosis.verdicts.iter().map(|verdict| words::diagnosis::verdict_text(verdict).text).collect(),
        /// Monthly price of the best configuration for the sample report; null if none carries it.
        monthly: Option<String> = trial.sizing.best_total().map(|sum| sum.to_string()),
        /// Rates of the emulated volume before and after the change of its level; empty if no volume was emulated.
        levels: Vec<LevelResult> = each(&trial.change.as_ref().map(levels).unwrap_or_default()),
        /// The reason why no volume was emulated; null if there is none.
        not_emulated: Option<String> = trial.change.as_ref().err().cloned(),
        /// Duration of the trial in nanoseconds.
        elapsed_ns: u64 = trial.elapsed.as_nanos(),
    }

    /// The rate of an emulated volume at a level.
    struct LevelResult from level: &LevelRow {
        /// The configuration.
        configuration: &'static str = level.0,
        /// Completed operations per second.
        iops: f64 = level.1.iops,
        /// Operations per second that the product sustains; null if unlimited.
        limit_iops: Option<f64> = level.2,
        /// The volume followed its model.
        faithful: bool = level.1.is_faithful,
    }
}

type LevelRow = (&'static str, LevelRate, Option<f64>);

fn levels(change: &LevelTrial) -> Vec<LevelRow> {
    let LevelTrial { configurations, rates, limits } = change;
    (0..configurations.len()).map(|index| (configurations[index], rates[index], limits[index])).collect()
}
