//! Figures of a report: its demand.
//!
//! Cumulative statistics take precedence: every version has them, and they are not rounded. The table of file types
//! divides the rest. The front page is only compared: differences are cautions.

mod blocks;
mod busiest;
mod front_page;
mod latencies;
mod readers;

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_language::label;
use plimsoll_units::Span;

use super::report::{Histogram, Member, Rates, Reach, Report, ResourceRow, StatedValue, Traffic, WaitRow};
use super::section::AwrSection;
use crate::builder::Builder;
use crate::reading::{
    CacheAdvice, Class, ColumnarCompression, Database, DatabaseTime, Doubt, Fate, Figure, HostTime, Measure, Origin,
    ReadingScope, ReadingWindow, Resource, ResourceFigure, Statistic, TimeCounters, Wait, WaitCause, do_waits_exceed,
};
use crate::refusal::{InputFault, Refusal};
use crate::text::MIB;

/// Emits a report's figures.
pub(super) fn make(report: &Report, out: &mut Builder) -> Result<(), Refusal> {
    let existing = [
        report.statistics.len(),
        report.profile.len(),
        report.file_types.len(),
        report.tablespaces.len() + report.files.len(),
    ];
    let has_figures = existing != [0; 4] || front_page::has_rates(report);
    let incomplete = InputFault::Incomplete { lacks: label!("table below its heading") };
    out.require(has_figures || !report.met.is_empty(), incomplete)?;
    let Some(seconds) = window_s(report) else { return Err(out.unusable(InputFault::NoElapsedTime)) };
    out.require(has_figures || !report.unruled, InputFault::NoRulers)?;
    let tables = report.shifted.join(", ");
    out.require(tables.is_empty(), InputFault::ShiftedColumns { tables })?;
    out.require(has_figures, InputFault::NoTables)?;
    // A report of several instances has their releases only.
    let releases = std::iter::once(&report.release).chain(report.members.iter().map(|member| &member.release));
    if let Some(release) = releases.into_iter().find(|release| !release.is_empty()) {
        out.oracle_release(release);
    }
    if !report.platform.is_empty() {
        out.platform(&report.platform);
    }
    let scope = out.scope(build_scope(report));
    let begin = report.begin.or_else(|| report.members.iter().find_map(|member| member.begin));
    let begin = begin.map(|at| out.local(at));
    let window = out.window(ReadingWindow { begin, length: Span::from_secs_f64(seconds) });
    let mut page = Page { report, seconds, at: (scope, window), rates: BTreeMap::new(), out };
    traffic(&mut page);
    account(&mut page);
    check(&mut page);
    parts(report, page.out);
    Ok(())
}

/// Seconds of the window; of a cluster, those of the instance with the longest. Without them, those between the times of
/// its snapshots.
fn window_s(report: &Report) -> Option<f64> {
    let members = report.members.iter().filter_map(|member| member.elapsed_s.as_ref()).map(|stated| stated.value);
    let between = || Some(report.end?.duration_since(report.begin?).as_secs_f64());
    let longest = || members.max_by(f64::total_cmp);
    report.window_s().or_else(longest).or_else(between).filter(|seconds| *seconds > 0.0)
}

fn build_scope(report: &Report) -> ReadingScope {
    let (database, database_id) = match (report.reach, report.container.as_str()) {
        (Reach::Pluggable, container) if !container.is_empty() => (container, &report.container_id),
        _ => (report.database.as_str(), &report.database_id),
    };
    // A non-numeric identifier comes from a damaged line.
    let is_number = database_id.bytes().all(|byte| byte.is_ascii_digit());
    let single = match report.members.as_slice() {
        [only] => Some(only),
        _ => None,
    };
    let or_only = |own: &str, of: fn(&Member) -> &String| match single {
        Some(member) if own.is_empty() => of(member).clone(),
        _ => own.to_owned(),
    };
    ReadingScope {
        database: database.to_owned(),
        database_id: if is_number { database_id.clone() } else { String::new() },
        instance: or_only(&report.instance, |member| &member.name),
        host: or_only(&report.host, |member| &member.host),
        ..ReadingScope::default()
    }
}

/// A report being converted to a reading.
struct Page<'a> {
    report: &'a Report,
    /// Seconds of the window.
    seconds: f64,
    /// Scope and window of the whole report.
    at: (u32, u32),
    /// Emitted operations per second.
    rates: BTreeMap<Class, f64>,
    out: &'a mut Builder,
}

impl<'a> Page<'a> {
    /// Origin of a number in a section.
    fn origin(&mut self, section: AwrSection, stated: &StatedValue) -> Origin {
        self.out.origin(stated.line, section.name(), &stated.field)
    }

    /// Emits a figure with a derived value at the place of a number.
    fn put(&mut self, class: Class, measure: Measure, value: f64, section: AwrSection, stated: &StatedValue) {
        let origin = self.origin(section, stated);
        if measure == Measure::Iops {
            self.rates.insert(class, value);
        }
        self.out.mean(self.at, class, measure, value, origin);
    }

    /// Emits a figure with its printed number.
    fn put_said(&mut self, class: Class, measure: Measure, section: AwrSection, stated: Option<&StatedValue>) {
        if let Some(stated) = stated {
            self.put(class, measure, stated.value, section, stated);
        }
    }

    fn statistic(&self, name: &str) -> Option<&'a StatedValue> {
        self.report.statistic(name)
    }

    fn statistics(&self) -> AwrSection {
        if self.report.reach == Reach::Cluster { AwrSection::ClusterStatistics } else { AwrSection::Statistics }
    }

    /// Bytes of a database block: as printed, or derived from bytes and blocks read or written.
    fn block_bytes(&self) -> Option<f64> {
        let printed = self.report.block_bytes.as_ref().map(|stated| stated.value);
        let told = |bytes: &str, blocks: &str| {
            let (bytes, blocks) = (self.statistic(bytes)?.value, self.statistic(blocks)?.value);
            let size = bytes / blocks;
            // Only valid block sizes.
            [2_048.0, 4_096.0, 8_192.0, 16_384.0, 32_768.0]
                .into_iter()
                .find(|existing| (size / existing - 1.0).abs() < 0.01)
        };
        printed
            .or_else(|| told("physical read bytes", "physical reads"))
            .or_else(|| told("physical write bytes", "physical writes"))
    }
}

/// Emits the sections that were found, and the missing ones that every report of its kind should have.
fn parts(report: &Report, out: &mut Builder) {
    let cluster = report.reach == Reach::Cluster;
    let expected: &[AwrSection] = match report.reach {
        Reach::Cluster => {
            &[AwrSection::ClusterStatistics, AwrSection::IoProfile, AwrSection::ClusterFileTypes, AwrSection::Histogram]
        }
        Reach::Pluggable => {
            &[AwrSection::Statistics, AwrSection::IoProfile, AwrSection::FileTypes, AwrSection::Histogram]
        }
        Reach::Instance if front_page::is_all(report) => &[AwrSection::Statistics],
        Reach::Instance => &[
            AwrSection::Statistics,
            AwrSection::IoProfile,
            AwrSection::FileTypes,
            AwrSection::Histogram,
            AwrSection::BufferPoolAdvice,
            AwrSection::TimeModel,
        ],
    };
    for (section, numbers) in &report.met {
        // The traffic of a cluster, which resembles the front page, has no figures of interest.
        let fate = match (report.cut.contains(section), numbers) {
            (true, _) => Fate::Broken,
            (false, 0) => Fate::Empty,
            (false, numbers) => Fate::Read(*numbers),
        };
        if fate == Fate::Broken {
            out.caution(None, Doubt::EndsWithin { item: section.name().to_owned() });
        }
        out.part(format!("{}{}", report.label, section.name()), fate);
    }
    let is_missing = |section: &&AwrSection| !report.met.contains_key(section) && !report.lacks.contains(section);
    for section in expected.iter().filter(is_missing) {
        out.part(format!("{}{}", report.label, section.name()), Fate::Missing);
    }
    // The caution about a front page includes the missing end.
    if !report.ended && !front_page::is_all(report) {
        out.caution(None, Doubt::NoEndOfReport);
        out.part("End of Report", Fate::Broken);
    }
    if !cluster && report.met.contains_key(&AwrSection::Statistics) && report.statistics.is_empty() {
        out.caution(None, Doubt::EmptyStatistics);
    }
    for heading in &report.ignored {
        out.part(heading.as_str(), Fate::Ignored);
    }
}

/// Emits reads and writes.
fn traffic(page: &mut Page<'_>) {
    totals(page);
    kinds_of_reads(page);
    backup_reads(page);
    file_types(page);
    functions(page);
    redo(page);
    latencies::latencies(page);
    emit_places(page);
    readers::emit(page);
}

/// The row of a file type.
fn row<'a>(page: &Page<'a>, name: &str) -> Option<&'a Traffic> {
    page.report.file_types.iter().find(|row| row.name.trim_end_matches(':') == name)
}

fn file_section(page: &Page<'_>) -> AwrSection {
    if is_cluster(page) { AwrSection::ClusterFileTypes } else { AwrSection::FileTypes }
}

/// Emits totals of reads and writes.
fn totals(page: &mut Page<'_>) {
    let total = row(page, "TOTAL");
    let pluggable = page.report.reach == Reach::Pluggable;
    let directions = [
        (Class::Read, "physical read total IO requests", "physical read total bytes", 1),
        (Class::Write, "physical write total IO requests", "physical write total bytes", 2),
    ];
    for (class, requests, bytes, column) in directions {
        let of_files = if class == Class::Read { Traffic::reads } else { Traffic::writes };
        let of_files = total.map(of_files).unwrap_or_default();
        // The container writes for a pluggable database, whose own statistics lack these writes.
        let by_files = pluggable && class == Class::Write && of_files[0].is_some();
        let statistics = (page.statistic(requests), page.statistic(bytes));
        if let ((Some(requests), Some(bytes)), false) = (statistics, by_files) {
            let section = page.statistics();
            page.put(class, Measure::Iops, requests.value / page.seconds, section, requests);
            page.put(class, Measure::Throughput, bytes.value / page.seconds, section, bytes);
            if requests.value > 0.0 {
                page.put(class, Measure::Size, bytes.value / requests.value, section, bytes);
            }
        } else if of_files[0].is_some() {
            rates(page, class, of_files);
        } else if ["Total Requests", "Total (MB)"].iter().any(|name| page.report.profile.contains_key(*name)) {
            emit_profile(page, class, column);
        } else {
            blocks::direction(page, class);
        }
    }
}

/// The profile's values, if there are no better ones.
fn emit_profile(page: &mut Page<'_>, class: Class, column: usize) {
    let stated = |name: &str| page.report.profile.get(name).and_then(|numbers| numbers[column].as_ref());
    let (requests, bytes) = (stated("Total Requests"), stated("Total (MB)"));
    page.put_said(class, Measure::Iops, AwrSection::IoProfile, requests);
    if let Some(bytes) = bytes {
        page.put(class, Measure::Throughput, bytes.value * MIB, AwrSection::IoProfile, bytes);
        if requests.is_none() {
            let origin = page.origin(AwrSection::IoProfile, bytes);
            page.out.caution(Some(origin), Doubt::OperationsMissing { class: class.name() });
        }
    }
}

/// Emits rates of a row of file types, and the resulting size.
fn rates(page: &mut Page<'_>, class: Class, rates: Rates<'_>) {
    rates_in(page, class, file_section(page), rates);
}

fn rates_in(page: &mut Page<'_>, class: Class, section: AwrSection, [iops, bytes_s]: Rates<'_>) {
    page.put_said(class, Measure::Iops, section, iops);
    page.put_said(class, Measure::Throughput, section, bytes_s);
    if let (Some(iops), Some(bytes_s)) = (iops, bytes_s)
        // Rates have two decimals: the size of fewer operations would be inaccurate.
        && iops.value >= 0.5
        && bytes_s.value > 0.0
    {
        page.put(class, Measure::Size, bytes_s.value / iops.value, section, bytes_s);
    }
}

/// Emits single-block and multi-block reads of the database. The counter of the latter includes reads of backups and
/// logs: those of the table of file types are subtracted, unless the bytes show that they were not included.
fn kinds_of_reads(page: &mut Page<'_>) {
    let names = ["physical read IO requests", "physical read total multi block requests", "physical read bytes"];
    let [Some(total), Some(multiple), Some(bytes)] = names.map(|name| page.statistic(name)) else {
        direct_reads(page);
        return;
    };
    let Some(block) = page.block_bytes() else { return };
    let counted = multiple.value / page.seconds;
    let reads = total.value / page.seconds;
    let bytes_s = bytes.value / page.seconds;
    let aside = large_reads_aside(&page.report.file_types);
    // Single-block reads by the statistic's definition; the remaining bytes belong to the others.
    let large = |several: f64| bytes_s - (reads - several) * block;
    let fits = |several: &f64| {
        let slack = 0.02 * bytes_s;
        (2.0 * block * several - slack..=MAX_READ * several + slack).contains(&large(*several))
    };
    let section = page.statistics();
    let Some(several) = [counted - aside, counted].into_iter().map(|several| several.min(reads).max(0.0)).find(fits)
    else {
        // The counter lacks direct reads of few blocks.
        if !direct_reads(page) {
            let origin = page.origin(section, multiple);
            page.out.caution(Some(origin), Doubt::MultiBlockReads);
        }
        return;
    };
    let several = several.max(reads - single_reads_max(page).unwrap_or(reads));
    let temp = temp_reads(page, block);
    // The counter lacks direct reads of few blocks, so that it may be below those of temporary files.
    let uncounted = (temp.several - several).max(0.0);
    let single = (reads - several - temp.single - uncounted).max(0.0);
    let large_s = (large(several) - temp.large_s).max(0.0);
    let several = (several - temp.several).max(0.0);
    page.put(Class::RandomRead, Measure::Iops, single, section, total);
    page.put(Class::RandomRead, Measure::Throughput, single * block, section, total);
    if single > 0.0 {
        page.put(Class::RandomRead, Measure::Size, block, section, total);
    }
    page.put(Class::SequentialRead, Measure::Iops, several, section, multiple);
    page.put(Class::SequentialRead, Measure::Throughput, large_s, section, bytes);
    // The remainder of few reads is not significant.
    if several > 0.001 * reads && large_s > 0.0 {
        page.put(Class::SequentialRead, Measure::Size, large_s / several, section, bytes);
    }
}

/// The most reads of a single block per second: each block read into the cache, or of a large object, is at most one read.
/// Sessions also wait for single blocks that bypass the cache, which may be more.
/// The other direct reads have several blocks, though the counter of multi-block reads lacks those that are divided among
/// cells. `None` if these counters are absent, or direct reads have few blocks.
fn single_reads_max(page: &Page<'_>) -> Option<f64> {
    /// Mean blocks of reads that are all of several blocks.
    const LARGE_BLOCKS: f64 = 4.0;
    let names = ["physical read IO requests", "physical reads direct", "physical reads cache"];
    let [Some(reads), Some(direct), Some(cached)] = names.map(|name| page.statistic(name)) else { return None };
    let objects = page.statistic("physical reads direct (lob)").map_or(0.0, |objects| objects.value);
    let events = page.report.events.iter().filter(|event| latencies::is_any(event, latencies::SINGLE_BLOCK_EVENTS));
    let single = events.map(|event| event.waits).sum::<f64>().max(cached.value + objects);
    let are_large = direct.value - objects >= LARGE_BLOCKS * (reads.value - single);
    (reads.value > single && are_large).then(|| single / page.seconds)
}

/// Reads of temporary files per second, which the statistics of reads include and which are a class of their own.
#[derive(Default)]
struct TempReads {
    /// Of a block each.
    single: f64,
    several: f64,
    /// Bytes of those of several blocks.
    large_s: f64,
}

/// The reads of temporary files, all of one kind by their mean size.
fn temp_reads(page: &Page<'_>, block: f64) -> TempReads {
    let [Some(iops), Some(bytes_s)] = row(page, "Temp File").map(Traffic::reads).unwrap_or_default() else {
        return TempReads::default();
    };
    let (iops, bytes_s) = (iops.value, bytes_s.value);
    if bytes_s < 2.0 * block * iops {
        TempReads { single: iops, ..TempReads::default() }
    } else {
        TempReads { single: 0.0, several: iops, large_s: bytes_s }
    }
}

/// Emits multi-block reads past the buffer cache, for reports without a usable counter of multi-block reads: nearly all
/// reads are direct ones of several blocks. Each block read into the cache is at most one read. False if they are not.
fn direct_reads(page: &mut Page<'_>) -> bool {
    let names = ["physical read IO requests", "physical reads direct", "physical reads cache"];
    let [Some(reads), Some(direct), Some(cached)] = names.map(|name| page.statistic(name)) else { return false };
    let Some(block) = page.block_bytes() else { return false };
    let requests = reads.value - cached.value;
    let are_direct = cached.value <= MOST_CACHED * reads.value && direct.value >= 2.0 * requests;
    if are_direct {
        let section = page.statistics();
        let temp = temp_reads(page, block);
        let iops = (requests / page.seconds - temp.single - temp.several).max(0.0);
        let bytes_s = (direct.value * block / page.seconds - temp.single * block - temp.large_s).max(0.0);
        page.put(Class::SequentialRead, Measure::Iops, iops, section, reads);
        page.put(Class::SequentialRead, Measure::Throughput, bytes_s, section, direct);
        if iops > 0.0 {
            page.put(Class::SequentialRead, Measure::Size, bytes_s / iops, section, direct);
        }
    }
    are_direct
}

/// Share of reads into the cache up to which the size of the others is known.
const MOST_CACHED: f64 = 0.05;

/// Emits the reads of backups: all reads but those of the database, of control files and of other files, if they are large.
fn backup_reads(page: &mut Page<'_>) {
    let pairs = [
        ("physical read total IO requests", "physical read IO requests"),
        ("physical read total bytes", "physical read bytes"),
    ];
    let [Some((requests, more_requests)), Some((bytes, more_bytes))] = pairs.map(|(all, own)| {
        let all = page.statistic(all)?;
        Some((all, (all.value - page.statistic(own)?.value) / page.seconds))
    }) else {
        return;
    };
    let [other_requests, other_bytes] = other_reads(page);
    let (more_requests, more_bytes) = (more_requests - other_requests, more_bytes - other_bytes);
    let is_notable = more_bytes * page.seconds > LEAST_BACKUP * bytes.value;
    if is_notable && more_requests > 0.0 && more_bytes / more_requests >= COPY_SIZE {
        let section = page.statistics();
        page.put(Class::BackupRead, Measure::Iops, more_requests, section, requests);
        page.put(Class::BackupRead, Measure::Throughput, more_bytes, section, bytes);
        page.put(Class::BackupRead, Measure::Size, more_bytes / more_requests, section, bytes);
    }
}

/// Reads per second of control files and of other files that are neither data nor logs nor backups, and their bytes. Without
/// the table of file types, those of control files by their waits.
fn other_reads(page: &Page<'_>) -> [f64; 2] {
    const CONTROL_FILE_BLOCK: f64 = 16_384.0;
    let report = page.report;
    if report.file_types.is_empty() {
        let of_control = report.events.iter().filter(|event| is_named(event, "control file sequential read"));
        let reads = of_control.map(|event| event.waits).sum::<f64>() / page.seconds;
        return [reads, reads * CONTROL_FILE_BLOCK];
    }
    let others = || report.file_types.iter().filter(|row| FileGroup::of(&row.name) == Some(FileGroup::Other));
    [0, 1].map(|of| others().filter_map(|row| row.reads()[of]).map(|stated| stated.value).sum())
}

/// Share of all bytes read below which other reads are those of control files and headers.
const LEAST_BACKUP: f64 = 0.02;
/// Bytes of the smallest mean read of a backup.
const COPY_SIZE: f64 = 32_768.0;

/// Bytes of the largest read of a database, plus a quarter for rounding.
const MAX_READ: f64 = 1.25 * 1_048_576.0;

/// Large reads per second of files other than data files: logs and backups are copied in pieces of a megabyte.
fn large_reads_aside(rows: &[Traffic]) -> f64 {
    let holds_data = |name: &str| matches!(name, "Data File" | "Temp File") || name.starts_with("TOTAL");
    let aside = rows.iter().filter(|row| !holds_data(&row.name));
    let large = aside.filter_map(|row| Some((row.read_iops.as_ref()?.value, row.read_bytes_s.as_ref()?.value)));
    large.filter(|(iops, bytes_s)| *bytes_s > iops * 32_768.0).map(|(iops, _)| iops).sum()
}

/// Files that are neither data nor log.
#[derive(Clone, Copy, PartialEq)]
enum FileGroup {
    Archive,
    Backup,
    Other,
}

impl FileGroup {
    /// The group of a row of file types; none for data, logs and totals.
    fn of(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        match name.as_str() {
            "total" | "total:" | "data file" | "temp file" | "log file" => None,
            "archive log" => Some(Self::Archive),
            name if name.contains("backup") => Some(Self::Backup),
            _ => Some(Self::Other),
        }
    }
}

/// Emits writes by file type, and everything that is neither data nor log.
fn file_types(page: &mut Page<'_>) {
    if let Some(data) = row(page, "Data File") {
        rates(page, Class::DataWrite, data.writes());
    }
    if let Some(temp) = row(page, "Temp File") {
        rates(page, Class::TempRead, temp.reads());
        rates(page, Class::TempWrite, temp.writes());
    }
    let mut groups: [(Class, Vec<&Traffic>); 3] =
        [(Class::Archive, Vec::new()), (Class::Backup, Vec::new()), (Class::Other, Vec::new())];
    for row in &page.report.file_types {
        if let Some(group) = FileGroup::of(&row.name) {
            groups[group as usize].1.push(row);
        }
    }
    let section = file_section(page);
    for (class, rows) in groups {
        both(page, class, section, &rows);
    }
}

/// The same by function, for reports without file types.
fn functions(page: &mut Page<'_>) {
    if !page.report.file_types.is_empty() {
        return;
    }
    let of = |name: &str| page.report.functions.iter().filter(|row| row.name == name).collect::<Vec<&Traffic>>();
    for row in of("DBWR") {
        rates_in(page, Class::DataWrite, AwrSection::Functions, row.writes());
    }
    both(page, Class::Archive, AwrSection::Functions, &of("ARCH"));
    both(page, Class::Backup, AwrSection::Functions, &of("RMAN"));
}

/// Emits the sum of several rows.
fn both(page: &mut Page<'_>, class: Class, section: AwrSection, rows: &[&Traffic]) {
    let sum = |of: usize| {
        let found: Vec<&StatedValue> =
            rows.iter().flat_map(|row| [row.reads()[of], row.writes()[of]]).flatten().collect();
        let last = (*found.last()?).clone();
        let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        let value = found.iter().map(|stated| stated.value).sum();
        Some(StatedValue { value, field: format!("{}, reads and writes", names.join(" + ")), ..last })
    };
    let [iops, bytes_s] = [0, 1].map(sum);
    rates_in(page, class, section, [iops.as_ref(), bytes_s.as_ref()]);
}

/// Emits the log: the requests to log files where they are counted, which are those of the storage: each member of a group
/// is written, and long writes are divided. Otherwise the writes of the log, each of which is counted once. The function of
/// the log writer is the last source, because it writes control files as well.
fn redo(page: &mut Page<'_>) {
    let log = row(page, "Log File").filter(|row| row.write_iops.is_some());
    let profile = |name: &str| page.report.profile.get(name).and_then(|numbers| numbers[2].as_ref());
    let statistics = (page.statistic("redo writes"), page.statistic("redo size"));
    if let Some(log) = log {
        rates(page, Class::RedoWrite, log.writes());
        redo_requests(page, file_section(page), log.write_iops.as_ref());
    } else if let Some(requests) = profile("Redo Requests") {
        let bytes = profile("Redo (MB)");
        page.put_said(Class::RedoWrite, Measure::Iops, AwrSection::IoProfile, Some(requests));
        if let Some(bytes) = bytes {
            page.put(Class::RedoWrite, Measure::Throughput, bytes.value * MIB, AwrSection::IoProfile, bytes);
        }
        redo_requests(page, AwrSection::IoProfile, Some(requests));
    } else if let (Some(writes), Some(size)) = statistics {
        let section = page.statistics();
        page.put(Class::RedoWrite, Measure::Iops, writes.value / page.seconds, section, writes);
        page.put(Class::RedoWrite, Measure::Throughput, size.value / page.seconds, section, size);
        let origin = page.origin(section, writes);
        let all = page.statistic("physical write total IO requests").zip(page.statistic("physical write IO requests"));
        let doubt = all.map_or(Doubt::RedoOfGroups, |(all, data)| Doubt::RedoOfGroupsInTotal {
            others_s: (all.value - data.value - writes.value).max(0.0) / page.seconds,
        });
        page.out.caution(Some(origin), doubt);
    } else if let Some(writer) = page.report.functions.iter().find(|row| row.name == "LGWR" && row.write_iops.is_some())
    {
        let [iops, bytes_s] = writer.writes();
        // Statspack prints rates of less than 50 kB/s as zero.
        let bytes_s = bytes_s.filter(|bytes_s| bytes_s.value > 0.0);
        rates_in(page, Class::RedoWrite, AwrSection::Functions, [iops, bytes_s]);
        if let (None, Some(size)) = (bytes_s, page.statistic("redo size")) {
            page.put(Class::RedoWrite, Measure::Throughput, size.value / page.seconds, page.statistics(), size);
        }
        page.out.caution(None, Doubt::RedoOfLogWriter);
    } else {
        front_page::redo(page);
    }
}

/// Adds a caution if the requests to log files are not the writes of the log.
fn redo_requests(page: &mut Page<'_>, section: AwrSection, requests: Option<&StatedValue>) {
    /// Ratio of the two that needs an explanation.
    const MIN_RATIO: f64 = 1.5;
    let (Some(requests), Some(writes)) = (requests, page.statistic("redo writes")) else { return };
    let writes_s = writes.value / page.seconds;
    // Rates below an operation per second have few digits.
    if writes_s >= 1.0 && requests.value >= MIN_RATIO * writes_s {
        let origin = page.origin(section, requests);
        page.out.caution(Some(origin), Doubt::RedoOfFiles { requests_s: requests.value, writes_s });
    }
}

/// The section of waits of sessions, or of background processes.
fn wait_section(page: &Page<'_>, foreground: bool) -> AwrSection {
    match (is_cluster(page), foreground) {
        (true, _) => AwrSection::ClusterWaits,
        (false, true) => page.report.session_waits.unwrap_or(AwrSection::ForegroundWaits),
        (false, false) if page.report.met.contains_key(&AwrSection::BackgroundWaits) => AwrSection::BackgroundWaits,
        (false, false) => page.report.session_waits.unwrap_or(AwrSection::BackgroundWaits),
    }
}

/// True for an event of this name, possibly truncated at the end of its column.
fn is_named(event: &WaitRow, name: &str) -> bool {
    const NARROWEST: usize = 24;
    event.name == name || event.name.len() >= NARROWEST && name.starts_with(&event.name)
}

/// Emits tablespaces or files as parts.
fn emit_places(page: &mut Page<'_>) {
    let block = page.block_bytes();
    let total = build_scope(page.report);
    let sections = [(AwrSection::Tablespaces, &page.report.tablespaces), (AwrSection::Files, &page.report.files)];
    // Files divide tablespaces: emitting both would count everything twice.
    let Some((section, places)) = sections.into_iter().rev().find(|(_, places)| !places.is_empty()) else { return };
    for place in places {
        let scope = page.out.scope(ReadingScope { part: place.name.clone(), ..total.clone() });
        let put = |page: &mut Page<'_>, class, measure, value, stated: &StatedValue| {
            let origin = page.origin(section, stated);
            let (window, statistic) = (page.at.1, Statistic::Mean);
            page.out.figure(Figure { scope, window, class, measure, statistic, value, origin });
        };
        if let Some(reads) = &place.reads {
            let iops = reads.value / page.seconds;
            put(page, Class::Read, Measure::Iops, iops, reads);
            if let (Some(block), Some(blocks)) = (block, place.blocks_a_read) {
                put(page, Class::Read, Measure::Throughput, iops * blocks * block, reads);
            }
        }
        if let Some(writes) = &place.writes {
            put(page, Class::DataWrite, Measure::Iops, writes.value / page.seconds, writes);
        }
        if let (Some(latency), Some(_)) = (&place.read_s, place.reads.as_ref().filter(|reads| reads.value >= 10.0)) {
            put(page, Class::Read, Measure::Latency, latency.value, latency);
        }
    }
}

/// Emits the database's time.
fn account(page: &mut Page<'_>) {
    time(page);
    host(page);
    waits(page);
    memory(page);
    advice(page);
}

fn is_cluster(page: &Page<'_>) -> bool {
    page.report.reach == Reach::Cluster
}

fn time(page: &mut Page<'_>) {
    let report = page.report;
    let cluster = is_cluster(page);
    let model = if cluster { AwrSection::ClusterTimeModel } else { AwrSection::TimeModel };
    let (stated, section) = match (report.time_model.get("DB time"), &report.database_s) {
        (Some(stated), _) => (stated, model),
        (None, Some(stated)) => (stated, AwrSection::Snapshots),
        (None, None) => match &report.top.database_s {
            // A small share has few digits.
            Some(stated) if report.top.largest_share >= 0.1 => {
                page.out.caution(None, Doubt::SessionTimeDerived);
                (stated, AwrSection::TopEvents)
            }
            _ => return,
        },
    };
    let on_processor = report.time_model.get("DB CPU").or(report.top.processor_s.as_ref()).map(|stated| stated.value);
    let origin = page.origin(section, stated);
    let (scope, window) = page.at;
    let processors = find_processors(page).map(|stated| stated.value as u32);
    page.out.time(DatabaseTime {
        scope,
        window,
        database_s: stated.value,
        rounding_s: 0.0,
        processor_s: on_processor,
        processors,
        commits: page.statistic("user commits").map(|stated| stated.value),
        counters: counters(page),
        origin,
    });
    check_time(page, (stated.value, on_processor));
}

fn counters(page: &Page<'_>) -> TimeCounters {
    let statistic = |name: &str| page.statistic(name).map(|stated| stated.value);
    TimeCounters {
        hard_parses: statistic("parse count (hard)"),
        hard_parse_s: page.report.time_model.get("hard parse elapsed time").map(|stated| stated.value),
        read_requests: statistic("physical read total IO requests"),
        flash_reads: statistic("physical read requests optimized"),
        log_switches: statistic("log switches (derived)"),
        log_bytes: statistic("redo size"),
        filtered_bytes: busiest::filtered_bytes(page).map(|(bytes, _)| bytes),
        top_reader: readers::find_top(page),
        idle_waits: find_idle_waits(page),
        columnar: columnar(page),
    }
}

/// Waits of sessions that are idle by their name, in another class of the report.
fn find_idle_waits(page: &Page<'_>) -> Vec<(Arc<str>, f64)> {
    let is_listed = |event: &&WaitRow| event.foreground && !event.class.is_empty() && event.class != "Idle";
    let is_idle = |event: &&WaitRow| WaitCause::of_oracle(&event.name, &event.class) == WaitCause::Idle;
    let events = page.report.events.iter().filter(is_listed).filter(is_idle);
    events.filter_map(|event| Some((Arc::from(event.name.as_str()), event.sum_s()?))).collect()
}

/// Work on Hybrid Columnar Compression: statistics of 12.2 and later, otherwise the earlier names, which count the units of
/// cells twice.
fn columnar(page: &Page<'_>) -> Option<ColumnarCompression> {
    let sum = |names: &[&str]| {
        let counted: Vec<f64> = names.iter().filter_map(|name| Some(page.statistic(name)?.value)).collect();
        (!counted.is_empty()).then(|| counted.iter().sum::<f64>())
    };
    let of = |names: &[&str], earlier: &str| sum(names).or_else(|| sum(&[earlier])).unwrap_or(0.0);
    let found = ColumnarCompression {
        units: of(&["HCC scan cell CUs decompressed", "HCC scan rdbms CUs decompressed"], "EHCC CUs Decompressed"),
        stored_bytes: of(
            &["HCC scan cell bytes compressed", "HCC scan rdbms bytes compressed"],
            "EHCC Compressed Length Decompressed",
        ),
        expanded_bytes: of(
            &["HCC scan cell bytes decompressed", "HCC scan rdbms bytes decompressed"],
            "EHCC Decompressed Length Decompressed",
        ),
        loaded_bytes: of(
            &["HCC load direct bytes uncompressed", "HCC load conventional bytes uncompressed"],
            "EHCC Decompressed Length Compressed",
        ),
        loaded_stored_bytes: of(
            &["HCC load direct bytes compressed", "HCC load conventional bytes compressed"],
            "EHCC Compressed Length Compressed",
        ),
    };
    let units = found.units.max(sum(&["cell CUs sent compressed", "cell CUs sent uncompressed"]).unwrap_or(0.0));
    let found = ColumnarCompression { units, ..found };
    (found != ColumnarCompression::default()).then_some(found)
}

/// The host's own counters, whose times are in hundredths of a second; without them the shares of the front page. Meaning of
/// each: Database Reference 12.2, V$OSSTAT, read in 2026-11: `OS_CPU_WAIT_TIME` is the time of processes that are ready to run,
/// `VM_IN_BYTES` and `VM_OUT_BYTES` are paged in and out due to virtual memory paging.
fn host(page: &mut Page<'_>) {
    const HUNDREDTH: f64 = 0.01;
    let systems = &page.report.systems;
    let (scope, window) = page.at;
    let seconds = |name: &str| systems.get(name).map(|stated| stated.value * HUNDREDTH);
    if let (Some(busy), Some(idle_s)) = (systems.get("BUSY_TIME"), seconds("IDLE_TIME")) {
        let (io_wait_s, queue_s) = (seconds("IOWAIT_TIME"), seconds("OS_CPU_WAIT_TIME"));
        let origin = page.origin(AwrSection::OperatingSystem, busy);
        let busy_s = busy.value * HUNDREDTH;
        let bytes = |name: &str| systems.get(name).map(|stated| stated.value);
        let paged_bytes =
            bytes("VM_IN_BYTES").zip(bytes("VM_OUT_BYTES")).map(|(paged_in, paged_out)| [paged_in, paged_out]);
        page.out.host(HostTime { scope, window, busy_s, idle_s, io_wait_s, queue_s, paged_bytes, origin });
    } else if let (Some(idle), io_wait) = (systems.get("%idle"), systems.get("%wio")) {
        let all_s = page.seconds * find_processors(page).map_or(1.0, |stated| stated.value);
        let share = |percent: f64| all_s * percent / 100.0;
        let (busy_s, idle_s) = (share((100.0 - idle.value).max(0.0)), share(idle.value));
        let io_wait_s = io_wait.map(|percent| share(percent.value));
        let origin = page.origin(AwrSection::HostProcessors, idle);
        page.out.host(HostTime { scope, window, busy_s, idle_s, io_wait_s, queue_s: None, paged_bytes: None, origin });
    }
}

/// Processors as counted by the operating system, otherwise by the host's table.
fn find_processors<'a>(page: &Page<'a>) -> Option<&'a StatedValue> {
    page.report.systems.get("NUM_CPUS").or(page.report.processors.as_ref())
}

fn waits(page: &mut Page<'_>) {
    let report = page.report;
    let (scope, window) = page.at;
    if report.session_waits == Some(AwrSection::TopEvents) {
        page.out.caution(None, Doubt::TopEventsOnly);
    }
    if let Some(line) = report.unreadable {
        page.out.caution(Some(Origin::line(line)), Doubt::UnreadableWaits);
    }
    for event in &report.events {
        let section = wait_section(page, event.foreground);
        let Some(total_s) = event.sum_s() else { continue };
        let origin = page.out.origin(event.line, section.name(), &event.name);
        // A histogram covers the waits of all processes: it is attributed to the table with most of them.
        let twin = report.events.iter().find(|other| other.foreground != event.foreground && other.name == event.name);
        let leads = twin.is_none_or(|twin| (event.waits, event.foreground) > (twin.waits, twin.foreground));
        let histogram = report.histograms.get(&event.name).filter(|_| leads);
        page.out.wait(Wait {
            scope,
            window,
            event: event.name.clone(),
            cause: WaitCause::of_oracle(&event.name, &event.class),
            foreground: event.foreground,
            count: event.waits,
            total_s,
            histogram: histogram.map(Histogram::shares).unwrap_or_default(),
            origin,
        });
    }
}

/// Adds a caution if sessions waited longer than they were active.
fn check_time(page: &mut Page<'_>, (database_s, processor_s): (f64, Option<f64>)) {
    let is_counted = |event: &&WaitRow| {
        let cause = WaitCause::of_oracle(&event.name, &event.class);
        event.foreground && !matches!(cause, WaitCause::Idle | WaitCause::Other)
    };
    let events = page.report.events.iter().filter(is_counted);
    let timed: Vec<(&WaitRow, f64)> = events.filter_map(|event| Some((event, event.sum_s()?))).collect();
    let waited_s: f64 = timed.iter().map(|(_, seconds)| seconds).sum();
    let longest = timed.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    if let Some((event, _)) = longest.filter(|_| do_waits_exceed(waited_s, processor_s, database_s)) {
        let section = wait_section(page, true);
        let origin = page.out.origin(event.line, section.name(), &event.name);
        let processor_s = processor_s.unwrap_or(0.0);
        page.out.caution(Some(origin), Doubt::WaitsExceedTime { waited_s, processor_s, database_s });
    }
}

fn memory(page: &mut Page<'_>) {
    let report = page.report;
    let value = |stated: Option<&StatedValue>| stated.map(|stated| stated.value);
    let (scope, window) = page.at;
    let cache = report.cache_bytes.as_ref();
    let caches = if is_cluster(page) { AwrSection::ClusterCaches } else { AwrSection::CacheSizes };
    let origin = match cache {
        Some(stated) => page.origin(caches, stated),
        None => page.out.origin(0, AwrSection::Host.name(), ""),
    };
    let database = Database {
        scope,
        window,
        block_bytes: page.block_bytes(),
        cache_bytes: value(cache),
        processors: value(find_processors(page)),
        cores: value(cores(page)),
        memory_bytes: value(report.memory_bytes.as_ref()),
        stored_bytes: None,
        origin,
    };
    page.out.database(database);
    resources(page);
}

fn cores<'r>(page: &Page<'r>) -> Option<&'r StatedValue> {
    page.report.systems.get("NUM_CPU_CORES").or(page.report.cores.as_ref())
}

/// Emits processors and memory in use, and those of the host.
fn resources(page: &mut Page<'_>) {
    let report = page.report;
    let (scope, window) = page.at;
    let of_report = |section: AwrSection, resource: Resource, stated: Option<&StatedValue>| {
        Some(ResourceRow { section, instance: String::new(), resource, stated: stated?.clone() })
    };
    let systems = if report.systems.contains_key("NUM_CPUS") { AwrSection::OperatingSystem } else { AwrSection::Host };
    let own = [
        processors_used(page).filter(|_| !is_cluster(page)),
        of_report(systems, Resource::HostProcessors, find_processors(page)).filter(|_| !is_cluster(page)),
        of_report(systems, Resource::HostCores, cores(page)).filter(|_| !is_cluster(page)),
        of_report(AwrSection::Host, Resource::HostMemory, report.memory_bytes.as_ref()),
    ];
    let is_unused = |limit: &&ResourceRow| report.resources.iter().all(|row| row.resource != limit.resource);
    for row in own.iter().flatten().chain(&report.resources).chain(report.limits.iter().filter(is_unused)) {
        let origin = page.origin(row.section, &row.stated);
        let is_time = row.resource == Resource::Processors;
        let value = if is_time { row.stated.value / page.seconds } else { row.stated.value };
        let (resource, instance) = (row.resource, row.instance.clone());
        page.out.resource(ResourceFigure { scope, window, instance, resource, value, origin });
    }
    busiest::emit(page);
}

/// Seconds on processors, of sessions and background processes.
fn processors_used(page: &Page<'_>) -> Option<ResourceRow> {
    let report = page.report;
    let of = |section: AwrSection, stated: StatedValue| ResourceRow {
        section,
        instance: String::new(),
        resource: Resource::Processors,
        stated,
    };
    if let Some(own) = report.time_model.get("DB CPU") {
        let background = report.time_model.get("background cpu time").map_or(0.0, |background| background.value);
        return Some(of(AwrSection::TimeModel, StatedValue { value: own.value + background, ..own.clone() }));
    }
    // Before 10.1, in hundredths of a second.
    let counted = page.statistic("CPU used by this session").map(|stated| stated.clone().times(0.01));
    let counted = counted.map(|stated| of(AwrSection::Statistics, stated));
    counted.or_else(|| report.top.processor_s.clone().map(|stated| of(AwrSection::TopEvents, stated)))
}

fn advice(page: &mut Page<'_>) {
    let report = page.report;
    let (scope, window) = page.at;
    for row in &report.advice {
        let field = format!("{} / size factor {}", row.pool, row.size_factor);
        let origin = page.out.origin(row.line, AwrSection::BufferPoolAdvice.name(), &field);
        page.out.advice(CacheAdvice {
            scope,
            window,
            pool: row.pool.clone(),
            size_bytes: row.size_bytes,
            size_factor: row.size_factor,
            read_factor: row.read_factor,
            reads: row.reads,
            origin,
        });
    }
}

/// Compares values that are printed twice, and adds cautions for the kind of report.
fn check(page: &mut Page<'_>) {
    check_window(page);
    check_reach(page);
    agreement(page);
}

fn check_window(page: &mut Page<'_>) {
    let minutes = page.seconds / 60.0;
    // Snapshots are hourly by default, and a few seconds late.
    if minutes >= 7.0 * 24.0 * 60.0 - 65.0 {
        page.out.caution(None, Doubt::WindowOfDays { days: minutes / 1440.0 });
    } else if minutes > 65.0 {
        page.out.caution(None, Doubt::LongWindow { minutes });
    }
    let report = page.report;
    if let (Some(begin), Some(end)) = (report.begin, report.end)
        && end < begin
    {
        page.out.caution(None, Doubt::EndBeforeBegin);
    }
    let members = report.members.iter().map(|member| (member.begin, member.startup));
    for (begin, startup) in members.chain([(report.begin, report.startup)]) {
        if let (Some(begin), Some(startup)) = (begin, startup)
            // The start time has no seconds.
            && startup > begin
        {
            page.out.caution(None, Doubt::StartedInside);
        }
    }
}

fn check_reach(page: &mut Page<'_>) {
    let counts = page.report.resources.iter().filter(|row| row.resource == Resource::Instances);
    let instances = counts.map(|row| row.stated.value).fold(0.0, f64::max);
    if page.report.reach != Reach::Cluster && (page.report.rac.eq_ignore_ascii_case("yes") || instances > 1.0) {
        let count = Some(instances as u32).filter(|count| *count > 1);
        page.out.caution(None, Doubt::InstanceOfCluster { count });
    }
    match page.report.reach {
        Reach::Pluggable => page.out.caution(None, Doubt::PluggableDatabase),
        Reach::Cluster if page.report.members.len() > 1 => {
            let elapsed: Vec<f64> =
                page.report.members.iter().filter_map(|member| Some(member.elapsed_s.as_ref()?.value)).collect();
            let (least, max) = elapsed.iter().fold((f64::MAX, 0.0_f64), |(a, b), &s| (a.min(s), b.max(s)));
            if max > least * 1.02 {
                page.out.caution(None, Doubt::UnequalInstances);
            }
        }
        _ => {}
    }
}

fn agreement(page: &mut Page<'_>) {
    let report = page.report;
    let rate = |name: &str| report.statistic(name).map(|stated| stated.value / page.seconds);
    let profile = |name: &str, column: usize| report.profile.get(name).and_then(|numbers| numbers[column].clone());
    let mut pairs: Vec<(Option<f64>, Option<StatedValue>, AwrSection, &str)> = vec![
        (rate("physical read total IO requests"), profile("Total Requests", 1), AwrSection::IoProfile, "reads"),
        (rate("physical write total IO requests"), profile("Total Requests", 2), AwrSection::IoProfile, "writes"),
        (
            rate("physical read IO requests"),
            load(report, "Read IO requests"),
            AwrSection::LoadProfile,
            "database reads",
        ),
    ];
    let database_s = report.database_s.as_ref().map(|stated| stated.value / page.seconds);
    pairs.push((database_s, load(report, "DB Time(s)"), AwrSection::LoadProfile, "database time"));
    for (counted, printed, section, name) in pairs {
        let (Some(counted), Some(printed)) = (counted, printed) else { continue };
        // Printed with a single decimal; the elapsed time with two decimals of a minute.
        let slack = 0.11 + counted.abs() * 0.02;
        if (counted - printed.value).abs() > slack {
            let origin = page.origin(section, &printed);
            page.out.caution(Some(origin), Doubt::InconsistentRate { name, counted, printed: printed.value });
        }
    }
}

fn load(report: &Report, name: &str) -> Option<StatedValue> {
    report.load.get(name).cloned()
}
