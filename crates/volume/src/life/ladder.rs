//! The levels of a product, and the model of each.

use std::collections::BTreeMap;

use plimsoll_model::analytic::{Workload, capacity};
use plimsoll_model::{ChainSpec, Rate, StageSpec};

use crate::totals::Totals;

/// One level of a product, such as its VPUs per GB.
#[derive(Clone, Debug, PartialEq)]
pub struct Rung {
    /// The level.
    pub level: u32,
    /// How it answers.
    pub model: ChainSpec,
}

/// Levels, lowest first; at least one.
#[derive(Clone, Debug, PartialEq)]
pub struct Ladder {
    rungs: Vec<Rung>,
    /// The names of limits that are not the same at all levels.
    limits: Vec<String>,
}

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
        if rungs.is_empty() {
            return Err(LadderError::Empty);
        }
        let limits = differing(&rungs);
        Ok(Self { rungs, limits })
    }

    /// How the product answers at a level; `None` when it has no such level.
    pub fn model(&self, level: u32) -> Option<&ChainSpec> {
        self.rungs.iter().find(|rung| rung.level == level).map(|rung| &rung.model)
    }

    /// The lowest level that is at least `level`, or the highest one.
    pub fn at_least(&self, level: u32) -> u32 {
        let found = self.rungs.iter().find(|rung| rung.level >= level).or(self.rungs.last());
        found.map_or(level, |rung| rung.level)
    }

    /// The highest level that is at most `level`, or the lowest one.
    pub fn at_most(&self, level: u32) -> u32 {
        let found = self.rungs.iter().rev().find(|rung| rung.level <= level).or(self.rungs.first());
        found.map_or(level, |rung| rung.level)
    }

    /// Requests that a limit held longest which levels change.
    pub fn throttled(&self, totals: &Totals) -> u64 {
        let own = totals.bound_by_volume().filter(|(name, _)| self.limits.iter().any(|limit| limit == name));
        own.map(|(_, count)| count).sum()
    }

    /// True when a level lets so much of a load through: what it carries in the long run is above it.
    pub fn carries(&self, level: u32, load: &Workload, ops_per_second: f64) -> bool {
        self.model(level).is_some_and(|model| ops_per_second < capacity(model, load).iops)
    }
}

fn differing(rungs: &[Rung]) -> Vec<String> {
    let of: Vec<BTreeMap<String, Vec<Rate>>> = rungs.iter().map(|rung| limits(&rung.model)).collect();
    let mut names: Vec<&String> = of.iter().flat_map(BTreeMap::keys).collect();
    names.sort_unstable();
    names.dedup();
    let differs = |name: &&String| of.windows(2).any(|pair| pair[0].get(*name) != pair[1].get(*name));
    names.into_iter().filter(differs).cloned().collect()
}

/// The limits of a model by name, wherever they stand.
fn limits(model: &ChainSpec) -> BTreeMap<String, Vec<Rate>> {
    let (mut found, mut stages) = (BTreeMap::new(), Vec::new());
    gather(model, &mut stages);
    for (name, stage) in model.names().into_iter().zip(stages) {
        if let StageSpec::Limit { rate, .. } = stage {
            found.entry(name).or_insert_with(Vec::new).push(*rate);
        }
    }
    found
}

/// All stages in the order of their names.
fn gather<'m>(model: &'m ChainSpec, stages: &mut Vec<&'m StageSpec>) {
    for named in model.stages() {
        stages.push(&named.stage);
        named.stage.insides().into_iter().for_each(|inside| gather(inside, stages));
    }
}
