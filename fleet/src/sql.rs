//! SQL over the tables of a fleet, with functions of the catalogue.
//!
//! Tables: `metrics` (points), `volumes`, `verdicts` (after `rightsize`).

mod percentiles;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};
use datafusion::arrow::array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, UInt32Array,
};
use datafusion::arrow::csv::Writer;
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::catalog::TableProvider;
use datafusion::catalog::streaming::StreamingTable;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::error::{DataFusionError, Result as QueryResult};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext};
use futures::StreamExt;
use plimsoll_catalogue::{Ask, Catalogue, Offer, PriceTerms};
use plimsoll_model::analytic::{Offered, Workload, capacity, solve};
use plimsoll_units::Bytes;

use crate::folder::Folder;
use crate::points::point_schema;
use crate::replay::TableFile;
use crate::rightsize::monthly_micros;
use crate::terms::today;
use crate::volumes::{FleetVolume, VolumeRows};
use percentiles::VolumePercentile;

/// Options of `sql`.
#[derive(Debug, Args)]
pub struct SqlOptions {
    /// Folder of the fleet
    pub folder: PathBuf,
    /// Query. Functions: `ceiling_iops(config, block_bytes)`, price(config, region, date) in millionths a month,
    /// carries(config, iops, mbps, `mean_ms`); as a table, the exact percentile of each volume:
    /// volume_percentile('iops', 0.99)
    pub query: String,
    /// Form of the result
    #[arg(long, value_enum, default_value_t = SqlForm::Table)]
    pub format: SqlForm,
    /// Parquet file for the result, instead of the output
    #[arg(long)]
    pub out: Option<PathBuf>,
}

/// Form of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SqlForm {
    /// A table
    Table,
    /// Comma-separated values
    Csv,
}

/// Runs a query and returns its result as text.
pub fn query(options: &SqlOptions) -> Result<String> {
    let folder = Folder::open(&options.folder)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    if let Some(path) = &options.out {
        let rows = runtime.block_on(async {
            let result = context_of(&folder).await?.sql(&options.query).await?.execute_stream().await?;
            write_table(path, result).await
        })?;
        return Ok(format!("{}: {rows} rows", path.display()));
    }
    let batches = runtime.block_on(async {
        let context = context_of(&folder).await?;
        context.sql(&options.query).await?.collect().await.map_err(anyhow::Error::from)
    })?;
    match options.format {
        SqlForm::Table => Ok(pretty_format_batches(&batches)?.to_string()),
        SqlForm::Csv => {
            let mut writer = Writer::new(Vec::new());
            batches.iter().try_for_each(|batch| writer.write(batch))?;
            Ok(String::from_utf8(writer.into_inner())?.trim_end().to_owned())
        }
    }
}

/// Rows of a row group of a result, which is in memory while it is written.
const ROWS_OF_GROUP: usize = 131_072;

/// Writes a result batch by batch, and returns the number of its rows.
async fn write_table(path: &Path, mut result: SendableRecordBatchStream) -> Result<usize> {
    let mut table = TableFile::create(path, result.schema(), ROWS_OF_GROUP)?;
    let mut rows = 0;
    while let Some(batch) = result.next().await {
        let batch = batch?;
        table.write(&batch)?;
        rows += batch.num_rows();
    }
    ensure!(rows > 0, "the result has no rows: nothing was written");
    table.finish()?;
    Ok(rows)
}

async fn context_of(folder: &Folder) -> Result<SessionContext> {
    let context = SessionContext::new_with_config(SessionConfig::new().with_information_schema(true));
    let metrics = folder.root.join("metrics");
    ensure!(metrics.is_dir(), "{} has no metrics: run `ingest` or `generate` first", folder.root.display());
    let keys = vec![("month".to_owned(), DataType::Utf8), ("bucket".to_owned(), DataType::Utf8)];
    let format = ListingOptions::new(Arc::new(ParquetFormat::default()))
        .with_file_extension(".parquet")
        .with_table_partition_cols(keys);
    let url = ListingTableUrl::parse(format!("{}/", metrics.display()))?;
    let table = ListingTableConfig::new(url).with_listing_options(format).with_schema(point_schema());
    context.register_table("metrics", Arc::new(ListingTable::try_new(table)?))?;
    context.register_table("volumes", volumes_table(folder)?)?;
    let verdicts = folder.root.join("rightsize/verdicts.parquet");
    if verdicts.exists() {
        let options = ParquetReadOptions::default();
        context.register_parquet("verdicts", verdicts.display().to_string(), options).await?;
    }
    context.register_udtf("volume_percentile", Arc::new(VolumePercentile::new(folder.files()?)));
    let catalogue = Catalogue::built_in();
    for kind in [Function::CeilingIops, Function::Price, Function::Carries] {
        context.register_udf(ScalarUDF::from(CatalogueFunction::new(kind, catalogue.clone())));
    }
    Ok(context)
}

/// The volumes as a table, a batch of them in memory.
fn volumes_table(folder: &Folder) -> Result<Arc<dyn TableProvider>> {
    let stream = VolumeStream { folder: folder.clone(), schema: volumes_batch(&[])?.schema() };
    let schema = Arc::clone(&stream.schema);
    Ok(Arc::new(StreamingTable::try_new(schema, vec![Arc::new(stream)])?))
}

/// The rows of `volumes.csv`.
#[derive(Debug)]
struct VolumeStream {
    folder: Folder,
    schema: SchemaRef,
}

impl PartitionStream for VolumeStream {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let external = |error: anyhow::Error| DataFusionError::External(error.into());
        let (mut rows, mut fault) = match VolumeRows::open(&self.folder) {
            Ok(rows) => (rows, None),
            Err(error) => (VolumeRows::default(), Some(Err(external(error)))),
        };
        let batches = std::iter::from_fn(move || {
            if let Some(fault) = fault.take() {
                return Some(fault);
            }
            match rows.by_ref().take(ROWS_OF_BATCH).collect::<Result<Vec<_>>>() {
                Ok(volumes) if volumes.is_empty() => None,
                volumes => Some(volumes.and_then(|volumes| volumes_batch(&volumes)).map_err(external)),
            }
        });
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), futures::stream::iter(batches)))
    }
}

/// Volumes of a batch.
const ROWS_OF_BATCH: usize = 8_192;

/// Volumes with their texts as they are, because accounts may begin with zeros; NULL in the place of empty ones.
fn volumes_batch(volumes: &[FleetVolume]) -> Result<RecordBatch> {
    let numbers = Arc::new(volumes.iter().map(|volume| Some(volume.volume)).collect::<UInt32Array>());
    let texts = |of: fn(&FleetVolume) -> &str| {
        let texts = volumes.iter().map(|volume| Some(of(volume)).filter(|text| !text.is_empty()));
        Arc::new(texts.collect::<StringArray>()) as ArrayRef
    };
    let columns: [(&str, ArrayRef); 7] = [
        ("volume", numbers),
        ("id", texts(|volume| &volume.id)),
        ("config", texts(|volume| &volume.config)),
        ("region", texts(|volume| &volume.region)),
        ("account", texts(|volume| &volume.account)),
        ("team", texts(|volume| &volume.team)),
        ("name", texts(|volume| &volume.name)),
    ];
    Ok(RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true)))?)
}

/// The functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Function {
    CeilingIops,
    Price,
    Carries,
}

/// A function of the catalogue.
#[derive(Debug)]
struct CatalogueFunction {
    kind: Function,
    catalogue: Catalogue,
    signature: Signature,
}

impl PartialEq for CatalogueFunction {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

impl Eq for CatalogueFunction {}

impl std::hash::Hash for CatalogueFunction {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.kind.hash(state);
    }
}

/// Share of reads of operations that a function is asked about.
const READS: f64 = 0.5;
/// Maximum utilisation for a modelled latency.
const MAX_UTILISATION: f64 = 0.98;

impl CatalogueFunction {
    fn new(kind: Function, catalogue: Catalogue) -> Self {
        let types = match kind {
            Function::CeilingIops => vec![DataType::Utf8, DataType::Int64],
            Function::Price => vec![DataType::Utf8; 3],
            Function::Carries => vec![DataType::Utf8, DataType::Float64, DataType::Float64, DataType::Float64],
        };
        Self { kind, catalogue, signature: Signature::exact(types, Volatility::Stable) }
    }

    fn offer(&self, config: &str, region: Option<&str>, date: &str) -> QueryResult<Offer> {
        let fail = |error: String| DataFusionError::Execution(error);
        let parsed = config.parse().map_err(|error: plimsoll_catalogue::ConfigError| fail(error.to_string()))?;
        let as_of = date.parse().map_err(|error: plimsoll_catalogue::DateError| fail(error.to_string()))?;
        let terms = PriceTerms { as_of, currency: None, region: region.map(str::to_owned) };
        self.catalogue.offer(&parsed, &terms).map_err(|refusal| fail(format!("{config}: {refusal}")))
    }
}

impl ScalarUDFImpl for CatalogueFunction {
    fn name(&self) -> &'static str {
        match self.kind {
            Function::CeilingIops => "ceiling_iops",
            Function::Price => "price",
            Function::Carries => "carries",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> QueryResult<DataType> {
        Ok(if self.kind == Function::Carries { DataType::Boolean } else { DataType::Int64 })
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> QueryResult<ColumnarValue> {
        let rows = arguments.number_rows;
        let arrays = arguments.args.into_iter().map(|argument| argument.into_array(rows));
        let arrays = arrays.collect::<QueryResult<Vec<_>>>()?;
        let result: ArrayRef = match self.kind {
            Function::CeilingIops => Arc::new(self.ceilings(&text(&arrays[0])?, &longs(&arrays[1])?)?),
            Function::Price => Arc::new(self.prices(&text(&arrays[0])?, &text(&arrays[1])?, &text(&arrays[2])?)?),
            Function::Carries => {
                let numbers = arrays[1..].iter().map(doubles).collect::<QueryResult<Vec<_>>>()?;
                Arc::new(self.carry(&text(&arrays[0])?, &numbers)?)
            }
        };
        Ok(ColumnarValue::Array(result))
    }
}

fn unexpected() -> DataFusionError {
    DataFusionError::Execution("a function got an argument of another type".to_owned())
}

fn text(array: &ArrayRef) -> QueryResult<StringArray> {
    array.as_any().downcast_ref::<StringArray>().cloned().ok_or_else(unexpected)
}

fn longs(array: &ArrayRef) -> QueryResult<Int64Array> {
    array.as_any().downcast_ref::<Int64Array>().cloned().ok_or_else(unexpected)
}

fn doubles(array: &ArrayRef) -> QueryResult<Float64Array> {
    array.as_any().downcast_ref::<Float64Array>().cloned().ok_or_else(unexpected)
}

impl CatalogueFunction {
    /// Sustained operations per second of a block size; NULL without a limit.
    fn ceilings(&self, configs: &StringArray, blocks: &Int64Array) -> QueryResult<Int64Array> {
        let (mut results, mut offers) = (Vec::with_capacity(configs.len()), HashMap::new());
        for (config, block) in configs.iter().zip(blocks) {
            let (Some(config), Some(block)) = (config, block) else {
                results.push(None);
                continue;
            };
            if block <= 0 {
                return Err(DataFusionError::Execution(format!("a block of {block} bytes: write a positive number")));
            }
            let offer = match offers.get(config) {
                Some(offer) => offer,
                None => offers.entry(config).or_insert(self.offer(config, None, &today())?),
            };
            let ask = Ask { block: Bytes::new(block as u64), reads: READS, sequential: false };
            results.push(offer.standing(&ask).binding().map(|bound| bound.iops.floor() as i64));
        }
        Ok(Int64Array::from(results))
    }

    /// Prices a month in millionths of their currency; NULL if the catalogue has none for the region.
    fn prices(&self, configs: &StringArray, regions: &StringArray, dates: &StringArray) -> QueryResult<Int64Array> {
        let (mut results, mut prices) = (Vec::with_capacity(configs.len()), HashMap::new());
        for ((config, region), date) in configs.iter().zip(regions).zip(dates) {
            let (Some(config), Some(date)) = (config, date) else {
                results.push(None);
                continue;
            };
            let region = region.filter(|region| !region.is_empty());
            let price = if let Some(price) = prices.get(&(config, region, date)) {
                *price
            } else {
                let price = monthly_micros(&self.offer(config, region, date)?);
                *prices.entry((config, region, date)).or_insert(price)
            };
            results.push(price);
        }
        Ok(Int64Array::from(results))
    }

    /// Whether a configuration sustains operations and decimal megabytes per second, with a modelled mean latency of at
    /// most so many milliseconds. NULL without a model.
    fn carry(&self, configs: &StringArray, numbers: &[Float64Array]) -> QueryResult<BooleanArray> {
        let [iops, mbps, latency] = numbers else { return Err(unexpected()) };
        let mut results = Vec::with_capacity(configs.len());
        for (row, config) in configs.iter().enumerate() {
            let value = |numbers: &Float64Array| numbers.is_valid(row).then(|| numbers.value(row));
            let (Some(config), Some(iops), Some(mbps), Some(latency)) =
                (config, value(iops), value(mbps), value(latency))
            else {
                results.push(None);
                continue;
            };
            if !(iops > 0.0 && mbps >= 0.0) {
                return Err(DataFusionError::Execution(format!("{iops} IOPS and {mbps} MB/s are no load")));
            }
            let length = Bytes::new((mbps * 1e6 / iops).max(512.0) as u64);
            results.push(carries(&self.offer(config, None, &today())?, iops, length, latency));
        }
        Ok(BooleanArray::from(results))
    }
}

fn carries(offer: &Offer, iops: f64, length: Bytes, latency_ms: f64) -> Option<bool> {
    let ask = Ask { block: length, reads: READS, sequential: false };
    if offer.standing(&ask).binding().is_some_and(|bound| bound.iops < iops) {
        return Some(false);
    }
    let model = offer.model().ok()?;
    // So large that caches of products do not help.
    let space = Bytes::gib(64);
    let workload = Workload { reads: READS, durable: 0.0, flushes: 0.0, length, sequential: 0.0, space };
    let sustained = capacity(&model, &workload).iops * MAX_UTILISATION;
    Some(iops <= sustained && solve(&model, &workload, Offered::Open { iops }).mean_ns / 1e6 <= latency_ms)
}
