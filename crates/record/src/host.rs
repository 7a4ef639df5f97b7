//! What a run was made on: the host and the device, as far as they could be read. Absent means not known, never zero.

use plimsoll_units::Bytes;
use serde::{Deserialize, Serialize};

/// The machine that the load came from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Host {
    /// Kernel release.
    pub kernel: Option<String>,
    /// Processor model.
    pub cpu: Option<String>,
    /// Processors that the process may use.
    pub cpus: Option<u32>,
    /// Memory in bytes.
    pub memory: Option<Bytes>,
    /// The hypervisor, when there is one and it says so.
    pub virtualization: Option<String>,
    /// The kernel's clock source.
    pub clock_source: Option<String>,
    /// The frequency governor of the first processor.
    pub governor: Option<String>,
}

/// The storage behind the path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Device {
    /// Kernel name of the block device, such as `nvme0n1`; the whole disk where the path is on a partition.
    pub name: Option<String>,
    /// Vendor and model as the device gives them.
    pub model: Option<String>,
    /// Size of the block device in bytes.
    pub size: Option<Bytes>,
    /// The kernel thinks that it rotates.
    pub rotational: Option<bool>,
    /// Logical block size in bytes: what direct I/O is aligned to.
    pub logical_block: Option<u32>,
    /// Physical block size in bytes.
    pub physical_block: Option<u32>,
    /// I/O scheduler.
    pub scheduler: Option<String>,
    /// Requests that the block layer queues.
    pub queue_requests: Option<u32>,
    /// `write back` or `write through`: whether a flush has work to do.
    pub write_cache: Option<String>,
    /// Filesystem of the path, when it is on one.
    pub filesystem: Option<String>,
    /// Its mount options.
    pub mount_options: Option<String>,
}
