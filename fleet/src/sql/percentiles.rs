//! `volume_percentile(column, share)`: the exact percentile of a column for each volume.
//!
//! Files of points are sorted by volume, so a bucket needs the values of a single volume in memory, in the place of those of
//! all volumes as in `percentile_cont` by group.

use std::fs::File;
use std::sync::Arc;

use anyhow::{Context, Result};
use datafusion::arrow::array::{Array, Float64Array, RecordBatch, UInt32Array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::compute::kernels::numeric::{add, div};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::streaming::StreamingTable;
use datafusion::catalog::{TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::error::{DataFusionError, Result as QueryResult};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::Expr;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use datafusion::scalar::ScalarValue;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};

use crate::folder::{BucketFiles, PointsFile};
use crate::points::{METRICS, point_schema};

const ROWS_OF_BATCH: usize = 32_768;

/// The function over the files of a fleet.
#[derive(Debug)]
pub struct VolumePercentile {
    buckets: Vec<Arc<BucketFiles>>,
}

impl VolumePercentile {
    pub fn new(buckets: Vec<BucketFiles>) -> Self {
        Self { buckets: buckets.into_iter().map(Arc::new).collect() }
    }
}

impl TableFunctionImpl for VolumePercentile {
    fn call_with_args(&self, arguments: TableFunctionArgs<'_, '_>) -> QueryResult<Arc<dyn TableProvider>> {
        let usage = || {
            let columns = METRICS.join(", ");
            DataFusionError::Plan(format!(
                "volume_percentile takes a column ('iops', 'bytes_per_second', or of {columns}) and a share of 0 to 1, such \
                 as volume_percentile('iops', 0.99)"
            ))
        };
        let [Expr::Literal(name, _), Expr::Literal(share, _)] = arguments.exprs() else { return Err(usage()) };
        let share = match share.cast_to(&DataType::Float64)? {
            ScalarValue::Float64(Some(share)) if (0.0..=1.0).contains(&share) => share,
            _ => return Err(usage()),
        };
        let measure = name.try_as_str().flatten().and_then(Measure::find).ok_or_else(usage)?;
        let schema = Arc::new(Schema::new(vec![
            Field::new("volume", DataType::UInt32, false),
            Field::new("value", DataType::Float64, true),
        ]));
        let partition = |files: &Arc<BucketFiles>| {
            let schema = Arc::clone(&schema);
            Arc::new(BucketPercentiles { files: Arc::clone(files), measure, share, schema }) as Arc<dyn PartitionStream>
        };
        let partitions = self.buckets.iter().map(partition).collect();
        Ok(Arc::new(StreamingTable::try_new(Arc::clone(&schema), partitions)?))
    }
}

/// A number for each point.
#[derive(Clone, Copy, Debug)]
enum Measure {
    /// A column of the points, by index.
    Column(usize),
    /// The sum of two columns, a second.
    Rate([usize; 2]),
}

impl Measure {
    fn find(name: &str) -> Option<Self> {
        let column = |name: &str| point_schema().index_of(name).ok();
        match name {
            "iops" => Some(Self::Rate([column("read_ops")?, column("write_ops")?])),
            "bytes_per_second" => Some(Self::Rate([column("read_bytes")?, column("write_bytes")?])),
            _ => METRICS.contains(&name).then(|| column(name)).flatten().map(Self::Column),
        }
    }

    /// Indices of the columns that [`Self::values`] needs after that of the volume, in the order of the schema.
    fn columns(self) -> Vec<usize> {
        match self {
            Self::Column(column) => vec![column],
            Self::Rate([first, second]) => vec![PERIOD, first, second],
        }
    }

    /// NULL where a column that it needs is NULL.
    fn values(self, batch: &RecordBatch) -> QueryResult<Float64Array> {
        let double = |index: usize| cast(batch.column(index), &DataType::Float64);
        let values = match self {
            Self::Column(_) => double(1)?,
            Self::Rate(_) => div(&add(&double(2)?, &double(3)?)?, &double(1)?)?,
        };
        Ok(values.as_any().downcast_ref::<Float64Array>().ok_or_else(super::unexpected)?.clone())
    }
}

const PERIOD: usize = 2;

/// The volumes of a bucket.
#[derive(Debug)]
struct BucketPercentiles {
    files: Arc<BucketFiles>,
    measure: Measure,
    share: f64,
    schema: SchemaRef,
}

impl PartitionStream for BucketPercentiles {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let (files, measure, share, schema) =
            (Arc::clone(&self.files), self.measure, self.share, Arc::clone(&self.schema));
        let batch = async move {
            let (volumes, values) =
                percentiles(&files, measure, share).map_err(|error| DataFusionError::External(error.into()))?;
            let columns = vec![Arc::new(UInt32Array::from(volumes)) as _, Arc::new(Float64Array::from(values)) as _];
            Ok(RecordBatch::try_new(schema, columns)?)
        };
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), futures::stream::once(batch)))
    }
}

/// Numbers and percentiles of a bucket's volumes; `None` for volumes without values.
fn percentiles(bucket: &BucketFiles, measure: Measure, share: f64) -> Result<(Vec<u32>, Vec<Option<f64>>)> {
    let mut months = bucket.files.iter().map(|file| MonthValues::open(file, measure)).collect::<Result<Vec<_>>>()?;
    let (mut volumes, mut results, mut values) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(volume) = months.iter().filter_map(MonthValues::volume).min() {
        values.clear();
        for month in &mut months {
            month.take(volume, &mut values)?;
        }
        volumes.push(volume);
        results.push(percentile(&mut values, share));
    }
    Ok((volumes, results))
}

/// The values of a month's file, one batch in memory.
struct MonthValues {
    batches: ParquetRecordBatchReader,
    measure: Measure,
    volumes: UInt32Array,
    values: Float64Array,
    /// First row of the batch that was not taken.
    row: usize,
}

impl MonthValues {
    fn open(file: &PointsFile, measure: Measure) -> Result<Self> {
        let context = || format!("read {}", file.path.display());
        let opened = File::open(&file.path).with_context(context)?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(opened).with_context(context)?;
        let columns = [0].into_iter().chain(measure.columns());
        let mask = ProjectionMask::roots(builder.parquet_schema(), columns);
        let batches = builder.with_projection(mask).with_batch_size(ROWS_OF_BATCH).build()?;
        let (volumes, values) = (UInt32Array::from(Vec::<u32>::new()), Float64Array::from(Vec::<f64>::new()));
        let mut month = Self { batches, measure, volumes, values, row: 0 };
        month.refill()?;
        Ok(month)
    }

    /// The next volume; `None` at the end.
    fn volume(&self) -> Option<u32> {
        self.volumes.values().get(self.row).copied()
    }

    /// Reads on if the batch was taken.
    fn refill(&mut self) -> Result<()> {
        while self.row == self.volumes.len() {
            let Some(batch) = self.batches.next().transpose()? else { return Ok(()) };
            let volumes = batch.column(0).as_any().downcast_ref::<UInt32Array>();
            self.volumes = volumes.ok_or_else(super::unexpected)?.clone();
            self.values = self.measure.values(&batch)?;
            self.row = 0;
        }
        Ok(())
    }

    /// Appends the values of a volume, if it is the next one.
    fn take(&mut self, volume: u32, values: &mut Vec<f64>) -> Result<()> {
        while self.volume() == Some(volume) {
            let rest = &self.volumes.values()[self.row..];
            let end = self.row + rest.partition_point(|next| *next == volume);
            if self.values.null_count() == 0 {
                values.extend_from_slice(&self.values.values()[self.row..end]);
            } else {
                values
                    .extend((self.row..end).filter(|row| self.values.is_valid(*row)).map(|row| self.values.value(row)));
            }
            self.row = end;
            self.refill()?;
        }
        Ok(())
    }
}

/// Interpolates linearly between neighbouring values, as `percentile_cont`; `None` without values.
fn percentile(values: &mut [f64], share: f64) -> Option<f64> {
    let rank = share * values.len().checked_sub(1)? as f64;
    let (_, below, above) = values.select_nth_unstable_by(rank as usize, f64::total_cmp);
    let next = above.iter().copied().fold(f64::INFINITY, f64::min);
    Some(if next.is_finite() { *below + (next - *below) * rank.fract() } else { *below })
}
