//! Verdicts and states as files.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use datafusion::arrow::array::{Array, ArrayRef, BinaryArray, Int64Array, RecordBatch, UInt32Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::error::ArrowError;
use datafusion::error::{DataFusionError, Result};
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use plimsoll_fleet_engine::{BusiestPoint, MAX_LEVELS, VolumeState};
use serde::Serialize;

use crate::folder::{rename_durably, temporary_name};

/// The verdict of a volume. Rates are in thousandths of operations per second and in bytes per second.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// Number of the volume.
    pub volume: u32,
    /// Number of points.
    pub points: i64,
    /// Points without operations.
    pub unknown_points: i64,
    /// Points with operations whose bytes are unknown.
    pub points_without_bytes: i64,
    /// Seconds of points with operations.
    pub seconds: i64,
    /// Total reads, writes, read bytes, written bytes.
    pub total: [i64; 4],
    /// Points with a check of the provider.
    pub checked_points: i64,
    /// Points in which the check says that a limit was exceeded.
    pub exceeded_points: i64,
    /// Seconds at a limit.
    pub pinned_seconds: i64,
    /// Seconds of points at whose end operations wait.
    pub throttled_seconds: i64,
    /// Operations that arrived in them.
    pub delayed_operations: i64,
    /// Longest wait in milliseconds.
    pub longest_wait_ms: i64,
    /// Lowest credits in thousandths; 1,000 without credits.
    pub lowest_credits_milli: i64,
    /// Operations that wait at the end.
    pub backlog_operations: i64,
    /// The point with the highest rate of operations: rate, begin, length, demand.
    pub operations_peak: [i64; 7],
    /// The point with the highest rate of bytes.
    pub bytes_peak: [i64; 7],
    /// Upper bounds of the operations' rate in 99 %, 99.9 % and 99.99 % of the time.
    pub operations_quantiles: [i64; 3],
    /// Upper bounds of the bytes' rate.
    pub bytes_quantiles: [i64; 3],
    /// End of the last point.
    pub end: i64,
    /// Changes of the level.
    pub level_changes: i64,
    /// Seconds at each level, times without points included.
    pub level_seconds: [i64; MAX_LEVELS],
}

/// Shares of [`Verdict::operations_quantiles`] in millionths.
pub const QUANTILES: [u32; 3] = [990_000, 999_000, 999_900];

const TOTALS: [&str; 4] = ["read_ops", "write_ops", "read_bytes", "write_bytes"];
const PEAK: [&str; 7] = ["rate", "ts", "period_s", "read_ops", "write_ops", "read_bytes", "write_bytes"];

/// Names of the columns after `volume`, in the order of [`Verdict::to_row`].
fn column_names() -> Vec<String> {
    let fixed = ["points", "unknown_points", "points_without_bytes", "seconds"];
    let mut names: Vec<String> = fixed.map(str::to_owned).to_vec();
    names.extend(TOTALS.map(str::to_owned));
    let rest = [
        "checked_points",
        "exceeded_points",
        "pinned_s",
        "throttled_s",
        "delayed_ops",
        "longest_wait_ms",
        "lowest_credits_milli",
        "backlog_ops",
    ];
    names.extend(rest.map(str::to_owned));
    for (peak, unit) in [("peak_ops", "rate_milli"), ("peak_bytes", "rate")] {
        names.extend(PEAK.map(|name| format!("{peak}_{}", if name == "rate" { unit } else { name })));
    }
    for (what, unit) in [("ops", "_milli"), ("bytes", "")] {
        names.extend(["p99", "p999", "p9999"].map(|share| format!("{what}_{share}{unit}")));
    }
    names.extend(["end_ts".to_owned(), "level_changes".to_owned()]);
    names.extend((0..MAX_LEVELS).map(|level| format!("level_{level}_s")));
    names
}

impl Verdict {
    fn of(state: &VolumeState) -> Self {
        let peak = |peak: &BusiestPoint| {
            let [reads, writes, read, written] = peak.demand;
            [peak.rate, peak.at, peak.period, reads, writes, read, written]
        };
        Self {
            volume: state.volume,
            points: state.points,
            unknown_points: state.unknown_points,
            points_without_bytes: state.points_without_bytes,
            seconds: state.seconds,
            total: state.total,
            checked_points: state.checked_points,
            exceeded_points: state.exceeded_points,
            pinned_seconds: state.pinned_seconds,
            throttled_seconds: state.throttled_seconds,
            delayed_operations: state.delayed_operations,
            longest_wait_ms: state.longest_wait_ms,
            lowest_credits_milli: state.lowest_credits_milli,
            backlog_operations: state.backlog()[0] + state.backlog()[1],
            operations_peak: peak(&state.operations_peak),
            bytes_peak: peak(&state.bytes_peak),
            operations_quantiles: QUANTILES.map(|share| state.operations.quantile(share)),
            bytes_quantiles: QUANTILES.map(|share| state.bytes.quantile(share)),
            end: state.end,
            level_changes: state.level_changes,
            level_seconds: state.level_seconds,
        }
    }

    fn to_row(&self) -> Vec<i64> {
        let mut row = vec![self.points, self.unknown_points, self.points_without_bytes, self.seconds];
        row.extend(self.total);
        row.extend([self.checked_points, self.exceeded_points, self.pinned_seconds, self.throttled_seconds]);
        row.extend([self.delayed_operations, self.longest_wait_ms, self.lowest_credits_milli, self.backlog_operations]);
        row.extend(self.operations_peak.iter().chain(&self.bytes_peak));
        row.extend(self.operations_quantiles.iter().chain(&self.bytes_quantiles));
        row.extend([self.end, self.level_changes]);
        row.extend(self.level_seconds);
        row
    }

    fn from_row(volume: u32, row: &[i64]) -> Option<Self> {
        let (fixed, rest) = row.split_first_chunk::<4>()?;
        let (total, rest) = rest.split_first_chunk::<4>()?;
        let (counts, rest) = rest.split_first_chunk::<8>()?;
        let (operations_peak, rest) = rest.split_first_chunk::<7>()?;
        let (bytes_peak, rest) = rest.split_first_chunk::<7>()?;
        let (operations_quantiles, rest) = rest.split_first_chunk::<3>()?;
        let (bytes_quantiles, rest) = rest.split_first_chunk::<3>()?;
        let (ends, rest) = rest.split_first_chunk::<2>()?;
        let level_seconds = rest.try_into().ok()?;
        Some(Self {
            volume,
            points: fixed[0],
            unknown_points: fixed[1],
            points_without_bytes: fixed[2],
            seconds: fixed[3],
            total: *total,
            checked_points: counts[0],
            exceeded_points: counts[1],
            pinned_seconds: counts[2],
            throttled_seconds: counts[3],
            delayed_operations: counts[4],
            longest_wait_ms: counts[5],
            lowest_credits_milli: counts[6],
            backlog_operations: counts[7],
            operations_peak: *operations_peak,
            bytes_peak: *bytes_peak,
            operations_quantiles: *operations_quantiles,
            bytes_quantiles: *bytes_quantiles,
            end: ends[0],
            level_changes: ends[1],
            level_seconds,
        })
    }
}

/// Columns of verdicts.
pub fn verdict_schema() -> SchemaRef {
    let volume = Field::new("volume", DataType::UInt32, false);
    let rest = column_names().into_iter().map(|name| Field::new(name, DataType::Int64, false));
    Arc::new(Schema::new(std::iter::once(volume).chain(rest).collect::<Vec<_>>()))
}

fn verdict_batch(states: &[VolumeState]) -> Result<RecordBatch> {
    let verdicts: Vec<Verdict> = states.iter().map(Verdict::of).collect();
    let rows: Vec<Vec<i64>> = verdicts.iter().map(Verdict::to_row).collect();
    let mut columns: Vec<ArrayRef> =
        vec![Arc::new(UInt32Array::from_iter_values(verdicts.iter().map(|verdict| verdict.volume)))];
    for index in 0..column_names().len() {
        columns.push(Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row[index]))));
    }
    Ok(RecordBatch::try_new(verdict_schema(), columns)?)
}

/// The file of verdicts of this name.
pub fn verdicts_path(results: &Path, name: &str) -> PathBuf {
    results.join(format!("{name}.verdicts.parquet"))
}

/// The file of states of this name.
pub fn states_path(results: &Path, name: &str) -> PathBuf {
    results.join(format!("{name}.states.parquet"))
}

/// The file of limits of this name, which is removed when the bucket is finished.
pub fn limits_path(results: &Path, name: &str) -> PathBuf {
    results.join(format!(".{name}.limits.tmp"))
}

/// Results of a bucket that stay: those that replays used last.
const MAX_RESULTS: usize = 16;

/// Marks results as used now.
pub fn mark_used(results: &Path, names: impl Iterator<Item = String>, now: SystemTime) -> Result<()> {
    for name in names {
        for path in [verdicts_path(results, &name), states_path(results, &name)] {
            if fs::exists(&path)? {
                File::options().write(true).open(&path)?.set_modified(now)?;
            }
        }
    }
    Ok(())
}

/// Removes the results of each bucket but those that were used last.
pub fn remove_old(results: &Path) -> Result<()> {
    let mut buckets: BTreeMap<String, BTreeMap<String, SystemTime>> = BTreeMap::new();
    for entry in fs::read_dir(results)? {
        let entry = entry?;
        let file = entry.file_name().to_string_lossy().into_owned();
        let name = file.strip_suffix(".verdicts.parquet").or_else(|| file.strip_suffix(".states.parquet"));
        let Some((name, (bucket, _))) = name.and_then(|name| Some((name, name.split_once('-')?))) else { continue };
        if bucket.starts_with("bucket=") {
            let used = entry.metadata()?.modified()?;
            let names = buckets.entry(bucket.to_owned()).or_default();
            let last = names.entry(name.to_owned()).or_insert(used);
            *last = used.max(*last);
        }
    }
    for names in buckets.into_values() {
        let mut names: Vec<(String, SystemTime)> = names.into_iter().collect();
        names.sort_by_key(|(_, used)| Reverse(*used));
        for (name, _) in names.iter().skip(MAX_RESULTS) {
            // Without verdicts a bucket is not finished: they go first.
            for path in [verdicts_path(results, name), states_path(results, name)] {
                if fs::exists(&path)? {
                    fs::remove_file(path)?;
                }
            }
        }
    }
    Ok(())
}

/// States that are written at a time.
const ROWS_OF_BATCH: usize = 1_024;
/// States of a row group, which is in memory while it is written.
const ROWS_OF_GROUP: usize = 4_096;

/// Writes the states and the verdicts of a bucket.
pub struct ResultsWriter {
    states: TableFile,
    verdicts: TableFile,
    buffer: Vec<VolumeState>,
}

impl ResultsWriter {
    /// Begins the files, which appear when they are finished.
    pub fn create(results: &Path, name: &str) -> Result<Self> {
        let columns = [("volume", DataType::UInt32), ("end_ts", DataType::Int64), ("state", DataType::Binary)];
        let fields = columns.into_iter().map(|(name, kind)| Field::new(name, kind, false));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        Ok(Self {
            states: TableFile::create(&states_path(results, name), schema, ROWS_OF_GROUP)?,
            verdicts: TableFile::create(&verdicts_path(results, name), verdict_schema(), ROWS_OF_GROUP)?,
            buffer: Vec::new(),
        })
    }

    /// Adds a state, in the order of volumes.
    pub fn push(&mut self, state: VolumeState) -> Result<()> {
        self.buffer.push(state);
        if self.buffer.len() == ROWS_OF_BATCH { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<()> {
        let states = &self.buffer;
        let columns: Vec<ArrayRef> = vec![
            Arc::new(UInt32Array::from_iter_values(states.iter().map(|state| state.volume))),
            Arc::new(Int64Array::from_iter_values(states.iter().map(|state| state.end))),
            Arc::new(BinaryArray::from_iter_values(states.iter().map(VolumeState::to_bytes))),
        ];
        let batch = RecordBatch::try_new(self.states.schema(), columns)?;
        self.states.write(&batch)?;
        self.verdicts.write(&verdict_batch(states)?)?;
        self.buffer.clear();
        Ok(())
    }

    /// Puts the states into place, then the verdicts: a bucket with verdicts is finished.
    pub fn finish(mut self) -> Result<()> {
        self.write()?;
        self.states.finish()?;
        self.verdicts.finish()
    }
}

/// A Parquet file that is written piece by piece under another name.
pub struct TableFile {
    path: PathBuf,
    schema: SchemaRef,
    /// `None` when it is finished.
    writer: Option<ArrowWriter<File>>,
}

impl TableFile {
    /// Begins a file. A row group is in memory while it is written.
    pub fn create(path: &Path, schema: SchemaRef, rows_of_group: usize) -> Result<Self> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
            .set_max_row_group_row_count(Some(rows_of_group))
            .build();
        let file = File::create(temporary_name(path))?;
        let writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties))?;
        Ok(Self { path: path.to_owned(), schema, writer: Some(writer) })
    }

    /// Its columns.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Adds rows.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        match &mut self.writer {
            Some(writer) => Ok(writer.write(batch)?),
            None => Ok(()),
        }
    }

    /// Syncs the file and puts it into place.
    pub fn finish(mut self) -> Result<()> {
        let Some(writer) = self.writer.take() else { return Ok(()) };
        let synced = writer.into_inner().map_err(DataFusionError::from).and_then(|file| Ok(file.sync_all()?));
        let temporary = temporary_name(&self.path);
        if synced.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        synced?;
        rename_durably(&temporary, &self.path).map_err(|error| DataFusionError::External(error.into()))
    }
}

impl Drop for TableFile {
    fn drop(&mut self) {
        if self.writer.take().is_some() {
            // If it stays, the next run removes it.
            let _ = fs::remove_file(temporary_name(&self.path));
        }
    }
}

/// The columns of a file, batch by batch.
fn open_table(path: &Path, columns: VerdictColumns) -> Result<ParquetRecordBatchReader> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?;
    let mask = match columns {
        VerdictColumns::All => ProjectionMask::all(),
        VerdictColumns::Volume => ProjectionMask::roots(builder.parquet_schema(), [0]),
    };
    Ok(builder.with_projection(mask).with_batch_size(ROWS_OF_BATCH).build()?)
}

#[derive(Clone, Copy)]
enum VerdictColumns {
    All,
    Volume,
}

/// Columns of the rows that a replay returns: its verdicts are in files.
pub fn volume_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("volume", DataType::UInt32, false)]))
}

/// The volumes of a finished bucket; `None` if it is not finished.
pub fn finished_volumes(results: &Path, name: &str) -> Result<Option<RecordBatch>> {
    let path = verdicts_path(results, name);
    if !fs::exists(&path)? {
        return Ok(None);
    }
    let mut volumes = Vec::new();
    for batch in open_table(&path, VerdictColumns::Volume)? {
        volumes.extend(column::<UInt32Array>(&batch?, 0, &path)?.values().iter().copied());
    }
    Ok(Some(RecordBatch::try_new(volume_schema(), vec![Arc::new(UInt32Array::from(volumes))])?))
}

/// Number of the verdicts in a file.
pub fn count_verdicts(path: &Path) -> Result<usize> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?;
    Ok(reader.metadata().file_metadata().num_rows() as usize)
}

fn damaged(path: &Path) -> DataFusionError {
    DataFusionError::Execution(format!("{} is damaged: remove it and run again", path.display()))
}

fn column<'a, T: Array + 'static>(batch: &'a RecordBatch, index: usize, path: &Path) -> Result<&'a T> {
    let column = batch.columns().get(index).and_then(|column| column.as_any().downcast_ref::<T>());
    column.ok_or_else(|| damaged(path))
}

/// Passes the verdicts of a file to `take`.
pub fn read_verdicts(path: &Path, take: &mut dyn FnMut(Verdict) -> anyhow::Result<()>) -> anyhow::Result<()> {
    for batch in open_table(path, VerdictColumns::All)? {
        let batch = batch?;
        let volumes = column::<UInt32Array>(&batch, 0, path)?;
        let columns = (1..batch.num_columns()).map(|index| column::<Int64Array>(&batch, index, path));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let mut values = vec![0; columns.len()];
        for row in 0..batch.num_rows() {
            for (value, column) in values.iter_mut().zip(&columns) {
                *value = column.value(row);
            }
            take(Verdict::from_row(volumes.value(row), &values).ok_or_else(|| damaged(path))?)?;
        }
    }
    Ok(())
}

/// The states of this name, in the order of volumes; a batch is in memory.
pub fn read_states(results: &Path, name: &str) -> Result<impl Iterator<Item = Result<VolumeState>> + Send + use<>> {
    let path = states_path(results, name);
    let batches = open_table(&path, VerdictColumns::All)?;
    let states = move |batch: std::result::Result<RecordBatch, ArrowError>| -> Result<Vec<VolumeState>> {
        let batch = batch?;
        let states = column::<BinaryArray>(&batch, 2, &path)?;
        let state =
            |bytes: &[u8]| VolumeState::from_bytes(bytes).map_err(|error| DataFusionError::External(Box::new(error)));
        (0..states.len()).map(|row| state(states.value(row))).collect()
    };
    Ok(batches.flat_map(move |batch| match states(batch) {
        Ok(states) => states.into_iter().map(Ok).collect(),
        Err(error) => vec![Err(error)],
    }))
}

impl Verdict {
    /// Bytes from which [`Verdict::from_bytes`] makes the same verdict of the volume.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_row().iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// The verdict of these bytes; `None` for others.
    pub fn from_bytes(volume: u32, bytes: &[u8]) -> Option<Self> {
        let (words, rest) = bytes.as_chunks::<8>();
        let row: Vec<i64> = words.iter().map(|word| i64::from_le_bytes(*word)).collect();
        if rest.is_empty() { Self::from_row(volume, &row) } else { None }
    }
}
