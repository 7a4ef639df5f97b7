//! Changes of a store's maps as data, which have to be durable for recovery.

use crate::store::VolumeId;

/// A change, in the order of their occurrence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// The units of all other records; the first one of a [whole](Commit::whole) commit.
    Geometry {
        /// Bytes of a cluster.
        cluster_bytes: u32,
        /// Clusters in one data file.
        clusters_per_file: u32,
        /// How many numbers of volumes were given; they are not given again.
        volumes: u32,
    },
    /// A volume without content.
    Create {
        /// Its number, never used before.
        volume: VolumeId,
        /// Bytes.
        size: u64,
        /// Whether it can be written.
        access: Access,
    },
    /// `to` has the content of `from` from here on. Both exist.
    Fork {
        /// The source.
        from: VolumeId,
        /// The target, whose previous content is released.
        to: VolumeId,
    },
    /// Clusters `first ..` of a volume are at clusters `at ..` of the data files.
    Map {
        /// The volume.
        volume: VolumeId,
        /// Its first cluster.
        first: u32,
        /// How many.
        count: u32,
        /// The first cluster of the data files.
        at: u32,
    },
    /// Clusters of a volume read as zeros and have no space.
    Unmap {
        /// The volume.
        volume: VolumeId,
        /// Its first cluster.
        first: u32,
        /// How many.
        count: u32,
    },
    /// A volume becomes larger.
    Grow {
        /// The volume.
        volume: VolumeId,
        /// Bytes from now on.
        size: u64,
    },
    /// The description of a volume by the shell: its name, product, owner. Opaque to the store.
    Describe {
        /// The volume.
        volume: VolumeId,
        /// The new description.
        text: String,
    },
    /// A volume ends.
    Delete {
        /// The volume.
        volume: VolumeId,
    },
}

/// Whether a volume can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It can.
    ReadWrite,
    /// It is a snapshot.
    ReadOnly,
}

/// Records that become durable together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// One more than that of the commit before it.
    pub sequence: u64,
    /// True if the records are the complete state: all earlier commits can be dropped once it is durable.
    pub whole: bool,
    /// Position of its frame in the log of the shell; 0 for a whole commit, which begins a new log that replaces the
    /// old one atomically (write to another file, sync, rename).
    pub at: u64,
    /// The changes, in order.
    pub records: Vec<Record>,
}
