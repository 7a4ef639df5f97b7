//! Changes of a store's maps, which must be durable for recovery.

/// Identifier of a volume or snapshot, unique for the lifetime of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VolumeId(pub u32);

/// A change. Changes are applied in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// Units of all other records; the first record of a [full](Commit::is_full) commit.
    Geometry {
        /// Bytes of a cluster.
        cluster_bytes: u32,
        /// Clusters per data file.
        clusters_per_file: u32,
        /// Number of allocated volume numbers, which are never reused.
        volumes: u32,
    },
    /// Creates an empty volume.
    Create {
        /// Number, never used before.
        volume: VolumeId,
        /// Size in bytes.
        size: u64,
        access: VolumeAccess,
    },
    /// Copies the content of the volume `from` to `to`. Both exist.
    Fork {
        from: VolumeId,
        /// The target; its previous content is released.
        to: VolumeId,
    },
    /// Maps clusters from `first` of a volume to clusters from `at` of the data files.
    Map {
        volume: VolumeId,
        /// First cluster in the volume.
        first: u32,
        /// Number of clusters.
        count: u32,
        /// First cluster in the data files.
        at: u32,
    },
    /// Unmaps clusters of a volume, which then read as zeros.
    Unmap {
        volume: VolumeId,
        /// First cluster in the volume.
        first: u32,
        /// Number of clusters.
        count: u32,
    },
    Grow {
        volume: VolumeId,
        /// New size in bytes.
        size: u64,
    },
    /// Sets the description of a volume by the shell: name, product, owner. Opaque to the store.
    Describe {
        volume: VolumeId,
        /// The new description.
        text: String,
    },
    Delete {
        volume: VolumeId,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VolumeAccess {
    /// A writable volume.
    ReadWrite,
    ReadOnly,
}

/// Records that become durable together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Number of the commit; consecutive.
    pub sequence: u64,
    /// True if the records are the complete state: earlier commits are obsolete once it is durable.
    pub is_full: bool,
    /// Offset of its frame in the log; 0 for a full commit, which starts a new log that replaces the old one
    /// atomically (write to another file, sync, rename).
    pub at: u64,
    /// Changes in order.
    pub records: Vec<Record>,
}
