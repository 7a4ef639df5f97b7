//! Emulated volumes: a store determines the location of data, a model the time of replies.
//!
//! [`Volumes`] is the interface for a front: `accept` a request, execute the returned jobs, report them with `worked`,
//! and `drain` due replies. A reply leaves when both the model and the real work are done. If the real work ends after
//! the model, the difference is counted as lateness.
//!
//! Pure: without protocol, clock, file, thread or network. The shell executes the jobs.

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
mod slow;
mod store;
mod superblock;
mod totals;
mod volumes;

pub use backing::Backing;
pub use faults::Faults;
pub use fidelity::{Breach, Fidelity, FidelityVerdict, FidelityWindow, Flow, LATENESS_LIMITS, Period};
pub use flat::Flat;
pub use job::{FileId, FileJob, FilePosition, Io, JobId};
pub use life::{AutotuneState, Detached, IntervalLoad, Ladder, LadderError, LevelModel, Policy};
pub use log::{Log, LogError, StoreId};
pub use record::{Commit, Record, VolumeAccess, VolumeId};
pub use request::{Class, Command, Errno, Request, Space, Ticket};
pub use slow::Slow;
pub use store::{
    About, Durability, Edit, EditError, Extent, Geometry, Recovered, ShortFile, Store, StoreEnd, StoreHealth,
    Unrecoverable, Unreferenced, Usage,
};
pub use superblock::{BLOCK_BYTES, BlockError, FileKind, Superblock, SuperblockData, header, read_header};
pub use totals::{BUCKET_BOUNDS_NS, Bound, Label, LimitTime, LimitedQuantity, ResponseCounts, Totals};
pub use volumes::{Edited, Export, GroupId, Lead, Limits, NotAccepted, NotServed, Reply, Serving, Then, Volumes};
