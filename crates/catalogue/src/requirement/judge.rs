//! Verdicts on conditions from the figures of one or more runs.

use super::{RequiredFigure, RequiredUnit, Requirement, RequirementCondition, TimeStatistic};

/// Operations behind a figure, and beyond a percentile, below which it decides nothing.
const OPERATIONS_MIN: f64 = 100.0;
/// Distance from the bound, relative to it, within which a single run decides nothing.
const NEAR: f64 = 0.1;
/// Share of the bound from which a rate meets it: a run includes its start and its end, so that storage with a limit of
/// 3,000 IOPS completes slightly less.
const RATE_SHARE: f64 = 0.99;

/// Runs of the jobs at most.
const RUNS_MAX: usize = 3;

/// The figure of a condition in a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObservedFigure {
    /// In the unit of the condition.
    pub value: f64,
    /// Operations that it was computed from.
    pub operations: u64,
}

/// Whether a condition is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequirementVerdict {
    /// It is.
    Met,
    /// It is not.
    Failed,
    /// The runs do not tell.
    Undecided(Undecided),
}

/// Why a condition is undecided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undecided {
    /// A run ended before its jobs were done.
    EndedEarly,
    /// The figures do not describe storage, such as those of a file system in memory.
    Invalid,
    /// Its jobs had no such operations.
    NoOperations,
    /// The figure was computed from fewer than 100 operations, or a percentile has fewer beyond it.
    FewOperations {
        /// Operations behind the figure, or beyond the percentile, rounded down.
        count: u64,
    },
    /// It is met in some runs, and not in others.
    RunsDiffer,
}

/// A condition with its figures and its verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedCondition<'a> {
    /// The condition.
    pub condition: &'a RequirementCondition,
    /// Its figure in each run; `None` without such operations.
    pub observed: Vec<Option<ObservedFigure>>,
    /// The verdict.
    pub verdict: RequirementVerdict,
}

/// Validity of runs as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunValidity {
    /// All runs were complete.
    Valid,
    /// A run was incomplete.
    EndedEarly,
    /// A finding voids the figures.
    Void,
}

/// Judges the conditions of a requirement by the figures of each run.
pub fn judge_all<'a>(
    requirement: &'a Requirement,
    runs: &[Vec<Option<ObservedFigure>>],
    validity: RunValidity,
) -> Vec<JudgedCondition<'a>> {
    let judged = |(index, condition): (usize, &'a RequirementCondition)| {
        let observed: Vec<_> = runs.iter().map(|run| run.get(index).copied().flatten()).collect();
        JudgedCondition { condition, verdict: condition.judge(&observed, validity), observed }
    };
    requirement.conditions.iter().enumerate().map(judged).collect()
}

/// True if the runs so far decide too little: a figure is within 10 % of its bound, and there were fewer than three runs.
pub fn needs_another_run(judged: &[JudgedCondition<'_>]) -> bool {
    judged.iter().any(|judged| judged.observed.len() < RUNS_MAX && judged.is_close())
}

impl RequirementCondition {
    fn judge(&self, observed: &[Option<ObservedFigure>], validity: RunValidity) -> RequirementVerdict {
        match validity {
            RunValidity::EndedEarly => return RequirementVerdict::Undecided(Undecided::EndedEarly),
            RunValidity::Void => return RequirementVerdict::Undecided(Undecided::Invalid),
            RunValidity::Valid => {}
        }
        let Some(figures) = observed.iter().copied().collect::<Option<Vec<_>>>() else {
            return RequirementVerdict::Undecided(Undecided::NoOperations);
        };
        let fewest = figures.iter().map(|figure| self.count_deciding(figure.operations)).fold(f64::MAX, f64::min);
        if fewest < OPERATIONS_MIN {
            return RequirementVerdict::Undecided(Undecided::FewOperations { count: fewest as u64 });
        }
        let met = figures.iter().filter(|figure| self.is_met_by(figure.value)).count();
        match met {
            0 => RequirementVerdict::Failed,
            met if met == figures.len() => RequirementVerdict::Met,
            _ => RequirementVerdict::Undecided(Undecided::RunsDiffer),
        }
    }

    /// Operations beyond a percentile, or all.
    fn count_deciding(&self, operations: u64) -> f64 {
        match self.figure {
            RequiredFigure::Time(_, TimeStatistic::Percentile(thousandths)) => {
                operations as f64 * (1.0 - f64::from(thousandths) / 1e5)
            }
            _ => operations as f64,
        }
    }

    fn is_met_by(&self, value: f64) -> bool {
        match self.figure.unit() {
            RequiredUnit::Nanoseconds => value <= self.bound as f64,
            RequiredUnit::Iops | RequiredUnit::BytesPerSecond => value >= self.bound as f64 * RATE_SHARE,
        }
    }
}

impl JudgedCondition<'_> {
    /// True if it is decided by a figure near its bound.
    fn is_close(&self) -> bool {
        let is_near = |figure: &ObservedFigure| (figure.value / self.condition.bound as f64 - 1.0).abs() <= NEAR;
        let is_judged = matches!(self.verdict, RequirementVerdict::Met | RequirementVerdict::Failed);
        is_judged && self.observed.iter().flatten().any(is_near)
    }

    /// The median of the runs, the worse of two middle runs; `None` without a figure.
    pub fn median(&self) -> Option<ObservedFigure> {
        let mut figures: Vec<ObservedFigure> = self.observed.iter().flatten().copied().collect();
        figures.sort_by(|a, b| a.value.total_cmp(&b.value));
        let is_time = self.condition.figure.unit() == RequiredUnit::Nanoseconds;
        let middle = if is_time { figures.len() / 2 } else { figures.len().saturating_sub(1) / 2 };
        figures.get(middle).copied()
    }

    /// True if it is met by a rate slightly below its bound, at least 99 % of it.
    pub fn is_met_below_bound(&self) -> bool {
        let is_rate = self.condition.figure.unit() != RequiredUnit::Nanoseconds;
        is_rate && self.verdict == RequirementVerdict::Met && self.ratio().is_some_and(|ratio| ratio < 1.0)
    }

    /// The median relative to the bound; `None` without a figure.
    pub fn ratio(&self) -> Option<f64> {
        self.median().map(|figure| figure.value / self.condition.bound as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_requirement;

    const TEXT: &str = "title = 'x'\nabout = 'y'\njobs = '[j]'\nsource = 's'\ndate = 'undated'\nstatus = 'own'\n\
        [[condition]]\nfigure = 'FIGURE'\nBOUND\nsource = 's'\ndate = 'undated'\nstatus = 'own'\n\
        [sources.s]\ntitle = 's'\n";

    /// The verdict on runs with these values and numbers of operations.
    #[track_caller]
    fn check(figure: &str, bound: &str, runs: &[(f64, u64)], expected: RequirementVerdict, is_close: bool) {
        let text = TEXT.replace("FIGURE", figure).replace("BOUND", bound);
        let requirement = parse_requirement("x.toml", &text).unwrap();
        let observed = |&(value, operations): &(f64, u64)| vec![Some(ObservedFigure { value, operations })];
        let runs: Vec<_> = runs.iter().map(observed).collect();
        let judged = judge_all(&requirement, &runs, RunValidity::Valid);
        assert_eq!((judged[0].verdict, judged[0].is_close()), (expected, is_close), "{figure} {runs:?}");
        for (validity, why) in
            [(RunValidity::EndedEarly, Undecided::EndedEarly), (RunValidity::Void, Undecided::Invalid)]
        {
            let judged = judge_all(&requirement, &runs, validity);
            assert_eq!(judged[0].verdict, RequirementVerdict::Undecided(why));
        }
    }

    #[test]
    fn times_have_a_maximum_and_rates_a_minimum() {
        use RequirementVerdict::{Failed, Met};
        check("sync p99", "at_most = '10ms'", &[(2e6, 10_029)], Met, false);
        check("sync p99", "at_most = '10ms'", &[(20e6, 10_029)], Failed, false);
        check("iops", "at_least = 3000", &[(5_000.0, 10_000)], Met, false);
        check("iops", "at_least = 3000", &[(2_000.0, 10_000)], Failed, false);
        check("write bandwidth", "at_least = '75MB/s'", &[(100e6, 10_000)], Met, false);
    }

    #[test]
    fn figures_near_the_bound_need_more_runs() {
        use RequirementVerdict::{Failed, Met};
        let differ = RequirementVerdict::Undecided(Undecided::RunsDiffer);
        check("iops", "at_least = 3000", &[(3_100.0, 10_000)], Met, true);
        check("iops", "at_least = 3000", &[(2_900.0, 10_000); 3], Failed, true);
        check("iops", "at_least = 3000", &[(2_900.0, 10_000), (3_100.0, 10_000), (3_200.0, 10_000)], differ, false);
    }

    #[test]
    fn rate_meets_its_bound_from_99_percent_on() {
        use RequirementVerdict::{Failed, Met};
        check("iops", "at_least = 3000", &[(2_971.0, 90_000); 3], Met, true);
        check("iops", "at_least = 3000", &[(2_969.0, 90_000); 3], Failed, true);
        check("sync p99", "at_most = '10ms'", &[(10.05e6, 90_000); 3], Failed, true);
    }

    #[test]
    fn few_operations_decide_nothing() {
        let few = |count| RequirementVerdict::Undecided(Undecided::FewOperations { count });
        check("sync p99", "at_most = '10ms'", &[(2e6, 9_000)], few(90), false);
        check("sync p99.9", "at_most = '10ms'", &[(2e6, 10_029)], few(10), false);
        check("sync mean", "at_most = '10ms'", &[(2e6, 99)], few(99), false);
        check("sync mean", "at_most = '10ms'", &[(2e6, 100)], RequirementVerdict::Met, false);
    }

    #[test]
    fn absent_figure_is_undecided() {
        let text = TEXT.replace("FIGURE", "read mean").replace("BOUND", "at_most = '1ms'");
        let requirement = parse_requirement("x.toml", &text).unwrap();
        let judged = judge_all(&requirement, &[vec![None]], RunValidity::Valid);
        assert_eq!(judged[0].verdict, RequirementVerdict::Undecided(Undecided::NoOperations));
        assert_eq!((judged[0].median(), judged[0].ratio()), (None, None));
    }

    #[test]
    fn median_of_two_runs_is_the_worse() {
        let text = TEXT.replace("FIGURE", "read mean").replace("BOUND", "at_most = '1ms'");
        let requirement = parse_requirement("x.toml", &text).unwrap();
        let run = |value| vec![Some(ObservedFigure { value, operations: 1_000 })];
        let judged = judge_all(&requirement, &[run(1e5), run(2e5)], RunValidity::Valid);
        assert_eq!(judged[0].ratio(), Some(0.2));
    }
}
