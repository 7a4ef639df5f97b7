//! The platform of a database, as far as its wait events show it: a cluster of instances, Exadata.

use jiff::civil::DateTime;
use plimsoll_ingest::{Account, Class, DatabaseDemand, EventTime, InstanceLoad, InstanceRates, Resource, WaitCause};

use super::backlog::{Allowance, PEAKS_AT, lowest_limit, quantile};

/// Properties of the platform that change what storage has to carry.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Platform {
    /// Several instances share the database (Oracle RAC).
    pub cluster: Option<Cluster>,
    /// Storage cells perform the reads (Oracle Exadata).
    pub exadata: Option<Exadata>,
    /// Release of Oracle Database; `None` for other databases and if unknown.
    pub oracle_release: Option<String>,
    /// Operating system and processors of the present hosts, if they are not those of cloud machines.
    pub foreign: Option<ForeignPlatform>,
}

/// A platform whose processors are not x86-64 or Arm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignPlatform {
    /// In the words of the input.
    pub name: String,
    /// Whether its byte order differs from that of cloud machines, so that data files are converted.
    pub is_big_endian: bool,
}

impl ForeignPlatform {
    /// The platforms of `V$TRANSPORTABLE_PLATFORM` with other processors.
    fn of(name: &str) -> Option<Self> {
        let lower = name.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let is_foreign =
            has(&["aix", "hp-ux", "sparc", "solaris[tm]", "zseries", "s390", "power", "itanium", "tru64", "vms"]);
        let is_intel = has(&["x86", "amd64"]);
        // Itanium under Linux and Windows, Tru64, OpenVMS and POWER under Linux since 2015 have the same byte order.
        let is_little = has(&["tru64", "vms", "linux ia", "windows ia", "power le", "ppc64le"]);
        (is_foreign && !is_intel).then(|| Self { name: name.to_owned(), is_big_endian: !is_little })
    }
}

/// Instances that share a database.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// Names of the instances in the input; empty if a report covers the whole cluster.
    pub instances: Vec<String>,
    /// Number of instances whose load the input contains, at least 1.
    pub covered: u32,
    /// Number of instances of the database, each on a machine of its own, at least [`Self::covered`].
    pub count: u32,
    /// Share of the database's time in waits for other instances, 0 to 1.
    pub waits: f64,
    /// Part of the load that each machine carries.
    pub share: MachineShare,
    /// Instances whose figures end long before those of the others.
    pub ended: Option<EndedInstances>,
}

/// Instances without figures in the last windows of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndedInstances {
    /// Their number, at least 1.
    pub count: u32,
    /// Begin of the last window of any of them.
    pub last: DateTime,
}

impl EndedInstances {
    fn of(subject: &DatabaseDemand) -> Option<Self> {
        /// Minimum share of the windows without figures.
        const MIN_ABSENT: f64 = 0.1;
        let last_slot = |load: &InstanceLoad| load.means.iter().rposition(|rates| rates.iter().any(Option::is_some));
        let lasts: Vec<usize> = subject.loads.iter().filter_map(last_slot).collect();
        let end = *lasts.iter().max()?;
        let absent = (MIN_ABSENT * subject.slots.len() as f64).ceil().max(2.0) as usize;
        let ended: Vec<usize> = lasts.into_iter().filter(|last| last + absent <= end).collect();
        let last = subject.slots[*ended.iter().max()?].begin?;
        Some(Self { count: ended.len() as u32, last })
    }
}

/// Part of the load of the input that each machine of a cluster carries: that of the busiest instance.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineShare {
    /// Of the operations and of the bytes, above 0 to 1.
    pub parts: [f64; 2],
    pub origin: ShareOrigin,
}

/// Origin of the part of the load that each machine of a cluster carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShareOrigin {
    /// The input is the load of a single instance.
    Single,
    /// The instance with the largest part of the bytes, by its own load.
    Busiest(String),
    /// The highest rates of an instance, of a report of the whole cluster.
    Maxima,
    /// The input does not divide the load: all of it is assumed for each machine.
    Assumed,
}

impl MachineShare {
    /// All of the load, for a cluster of which the input covers `covered` instances: in two published histories of four
    /// and six instances (AWR-Miner), the busiest had more than four fifths of the bytes in peaks.
    pub const fn of_all(covered: u32) -> Self {
        let origin = if covered > 1 { ShareOrigin::Assumed } else { ShareOrigin::Single };
        Self { parts: [1.0; 2], origin }
    }

    /// The part of the busiest instance, as the input states it.
    fn stated(subject: &DatabaseDemand) -> Option<Self> {
        let share = |resource: Resource| {
            let found = subject.resources.iter().filter(|found| found.resource == resource);
            found.map(|found| found.value).reduce(f64::max)
        };
        let parts = [share(Resource::BusiestOperations)?, share(Resource::BusiestBytes)?];
        Some(Self { parts, origin: ShareOrigin::Maxima })
    }

    /// The part of the busiest instance: its peak over that of all, and its part of the windows that are at the peak of all if
    /// that is larger. `None` if the input does not divide the load.
    fn measured(subject: &DatabaseDemand) -> Option<Self> {
        let loads = &subject.loads;
        let part = |own: &InstanceLoad, column: usize| {
            let of_all = |series: fn(&InstanceLoad) -> &[InstanceRates], join: fn(f64, f64) -> f64| {
                move |slot: usize| loads.iter().filter_map(|load| series(load)[slot][column]).reduce(join)
            };
            let means = of_all(|load| &load.means, |a, b| a + b);
            let limit = lowest_limit(&rates(subject, &means), &Allowance::default());
            let at_peak = part_of_windows(subject, &means, |slot| own.means[slot][column], limit);
            let all = peak(subject, means, of_all(|load| &load.maxima, f64::max))?;
            let own = peak(subject, |slot| own.means[slot][column], |slot| own.maxima[slot][column])?;
            Some((own / all).max(at_peak).min(1.0))
        };
        let each = loads.iter().filter_map(|load| {
            let operations = part(load, 0)?;
            Some((load, [operations, part(load, 1).unwrap_or(operations)]))
        });
        let each: Vec<(&InstanceLoad, [f64; 2])> = each.collect();
        let (busiest, _) = each.iter().max_by(|a, b| a.1[1].total_cmp(&b.1[1]))?;
        let highest = |column: usize| each.iter().map(|(_, parts)| parts[column]).fold(0.0, f64::max);
        let origin = ShareOrigin::Busiest(busiest.instance.clone());
        (each.len() > 1).then(|| Self { parts: [highest(0), highest(1)], origin })
    }
}

/// The limit that the means of windows pass within the default allowance, or the usual highest minute where most windows
/// have it and it is higher: as for the design point.
fn peak(
    subject: &DatabaseDemand,
    mean: impl Fn(usize) -> Option<f64>,
    maximum: impl Fn(usize) -> Option<f64>,
) -> Option<f64> {
    let (means, maxima) = (rates(subject, &mean), rates(subject, &maximum));
    let minute = if maxima.len() * 2 > means.len() { quantile(maxima, PEAKS_AT) } else { 0.0 };
    Some(lowest_limit(&means, &Allowance::default()).max(minute)).filter(|peak| *peak > 0.0)
}

/// Rates of windows with their seconds.
fn rates(subject: &DatabaseDemand, rate: &impl Fn(usize) -> Option<f64>) -> Vec<(f64, f64)> {
    let slots = subject.slots.iter().enumerate();
    slots.filter_map(|(index, slot)| Some((rate(index)?, slot.length.as_secs_f64().max(1e-9)))).collect()
}

/// Part of an instance in the work of the windows in which all instances reach a rate; 0 without such windows.
fn part_of_windows(
    subject: &DatabaseDemand,
    all: &impl Fn(usize) -> Option<f64>,
    own: impl Fn(usize) -> Option<f64>,
    limit: f64,
) -> f64 {
    let (mut own_sum, mut sum) = (0.0, 0.0);
    for (index, slot) in subject.slots.iter().enumerate() {
        let Some(rate) = all(index).filter(|rate| *rate >= limit * (1.0 - 1e-9)) else { continue };
        sum += rate * slot.length.as_secs_f64();
        own_sum += own(index).unwrap_or(0.0) * slot.length.as_secs_f64();
    }
    if sum > 0.0 { own_sum / sum } else { 0.0 }
}

/// Reads by storage cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exadata {
    /// Share of the read time in smart scans, which the cells filter, 0 to 1.
    pub smart_scans: f64,
    /// Share of reads from flash or memory of the cells, 0 to 1: of all requests by their counter, otherwise of single-block
    /// reads by the names of their events; `None` if the input has neither.
    pub flash: Option<f64>,
    /// Mean bytes of scans per second that the cells of all instances filter; `None` if the input does not count them.
    pub filtered_bytes_s: Option<f64>,
}

/// Suffixes of events for reads from flash or memory of the cells.
const FLASH: [&str; 4] = [": flash cache", ": pmem cache", ": xrmem cache", ": RDMA"];

impl Platform {
    /// True for Oracle Database, as its release, its cluster or its storage cells show.
    pub const fn is_oracle(&self) -> bool {
        self.oracle_release.is_some() || self.cluster.is_some() || self.exadata.is_some()
    }

    /// The platform of a subject; the default without waits.
    pub fn of(subject: &DatabaseDemand) -> Self {
        let account = subject.account.as_ref();
        Self {
            cluster: cluster(subject, account),
            exadata: account.and_then(exadata),
            oracle_release: subject.oracle_release.clone(),
            foreign: subject.platform.as_deref().and_then(ForeignPlatform::of),
        }
    }

    /// True for Oracle Database before 12.2, which needs logical sectors of 512 bytes (Azure's documents on Premium SSD
    /// v2 and Ultra Disk); `None` if the release is unknown.
    pub fn needs_512_byte_sectors(&self) -> Option<bool> {
        let mut numbers = self.oracle_release.as_ref()?.split('.').map_while(|part| part.parse::<u32>().ok());
        Some((numbers.next()?, numbers.next().unwrap_or(0)) < (12, 2))
    }
}

/// Blocks of the global cache (`gc ...`) travel between instances only.
fn cluster(subject: &DatabaseDemand, account: Option<&Account>) -> Option<Cluster> {
    let spent = account.map(|account| &account.total);
    let shares_blocks =
        spent.is_some_and(|spent| spent.waits.iter().any(|wait| wait.event.starts_with("gc ") && wait.count > 0.0));
    let waits = spent.map_or(0.0, |spent| {
        spent.waited_s(|waited| waited == WaitCause::Cluster) / spent.database_s.max(f64::MIN_POSITIVE)
    });
    let of_resource = |resource: Resource| subject.resources.iter().filter(move |one| one.resource == resource);
    let stated = of_resource(Resource::Instances).map(|one| one.value as u32).max().unwrap_or(0);
    let with_memory = of_resource(Resource::SharedMemory).filter(|one| !one.instance.is_empty()).count() as u32;
    // A report of the whole cluster has its instances in tables only.
    let covered = match subject.instances.len() as u32 {
        0 => with_memory.max(1),
        named => named,
    };
    let count = covered.max(stated).max(with_memory);
    let is_cluster = shares_blocks || count > 1 || subject.is_cluster;
    is_cluster.then(|| Cluster {
        instances: subject.instances.clone(),
        covered,
        count,
        waits: waits.min(1.0),
        share: MachineShare::measured(subject)
            .or_else(|| MachineShare::stated(subject))
            .unwrap_or_else(|| MachineShare::of_all(covered)),
        ended: EndedInstances::of(subject),
    })
}

/// Events named `cell ...` are operations of storage cells.
fn exadata(account: &Account) -> Option<Exadata> {
    let reads = |wait: &&EventTime| {
        matches!(
            wait.cause,
            WaitCause::Storage(Class::Read | Class::RandomRead | Class::SequentialRead | Class::TempRead)
        )
    };
    let seconds = |is: &dyn Fn(&EventTime) -> bool| {
        account.total.waits.iter().filter(reads).filter(|wait| is(wait)).map(|wait| wait.total_s).sum::<f64>()
    };
    let cells = seconds(&|wait| wait.event.starts_with("cell "));
    let smart = seconds(&|wait| wait.event.starts_with("cell smart"));
    let single = || account.total.waits.iter().filter(|wait| wait.event.starts_with("cell single block"));
    let count = |is: &dyn Fn(&&EventTime) -> bool| single().filter(is).map(|wait| wait.count).sum::<f64>();
    let from_flash = count(&|wait| FLASH.iter().any(|end| wait.event.ends_with(end)));
    let by_name = || (from_flash > 0.0).then(|| from_flash / count(&|_| true));
    let counters = &account.total.counters;
    let counted = counters.flash_reads.zip(counters.read_requests).filter(|(_, all)| *all > 0.0);
    let flash = counted.map(|(optimized, all)| (optimized / all).min(1.0)).or_else(by_name);
    let filtered_bytes_s = counters.filtered_bytes.map(|bytes| bytes / account.total.seconds);
    (cells > 0.0).then(|| Exadata { smart_scans: smart / seconds(&|_| true), flash, filtered_bytes_s })
}
