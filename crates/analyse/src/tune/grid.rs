//! A full grid of configurations after a search, in relation to the settings that the search chose.
//!
//! Each round runs all configurations, in alternating order, so that slow drift cancels. A gain is the mean over the rounds of the
//! logarithm of the ratio to the chosen settings in the same round, with Student's interval.

use plimsoll_record::Estimate;

use super::{Configuration, ERROR, TuneRun, mean_and_error};
use crate::student::student_quantile;

/// Rounds of a grid.
const ROUNDS: usize = 6;

/// A grid in progress.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    cells: Vec<Cell>,
    /// Index of the chosen settings.
    chosen: usize,
    /// Number of ended runs.
    runs: usize,
}

#[derive(Clone, Debug)]
struct Cell {
    configuration: Configuration,
    /// Logarithm of the result of each round.
    logs: Vec<f64>,
    is_refused: bool,
}

/// A configuration of a grid.
#[derive(Clone, Debug, PartialEq)]
pub struct GridCell {
    pub configuration: Configuration,
    /// Ratio of its results to those of the chosen settings, with its 95 % interval; `None` if it could not be measured.
    pub ratio: Option<Estimate>,
}

/// A grid in relation to the settings that a search chose.
#[derive(Clone, Debug, PartialEq)]
pub struct GridResult {
    /// All configurations but the chosen one, the best first.
    pub cells: Vec<GridCell>,
    /// Complete rounds.
    pub rounds: usize,
    /// Ratio of the best configuration to the chosen one, with an interval that is widened for the number of configurations.
    pub best: Estimate,
}

impl Grid {
    /// A grid of these configurations, and of the chosen one.
    pub(super) fn new(mut configurations: Vec<Configuration>, chosen: &Configuration) -> Self {
        if !configurations.contains(chosen) {
            configurations.push(chosen.clone());
        }
        let index = configurations.iter().position(|configuration| configuration == chosen).unwrap_or_default();
        let cell = |configuration| Cell { configuration, logs: Vec::new(), is_refused: false };
        Self { cells: configurations.into_iter().map(cell).collect(), chosen: index, runs: 0 }
    }

    /// The index of the next configuration; `None` at the end.
    fn position(&self) -> Option<usize> {
        let (round, place) = (self.runs / self.cells.len(), self.runs % self.cells.len());
        (round < ROUNDS).then(|| if round.is_multiple_of(2) { place } else { self.cells.len() - 1 - place })
    }

    pub(super) fn next(&mut self) -> Option<TuneRun> {
        while self.position().is_some_and(|position| self.cells[position].is_refused) {
            self.runs += 1;
        }
        let configuration = self.cells[self.position()?].configuration.clone();
        let varies = |index: &usize| {
            let value = &self.cells[0].configuration[*index].1;
            self.cells.iter().any(|cell| cell.configuration[*index].1 != *value)
        };
        // The same for all runs, so that either all or none begin with a restart.
        let differing = (0..configuration.len()).filter(varies).map(|index| configuration[index].0.clone()).collect();
        Some(TuneRun { configuration, differing, is_first: self.runs == 0 })
    }

    pub(super) fn observe(&mut self, value: f64) {
        if let Some(position) = self.position() {
            self.cells[position].logs.push(value.ln());
            self.runs += 1;
        }
    }

    /// Leaves the present configuration out.
    pub(super) fn refuse(&mut self) {
        if let Some(position) = self.position() {
            self.cells[position].is_refused = true;
            self.runs += 1;
        }
    }

    pub(super) fn remaining_runs(&self) -> usize {
        (ROUNDS * self.cells.len()).saturating_sub(self.runs)
    }

    /// The result so far; `None` before two complete rounds, or without a configuration other than the chosen one.
    pub(super) fn result(&self) -> Option<GridResult> {
        let rounds = (self.runs / self.cells.len()).min(ROUNDS);
        let chosen = &self.cells[self.chosen];
        if rounds < 2 || chosen.is_refused {
            return None;
        }
        let others = self.cells.iter().enumerate().filter(|(index, _)| *index != self.chosen).map(|(_, cell)| cell);
        let differences = |cell: &Cell| -> Vec<f64> {
            cell.logs.iter().zip(&chosen.logs).take(rounds).map(|(own, chosen)| own - chosen).collect()
        };
        let estimate = |logs: &[f64], error_probability: f64| {
            let (mean, error) = mean_and_error(logs);
            let half = student_quantile(logs.len() - 1, error_probability / 2.0) * error;
            Estimate { value: mean.exp(), interval: Some(((mean - half).exp(), (mean + half).exp())) }
        };
        let mut measured: Vec<(Vec<f64>, GridCell)> = others
            .map(|cell| {
                let logs = if cell.is_refused { Vec::new() } else { differences(cell) };
                let ratio = (!logs.is_empty()).then(|| estimate(&logs, ERROR));
                (logs, GridCell { configuration: cell.configuration.clone(), ratio })
            })
            .collect();
        let value = |cell: &GridCell| cell.ratio.as_ref().map_or(0.0, |ratio| ratio.value);
        measured.sort_by(|a, b| value(&b.1).total_cmp(&value(&a.1)));
        let (logs, _) = measured.first().filter(|(logs, _)| !logs.is_empty())?;
        let best = estimate(logs, ERROR / measured.len() as f64);
        Some(GridResult { cells: measured.into_iter().map(|(_, cell)| cell).collect(), rounds, best })
    }
}
