//! Requests that are refused before any operation, each with its remedy.

use std::path::PathBuf;

use plimsoll_catalogue::Currency;
use plimsoll_language::{label, say};
use plimsoll_units::{Bytes, Iops, Span};

use crate::error::MeasureError;

/// Reason why a request is refused. Names of paths and runs are those of the user.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub(crate) enum InvalidRequest {
    // Points of a measurement.
    #[error("--repetitions requires --depth or --rate: otherwise omit it, as a search repeats its loads")]
    RepeatedSearch,
    #[error("invalid queue depth {depth}: use 1 to {max}")]
    QueueDepth { depth: u32, max: u32 },
    #[error("{rate} exceeds the maximum rate: use at most {max:.0}")]
    Rate { rate: Iops, max: f64 },
    #[error("this preset has fixed queue depths: use --depth instead of --max-depth")]
    FixedQueueDepths,
    #[error("{points} loads exceed the maximum of a run: use at most {max}")]
    Points { points: usize, max: usize },
    #[error("the warm-up takes the whole duration: use a shorter --warm-up or a longer --duration")]
    WarmUp,
    #[error("invalid number of threads {0}: use 1 to 256")]
    Threads(u32),
    #[error("invalid number of repetitions {0}: use 1 to 1000")]
    Repetitions(u32),
    #[error("a queue depth of {depth} cannot be shared by {threads} threads: lower --threads")]
    SharedDepth { depth: u32, threads: u32 },
    #[error("a duration below 100 ms is too short: use at least 1s")]
    ShortDuration,

    // Loads.
    #[error("{name:?} is neither a preset nor a file: use one of {built_in}, or a path")]
    Preset { name: String, built_in: String },
    #[error("use either a rate or a depth")]
    RateAndDepth,
    #[error("the pace of the first stream is varied: omit it")]
    FirstPace,
    #[error("every stream except the first needs a rate or a depth above 0")]
    FurtherPace,
    #[error("--durable and --flush-every require writes, but this load only reads: use a lower --reads")]
    DurableReads,
    #[error(
        "the space for stream {stream:?} is {space}, smaller than an operation of {operation}: use a larger --size or --working-set"
    )]
    StreamSpace { stream: String, space: Bytes, operation: Bytes },
    #[error("the working set of {size} is larger than the space of {space}: make it smaller, or use a larger --size")]
    WorkingSet { size: Bytes, space: Bytes },
    #[error("a block size of {size} bytes is not a multiple of {grid} bytes, which {why}: use {nearest}{instead}")]
    BlockSize { size: u64, grid: u64, why: &'static str, nearest: String, instead: &'static str },
    #[error(
        "a depth of {depth} with blocks of {block} needs {needed} of buffers, more than {max}: lower the depth or the block size"
    )]
    BlockBuffers { depth: u32, block: Bytes, needed: Bytes, max: Bytes },
    #[error("{path}: this load would destroy its data: add --destroy {path} to allow it, or use --reads 100")]
    WritingLoad { path: String },

    // Replays.
    #[error("a replay preserves the order of operations in a single loop: omit --threads")]
    ReplayThreads,
    #[error("a replay uses the recorded arrival times: use --depth with --as-fast-as-possible")]
    ReplayDepth,
    #[error("invalid time scale {0}: use 0.000001 to 1000000")]
    TimeScale(f64),
    #[error("fio replays only its own recordings (--read_iolog): omit --engine fio")]
    FioReplay,
    #[error("{path}: this recording would destroy its data: add --destroy {path} to allow it, or use --reads-only")]
    WritingRecording { path: String },
    #[error("{path}: the recording is empty: record during a load")]
    EmptyRecording { path: String },
    #[error("{path}: all of its {omitted} operations would be omitted: {}use another trace", if *.reads_only { label!("omit --reads-only, or ") } else { "" })]
    OmittedRecording { path: String, omitted: u64, reads_only: bool },
    #[error("{path}: it extends to {reach}, but {limit} is {size}: {remedy}")]
    Reach { path: String, reach: Bytes, limit: String, size: Bytes, remedy: String },
    #[error(
        "{path}: {count} of {all} operations are not aligned to blocks of {block}, and direct I/O requires aligned operations: add --buffered"
    )]
    UnalignedDirect { path: String, count: u64, all: u64, block: Bytes },
    #[error(
        "{path}: {count} of {all} operations are not aligned to blocks of {block}, and the export requires aligned operations: \
         use an export with smaller blocks, or a file with --buffered"
    )]
    UnalignedExport { path: String, count: u64, all: u64, block: Bytes },
    #[error(
        "a depth of {depth} with operations of up to {largest} needs {needed} of buffers, more than {max}: lower the depth"
    )]
    ReplayBuffers { depth: u32, largest: Bytes, needed: Bytes, max: Bytes },

    // Targets.
    #[error("--destroy {}: only {measured} measured: repeat {paths} exactly, or omit --destroy", .other.display())]
    OtherDestroyed { other: PathBuf, measured: String, paths: &'static str },
    #[error("{path}: its size is {available}, smaller than --size {size}: use a smaller --size, or omit it")]
    TargetSize { path: String, available: Bytes, size: Bytes },
    #[error("--destroy {}: in a directory plimsoll writes only to {files}: omit --destroy", .named.display())]
    DestroyedDirectory { named: PathBuf, files: &'static str },
    #[error("{path}: cannot create a file of {size}: {error}")]
    Scratch { path: String, size: Bytes, error: String },
    #[error("{path}: it was replaced during the check: try again")]
    Replaced { path: String },
    #[error("io_uring is unavailable ({0}): omit --engine, or enable it (kernel.io_uring_disabled=0, seccomp profile)")]
    Ring(String),
    #[error(
        "fio cannot use io_uring here, and its libaio is asynchronous only with direct I/O: use a path that supports direct I/O, and omit --buffered"
    )]
    FioBuffered,
    #[error("--size {size} is too small: use at least {min}")]
    SmallSize { size: Bytes, min: Bytes },
    #[error("{path}: {available} are free, and --size {size} would leave less than {spare}: use a smaller --size")]
    LargeSize { path: String, available: Bytes, size: Bytes, spare: Bytes },
    #[error(
        "{path}: only {available} are free, too little for a scratch file of {size}{}: free some space, or use another path",
        .spare.map(|spare| say!(" that leaves {spare}")).unwrap_or_default()
    )]
    FreeSpace { path: String, available: Bytes, size: Bytes, spare: Option<Bytes> },

    // Exports.
    #[error("{0} for files and devices only, not for exports")]
    DiskOption(&'static str),
    #[error("{0}: the server does not support concurrent connections (CAN_MULTI_CONN): omit --threads")]
    SingleConnection(String),
    #[error("{address}: the export is read-only: omit --destroy, or {}", if *.recorded { "add --reads-only" } else { "--reads 100" })]
    ReadOnlyExport { address: String, recorded: bool },
    #[error("{address}: its maximum request is {max}, and the load has {largest}: {}", if *.recorded {
        label!("attach it (nbd-client) and use the block device, whose driver splits requests")
    } else {
        label!("lower --block-size")
    })]
    LargeRequest { address: String, max: Bytes, largest: Bytes, recorded: bool },
    #[error("{address}: {error}: start the server, or correct the address")]
    Unreachable { address: String, error: String },

    // fio on several hosts, and several sides.
    #[error("--hosts requires --engine fio")]
    HostsEngine,
    #[error("--hosts requires --size, the size of the measured part of the path")]
    HostsSize,
    #[error("other hosts support only direct I/O: omit --buffered")]
    HostsBuffered,
    #[error("{0}: devices of other hosts are read-only, as their content cannot be checked: omit --destroy")]
    HostsDevice(String),
    #[error("{path} on {hosts}: {error}: run `fio --server` on each host, and use a path that exists there")]
    Hosts { path: String, hosts: String, error: String },
    #[error("fio cannot alternate between passes: omit --engine fio or --against")]
    InterleavedFio,
    #[error("--against measures generated loads: omit --replay")]
    InterleavedReplay,
    #[error("only one target may be written: use --reads 100, or --destroy for both")]
    InterleavedWrites,

    // Simulations.
    #[error("a simulation has a single loop: omit --threads")]
    SimulationThreads,
    #[error("--size {size}: {name} holds {capacity}: use a larger product, or a smaller --size")]
    Capacity { size: Bytes, name: String, capacity: Bytes },

    // Kept runs and files.
    #[error("{0}: a suite has no label")]
    SuiteLabel(String),
    #[error("{0}: this is not a kept run: remove the file yourself")]
    NotKept(String),
    #[error("no home directory: set PLIMSOLL_RUNS to keep runs")]
    NoHome,
    #[error("this run is a replay of {0}: use plimsoll simulate CONFIG --replay {0} to replay it on other storage")]
    ReplayRun(String),
    #[error("{name}: this is the suite {suite}, not a curve: show it with plimsoll report {name}")]
    SuiteRun { name: String, suite: String },
    #[error("no complete runs yet: start with `plimsoll measure .`")]
    NoRuns,
    #[error("no complete runs yet: give {0} too, or start with `plimsoll measure .`")]
    NoRunsFor(&'static str),
    #[error("{0}: there are fewer complete runs: see `plimsoll runs`")]
    FewerRuns(String),
    #[error("{prefix}: ambiguous prefix of {runs}: use a longer prefix")]
    AmbiguousRun { prefix: String, runs: String },
    #[error("{0}: no such run: use a run file, `last`, or a prefix of a name from `plimsoll runs`")]
    NoRun(String),
    #[error("{path}: {error}: this is a product file, for plimsoll simulate FILE")]
    ProductFile { path: String, error: String },
    #[error(
        "{path}: {error}: use a file written by measure, simulate or suite with --json, a result of fio or another benchmark, \
         or a name from `plimsoll runs`"
    )]
    NotARun { path: String, error: String },
    #[error("{path}: {size} exceed the maximum size of a run file")]
    LargeRun { path: String, size: Bytes },
    #[error("{0} is on both sides: compare it with another run, such as last~1")]
    BothSides(String),
    #[error("{0}: named twice on one side: name each run once")]
    NamedTwice(String),
    #[error("{file}: no result {result:?} with a depth or a rate: its results are {results}")]
    NoResult { file: String, result: String, results: String },
    #[error("{file}: its results ({results}) state no depth, rate or IOPS, so that nothing can be compared with them")]
    NoRates { file: String, results: String },
    #[error("{file}: it has the results of {loads} different loads: choose one with '{file}#RESULT', of {results}")]
    SeveralResults { file: String, loads: usize, results: String },

    // Inputs.
    #[error("no usable input ({}): plimsoll guide inputs describes the formats and how to create them", .0)]
    NoUsableInput(String),
    #[error("{path}: no such file or directory: check the path")]
    MissingInput { path: String },
    #[error(
        "{}: the directory has no files: use reports (AWR, Statspack, pg_stat_io, iostat, ...); plimsoll guide inputs \
             describes how to create them",
        .0.display()
    )]
    EmptyDirectory(PathBuf),
    #[error("the inputs have no part {part:?}: {choose}")]
    UnknownPart { part: String, choose: String },
    #[error("the inputs have no part {part:?}: they do not distinguish parts: omit --only")]
    NoParts { part: String },
    #[error("{}: the directory nesting is too deep", .0.display())]
    DeepDirectory(PathBuf),
    #[error("more than {max} files: use fewer directories")]
    ManyFiles { max: usize },

    #[error("kubectl is not in PATH: run '{name} > pod.log' where it is, then use --log pod.log")]
    NoKubectl { name: String },
    #[error(
        "{name}: no run in the log, which ends with {last:?}: wait until the Job is complete, or remove the cause, delete the \
             Job and create it again"
    )]
    NoRunInLog { name: String, last: String },
    #[error("{name}: a run of the suite {suite}: use plimsoll report for it")]
    SuiteInLog { name: String, suite: String },

    // Sizing and matching.
    /// An option or input, and its error.
    #[error("{subject}: {reason}")]
    Invalid { subject: String, reason: String },
    #[error("{name}: its figures match no product: {text}; {remedy}")]
    VoidRun { name: String, text: String, remedy: String },
    #[error("these results do not state the size of the storage: add --capacity SIZE")]
    AssumedSize,
    #[error("this run has no load line: use --iops and --objective, or measure for longer")]
    NoLoadLine,
    #[error("no load met the objective: use --iops, or a looser --objective")]
    MissedObjective,
    #[error(
        "--machine {machine} cannot use volumes of --provider {providers}: name a machine and a provider of the same cloud"
    )]
    MachineOfOtherProvider { machine: String, providers: String },
    #[error("--today: a machine follows \" on \": write '{volume} on {machine}'")]
    MachineSyntax { volume: String, machine: String },
    #[error("{0} is not a machine: use a name such as aws/m5.large")]
    NotMachine(String),
    #[error("{0}: use a name such as aws/m5.large")]
    UnknownMachine(String),
    #[error("the reports do not contain the capacity: use --capacity, such as --capacity 2TiB")]
    NoCapacity,
    #[error("the inputs have more volumes than one claim: use --only with {0}, or --capacity for all")]
    SeveralClaims(String),
    #[error("--capacity: {0} is too small for a volume: use a unit, such as 2TiB")]
    SmallCapacity(Bytes),
    #[error("no reports of database {name:?}: the reports are of {databases}")]
    UnknownDatabase { name: String, databases: String },
    #[error("no reports of database {name:?}; did you mean {near}?: the reports are of {databases}")]
    SimilarDatabase { name: String, near: String, databases: String },
    #[error("the inputs have no load of storage: use reports of a database or host, such as AWR or iostat")]
    NoOperations,
    #[error("the reports are of several databases or hosts: choose one with --database: {0}")]
    SeveralSubjects(String),
    #[error(
        "the inputs do not contain the effect of the cache size: use an AWR or Statspack report with buffer pool advice, or \
             one trace"
    )]
    NoCacheEffect,
    #[error(
        "--job inputs: the inputs do not contain the waits of sessions: use an AWR or Statspack report of the window"
    )]
    NoWaits,

    // Products and prices.
    #[error("--price {}: the price has no currency: write it after the amount, such as 9500 USD, or use --currency", .0)]
    PriceWithoutCurrency(String),
    #[error("--price {}: prices are compared in {currency} and not converted: state it in {currency}, or use --currency", .product)]
    PriceInOtherCurrency { product: String, currency: Currency },
    #[error(
        "no price in the catalogue for region {region:?}: use one of {}, omit --region, or read the list of this region with \
             plimsoll prices import",
        .priced
    )]
    UnpricedRegion { region: String, priced: String },
    #[error("no price in the catalogue in {currency}: prices are in {}", .priced)]
    UnpricedCurrency { currency: Currency, priced: String },
    #[error("too large for imported prices: remove it and import the list again")]
    LargePriceFile,

    // Collections of counters.
    #[error("--interval: at least {0}, as counters have no higher resolution")]
    Interval(Span),
    #[error("--duration: at least one --interval, as figures need two snapshots")]
    CollectDuration,
    #[error("{0} exists: use another name with --out")]
    OutExists(String),
}

impl InvalidRequest {
    /// An invalid option or input.
    pub fn of_subject(subject: &str, reason: &dyn std::fmt::Display) -> Self {
        Self::Invalid { subject: subject.to_owned(), reason: reason.to_string() }
    }
}

impl From<InvalidRequest> for MeasureError {
    fn from(invalid: InvalidRequest) -> Self {
        Self::Usage(invalid.to_string())
    }
}
