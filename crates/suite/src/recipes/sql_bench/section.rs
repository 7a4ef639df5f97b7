//! A section of a test: what it is called, how often it is asked, and what is asked.
//!
//! Knows nothing about the tests, and runs nothing: it makes steps of a suite.

use std::sync::Arc;

use plimsoll_units::Span;

use super::dialect::Dialect;
use crate::sql::{Asked, AskedAt, StatementsStep};

/// What sections are made for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// Whose SQL.
    pub(super) dialect: Dialect,
    /// How often each section is asked, as a share of its full count.
    pub(super) scale: f64,
    /// Rows of the tables, as a share of their full number.
    pub(super) size: f64,
}

impl Plan {
    /// How often something is asked whose full count this is: at least once.
    pub(super) fn times(&self, full: u64) -> u64 {
        ((full as f64 * self.scale).round() as u64).clamp(1, full.max(1))
    }

    /// Rows of a table that has so many: at least 10.
    pub(super) fn rows(&self, full: u64) -> u64 {
        ((full as f64 * self.size).round() as u64).clamp(10.min(full), full)
    }
}

/// What the sections of a test before this one did.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger(pub(super) Vec<(&'static str, u64)>);

impl Ledger {
    /// How often a section was asked by its name; 0 where it was not.
    pub(super) fn done(&self, name: &str) -> u64 {
        self.0.iter().filter(|(section, _)| *section == name).map(|(_, done)| done).sum()
    }
}

/// How often it is asked, and what.
type Begin = Arc<dyn Fn(&Ledger) -> (u64, AskedAt) + Send + Sync>;

/// What a section counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counting {
    /// It is a figure of the benchmark: operations at full counts, and how many of them are asked at once.
    Figure { full: u64, at_once: u64 },
    /// It makes ready what a figure needs, and is in none.
    Preparation,
}

/// A section.
#[derive(Clone)]
pub(super) struct Section {
    pub(super) name: &'static str,
    pub(super) counting: Counting,
    /// What is done otherwise than in the definition; empty where nothing is.
    pub(super) note: &'static str,
    begin: Begin,
    /// So many are one transaction; 0 for each its own.
    transaction: u64,
}

impl Section {
    /// A figure that is asked as often as the plan says.
    pub(super) fn repeated(
        plan: &Plan,
        name: &'static str,
        full: u64,
        at: impl Fn(u64) -> Vec<Asked> + Send + Sync + 'static,
    ) -> Self {
        Self::counted(name, full, plan.times(full), at)
    }

    /// A figure that is asked in full, whatever the plan says, because later sections need all of it.
    pub(super) fn entire(
        name: &'static str,
        full: u64,
        at: impl Fn(u64) -> Vec<Asked> + Send + Sync + 'static,
    ) -> Self {
        Self::counted(name, full, full, at)
    }

    /// A figure that is asked so often.
    pub(super) fn counted(
        name: &'static str,
        full: u64,
        times: u64,
        at: impl Fn(u64) -> Vec<Asked> + Send + Sync + 'static,
    ) -> Self {
        let at: AskedAt = Arc::new(at);
        Self::begun(name, Counting::Figure { full, at_once: 1 }, move |_| (times, Arc::clone(&at)))
    }

    /// Statements that are in no figure.
    pub(super) fn preparation(name: &'static str, statements: Vec<String>) -> Self {
        let count = statements.len() as u64;
        let at: AskedAt = Arc::new(move |index| vec![Asked::text(statements[index as usize].clone())]);
        Self::begun(name, Counting::Preparation, move |_| (count, Arc::clone(&at)))
    }

    /// The rows that a figure before did not insert one by one, of so many in all: in large transactions, in no figure.
    pub(super) fn rest(
        name: &'static str,
        of: &'static str,
        all: u64,
        at: impl Fn(u64) -> Vec<Asked> + Send + Sync + 'static,
    ) -> Self {
        let at = Arc::new(at);
        let begin = move |ledger: &Ledger| -> (u64, AskedAt) {
            let (done, at) = (ledger.done(of), Arc::clone(&at));
            (all.saturating_sub(done), Arc::new(move |index| at(done + index)))
        };
        Self { transaction: 1000, ..Self::begun(name, Counting::Preparation, begin) }
    }

    /// What depends on how far others came. Nothing is asked where the count is 0.
    pub(super) fn begun(
        name: &'static str,
        counting: Counting,
        begin: impl Fn(&Ledger) -> (u64, AskedAt) + Send + Sync + 'static,
    ) -> Self {
        Self { name, counting, note: "", begin: Arc::new(begin), transaction: 0 }
    }

    /// The same with what is done otherwise than in the definition.
    pub(super) const fn noting(mut self, note: &'static str) -> Self {
        self.note = note;
        self
    }

    /// The same, each asked time being so many operations.
    pub(super) fn at_once(mut self, operations: u64) -> Self {
        if let Counting::Figure { full, .. } = self.counting {
            self.counting = Counting::Figure { full, at_once: operations };
        }
        self
    }

    /// What it asks; none where there is nothing to ask. A preparation has no limit.
    pub(super) fn statements(&self, ledger: &Ledger, limit: Span) -> Option<StatementsStep> {
        let (count, at) = (self.begin)(ledger);
        let limit = matches!(self.counting, Counting::Figure { .. }).then_some(limit);
        (count > 0).then_some(StatementsStep { count, at, limit, sessions: 1, transaction: self.transaction })
    }
}

/// One statement.
pub(super) fn ask(sql: String) -> Vec<Asked> {
    vec![Asked::text(sql)]
}

/// One query that has to bring so many rows.
pub(super) fn query(sql: String, rows: u64) -> Vec<Asked> {
    vec![Asked::Text { sql, rows: Some(rows) }]
}

/// The number of the `index`-th of so many, scattered over all of them: each comes once before one comes again.
pub(super) const fn scattered(index: u64, of: u64) -> u64 {
    // A prime that divides no number of rows here, so that the steps of its length visit all of them.
    (index % of).wrapping_mul(1_000_003).wrapping_add(17) % of
}

#[cfg(test)]
mod tests {
    use plimsoll_database::System;

    use super::*;

    #[test]
    fn numbers_are_scattered_over_all() {
        for of in [1, 10, 97, 1000, 30_000] {
            let mut seen: Vec<u64> = (0..of).map(|index| scattered(index, of)).collect();
            assert_eq!(seen[0], scattered(of, of));
            seen.sort_unstable();
            assert!(seen.iter().copied().eq(0..of), "{of}");
        }
    }

    #[test]
    fn a_plan_asks_for_a_share_and_never_for_nothing() {
        let plan = Plan { dialect: Dialect(System::Sqlite), scale: 0.1, size: 0.001 };
        assert_eq!([1000, 12, 1, 4].map(|full| plan.times(full)), [100, 1, 1, 1]);
        assert_eq!([100_000, 1000, 4].map(|full| plan.rows(full)), [100, 10, 4]);
    }
}
