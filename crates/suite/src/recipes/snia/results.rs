//! What the rounds of a test showed.

use plimsoll_record::Bins;
use plimsoll_units::{Bytes, Kind, Span};

use super::SniaOptions;
use super::steady::{Steady, WINDOW};
use super::test::{Cell, SniaTest};
use crate::result::IoResult;

/// What one load of a round showed.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// Operations a second.
    pub(super) iops: f64,
    /// Bytes a second.
    pub(super) bytes_s: f64,
    /// Bytes written.
    pub(super) written: u64,
    /// How long it lasted.
    pub(super) span: Span,
    /// Response times.
    pub(super) response: Bins,
}

impl Seen {
    pub(super) fn of(seen: &IoResult) -> Self {
        let total = seen.total();
        let seconds = seen.span().as_secs_f64().max(1e-9);
        Self {
            iops: total.operations() as f64 / seconds,
            bytes_s: total.bytes() as f64 / seconds,
            written: total.only(|counter| matches!(counter.kind, Kind::Write | Kind::DurableWrite)).bytes(),
            span: seen.span(),
            response: total.response(),
        }
    }

    pub(super) fn mean(&self) -> Span {
        self.response.mean().unwrap_or(Span::ZERO)
    }
}

/// The time that one of 100,000 operations exceeds; none where there were fewer.
pub(super) fn five_nines(response: &Bins) -> Option<Span> {
    response.quantile(0.999_99).filter(|_| response.count >= 100_000)
}

/// The rounds of a test.
#[derive(Clone, Debug)]
pub(super) struct Results {
    pub(super) test: SniaTest,
    pub(super) cells: Vec<Cell>,
    /// Each with its loads in the order of `cells`; the last one may lack some.
    pub(super) rounds: Vec<Vec<Seen>>,
}

impl Results {
    pub(super) const fn new(test: SniaTest, cells: Vec<Cell>) -> Self {
        Self { test, cells, rounds: Vec::new() }
    }

    /// Adds a load; they come in their order.
    pub(super) fn add(&mut self, round: u32, cell: usize, seen: Seen) {
        if self.rounds.len() < round as usize {
            self.rounds.push(Vec::new());
        }
        if let Some(last) = self.rounds.last_mut().filter(|last| last.len() == cell) {
            last.push(seen);
        }
    }

    /// Rounds of which every load was made.
    pub(super) fn whole(&self) -> &[Vec<Seen>] {
        let whole = self.rounds.iter().take_while(|round| round.len() == self.cells.len()).count();
        &self.rounds[..whole]
    }

    /// The figure that tells whether rounds are steady, of each whole round.
    pub(super) fn tracked(&self) -> Vec<f64> {
        let Some(place) = self.cells.iter().position(|cell| *cell == self.test.tracked()) else { return Vec::new() };
        self.whole().iter().map(|round| self.figure(&round[place])).collect()
    }

    /// Operations a second; MB/s of 1,000,000 bytes; milliseconds.
    pub(super) fn figure(&self, seen: &Seen) -> f64 {
        match self.test {
            SniaTest::Iops | SniaTest::WriteSaturation => seen.iops,
            SniaTest::Throughput => seen.bytes_s / 1e6,
            SniaTest::Latency => seen.mean().as_millis_f64(),
        }
    }

    /// A figure as text, without its unit.
    pub(super) fn shown(&self, figure: f64) -> String {
        match self.test {
            SniaTest::Latency => format!("{figure:.3}"),
            SniaTest::Throughput => format!("{figure:.1}"),
            SniaTest::Iops | SniaTest::WriteSaturation => format!("{figure:.0}"),
        }
    }

    /// What the figure is of.
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

    /// No further round is needed, or none is wanted.
    pub(super) fn is_over(&self, options: &SniaOptions, size: Bytes) -> bool {
        if self.test == SniaTest::WriteSaturation {
            let (mut written, mut span) = (0, Span::ZERO);
            for seen in self.rounds.iter().flatten() {
                written += seen.written;
                span += seen.span;
            }
            let enough = size.get().saturating_mul(options.saturation_fills.into());
            // What fails writes nothing, and would never end.
            let is_dead = self.rounds.iter().flatten().last().is_some_and(|seen| seen.written == 0);
            return written >= enough || span >= options.saturation_span || is_dead;
        }
        self.rounds.len() >= options.rounds as usize || self.steady().is_some_and(|steady| steady.is_reached())
    }

    /// The last rounds of a cell: those of the window, or all where there are fewer.
    fn last(&self, cell: usize) -> impl Iterator<Item = &Seen> {
        let whole = self.whole();
        whole[whole.len().saturating_sub(WINDOW)..].iter().map(move |round| &round[cell])
    }

    /// Mean of the last rounds' figures; none before a round is whole.
    pub(super) fn average(&self, cell: usize) -> Option<f64> {
        let figures: Vec<f64> = self.last(cell).map(|seen| self.figure(seen)).collect();
        (!figures.is_empty()).then(|| figures.iter().sum::<f64>() / figures.len() as f64)
    }

    /// Response times of the last rounds together.
    pub(super) fn response(&self, cell: usize) -> Bins {
        let mut all = Bins::default();
        self.last(cell).for_each(|seen| all.merge(&seen.response));
        all
    }
}
