//! Real work on data files, as data: a volume decides it, the shell does it.
//!
//! A shell may do all issued jobs concurrently and finish them in any order. A job that has to follow another is issued
//! after that was reported as [worked](crate::Volumes::worked).

use crate::record::Commit;
use crate::request::Ticket;

/// A data file of a store, from number 0 on. The shell makes a file at its first job, and makes its name durable before
/// it reports that job. Its first cluster belongs to the shell: no map refers to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// A position in a data file, which reads as zeros beyond its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The file.
    pub file: FileId,
    /// Byte from its beginning.
    pub at: u64,
}

/// The number of a job while it is in progress; small and reused, as an index for tables of the shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub u32);

/// A piece of real work. Each job is reported once with [`crate::Volumes::worked`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its number.
    pub id: JobId,
    /// The operation.
    pub io: Io,
}

/// An operation. The payload is the buffer of the request with the ticket: the result of a read, or the data of a
/// write. The shell continues a short read or write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Io {
    /// From a file into the payload.
    Read {
        /// The request with the payload.
        ticket: Ticket,
        /// First byte in the payload.
        into: u32,
        /// First byte in the files.
        place: Place,
        /// Bytes.
        length: u32,
    },
    /// Zeros into the payload, for a range that was never written. A front may report a hole instead.
    Blank {
        /// The request with the payload.
        ticket: Ticket,
        /// First byte in the payload.
        into: u32,
        /// Bytes.
        length: u32,
    },
    /// From the payload into a file.
    Write {
        /// The request with the payload.
        ticket: Ticket,
        /// First byte in the payload.
        from: u32,
        /// First byte in the files.
        place: Place,
        /// Bytes.
        length: u32,
    },
    /// From one range of the data files to another.
    Copy {
        /// First byte in the files.
        from: Place,
        /// First byte of the target.
        to: Place,
        /// Bytes.
        length: u32,
    },
    /// The range reads as zeros afterwards and stays allocated.
    Zero {
        /// First byte.
        place: Place,
        /// Bytes.
        length: u64,
    },
    /// The range reads as zeros afterwards, and is deallocated where the filesystem supports that. No volume refers to
    /// it, and no request waits.
    Punch {
        /// First byte.
        place: Place,
        /// Bytes.
        length: u64,
    },
    /// Makes all writes, zeros and punches in a file until now durable (`fdatasync`), and its length.
    Sync {
        /// The file.
        file: FileId,
        /// Minimum length of the file afterwards, sparse where it grows.
        length: u64,
    },
    /// Makes changes of the map durable, all or none. At most one is in progress. A whole commit that fails with
    /// [`crate::Errno::NoSpc`] has left the log unchanged.
    Commit(Box<Commit>),
}
