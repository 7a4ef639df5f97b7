//! Adding points to the files of months: sorted, without duplicates, each file replaced at once.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::iter::Peekable;

use anyhow::{Context, Result};

use crate::folder::Folder;
use crate::months::Months;
use crate::parallel::map_on_all_processors;
use crate::points::{MetricPoint, PointsReader, PointsWriter};

/// Maximum points in memory; each takes 120 bytes.
const MAX_BUFFERED: usize = 1_500_000;

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
    pub point: MetricPoint,
    /// The reason.
    pub reason: &'static str,
}

const OTHER_VALUE: &str = "the fleet has another value for this time";
const OVERLAP: &str = "it overlaps another point of the volume";

/// Points on their way into a folder.
pub struct Inflow<'a> {
    folder: &'a Folder,
    months: Months,
    parts: BTreeMap<(String, u32), Vec<MetricPoint>>,
    buffered: usize,
    merged: Merged,
}

impl<'a> Inflow<'a> {
    /// Nothing buffered.
    pub fn new(folder: &'a Folder) -> Self {
        Self { folder, months: Months::default(), parts: BTreeMap::new(), buffered: 0, merged: Merged::default() }
    }

    /// Adds a point, in any order. Fails if its time is outside of the calendar.
    pub fn push(&mut self, point: MetricPoint) -> Result<()> {
        let month = self.months.of(point.at).context("the time of a point is outside of the calendar")?;
        let bucket = self.folder.bucket_of(point.volume);
        self.buffered += 1;
        match self.parts.get_mut(&(month.to_owned(), bucket)) {
            Some(points) => points.push(point),
            None => drop(self.parts.insert((month.to_owned(), bucket), vec![point])),
        }
        Ok(())
    }

    /// True if the buffer has to be written before the next point.
    pub fn is_full(&self) -> bool {
        self.buffered >= MAX_BUFFERED
    }

    /// Writes the buffered points; returns those that contradict others.
    pub fn flush(&mut self) -> Result<Vec<Conflict>> {
        let parts = std::mem::take(&mut self.parts).into_iter().collect();
        let merged = map_on_all_processors(parts, |((month, bucket), points)| {
            let (mut merged, mut conflicts) = (Merged::default(), Vec::new());
            merge(self.folder, (&month, bucket), points, &mut merged, &mut conflicts)?;
            Ok((merged, conflicts))
        })?;
        self.buffered = 0;
        let mut conflicts = Vec::new();
        for (part, of_part) in merged {
            self.merged.added += part.added;
            self.merged.present += part.present;
            self.merged.conflicts += part.conflicts;
            conflicts.extend(of_part);
        }
        Ok(conflicts)
    }

    /// Counts so far.
    pub fn merged(&self) -> Merged {
        self.merged
    }
}

fn merge(
    folder: &Folder,
    (month, bucket): (&str, u32),
    points: Vec<MetricPoint>,
    merged: &mut Merged,
    conflicts: &mut Vec<Conflict>,
) -> Result<()> {
    let path = folder.points_path(month, bucket);
    let new = combine(points, merged, conflicts);
    let mut writer = PointsWriter::create(&path)?;
    let added_before = merged.added;
    let mut output = Output { writer: &mut writer, last: None };
    let mut existing =
        if path.exists() { Some(PointsReader::open(&path)?) } else { None }.into_iter().flatten().peekable();
    for point in new {
        let refused = place(point, &mut existing, &mut output, merged)?;
        if let Some(reason) = refused {
            merged.conflicts += 1;
            conflicts.push(Conflict { point, reason });
        }
    }
    for point in existing {
        output.push(point?)?;
    }
    if merged.added == added_before { writer.discard() } else { writer.finish() }
}

/// Sorts points, and joins those of the same time.
fn combine(mut points: Vec<MetricPoint>, merged: &mut Merged, conflicts: &mut Vec<Conflict>) -> Vec<MetricPoint> {
    points.sort_by_key(|point| (point.volume, point.at));
    let mut combined: Vec<MetricPoint> = Vec::with_capacity(points.len());
    for point in points {
        match combined.last_mut().filter(|last| order(last, &point) == Ordering::Equal) {
            None => combined.push(point),
            Some(last) => match joined(last, &point) {
                Some(both) if both == *last => merged.present += 1,
                Some(both) => *last = both,
                None => {
                    merged.conflicts += 1;
                    conflicts.push(Conflict { point, reason: OTHER_VALUE });
                }
            },
        }
    }
    combined
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

/// Writes the existing points before `point`, and the point; or the reason why it is refused.
fn place(
    point: MetricPoint,
    existing: &mut Peekable<impl Iterator<Item = Result<MetricPoint>>>,
    output: &mut Output<'_>,
    merged: &mut Merged,
) -> Result<Option<&'static str>> {
    let is_before = |other: &Result<MetricPoint>| other.as_ref().is_ok_and(|other| order(other, &point).is_lt());
    while let Some(before) = existing.next_if(is_before) {
        output.push(before?)?;
    }
    if let Some(Err(_)) = existing.peek() {
        existing.next().transpose()?;
    }
    let is_same = |other: &Result<MetricPoint>| other.as_ref().is_ok_and(|other| order(other, &point).is_eq());
    if let Some(same) = existing.next_if(is_same).transpose()? {
        let both = joined(&same, &point);
        output.push(both.unwrap_or(same))?;
        return Ok(match both {
            None => Some(OTHER_VALUE),
            Some(both) => {
                *(if both == same { &mut merged.present } else { &mut merged.added }) += 1;
                None
            }
        });
    }
    let overlaps = |a: &MetricPoint, b: &MetricPoint| a.volume == b.volume && a.at + a.period > b.at;
    let after_last = output.last.as_ref().is_some_and(|last| overlaps(last, &point));
    let before_next = existing.peek().is_some_and(|next| next.as_ref().is_ok_and(|next| overlaps(&point, next)));
    if after_last || before_next {
        return Ok(Some(OVERLAP));
    }
    merged.added += 1;
    output.push(point)?;
    Ok(None)
}

fn order(a: &MetricPoint, b: &MetricPoint) -> Ordering {
    (a.volume, a.at).cmp(&(b.volume, b.at))
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
