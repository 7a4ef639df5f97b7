//! Search for better settings by paired comparisons: a setting at a time, then settings that interact, together.
//!
//! Runs alternate between the best configuration so far and a candidate (A B B A ...), so that slow drift cancels. The
//! logarithm of the ratio of two adjacent runs is a sample of the gain, with Student's interval over the pairs. Because
//! many candidates are compared, and each at several looks, a candidate is accepted only if the interval excludes no
//! gain after widening for both numbers (Bonferroni): a search in which no candidate has an effect accepts one with a
//! probability of at most 5 %. A rejection changes nothing, and needs less evidence. Gains of accepted candidates are
//! biased upwards by the selection; the confirmation, with runs of its own, is not.

mod grid;

use std::collections::VecDeque;

use plimsoll_record::Estimate;
use plimsoll_units::Span;

use crate::student::student_quantile;
use grid::Grid;

pub use grid::{GridCell, GridResult};

/// Numbers of pairs at which a comparison may end.
const LOOKS: [usize; 3] = [4, 6, 8];
/// Pairs of the confirmation, whose number does not depend on its results.
const CONFIRMATION_PAIRS: usize = 6;
/// Joint error probability of all comparisons.
const ERROR: f64 = 0.05;

/// Names and values of settings.
pub type Configuration = Vec<(String, String)>;

/// A change of settings that may be better.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TuneCandidate {
    /// Changed settings with their values.
    pub changes: Configuration,
    /// Setting and value without which it has no effect.
    pub requires: Option<(String, String)>,
}

/// The candidates and limits of a search.
#[derive(Clone, Debug)]
pub struct TunePlan {
    /// All settings of the candidates with their present values.
    pub present: Configuration,
    /// Candidates that change a single setting, in the order of the search.
    pub single: Vec<TuneCandidate>,
    /// Candidates that change settings that interact.
    pub joint: Vec<TuneCandidate>,
    /// Configurations of the full grid that follows the search; empty for none.
    pub grid: Vec<Configuration>,
    /// Time of the search including the confirmation, without the grid.
    pub budget: Span,
    /// Smallest relevant relative gain: a candidate whose 95 % interval excludes it is abandoned.
    pub min_gain: f64,
}

/// The run to execute next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TuneRun {
    pub configuration: Configuration,
    /// Settings that differ between the compared configurations.
    pub differing: Vec<String>,
    /// Whether it is the first of its comparison.
    pub is_first: bool,
}

/// The end of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TuneOutcome {
    /// Better: part of the best configuration from then on.
    Accepted,
    /// The interval excludes a relevant gain, or the mean gain was not positive.
    NotBetter,
    /// No decision with the maximum number of pairs.
    Undecided,
    /// The search ended before the decision.
    Unfinished,
    /// The configuration could not be measured, with the reason.
    Refused(String),
}

/// A comparison of a candidate with the best configuration before it.
#[derive(Clone, Debug, PartialEq)]
pub struct TuneTrial {
    /// Changed settings with their values.
    pub changes: Configuration,
    /// The same settings with their values before.
    pub before: Configuration,
    /// Completed pairs of runs.
    pub pairs: usize,
    /// Ratio of the candidate's results to those before, with its 95 % interval, not widened; `None` without pairs.
    pub ratio: Option<Estimate>,
    pub outcome: TuneOutcome,
}

/// A comparison in progress.
#[derive(Clone, Debug)]
struct Pairing {
    before: Configuration,
    after: Configuration,
    logs: Vec<f64>,
    /// Result of the first run of the present pair.
    first: Option<f64>,
    runs: usize,
}

/// The part of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Single,
    Joint,
    Again,
    Confirmation,
    Grid,
    Ended,
}

/// A search in progress. Pure: time and results are arguments.
#[derive(Clone, Debug)]
pub struct Tuning {
    plan: TunePlan,
    best: Configuration,
    phase: Phase,
    queue: VecDeque<TuneCandidate>,
    pairing: Option<Pairing>,
    /// Compared pairs of configurations.
    compared: Vec<(Configuration, Configuration)>,
    trials: Vec<TuneTrial>,
    untried: Vec<TuneCandidate>,
    confirmed: Option<Estimate>,
    grid: Option<Grid>,
    runs: u32,
}

impl Tuning {
    /// The search from the present settings.
    pub fn new(plan: TunePlan) -> Self {
        Self {
            best: plan.present.clone(),
            phase: Phase::Single,
            queue: plan.single.clone().into(),
            pairing: None,
            compared: Vec::new(),
            trials: Vec::new(),
            untried: Vec::new(),
            confirmed: None,
            grid: None,
            runs: 0,
            plan,
        }
    }

    /// The next run, `spent` after the start of the search; `None` at its end.
    pub fn next(&mut self, spent: Span) -> Option<TuneRun> {
        let is_search = matches!(self.phase, Phase::Single | Phase::Joint | Phase::Again);
        if is_search && self.is_out_of_time(spent) {
            self.cut();
        }
        while self.pairing.is_none() {
            if let Some(grid) = self.grid.as_mut().filter(|_| self.phase == Phase::Grid) {
                return grid.next();
            }
            self.advance()?;
        }
        let pairing = self.pairing.as_ref()?;
        // A B B A: the order of the sides changes with each pair.
        let is_before = pairing.logs.len().is_multiple_of(2) == pairing.first.is_none();
        let differing = pairing.before.iter().zip(&pairing.after).filter(|(before, after)| before != after);
        Some(TuneRun {
            configuration: if is_before { pairing.before.clone() } else { pairing.after.clone() },
            differing: differing.map(|(before, _)| before.0.clone()).collect(),
            is_first: pairing.runs == 0,
        })
    }

    /// Takes the result of the last run, which is better if higher, and above zero.
    pub fn observe(&mut self, value: f64) {
        let Some(pairing) = &mut self.pairing else {
            return self.grid.as_mut().map_or((), |grid| grid.observe(value));
        };
        self.runs += 1;
        pairing.runs += 1;
        let Some(first) = pairing.first.take() else {
            pairing.first = Some(value);
            return;
        };
        let direction = if pairing.logs.len().is_multiple_of(2) { 1.0 } else { -1.0 };
        pairing.logs.push(direction * (value / first).ln());
        if self.phase == Phase::Confirmation {
            self.confirm();
        } else if let Some(outcome) = self.decide() {
            self.end_trial(outcome);
        }
    }

    /// Ends the present comparison, of which a run could not be measured.
    pub fn refuse(&mut self, why: String) {
        if let Some(grid) = &mut self.grid {
            grid.refuse();
        } else if self.phase == Phase::Confirmation {
            self.pairing = None;
        } else {
            self.end_trial(TuneOutcome::Refused(why));
        }
    }

    /// The best configuration so far.
    pub fn best(&self) -> &Configuration {
        &self.best
    }

    /// The settings before the search.
    pub fn present(&self) -> &Configuration {
        &self.plan.present
    }

    /// All ended comparisons, and the present one as unfinished.
    pub fn trials(&self) -> Vec<TuneTrial> {
        let present = self.pairing.as_ref().filter(|_| self.phase != Phase::Confirmation);
        let present = present.map(|pairing| pairing.trial(TuneOutcome::Unfinished));
        self.trials.iter().cloned().chain(present).collect()
    }

    /// Candidates for which there was no time.
    pub fn untried(&self) -> &[TuneCandidate] {
        &self.untried
    }

    /// Ratio of the best configuration's results to those of the present settings, from runs after the search.
    pub fn confirmed(&self) -> Option<Estimate> {
        self.confirmed
    }

    /// The full grid in relation to the best configuration; `None` without a grid, or before two rounds of it.
    pub fn grid(&self) -> Option<GridResult> {
        self.grid.as_ref()?.result()
    }

    /// Number of comparisons for which acceptance is corrected.
    pub fn comparisons(&self) -> usize {
        2 * self.plan.single.len() + self.plan.joint.len()
    }

    /// Estimate of the remaining runs, for progress.
    pub fn remaining_runs(&self) -> usize {
        let present = self.pairing.as_ref().map_or(0, |pairing| (2 * LOOKS[1]).saturating_sub(pairing.runs));
        let later = if self.phase == Phase::Single { self.plan.joint.len() } else { 0 };
        if let Some(grid) = &self.grid {
            return grid.remaining_runs();
        }
        let confirmation = if self.phase == Phase::Ended { 0 } else { 2 * CONFIRMATION_PAIRS };
        let grid = Grid::new(self.plan.grid.clone(), &self.best).remaining_runs();
        let grid = if self.plan.grid.is_empty() { 0 } else { grid };
        present + (self.queue.len() + later) * 2 * LOOKS[0] + confirmation + grid
    }

    /// Whether a further pair and the confirmation would exceed the budget, by the mean time of a run so far.
    fn is_out_of_time(&self, spent: Span) -> bool {
        let confirmation = if self.best == self.plan.present { 0 } else { 2 * CONFIRMATION_PAIRS };
        let run = spent.as_secs_f64() / f64::from(self.runs.max(1));
        let needed = if self.runs == 0 { 0.0 } else { run * (2 + confirmation) as f64 };
        spent.as_secs_f64() + needed > self.plan.budget.as_secs_f64()
    }

    /// Ends the search because of its time.
    fn cut(&mut self) {
        if let Some(pairing) = self.pairing.take() {
            self.trials.push(pairing.trial(TuneOutcome::Unfinished));
        }
        self.untried = self.queue.drain(..).collect();
        if self.phase == Phase::Single {
            self.untried.extend(self.plan.joint.iter().cloned());
        }
        self.phase = Phase::Again;
    }

    /// Begins the next comparison or the next phase. `None` at the end.
    fn advance(&mut self) -> Option<()> {
        if let Some(candidate) = self.queue.pop_front() {
            self.begin(&candidate);
            return Some(());
        }
        let has_accepted = self.best != self.plan.present;
        self.phase = match self.phase {
            Phase::Single => Phase::Joint,
            Phase::Joint if has_accepted => Phase::Again,
            Phase::Joint | Phase::Again if has_accepted => Phase::Confirmation,
            Phase::Grid | Phase::Ended => Phase::Ended,
            _ if self.plan.grid.is_empty() => Phase::Ended,
            _ => Phase::Grid,
        };
        match self.phase {
            Phase::Joint => self.queue = self.plan.joint.clone().into(),
            Phase::Again => self.queue = self.plan.single.clone().into(),
            Phase::Confirmation => {
                self.pairing = Some(Pairing::new(self.plan.present.clone(), self.best.clone()));
            }
            Phase::Grid => self.grid = Some(Grid::new(self.plan.grid.clone(), &self.best)),
            Phase::Single | Phase::Ended => return None,
        }
        Some(())
    }

    /// Begins the comparison of a candidate, unless it was compared before or has no effect.
    fn begin(&mut self, candidate: &TuneCandidate) {
        let mut after = self.best.clone();
        for (name, value) in &candidate.changes {
            if let Some(setting) = after.iter_mut().find(|setting| setting.0 == *name) {
                setting.1.clone_from(value);
            }
        }
        let both = (self.best.clone(), after.clone());
        let is_effective = candidate.requires.as_ref().is_none_or(|required| after.contains(required));
        // A joint candidate of which a part is set already has been compared as a single candidate.
        let differing = self.best.iter().zip(&after).filter(|(before, after)| before != after).count();
        let is_new = differing > 0 && !self.compared.contains(&both);
        if is_effective && is_new {
            self.compared.push(both.clone());
            self.pairing = Some(Pairing::new(both.0, both.1));
        }
    }

    fn end_trial(&mut self, outcome: TuneOutcome) {
        let Some(pairing) = self.pairing.take() else { return };
        if outcome == TuneOutcome::Accepted {
            self.best.clone_from(&pairing.after);
        }
        self.trials.push(pairing.trial(outcome));
    }

    /// The end of the present comparison, if it is decided.
    fn decide(&self) -> Option<TuneOutcome> {
        let pairing = self.pairing.as_ref()?;
        if !LOOKS.contains(&pairing.logs.len()) {
            return None;
        }
        let (mean, error) = mean_and_error(&pairing.logs);
        let degrees = pairing.logs.len() - 1;
        let joint = ERROR / 2.0 / (self.comparisons().max(1) * LOOKS.len()) as f64;
        if mean - student_quantile(degrees, joint) * error > 0.0 {
            return Some(TuneOutcome::Accepted);
        }
        let high = mean + student_quantile(degrees, ERROR / 2.0) * error;
        if mean <= 0.0 || high < self.plan.min_gain.ln_1p() {
            return Some(TuneOutcome::NotBetter);
        }
        (pairing.logs.len() == LOOKS[LOOKS.len() - 1]).then_some(TuneOutcome::Undecided)
    }

    fn confirm(&mut self) {
        if let Some(pairing) = self.pairing.take_if(|pairing| pairing.logs.len() >= CONFIRMATION_PAIRS) {
            self.confirmed = pairing.ratio();
        }
    }
}

impl Pairing {
    const fn new(before: Configuration, after: Configuration) -> Self {
        Self { before, after, logs: Vec::new(), first: None, runs: 0 }
    }

    fn ratio(&self) -> Option<Estimate> {
        if self.logs.is_empty() {
            return None;
        }
        let (mean, error) = mean_and_error(&self.logs);
        let interval = (self.logs.len() > 1).then(|| {
            let half = student_quantile(self.logs.len() - 1, ERROR / 2.0) * error;
            ((mean - half).exp(), (mean + half).exp())
        });
        Some(Estimate { value: mean.exp(), interval })
    }

    fn trial(&self, outcome: TuneOutcome) -> TuneTrial {
        let both = self.before.iter().zip(&self.after).filter(|(before, after)| before != after);
        let (before, changes) = both.map(|(before, after)| (before.clone(), after.clone())).unzip();
        TuneTrial { changes, before, pairs: self.logs.len(), ratio: self.ratio(), outcome }
    }
}

fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0).max(1.0) / count).sqrt())
}
