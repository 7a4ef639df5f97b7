//! Real storage as a target, and facts about it and its host.
//!
//! The only crate with clocks, system calls for storage, files and threads of engines; independent of sweeps,
//! statistics and reports. It writes only to files that it made, and to those that were named for destruction.

mod activity;
mod aio;
mod atomic_file;
mod block;
mod buffers;
mod calls;
mod cgroup;
mod clock;
mod content;
mod disk;
mod engine;
mod extents;
mod facilities;
mod file;
mod flush_override;
mod host;
mod inline;
mod loop_device;
mod mapped;
pub mod nbd;
mod null;
mod nvme;
mod occupant;
mod outgoing;
mod page_cache;
mod processor_limit;
mod realtime;
mod refuse;
mod ring;
mod run_delay;
mod shape;
mod signature;
mod subject;
mod threads;
mod throttle;
pub mod tls;
mod uring;
mod usage;
mod yield_rule;

pub use activity::{
    Activity, ActivityDelta, ActivityWatch, DiskDelta, Frequency, HostSnapshot, ProcessDelta, disk_counters, host_time,
};
pub use aio::Aio;
pub use atomic_file::{NotWritable, check_writable, write_atomically};
pub use block::{DeviceNumber, NotANumber};
pub use buffers::Aligned;
pub use clock::Clock;
pub use content::{
    BadInterval, BadState, Blank, Checked, Checking, Compare, Content, Contents, Mismatch, MismatchKind, Mismatches,
    Pattern, Refilled, Restart,
};
pub use disk::{LoopBacking, NoDevice, describe as describe_disk, device_below, emulated_file, loop_backing};
pub use engine::Engine;
pub use facilities::{Facilities, MemoryLimit, ModuleState};
pub use file::{
    AccessMode, Caching, OpenHow, Opened, Space, SyncMode, create, is_ours, length, mark_created, open, open_how,
    preallocate, scratch, sync_data, truncate,
};
pub use flush_override::{flush_library, flush_overrides};
pub use host::describe as describe_host;
pub use inline::Inline;
pub use loop_device::{LoopDevice, LoopError};
pub use mapped::Mapped;
pub use null::Null;
pub use nvme::{NvmeDevice, NvmeError};
pub use occupant::{Occupant, occupant};
pub use outgoing::{Outgoing, Payload};
pub use page_cache::{AccessAdvice, NotDropped, advise, dirty_bytes, drop_all_caches, drop_cache};
pub use processor_limit::{ProcessorLimit, processor_limit};
pub use realtime::{NoRealtime, realtime};
pub use refuse::{Claim, InUse, Unknown, WriteRefusal, check_destroy, claim_image, claim_named, claim_ours};
pub use ring::Ring;
pub use run_delay::RunDelayWatch;
pub use shape::{Batching, Durable, Flush, Shape};
pub use signature::{Family, Signature, signature};
pub use subject::{Alignment, Direct, Filesystem, Nature, Needs, Subject, SubjectKind, Unusable, classify};
pub use threads::Threads;
pub use throttle::{Throttle, read_throttles};
pub use uring::Uring;
pub use usage::{ThreadUsage, cpu_time, sharpen_timers, thread_cpu_time, thread_usage};
