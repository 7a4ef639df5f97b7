//! I/O on data files, decided by a volume and executed by the shell.
//!
//! A shell may execute all issued jobs concurrently, in any order. Dependent jobs are issued after their predecessors
//! were reported as [worked](crate::Volumes::worked).

use crate::record::Commit;
use crate::request::Ticket;

/// A data file of a store, numbered from 0. The shell creates it at its first job, and makes its name durable before it
/// reports that job. The first cluster belongs to the shell: maps never refer to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// A position in a data file, which reads as zeros beyond its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FilePosition {
    pub file: FileId,
    /// Byte offset.
    pub at: u64,
}

/// Identifier of a job in progress; small and reused, so usable as an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub u32);

/// An operation on data files. Each job is reported once with [`crate::Volumes::worked`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileJob {
    pub id: JobId,
    pub io: Io,
}

/// An operation. The payload is the buffer of the ticket's request: the result of a read, or the data of a write. The
/// shell completes short reads and writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Io {
    /// Reads from a file into the payload.
    Read {
        /// Request with the payload.
        ticket: Ticket,
        /// First byte in the payload.
        into: u32,
        /// Start in the files.
        place: FilePosition,
        /// Length in bytes.
        length: u32,
    },
    /// Zeros the payload, for an unallocated range. A front may report a hole instead.
    Blank {
        /// Request with the payload.
        ticket: Ticket,
        /// First byte in the payload.
        into: u32,
        /// Length in bytes.
        length: u32,
    },
    /// Writes from the payload into a file.
    Write {
        /// Request with the payload.
        ticket: Ticket,
        /// First byte in the payload.
        from: u32,
        /// Start in the files.
        place: FilePosition,
        /// Length in bytes.
        length: u32,
    },
    /// Copies a range of the data files.
    Copy {
        /// Start of the source.
        from: FilePosition,
        /// Start of the target.
        to: FilePosition,
        /// Length in bytes.
        length: u32,
    },
    /// Zeros a range, which stays allocated.
    Zero {
        place: FilePosition,
        /// Length in bytes.
        length: u64,
    },
    /// Zeros a range, and deallocates it if the filesystem supports that. No volume refers to it, and no request waits.
    Punch {
        place: FilePosition,
        /// Length in bytes.
        length: u64,
    },
    /// Makes all preceding changes of a file durable (`fdatasync`), and its length.
    Sync {
        file: FileId,
        /// Minimum length of the file afterwards; it is extended sparsely.
        length: u64,
    },
    /// Makes changes of the map durable, atomically. At most one is in progress. A full commit that fails with
    /// [`crate::Errno::NoSpc`] must leave the log unchanged.
    Commit(Box<Commit>),
}
