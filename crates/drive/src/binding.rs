//! Binding stages of a model over the slices of a run.

use plimsoll_model::Stage;
use plimsoll_units::{Instant, Span};

/// Operations by the stage of a model that delayed them most, for each slice of a series: the limit that binds while
/// burst credits last is not the limit that binds afterwards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BindingStages(Vec<(Instant, Vec<u64>)>);

impl BindingStages {
    /// Appends the counts of a slice that begins at `start`.
    pub(crate) fn push(&mut self, start: Instant, counts: Vec<u64>) {
        if !counts.is_empty() {
            self.0.push((start, counts));
        }
    }

    /// Appends the counts of a later part of a run, which begins `after` this one.
    pub fn append(&mut self, later: Self, after: Span) {
        self.0.extend(later.0.into_iter().map(|(start, counts)| (start + after, counts)));
    }

    /// Operations by stage in all slices that begin at `cut` or later.
    pub fn since(&self, cut: Instant) -> Vec<u64> {
        let mut sums = Vec::new();
        for (_, counts) in self.0.iter().filter(|(start, _)| *start >= cut) {
            sums.resize(sums.len().max(counts.len()), 0);
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        sums
    }

    /// The stages that bound operations in slices from `cut` on, as `[name, share]`, the largest share first.
    pub fn shares(&self, cut: Instant, stages: &[String]) -> Vec<(String, f64)> {
        let counts = self.since(cut);
        let answered: u64 = counts.iter().sum();
        let named = counts.iter().zip(stages).filter(|(count, _)| **count > 0);
        let mut shares: Vec<(String, f64)> =
            named.map(|(count, name)| (name.clone(), *count as f64 / answered as f64)).collect();
        shares.sort_by(|a, b| b.1.total_cmp(&a.1));
        shares
    }
}

/// Counts the operations of a slice by binding stage.
pub(crate) fn count(counts: &mut Vec<u64>, stage: Stage) {
    let index = usize::from(stage.0);
    if index >= counts.len() {
        counts.resize(index + 1, 0);
    }
    counts[index] += 1;
}
