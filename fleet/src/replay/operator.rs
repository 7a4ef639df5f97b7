//! The operator: one partition of points in, the number of each volume out. It writes the verdicts itself.

use std::any::Any;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::physical_plan::FileScanConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{Distribution, EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, InputDistributionRequirements, Partitioning,
    PlanProperties,
};
use futures::StreamExt;
use plimsoll_fleet_engine::VolumeReplay;
use serde::{Deserialize, Serialize};

use super::results::{finished_volumes, volume_schema};
use super::states::BucketStates;
use crate::points::PointColumns;

/// Wait for each batch of points, to exercise the loss of executors; none if unset.
pub static PAUSE: OnceLock<Duration> = OnceLock::new();

/// True if the process ends when it has written a bucket and not yet returned it, to exercise the loss of executors.
pub static ABORTS_AFTER_WRITE: AtomicBool = AtomicBool::new(false);

/// The work of the operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplaySpec {
    /// The buckets.
    pub buckets: Vec<BucketSpec>,
    /// Folder of results.
    pub results: PathBuf,
}

/// The work of a bucket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BucketSpec {
    /// Number of the bucket.
    pub bucket: u32,
    /// Name of the file of states from which it continues; from the first month without one.
    pub from: Option<String>,
    /// Name of its results, without extension.
    pub name: String,
    /// Whether there is a file of limits of this name; otherwise no volume has any.
    pub has_limits: bool,
}

/// The key by which points are partitioned.
pub fn volume_key() -> Vec<Arc<dyn PhysicalExpr>> {
    vec![Arc::new(Column::new("volume", 0))]
}

/// The operator.
#[derive(Clone, Debug)]
pub struct ReplayExec {
    input: Arc<dyn ExecutionPlan>,
    /// The work.
    pub spec: Arc<ReplaySpec>,
    properties: Arc<PlanProperties>,
}

impl ReplayExec {
    /// The operator over a scan of points.
    pub fn new(input: Arc<dyn ExecutionPlan>, spec: Arc<ReplaySpec>) -> Self {
        // A task of a cluster has a part of the scan: the number of partitions is that of the input.
        let partitions = input.output_partitioning().partition_count();
        let properties = Arc::new(PlanProperties::new(
            EquivalenceProperties::new(volume_schema()),
            Partitioning::UnknownPartitioning(partitions),
            EmissionType::Final,
            Boundedness::Bounded,
        ));
        Self { input, spec, properties }
    }
}

impl DisplayAs for ReplayExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReplayExec: {} buckets", self.spec.buckets.len())
    }
}

fn refuse<T>(text: impl Into<String>) -> Result<T> {
    Err(DataFusionError::Plan(text.into()))
}

/// The bucket of a partition and the number of its files, by their folders: partition numbers start at 0 again in each task of a cluster.
fn bucket_of(input: &Arc<dyn ExecutionPlan>, partition: usize) -> Result<(u32, usize)> {
    let source = input.downcast_ref::<DataSourceExec>().and_then(|scan| {
        let source: &dyn Any = scan.data_source().as_ref();
        source.downcast_ref::<FileScanConfig>()
    });
    let Some(config) = source else {
        return refuse("the replay has to stand directly over a scan of files: its plan was changed");
    };
    if config.output_partitioning.is_none() {
        return refuse("the scan declares no partitioning: partitions would take files from each other");
    }
    let Some(group) = config.file_groups.get(partition) else { return refuse("the scan lacks a partition") };
    let mut found: Option<u32> = None;
    let mut last_month = String::new();
    for file in group.files() {
        let parts: Vec<String> = file.object_meta.location.parts().map(|part| part.as_ref().to_owned()).collect();
        let value = |key: &str| parts.iter().rev().find_map(|part| part.strip_prefix(key).map(str::to_owned));
        let (Some(bucket), Some(month)) = (value("bucket=").and_then(|text| text.parse().ok()), value("month=")) else {
            return refuse(format!("{} is not in a folder of a month and a bucket", file.object_meta.location));
        };
        if found.is_some_and(|found| found != bucket) {
            return refuse(format!("a partition has files of the buckets {} and {bucket}", found.unwrap_or_default()));
        }
        if month <= last_month {
            return refuse(format!("month {month} follows {last_month}: files have to be in the order of months"));
        }
        (found, last_month) = (Some(bucket), month);
    }
    found.map_or_else(|| refuse("a partition has no files"), |bucket| Ok((bucket, group.files().len())))
}

impl ExecutionPlan for ReplayExec {
    fn name(&self) -> &'static str {
        "ReplayExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        InputDistributionRequirements::new(vec![Distribution::KeyPartitioned(volume_key())])
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        match children.pop() {
            Some(input) if children.is_empty() => Ok(Arc::new(Self::new(input, Arc::clone(&self.spec)))),
            _ => refuse("the replay has one input"),
        }
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let (bucket, months) = bucket_of(&self.input, partition)?;
        let Some(index) = self.spec.buckets.iter().position(|spec| spec.bucket == bucket) else {
            return refuse(format!("bucket {bucket} is not part of this run"));
        };
        let (spec, input) = (Arc::clone(&self.spec), Arc::clone(&self.input));
        let work = async move {
            let of_bucket = &spec.buckets[index];
            // Written by an executor that was lost afterwards.
            if let Some(finished) = finished_volumes(&spec.results, &of_bucket.name)? {
                return Ok(finished);
            }
            let mut states = BucketStates::begin(&spec.results, of_bucket, months).map_err(external)?;
            let mut replay = VolumeReplay::default();
            let mut batches = input.execute(partition, context)?;
            while let Some(batch) = batches.next().await {
                if let Some(pause) = PAUSE.get() {
                    tokio::time::sleep(*pause).await;
                }
                let batch = batch?;
                PointColumns::of(&batch)?
                    .as_slices(|columns| replay.push(columns, &mut |next, previous| states.exchange(next, previous)))
                    .map_err(external)?;
            }
            states.finish(replay.finish()).map_err(external)?;
            if ABORTS_AFTER_WRITE.load(Ordering::Relaxed) {
                std::process::abort();
            }
            finished_volumes(&spec.results, &of_bucket.name)?
                .ok_or_else(|| DataFusionError::Execution(format!("{} was removed: run again", of_bucket.name)))
        };
        Ok(Box::pin(RecordBatchStreamAdapter::new(volume_schema(), futures::stream::once(work))))
    }
}

fn external(error: anyhow::Error) -> DataFusionError {
    DataFusionError::External(error.into())
}
