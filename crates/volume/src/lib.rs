//! Emulated volumes: a store that holds the bytes, and a model that says when.
//!
//! [`Volumes`] is what a front drives: `accept` a request, do the real work that it asks for, tell it what was
//! `worked`, and `drain` the replies when they are due. A reply leaves when both the model and the real work are done;
//! later than the model is lateness, counted and never hidden.
//!
//! Pure: knows no protocol, clock, file, thread or network. The shell moves the bytes and makes things durable in the
//! order that it is asked in.

mod backing;
mod faults;
mod fidelity;
mod flat;
mod job;
mod life;
mod log;
mod pace;
mod record;
mod request;
mod slab;
mod slow;
mod store;
mod superblock;
mod totals;
mod volumes;

pub use backing::Backing;
pub use faults::Faults;
pub use fidelity::{Breach, Fidelity, Flow, Period, Verdict, Window};
pub use flat::Flat;
pub use job::{FileId, Io, Job, JobId, Place};
pub use life::{Autotune, Detached, Ladder, LadderError, Policy, Rung, Seen};
pub use log::{Log, LogError, StoreId};
pub use record::{Access, Commit, Record};
pub use request::{Class, Command, Errno, Request, Space, Ticket};
pub use slow::Slow;
pub use store::{
    About, Edit, EditError, Ended, Extent, Geometry, Recovered, ShortFile, Store, Unrecoverable, Unreferenced, Usage,
    VolumeId,
};
pub use superblock::{BLOCK_BYTES, Block, BlockError, FileKind, Superblock, header, read_header};
pub use totals::{Label, Totals};
pub use volumes::{Bound, Edited, Export, GroupId, Lead, Limits, NotServed, NotTaken, Reply, Serving, Then, Volumes};
