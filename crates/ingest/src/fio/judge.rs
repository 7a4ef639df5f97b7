//! Findings about a result, from its own output: whether its operations reached the device, and what held them up.

use plimsoll_language::say;
use plimsoll_record::Finding;
use serde_json::{Map, Value};

use super::job::{Got, JobResult};
use crate::bench::MIN_SECONDS;
use crate::json::{number_at as number, text_at};

/// Share of the bytes or operations that have to be missing at the device for a finding: journals, metadata and
/// counters that start and end at other times account for less.
const MIN_MISSING: f64 = 0.1;
/// Share of the time in which a device under a closed load has operations in flight.
const MIN_BUSY: f64 = 0.5;
/// Share of a processor from which a thread waits for it.
const MAX_PROCESSOR: f64 = 0.9;
/// Largest operation of a device: the maximum of `max_sectors_kb` in Linux.
const MAX_DEVICE_BYTES: f64 = 1_310_720.0;
const SECTOR: f64 = 512.0;
/// Engines that submit without waiting only with direct I/O (fio's documentation of `libaio`: "Linux may only support
/// queued behavior with non-buffered I/O").
const WAITS_WHEN_BUFFERED: [&str; 1] = ["libaio"];

/// Engines that transfer no data of storage (fio's documentation of `ioengine`): `null` pretends to, and others use
/// processors, networks, commands, or names and lengths of files.
const NO_STORAGE: [&str; 15] = [
    "null",
    "cpuio",
    "net",
    "netsplice",
    "rdma",
    "exec",
    "filecreate",
    "filestat",
    "filedelete",
    "dircreate",
    "dirstat",
    "dirdelete",
    "ftruncate",
    "falloc",
    "page_fault",
];
/// Directories that Linux hosts have in memory (`tmpfs`).
const MEMORY_DIRECTORIES: [&str; 3] = ["/dev/shm", "/run/shm", "/run/user"];

/// A device without storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DiskSubstitute {
    /// `null_blk`, which discards.
    Null,
    /// `brd` and `zram`.
    Memory,
}

impl DiskSubstitute {
    /// By the kernel's name of a device, such as `nullb0`.
    fn of(name: &str) -> Option<Self> {
        let is =
            |kind: &str| name.strip_prefix(kind).is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()));
        match () {
            () if is("nullb") => Some(Self::Null),
            () if is("ram") || is("zram") => Some(Self::Memory),
            () => None,
        }
    }

    const fn driver(self) -> &'static str {
        match self {
            Self::Null => "null_blk",
            Self::Memory => "brd or zram",
        }
    }

    fn finding(self, what: &str) -> Finding {
        match self {
            Self::Null => Finding::NoStorage { target: what.to_owned() },
            Self::Memory => Finding::InMemory { target: what.to_owned() },
        }
    }
}

/// Counters of all disks of a test.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DiskUse {
    reads: DirectionUse,
    writes: DirectionUse,
    /// Largest share of the time that a disk had operations in flight.
    busy: Option<f64>,
    /// If all disks are of this kind.
    substitute: Option<DiskSubstitute>,
}

#[derive(Clone, Copy, Debug, Default)]
struct DirectionUse {
    operations: f64,
    /// Operations that were merged into these.
    merges: f64,
    bytes: Option<f64>,
}

impl DiskUse {
    /// The sum over `disk_util`; none if it is missing or counts nothing, as for a disk without statistics.
    pub(super) fn of(document: &Map<String, Value>) -> Option<Self> {
        let disks = document.get("disk_util").and_then(Value::as_array).into_iter().flatten();
        Self::larger(disks.filter_map(Value::as_object).map(|disk| {
            let direction = |kind: &str| {
                let at = |what: &str| number(disk, &format!("{kind}_{what}"));
                DirectionUse::new(at("ios"), at("merges"), at("sectors"))
            };
            let busy = number(disk, "util").map(|percent| percent / 100.0);
            let substitute = text_at(disk, "name").and_then(DiskSubstitute::of);
            let used = Self { reads: direction("read"), writes: direction("write"), busy, substitute };
            (disk.contains_key("aggr_read_ios"), used)
        }))
    }

    /// The sum over lines of fio's text.
    pub(super) fn of_lines(lines: &[String]) -> Option<Self> {
        let disks = lines.iter().filter_map(|line| Some((line.contains("aggrios="), Self::of_line(line)?)));
        Self::larger(disks)
    }

    /// `vda: ios=57184/10, sectors=457472/80, merge=0/3, ticks=7883/2, in_queue=7886, util=48.04%`; sectors since 3.36.
    pub(super) fn of_line(line: &str) -> Option<Self> {
        let (name, counters) = line.split_once(": ")?;
        let value =
            |key: &str| counters.split(',').find_map(|counter| counter.trim().strip_prefix(key)?.strip_prefix('='));
        let pair = |key: &str| {
            let (reads, writes) = value(key)?.split_once('/')?;
            Some([reads.trim().parse::<f64>().ok()?, writes.trim().parse::<f64>().ok()?])
        };
        let (operations, merges, sectors) = (pair("ios")?, pair("merge"), pair("sectors"));
        let direction = |index: usize| {
            let at = |pair: Option<[f64; 2]>| pair.map(|pair| pair[index]);
            DirectionUse::new(Some(operations[index]), at(merges), at(sectors))
        };
        let busy = value("util").and_then(|text| text.trim_end_matches('%').parse::<f64>().ok());
        let (busy, substitute) = (busy.map(|percent| percent / 100.0), DiskSubstitute::of(name.trim()));
        Some(Self { reads: direction(0), writes: direction(1), busy, substitute })
    }

    /// The sum of the compound disks, or of the plain ones if they carried more: a compound disk is listed with its
    /// members, which count the same operations again.
    fn larger(disks: impl Iterator<Item = (bool, Self)>) -> Option<Self> {
        let (compound, plain): (Vec<_>, Vec<_>) = disks.partition(|(is_compound, _)| *is_compound);
        let sum = |disks: Vec<(bool, Self)>| disks.into_iter().map(|(_, used)| used).reduce(Self::and);
        let all = |used: &Self| used.reads.operations + used.writes.operations;
        let larger = [sum(plain), sum(compound)]
            .into_iter()
            .flatten()
            .reduce(|plain, compound| if all(&compound) > all(&plain) { compound } else { plain });
        larger.filter(|larger| all(larger) > 0.0)
    }

    fn and(self, other: Self) -> Self {
        Self {
            reads: self.reads.and(other.reads),
            writes: self.writes.and(other.writes),
            busy: [self.busy, other.busy].into_iter().flatten().reduce(f64::max),
            substitute: self.substitute.filter(|kind| other.substitute == Some(*kind)),
        }
    }
}

impl DirectionUse {
    fn new(operations: Option<f64>, merges: Option<f64>, sectors: Option<f64>) -> Self {
        Self {
            operations: operations.unwrap_or(0.0),
            merges: merges.unwrap_or(0.0),
            bytes: sectors.map(|sectors| sectors * SECTOR),
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            operations: self.operations + other.operations,
            merges: self.merges + other.merges,
            bytes: self.bytes.zip(other.bytes).map(|(bytes, more)| bytes + more),
        }
    }

    /// Share of a job's bytes that the device did not transfer: by bytes, or for random operations by their number.
    fn missing(&self, jobs: &Moved) -> f64 {
        let reached = match self.bytes {
            Some(bytes) => bytes / jobs.bytes,
            None if jobs.is_random => (self.operations + self.merges) / jobs.operations,
            None => self.operations * MAX_DEVICE_BYTES / jobs.bytes,
        };
        1.0 - reached
    }
}

/// Operations and bytes of a direction of jobs.
#[derive(Clone, Copy, Debug)]
struct Moved {
    operations: f64,
    bytes: f64,
    is_random: bool,
}

/// Sum of a direction over jobs; none if a job does not state it.
fn moved<'a>(jobs: impl Iterator<Item = &'a JobResult>, of: fn(&JobResult) -> Option<&Got>) -> Option<Moved> {
    let mut sum = Moved { operations: 0.0, bytes: 0.0, is_random: true };
    for job in jobs {
        let Some(got) = of(job).filter(|got| got.is_any()) else { continue };
        sum.operations += got.operations?;
        sum.bytes += got.bytes_s? * got.lasted_s?;
        sum.is_random &= job.setting.sequential == Some(false);
    }
    (sum.operations > 0.0 && sum.bytes > 0.0).then_some(sum)
}

/// Adds findings to all jobs of a document.
pub(super) fn judge(jobs: &mut [JobResult], disks: Option<DiskUse>) {
    let reads = |job: &JobResult| job.reads.is_some();
    let writes = |job: &JobResult| job.writes.is_some();
    // Jobs with direct I/O are taken to have reached the device, unless all jobs are direct.
    let all_direct = jobs.iter().all(|job| job.offering.direct == Some(true));
    let through_cache = |job: &&JobResult| all_direct || job.offering.direct != Some(true);
    let missing = |used: DirectionUse, of: fn(&JobResult) -> Option<&Got>| {
        let direct = moved(jobs.iter().filter(|job| !through_cache(job)), of);
        let (operations, bytes) = direct.map_or((0.0, 0.0), |moved| (moved.operations, moved.bytes));
        let left = DirectionUse {
            operations: (used.operations - operations).max(0.0),
            bytes: used.bytes.map(|all| (all - bytes).max(0.0)),
            ..used
        };
        let share = left.missing(&moved(jobs.iter().filter(through_cache), of)?);
        (share > MIN_MISSING).then_some(share.min(1.0))
    };
    let unread = disks.and_then(|disks| missing(disks.reads, |job| job.reads.as_ref()));
    let unwritten = disks.and_then(|disks| missing(disks.writes, |job| job.writes.as_ref()));
    for job in jobs {
        let mut findings = own(job);
        let substitute = disks.and_then(|disks| disks.substitute).filter(|_| !findings.iter().any(is_about_place));
        findings.extend(substitute.map(|substitute| substitute.finding(substitute.driver())));
        if through_cache(&&*job) {
            let buffered = job.offering.direct == Some(false);
            let unread = unread.filter(|_| reads(job));
            findings.extend(unread.map(|share| {
                if buffered { Finding::PageCacheAnswered { share } } else { Finding::DeviceNotReached { share } }
            }));
            findings.extend(unwritten.filter(|_| writes(job)).map(|share| Finding::WritesInMemory { share }));
        }
        let busy = disks.and_then(|disks| disks.busy).filter(|busy| *busy < MIN_BUSY && job.is_closed());
        findings.extend(busy.map(|busy| Finding::DeviceIdle { busy }));
        job.findings = findings;
    }
}

fn is_about_place(finding: &Finding) -> bool {
    matches!(finding, Finding::NoStorage { .. } | Finding::InMemory { .. })
}

/// The finding about an engine or a place without storage.
fn find_substitute(job: &JobResult) -> Option<Finding> {
    let engine = job.offering.engine.as_deref().filter(|engine| NO_STORAGE.contains(engine));
    if let Some(engine) = engine {
        return Some(Finding::NoStorage { target: format!("ioengine={engine}") });
    }
    // fio separates files by colons.
    job.part.split(':').find_map(|path| {
        let is_within = |directory: &&str| {
            path.strip_prefix(*directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if MEMORY_DIRECTORIES.iter().any(is_within) {
            return Some(Finding::InMemory { target: path.to_owned() });
        }
        Some(DiskSubstitute::of(path.strip_prefix("/dev/").unwrap_or(path))?.finding(path))
    })
}

/// Findings that follow from a job's options, errors and processor time.
pub(super) fn own(job: &JobResult) -> Vec<Finding> {
    let mut findings: Vec<Finding> = find_substitute(job).into_iter().collect();
    if job.error != 0 {
        findings.push(Finding::Fault { what: say!("fio ended the job with error {}", job.error) });
    } else if job.errors.0 > 0 {
        findings.push(Finding::Errors { count: job.errors.0, errno: job.errors.1 });
    }
    let directions = [&job.reads, &job.writes, &job.trims, &job.mixed];
    let [short, dropped] =
        [0, 1].map(|kind| directions.iter().copied().flatten().map(|got| got.incomplete[kind]).sum::<f64>() as u64);
    findings.extend((short + dropped > 0).then_some(Finding::CutShort { short, dropped }));
    let paused = job.in_flight_beside_pauses();
    findings.extend(paused.map(|(in_flight, depth)| Finding::Paused { in_flight, depth }));
    if job.offering.direct == Some(false) {
        let engine = job.offering.engine.as_deref().filter(|engine| WAITS_WHEN_BUFFERED.contains(engine));
        let depth = job.setting.depth.filter(|depth| *depth > 1.0).map(|depth| depth as u32);
        findings.push(match engine.zip(depth) {
            Some((engine, depth)) => Finding::BufferedEngine { engine: engine.to_owned(), depth: Some(depth) },
            None => Finding::Buffered,
        });
    }
    let lasted = [&job.reads, &job.writes, &job.mixed].into_iter().flatten().filter_map(|got| got.lasted_s);
    let lasted = lasted.reduce(f64::max).filter(|seconds| *seconds < MIN_SECONDS);
    findings.extend(lasted.map(|seconds| Finding::TooShort { seconds }));
    let busy = job.processor.filter(|share| *share >= MAX_PROCESSOR);
    findings.extend(busy.map(|share| Finding::ProcessorBound { busy: share.min(1.0) }));
    findings
}
