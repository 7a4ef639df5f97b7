//! Real storage as a target, and what can be known of it and of the host.
//!
//! The shell of the engines: clocks, kernels, files and threads are here and nowhere above. Knows nothing about
//! sweeps, statistics or reports. Writes to nothing that it did not make, unless it was named for destruction.

mod activity;
mod buffers;
mod clock;
mod disk;
mod engine;
mod file;
mod host;
mod loop_device;
pub mod nbd;
mod null;
mod occupant;
mod realtime;
mod refuse;
mod ring;
mod signature;
mod subject;
mod threads;
mod usage;

pub use activity::{Activity, ActivityDelta, DiskDelta, Frequency, ProcessDelta, Watch};
pub use buffers::Aligned;
pub use clock::Clock;
pub use disk::describe as describe_disk;
pub use engine::{Engine, Shape};
pub use file::{Access, Caching, Opened, open, scratch, sync, truncate};
pub use host::describe as describe_host;
pub use loop_device::{LoopDevice, LoopError};
pub use null::Null;
pub use occupant::{Occupant, occupant};
pub use realtime::{NoRealtime, realtime};
pub use refuse::{Claim, InUse, Refusal, Unknown, check_destroy, claim, claim_image};
pub use ring::Ring;
pub use signature::{Family, Signature, signature};
pub use subject::{
    Alignment, DeviceNumber, Direct, Filesystem, Nature, Needs, NotANumber, Subject, SubjectKind, Unusable, classify,
};
pub use threads::Threads;
pub use usage::{cpu_time, sharpen_timers, thread_cpu_time};
