//! Files that `plimsoll-ingest` reads: responses of monitoring services, and collections of hosts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use plimsoll_ingest::{
    CapBasis, CapEvidence, CapKind, CapOwner, Class, Fate, Figure, FormatInput, Ingest, Measure, Outcome, Reading,
    ReadingScope, Statistic,
};
use plimsoll_units::Span;

use super::Input;
use super::declared::MAX_VALUE;
use crate::points::MetricPoint;

/// Bytes of a file passed on at once.
const PIECE: usize = 1 << 20;

/// Reads a file. Its size is bounded by the limits of `plimsoll-ingest`.
pub fn read(path: &Path, interval: Option<u64>, input: &mut Input<'_, '_>) -> Result<()> {
    let mut file = File::open(path).context("open it")?;
    let name = path.display().to_string();
    let interval = interval.map(Span::from_secs);
    let mut ingest = Ingest::new(FormatInput { name, begin: None, zone: None, interval });
    let mut piece = vec![0; PIECE];
    loop {
        let length = file.read(&mut piece).context("read it")?;
        if length == 0 || !ingest.feed(&piece[..length]) {
            break;
        }
    }
    for outcome in ingest.finish() {
        match outcome {
            Outcome::Read(reading) => take(&reading, input)?,
            Outcome::Refused { name, refusal } => anyhow::bail!("{name}: {refusal}"),
        }
    }
    Ok(())
}

/// The points of a volume by begin.
type Series = BTreeMap<DateTime, MetricPoint>;

fn take(reading: &Reading, input: &mut Input<'_, '_>) -> Result<()> {
    ensure!(
        reading.joined.is_empty(),
        "it is so long that neighbouring points were joined: split it by time, each part with fewer points"
    );
    reject_broken_parts(reading, input)?;
    let mut volumes: BTreeMap<String, Series> = BTreeMap::new();
    for figure in &reading.figures {
        if let Some(metric) = metric_of(figure) {
            take_figure(reading, figure, metric, &mut volumes, input)?;
        }
    }
    for cap in &reading.caps {
        take_check(reading, cap, &mut volumes, input)?;
    }
    for (id, series) in volumes {
        for point in series.into_values() {
            input.point(&id, point)?;
        }
    }
    Ok(())
}

/// Sets metrics aside that were not read, such as means in the place of sums.
fn reject_broken_parts(reading: &Reading, input: &mut Input<'_, '_>) -> Result<()> {
    for part in reading.parts.iter().filter(|part| part.fate == Fate::Broken) {
        let is_of_part = |place: &str| place.contains(&part.name);
        let texts: Vec<_> = reading
            .cautions
            .iter()
            .map(|caution| {
                let place = caution.origin.as_ref().map(ToString::to_string).unwrap_or_default();
                (is_of_part(&place), caution.origin.as_ref().map_or(0, |origin| origin.line), caution.doubt.to_string())
            })
            .collect();
        let own: Vec<_> = texts.iter().filter(|(is_own, ..)| *is_own).collect();
        let chosen = if own.is_empty() { texts.iter().collect() } else { own };
        let line = chosen.first().map_or(0, |(_, line, _)| *line);
        let reasons: Vec<&str> = chosen.iter().map(|(_, _, text)| text.as_str()).collect();
        input.reject(line, &format!("not read: {}", reasons.join("; ")), &part.name)?;
    }
    Ok(())
}

/// The metric that a figure is the rate of.
#[derive(Clone, Copy)]
enum ReportMetric {
    Index(usize),
    /// Reads and writes together.
    Unseparated,
}

fn metric_of(figure: &Figure) -> Option<ReportMetric> {
    if figure.statistic != Statistic::Mean {
        return None;
    }
    match (figure.measure, figure.class) {
        (Measure::Iops, Class::Read) => Some(ReportMetric::Index(0)),
        (Measure::Iops, Class::Write) => Some(ReportMetric::Index(1)),
        (Measure::Throughput, Class::Read) => Some(ReportMetric::Index(2)),
        (Measure::Throughput, Class::Write) => Some(ReportMetric::Index(3)),
        (Measure::Iops | Measure::Throughput, Class::All) => Some(ReportMetric::Unseparated),
        _ => None,
    }
}

fn take_figure(
    reading: &Reading,
    figure: &Figure,
    metric: ReportMetric,
    volumes: &mut BTreeMap<String, Series>,
    input: &mut Input<'_, '_>,
) -> Result<()> {
    let (line, row) = (figure.origin.line, format!("{:?} {:?} {}", figure.class, figure.measure, figure.value));
    let ReportMetric::Index(metric) = metric else {
        return input.reject(line, "reads and writes are not separated: query both", &row);
    };
    if reading.beneath.contains(&figure.scope) {
        return Ok(());
    }
    let Some(id) = volume_of(&reading.scopes[figure.scope as usize]) else {
        return input.reject(
            line,
            "it names no volume: put the volume into the label of the metric, or query each disk by itself",
            &row,
        );
    };
    let window = &reading.windows[figure.window as usize];
    let seconds = window.length.as_secs_f64();
    let (Some(begin), Some(at)) = (window.begin, window.begin.and_then(seconds_of)) else {
        return input.reject(line, "it has no time", &row);
    };
    let total = (figure.value * seconds).round();
    let is_possible = (1.0..=86_400.0).contains(&seconds) && (0.0..=MAX_VALUE as f64).contains(&total);
    if !is_possible || seconds.fract() != 0.0 {
        return input.reject(
            line,
            &format!("a window of {seconds} s: whole seconds of 1 to 86,400 are possible"),
            &row,
        );
    }
    let new = MetricPoint { at, period: seconds as i64, ..MetricPoint::default() };
    let point = volumes.entry(id).or_default().entry(begin).or_insert(new);
    if point.period != new.period {
        return input.reject(line, "the volume has windows of several lengths at this time", &row);
    }
    match point.metrics[metric].replace(total as i64).filter(|other| *other != total as i64) {
        None => Ok(()),
        Some(other) => {
            point.metrics[metric] = Some(other);
            input.reject(line, "the file has another value of the volume for this time", &row)
        }
    }
}

/// Marks the points of a volume in which its limit was exceeded; in the others of the same metric it was not.
fn take_check(
    reading: &Reading,
    cap: &CapEvidence,
    volumes: &mut BTreeMap<String, Series>,
    input: &mut Input<'_, '_>,
) -> Result<()> {
    if cap.limit.basis != CapBasis::Exceeded || cap.limit.owner == CapOwner::Machine {
        return Ok(());
    }
    let metrics: &[usize] = match cap.limit.kind {
        CapKind::Operations => &[4],
        CapKind::Bytes => &[5],
        CapKind::Either => &[4, 5],
    };
    let series = volume_of(&reading.scopes[cap.scope as usize]).and_then(|id| volumes.get_mut(&id));
    let Some(series) = series else {
        let reason = "a check of a volume without operations in this file: export both together";
        return input.reject(cap.origin.line, reason, &cap.metric);
    };
    let reached: BTreeSet<&DateTime> = cap.reached.iter().collect();
    for at in reached.iter().filter(|at| !series.contains_key(**at)) {
        input.reject(cap.origin.line, "a check at a time without operations", &format!("{} {at}", cap.metric))?;
    }
    // A check for fewer points than there are does not say which it covers, and its begins are listed up to a maximum.
    let covers_all = cap.of >= series.len() && cap.reached.len() == cap.points;
    for (begin, point) in series {
        for metric in metrics {
            let is_reached = reached.contains(begin);
            if is_reached || covers_all {
                point.metrics[*metric] = Some(i64::from(is_reached));
            }
        }
    }
    Ok(())
}

/// The identifier of a volume: that of the provider, or the host and its device.
fn volume_of(scope: &ReadingScope) -> Option<String> {
    if !scope.part_id.is_empty() {
        return Some(scope.part_id.clone());
    }
    // The sum of all data disks of an Azure machine.
    if scope.part == "data disks" {
        return None;
    }
    let is_id = |word: &&str| word.starts_with("vol-") || word.starts_with("ocid1.");
    if let Some(id) = scope.part.split_whitespace().find(is_id) {
        return Some(id.to_owned());
    }
    match (scope.host.as_str(), scope.part.as_str()) {
        (_, "") => None,
        ("", part) => Some(part.to_owned()),
        (host, part) => Some(format!("{host}/{part}")),
    }
}

fn seconds_of(at: DateTime) -> Option<i64> {
    at.to_zoned(TimeZone::UTC).ok().map(|time| time.timestamp().as_second())
}
