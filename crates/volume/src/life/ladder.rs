//! Levels of a product with their models.

use std::collections::BTreeMap;

use plimsoll_model::analytic::{Workload, capacity};
use plimsoll_model::{ChainSpec, Rate, StageSpec};

use crate::totals::Totals;

/// A level of a product, such as its VPUs per GB.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelModel {
    pub level: u32,
    /// Model at this level.
    pub model: ChainSpec,
}

/// Levels in ascending order; at least one.
#[derive(Clone, Debug, PartialEq)]
pub struct Ladder {
    levels: Vec<LevelModel>,
    /// Names of limits that depend on the level.
    limits: Vec<String>,
}

/// Reason why levels are refused.
#[plimsoll_language::say_errors]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LadderError {
    /// No levels.
    #[error("a product has at least one level")]
    Empty,
    /// Not ascending.
    #[error("level {0} is not above its predecessor: levels must be ascending without duplicates")]
    Order(u32),
}

impl Ladder {
    /// Creates a ladder.
    pub fn new(levels: Vec<LevelModel>) -> Result<Self, LadderError> {
        if let Some(pair) = levels.windows(2).find(|pair| pair[0].level >= pair[1].level) {
            return Err(LadderError::Order(pair[1].level));
        }
        if levels.is_empty() {
            return Err(LadderError::Empty);
        }
        let limits = differing(&levels);
        Ok(Self { levels, limits })
    }

    /// Model of a level; `None` if it does not exist.
    pub fn model(&self, level: u32) -> Option<&ChainSpec> {
        self.levels.iter().find(|at| at.level == level).map(|at| &at.model)
    }

    /// Lowest level that is at least `level`, or the highest.
    pub fn at_least(&self, level: u32) -> u32 {
        let found = self.levels.iter().find(|at| at.level >= level).or(self.levels.last());
        found.map_or(level, |at| at.level)
    }

    /// Highest level that is at most `level`, or the lowest.
    pub fn at_most(&self, level: u32) -> u32 {
        let found = self.levels.iter().rev().find(|at| at.level <= level).or(self.levels.first());
        found.map_or(level, |at| at.level)
    }

    /// Requests bound by a level-dependent limit.
    pub fn throttled(&self, totals: &Totals) -> u64 {
        let own = totals.bound_by_volume().filter(|(name, _)| self.limits.iter().any(|limit| limit == name));
        own.map(|(_, count)| count).sum()
    }

    /// True if a level sustains a load: its long-term capacity is higher.
    pub fn carries(&self, level: u32, load: &Workload, ops_per_second: f64) -> bool {
        self.model(level).is_some_and(|model| ops_per_second < capacity(model, load).iops)
    }
}

fn differing(levels: &[LevelModel]) -> Vec<String> {
    let of: Vec<BTreeMap<String, Vec<Rate>>> = levels.iter().map(|at| collect_limits(&at.model)).collect();
    let mut names: Vec<&String> = of.iter().flat_map(BTreeMap::keys).collect();
    names.sort_unstable();
    names.dedup();
    let differs = |name: &&String| of.windows(2).any(|pair| pair[0].get(*name) != pair[1].get(*name));
    names.into_iter().filter(differs).cloned().collect()
}

/// Limits of a model by name, at any depth.
fn collect_limits(model: &ChainSpec) -> BTreeMap<String, Vec<Rate>> {
    let (mut found, mut stages) = (BTreeMap::new(), Vec::new());
    gather(model, &mut stages);
    for (name, stage) in model.names().into_iter().zip(stages) {
        if let StageSpec::Limit { rate, .. } = stage {
            found.entry(name).or_insert_with(Vec::new).push(*rate);
        }
    }
    found
}

/// Collects all stages in the order of their names.
fn gather<'m>(model: &'m ChainSpec, stages: &mut Vec<&'m StageSpec>) {
    for named in model.stages() {
        stages.push(&named.stage);
        named.stage.insides().into_iter().for_each(|inside| gather(inside, stages));
    }
}
