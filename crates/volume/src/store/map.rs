//! Map from clusters of a volume to clusters of the data files.
//!
//! Two levels: leaves of 512 clusters, shared by copies of a map until modified. A lookup is two array accesses; a copy
//! of the map of 1 TiB in 64 KiB clusters is 32,768 reference counts.

use std::ops::Range;
use std::sync::Arc;

const LEAF: u32 = 512;

/// Data cluster plus 1; 0 if unmapped.
type Leaf = [u32; LEAF as usize];

#[derive(Clone, Debug, Default)]
pub(crate) struct Map {
    leaves: Vec<Option<Arc<Leaf>>>,
}

/// Consecutive clusters of a volume that are unmapped, or consecutive in the data files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClusterRun {
    pub(crate) first: u32,
    pub(crate) count: u32,
    /// Data cluster of `first`.
    pub(crate) at: Option<u32>,
}

impl Map {
    /// An empty map.
    pub(crate) const fn new() -> Self {
        Self { leaves: Vec::new() }
    }

    /// Data cluster of a cluster.
    #[inline]
    pub(crate) fn get(&self, index: u32) -> Option<u32> {
        let leaf = self.leaves.get((index / LEAF) as usize)?.as_ref()?;
        leaf[(index % LEAF) as usize].checked_sub(1)
    }

    /// Maps or unmaps a cluster. Returns the previous data cluster.
    pub(crate) fn set(&mut self, index: u32, at: Option<u32>) -> Option<u32> {
        let (leaf, within) = ((index / LEAF) as usize, (index % LEAF) as usize);
        if leaf >= self.leaves.len() {
            at?;
            self.leaves.resize(leaf + 1, None);
        }
        if self.leaves[leaf].is_none() && at.is_none() {
            return None;
        }
        let leaf = self.leaves[leaf].get_or_insert_with(|| Arc::new([0; LEAF as usize]));
        if leaf[within] == at.map_or(0, |at| at + 1) {
            return at;
        }
        let leaf = Arc::make_mut(leaf);
        let before = leaf[within].checked_sub(1);
        leaf[within] = at.map_or(0, |at| at + 1);
        before
    }

    /// Clusters of `range` in maximal runs, including holes.
    pub(crate) fn runs(&self, range: Range<u32>) -> Runs<'_> {
        Runs { map: self, next: range.start, end: range.end }
    }

    /// Mapped runs of `range`.
    pub(crate) fn allocated(&self, range: Range<u32>) -> impl Iterator<Item = (u32, u32, u32)> {
        self.runs(range).filter_map(|run| run.at.map(|at| (run.first, run.count, at)))
    }

    /// A lower bound of the end of the hole at `index`, which skips empty leaves.
    fn hole_until(&self, index: u32, end: u32) -> u32 {
        let leaf = index / LEAF;
        let empty = |leaf: u32| self.leaves.get(leaf as usize).is_none_or(Option::is_none);
        if !empty(leaf) {
            return index + 1;
        }
        let leaf_end = (self.leaves.len() as u32).max(leaf);
        let next = (leaf..leaf_end).find(|leaf| !empty(*leaf));
        next.map_or(end, |leaf| leaf.saturating_mul(LEAF).min(end))
    }
}

/// See [`Map::runs`].
#[derive(Debug)]
pub(crate) struct Runs<'a> {
    map: &'a Map,
    next: u32,
    end: u32,
}

impl Iterator for Runs<'_> {
    type Item = ClusterRun;

    #[inline]
    fn next(&mut self) -> Option<ClusterRun> {
        if self.next >= self.end {
            return None;
        }
        let (first, at) = (self.next, self.map.get(self.next));
        match at {
            Some(at) => {
                self.next += 1;
                while self.next < self.end && self.map.get(self.next) == at.checked_add(self.next - first) {
                    self.next += 1;
                }
            }
            None => {
                while self.next < self.end && self.map.get(self.next).is_none() {
                    self.next = self.map.hole_until(self.next, self.end);
                }
            }
        }
        Some(ClusterRun { first, count: self.next - first, at })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn is_a_map(
            changes in prop::collection::vec((0..3_000_u32, prop::option::of(0..50_u32)), 1..200),
            ranges in prop::collection::vec((0..4_000_u32, 0..3_000_u32), 1..10),
        ) {
            let (mut map, mut truth) = (Map::default(), BTreeMap::new());
            let mut copies = Vec::new();
            for (step, (index, at)) in changes.into_iter().enumerate() {
                if step % 50 == 0 {
                    copies.push((map.clone(), truth.clone()));
                }
                let before = match at {
                    Some(at) => truth.insert(index, at),
                    None => truth.remove(&index),
                };
                prop_assert_eq!(map.set(index, at), before);
            }
            copies.push((map, truth));
            for (map, truth) in &copies {
                for (start, length) in &ranges {
                    let mut next = *start;
                    for run in map.runs(*start..start + length) {
                        prop_assert_eq!(run.first, next);
                        next += run.count;
                        for index in run.first..next {
                            prop_assert_eq!(truth.get(&index).copied(), run.at.map(|at| at + index - run.first));
                        }
                    }
                    prop_assert_eq!(next, start + length);
                }
            }
        }
    }

    #[test]
    fn hole_of_terabytes_is_a_single_run() {
        let mut map = Map::default();
        map.set(40_000_000, Some(7));
        let runs: Vec<ClusterRun> = map.runs(3..u32::MAX).collect();
        assert_eq!(runs.len(), 3);
        assert_eq!(runs[1], ClusterRun { first: 40_000_000, count: 1, at: Some(7) });
    }
}
