//! Sorted runs of points in temporary files, for inputs that do not fit into memory, and their merge as a stream.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::vec::IntoIter;

use anyhow::{Context, Result};

use crate::points::MetricPoint;

/// A point with the number of the file that it is from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputPoint {
    /// The point.
    pub point: MetricPoint,
    /// Number of the file.
    pub input: u32,
}

impl InputPoint {
    /// The order of points in files.
    pub fn key(&self) -> (u32, i64) {
        (self.point.volume, self.point.at)
    }
}

/// Bytes of a reader's or writer's buffer.
const BUFFER: usize = 64 << 10;

/// Writes points in order. Nobody reads a run of an earlier process: it is not synced.
pub fn write_run(path: &Path, points: impl Iterator<Item = Result<InputPoint>>) -> Result<()> {
    let context = || format!("write {}", path.display());
    let mut file = BufWriter::with_capacity(BUFFER, File::create(path).with_context(context)?);
    let mut record = Vec::new();
    for entry in points {
        let InputPoint { point, input } = entry?;
        record.clear();
        let present = point.metrics.iter().enumerate().filter(|(_, metric)| metric.is_some());
        let mask = present.fold(0_u32, |mask, (index, _)| mask | 1 << index);
        record.extend([point.volume, input, mask].into_iter().flat_map(u32::to_le_bytes));
        for word in [point.at, point.period].into_iter().chain(point.metrics.into_iter().flatten()) {
            record.extend(word.to_le_bytes());
        }
        file.write_all(&record).with_context(context)?;
    }
    file.flush().with_context(context)
}

/// Points of a run, or of the memory.
enum RunReader {
    Memory(IntoIter<InputPoint>),
    File(BufReader<File>),
}

impl RunReader {
    fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).with_context(|| format!("open {}", path.display()))?;
        Ok(Self::File(BufReader::with_capacity(BUFFER, file)))
    }

    fn next(&mut self) -> Result<Option<InputPoint>> {
        let file = match self {
            Self::Memory(points) => return Ok(points.next()),
            Self::File(file) => file,
        };
        if file.fill_buf()?.is_empty() {
            return Ok(None);
        }
        let mut word = || -> Result<[u8; 4]> {
            let mut bytes = [0; 4];
            file.read_exact(&mut bytes)?;
            Ok(bytes)
        };
        let [volume, input, mask] = [word()?, word()?, word()?].map(u32::from_le_bytes);
        let mut long = || -> Result<i64> {
            let mut bytes = [0; 8];
            file.read_exact(&mut bytes)?;
            Ok(i64::from_le_bytes(bytes))
        };
        let (at, period) = (long()?, long()?);
        let mut point = MetricPoint { volume, at, period, ..MetricPoint::default() };
        for (index, metric) in point.metrics.iter_mut().enumerate() {
            *metric = if mask >> index & 1 == 1 { Some(long()?) } else { None };
        }
        Ok(Some(InputPoint { point, input }))
    }
}

/// The points of several runs in order; points of the same volume and time in the order of the runs.
pub struct MergedRuns {
    readers: Vec<RunReader>,
    /// The first point of each reader, by volume, time and number of the reader.
    heads: BinaryHeap<Reverse<(u32, i64, usize)>>,
    points: Vec<InputPoint>,
}

impl MergedRuns {
    /// Opens runs. `rest` are sorted points that follow the last run.
    pub fn open(runs: &[PathBuf], rest: Vec<InputPoint>) -> Result<Self> {
        let mut readers = runs.iter().map(|path| RunReader::open(path)).collect::<Result<Vec<_>>>()?;
        readers.push(RunReader::Memory(rest.into_iter()));
        let (mut heads, mut points) = (BinaryHeap::new(), vec![InputPoint::default(); readers.len()]);
        for (number, reader) in readers.iter_mut().enumerate() {
            if let Some(entry) = reader.next()? {
                heads.push(Reverse((entry.point.volume, entry.point.at, number)));
                points[number] = entry;
            }
        }
        Ok(Self { readers, heads, points })
    }

    fn advance(&mut self) -> Result<Option<InputPoint>> {
        let Some(mut head) = self.heads.peek_mut() else { return Ok(None) };
        let Reverse((.., number)) = *head;
        let first = self.points[number];
        match self.readers[number].next()? {
            Some(entry) => {
                *head = Reverse((entry.point.volume, entry.point.at, number));
                self.points[number] = entry;
            }
            None => drop(PeekMut::pop(head)),
        }
        Ok(Some(first))
    }
}

impl Iterator for MergedRuns {
    type Item = Result<InputPoint>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance().transpose()
    }
}
