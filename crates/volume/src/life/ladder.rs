//! The levels of a product, and what each of them changes in its model.

use plimsoll_model::{Change, Rate, Stage};

use crate::totals::Totals;

/// One level of a product, such as its VPUs per GB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rung {
    /// The level.
    pub level: u32,
    /// What brings the model to it from any other level.
    pub changes: Vec<Change>,
}

/// Levels, lowest first; at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ladder(Vec<Rung>);

/// Why levels are no ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LadderError {
    /// There is none.
    #[error("a product has at least one level")]
    Empty,
    /// They are not in order.
    #[error("level {0} does not follow a lower one: levels are given lowest first, each once")]
    Order(u32),
}

impl Ladder {
    /// A ladder of these levels.
    pub fn new(rungs: Vec<Rung>) -> Result<Self, LadderError> {
        if let Some(pair) = rungs.windows(2).find(|pair| pair[0].level >= pair[1].level) {
            return Err(LadderError::Order(pair[1].level));
        }
        if rungs.is_empty() { Err(LadderError::Empty) } else { Ok(Self(rungs)) }
    }

    /// What brings the model to a level; `None` when the product has no such level.
    pub fn changes(&self, level: u32) -> Option<&[Change]> {
        self.0.iter().find(|rung| rung.level == level).map(|rung| rung.changes.as_slice())
    }

    /// The lowest level that is at least `level`, or the highest one.
    pub fn at_least(&self, level: u32) -> u32 {
        let found = self.0.iter().find(|rung| rung.level >= level).or(self.0.last());
        found.map_or(level, |rung| rung.level)
    }

    /// The highest level that is at most `level`, or the lowest one.
    pub fn at_most(&self, level: u32) -> u32 {
        let found = self.0.iter().rev().find(|rung| rung.level <= level).or(self.0.first());
        found.map_or(level, |rung| rung.level)
    }

    /// True when a stage is one that levels change.
    pub fn limits(&self, limit: Stage) -> bool {
        let changes = self.0.iter().flat_map(|rung| &rung.changes);
        changes.into_iter().any(|Change::Rate { stage, .. }| *stage == limit)
    }

    /// Requests that such a stage held longest.
    pub fn throttled(&self, totals: &Totals) -> u64 {
        let stages = totals.bound_by_volume.iter().enumerate();
        stages.filter(|(stage, _)| self.limits(Stage(*stage as u8))).map(|(_, count)| count).sum()
    }

    /// True when a level lets so much through: every limit that it sets is above it.
    pub fn carries(&self, level: u32, ops_per_second: f64, bytes_per_second: f64) -> bool {
        let changes = self.changes(level).unwrap_or_default();
        changes.iter().all(|Change::Rate { rate, .. }| match rate {
            Rate::Operations(iops) => ops_per_second < iops.as_f64(),
            Rate::Bytes(throughput) => bytes_per_second < throughput.get() as f64,
        })
    }
}
