//! The quantities that steps of suites measure, as data. `report` has their words.

use serde::{Deserialize, Serialize};

/// The quantity that a step measures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum StepQuantity {
    /// A description in a file of an earlier version.
    Text {
        text: String,
    },

    // bonnie
    ByteWriteCalls,
    NewDurableFile,
    RewrittenChunks,
    ByteReadCalls,
    UncachedReads,
    ConcurrentSeeks,
    FileOperations,

    // crystaldiskmark
    SequentialReads,
    RandomReadsOfSmallFile,
    WritesWithFinalFlush,
    AcceptedWrites,
    MixedOperations,

    // dd
    KernelWrites,
    KernelReads,
    BufferedCopy,
    FlushedCopy,
    DirectBlockWrites,
    DurableBlocks,
    CachedReads,
    ReadAheadReads,
    DirectBlockReads,
    DirtyDataFlush,
    StoredZeroes,

    // snia
    SaturatedThroughput,
    LargeBlockStream,
    UnqueuedOperations,
    WriteSaturation,

    // tiobench
    ConcurrentNewFiles,
    RandomWritesOfFiles,
    RecentlyWrittenReads,
    ConcurrentRandomReads,

    // verify
    VerifiableWrites,
    ComparedReads,
    ComparedOverwrites,

    // walfsync
    PageCacheWrites,
    DurableWrites,
    WriteFlushReopen,
    FlushOfOtherDescriptor,
    WriteAndFlush,

    // articles
    LimitWithQueue,
    DataFileOperations,

    // databases
    StatementExecutions,
    Transactions,
    UnitsOfWork,
}

impl From<String> for StepQuantity {
    fn from(text: String) -> Self {
        Self::Text { text }
    }
}
