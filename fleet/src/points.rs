//! Points as Parquet files: columns of integers, sorted by volume and time, one file for each month and bucket.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use datafusion::arrow::array::{Array, ArrayRef, Int64Array, RecordBatch, UInt32Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::error::{DataFusionError, Result as QueryResult};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use plimsoll_fleet_engine::{MetricColumn, PointSlices};

use crate::folder::{CONTENT_KEY, VOLUMES_KEY, remove_leftovers, rename_durably, temporary_name};

/// A point of a volume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MetricPoint {
    /// Number of the volume.
    pub volume: u32,
    /// Begin, seconds since 1970 in UTC.
    pub at: i64,
    /// Length in seconds.
    pub period: i64,
    /// Reads, writes, read bytes, written bytes; checks of operations and bytes: above zero if a limit was exceeded.
    pub metrics: [Option<i64>; 6],
}

/// Names of the metrics.
pub const METRICS: [&str; 6] =
    ["read_ops", "write_ops", "read_bytes", "write_bytes", "iops_exceeded", "throughput_exceeded"];
const ROWS_OF_BATCH: usize = 8_192;
/// A reader holds one row group.
const ROWS_OF_GROUP: usize = 131_072;

/// Columns of points.
pub fn point_schema() -> SchemaRef {
    let fixed = [("volume", DataType::UInt32), ("ts", DataType::Int64), ("period_s", DataType::Int64)];
    let fixed = fixed.into_iter().map(|(name, kind)| Field::new(name, kind, false));
    let metrics = METRICS.into_iter().map(|name| Field::new(name, DataType::Int64, true));
    Arc::new(Schema::new(fixed.chain(metrics).collect::<Vec<_>>()))
}

fn batch_of(points: &[MetricPoint]) -> Result<RecordBatch> {
    let mut columns: Vec<ArrayRef> = vec![
        Arc::new(UInt32Array::from_iter_values(points.iter().map(|point| point.volume))),
        Arc::new(Int64Array::from_iter_values(points.iter().map(|point| point.at))),
        Arc::new(Int64Array::from_iter_values(points.iter().map(|point| point.period))),
    ];
    for metric in 0..METRICS.len() {
        let values = points.iter().map(|point| point.metrics[metric]);
        columns.push(Arc::new(values.collect::<Int64Array>()));
    }
    Ok(RecordBatch::try_new(point_schema(), columns)?)
}

/// The columns of a batch in their types.
pub struct PointColumns<'a> {
    volume: &'a UInt32Array,
    at: &'a Int64Array,
    period: &'a Int64Array,
    metrics: [&'a Int64Array; 6],
}

impl<'a> PointColumns<'a> {
    /// The columns of a batch with [`point_schema`].
    pub fn of(batch: &'a RecordBatch) -> QueryResult<Self> {
        let wrong = || DataFusionError::Plan("points have other columns: ingest them with this program".to_owned());
        let long = |index: usize| batch.columns().get(index)?.as_any().downcast_ref::<Int64Array>();
        let volume = batch.columns().first().and_then(|column| column.as_any().downcast_ref::<UInt32Array>());
        let metrics = (3..9).map(long).collect::<Option<Vec<_>>>().and_then(|metrics| metrics.try_into().ok());
        Ok(Self {
            volume: volume.ok_or_else(wrong)?,
            at: long(1).ok_or_else(wrong)?,
            period: long(2).ok_or_else(wrong)?,
            metrics: metrics.ok_or_else(wrong)?,
        })
    }

    /// Calls `with` with the columns as slices.
    pub fn as_slices<T>(&self, with: impl FnOnce(&PointSlices<'_>) -> T) -> T {
        let valid = self.metrics.map(|array| move |row: usize| array.is_valid(row));
        let column = |index: usize| -> MetricColumn<'_> {
            let array = self.metrics[index];
            let check: &dyn Fn(usize) -> bool = &valid[index];
            MetricColumn { values: array.values(), is_present: (array.null_count() > 0).then_some(check) }
        };
        with(&PointSlices {
            volume: self.volume.values(),
            at: self.at.values(),
            period: self.period.values(),
            demand: [column(0), column(1), column(2), column(3)],
            exceeded: [column(4), column(5)],
        })
    }

    fn point(&self, row: usize) -> MetricPoint {
        MetricPoint {
            volume: self.volume.value(row),
            at: self.at.value(row),
            period: self.period.value(row),
            metrics: self.metrics.map(|array| array.is_valid(row).then(|| array.value(row))),
        }
    }
}

/// Writes a file of points.
pub struct PointsWriter {
    path: PathBuf,
    temporary: PathBuf,
    writer: ArrowWriter<File>,
    buffer: Vec<MetricPoint>,
    content: u64,
    volumes: Vec<u32>,
}

impl PointsWriter {
    /// Begins a file, which appears at `path` only when it is finished.
    pub fn create(path: &Path) -> Result<Self> {
        let parent = path.parent().context("a file of points is in a folder")?;
        fs::create_dir_all(parent).with_context(|| format!("create {}", parent.display()))?;
        remove_leftovers(parent)?;
        let temporary = temporary_name(path);
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
            .set_dictionary_enabled(false)
            .set_encoding(Encoding::DELTA_BINARY_PACKED)
            .set_max_row_group_row_count(Some(ROWS_OF_GROUP))
            .build();
        let file = File::create(&temporary).with_context(|| format!("create {}", temporary.display()))?;
        let writer = ArrowWriter::try_new(file, point_schema(), Some(properties))?;
        Ok(Self {
            path: path.to_owned(),
            temporary,
            writer,
            buffer: Vec::new(),
            content: HASH_START,
            volumes: Vec::new(),
        })
    }

    /// Adds a point, in the order of volumes and times.
    pub fn push(&mut self, point: MetricPoint) -> Result<()> {
        let metrics = point.metrics.map(|metric| metric.map_or(u64::MAX, |value| value as u64));
        let words = [u64::from(point.volume), point.at as u64, point.period as u64];
        self.content = words.into_iter().chain(metrics).fold(self.content, hash_word);
        if self.volumes.last() != Some(&point.volume) {
            self.volumes.push(point.volume);
        }
        self.buffer.push(point);
        if self.buffer.len() == ROWS_OF_BATCH { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<()> {
        self.writer.write(&batch_of(&self.buffer)?).with_context(|| format!("write {}", self.temporary.display()))?;
        self.buffer.clear();
        Ok(())
    }

    /// Puts the file into place.
    pub fn finish(mut self) -> Result<()> {
        self.write()?;
        let content = format!("{:016x}", self.content);
        let volumes = self.volumes.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        for (key, value) in [(CONTENT_KEY, content), (VOLUMES_KEY, volumes)] {
            self.writer.append_key_value_metadata(KeyValue::new(key.to_owned(), value));
        }
        let file = self.writer.into_inner().with_context(|| format!("write {}", self.temporary.display()))?;
        file.sync_all()?;
        rename_durably(&self.temporary, &self.path)
    }

    /// Removes the unfinished file.
    pub fn discard(self) -> Result<()> {
        drop(self.writer);
        Ok(fs::remove_file(&self.temporary)?)
    }
}

/// First value of a hash (FNV-1a).
pub const HASH_START: u64 = 0xcbf2_9ce4_8422_2325;

/// Adds eight bytes to a hash.
pub fn hash_word(hash: u64, word: u64) -> u64 {
    ((hash ^ word).wrapping_mul(0x0000_0100_0000_01b3)).rotate_left(29)
}

/// Adds bytes to a hash (FNV-1a).
pub fn hash_bytes(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// The points of a file in order, one batch in memory.
pub struct PointsReader {
    batches: ParquetRecordBatchReader,
    current: std::vec::IntoIter<MetricPoint>,
}

impl PointsReader {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).with_context(|| format!("open {}", path.display()))?;
        let batches = ParquetRecordBatchReaderBuilder::try_new(file)?.with_batch_size(ROWS_OF_BATCH).build()?;
        Ok(Self { batches, current: Vec::new().into_iter() })
    }
}

impl Iterator for PointsReader {
    type Item = Result<MetricPoint>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(point) = self.current.next() {
                return Some(Ok(point));
            }
            let read = |batch: RecordBatch| -> Result<Vec<MetricPoint>> {
                let columns = PointColumns::of(&batch)?;
                Ok((0..batch.num_rows()).map(|row| columns.point(row)).collect())
            };
            match self.batches.next()?.map_err(anyhow::Error::from).and_then(read) {
                Ok(points) => self.current = points.into_iter(),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
