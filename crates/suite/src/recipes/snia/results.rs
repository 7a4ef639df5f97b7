//! Results of the rounds of a test.

use plimsoll_record::Bins;
use plimsoll_units::{Bytes, Kind, Span};

use super::SniaOptions;
use super::steady::{Steady, WINDOW};
use super::test::{RoundLoad, SniaTest};
use crate::result::IoResult;

#[derive(Clone, Debug)]
pub(super) struct RoundResult {
    /// Operations per second.
    pub(super) iops: f64,
    /// Bytes per second.
    pub(super) bytes_s: f64,
    /// Bytes written.
    pub(super) written: u64,
    pub(super) span: Span,
    pub(super) response: Bins,
}

impl RoundResult {
    pub(super) fn of(observed: &IoResult) -> Self {
        let total = observed.total();
        let seconds = observed.span().as_secs_f64().max(1e-9);
        Self {
            iops: total.operations() as f64 / seconds,
            bytes_s: total.bytes() as f64 / seconds,
            written: total.only(|counter| matches!(counter.kind, Kind::Write | Kind::DurableWrite)).bytes(),
            span: observed.span(),
            response: total.response(),
        }
    }

    pub(super) fn mean(&self) -> Span {
        self.response.mean().unwrap_or(Span::ZERO)
    }
}

/// 99.999th percentile; `None` with fewer than 100,000 operations.
pub(super) fn five_nines(response: &Bins) -> Option<Span> {
    response.quantile(0.999_99).filter(|_| response.count >= 100_000)
}

/// Rounds of a test.
#[derive(Clone, Debug)]
pub(super) struct Results {
    pub(super) test: SniaTest,
    pub(super) cells: Vec<RoundLoad>,
    /// Results by round, in the order of `cells`; the last round may be incomplete.
    pub(super) rounds: Vec<Vec<RoundResult>>,
}

impl Results {
    pub(super) const fn new(test: SniaTest, cells: Vec<RoundLoad>) -> Self {
        Self { test, cells, rounds: Vec::new() }
    }

    /// Adds the result of a load, in order of execution.
    pub(super) fn add(&mut self, round: u32, cell: usize, observed: RoundResult) {
        if self.rounds.len() < round as usize {
            self.rounds.push(Vec::new());
        }
        if let Some(last) = self.rounds.last_mut().filter(|last| last.len() == cell) {
            last.push(observed);
        }
    }

    /// Complete rounds.
    pub(super) fn complete_rounds(&self) -> &[Vec<RoundResult>] {
        let complete = self.rounds.iter().take_while(|round| round.len() == self.cells.len()).count();
        &self.rounds[..complete]
    }

    /// Tracked figure of each complete round, for the steady state.
    pub(super) fn tracked(&self) -> Vec<f64> {
        let Some(place) = self.cells.iter().position(|cell| *cell == self.test.tracked()) else { return Vec::new() };
        self.complete_rounds().iter().map(|round| self.figure(&round[place])).collect()
    }

    /// Figure of the test: IOPS, MB/s of 1,000,000 bytes, or milliseconds.
    pub(super) fn figure(&self, observed: &RoundResult) -> f64 {
        match self.test {
            SniaTest::Iops | SniaTest::WriteSaturation => observed.iops,
            SniaTest::Throughput => observed.bytes_s / 1e6,
            SniaTest::Latency => observed.mean().as_millis_f64(),
        }
    }

    /// The figure as text, without unit.
    pub(super) fn display(&self, figure: f64) -> String {
        match self.test {
            SniaTest::Latency => format!("{figure:.3}"),
            SniaTest::Throughput => format!("{figure:.1}"),
            SniaTest::Iops | SniaTest::WriteSaturation => format!("{figure:.0}"),
        }
    }

    pub(super) const fn unit(&self) -> &'static str {
        match self.test {
            SniaTest::Iops | SniaTest::WriteSaturation => "IOPS",
            SniaTest::Throughput => "MB/s",
            SniaTest::Latency => "ms",
        }
    }

    pub(super) fn steady(&self) -> Option<Steady> {
        Steady::of(&self.tracked())
    }

    /// Whether the test ends: steady state, maximum number of rounds, or saturation.
    pub(super) fn is_over(&self, options: &SniaOptions, size: Bytes) -> bool {
        if self.test == SniaTest::WriteSaturation {
            let (mut written, mut span) = (0, Span::ZERO);
            for observed in self.rounds.iter().flatten() {
                written += observed.written;
                span += observed.span;
            }
            let enough = size.get().saturating_mul(options.saturation_fills.into());
            // A failing device writes nothing, so that the test would never end.
            let is_dead = self.rounds.iter().flatten().last().is_some_and(|observed| observed.written == 0);
            return written >= enough || span >= options.saturation_span || is_dead;
        }
        self.rounds.len() >= options.rounds as usize || self.steady().is_some_and(|steady| steady.is_reached())
    }

    /// Last rounds of a cell: those of the window, or all if there are fewer.
    fn last(&self, cell: usize) -> impl Iterator<Item = &RoundResult> {
        let rounds = self.complete_rounds();
        rounds[rounds.len().saturating_sub(WINDOW)..].iter().map(move |round| &round[cell])
    }

    /// Mean figure of the last rounds; `None` before the first complete round.
    pub(super) fn average(&self, cell: usize) -> Option<f64> {
        let figures: Vec<f64> = self.last(cell).map(|observed| self.figure(observed)).collect();
        (!figures.is_empty()).then(|| figures.iter().sum::<f64>() / figures.len() as f64)
    }

    /// Response times of the last rounds, merged.
    pub(super) fn response(&self, cell: usize) -> Bins {
        let mut all = Bins::default();
        self.last(cell).for_each(|observed| all.merge(&observed.response));
        all
    }
}
