//! Sums over all answers: totals of owners, the largest savings, the most throttled volumes, the distribution.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::Answer;
use super::decide::{Action, Risk};
use super::optimizer::OptimizerComparison;

/// Volumes of a list of the largest.
pub const MAX_LISTED: usize = 10;

/// Lower bounds of the bands of savings a month, in the currency; each ends at the next.
pub const BANDS: [(i64, &str); 6] = [
    (1_000, "1,000 and more"),
    (100, "100 to 1,000"),
    (10, "10 to 100"),
    (1, "1 to 10"),
    (0, "less than 1"),
    (i64::MIN, "none"),
];

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

const GROUPS: [(&str, GroupOf); 4] = [
    ("all", |_| "all"),
    ("account", |answer| &answer.volume.account),
    ("region", |answer| &answer.volume.region),
    ("team", |answer| &answer.volume.team),
];

/// The answers with the largest values.
#[derive(Debug, Default)]
pub struct Largest {
    /// The largest value first; by number of the volume where they are equal.
    pub answers: Vec<Answer>,
    /// Number of all answers.
    pub count: usize,
}

impl Largest {
    /// Answers have to come in the order of their volumes.
    fn add(&mut self, answer: &Answer, value_of: fn(&Answer) -> i64) {
        self.count += 1;
        let index = self.answers.partition_point(|other| value_of(other) >= value_of(answer));
        if index < MAX_LISTED {
            self.answers.truncate(MAX_LISTED - 1);
            self.answers.insert(index, answer.clone());
        }
    }
}

/// True for risks of a kind.
type RiskTest = fn(&Risk) -> bool;

/// Kinds of risks that many answers may have, with their text.
const RISKS: [(RiskTest, &str); 7] = [
    (|risk| matches!(risk, Risk::LoadUnknown), "have no point with both reads and writes: ingest the missing metric"),
    (|risk| matches!(risk, Risk::NotReplayed { .. }), "have limits that a replay does not have: delays are unknown"),
    (|risk| matches!(risk, Risk::Gaps { .. }), "have times whose operations are unknown: peaks may be missing"),
    (|risk| matches!(risk, Risk::FewDays { .. }), "have less than 14 days of points: monthly peaks may be missing"),
    (|risk| matches!(risk, Risk::UnverifiedPrice), "have a price that was not verified"),
    (|risk| matches!(risk, Risk::ThroughputUnknown), "have no bytes in their points: their throughput stays"),
    (|risk| matches!(risk, Risk::ReplayDelays { .. }), "stay, because the replay of a cheaper one had delays"),
];

/// Sums over all answers. Its size does not depend on their number, only on that of accounts, regions and teams.
#[derive(Debug, Default)]
pub struct Summary {
    /// Currency of all prices.
    pub currency: String,
    /// Points of the fleet.
    pub points: i64,
    /// Folder of the files.
    pub out: PathBuf,
    /// Number of answers.
    pub volumes: usize,
    /// Answers with a price of today's configuration.
    pub priced: usize,
    /// Number and savings of the answers of each action.
    actions: BTreeMap<Action, (usize, i64)>,
    groups: [BTreeMap<String, Total>; 4],
    /// Volumes that save.
    pub savings: Largest,
    /// Volumes whose limits delay operations, by their share of the time.
    pub throttled: Largest,
    /// Volumes and savings of each band, without volumes whose limits delay operations.
    pub bands: [(i64, i64); BANDS.len()],
    risks: [usize; RISKS.len()],
    /// Volumes without points.
    pub without_points: usize,
    /// Comparison with Compute Optimizer.
    pub comparison: Option<OptimizerComparison>,
}

impl Summary {
    /// Without answers.
    pub fn new(currency: &str, points: i64, out: &Path) -> Self {
        Self { currency: currency.to_owned(), points, out: out.to_owned(), ..Self::default() }
    }

    /// Adds an answer, in the order of volumes.
    pub fn add(&mut self, answer: &Answer) {
        self.volumes += 1;
        self.priced += usize::from(answer.cost_micros.is_some());
        let (count, saving) = self.actions.entry(answer.action).or_default();
        *count += 1;
        *saving += answer.saving_micros;
        for (groups, (_, name_of)) in self.groups.iter_mut().zip(GROUPS) {
            match groups.get_mut(name_of(answer)) {
                Some(total) => total.add(answer),
                None => groups.entry(name_of(answer).to_owned()).or_default().add(answer),
            }
        }
        if answer.throttled {
            self.throttled.add(answer, |answer| answer.throttled_permille);
        } else if answer.saving_micros > 0 {
            self.savings.add(answer, |answer| answer.saving_micros);
        }
        if !answer.throttled && answer.action != Action::Unknown {
            let saving = answer.saving_micros;
            let is_in = |from: i64| if from == 0 { saving > 0 } else { saving >= from.saturating_mul(1_000_000) };
            let index = BANDS.iter().position(|(from, _)| is_in(*from)).unwrap_or(BANDS.len() - 1);
            self.bands[index].0 += 1;
            self.bands[index].1 += saving.max(0);
        }
        for (count, (is_of_kind, _)) in self.risks.iter_mut().zip(RISKS) {
            *count += usize::from(answer.risks.iter().any(is_of_kind));
        }
    }

    /// Answers of an action.
    pub fn count(&self, action: Action) -> usize {
        self.actions.get(&action).map_or(0, |(count, _)| *count)
    }

    /// Savings of the answers of an action.
    pub fn saving(&self, action: Action) -> i64 {
        self.actions.get(&action).map_or(0, |(_, saving)| *saving)
    }

    /// All totals.
    pub fn totals(&self) -> impl Iterator<Item = TotalRow<'_>> {
        self.groups
            .iter()
            .zip(GROUPS)
            .flat_map(|(groups, (by, _))| groups.iter().map(move |(name, total)| TotalRow { by, name, total: *total }))
    }

    /// Price of today's configurations.
    pub fn cost_micros(&self) -> i64 {
        self.groups[0].values().map(|total| total.cost_micros).sum()
    }

    /// Reasons to doubt many answers.
    pub fn cautions(&self) -> Vec<String> {
        let counted = self.risks.iter().copied().zip(RISKS.map(|(_, text)| text));
        let absent = (self.without_points, "have no points, and are in none of these figures");
        let counted = std::iter::once(absent).chain(counted).filter(|(count, _)| *count > 0);
        counted.map(|(count, text)| format!("note: {count} volumes {text}")).collect()
    }
}
