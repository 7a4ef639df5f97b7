//! Adding points to the files of months: sorted, without duplicates, each file replaced at once.
//!
//! Points that do not fit into memory wait in sorted runs, so that each file is replaced once: the time grows with the
//! size of the input, in any order of its rows, and the result is that of an unbounded memory.

use std::collections::BTreeMap;
use std::fs;
use std::iter::Peekable;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::folder::Folder;
use crate::months::Months;
use crate::parallel::map_on_all_processors;
use crate::points::{MetricPoint, PointsReader, PointsWriter};
use crate::runs::{InputPoint, MergedRuns, write_run};

/// Runs that are merged at a time: each has an open file.
const MAX_RUNS: usize = 64;
/// Files of months that are replaced before their contradictions are passed on.
const FILES_AT_A_TIME: usize = 64;
/// Contradictions of a file that are listed; the others are counted.
const MAX_CONFLICTS: usize = 10_000;

/// Counts of points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// New points, and points that gained metrics.
    pub added: u64,
    /// Points that the fleet had.
    pub present: u64,
    /// Points that contradict the fleet's.
    pub conflicts: u64,
}

/// A point that contradicts others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The point, which is not used.
    pub entry: InputPoint,
    /// The reason.
    pub reason: &'static str,
}

/// Points that contradict others in files of months.
#[derive(Debug, Default)]
pub struct Conflicts {
    /// The first of each file.
    pub listed: Vec<Conflict>,
    /// The number of the others.
    pub others: u64,
}

const OTHER_VALUE: &str = "the fleet has another value for this time";
const OVERLAP: &str = "it overlaps another point of the volume";

/// Points on their way into the file of a month.
#[derive(Debug, Default)]
struct Part {
    runs: Vec<PathBuf>,
    /// Points after those of the runs.
    buffer: Vec<InputPoint>,
}

/// The folder of runs, removed at the end.
struct RunsFolder(PathBuf);

impl RunsFolder {
    fn remove(&self) -> Result<()> {
        if self.0.exists() {
            fs::remove_dir_all(&self.0).with_context(|| format!("remove {}", self.0.display()))?;
        }
        Ok(())
    }
}

impl Drop for RunsFolder {
    fn drop(&mut self) {
        // After a fault the next ingestion removes it.
        let _ = self.remove();
    }
}

/// Points on their way into a folder.
pub struct Inflow<'a> {
    folder: &'a Folder,
    runs: RunsFolder,
    months: Months,
    /// By month, then by bucket.
    parts: BTreeMap<String, Vec<Part>>,
    buffered: usize,
    max_buffered: usize,
    spills: usize,
}

impl<'a> Inflow<'a> {
    /// Nothing buffered. At most `max_buffered` points are in memory; each takes 128 bytes.
    pub fn new(folder: &'a Folder, max_buffered: usize) -> Result<Self> {
        let runs = RunsFolder(folder.root.join("runs.tmp"));
        // Of an earlier process that was killed.
        runs.remove()?;
        let (months, parts) = (Months::default(), BTreeMap::new());
        Ok(Self { folder, runs, months, parts, buffered: 0, max_buffered, spills: 0 })
    }

    /// Adds a point, in any order. Fails if its time is outside of the calendar.
    pub fn push(&mut self, entry: InputPoint) -> Result<()> {
        if self.buffered >= self.max_buffered {
            self.spill()?;
        }
        let month = self.months.of(entry.point.at).context("the time of a point is outside of the calendar")?;
        let bucket = self.folder.bucket_of(entry.point.volume) as usize;
        self.buffered += 1;
        if !self.parts.contains_key(month) {
            let parts = (0..self.folder.buckets).map(|_| Part::default()).collect();
            self.parts.insert(month.to_owned(), parts);
        }
        if let Some(parts) = self.parts.get_mut(month) {
            parts[bucket].buffer.push(entry);
        }
        Ok(())
    }

    /// Moves the buffered points into runs.
    fn spill(&mut self) -> Result<()> {
        fs::create_dir_all(&self.runs.0).with_context(|| format!("create {}", self.runs.0.display()))?;
        let folder = &self.runs.0;
        let mut full = Vec::new();
        for (month, parts) in &mut self.parts {
            for (bucket, part) in parts.iter_mut().enumerate().filter(|(_, part)| !part.buffer.is_empty()) {
                let path = folder.join(format!("{month}-{bucket:04}-{}", self.spills));
                full.push((path.clone(), std::mem::take(&mut part.buffer)));
                part.runs.push(path);
            }
        }
        map_on_all_processors(full, |(path, mut points)| {
            points.sort_by_key(InputPoint::key);
            write_run(&path, points.into_iter().map(Ok))
        })?;
        (self.buffered, self.spills) = (0, self.spills + 1);
        Ok(())
    }

    /// Puts all points into the files of months. `take_conflicts` gets the points that contradict others.
    pub fn finish(self, take_conflicts: &mut dyn FnMut(&Conflicts) -> Result<()>) -> Result<Merged> {
        let mut parts = Vec::new();
        for (month, of_month) in self.parts {
            let used =
                of_month.into_iter().enumerate().filter(|(_, part)| !part.runs.is_empty() || !part.buffer.is_empty());
            parts.extend(used.map(|(bucket, part)| (month.clone(), bucket as u32, part)));
        }
        let (mut total, mut parts) = (Merged::default(), parts.into_iter().peekable());
        while parts.peek().is_some() {
            let some = parts.by_ref().take(FILES_AT_A_TIME).collect();
            let merged =
                map_on_all_processors(some, |(month, bucket, part)| merge(self.folder, (&month, bucket), part))?;
            let mut conflicts = Conflicts::default();
            for tally in merged {
                total.added += tally.merged.added;
                total.present += tally.merged.present;
                total.conflicts += tally.merged.conflicts;
                conflicts.listed.extend(tally.conflicts.listed);
                conflicts.others += tally.conflicts.others;
            }
            take_conflicts(&conflicts)?;
        }
        self.runs.remove()?;
        Ok(total)
    }
}

/// Counts and contradictions of a file.
#[derive(Default)]
struct Tally {
    merged: Merged,
    conflicts: Conflicts,
}

impl Tally {
    fn refuse(&mut self, entry: InputPoint, reason: &'static str) {
        self.merged.conflicts += 1;
        if self.conflicts.listed.len() < MAX_CONFLICTS {
            self.conflicts.listed.push(Conflict { entry, reason });
        } else {
            self.conflicts.others += 1;
        }
    }
}

fn merge(folder: &Folder, (month, bucket): (&str, u32), mut part: Part) -> Result<Tally> {
    part.buffer.sort_by_key(InputPoint::key);
    let mut new = MergedRuns::open(&join_runs(part.runs)?, part.buffer)?.peekable();
    let path = folder.points_path(month, bucket);
    let mut writer = PointsWriter::create(&path)?;
    let mut output = Output { writer: &mut writer, last: None };
    let mut existing =
        if path.exists() { Some(PointsReader::open(&path)?) } else { None }.into_iter().flatten().peekable();
    let mut tally = Tally::default();
    while let Some(entry) = next_combined(&mut new, &mut tally)? {
        place(entry, &mut existing, &mut output, &mut tally)?;
    }
    for point in existing {
        output.push(point?)?;
    }
    let written = if tally.merged.added == 0 { writer.discard() } else { writer.finish() };
    written.map(|()| tally)
}

/// Merges runs until they can be open at the same time.
fn join_runs(mut runs: Vec<PathBuf>) -> Result<Vec<PathBuf>> {
    while runs.len() > MAX_RUNS {
        let mut longer = Vec::new();
        for group in runs.chunks(MAX_RUNS) {
            let path = group[0].with_added_extension("joined");
            write_run(&path, MergedRuns::open(group, Vec::new())?)?;
            group.iter().try_for_each(|run| remove_run(run))?;
            longer.push(path);
        }
        runs = longer;
    }
    Ok(runs)
}

fn remove_run(path: &Path) -> Result<()> {
    fs::remove_file(path).with_context(|| format!("remove {}", path.display()))
}

/// The next point, joined with those of the same volume and time. The first value of a metric stays.
fn next_combined(
    new: &mut Peekable<impl Iterator<Item = Result<InputPoint>>>,
    tally: &mut Tally,
) -> Result<Option<InputPoint>> {
    let Some(mut first) = new.next().transpose()? else { return Ok(None) };
    let key = first.key();
    let is_same = |other: &Result<InputPoint>| other.as_ref().is_ok_and(|other| other.key() == key);
    while let Some(other) = new.next_if(is_same).transpose()? {
        match joined(&first.point, &other.point) {
            Some(both) if both == first.point => tally.merged.present += 1,
            Some(both) => first.point = both,
            None => tally.refuse(other, OTHER_VALUE),
        }
    }
    Ok(Some(first))
}

struct Output<'a> {
    writer: &'a mut PointsWriter,
    last: Option<MetricPoint>,
}

impl Output<'_> {
    fn push(&mut self, point: MetricPoint) -> Result<()> {
        self.last = Some(point);
        self.writer.push(point)
    }
}

/// Writes the existing points before a new one, and the point unless it contradicts them.
fn place(
    entry: InputPoint,
    existing: &mut Peekable<impl Iterator<Item = Result<MetricPoint>>>,
    output: &mut Output<'_>,
    tally: &mut Tally,
) -> Result<()> {
    let (point, key) = (entry.point, entry.key());
    let key_of = |other: &MetricPoint| (other.volume, other.at);
    let is_before = |other: &Result<MetricPoint>| other.as_ref().is_ok_and(|other| key_of(other) < key);
    while let Some(before) = existing.next_if(is_before) {
        output.push(before?)?;
    }
    if let Some(Err(_)) = existing.peek() {
        existing.next().transpose()?;
    }
    let is_same = |other: &Result<MetricPoint>| other.as_ref().is_ok_and(|other| key_of(other) == key);
    if let Some(same) = existing.next_if(is_same).transpose()? {
        let both = joined(&same, &point);
        output.push(both.unwrap_or(same))?;
        match both {
            None => tally.refuse(entry, OTHER_VALUE),
            Some(both) if both == same => tally.merged.present += 1,
            Some(_) => tally.merged.added += 1,
        }
        return Ok(());
    }
    let overlaps = |a: &MetricPoint, b: &MetricPoint| a.volume == b.volume && a.at + a.period > b.at;
    let after_last = output.last.as_ref().is_some_and(|last| overlaps(last, &point));
    let before_next = existing.peek().is_some_and(|next| next.as_ref().is_ok_and(|next| overlaps(&point, next)));
    if after_last || before_next {
        tally.refuse(entry, OVERLAP);
        return Ok(());
    }
    tally.merged.added += 1;
    output.push(point)
}

/// Both points in one, if they do not contradict each other.
fn joined(a: &MetricPoint, b: &MetricPoint) -> Option<MetricPoint> {
    let mut both = *a;
    for (metric, other) in both.metrics.iter_mut().zip(b.metrics) {
        match (*metric, other) {
            (Some(value), Some(other)) if value != other => return None,
            _ => *metric = metric.or(other),
        }
    }
    (a.period == b.period).then_some(both)
}
