//! Latencies of classes: from waits that cover enough of their operations, otherwise from the table of file types.

use plimsoll_language::label;

use super::{Page, StatedValue, WaitRow, file_section, is_named, row, wait_section};
use crate::reading::{Class, Doubt, Measure};

/// Waits for reads of a single block.
pub(super) const SINGLE_BLOCK_EVENTS: &[&str] = &["db file sequential read", "cell single block physical read"];

/// Emits the mean latency of a class: from events specific to it, otherwise from its file type. The latter is that of all
/// operations, so it also replaces events with few of them.
pub(super) fn latencies(page: &mut Page<'_>) {
    const EVENTS: [(Class, bool, &[&str]); 5] = [
        (Class::RandomRead, true, SINGLE_BLOCK_EVENTS),
        (Class::SequentialRead, true, &["db file scattered read", "cell multiblock physical read"]),
        (Class::RedoWrite, false, &["log file parallel write"]),
        (Class::TempRead, true, &["direct path read temp"]),
        (Class::TempWrite, true, &["direct path write temp"]),
    ];
    for (class, foreground, names) in EVENTS {
        let of_files = file_latency(page, class);
        let uncovered = covered_share(page, class, names).filter(|share| *share < MIN_COVERED);
        if uncovered.is_none() && wait_latency(page, class, foreground, names) {
            continue;
        }
        let direct = ["direct path read"];
        let other = if of_files.is_some() {
            page.put_said(class, Measure::Latency, file_section(page), of_files);
            Some(label!("that of IOStat by Filetype"))
        } else if class == Class::SequentialRead
            && covered_share(page, class, &direct).is_none_or(|share| share >= MIN_COVERED)
            // Direct reads are asynchronous, and a wait for one may be shorter than the read.
            && wait_latency(page, class, foreground, &direct)
        {
            Some(label!("that of direct-path-read waits, a minimum"))
        } else {
            None
        };
        if let Some(share) = uncovered {
            doubt_coverage(page, class, (names, share), other);
        }
    }
}

/// Waits for a smaller share of a class's operations do not determine the latency of the rest.
const MIN_COVERED: f64 = 0.1;

/// The latency of reads of data files; a printed 0.00 is less than the resolution. That of scans in cells is unusable: many
/// reads are in flight for each wait.
fn file_latency<'a>(page: &Page<'a>, class: Class) -> Option<&'a StatedValue> {
    let data = row(page, "Data File")?;
    let stated = match class {
        Class::RandomRead => data.small_read_s.as_ref(),
        Class::SequentialRead if !has_cell_scans(page) => data.large_read_s.as_ref(),
        _ => None,
    };
    stated.filter(|stated| stated.value > 0.0)
}

/// True if sessions wait for scans in cells more often than for those of the database.
fn has_cell_scans(page: &Page<'_>) -> bool {
    let waits = |is: fn(&str) -> bool| {
        let events = page.report.events.iter().filter(|event| is(&event.name));
        events.map(|event| event.waits).sum::<f64>()
    };
    waits(|name| name.starts_with("cell smart table scan")) > waits(|name| name.starts_with("db file scattered read"))
}

/// The share of a class's operations that processes waited for in these events, if both are known. Waits of the log writer
/// cover the members of a group.
fn covered_share(page: &Page<'_>, class: Class, names: &[&str]) -> Option<f64> {
    let rate = page.rates.get(&class).filter(|rate| **rate > 0.0)?;
    let events = page.report.events.iter().filter(|event| is_any(event, names));
    let waits: f64 = events.map(|event| event.waits).sum();
    (class != Class::RedoWrite && waits > 0.0).then(|| waits / (rate * page.seconds))
}

/// Adds a caution that the waits for these events are not those of all operations; sessions may wait for the others in
/// events of several classes.
fn doubt_coverage(page: &mut Page<'_>, class: Class, (names, share): (&[&str], f64), other: Option<&'static str>) {
    /// The latency of fewer operations per second has no effect on a choice.
    const FEW: f64 = 1.0;
    if page.rates.get(&class).is_none_or(|rate| *rate < FEW) {
        return;
    }
    let (class, events) = (class.label(), names.join(label!(" and ")));
    page.out.caution(
        None,
        match other {
            Some(other) => Doubt::OtherLatency { class, events, share, other },
            None => Doubt::UnknownLatency { class, events, share },
        },
    );
}

/// Emits the mean wait for these events; false if there is none.
fn wait_latency(page: &mut Page<'_>, class: Class, foreground: bool, names: &[&str]) -> bool {
    let mean = mean_wait(&page.report.events, foreground, names);
    // A mean below the resolution of its unit is printed as zero, and that of a few waits may be one off.
    let is_significant = |mean: &MeanWait<'_>| class != Class::SequentialRead || !are_rare(page, mean.waits);
    let Some(mean) = mean.filter(|mean| mean.seconds > 0.0 && is_significant(mean)) else { return false };
    let section = wait_section(page, foreground);
    let field = format!("{} / avg wait", mean.events.join(" + "));
    let stated = StatedValue { value: mean.seconds, line: mean.line, field };
    page.put(class, Measure::Latency, mean.seconds, section, &stated);
    true
}

/// True if sessions wait for nearly all scans in another event.
fn are_rare(page: &Page<'_>, waits: f64) -> bool {
    const MIN_SHARE: f64 = 0.01;
    let direct = page.report.events.iter().filter(|other| other.foreground && is_named(other, "direct path read"));
    waits < MIN_SHARE * direct.map(|other| other.waits).sum::<f64>()
}

/// True for one of these events or a variant of it by source, such as `cell single block physical read: flash cache`.
pub(super) fn is_any(event: &WaitRow, names: &[&str]) -> bool {
    let is_variant = |name: &str| event.name.strip_prefix(name).is_some_and(|rest| rest.starts_with(':'));
    names.iter().any(|name| is_named(event, name) || is_variant(name))
}

/// The mean of the waits for several events.
struct MeanWait<'a> {
    /// The events, that with the most waits first.
    events: Vec<&'a str>,
    /// The line of the first event.
    line: u64,
    waits: f64,
    seconds: f64,
}

/// The mean over all waits for these events. A single wait is not significant.
fn mean_wait<'a>(events: &'a [WaitRow], foreground: bool, names: &[&str]) -> Option<MeanWait<'a>> {
    let is = |event: &&WaitRow| event.foreground == foreground && is_any(event, names);
    let with_mean = events.iter().filter(is).filter_map(|event| Some((event, event.mean_s()?)));
    let mut found: Vec<(&WaitRow, f64)> = with_mean.filter(|(event, _)| event.waits >= 10.0).collect();
    found.sort_by(|a, b| b.0.waits.total_cmp(&a.0.waits));
    let waits: f64 = found.iter().map(|(event, _)| event.waits).sum();
    let total_s: f64 = found.iter().map(|(event, mean_s)| event.waits * mean_s).sum();
    Some(MeanWait {
        line: found.first()?.0.line,
        events: found.iter().map(|(event, _)| event.name.as_str()).collect(),
        waits,
        seconds: if let [(_, mean_s)] = found.as_slice() { *mean_s } else { total_s / waits },
    })
}
