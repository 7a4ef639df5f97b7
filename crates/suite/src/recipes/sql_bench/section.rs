//! Sections of a test as steps: name, number of executions and statements.

use std::sync::Arc;

use plimsoll_record::BenchNote;
use plimsoll_units::Span;

use super::dialect::SqlDialect;
use crate::sql::{RequestsAt, SqlRequest, StatementsStep};

/// Parameters of all sections.
#[derive(Clone, Copy, Debug)]
pub(super) struct SectionPlan {
    pub(super) dialect: SqlDialect,
    /// Fraction of the full number of executions.
    pub(super) scale: f64,
    /// Fraction of the full number of rows.
    pub(super) size: f64,
}

impl SectionPlan {
    /// Number of executions for a full count; at least 1.
    pub(super) fn times(&self, full: u64) -> u64 {
        ((full as f64 * self.scale).round() as u64).clamp(1, full.max(1))
    }

    /// Rows of a table of this full size; at least 10.
    pub(super) fn rows(&self, full: u64) -> u64 {
        ((full as f64 * self.size).round() as u64).clamp(10.min(full), full)
    }
}

/// Executions of the preceding sections of a test.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger(pub(super) Vec<(&'static str, u64)>);

impl Ledger {
    /// Executions of a section by name; 0 if it was not executed.
    pub(super) fn done(&self, name: &str) -> u64 {
        self.0.iter().filter(|(section, _)| *section == name).map(|(_, done)| done).sum()
    }
}

/// Number of executions, and their requests.
type Begin = Arc<dyn Fn(&Ledger) -> (u64, RequestsAt) + Send + Sync>;

/// Role of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counting {
    /// A figure of the benchmark: full number of operations, and operations per execution.
    Figure { full: u64, at_once: u64 },
    /// Preparation, excluded from figures.
    Preparation,
}

#[derive(Clone)]
pub(super) struct BenchSection {
    pub(super) name: &'static str,
    pub(super) counting: Counting,
    /// Deviation from the definition; empty if none.
    pub(super) note: Option<BenchNote>,
    begin: Begin,
    /// Executions per transaction; 0 for autocommit.
    transaction: u64,
}

impl BenchSection {
    /// A figure with the number of executions of the plan.
    pub(super) fn repeated(
        plan: &SectionPlan,
        name: &'static str,
        full: u64,
        at: impl Fn(u64) -> Vec<SqlRequest> + Send + Sync + 'static,
    ) -> Self {
        Self::counted(name, full, plan.times(full), at)
    }

    /// A figure that is always executed in full, because later sections need it.
    pub(super) fn entire(
        name: &'static str,
        full: u64,
        at: impl Fn(u64) -> Vec<SqlRequest> + Send + Sync + 'static,
    ) -> Self {
        Self::counted(name, full, full, at)
    }

    /// A figure with this number of executions.
    pub(super) fn counted(
        name: &'static str,
        full: u64,
        times: u64,
        at: impl Fn(u64) -> Vec<SqlRequest> + Send + Sync + 'static,
    ) -> Self {
        let at: RequestsAt = Arc::new(at);
        Self::begun(name, Counting::Figure { full, at_once: 1 }, move |_| (times, Arc::clone(&at)))
    }

    /// Statements excluded from figures.
    pub(super) fn preparation(name: &'static str, statements: Vec<String>) -> Self {
        let count = statements.len() as u64;
        let at: RequestsAt = Arc::new(move |index| vec![SqlRequest::text(statements[index as usize].clone())]);
        Self::begun(name, Counting::Preparation, move |_| (count, Arc::clone(&at)))
    }

    /// Bulk-loads the rows that an earlier section did not insert individually; excluded from figures.
    pub(super) fn rest(
        name: &'static str,
        of: &'static str,
        all: u64,
        at: impl Fn(u64) -> Vec<SqlRequest> + Send + Sync + 'static,
    ) -> Self {
        let at = Arc::new(at);
        let begin = move |ledger: &Ledger| -> (u64, RequestsAt) {
            let (done, at) = (ledger.done(of), Arc::clone(&at));
            (all.saturating_sub(done), Arc::new(move |index| at(done + index)))
        };
        Self { transaction: 1000, ..Self::begun(name, Counting::Preparation, begin) }
    }

    /// A section that depends on the progress of others. Skipped if its count is 0.
    pub(super) fn begun(
        name: &'static str,
        counting: Counting,
        begin: impl Fn(&Ledger) -> (u64, RequestsAt) + Send + Sync + 'static,
    ) -> Self {
        Self { name, counting, note: None, begin: Arc::new(begin), transaction: 0 }
    }

    /// Adds a deviation from the definition.
    pub(super) const fn noting(mut self, note: Option<BenchNote>) -> Self {
        self.note = note;
        self
    }

    /// Sets the number of operations per execution.
    pub(super) fn at_once(mut self, operations: u64) -> Self {
        if let Counting::Figure { full, .. } = self.counting {
            self.counting = Counting::Figure { full, at_once: operations };
        }
        self
    }

    /// Its statements, if any. A preparation has no time limit.
    pub(super) fn statements(&self, ledger: &Ledger, limit: Span) -> Option<StatementsStep> {
        let (count, at) = (self.begin)(ledger);
        let limit = matches!(self.counting, Counting::Figure { .. }).then_some(limit);
        (count > 0).then_some(StatementsStep { count, at, limit, sessions: 1, transaction: self.transaction })
    }
}

/// A single statement.
pub(super) fn ask(sql: String) -> Vec<SqlRequest> {
    vec![SqlRequest::text(sql)]
}

/// A single query with an expected number of rows.
pub(super) fn query(sql: String, rows: u64) -> Vec<SqlRequest> {
    vec![SqlRequest::Text { sql, rows: Some(rows) }]
}

/// The `index`-th number of a permutation of `0..of`.
pub(super) const fn scattered(index: u64, of: u64) -> u64 {
    // Coprime to all numbers of rows here, so that steps of this length visit all rows.
    (index % of).wrapping_mul(1_000_003).wrapping_add(17) % of
}

#[cfg(test)]
mod tests {
    use plimsoll_database::System;

    use super::*;

    #[test]
    fn scattered_is_a_permutation() {
        for of in [1, 10, 97, 1000, 30_000] {
            let mut observed: Vec<u64> = (0..of).map(|index| scattered(index, of)).collect();
            assert_eq!(observed[0], scattered(of, of));
            observed.sort_unstable();
            assert!(observed.iter().copied().eq(0..of), "{of}");
        }
    }

    #[test]
    fn plan_scales_counts_and_keeps_minimum() {
        let plan = SectionPlan { dialect: SqlDialect(System::Sqlite), scale: 0.1, size: 0.001 };
        assert_eq!([1000, 12, 1, 4].map(|full| plan.times(full)), [100, 1, 1, 1]);
        assert_eq!([100_000, 1000, 4].map(|full| plan.rows(full)), [100, 10, 4]);
    }
}
