//! Files that `plimsoll-ingest` reads: responses of monitoring services, and collections of hosts and databases.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

use anyhow::{Context, Result, bail};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use plimsoll_ingest::{
    CapBasis, CapEvidence, CapKind, CapOwner, Class, Fate, Figure, FormatInput, Ingest, Measure, Outcome, Reading,
    ReadingScope, ReadingWindow, Statistic,
};
use plimsoll_units::Span;

use super::batch::Batch;
use super::declared::MAX_VALUE;
use crate::points::MetricPoint;

/// Bytes of a file passed on at once.
const PIECE: usize = 1 << 20;
/// Files from this size on are read one at a time: a document takes about ten times its size of memory.
const LARGE_FILE: u64 = 4 << 20;
/// Doubts of a file that are listed.
const MAX_NOTES: usize = 3;

/// Properties of reports that do not state them, and the turn of large ones.
#[derive(Debug, Default)]
pub struct ReportReader {
    /// Time of the first sample, in UTC.
    pub begin: Option<DateTime>,
    /// Interval of samples.
    pub interval: Option<Span>,
    /// Volume of reports that name none.
    pub volume: Option<String>,
    /// Held while a large file is read.
    pub large: Mutex<()>,
}

impl ReportReader {
    /// Reads a file. Its size is bounded by the limits of `plimsoll-ingest`.
    pub fn read(&self, path: &Path, batch: &mut Batch) -> Result<()> {
        let mut file = File::open(path).context("open it")?;
        let _turn = self.wait_for_turn(file.metadata().context("read it")?.len());
        let name = path.display().to_string();
        let (begin, interval) = (self.begin, self.interval);
        let mut ingest =
            Ingest::new(FormatInput { name, begin, interval, keeps_windows: true, ..FormatInput::default() });
        let mut piece = vec![0; PIECE];
        loop {
            let length = file.read(&mut piece).context("read it")?;
            if length == 0 || !ingest.feed(&piece[..length]) {
                break;
            }
        }
        for outcome in ingest.finish() {
            match outcome {
                Outcome::Read(reading) => ReadingPoints::new(&reading, self, batch).take(),
                Outcome::Refused { name, refusal } => bail!("{name}: {refusal}"),
            }
        }
        Ok(())
    }

    fn wait_for_turn(&self, bytes: u64) -> Option<MutexGuard<'_, ()>> {
        (bytes >= LARGE_FILE).then(|| self.large.lock().expect("no thread panics with the lock"))
    }
}

/// The points of a volume by begin.
type Series = BTreeMap<i64, MetricPoint>;

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

/// Conversion of a reading to points.
struct ReadingPoints<'a> {
    reading: &'a Reading,
    reader: &'a ReportReader,
    volumes: BTreeMap<String, Series>,
    /// Names of volumes whose identifier is another.
    names: BTreeMap<String, String>,
    batch: &'a mut Batch,
}

impl<'a> ReadingPoints<'a> {
    fn new(reading: &'a Reading, reader: &'a ReportReader, batch: &'a mut Batch) -> Self {
        Self { reading, reader, volumes: BTreeMap::new(), names: BTreeMap::new(), batch }
    }

    fn take(mut self) {
        let before = self.batch.rejected.len();
        self.reject_broken_parts();
        for figure in &self.reading.figures {
            if let Some(metric) = metric_of(figure) {
                self.take_figure(figure, metric);
            }
        }
        for cap in &self.reading.caps {
            self.take_check(cap);
        }
        let doubts = || self.reading.cautions.iter().map(|caution| caution.doubt.to_string());
        if self.volumes.is_empty() && self.batch.rejected.len() == before {
            let once = "its counters were read once: read them several times into one file, or query a range of time";
            let once = Some(once.to_owned()).filter(|_| !self.reading.snapshots.is_empty());
            let reasons: Vec<_> = once.into_iter().chain(doubts()).take(MAX_NOTES).collect();
            self.batch.reject(0, format!("it has no operations or bytes of a window: {}", reasons.join("; ")), "");
        } else {
            self.batch.notes.extend(doubts().take(MAX_NOTES));
            let others = self.reading.cautions.len().saturating_sub(MAX_NOTES);
            if others > 0 {
                self.batch.notes.push(format!("{others} more doubts: `plimsoll demand` lists them"));
            }
        }
        for (id, series) in self.volumes {
            let name = self.names.get(&id).map_or("", String::as_str);
            for point in series.into_values() {
                let volume = self.batch.number(&id, name);
                self.batch.point(volume, point);
            }
        }
    }

    /// Sets metrics aside that were not read, such as means in the place of sums.
    fn reject_broken_parts(&mut self) {
        let texts = self.reading.cautions.iter().map(|caution| {
            let place = caution.origin.as_ref().map(ToString::to_string).unwrap_or_default();
            (place, caution.origin.as_ref().map_or(0, |origin| origin.line), caution.doubt.to_string())
        });
        let texts: Vec<_> = texts.collect();
        for part in self.reading.parts.iter().filter(|part| part.fate == Fate::Broken) {
            let choose = |is_own: &dyn Fn(&str) -> bool| -> Vec<_> {
                texts.iter().filter(|(place, ..)| is_own(place)).take(MAX_NOTES).collect()
            };
            let [exact, own] = [choose(&|place| place == part.name), choose(&|place| place.contains(&part.name))];
            let of_part = [exact, own].into_iter().find(|chosen| !chosen.is_empty());
            let line = of_part.as_ref().map_or(0, |chosen| chosen[0].1);
            let reasons = of_part.unwrap_or_else(|| choose(&|_| true));
            let reasons: Vec<&str> = reasons.iter().map(|(_, _, text)| text.as_str()).collect();
            self.batch.reject(line, format!("not read: {}", reasons.join("; ")), &part.name);
        }
    }

    fn take_figure(&mut self, figure: &Figure, metric: ReportMetric) {
        if let Err(reason) = self.add_figure(figure, metric) {
            let row = format!("{:?} {:?} {}", figure.class, figure.measure, figure.value);
            self.batch.reject(figure.origin.line, reason, &row);
        }
    }

    fn add_figure(&mut self, figure: &Figure, metric: ReportMetric) -> Result<(), String> {
        let scope = &self.reading.scopes[figure.scope as usize];
        // Statements and files are parts of the operations of their database.
        if self.reading.beneath.contains(&figure.scope) || (self.reading.is_divided && !scope.part.is_empty()) {
            return Ok(());
        }
        let ReportMetric::Index(metric) = metric else {
            return Err("reads and writes are not separated: query both".to_owned());
        };
        let id = self.find_volume(scope).ok_or(
            "it names no volume: put the volume into the label of the metric, query each disk by itself, or name the \
             volume of a database with --volume",
        )?;
        let (at, period) = whole_seconds(&self.reading.windows[figure.window as usize])?;
        let exact = figure.value * self.reading.windows[figure.window as usize].length.as_secs_f64();
        let total = exact.round();
        if !(0.0..=MAX_VALUE as f64).contains(&total) {
            return Err(format!("{total} in a window: at most {MAX_VALUE} are possible"));
        }
        let new = MetricPoint { at, period, ..MetricPoint::default() };
        let point = self.volumes.entry(id).or_default().entry(at).or_insert(new);
        if point.period != new.period {
            return Err("the volume has windows of several lengths at this time".to_owned());
        }
        match point.metrics[metric] {
            Some(other) if other != total as i64 => {
                Err("the file has another value of the volume for this time".to_owned())
            }
            _ => {
                point.metrics[metric] = Some(total as i64);
                self.batch.rates += u64::from((exact - total).abs() > MAX_ERROR);
                Ok(())
            }
        }
    }

    /// The volume of a scope: the identifier of the provider, or the host and its device.
    fn find_volume(&mut self, scope: &ReadingScope) -> Option<String> {
        if !scope.part_id.is_empty() {
            if scope.part != scope.part_id && !self.names.contains_key(&scope.part_id) {
                self.names.insert(scope.part_id.clone(), scope.part.clone());
            }
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
            (_, "") => self.reader.volume.clone(),
            ("", part) => Some(part.to_owned()),
            (host, part) => Some(format!("{host}/{part}")),
        }
    }

    /// Marks the points of a volume in which its limit was exceeded; in the others of the same metric it was not.
    fn take_check(&mut self, cap: &CapEvidence) {
        if cap.limit.basis != CapBasis::Exceeded || cap.limit.owner == CapOwner::Machine {
            return;
        }
        let metrics: &[usize] = match cap.limit.kind {
            CapKind::Operations => &[4],
            CapKind::Bytes => &[5],
            CapKind::Either => &[4, 5],
        };
        let id = self.find_volume(&self.reading.scopes[cap.scope as usize]);
        let Some(series) = id.and_then(|id| self.volumes.get_mut(&id)) else {
            let reason = "a check of a volume without operations in this file: export both together";
            return self.batch.reject(cap.origin.line, reason, &cap.metric);
        };
        let reached: BTreeSet<i64> = cap.reached.iter().filter_map(|at| rounded_second(*at)).collect();
        for at in reached.iter().filter(|at| !series.contains_key(*at)) {
            let row = format!("{} {at}", cap.metric);
            self.batch.reject(cap.origin.line, "a check at a time without operations", &row);
        }
        // A check for fewer points than there are does not say which it covers, and its begins are listed up to a maximum.
        let covers_all = cap.of >= series.len() && cap.reached.len() == cap.points;
        for (at, point) in series {
            for metric in metrics {
                let is_reached = reached.contains(at);
                if is_reached || covers_all {
                    point.metrics[*metric] = Some(i64::from(is_reached));
                }
            }
        }
    }
}

/// Maximum error of a sum that was divided by the length of its window and multiplied again.
const MAX_ERROR: f64 = 0.01;
/// Maximum share by which rounding to seconds may change the length of a window.
const MAX_ROUNDING: f64 = 0.05;

/// Begin and length of a window in whole seconds. Both ends are rounded, so that windows that follow each other do not
/// overlap.
fn whole_seconds(window: &ReadingWindow) -> Result<(i64, i64), String> {
    let begin = window.begin.ok_or("it has no time: give --begin, and --interval of its samples")?;
    if begin.year() <= 1970 {
        return Err("its times have no date: give --begin".to_owned());
    }
    let seconds = window.length.as_secs_f64();
    let end = jiff::SignedDuration::try_from_secs_f64(seconds).ok().and_then(|length| begin.checked_add(length).ok());
    let ends = rounded_second(begin).zip(end.and_then(rounded_second));
    let (at, period) = ends.map(|(first, last)| (first, last - first)).ok_or("its time is outside of the calendar")?;
    let is_near = (period as f64 - seconds).abs() <= MAX_ROUNDING * seconds;
    if !(1..=86_400).contains(&period) || !is_near {
        return Err(format!("a window of {seconds} s: whole seconds of 1 to 86,400 are possible"));
    }
    Ok((at, period))
}

/// The nearest second since 1970 in UTC.
fn rounded_second(at: DateTime) -> Option<i64> {
    let time = at.to_zoned(TimeZone::UTC).ok()?.timestamp();
    Some(time.as_second() + i64::from(time.subsec_nanosecond() >= 500_000_000))
}
