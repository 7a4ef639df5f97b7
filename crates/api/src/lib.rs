//! Request and response types of the control API, serialised as JSON.
//!
//! Sizes are integers in bytes (`_bytes`), spans integers in nanoseconds (`_ns`), moments RFC 3339 in UTC. Unknown
//! values are absent. Requests with unknown fields are refused.
#![deny(missing_docs)]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `POST /v1/volumes`: creates a volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Create {
    /// 1 to 64 letters, digits, `-`, `_` and `.`, beginning with a letter or digit. Also the NBD export name.
    pub name: String,
    /// Configuration of the catalogue, or stages of a model.
    pub like: String,
    /// Size in bytes if it differs from the product's capacity. Required for bare stages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// The same with a unit, as the product's vendor counts: `70GB` of OCI are 70 GiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<String>,
    /// Group whose limits the volume shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Seed of the model's service times; derived from the name when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Creates the volume even if its response times are below the timer lateness of this host.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
}

/// `POST /v1/volumes/{name}/level`: changes level or product.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// Settings of the product (`20vpu`, `iops=12000`, `P40`), a bare number for the product's level, or a whole
    /// configuration.
    pub to: String,
    /// Disconnects clients if the real product changes only while detached.
    #[serde(default)]
    pub force_detach: bool,
}

/// `POST /v1/volumes/{name}/resize`: enlarges a volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resize {
    /// New size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// The same with a unit, as the product's vendor counts: `70GB` of OCI are 70 GiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<String>,
}

impl Resize {
    /// A new size in bytes.
    pub const fn to_bytes(size_bytes: u64) -> Self {
        Self { size_bytes: Some(size_bytes), size: None }
    }
}

/// `POST /v1/volumes/{name}/snapshot` and `.../clone`: creates a volume with the present content of this volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fork {
    /// Name of the new volume.
    pub name: String,
    /// Configuration of a clone; that of its origin when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub like: Option<String>,
}

/// `POST /v1/volumes/{name}/restore`: replaces the content with that of another volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Restore {
    /// Source of the content: a snapshot of this volume, or any volume that is not larger.
    pub from: String,
}

/// `PUT /v1/volumes/{name}/autotune`: automatic level changes by load, and the level of an unused volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Autotune {
    /// Level to return to; absent disables performance-based changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<u32>,
    /// Highest level.
    #[serde(default, rename = "most", skip_serializing_if = "Option::is_none")]
    pub max: Option<u32>,
    /// Size of a change, in units of the level; default: that of the product, or 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// Throttled time before a step up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up_after_ns: Option<u64>,
    /// Idle time before the first step down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub down_first_ns: Option<u64>,
    /// Idle time before each further step down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub down_next_ns: Option<u64>,
    /// Time without clients before the volume rests at its lowest level. Absent disables resting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detached_after_ns: Option<u64>,
}

/// `PUT /v1/volumes/{name}/faults`: faults injected into requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Faults {
    /// Seed that selects the affected requests.
    pub seed: u64,
    /// Affected kind: `read`, `write`, `flush` or `trim`; all when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<String>,
    /// Requests per million that fail with EIO.
    pub errors_ppm: u32,
    /// Requests per million that are delayed by `spike_ns`.
    pub spikes_ppm: u32,
    /// Delay of a spike.
    pub spike_ns: u64,
    /// Requests per million whose connection is closed instead of a reply.
    pub tears_ppm: u32,
    /// Stall: no reply is sent for this time from now on.
    pub stall_ns: u64,
}

/// `PUT /v1/volumes/{name}/attachment`: the block device of a volume on this host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attachment {
    /// File in the FUSE mount of the service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Block device over the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Mount point of the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mountpoint: Option<String>,
    /// Left by an earlier run of the service: I/O fails until the volume is detached.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dead: bool,
}

/// `PUT /v1/volumes/{name}/recording`: records the requests of a volume as a trace for replay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Recording {
    /// Absolute path of a new file on the service's host. Existing files are never overwritten.
    pub file: String,
}

/// Response to `DELETE /v1/volumes/{name}/recording`: the finished recording.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Recorded {
    /// Path of the trace.
    pub file: String,
    /// Recorded operations.
    pub operations: u64,
    /// Operations missing from the trace because they arrived faster than they could be written.
    pub dropped: u64,
}

/// `POST /v1/groups`: an instance whose limits several volumes share.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Name, with the same rules as names of volumes.
    pub name: String,
    /// Machine of the catalogue (`oci/VM.Standard.E4.Flex:16ocpu`), or stages of a model.
    pub like: String,
}

/// A volume, as listed by `GET /v1/volumes`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Volume {
    /// Name of the volume.
    pub name: String,
    /// Present configuration.
    pub like: String,
    /// Level of the product, such as `20` VPUs; absent if the product has no levels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<u32>,
    /// Size in bytes as seen by clients.
    pub size_bytes: u64,
    /// `false` for a snapshot.
    pub writable: bool,
    /// Volume or snapshot that it was copied from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// Group whose limits the volume shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Time of creation.
    pub created: String,
    /// Stages of the model.
    pub model: String,
    /// Time dilation of all figures: the factor by which model time is slower than the clock; absent in real time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow: Option<u32>,
    /// Limit of this host, if it is below that of the product: the first limit that clients meet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostCeiling>,
    /// Created by force, although its response times are below the timer lateness of the host.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forced: bool,
    /// Limitations of the figures, as sentences. Every figure is *emulated*.
    #[serde(default)]
    pub doubts: Vec<String>,
    /// URIs for NBD clients.
    #[serde(default)]
    pub uris: Vec<String>,
    /// The volume as an iSCSI target; absent if the service has no portal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iscsi: Option<IscsiTarget>,
    /// Number of connected clients: NBD connections, iSCSI sessions, and the attachment to this host.
    pub clients: usize,
    /// Block device on this host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attachment: Option<Attachment>,
    /// Automatic level changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub autotune: Option<Autotune>,
    /// Injected faults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults: Option<Faults>,
    /// File of the present recording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording: Option<String>,
    /// Cost so far; absent if the product has no price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// When its changes become durable.
    #[serde(default)]
    pub durability: DurabilityTerms,
    /// Failure of the store with its remedy; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

/// The IOPS that this host carries, of those that the product has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostCeiling {
    /// Half of the IOPS that this host carries without a model, in model time.
    pub host_iops: u64,
    /// Maximum 4 KiB IOPS of the product.
    pub product_iops: u64,
}

/// When changes become durable, at the latest: they survive a crash of the service and of the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DurabilityTerms {
    /// `true`: at their acknowledgement. `false`: at that of a flush or FUA write.
    pub at_acknowledgement: bool,
    /// Maximum time until an acknowledged change becomes durable without a flush, in nanoseconds; absent if unlimited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within_ns: Option<u64>,
}

/// `GET /v1/health`, if the store accepts changes and makes them durable; otherwise the status is 503.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Health {
    /// Always `true`.
    pub healthy: bool,
}

/// `GET /v1/volumes/{name}/iscsi`: a volume as logical unit 0 of an iSCSI target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IscsiTarget {
    /// Name of the target. It is the same in each run of the service, and changes with the product of the volume.
    pub iqn: String,
    /// Addresses of its portals, `HOST:PORT`, in a fixed order. Each is a path; the first suffices for a product
    /// without multipath.
    pub portals: Vec<String>,
    /// Commands of one path in flight.
    pub queue_depth: u32,
    /// Identifier of the unit in the notation of udev and multipath: `36000...`.
    pub wwid: String,
    /// Name by which initiators authenticate with CHAP; absent if all are admitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chap_user: Option<String>,
    /// Vendor of INQUIRY data.
    pub vendor: String,
    /// Product of INQUIRY data.
    pub product: String,
    /// Portals of the controller that owns the unit, for asymmetric paths; absent if all paths are alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optimized: Option<Vec<String>>,
}

/// Cost of a volume since its creation, at list prices, by the second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// ISO 4217 code.
    pub currency: String,
    /// Cost so far, to a millionth: `0.004512`.
    pub so_far: String,
    /// Cost of 730 hours at the present level.
    pub monthly: String,
    /// Duration and cost of each configuration.
    pub parts: Vec<CostPart>,
}

/// Cost of a configuration of a volume.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CostPart {
    /// Configuration.
    pub like: String,
    /// Duration.
    pub span_ns: u64,
    /// Cost of this duration.
    pub cost: String,
}

/// `GET /v1/volumes/{name}/stats`: monotonic counters, and the fidelity of recent seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stats {
    /// Time of reading.
    pub at: String,
    /// Time dilation: all figures are in model time, which is slower than the clock by this factor.
    pub slow: u32,
    /// Second of reading, in the time of the periods.
    #[serde(default)]
    pub now_s: u64,
    /// Counts by kind: read, write, flush, trim.
    pub counts: Vec<KindCount>,
    /// Replies by the limit that held them longest.
    pub bound_by: Vec<BoundCount>,
    /// Time at the limits of the volume and of its group.
    #[serde(default)]
    pub limited: LimitedTimes,
    /// Requests in flight.
    pub in_flight: u32,
    /// Last second with replies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Period>,
    /// Recent seconds, oldest first, at most 600.
    pub periods: Vec<Period>,
    /// Seconds in which the emulation followed the model.
    pub faithful: u64,
    /// Seconds in which it did not.
    pub unfaithful: u64,
    /// Histogram of the lateness of replies: upper bounds and counts, ascending.
    pub lateness: Vec<Bin>,
    /// Sum of all lateness.
    #[serde(default)]
    pub lateness_sum_ns: u64,
    /// Offsets of 4 KiB blocks whose checksums mismatch: reads of them fail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<u64>,
    /// Number of reads of damaged blocks.
    #[serde(default)]
    pub damaged_reads: u64,
}

/// Counters of a volume at a moment, for displays that are updated several times a second.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LiveVolume {
    /// Name of the volume.
    pub name: String,
    /// Present configuration.
    pub like: String,
    /// Level of the product; absent without levels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<u32>,
    /// Size in bytes as seen by clients.
    pub size_bytes: u64,
    /// `false` for a snapshot.
    pub writable: bool,
    /// Number of connected clients.
    pub clients: usize,
    /// Whether it is a block device of this host.
    pub attached: bool,
    /// Completed operations since the start of the service.
    pub ops: u64,
    /// Bytes transferred since then.
    pub bytes: u64,
    /// Requests in flight.
    pub in_flight: u32,
    /// Last second with replies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<Period>,
    /// Cost so far and its currency; absent if the product has no price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<(String, String)>,
}

/// `POST /v1/scrub`: compares data with their checksums.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scrub {
    /// Volume or snapshot; all when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<String>,
    /// Maximum rate in bytes per second; default 100 MiB/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_bytes: Option<u64>,
}

/// `GET /v1/scrub`: the present scrub, or the last since the start of the service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScrubState {
    /// Whether the scrub is in progress.
    pub running: bool,
    /// Volume or snapshot; all when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<String>,
    /// Bytes compared; shared extents count once.
    pub done_bytes: u64,
    /// Bytes to compare.
    pub total_bytes: u64,
    /// Blocks of 4 KiB whose checksums mismatch.
    pub damaged_blocks: u64,
    /// The same blocks by volume, at most 1,000.
    pub damaged: Vec<DamagedBlock>,
    /// Reason why the scrub was aborted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Block with a checksum mismatch: reads of it fail.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct DamagedBlock {
    /// Volume or snapshot.
    pub volume: String,
    /// Offset in the volume.
    pub offset: u64,
}

/// Name and version of the format of [`Check`].
pub const CHECK_FORMAT: &str = "plimsoll.check/1";
/// Maximum number of damaged blocks that a check names.
pub const MAX_NAMED_DAMAGES: usize = 20;

/// Result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Check {
    /// Name and version of this format.
    #[schemars(extend("const" = CHECK_FORMAT))]
    pub format: &'static str,
    /// Identity of the directory.
    pub id: String,
    /// Commits in the log since the beginning, including compacted commits.
    pub commits: u64,
    /// Bytes of the log.
    pub log_bytes: u64,
    /// Bytes of all data files, holes included.
    pub data_bytes: u64,
    /// Volumes and snapshots; empty if unreadable.
    pub volumes: Vec<CheckedVolume>,
    /// Bytes of the data files without references, holes included.
    pub unreferenced_bytes: u64,
    /// Whether data have checksums.
    pub has_checksums: bool,
    /// Bytes compared with checksums; shared extents count once.
    pub verified_bytes: u64,
    /// Bytes of extents in the process of being written at the end; the next start recomputes their checksums.
    pub uncertain_bytes: u64,
    /// Blocks of volumes with checksum mismatches.
    pub damaged: Vec<DamagedBlock>,
    /// Whether unreferenced space is kept because a dropped commit may have referred to it.
    pub keeps_unreferenced: bool,
    /// Defects and losses.
    pub problems: Vec<String>,
    /// Repairs made.
    pub repaired: Vec<String>,
}

impl Check {
    /// True if all defects are damaged blocks, which do not prevent serving.
    pub const fn is_served(&self) -> bool {
        !self.damaged.is_empty() && self.problems.len() == named(self.damaged.len())
    }
}

/// Number of lines for a number of damaged blocks.
const fn named(damaged: usize) -> usize {
    if damaged > MAX_NAMED_DAMAGES { MAX_NAMED_DAMAGES + 1 } else { damaged }
}

/// A checked volume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CheckedVolume {
    /// Name of the volume.
    pub name: String,
    /// Size in bytes.
    pub size_bytes: u64,
    /// Allocated bytes, shared extents included.
    pub used_bytes: u64,
}

/// Counters of a kind of request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KindCount {
    /// `read`, `write`, `flush` or `trim`.
    pub kind: String,
    /// Requests completed without error.
    pub ops: u64,
    /// Bytes transferred.
    pub bytes: u64,
    /// Requests completed with an error.
    pub errors: u64,
    /// Response times of requests without error, as clients have them: upper bounds and counts, ascending. Those of more
    /// than 10 s are in no bin.
    #[serde(default)]
    pub responses: Vec<Bin>,
    /// Sum of these response times.
    #[serde(default)]
    pub response_sum_ns: u64,
}

/// Operations and bytes of a minute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Minute {
    /// Begin in milliseconds since 1970, by the clock of the host.
    pub start_ms: u64,
    /// Reads without error.
    pub reads: u64,
    /// Writes without error.
    pub writes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
}

/// A change of a volume's level or product since the start of the service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LevelChange {
    /// Time in milliseconds since 1970.
    pub at_ms: u64,
    /// Level or configuration from then on.
    pub to: String,
}

/// Time with at least one request that a limit held longest, in nanoseconds; a lower bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LimitedTimes {
    /// At a limit of operations of the volume.
    pub volume_operations_ns: u64,
    /// At a limit of bytes of the volume.
    pub volume_bytes_ns: u64,
    /// At a limit of operations of the group, which is an instance.
    pub group_operations_ns: u64,
    /// At a limit of bytes of the group.
    pub group_bytes_ns: u64,
}

/// Number of replies held longest by a limit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BoundCount {
    /// Name of the stage, `group: NAME`, or `fault`.
    pub limit: String,
    /// Number of replies.
    pub count: u64,
}

/// A second of a volume.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Period {
    /// Model seconds since the start of the service.
    pub start_s: u64,
    /// Completed operations.
    pub ops: u64,
    /// Bytes transferred.
    pub bytes: u64,
    /// Operations completed by the model.
    pub model_ops: u64,
    /// Median response time of the model.
    pub p50_ns: u64,
    /// 99th percentile of the model's response time.
    pub p99_ns: u64,
    /// Median lateness.
    pub late_p50_ns: u64,
    /// 99th percentile of the lateness.
    pub late_p99_ns: u64,
    /// `faithful`, or the reason against it: `median late`, `tail late`, `flow differs`, `offered less`.
    pub verdict: String,
}

/// A bin of a histogram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Bin {
    /// Upper bound.
    pub upto_ns: u64,
    /// Number of values.
    pub count: u64,
}

/// `GET /v1/service`: the running service.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct About {
    /// Program and version.
    pub made_by: String,
    /// The data directory.
    pub directory: String,
    /// Time of start.
    pub started: String,
    /// Time dilation: 1 is real time.
    pub slow: u32,
    /// Whether it runs with real-time priority.
    pub realtime: bool,
    /// Speed of the host, measured at start.
    pub floor: Floor,
    /// Space limit for data, in bytes.
    pub capacity_bytes: u64,
    /// Space used, in bytes.
    pub used_bytes: u64,
    /// Whether data have checksums.
    #[serde(default)]
    pub checksums: bool,
    /// When changes become durable.
    #[serde(default)]
    pub durability: DurabilityTerms,
    /// Failure of the store with its remedy; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// Listening addresses for NBD clients.
    pub listens: Vec<String>,
    /// Addresses of iSCSI portals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub iscsi: Vec<String>,
}

/// Best performance of the service on this host, measured without a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Floor {
    /// Median round trip of a 4 KiB read at depth 1.
    pub round_trip_p50_ns: u64,
    /// 99th percentile of the round trip.
    pub round_trip_p99_ns: u64,
    /// Median lateness of a timer.
    pub timer_p50_ns: u64,
    /// 99th percentile of a timer's lateness.
    pub timer_p99_ns: u64,
    /// 4 KiB reads per second at depth 32.
    pub iops: u64,
}

/// Body of every response with status 400 or higher.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorBody {
    /// Cause and remedy, in one line.
    pub error: String,
    /// The figures of a refusal of a product that is faster than the timers of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub too_fast: Option<TooFast>,
}

/// A product whose responses at queue depth 1 are shorter than the lateness of the host's timers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TooFast {
    /// Response time of the product.
    pub response_ns: u64,
    /// Median lateness of a timer.
    pub timer_p50_ns: u64,
    /// Factor of `plimsoll serve --slow` at which the host can emulate the product.
    pub slow_times: u64,
}
