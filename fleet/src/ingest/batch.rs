//! Points and rejected rows of a part of a file, which are made on any thread.

use std::collections::HashMap;

use crate::points::MetricPoint;

/// Maximum characters of a rejected row.
const MAX_ROW: usize = 1_000;

/// The result of a part.
#[derive(Default)]
pub struct Batch {
    /// Number of the file.
    pub file: usize,
    /// Volumes in the order of their first points.
    pub volumes: Vec<BatchVolume>,
    numbers: HashMap<String, u32>,
    /// Points, whose volume is an index into `volumes`.
    pub points: Vec<MetricPoint>,
    /// Rows that were set aside.
    pub rejected: Vec<RejectedRow>,
    /// Values of points that were rates.
    pub rates: u64,
    /// Doubts about the file.
    pub notes: Vec<String>,
    /// The reason why the rest of the file was not read.
    pub fault: Option<String>,
}

/// A volume of a batch.
pub struct BatchVolume {
    /// Identifier.
    pub id: String,
    /// Name, if the identifier is not the name; may be empty.
    pub name: String,
}

/// A row that was set aside.
pub struct RejectedRow {
    /// Its line; 0 if unknown.
    pub line: u64,
    /// The reason.
    pub reason: String,
    /// The row.
    pub row: String,
}

impl Batch {
    /// An empty batch of a file.
    pub fn of_file(file: usize) -> Self {
        Self { file, ..Self::default() }
    }

    /// The index of a volume.
    pub fn number(&mut self, id: &str, name: &str) -> u32 {
        if let Some(last) = self.points.last().map(|point| point.volume)
            && self.volumes[last as usize].id == id
        {
            return last;
        }
        if let Some(number) = self.numbers.get(id) {
            return *number;
        }
        let number = self.volumes.len() as u32;
        self.numbers.insert(id.to_owned(), number);
        self.volumes.push(BatchVolume { id: id.to_owned(), name: name.to_owned() });
        number
    }

    /// Adds a point of a volume.
    pub fn point(&mut self, volume: u32, point: MetricPoint) {
        self.points.push(MetricPoint { volume, ..point });
    }

    /// Sets a row aside.
    pub fn reject(&mut self, line: u64, reason: impl Into<String>, row: &str) {
        let row = row.chars().take(MAX_ROW).collect();
        self.rejected.push(RejectedRow { line, reason: reason.into(), row });
    }
}
