//! The units of a store: clusters and data files.

use crate::job::{FileId, Place};

/// The units of a store; fixed when it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Bytes of a cluster, the unit that is shared and copied: a power of two from 4 KiB to 2 MiB.
    pub cluster_bytes: u32,
    /// Clusters in one data file, the first of which is the shell's: a power of two, at least 2.
    pub clusters_per_file: u32,
}

impl Default for Geometry {
    /// Clusters of 64 KiB, files of 1 TiB.
    fn default() -> Self {
        Self { cluster_bytes: 1 << 16, clusters_per_file: 1 << 24 }
    }
}

impl Geometry {
    /// True when the units are within their bounds.
    pub const fn is_valid(self) -> bool {
        let size = self.cluster_bytes;
        size.is_power_of_two()
            && size >= 1 << 12
            && size <= 1 << 21
            && self.clusters_per_file.is_power_of_two()
            && self.clusters_per_file > 1
    }

    /// The most bytes of one volume.
    pub const fn size_max(self) -> u64 {
        (u32::MAX as u64) << self.shift()
    }

    #[inline]
    pub(crate) const fn shift(self) -> u32 {
        self.cluster_bytes.trailing_zeros()
    }

    /// The cluster that a byte of a volume lies in.
    #[inline]
    pub(crate) const fn cluster(self, byte: u64) -> u32 {
        (byte >> self.shift()) as u32
    }

    /// Clusters that `bytes` take, the last one perhaps not to its end.
    pub(crate) const fn clusters(self, bytes: u64) -> u32 {
        bytes.div_ceil(self.cluster_bytes as u64) as u32
    }

    /// The first byte of a cluster, in a volume or on the line of all data files.
    #[inline]
    pub(crate) const fn byte(self, cluster: u32) -> u64 {
        (cluster as u64) << self.shift()
    }

    /// The data file of a cluster.
    pub(crate) const fn file(self, cluster: u32) -> FileId {
        FileId(cluster / self.clusters_per_file)
    }

    /// Bytes that a data file has when it ends with the last of so many clusters of all data files.
    pub(crate) const fn file_bytes(self, file: FileId, clusters: u32) -> u64 {
        let within = clusters.saturating_sub(file.0.saturating_mul(self.clusters_per_file));
        let within = if within < self.clusters_per_file { within } else { self.clusters_per_file };
        self.byte(within)
    }

    /// Where a byte of the line of all data files is, and how many bytes follow it in the same file.
    #[inline]
    pub(crate) const fn place(self, line: u64) -> (Place, u64) {
        let file_bytes = (self.clusters_per_file as u64) << self.shift();
        let at = line & (file_bytes - 1);
        (Place { file: FileId((line >> file_bytes.trailing_zeros()) as u32), at }, file_bytes - at)
    }
}
