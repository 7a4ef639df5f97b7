//! What the control API carries, as JSON: requests and answers.
//!
//! Sizes are integers of bytes (`_bytes`), spans integers of nanoseconds (`_ns`), moments RFC 3339 in UTC. What is not
//! known is absent. Requests refuse fields that they do not know.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::fsck::DamagedBlock;

/// `POST /v1/volumes`: a new volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Create {
    /// 1 to 64 letters, digits, `-`, `_` and `.`, beginning with a letter or digit; the export's name for NBD clients.
    pub name: String,
    /// A configuration of the catalogue, or stages of a model.
    pub like: String,
    /// Bytes of the volume, where they differ from the product's capacity (needed for bare stages).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// A group whose limits it shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Determines the model's service times; drawn from the name when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// `POST /v1/volumes/{name}/level`: another level or product.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// Settings of the product (`20vpu`, `iops=12000`, `P40`), a bare number for the product's level, or a whole
    /// configuration.
    pub to: String,
    /// Break clients off where the real product changes detached only.
    #[serde(default)]
    pub force_detach: bool,
}

/// `POST /v1/volumes/{name}/resize`: a larger volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resize {
    /// Bytes from now on.
    pub size_bytes: u64,
}

/// `POST /v1/volumes/{name}/snapshot` and `.../clone`: a new volume with the present content of this one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fork {
    /// Its name.
    pub name: String,
    /// What a clone is like; as its origin when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub like: Option<String>,
}

/// `POST /v1/volumes/{name}/restore`: the content of another volume, in place of the present one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Restore {
    /// Whose content: a snapshot of this volume, or any volume that is not larger.
    pub from: String,
}

/// `PUT /v1/volumes/{name}/autotune`: levels that follow the load, and the level of a volume that rests detached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Autotune {
    /// The level that it goes back to; absent for no performance-based changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<u32>,
    /// The level that it does not exceed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<u32>,
    /// How far one change goes; the product's, or 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// Throttled for so long: one step up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up_after_ns: Option<u64>,
    /// Idle for so long: the first step down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub down_first_ns: Option<u64>,
    /// And for so long: each further one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub down_next_ns: Option<u64>,
    /// Without a client for so long: the lowest level, until one comes. Absent for never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detached_after_ns: Option<u64>,
}

/// `PUT /v1/volumes/{name}/faults`: what its requests suffer from now on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Faults {
    /// Determines which requests are met.
    pub seed: u64,
    /// `read`, `write`, `flush` or `trim`; all when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<String>,
    /// Requests of a million that fail with EIO.
    pub errors_ppm: u32,
    /// Requests of a million that are answered later by `spike_ns`.
    pub spikes_ppm: u32,
    /// How much later.
    pub spike_ns: u64,
    /// Requests of a million whose connection is torn instead of an answer.
    pub tears_ppm: u32,
    /// From now on, for so long, nothing is answered.
    pub stall_ns: u64,
}

/// `PUT /v1/volumes/{name}/attachment`: where a volume is a block device of this host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attachment {
    /// The file that a FUSE mount of the service shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The block device on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Where the device is mounted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mountpoint: Option<String>,
    /// An earlier run of the service left it behind: its I/O fails until it is detached.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dead: bool,
}

/// `PUT /v1/volumes/{name}/recording`: what it is asked, as a trace that a simulation replays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Recording {
    /// A new file on the service's host, from `/` on. It is never written over.
    pub file: String,
}

/// The answer to `DELETE /v1/volumes/{name}/recording`: what was recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Recorded {
    /// The file.
    pub file: String,
    /// Operations in it.
    pub operations: u64,
    /// Operations that came faster than they could be written, and are not in it.
    pub dropped: u64,
}

/// `POST /v1/groups`: an instance whose limits several volumes share.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Its name, as volumes' names are.
    pub name: String,
    /// A machine of the catalogue (`oci/VM.Standard.E4.Flex:16ocpu`), or stages of a model.
    pub like: String,
}

/// One volume, as `GET /v1/volumes` lists it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Volume {
    /// Its name.
    pub name: String,
    /// The configuration that it is like now.
    pub like: String,
    /// The product's level, such as `20` VPUs; absent where the product has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<u32>,
    /// Bytes that clients see.
    pub size_bytes: u64,
    /// `false` for a snapshot.
    pub writable: bool,
    /// Whose content it began with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// Whose limits it shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// When it was made.
    pub created: String,
    /// The model's stages.
    pub model: String,
    /// How many times slower than the clock the model's time runs, in which every figure is; absent in real time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow: Option<u32>,
    /// What its figures stand on, in sentences; every figure is *emulated*.
    #[serde(default)]
    pub doubts: Vec<String>,
    /// How NBD clients reach it.
    #[serde(default)]
    pub uris: Vec<String>,
    /// NBD clients that it has now.
    pub clients: usize,
    /// Where it is a block device of this host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attachment: Option<Attachment>,
    /// How its level changes by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub autotune: Option<Autotune>,
    /// What it suffers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults: Option<Faults>,
    /// The file that its operations are recorded to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording: Option<String>,
    /// What it has cost so far; absent where the product has no price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

/// What a volume has cost since it was made, at the product's list price, by the second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// Three letters.
    pub currency: String,
    /// So far, exact to a millionth: `0.004512`.
    pub so_far: String,
    /// A month of 730 hours at the present level.
    pub monthly: String,
    /// By configuration: how long, and what it cost.
    pub parts: Vec<CostPart>,
}

/// What one configuration of a volume has cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CostPart {
    /// Which.
    pub like: String,
    /// For how long.
    pub span_ns: u64,
    /// What that cost.
    pub cost: String,
}

/// `GET /v1/volumes/{name}/stats`: counts that only rise, and how faithful the last seconds were.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stats {
    /// When it was read.
    pub at: String,
    /// Time dilation: every figure is in the model's time, which runs so many times slower than the clock.
    pub slow: u32,
    /// Counts by kind: read, write, flush, trim.
    pub counts: Vec<KindCount>,
    /// Answers by what held them longest.
    pub bound_by: Vec<BoundCount>,
    /// Requests in flight.
    pub in_flight: u32,
    /// The last second that had answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Period>,
    /// The last seconds, oldest first, at most 600.
    pub periods: Vec<Period>,
    /// Seconds that were faithful to the model, and seconds that were not.
    pub faithful: u64,
    /// See `faithful`.
    pub unfaithful: u64,
    /// How late answers were: upper bounds of bins and how many fell there, in ascending order.
    pub lateness: Vec<Bin>,
    /// The sum of all lateness.
    #[serde(default)]
    pub lateness_sum_ns: u64,
    /// First bytes of the blocks of 4 KiB that are known to differ from their checksums: reads of them fail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<u64>,
    /// How many times those blocks were read.
    #[serde(default)]
    pub damaged_reads: u64,
}

/// `POST /v1/scrub`: compare data with their checksums.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scrub {
    /// The volume or snapshot; all without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<String>,
    /// Bytes a second at most; 100 MiB without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_bytes: Option<u64>,
}

/// `GET /v1/scrub`: the present scrub, or the last one since the service has started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScrubState {
    /// It is under way.
    pub running: bool,
    /// The volume or snapshot; all without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<String>,
    /// Bytes that were compared, shared ones once.
    pub done_bytes: u64,
    /// Bytes that are to be compared.
    pub total_bytes: u64,
    /// Blocks of 4 KiB that differ from their checksums.
    pub damaged_blocks: u64,
    /// The same in the volumes that have them, at most 1,000.
    pub damaged: Vec<DamagedBlock>,
    /// Why it did not come to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Counts of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KindCount {
    /// `read`, `write`, `flush` or `trim`.
    pub kind: String,
    /// Answered without error.
    pub ops: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Answered with an error.
    pub errors: u64,
}

/// Answers that one limit held longest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BoundCount {
    /// The stage's name, `group: NAME`, or `fault`.
    pub limit: String,
    /// How many.
    pub count: u64,
}

/// One second of a volume.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Period {
    /// Seconds since the service started, in the model's time.
    pub start_s: u64,
    /// Operations answered.
    pub ops: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Operations that the model answered.
    pub model_ops: u64,
    /// Median response time of the model.
    pub p50_ns: u64,
    /// 99th percentile of it.
    pub p99_ns: u64,
    /// Median lateness.
    pub late_p50_ns: u64,
    /// 99th percentile of the lateness.
    pub late_p99_ns: u64,
    /// `faithful`, or why not: `median late`, `tail late`, `flow differs`, `offered less`.
    pub verdict: String,
}

/// A bin of a histogram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Bin {
    /// Its upper bound.
    pub upto_ns: u64,
    /// How many fell there.
    pub count: u64,
}

/// `GET /v1/service`: what serves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct About {
    /// Program and version.
    pub made_by: String,
    /// The data directory.
    pub directory: String,
    /// Since when.
    pub started: String,
    /// Time dilation: 1 is real time.
    pub slow: u32,
    /// Whether it runs with real-time priority.
    pub realtime: bool,
    /// What it found of its own speed at start.
    pub floor: Floor,
    /// Bytes that data may use.
    pub capacity_bytes: u64,
    /// Bytes that they use.
    pub used_bytes: u64,
    /// Whether they have checksums.
    #[serde(default)]
    pub checksums: bool,
    /// Where NBD clients come in.
    pub listens: Vec<String>,
}

/// What a service can do at best, measured on itself without a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Floor {
    /// Median round trip of a 4 KiB read at depth 1.
    pub round_trip_p50_ns: u64,
    /// 99th percentile of it.
    pub round_trip_p99_ns: u64,
    /// Median lateness of a timer.
    pub timer_p50_ns: u64,
    /// 99th percentile of it.
    pub timer_p99_ns: u64,
    /// 4 KiB reads a second at depth 32.
    pub iops: u64,
}

/// A request that was refused: the body of every answer with a status of 400 and more.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Refused {
    /// One line: what is wrong, and what to do.
    pub error: String,
}
