//! Quantities of steps as sentences.

use plimsoll_language::label;
use plimsoll_record::StepQuantity;

/// The figure of a step in a sentence.
#[rustfmt::skip]
pub(crate) fn quantity(quantity: &StepQuantity) -> &str {
    match quantity {
        StepQuantity::Text { text } => text,
        StepQuantity::ByteWriteCalls => label!("time of a system call that writes a single byte"),
        StepQuantity::NewDurableFile => label!("writing a new file and making it durable"),
        StepQuantity::RewrittenChunks =>
            label!("reading each chunk and writing it back; the rate counts a chunk once, though it moves twice"),
        StepQuantity::ByteReadCalls => label!("time of a system call that reads a single byte"),
        StepQuantity::UncachedReads => label!("sequential reads with read-ahead of the kernel, of data that are not cached"),
        StepQuantity::ConcurrentSeeks =>
            label!("reads of a chunk at random places per second, several at once, each tenth written back"),
        StepQuantity::FileOperations => label!("operations of the filesystem per file, until all are durable"),
        StepQuantity::SequentialReads =>
            label!("Reads past the page cache, one after the other: read-ahead and cache of the device help as much as they \
             can."),
        StepQuantity::RandomReadsOfSmallFile =>
            label!("Reads past the page cache within a small file, partly served by the device's cache."),
        StepQuantity::WritesWithFinalFlush =>
            label!("Writes past the page cache with one flush at the end inside the time: how fast they become durable in \
             bulk."),
        StepQuantity::AcceptedWrites =>
            label!("Writes past the page cache that nothing flushes: the rate at which the device accepts them, without \
             durability."),
        StepQuantity::MixedOperations =>
            label!("Reads and writes of one file at the same time, past the page cache, without flushes."),
        StepQuantity::KernelWrites => label!("The storage's sequential write, in the requests that a kernel would make of it"),
        StepQuantity::KernelReads => label!("The storage's sequential read, in the requests that a kernel would make of it"),
        StepQuantity::BufferedCopy =>
            label!("How fast memory takes the data, slowed down when the kernel allows no more dirty pages"),
        StepQuantity::FlushedCopy => label!("Sequential write of the storage, including a flush at the end"),
        StepQuantity::DirectBlockWrites => label!("Single-block writes of the storage, past the page cache, not durable"),
        StepQuantity::DurableBlocks => label!("Commits: each block is durable before the next is written"),
        StepQuantity::CachedReads => label!("Memory for cached data, storage with read-ahead for the rest"),
        StepQuantity::ReadAheadReads => label!("The storage's sequential read with the kernel's read-ahead"),
        StepQuantity::DirectBlockReads => label!("Single-block reads of the storage, without read-ahead"),
        StepQuantity::DirtyDataFlush => label!("Data not yet written to the storage at the end of the buffered copy"),
        StepQuantity::StoredZeroes => label!("Whether zeroes are stored as other data are"),
        StepQuantity::SaturatedThroughput => label!("Random operations past the page cache with a fixed number outstanding, without flushes: the throughput of \
    a closed load."),
        StepQuantity::LargeBlockStream =>
            label!("One stream of 1 MiB blocks past the page cache with many outstanding, without flushes."),
        StepQuantity::UnqueuedOperations =>
            label!("Random operations past the page cache, at queue depth 1, without flushes: a write goes to the device's \
             cache."),
        StepQuantity::WriteSaturation => label!("Random writes past the page cache, until the sustained rate is visible."),
        StepQuantity::ConcurrentNewFiles => label!("writing new files, all threads at once, until the last of them is durable"),
        StepQuantity::RandomWritesOfFiles =>
            label!("writing blocks at random places of files that exist, until all is durable"),
        StepQuantity::RecentlyWrittenReads => label!("sequential reads of data just written, from memory as far as cached"),
        StepQuantity::ConcurrentRandomReads => label!("reading blocks at random places, each thread waiting for its own"),
        StepQuantity::VerifiableWrites => label!("Sequential writes of data that are made for each block"),
        StepQuantity::ComparedReads => label!("Sequential reads, each block compared with its last written version"),
        StepQuantity::ComparedOverwrites =>
            label!("Concurrent random reads and writes, each read compared with the valid versions"),
        StepQuantity::PageCacheWrites => label!("The page cache, without durability"),
        StepQuantity::DurableWrites => label!("Durable writes, one after the other"),
        StepQuantity::WriteFlushReopen =>
            label!("A write and its flush; then the file is opened and closed once, where pg_test_fsync does so twice"),
        StepQuantity::FlushOfOtherDescriptor =>
            label!("A write, and a flush through a descriptor opened for it, where pg_test_fsync opens two"),
        StepQuantity::WriteAndFlush => label!("A write into the page cache or past it, and its flush, one after the other"),
        StepQuantity::LimitWithQueue => label!("what is in flight always: the limit of operations, and a queue before it"),
        StepQuantity::DataFileOperations => label!("blocks of 8 KiB at random: what data files are asked for, without redo"),
        StepQuantity::StatementExecutions =>
            label!("whole executions as a session sees them; a minute has sessions times 60 s over their mean"),
        StepQuantity::Transactions => label!("whole transactions as a session sees them, commit included"),
        StepQuantity::UnitsOfWork => label!("Random reads of single blocks through an index, and updates of them, by sessions without think time. A \
    commit is timed separately from its update."),
    }
}
