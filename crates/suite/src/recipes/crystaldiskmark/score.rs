//! Scores of runs, and what they hide.
//!
//! Knows nothing about how runs were made.

use plimsoll_record::Bins;
use plimsoll_units::{Kind, Span};

use super::plan::{Direction, Line};
use super::{CrystalDiskMarkOptions, Data, Directions, Score, Version};
use crate::ground::{Facts, Nature};
use crate::seen::IoSeen;

/// What one run showed.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// Bytes per second, until the last answer.
    pub(super) rate: f64,
    /// Response times of its reads and writes; a flush is none of them.
    pub(super) response: Bins,
}

impl Seen {
    /// None where nothing came back.
    pub(super) fn of(seen: &IoSeen) -> Option<Self> {
        let total = seen.total();
        let response = total.response_where(|counter| counter.kind != Kind::Flush);
        let span = seen.span();
        (!response.is_empty() && !span.is_zero())
            .then(|| Self { rate: total.bytes() as f64 / span.as_secs_f64(), response })
    }
}

/// The runs of one test in one direction that count.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) line: Line,
    pub(super) name: String,
    pub(super) runs: Vec<Seen>,
}

impl Cell {
    fn rates(&self) -> impl Iterator<Item = f64> {
        self.runs.iter().map(|run| run.rate)
    }

    fn best(&self) -> f64 {
        self.rates().fold(0.0, f64::max)
    }

    fn least(&self) -> f64 {
        self.rates().reduce(f64::min).unwrap_or(0.0)
    }

    fn mean(&self) -> f64 {
        self.rates().sum::<f64>() / self.runs.len().max(1) as f64
    }

    /// Bytes per second.
    pub(super) fn score(&self, score: Score) -> f64 {
        match score {
            Score::Best => self.best(),
            Score::Mean => self.mean(),
        }
    }

    /// The lowest of the runs' mean latencies, or their mean.
    pub(super) fn latency(&self, score: Score) -> Span {
        let means = self.runs.iter().filter_map(|run| run.response.mean());
        match score {
            Score::Best => means.min().unwrap_or(Span::ZERO),
            Score::Mean => {
                let nanos: Vec<u64> = means.map(Span::as_nanos).collect();
                Span::from_nanos(nanos.iter().sum::<u64>() / (nanos.len() as u64).max(1))
            }
        }
    }

    fn response(&self) -> Bins {
        let mut all = Bins::default();
        self.runs.iter().for_each(|run| all.merge(&run.response));
        all
    }
}

/// Percentiles of a cell as text, with one unit each.
fn quantiles(bins: &Bins, wanted: &[f64]) -> Vec<String> {
    wanted.iter().map(|&share| bins.quantile(share).unwrap_or(Span::ZERO).to_string()).collect()
}

/// A line for each test: every run, and percentiles over all of them.
pub(super) fn table(cells: &[Cell]) -> String {
    let width = cells.iter().map(|cell| cell.name.len()).max().unwrap_or(0).max(4);
    let title = "test";
    let mut text = format!(
        "{title:width$}  {:>9} {:>9} {:>9}  {:>9} {:>9} {:>9} {:>9}  runs, MB/s\n",
        "best", "mean", "least", "p50", "p99", "p99.9", "max"
    );
    for cell in cells {
        let rates = [cell.best(), cell.mean(), cell.least()].map(|rate| format!("{:9.3}", rate / 1e6)).join(" ");
        let bins = cell.response();
        let times = quantiles(&bins, &[0.5, 0.99, 0.999, 1.0]);
        let times: Vec<String> = times.iter().map(|time| format!("{time:>9}")).collect();
        let runs: Vec<String> = cell.rates().map(|rate| format!("{:.3}", rate / 1e6)).collect();
        text += &format!("{:width$}  {rates}  {}  {}\n", cell.name, times.join(" "), runs.join(" "));
    }
    text
}

/// What is concluded.
pub(super) fn verdicts(options: &CrystalDiskMarkOptions, cells: &[Cell], facts: &Facts) -> Vec<String> {
    let mut verdicts: Vec<String> = of_runs(cells).into_iter().collect();
    if verdicts.is_empty() {
        return verdicts;
    }
    let what = match options.score {
        Score::Best => "A score is the best of its runs, and a latency the lowest mean of a run: expect less",
        Score::Mean => "A score is the mean of its runs",
    };
    verdicts.push(format!("{what}. MB is 1,000,000 bytes, and operations a second are the score over the block."));
    let flush = match options.version {
        Version::Three => "one flush after each run of writes is inside its time, so a short run pays more for it",
        Version::Eight => "nothing is flushed: scores of writes say what the device accepts, not what is durable",
    };
    if cells.iter().any(|cell| cell.line.direction != Direction::Reads) {
        verdicts.push(format!("Of version {}: {flush}.", if options.version == Version::Three { 3 } else { 8 }));
    }
    if facts.nature != Nature::Model {
        verdicts.push(format!(
            "The file is {} large; whether the device's own cache holds it is not known. If it does, random figures are the \
             cache's: try a larger file.",
            options.size()
        ));
    }
    if options.directions == Directions::Reads && matches!(facts.nature, Nature::Blocks | Nature::Export) {
        verdicts.push(
            "It was read as it is: places that were never written may be answered without reading anything, and faster."
                .into(),
        );
    }
    if options.data == Data::Zeroes {
        verdicts.push(
            "Zeroes were written: a device that compresses or does not store them shows more than it can.".into(),
        );
    }
    verdicts
}

/// How far the best runs are above the others, where that is most.
fn of_runs(cells: &[Cell]) -> Option<String> {
    let rated = cells.iter().filter(|cell| cell.mean() > 0.0);
    let above = |cell: &Cell| cell.best() / cell.mean() - 1.0;
    let most = rated.max_by(|a, b| above(a).total_cmp(&above(b)))?;
    let runs = most.runs.len();
    if runs == 1 {
        return Some("Each test was run once: what another run would show is not known.".into());
    }
    let percent = (above(most) * 1000.0).round() / 10.0;
    if percent <= 0.0 {
        return Some(format!("All {runs} runs of each test were alike."));
    }
    Some(format!(
        "The best run is up to {percent:.1} % above the mean of its {runs} runs, which is most for {}: {:.1} to {:.1} MB/s.",
        most.name,
        most.least() / 1e6,
        most.best() / 1e6
    ))
}
