//! Description of the host and the device of a run. Unknown values are absent, never zero.

use plimsoll_units::Bytes;
use serde::{Deserialize, Serialize};

/// The machine that generated the load.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Host {
    /// Kernel release.
    pub kernel: Option<String>,
    /// Processor model.
    pub cpu: Option<String>,
    /// Number of processors available to the process.
    pub cpus: Option<u32>,
    /// Memory in bytes.
    pub memory: Option<Bytes>,
    /// Hypervisor, if detected.
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
    /// Whether the kernel regards it as rotational.
    pub rotational: Option<bool>,
    /// Logical block size in bytes: the alignment of direct I/O.
    pub logical_block: Option<u32>,
    /// Physical block size in bytes.
    pub physical_block: Option<u32>,
    /// I/O scheduler.
    pub scheduler: Option<String>,
    /// Queue size of the block layer in requests.
    pub queue_requests: Option<u32>,
    /// `write back` or `write through`: whether flushes are needed.
    pub write_cache: Option<String>,
    /// Filesystem of the path, if any.
    pub filesystem: Option<String>,
    /// Its mount options.
    pub mount_options: Option<String>,
}
