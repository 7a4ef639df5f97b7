//! Reasons why runs cannot be compared: data, with their sentences.

use plimsoll_record::Objective;
use schemars::JsonSchema;
use serde::Serialize;

use crate::described::describe_figures;

/// The reason why runs cannot be compared.
#[rustfmt::skip]
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind", content = "figures")]
#[schemars(transform = describe_figures)]
pub enum Incomparable {
    #[error("a run of {0} failed: measure again to the end")] Failed(String),
    #[error("a run of {0} was interrupted: measure again to the end")] Interrupted(String),
    #[error("a side has runs of named loads and others: measure all with the same --depth and --rate")] NamedLoads,
    #[error("their loads differ ({0}): measure both with the same flags, --size among them")] Loads(String),
    #[error("their objectives differ ({0} and {1}): measure both with the same --objective")]
    Objectives(Objective, Objective),
    #[error("the first run has no load line")] NoFirstLine,
    #[error("a run has no load line")] NoLine,
    #[error("no run has a load line")] NoLines,
    #[error("response times scatter too much for a load line")] Scatter,
    #[error("the objective was met by neither")] MetByNeither,
    #[error("the objective was still met at the highest load of both")] MetByBoth,
    #[error("no load was offered to both, or too little was measured")] NoCommonLoad,
    #[error("too little was measured for an interval")] NoInterval,
    #[error("two runs do not show how much runs vary: give one run, or at least three, on each side")] TwoRuns,
    #[error("a run gives its load line without an interval: measure without --depth and --rate")] LineWithoutInterval,
    #[error("a run met {0} at its highest load: add load, or set a shorter --objective")] Met(Objective),
    #[error("a run missed {0} even at its lightest load")] Missed(Objective),
    #[error("response times of a run scatter too much for a load line")] ScatterOfRun,
    #[error("the generator of a run was too late to judge {0}")] GeneratorOfRun(Objective),
    #[error("the generator of a run was too late at a load: measure on a quieter host, or a lower --rate")] LateGenerator,
    #[error("only a factor of {factor:.1} would be detected: measure longer, or at least three times on each side")]
    Resolution { factor: f64 },
    #[error("no load that a run held met {0} to the end")] NotLasting(Objective),
    #[error("{passes} passes of both are too few: add --duration {duration_s:.0}s")]
    Passes { passes: usize, duration_s: f64 },
    #[error("the generator was too late to judge {0}")] Generator(Objective),
    #[error("{0} was met at all loads, or at none, on one side")] OneSide(Objective),
    #[error("response times scatter too much: only a factor of {factor:.1} would be detected, add --duration \
        {duration_s:.0}s")] ScatterOfPasses { factor: f64, duration_s: f64 },
}
