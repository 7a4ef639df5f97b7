//! Real work on backing files, as data: a volume decides it, the shell does it.
//!
//! A shell may do all jobs that it was given at the same time and finish them in any order. What has to come after
//! another is not handed out before that one was reported as [worked](crate::Volumes::worked).

use crate::record::Commit;
use crate::request::Ticket;

/// A data file of a store. The first is number 0; the shell makes one when it is first named, and its name durable
/// before it reports the first job on it. Its first cluster is the shell's: no map refers to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// A place in a data file. What lies beyond the end of the file reads as zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The file.
    pub file: FileId,
    /// Byte from its beginning.
    pub at: u64,
}

/// The name of a job while it is under way; small, and used again afterwards: an index for the shell's own tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub u32);

/// One piece of real work. Every job is reported with [`crate::Volumes::worked`] once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its name.
    pub id: JobId,
    /// What is to be done.
    pub io: Io,
}

/// What is to be done. "Payload" is the buffer of the request with that ticket: what a read returns, what a write
/// brought. A short read or write is the shell's to continue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Io {
    /// From a file into the payload.
    Read {
        /// Whose payload.
        ticket: Ticket,
        /// Byte of the payload that the first one goes to.
        into: u32,
        /// Where the bytes are.
        place: Place,
        /// How many.
        length: u32,
    },
    /// Zeros into the payload: nothing was ever written there. A front may also answer with a hole.
    Blank {
        /// Whose payload.
        ticket: Ticket,
        /// Byte of the payload that the first one goes to.
        into: u32,
        /// How many.
        length: u32,
    },
    /// From the payload into a file.
    Write {
        /// Whose payload.
        ticket: Ticket,
        /// Byte of the payload that the first one comes from.
        from: u32,
        /// Where the bytes go.
        place: Place,
        /// How many.
        length: u32,
    },
    /// From one place of the data files to another.
    Copy {
        /// Where the bytes are.
        from: Place,
        /// Where they go.
        to: Place,
        /// How many.
        length: u32,
    },
    /// The bytes read as zeros afterwards; their space stays.
    Zero {
        /// The first one.
        place: Place,
        /// How many.
        length: u64,
    },
    /// The bytes read as zeros afterwards, and their space is given back where the filesystem can. Nobody refers to
    /// them; nobody is waiting.
    Punch {
        /// The first one.
        place: Place,
        /// How many.
        length: u64,
    },
    /// Makes durable what was written, zeroed and punched in a file until now (`fdatasync`), and its length.
    Sync {
        /// The file.
        file: FileId,
        /// Bytes that it has at least afterwards, sparse where nothing was written; a longer one stays as it is.
        length: u64,
    },
    /// Makes changes of the map durable, all or none of them. Exactly one is under way at a time. A whole one that fails
    /// with [`crate::Errno::NoSpc`] has left the log as it was.
    Commit(Box<Commit>),
}
