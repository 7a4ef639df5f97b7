//! Sums of answers by account, region and team.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Answer;
use super::decide::Action;

/// Sums of a group of volumes.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Total {
    /// Number of volumes.
    pub volumes: i64,
    /// Volumes whose limits delay operations.
    pub throttled: i64,
    /// Price of today's configurations.
    pub cost_micros: i64,
    /// Savings of all volumes but those of `raise_micros`.
    pub saving_micros: i64,
    /// Additional cost of configurations without delays.
    pub raise_micros: i64,
}

impl Total {
    fn add(&mut self, answer: &Answer) {
        self.volumes += 1;
        self.throttled += i64::from(answer.throttled);
        self.cost_micros += answer.cost_micros.unwrap_or(0);
        match answer.action {
            Action::Raise => self.raise_micros -= answer.saving_micros,
            _ => self.saving_micros += answer.saving_micros,
        }
    }
}

/// A total with the group that it is of.
#[derive(Serialize)]
pub struct TotalRow<'a> {
    /// `all`, `account`, `region` or `team`.
    pub by: &'static str,
    /// The group; empty for volumes without one.
    pub name: &'a str,
    /// Its sums.
    #[serde(flatten)]
    pub total: Total,
}

/// The group of an answer.
type GroupOf = fn(&Answer) -> &str;

/// All sums.
pub fn totals_of(answers: &[Answer]) -> Vec<TotalRow<'_>> {
    let by: [(&'static str, GroupOf); 4] = [
        ("all", |_| "all"),
        ("account", |answer| &answer.volume.account),
        ("region", |answer| &answer.volume.region),
        ("team", |answer| &answer.volume.team),
    ];
    let mut totals = Vec::new();
    for (by, name) in by {
        let mut groups: BTreeMap<&str, Total> = BTreeMap::new();
        for answer in answers {
            groups.entry(name(answer)).or_default().add(answer);
        }
        totals.extend(groups.into_iter().map(|(name, total)| TotalRow { by, name, total }));
    }
    totals
}
