//! Rates of the front page (Load Profile), for reports of which only that page was copied.
//!
//! From 11.2.0.4 on they have requests and bytes; before, only blocks. All are rounded.

use super::{AwrSection, Class, MIB, Measure, Page, Report, StatedValue};
use crate::reading::Doubt;

/// The names of a rate, which depend on the release and on the form.
type Names = &'static [&'static str];

const REDO: Names = &["Redo size (bytes)", "Redo size"];

/// Operations, bytes and blocks per second of a direction.
const fn names(class: Class) -> [Names; 3] {
    match class {
        Class::Read => [
            &["Read IO requests", "Physical read IO requests"],
            &["Read IO (MB)"],
            &["Physical read (blocks)", "Physical reads"],
        ],
        _ => [
            &["Write IO requests", "Physical write IO requests"],
            &["Write IO (MB)"],
            &["Physical write (blocks)", "Physical writes"],
        ],
    }
}

fn rate(report: &Report, names: Names) -> Option<&StatedValue> {
    names.iter().find_map(|name| report.load.get(*name))
}

/// True if the front page has any rate of storage.
pub(super) fn has_rates(report: &Report) -> bool {
    let of_directions = [Class::Read, Class::Write].into_iter().flat_map(names);
    of_directions.chain([REDO]).any(|names| rate(report, names).is_some())
}

/// True if the report consists of its front page.
pub(super) fn is_all(report: &Report) -> bool {
    report.statistics.is_empty()
        && report.profile.is_empty()
        && report.file_types.is_empty()
        && report.tablespaces.is_empty()
        && has_rates(report)
}

/// Blocks per second of a direction.
pub(super) fn blocks_s(report: &Report, class: Class) -> Option<&StatedValue> {
    rate(report, names(class)[2])
}

/// Emits operations and bytes of a direction, or its bytes alone. False if the page has neither, as before 11.2.0.4.
pub(super) fn direction(page: &mut Page<'_>, class: Class) -> bool {
    let [operations, bytes, _] = names(class).map(|names| rate(page.report, names));
    let Some(operations) = operations else { return bytes_alone(page, class, bytes) };
    page.put(class, Measure::Iops, operations.value, AwrSection::LoadProfile, operations);
    if let Some(bytes) = bytes {
        let bytes_s = bytes.value * MIB;
        page.put(class, Measure::Throughput, bytes_s, AwrSection::LoadProfile, bytes);
        // Both have a single decimal.
        if operations.value >= 10.0 && bytes.value >= 1.0 {
            page.put(class, Measure::Size, bytes_s / operations.value, AwrSection::LoadProfile, bytes);
        }
    }
    if class == Class::Read {
        page.out.caution(None, Doubt::FrontPageOnly);
    }
    true
}

/// Emits bytes without their operations, unless the blocks of the page are more exact.
fn bytes_alone(page: &mut Page<'_>, class: Class, bytes: Option<&StatedValue>) -> bool {
    let has_blocks = page.block_bytes().is_some() && blocks_s(page.report, class).is_some();
    let Some(bytes) = bytes.filter(|_| !has_blocks) else { return false };
    page.put(class, Measure::Throughput, bytes.value * MIB, AwrSection::LoadProfile, bytes);
    let origin = page.origin(AwrSection::LoadProfile, bytes);
    page.out.caution(Some(origin), Doubt::OperationsMissing { class: class.name() });
    true
}

/// Emits the bytes of the log.
pub(super) fn redo(page: &mut Page<'_>) {
    if let Some(size) = rate(page.report, REDO) {
        page.put(Class::RedoWrite, Measure::Throughput, size.value, AwrSection::LoadProfile, size);
    }
}
