//! A job of fio as evidence, from any of fio's formats.

use std::collections::BTreeSet;

use plimsoll_language::label;
use plimsoll_record::Finding;

use crate::builder::Builder;
use crate::reading::{Doubt, Offering, Origin, ReadingEvidence, ReadingScope, Setting};
use crate::refusal::{InputFault, Refusal};
use crate::text;

/// The result of a job, or of several reported together.
#[derive(Clone, Debug, Default)]
pub(super) struct JobResult {
    pub(super) name: String,
    /// Its host, if several took part.
    pub(super) host: String,
    /// Its target: a device, a file, a folder.
    pub(super) part: String,
    /// Jobs of a group ran concurrently.
    pub(super) group: u64,
    pub(super) setting: Setting,
    pub(super) offering: Offering,
    /// Processor time of its threads, as a share of a processor each.
    pub(super) processor: Option<f64>,
    pub(super) pauses: bool,
    pub(super) findings: Vec<Finding>,
    pub(super) reads: Option<Got>,
    pub(super) writes: Option<Got>,
    pub(super) trims: Option<Got>,
    /// Reads and writes, if reported together.
    pub(super) mixed: Option<Got>,
    /// Commands that make data durable.
    pub(super) syncs: Option<Got>,
    /// The first error number.
    pub(super) error: u64,
    /// Number of tolerated errors (`continue_on_error`), and the first of them.
    pub(super) errors: (u64, i32),
    /// Whether it is fio's sum of all clients, which repeats the other results.
    pub(super) is_total: bool,
}

/// Name of the sum of all clients (`client.c` of fio).
pub(super) const ALL_CLIENTS: &str = "All clients";

/// The result of a direction.
#[derive(Clone, Debug, Default)]
pub(super) struct Got {
    pub(super) iops: Option<f64>,
    pub(super) bytes_s: Option<f64>,
    pub(super) operations: Option<f64>,
    pub(super) mean_s: Option<f64>,
    pub(super) quantiles: Vec<(f64, f64)>,
    pub(super) lasted_s: Option<f64>,
    /// Operations that were cut short, and that were dropped.
    pub(super) incomplete: [f64; 2],
    pub(super) line: u64,
    pub(super) field: String,
}

impl Got {
    fn origin(&self, table: &str, out: &mut Builder) -> Origin {
        out.origin(self.line, table, &self.field)
    }

    /// True if there were operations in this direction.
    pub(super) fn is_any(&self) -> bool {
        [self.operations, self.iops, self.bytes_s].iter().flatten().any(|count| *count > 0.0)
    }

    /// False if operations, time and rate are inconsistent, which fio's own results never are.
    fn is_sound(&self) -> bool {
        let Some(((iops, operations), lasted_s)) = self.iops.zip(self.operations).zip(self.lasted_s) else {
            return true;
        };
        // Small counts and short times are rounded.
        let expected = operations / lasted_s;
        (iops - expected).abs() <= 0.05 * expected.max(iops) + 1.0 / lasted_s
    }

    /// The mean size of its operations. Sizes of equal loads scatter by run, and text has three digits: rounded to 1/32 of
    /// the power of two below, at least a sector.
    fn mean_block(&self) -> Option<f64> {
        let exact = self.bytes_s.zip(self.lasted_s).zip(self.operations.filter(|count| *count > 0.0));
        let mean = match exact {
            Some(((bytes_s, lasted_s), operations)) => bytes_s * lasted_s / operations,
            None => self.bytes_s? / self.iops.filter(|iops| *iops > 0.0)?,
        };
        let step = (mean.log2().floor().exp2() / 32.0).max(512.0);
        Some((mean / step).round() * step).filter(|block| *block > 0.0)
    }

    /// Combines concurrent results. Quantiles cannot be combined.
    fn combined(all: &[&Self]) -> Self {
        let sum = |of: fn(&Self) -> Option<f64>| all.iter().map(|got| of(got)).sum::<Option<f64>>();
        // Rates can replace operations as weights, because all ran for the same time.
        let weight = |got: &Self| got.iops.or(got.operations);
        let add =
            |(sum, weights): (f64, f64), got: &&Self| Some((sum + got.mean_s? * weight(got)?, weights + weight(got)?));
        let weighed = all.iter().try_fold((0.0, 0.0), add);
        let mean = weighed.filter(|(_, weight)| *weight > 0.0).map(|(sum, weight)| sum / weight);
        Self {
            iops: sum(|got| got.iops),
            bytes_s: sum(|got| got.bytes_s),
            operations: sum(|got| got.operations),
            mean_s: mean,
            quantiles: match all {
                [only] => only.quantiles.clone(),
                _ => Vec::new(),
            },
            lasted_s: all.iter().filter_map(|got| got.lasted_s).reduce(f64::max),
            incomplete: [0, 1].map(|kind| all.iter().map(|got| got.incomplete[kind]).sum()),
            line: all.first().map_or(0, |got| got.line),
            field: all.first().map_or_else(String::new, |got| got.field.clone()),
        }
    }
}

impl JobResult {
    fn present(&self) -> Vec<(&'static str, Option<f64>, &Got)> {
        let has_any = |got: &Option<Got>| got.as_ref().is_some_and(Got::is_any);
        // With unified_rw_reporting=both they are the sum of the others.
        let mixed = if has_any(&self.reads) || has_any(&self.writes) { &None } else { &self.mixed };
        let all = [
            ("reads and writes", self.setting.reads, mixed),
            ("reads", Some(1.0), &self.reads),
            ("writes", Some(0.0), &self.writes),
            ("discards", None, &self.trims),
        ];
        all.into_iter()
            .filter_map(|(name, reads, got)| Some((name, reads, got.as_ref()?)))
            .filter(|(_, _, got)| got.is_any())
            .collect()
    }

    /// The share of reads among completed operations, otherwise among requested ones.
    fn share(&self) -> Option<f64> {
        let count = |got: &Option<Got>| got.as_ref().and_then(|got| got.operations.or(got.iops)).unwrap_or(0.0);
        let (reads, writes) = (count(&self.reads), count(&self.writes));
        if reads + writes > 0.0 { Some(reads / (reads + writes)) } else { self.setting.reads }
    }

    /// The combined result of all directions.
    fn total(&self) -> Option<Got> {
        let parts: Vec<&Got> = self.present().into_iter().map(|(_, _, got)| got).collect();
        (!parts.is_empty()).then(|| Got::combined(&parts))
    }

    /// True if each completion triggers the next operation at once.
    pub(super) fn is_closed(&self) -> bool {
        self.offering.rate.is_none() && !self.pauses
    }

    /// Mean number of operations in flight (Little 1961) and the depth, if pauses leave the depth unused.
    pub(super) fn in_flight_beside_pauses(&self) -> Option<(f64, f64)> {
        let total = self.total().filter(|_| self.pauses && self.offering.rate.is_none())?;
        let (in_flight, depth) = (total.iops? * total.mean_s?, self.setting.depth?);
        (in_flight < MIN_IN_FLIGHT * depth).then_some((in_flight, depth))
    }

    /// Adds a caution if its numbers are inconsistent.
    fn doubt(&self, out: &mut Builder) {
        for (direction, _, got) in self.present().into_iter().filter(|(_, _, got)| !got.is_sound()) {
            let origin = got.origin(&self.name, out);
            out.caution(Some(origin), Doubt::InconsistentJob { job: self.name.clone(), direction });
        }
        let Some(total) = self.total() else { return };
        // Little's law (1961).
        let in_flight = total.iops.zip(total.mean_s).map(|(iops, mean)| iops * mean).zip(self.setting.depth);
        if let Some((found, depth)) = in_flight.filter(|(found, depth)| *found > 1.2 * depth + 1.0) {
            let origin = total.origin(&self.name, out);
            out.caution(Some(origin), Doubt::InconsistentDepth { job: self.name.clone(), found, depth });
        }
    }

    /// Emits its figures, and returns their number.
    fn emit(&self, is_member: bool, out: &mut Builder) -> u32 {
        let scope =
            out.scope(ReadingScope { host: self.host.clone(), part: self.part.clone(), ..ReadingScope::default() });
        let mut count = 0;
        // Pauses determine the rate: a load that offers the completed operations by the clock.
        let is_paused = self.in_flight_beside_pauses().is_some();
        let mut put = |test: String, setting: Setting, got: &Got, is_part: bool, out: &mut Builder| {
            let origin = got.origin(&self.name, out);
            let rate = if is_paused { got.iops } else { self.offering.rate };
            out.evidence(ReadingEvidence {
                setting,
                iops: got.iops,
                bytes_s: got.bytes_s,
                mean_s: got.mean_s,
                quantiles: got.quantiles.clone(),
                lasted_s: got.lasted_s,
                offering: Offering { rate, ..self.offering.clone() },
                findings: self.findings.clone(),
                is_part,
                ..ReadingEvidence::new(scope, test, origin)
            });
            count += 1;
        };
        let present = self.present();
        let block_of = |got: &Got| self.setting.block_bytes.or_else(|| got.mean_block());
        if let Some(total) = self.total() {
            let setting = Setting { reads: self.share(), block_bytes: block_of(&total), ..self.setting.clone() };
            put(self.name.clone(), setting, &total, is_member, out);
        }
        if present.len() > 1 {
            for (name, reads, got) in present {
                let setting = Setting { reads, block_bytes: block_of(got), ..self.setting.clone() };
                put(format!("{}, its {name}", self.name), setting, got, true, out);
            }
        }
        if let Some(syncs) = self.syncs.as_ref().filter(|syncs| syncs.mean_s.is_some() || syncs.is_any()) {
            let setting = Setting { reads: None, sequential: None, block_bytes: None, ..self.setting.clone() };
            put(format!("{}, its flushes", self.name), setting, syncs, true, out);
        }
        count
    }
}

/// Share of the depth in flight from which pauses are negligible.
const MIN_IN_FLIGHT: f64 = 0.9;

/// Maximum jobs of a file.
pub(super) const MAX_JOBS: usize = 100_000;

/// The refusal of a file with too many jobs.
pub(super) fn too_many(line: u64, out: &Builder) -> Refusal {
    out.unusable_at(Origin::line(line), InputFault::TooMany { limit: MAX_JOBS, items: label!("jobs") })
}

/// Maximum relative difference between fio's sum of all clients and the sum of their rates: fio divides all operations
/// by the longest time of a client, and prints three or four digits.
const MAX_TOTAL_DIFFERENCE: f64 = 0.1;

/// Emits jobs. Those of a group ran concurrently, so their combined result comes first; that of all clients before those
/// of each. fio's sum of all clients is only compared with it.
pub(super) fn emit(jobs: &[JobResult], out: &mut Builder) -> u32 {
    let (totals, jobs): (Vec<_>, Vec<_>) = jobs.iter().cloned().partition(|job| job.is_total);
    if jobs.is_empty() {
        return totals.iter().map(|total| total.emit(false, out)).sum();
    }
    for total in &totals {
        check_total(total, &jobs, out);
    }
    let mut count = emit_clients(&jobs, out);
    // Clients of a group have a common result.
    let is_divided = |group: u64| {
        let mut hosts = jobs.iter().filter(|job| job.group == group).map(|job| &job.host);
        let first = hosts.next();
        hosts.any(|host| Some(host) != first)
    };
    let mut rest = &jobs[..];
    while let Some(first) = rest.first() {
        let same = |job: &&JobResult| job.group == first.group && job.host == first.host;
        let (group, others) = rest.split_at(rest.iter().take_while(same).count());
        if group.len() > 1 {
            count += combined(group, &format!("{} jobs", group.len())).emit(is_divided(first.group), out);
        }
        for job in group {
            count += job.emit(group.len() > 1 || is_divided(job.group), out);
            job.doubt(out);
            if job.error != 0 {
                out.caution(None, Doubt::FailedJob { job: job.name.clone(), error: job.error });
            }
        }
        rest = others;
    }
    count
}

/// Emits the combined results of each group that ran on several clients.
fn emit_clients(jobs: &[JobResult], out: &mut Builder) -> u32 {
    if jobs.iter().all(|job| job.host.is_empty()) {
        return 0;
    }
    let groups: BTreeSet<u64> = jobs.iter().map(|job| job.group).collect();
    let mut count = 0;
    for group in groups {
        let is_member = |job: &JobResult| job.group == group;
        let runs = jobs.chunk_by(|a, b| is_member(a) && is_member(b) && a.host == b.host);
        let clients = runs.filter(|run| is_member(&run[0])).count();
        if clients > 1 {
            let members: Vec<JobResult> = jobs.iter().filter(|job| is_member(job)).cloned().collect();
            let total = combined(&members, &format!("{clients} clients"));
            count += JobResult { host: String::new(), ..total }.emit(false, out);
        }
    }
    count
}

/// Adds a caution if a sum of all clients differs from the sum of the results.
fn check_total(total: &JobResult, jobs: &[JobResult], out: &mut Builder) {
    type Direction = fn(&JobResult) -> &Option<Got>;
    let directions: [(&str, Direction); 4] = [
        ("reads", |job| &job.reads),
        ("writes", |job| &job.writes),
        ("discards", |job| &job.trims),
        ("reads and writes", |job| &job.mixed),
    ];
    for (name, of) in directions {
        let Some(got) = of(total) else { continue };
        let Some(expected) = got.iops else { continue };
        let sum: f64 = jobs.iter().filter_map(|job| of(job).as_ref()?.iops).sum();
        if (sum - expected).abs() > MAX_TOTAL_DIFFERENCE * expected.max(sum) {
            let origin = got.origin(&total.name, out);
            let job = total.name.clone();
            out.caution(Some(origin), Doubt::ClientsMissing { job, direction: name, expected, sum });
        }
    }
}

/// Combines the results of concurrent jobs; `parts` is their number with its noun.
fn combined(jobs: &[JobResult], parts: &str) -> JobResult {
    let first = &jobs[0];
    let same_name = jobs.iter().all(|job| job.name == first.name);
    let name = if same_name { first.name.clone() } else { format!("group {}", first.group) };
    let got = |of: fn(&JobResult) -> &Option<Got>| {
        let all: Vec<&Got> = jobs.iter().filter_map(|job| of(job).as_ref()).filter(|got| got.is_any()).collect();
        (!all.is_empty()).then(|| Got::combined(&all))
    };
    JobResult {
        name: format!("{name}, {parts} at once"),
        host: first.host.clone(),
        part: if jobs.iter().all(|job| job.part == first.part) { first.part.clone() } else { String::new() },
        group: first.group,
        setting: setting_of(jobs),
        offering: offering_of(jobs),
        processor: None,
        pauses: jobs.iter().any(|job| job.pauses),
        findings: findings_of(jobs),
        reads: got(|job| &job.reads),
        writes: got(|job| &job.writes),
        trims: got(|job| &job.trims),
        mixed: got(|job| &job.mixed),
        syncs: None,
        error: 0,
        errors: (0, 0),
        is_total: false,
    }
}

/// The common parameters of all jobs; depths and threads add up.
fn setting_of(jobs: &[JobResult]) -> Setting {
    let sum = |of: fn(&Setting) -> Option<f64>| jobs.iter().map(|job| of(&job.setting)).sum();
    let first = &jobs[0].setting;
    let alike = |same: fn(&Setting, &Setting) -> bool| jobs.iter().all(|job| same(&job.setting, first));
    Setting {
        reads: first.reads.filter(|_| alike(|a, b| a.reads == b.reads)),
        sequential: first.sequential.filter(|_| alike(|a, b| a.sequential == b.sequential)),
        block_bytes: first.block_bytes.filter(|_| alike(|a, b| a.block_bytes == b.block_bytes)),
        depth: sum(|setting| setting.depth),
        threads: sum(|setting| setting.threads),
    }
}

/// What all jobs have in common; rates and ranges add up.
fn offering_of(jobs: &[JobResult]) -> Offering {
    let first = &jobs[0].offering;
    let alike = |same: fn(&Offering, &Offering) -> bool| jobs.iter().all(|job| same(&job.offering, first));
    let sum = |of: fn(&Offering) -> Option<f64>| jobs.iter().map(|job| of(&job.offering)).sum();
    // Jobs on the same file share its range.
    let is_shared = !jobs[0].part.is_empty() && jobs.iter().all(|job| job.part == jobs[0].part);
    Offering {
        engine: first.engine.clone().filter(|_| alike(|a, b| a.engine == b.engine)),
        direct: first.direct.filter(|_| alike(|a, b| a.direct == b.direct)),
        rate: sum(|offering| offering.rate),
        space_bytes: if is_shared { first.space_bytes } else { sum(|offering| offering.space_bytes) },
        durable: jobs.iter().any(|job| job.offering.durable),
        flush_every: first.flush_every.filter(|_| alike(|a, b| a.flush_every == b.flush_every)),
    }
}

/// The findings of all jobs, each kind once.
fn findings_of(jobs: &[JobResult]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for finding in jobs.iter().flat_map(|job| &job.findings) {
        let is_same = |other: &Finding| std::mem::discriminant(other) == std::mem::discriminant(finding);
        if !findings.iter().any(is_same) {
            findings.push(finding.clone());
        }
    }
    findings
}

/// The relevant options of a job; job options override global ones.
#[derive(Clone, Debug, Default)]
pub(super) struct Options {
    pub(super) rw: Option<String>,
    pub(super) block: Option<f64>,
    pub(super) depth: Option<f64>,
    pub(super) jobs: Option<f64>,
    pub(super) engine: Option<String>,
    /// Percentage of reads in a mix.
    pub(super) reads: Option<f64>,
    pub(super) part: Option<String>,
    /// Direct I/O, if an option says so or not.
    direct: Option<bool>,
    /// Operations and bytes per second and job, of reads, writes and trims.
    rate_iops: DirectionRates,
    rate_bytes: DirectionRates,
    pauses: bool,
    size: Option<f64>,
    durable: bool,
    flush_every: Option<f64>,
    /// The output lists all options that were given.
    pub(super) is_complete: bool,
}

/// True for the values with which fio turns a switch on.
fn is_on(value: &str) -> bool {
    !matches!(value, "0" | "none" | "off" | "false")
}

impl Options {
    /// Adds an option; later ones override. Irrelevant ones are ignored.
    pub(super) fn take(&mut self, name: &str, value: &str) {
        match name {
            "rw" | "readwrite" => self.rw = Some(value.to_owned()),
            // Sizes by direction are used only if all are equal.
            "bs" | "blocksize" => self.block = parse_equal_size(value),
            "bssplit" | "bsrange" | "blocksize_range" => self.block = None,
            "iodepth" => self.depth = text::parse_count(value),
            "numjobs" => self.jobs = text::parse_count(value),
            "ioengine" => self.engine = Some(value.to_owned()),
            "rwmixread" => self.reads = text::parse_count(value),
            "rwmixwrite" => self.reads = text::parse_count(value).map(|writes| 100.0 - writes),
            "filename" | "directory" => self.part = Some(value.to_owned()),
            "direct" => self.direct = Some(is_on(value)),
            "buffered" => self.direct = Some(!is_on(value)),
            "rate_iops" => self.rate_iops = parse_rates(value),
            "rate" => self.rate_bytes = parse_rates(value),
            "thinktime" => self.pauses = is_on(value),
            "size" | "filesize" => self.size = text::size(value),
            "sync" => self.durable = is_on(value),
            "fsync" | "fdatasync" => self.flush_every = text::parse_count(value).filter(|count| *count > 0.0),
            _ => {}
        }
    }

    /// How a result of `threads` jobs was offered.
    pub(super) fn offering(&self, threads: Option<f64>) -> Offering {
        let by_bytes = self.total_rate(self.rate_bytes).zip(self.block).map(|(rate, block)| rate / block);
        // Jobs that name a file share it.
        let copies = if self.part.is_some() { Some(1.0) } else { threads };
        Offering {
            engine: self.engine.clone(),
            // fio's default.
            direct: self.direct.or(self.is_complete.then_some(false)),
            rate: self.total_rate(self.rate_iops).or(by_bytes).zip(threads).map(|(rate, threads)| rate * threads),
            space_bytes: self.size.zip(copies).map(|(size, copies)| size * copies),
            durable: self.durable,
            flush_every: self.flush_every.map(|count| count as u32),
        }
    }

    /// The rate of all directions of a job. fio holds each direction to its own rate; a direction without one makes the
    /// load closed.
    fn total_rate(&self, rates: DirectionRates) -> Option<f64> {
        // fio reads by default.
        let rw = self.rw.as_deref().unwrap_or("read");
        let name = rw.split(':').next().unwrap_or(rw);
        let is_mixed = ["rw", "readwrite", "randrw"].contains(&name);
        let has = |direction: &str| name.contains(direction);
        let used = [is_mixed || has("read"), is_mixed || has("write"), has("trim")];
        rates
            .into_iter()
            .zip(used)
            .filter(|(_, used)| *used)
            .map(|(rate, _)| rate)
            .sum::<Option<f64>>()
            .filter(|rate| *rate > 0.0)
    }

    /// True if the jobs pause by themselves.
    pub(super) const fn pauses(&self) -> bool {
        self.pauses
    }

    /// The parameters of a result of `threads` jobs.
    pub(super) fn setting(&self, threads: Option<f64>) -> Setting {
        // These engines are synchronous, regardless of the depth.
        let waits = self
            .engine
            .as_deref()
            .is_some_and(|engine| ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"].contains(&engine));
        // fio's default, if the output contains the options.
        let depth = if waits { Some(1.0) } else { self.depth.or(self.rw.is_some().then_some(1.0)) };
        let (sequential, reads) = self.rw.as_deref().map_or((None, None), |rw| pattern(rw, self.reads));
        let depth = depth.zip(threads).map(|(depth, threads)| depth * threads);
        Setting { reads, sequential, block_bytes: self.block, depth, threads }
    }
}

/// A size, if equal in all directions: `4k`, `4k,4k`, `4K-4K/4K-4K/4K-4K`.
pub(super) fn parse_equal_size(value: &str) -> Option<f64> {
    let mut sizes = value.split([',', '-', '/']).filter(|part| !part.is_empty()).map(text::size);
    let first = sizes.next()??;
    sizes.all(|size| size.is_some_and(|size| (size - first).abs() < 0.5)).then_some(first)
}

/// Rates of reads, writes and trims; a direction without a limit has none.
type DirectionRates = [Option<f64>; 3];

/// `500`, `500,250`, `,250`: the last one holds for all further directions.
fn parse_rates(value: &str) -> DirectionRates {
    let mut parts = value.split(',').map(|part| text::size(part).filter(|rate| *rate > 0.0));
    let mut last = None;
    [(); 3].map(|()| {
        last = parts.next().unwrap_or(last);
        last
    })
}

/// Whether a pattern is sequential, and its share of reads.
fn pattern(rw: &str, percent: Option<f64>) -> (Option<bool>, Option<f64>) {
    let name = rw.split(':').next().unwrap_or(rw);
    let mix = || Some(percent.unwrap_or(50.0) / 100.0);
    match name {
        "read" => (Some(true), Some(1.0)),
        "write" => (Some(true), Some(0.0)),
        "randread" => (Some(false), Some(1.0)),
        "randwrite" => (Some(false), Some(0.0)),
        "rw" | "readwrite" => (Some(true), mix()),
        "randrw" => (Some(false), mix()),
        "trim" => (Some(true), None),
        "randtrim" => (Some(false), None),
        _ => (None, None),
    }
}

#[cfg(test)]
mod tests {
    use super::Options;

    #[test]
    fn options_determine_the_setting() {
        let setting = |options: &[(&str, &str)], threads: Option<f64>| {
            let mut all = Options::default();
            for (name, value) in options {
                all.take(name, value);
            }
            let setting = all.setting(threads);
            (setting.reads, setting.sequential, setting.block_bytes, setting.depth, setting.threads)
        };
        let mixed = [
            ("rw", "randrw:2"),
            ("rwmixread", "70"),
            ("bs", "8k"),
            ("iodepth", "16"),
            ("numjobs", "4"),
            ("ioengine", "libaio"),
        ];
        assert_eq!(setting(&mixed, Some(1.0)), (Some(0.7), Some(false), Some(8192.0), Some(16.0), Some(1.0)));
        assert_eq!(setting(&mixed, Some(4.0)).3, Some(64.0));
        let waits = [("rw", "write"), ("iodepth", "32"), ("ioengine", "psync"), ("bs", "4k,8k")];
        assert_eq!(setting(&waits, Some(1.0)), (Some(0.0), Some(true), None, Some(1.0), Some(1.0)));
        assert_eq!(setting(&[], None), (None, None, None, None, None));
    }

    /// As fio paces them: each direction by itself, so that a single value counts once for each.
    #[test]
    fn rates_of_directions_add_up() {
        let rate = |options: &[(&str, &str)]| {
            let mut all = Options::default();
            for (name, value) in options {
                all.take(name, value);
            }
            all.offering(Some(2.0)).rate
        };
        for (rw, value, expected) in [
            ("randread", "500", Some(1_000.0)),
            ("randrw", "500", Some(2_000.0)),
            ("randrw", "500,250", Some(1_500.0)),
            ("randrw:8", "500,250,100", Some(1_500.0)),
            ("randwrite", "500,250", Some(500.0)),
            ("randtrim", "500,250", Some(500.0)),
            ("randwrite", ",250", Some(500.0)),
            ("randread", ",250", None),
            ("randrw", ",250", None),
            ("randread", "0", None),
        ] {
            assert_eq!(rate(&[("rw", rw), ("rate_iops", value)]), expected, "{rw} {value}");
        }
        assert_eq!(rate(&[("rw", "rw"), ("bs", "4k"), ("rate", "4m,2m")]), Some(2.0 * 1_536.0));
        assert_eq!(rate(&[("rw", "rw"), ("bs", "4k,8k"), ("rate", "4m,2m")]), None);
    }
}
