//! Reads and writes of reports that count blocks only: releases before 10.2, which have no statistics of requests.
//!
//! The operations are those of the tablespaces, or else of the files, the bytes those of the blocks. Without either table
//! only the bytes are known.

use super::{AwrSection, Class, Measure, Page, StatedValue, front_page};
use crate::awr::report::{FileRow, Report};
use crate::reading::Doubt;

/// Emits a direction: from the tablespaces, from the front page, or as bytes only.
pub(super) fn direction(page: &mut Page<'_>, class: Class) {
    if places(page, class) || front_page::direction(page, class) {
        return;
    }
    let Some((bytes_s, section, stated)) = compute_bytes_s(page, class) else { return };
    page.put(class, Measure::Throughput, bytes_s, section, &stated);
    let origin = page.origin(section, &stated);
    page.out.caution(Some(origin), Doubt::BlocksOnly { class: class.label(), table: "Tablespace IO Stats" });
}

/// Bytes per second of the blocks read or written: exact from the statistics, rounded from the front page.
fn compute_bytes_s(page: &Page<'_>, class: Class) -> Option<(f64, AwrSection, StatedValue)> {
    let block = page.block_bytes()?;
    let name = if class == Class::Read { "physical reads" } else { "physical writes" };
    if let Some(blocks) = page.statistic(name) {
        return Some((blocks.value / page.seconds * block, page.statistics(), blocks.clone()));
    }
    let blocks = front_page::blocks_s(page.report, class)?;
    Some((blocks.value * block, AwrSection::LoadProfile, blocks.clone()))
}

/// The tablespaces, or the files of a report without them.
fn list_places(report: &Report) -> (AwrSection, &'static str, &[FileRow]) {
    if report.tablespaces.is_empty() {
        (AwrSection::Files, "all files", &report.files)
    } else {
        (AwrSection::Tablespaces, "all tablespaces", &report.tablespaces)
    }
}

/// Emits the sums of all tablespaces or files. False without any.
fn places(page: &mut Page<'_>, class: Class) -> bool {
    let count = |row: &FileRow| if class == Class::Read { row.reads.clone() } else { row.writes.clone() };
    let (section, total, rows) = list_places(page.report);
    let Some(last) = rows.iter().filter_map(count).next_back() else { return false };
    let operations: f64 = rows.iter().filter_map(count).map(|stated| stated.value).sum();
    let all = |of: &str| StatedValue { field: format!("{total} / {of}"), ..last.clone() };
    let iops = operations / page.seconds;
    // Tablespaces hold data; the log is counted apart from them.
    let own = if class == Class::Read { Class::Read } else { Class::DataWrite };
    page.put(own, Measure::Iops, iops, section, &all("operations"));
    if let Some((bytes_s, section, stated)) = compute_bytes_s(page, class) {
        page.put(own, Measure::Throughput, bytes_s, section, &stated);
        if iops > 0.0 && bytes_s > 0.0 {
            page.put(own, Measure::Size, bytes_s / iops, section, &stated);
        }
        if class == Class::Write {
            with_log(page, iops, bytes_s, &all("operations"));
        }
    }
    if class == Class::Read {
        latency(page);
    }
    true
}

/// Emits the mean latency of reads over all tablespaces or files.
fn latency(page: &mut Page<'_>) {
    let (section, total, rows) = list_places(page.report);
    let timed = rows.iter().filter_map(|row| Some((row.reads.as_ref()?.value, row.read_s.as_ref()?)));
    let (reads, seconds) =
        timed.clone().fold((0.0, 0.0), |sum, (reads, read_s)| (sum.0 + reads, sum.1 + reads * read_s.value));
    // A single wait is not significant.
    if let Some((_, last)) = timed.clone().next_back().filter(|_| reads >= 10.0 && seconds > 0.0) {
        let stated = StatedValue { field: format!("{total} / av rd(ms)"), ..last.clone() };
        page.put(Class::Read, Measure::Latency, seconds / reads, section, &stated);
    }
}

/// Emits the writes of data and log together, as other reports count them.
fn with_log(page: &mut Page<'_>, iops: f64, bytes_s: f64, stated: &StatedValue) {
    let (Some(writes), Some(size)) = (page.statistic("redo writes"), page.statistic("redo size")) else { return };
    let stated = StatedValue { field: format!("{} + redo writes", stated.field), ..stated.clone() };
    let (section, ..) = list_places(page.report);
    let (iops, bytes_s) = (iops + writes.value / page.seconds, bytes_s + size.value / page.seconds);
    page.put(Class::Write, Measure::Iops, iops, section, &stated);
    page.put(Class::Write, Measure::Throughput, bytes_s, section, &stated);
}
