//! Operations, bytes, sizes and latencies, by class.

use super::Page;
use crate::awr::report::{Event, Reach, Said, Traffic};
use crate::awr::section::Section;
use crate::figure::{Class, Figure, Measure, Scope, Statistic};

/// Hands over what was read and written.
pub(super) fn make(page: &mut Page<'_>) {
    totals(page);
    kinds_of_reads(page);
    file_types(page);
    functions(page);
    redo(page);
    latencies(page);
    places(page);
}

/// The row of a file type.
fn row<'a>(page: &Page<'a>, name: &str) -> Option<&'a Traffic> {
    page.report.file_types.iter().find(|row| row.name == name)
}

fn file_section(page: &Page<'_>) -> Section {
    if page.report.reach == Reach::Cluster { Section::ClusterFileTypes } else { Section::FileTypes }
}

/// Reads and writes of every kind.
fn totals(page: &mut Page<'_>) {
    let total = row(page, "TOTAL");
    let pluggable = page.report.reach == Reach::Pluggable;
    let directions = [
        (Class::Read, "physical read total IO requests", "physical read total bytes", 1),
        (Class::Write, "physical write total IO requests", "physical write total bytes", 2),
    ];
    for (class, requests, bytes, column) in directions {
        let (iops, bytes_s) = match class {
            Class::Read => {
                (total.and_then(|row| row.read_iops.as_ref()), total.and_then(|row| row.read_bytes_s.as_ref()))
            }
            _ => (total.and_then(|row| row.write_iops.as_ref()), total.and_then(|row| row.write_bytes_s.as_ref())),
        };
        // What a pluggable database has written is written by the container: its own statistics do not have it.
        let by_files = pluggable && class == Class::Write && iops.is_some();
        let statistics = (page.statistic(requests), page.statistic(bytes));
        if let ((Some(requests), Some(bytes)), false) = (statistics, by_files) {
            let section = page.statistics();
            page.put(class, Measure::Iops, requests.value / page.seconds, section, requests);
            page.put(class, Measure::Throughput, bytes.value / page.seconds, section, bytes);
            if requests.value > 0.0 {
                page.put(class, Measure::Size, bytes.value / requests.value, section, bytes);
            }
        } else if iops.is_some() {
            rates(page, class, iops, bytes_s);
        } else {
            profile(page, class, column);
        }
    }
}

/// What the profile says, where there is nothing better.
fn profile(page: &mut Page<'_>, class: Class, column: usize) {
    let said = |name: &str| page.report.profile.get(name).and_then(|numbers| numbers[column].as_ref());
    let (requests, bytes) = (said("Total Requests"), said("Total (MB)"));
    page.put_said(class, Measure::Iops, Section::IoProfile, requests);
    if let Some(bytes) = bytes {
        page.put(class, Measure::Throughput, bytes.value * 1_048_576.0, Section::IoProfile, bytes);
    }
}

/// Rates of a row of file types, and the size that they give.
fn rates(page: &mut Page<'_>, class: Class, iops: Option<&Said>, bytes_s: Option<&Said>) {
    rates_in(page, class, file_section(page), iops, bytes_s);
}

fn rates_in(page: &mut Page<'_>, class: Class, section: Section, iops: Option<&Said>, bytes_s: Option<&Said>) {
    page.put_said(class, Measure::Iops, section, iops);
    page.put_said(class, Measure::Throughput, section, bytes_s);
    if let (Some(iops), Some(bytes_s)) = (iops, bytes_s)
        // Rates have two decimals: of fewer operations the size would be chance.
        && iops.value >= 0.5
        && bytes_s.value > 0.0
    {
        page.put(class, Measure::Size, bytes_s.value / iops.value, section, bytes_s);
    }
}

/// Reads of the database in one block, and in several at once. The counter of the latter counts those of backups and logs
/// too: what the table of file types says of these is taken off, unless the bytes say that it was not in.
fn kinds_of_reads(page: &mut Page<'_>) {
    let names = ["physical read IO requests", "physical read total multi block requests", "physical read bytes"];
    let [Some(total), Some(multiple), Some(bytes)] = names.map(|name| page.statistic(name)) else { return };
    let Some(block) = page.block_bytes() else { return };
    let counted = multiple.value / page.seconds;
    let reads = total.value / page.seconds;
    let bytes_s = bytes.value / page.seconds;
    let aside = large_reads_aside(&page.report.file_types);
    // One block each, by the statistic's definition; the rest is the others'.
    let large = |several: f64| bytes_s - (reads - several) * block;
    let fits = |several: &f64| {
        let slack = 0.02 * bytes_s;
        (2.0 * block * several - slack..=LARGEST_READ * several + slack).contains(&large(*several))
    };
    let section = page.statistics();
    let Some(several) = [counted - aside, counted].into_iter().map(|several| several.min(reads).max(0.0)).find(fits)
    else {
        let origin = page.origin(section, multiple);
        let text = "the counter of reads of several blocks does not fit the bytes: random and sequential reads are not told apart";
        return page.out.caution(Some(origin), text);
    };
    let single = reads - several;
    page.put(Class::RandomRead, Measure::Iops, single, section, total);
    page.put(Class::RandomRead, Measure::Throughput, single * block, section, total);
    if single > 0.0 {
        page.put(Class::RandomRead, Measure::Size, block, section, total);
    }
    page.put(Class::SequentialRead, Measure::Iops, several, section, multiple);
    page.put(Class::SequentialRead, Measure::Throughput, large(several).max(0.0), section, bytes);
    // Of few reads the remainder says nothing of one.
    if several > 0.001 * reads && large(several) > 0.0 {
        page.put(Class::SequentialRead, Measure::Size, large(several) / several, section, bytes);
    }
}

/// Bytes of the largest read of a database, and a quarter for what was rounded.
const LARGEST_READ: f64 = 1.25 * 1_048_576.0;

/// Large reads a second of files that hold no data: logs and backups are copied in pieces of a megabyte.
fn large_reads_aside(rows: &[Traffic]) -> f64 {
    let holds_data = |name: &str| matches!(name, "Data File" | "Temp File") || name.starts_with("TOTAL");
    let aside = rows.iter().filter(|row| !holds_data(&row.name));
    let large = aside.filter_map(|row| Some((row.read_iops.as_ref()?.value, row.read_bytes_s.as_ref()?.value)));
    large.filter(|(iops, bytes_s)| *bytes_s > iops * 32_768.0).map(|(iops, _)| iops).sum()
}

/// Writes and what is neither data nor log, by the type of their files.
fn file_types(page: &mut Page<'_>) {
    if let Some(data) = row(page, "Data File") {
        rates(page, Class::DataWrite, data.write_iops.as_ref(), data.write_bytes_s.as_ref());
    }
    if let Some(temp) = row(page, "Temp File") {
        rates(page, Class::TempRead, temp.read_iops.as_ref(), temp.read_bytes_s.as_ref());
        rates(page, Class::TempWrite, temp.write_iops.as_ref(), temp.write_bytes_s.as_ref());
    }
    let mut groups: [(Class, Vec<&Traffic>); 3] =
        [(Class::Archive, Vec::new()), (Class::Backup, Vec::new()), (Class::Other, Vec::new())];
    for row in &page.report.file_types {
        let name = row.name.to_ascii_lowercase();
        let group = match name.as_str() {
            "total" | "total:" | "data file" | "temp file" | "log file" => continue,
            "archive log" => 0,
            name if name.contains("backup") => 1,
            _ => 2,
        };
        groups[group].1.push(row);
    }
    let section = file_section(page);
    for (class, rows) in groups {
        both(page, class, section, &rows);
    }
}

/// The same by function, for reports that do not tell file types apart.
fn functions(page: &mut Page<'_>) {
    if !page.report.file_types.is_empty() {
        return;
    }
    let of = |name: &str| page.report.functions.iter().filter(|row| row.name == name).collect::<Vec<&Traffic>>();
    for row in of("DBWR") {
        rates_in(page, Class::DataWrite, Section::Functions, row.write_iops.as_ref(), row.write_bytes_s.as_ref());
    }
    both(page, Class::Archive, Section::Functions, &of("ARCH"));
    both(page, Class::Backup, Section::Functions, &of("RMAN"));
}

/// Reads and writes of several rows as one.
fn both(page: &mut Page<'_>, class: Class, section: Section, rows: &[&Traffic]) {
    let sum = |of: fn(&Traffic) -> [&Option<Said>; 2]| {
        let found: Vec<&Said> = rows.iter().flat_map(|row| of(row)).flatten().collect();
        let last = (*found.last()?).clone();
        let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        let value = found.iter().map(|said| said.value).sum();
        Some(Said { value, field: format!("{}, reads and writes", names.join(" + ")), ..last })
    };
    let iops = sum(|row| [&row.read_iops, &row.write_iops]);
    let bytes_s = sum(|row| [&row.read_bytes_s, &row.write_bytes_s]);
    rates_in(page, class, section, iops.as_ref(), bytes_s.as_ref());
}

/// The log. Its size says nothing of its operations: each member of a group is written.
fn redo(page: &mut Page<'_>) {
    let log = row(page, "Log File").filter(|row| row.write_iops.is_some());
    let profile = |name: &str| page.report.profile.get(name).and_then(|numbers| numbers[2].as_ref());
    if let Some(log) = log {
        rates(page, Class::RedoWrite, log.write_iops.as_ref(), log.write_bytes_s.as_ref());
    } else if let Some(writer) = page.report.functions.iter().find(|row| row.name == "LGWR" && row.write_iops.is_some())
    {
        rates_in(page, Class::RedoWrite, Section::Functions, writer.write_iops.as_ref(), writer.write_bytes_s.as_ref());
    } else if let Some(requests) = profile("Redo Requests") {
        let bytes = profile("Redo (MB)");
        page.put_said(Class::RedoWrite, Measure::Iops, Section::IoProfile, Some(requests));
        if let Some(bytes) = bytes {
            page.put(Class::RedoWrite, Measure::Throughput, bytes.value * 1_048_576.0, Section::IoProfile, bytes);
        }
    } else if let (Some(writes), Some(size)) = (page.statistic("redo writes"), page.statistic("redo size")) {
        let section = page.statistics();
        page.put(Class::RedoWrite, Measure::Iops, writes.value / page.seconds, section, writes);
        page.put(Class::RedoWrite, Measure::Throughput, size.value / page.seconds, section, size);
        let origin = page.origin(section, writes);
        page.out.caution(
            Some(origin),
            "writes of the log are counted once, however many members its groups have: multiply by their number",
        );
    }
}

/// The mean latency of a class: by the events that wait for just that, else by the type of file.
fn latencies(page: &mut Page<'_>) {
    const EVENTS: [(Class, bool, &[&str]); 5] = [
        (Class::RandomRead, true, &["db file sequential read", "cell single block physical read"]),
        (Class::SequentialRead, true, &["db file scattered read", "cell multiblock physical read"]),
        (Class::RedoWrite, false, &["log file parallel write"]),
        (Class::TempRead, true, &["direct path read temp"]),
        (Class::TempWrite, true, &["direct path write temp"]),
    ];
    for (class, foreground, names) in EVENTS {
        let busiest = busiest(&page.report.events, foreground, names);
        // Nought is what is printed of a mean that is too short for its unit.
        if let Some((event, seconds)) = busiest.filter(|(_, seconds)| *seconds > 0.0) {
            let cluster = page.report.reach == Reach::Cluster;
            let section = match (cluster, foreground) {
                (true, _) => Section::ClusterWaits,
                (false, true) => Section::ForegroundWaits,
                (false, false) => Section::BackgroundWaits,
            };
            let said = Said { value: seconds, line: event.line, field: format!("{} / avg wait", event.name) };
            page.put(class, Measure::Latency, seconds, section, &said);
        } else if let (Some(data), section) = (row(page, "Data File"), file_section(page)) {
            match class {
                Class::RandomRead => page.put_said(class, Measure::Latency, section, data.small_read_s.as_ref()),
                Class::SequentialRead => page.put_said(class, Measure::Latency, section, data.large_read_s.as_ref()),
                _ => {}
            }
        }
    }
}

/// True for an event of this name, which text cuts at the end of its column.
fn is_named(event: &Event, name: &str) -> bool {
    const NARROWEST: usize = 24;
    event.name == name || event.name.len() >= NARROWEST && name.starts_with(&event.name)
}

/// The event of these with the most waits, and its mean in seconds. Of one wait in the window nothing follows.
fn busiest<'a>(events: &'a [Event], foreground: bool, names: &[&str]) -> Option<(&'a Event, f64)> {
    let known =
        events.iter().filter(|event| event.foreground == foreground && names.iter().any(|name| is_named(event, name)));
    let with_mean = known.filter_map(|event| Some((event, event.mean_s()?)));
    with_mean.filter(|(event, _)| event.waits >= 10.0).max_by(|a, b| a.0.waits.total_cmp(&b.0.waits))
}

/// Tablespaces and files, each a part of its own.
fn places(page: &mut Page<'_>) {
    let block = page.block_bytes();
    let whole = super::scope(page.report);
    let sections = [(Section::Tablespaces, &page.report.tablespaces), (Section::Files, &page.report.files)];
    // Files divide tablespaces: one of the two, or sums would count all twice.
    let Some((section, places)) = sections.into_iter().rev().find(|(_, places)| !places.is_empty()) else { return };
    for place in places {
        let scope = page.out.scope(Scope { part: place.name.clone(), ..whole.clone() });
        let put = |page: &mut Page<'_>, class, measure, value, said: &Said| {
            let origin = page.origin(section, said);
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
