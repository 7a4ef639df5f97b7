//! What storage with other latencies would make of a database's time: reads and log writes change, the rest stays.
//!
//! After Amdahl (1967): what is not waited for cannot be saved. The work is taken to be the same; a database that is
//! answered sooner may well be asked more.

use std::collections::BTreeMap;

use plimsoll_ingest::{Account, Class, Spent, Waited};

use super::split::{all_s, commits, followers_s};

/// Seconds of an operation below which no storage that is sold answers a database: a flash read and its way.
pub const FLOOR_S: f64 = 50e-6;

/// Mean seconds of one operation, by class, of a storage that may be had.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Latencies(pub BTreeMap<Class, f64>);

/// A database's time before and after.
#[derive(Clone, Debug, PartialEq)]
pub struct DatabaseEffect {
    /// Seconds of sessions that worked or waited.
    pub before_s: f64,
    /// The same with the other storage.
    pub after_s: f64,
    /// What changes, by class.
    pub parts: Vec<PartEffect>,
    /// Classes that sessions wait for and that stay as they are: nothing is known of the other storage there.
    pub kept: Vec<Class>,
}

/// What changes of one class.
#[derive(Clone, Debug, PartialEq)]
pub struct PartEffect {
    /// The class of operations.
    pub class: Class,
    /// Seconds that sessions wait for it.
    pub before_s: f64,
    /// The same with the other storage.
    pub after_s: f64,
    /// Seconds of one operation, in the mean, where that is said.
    pub operation_s: Option<f64>,
}

impl DatabaseEffect {
    /// How many times as fast the same work is done.
    pub fn speedup(&self) -> f64 {
        self.before_s / self.after_s.max(f64::MIN_POSITIVE)
    }

    /// The share of the database's time that is saved; below 0 when it takes longer.
    pub fn saved(&self) -> f64 {
        1.0 - self.after_s / self.before_s
    }
}

/// What storage with these latencies would make of the database's time. Each class is scaled by its latency over the
/// present one; of commits only the part in which the log is written. None for a database without time.
pub fn effect(account: &Account, latencies: &Latencies) -> Option<DatabaseEffect> {
    scaled(&account.whole, 1.0, |class, operation_s| Some(latencies.0.get(&class)? / operation_s?))
}

/// What storage that answers at once would make of it: the most that any can. A commit that comes in the middle of a
/// write waits for that one and its own, so two count.
pub fn without_storage(account: &Account) -> Option<DatabaseEffect> {
    scaled(&account.whole, 2.0, |_, _| Some(0.0))
}

/// What storage ten times as fast would make of it, as far as there is one.
pub(super) fn ten_times(account: &Account) -> Option<DatabaseEffect> {
    const TENTH: f64 = 0.1;
    let ratio = |operation_s: f64| (operation_s * TENTH).max(operation_s.min(FLOOR_S)) / operation_s;
    scaled(&account.whole, 1.0, |_, operation_s| Some(operation_s.map_or(TENTH, ratio)))
}

/// Scales the waits of each class by what `ratio` says of it and of its present seconds of an operation; of a commit so
/// many `writes` of the log.
fn scaled(spent: &Spent, writes: f64, ratio: impl Fn(Class, Option<f64>) -> Option<f64>) -> Option<DatabaseEffect> {
    let mut by_class: BTreeMap<Class, f64> = BTreeMap::new();
    for wait in spent.foreground() {
        if let Waited::Storage(class) | Waited::Behind(class) = wait.waited {
            *by_class.entry(class).or_default() += wait.total_s;
        }
    }
    if let Some(commits) = commits(spent) {
        *by_class.entry(Class::RedoWrite).or_default() += commits.total_s * (writes * commits.write_share).min(1.0);
    }
    *by_class.entry(Class::RedoWrite).or_default() += followers_s(spent, writes);
    by_class.retain(|_, seconds| *seconds > 0.0);
    let before_s = all_s(spent);
    if before_s <= 0.0 {
        return None;
    }
    let (mut parts, mut kept) = (Vec::new(), Vec::new());
    for (class, before_s) in by_class {
        let operation_s = spent.operation_s(class);
        match ratio(class, operation_s).filter(|ratio| ratio.is_finite() && *ratio >= 0.0) {
            Some(ratio) => parts.push(PartEffect { class, before_s, after_s: before_s * ratio, operation_s }),
            None => kept.push(class),
        }
    }
    let changed: f64 = parts.iter().map(|part| part.after_s - part.before_s).sum();
    Some(DatabaseEffect { before_s, after_s: (before_s + changed).max(0.0), parts, kept })
}
