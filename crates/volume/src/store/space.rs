//! Allocation of clusters of the data files, with reference counts.
//!
//! An allocated cluster reads as zeros: it was never written, or was punched. The first cluster of each data file
//! belongs to the shell and is never allocated.

use std::collections::BTreeMap;

/// A run of clusters: first and count.
pub(crate) type Clusters = (u32, u32);

/// The clusters of all data files, numbered consecutively.
#[derive(Clone, Debug)]
pub(crate) struct ClusterSpace {
    /// Number of maps that refer to each cluster below the mark.
    references: Vec<u32>,
    /// Free runs below the mark: first and count.
    free: BTreeMap<u32, u32>,
    free_count: u32,
    /// Maximum number of clusters in use.
    capacity: u32,
    clusters_per_file: u32,
}

impl ClusterSpace {
    pub(crate) const fn new(capacity: u32, clusters_per_file: u32) -> Self {
        Self { references: Vec::new(), free: BTreeMap::new(), free_count: 0, capacity, clusters_per_file }
    }

    /// Builds the state from reference counts; returns unreferenced runs up to `mark`, which must be punched.
    pub(crate) fn recovered(mut references: Vec<u32>, mark: u32, empty: Self) -> (Self, Vec<Clusters>) {
        references.resize(references.len().max(mark as usize), 0);
        references.iter_mut().step_by(empty.clusters_per_file as usize).for_each(|header| *header = 1);
        let mut unclean: Vec<Clusters> = Vec::new();
        for (cluster, _) in references.iter().enumerate().filter(|(_, count)| **count == 0) {
            match unclean.last_mut() {
                Some((first, count)) if *first + *count == cluster as u32 => *count += 1,
                _ => unclean.push((cluster as u32, 1)),
            }
        }
        (Self { references, ..empty }, unclean)
    }

    /// Clusters available for allocation.
    pub(crate) fn available(&self) -> u32 {
        self.capacity.saturating_sub(self.taken())
    }

    /// Clusters in use, or not yet free again.
    pub(crate) fn taken(&self) -> u32 {
        self.mark() - self.mark().div_ceil(self.clusters_per_file) - self.free_count
    }

    /// End of all clusters ever allocated.
    pub(crate) const fn mark(&self) -> u32 {
        self.references.len() as u32
    }

    pub(crate) const fn capacity(&self) -> u32 {
        self.capacity
    }

    pub(crate) fn set_capacity(&mut self, capacity: u32) {
        self.capacity = capacity;
    }

    /// Allocates from the first free run: at most `count` clusters of a data file, each with a reference. The caller
    /// has checked availability.
    pub(crate) fn take(&mut self, count: u32) -> Clusters {
        let Some((&first, &length)) = self.free.first_key_value() else {
            if self.mark().is_multiple_of(self.clusters_per_file) {
                self.references.push(1);
            }
            let first = self.mark();
            let count = count.min(self.clusters_per_file - first % self.clusters_per_file);
            self.references.resize((first + count) as usize, 1);
            return (first, count);
        };
        let taken = length.min(count);
        self.free.remove(&first);
        if length > taken {
            self.free.insert(first + taken, length - taken);
        }
        self.free_count -= taken;
        self.references[first as usize..(first + taken) as usize].fill(1);
        (first, taken)
    }

    #[inline]
    pub(crate) fn is_shared(&self, cluster: u32) -> bool {
        self.references[cluster as usize] > 1
    }

    /// Adds a reference to each cluster.
    pub(crate) fn share(&mut self, (first, count): Clusters) {
        for references in &mut self.references[first as usize..(first + count) as usize] {
            *references += 1;
        }
    }

    /// Removes a reference; true if it was the last.
    pub(crate) fn release(&mut self, cluster: u32) -> bool {
        let references = &mut self.references[cluster as usize];
        *references -= 1;
        *references == 0
    }

    /// Frees punched clusters.
    pub(crate) fn clean(&mut self, (mut first, mut count): Clusters) {
        self.free_count += count;
        if let Some((&before, &length)) = self.free.range(..first).next_back()
            && before + length == first
        {
            self.free.remove(&before);
            (first, count) = (before, length + count);
        }
        if let Some(length) = self.free.remove(&(first + count)) {
            count += length;
        }
        self.free.insert(first, count);
    }
}
