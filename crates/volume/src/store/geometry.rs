//! Units of a store: clusters and data files.

use crate::job::{FileId, FilePosition};

/// Units of a store; fixed at creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Bytes of a cluster, the unit of sharing and copying: a power of two from 4 KiB to 2 MiB.
    pub cluster_bytes: u32,
    /// Clusters per data file, including the first, which belongs to the shell: a power of two, at least 2.
    pub clusters_per_file: u32,
}

impl Default for Geometry {
    /// Clusters of 64 KiB, files of 1 TiB.
    fn default() -> Self {
        Self { cluster_bytes: 1 << 16, clusters_per_file: 1 << 24 }
    }
}

impl Geometry {
    /// True if the units are valid.
    pub const fn is_valid(self) -> bool {
        let size = self.cluster_bytes;
        size.is_power_of_two()
            && size >= 1 << 12
            && size <= 1 << 21
            && self.clusters_per_file.is_power_of_two()
            && self.clusters_per_file > 1
    }

    /// Maximum size of a volume in bytes.
    pub const fn size_max(self) -> u64 {
        (u32::MAX as u64) << self.shift()
    }

    #[inline]
    pub(crate) const fn shift(self) -> u32 {
        self.cluster_bytes.trailing_zeros()
    }

    /// Cluster of a byte of a volume.
    #[inline]
    pub(crate) const fn cluster(self, byte: u64) -> u32 {
        (byte >> self.shift()) as u32
    }

    /// Number of clusters for `bytes`, rounded up.
    pub(crate) const fn clusters(self, bytes: u64) -> u32 {
        bytes.div_ceil(self.cluster_bytes as u64) as u32
    }

    /// First byte of a cluster, in a volume or in the concatenation of all data files.
    #[inline]
    pub(crate) const fn byte(self, cluster: u32) -> u64 {
        (cluster as u64) << self.shift()
    }

    /// The data file of a cluster.
    pub(crate) const fn file(self, cluster: u32) -> FileId {
        FileId(cluster / self.clusters_per_file)
    }

    /// Length of a data file if `clusters` clusters of all data files are in use.
    pub(crate) const fn file_bytes(self, file: FileId, clusters: u32) -> u64 {
        let within = clusters.saturating_sub(file.0.saturating_mul(self.clusters_per_file));
        let within = if within < self.clusters_per_file { within } else { self.clusters_per_file };
        self.byte(within)
    }

    /// Data file and offset of a byte of the concatenation of all data files, and the number of bytes up to the end of
    /// the file.
    #[inline]
    pub(crate) const fn place(self, line: u64) -> (FilePosition, u64) {
        let file_bytes = (self.clusters_per_file as u64) << self.shift();
        let at = line & (file_bytes - 1);
        (FilePosition { file: FileId((line >> file_bytes.trailing_zeros()) as u32), at }, file_bytes - at)
    }
}
