//! The plan of a run: what each bucket has to read, and the scan of its files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::{ExecutionPlan, Partitioning};
use plimsoll_fleet_engine::Rules;

use super::operator::{BucketSpec, ReplayExec, ReplaySpec, volume_key};
use super::results::{states_path, verdicts_path};
use crate::folder::{BucketFiles, PointsFile};
use crate::points::{HASH_START, hash_bytes, point_schema};

/// Version of verdicts and states: part of their names.
const VERSION: &str = "results 2";

/// The work of a bucket.
#[derive(Debug)]
pub struct BucketWork {
    spec: BucketSpec,
    /// The files that have to be read.
    files: Vec<PointsFile>,
    results: PathBuf,
}

impl BucketWork {
    /// True if the verdicts were written before.
    pub fn is_finished(&self) -> bool {
        self.verdict_path().exists()
    }

    /// Names of the results that it writes and from which it continues.
    pub fn used_names(&self) -> impl Iterator<Item = String> {
        [Some(&self.spec.name), self.spec.from.as_ref()].into_iter().flatten().cloned()
    }

    /// The file of verdicts.
    pub fn verdict_path(&self) -> PathBuf {
        verdicts_path(&self.results, &self.spec.name)
    }

    /// Points that have to be read.
    pub fn points(&self) -> i64 {
        self.files.iter().map(|file| file.rows).sum()
    }
}

/// Finds what a bucket has to read: the months after the last one with states of the same rules and points.
///
/// The name of a result has a hash of all points so far, and of the limits of their volumes: volumes that come later do
/// not change it.
pub fn prepare(files: &BucketFiles, rules: &Rules, results: &Path) -> Result<BucketWork> {
    let bucket = files.bucket;
    let mut points = hash_bytes(HASH_START, VERSION.as_bytes());
    let (mut names, mut volumes) = (Vec::new(), BTreeSet::new());
    for file in &files.files {
        points = hash_bytes(points, format!("{} {} {}\n", file.month, file.rows, file.content).as_bytes());
        volumes.extend(&file.volumes);
        let limits: Vec<_> = volumes.iter().map(|volume| (volume, rules.limits(*volume))).collect();
        let hash = hash_bytes(points, &serde_json::to_vec(&limits)?);
        names.push(format!("bucket={bucket:04}-{hash:016x}"));
    }
    let Some((name, earlier)) = names.split_last() else { anyhow::bail!("bucket {bucket} has no files") };
    let start = earlier.iter().rposition(|name| states_path(results, name).exists());
    let spec = BucketSpec { bucket, from: start.map(|index| earlier[index].clone()), name: name.clone() };
    let rest = files.files[start.map_or(0, |index| index + 1)..].to_vec();
    Ok(BucketWork { spec, files: rest, results: results.to_owned() })
}

/// The plan: a scan with one partition for each bucket, the operator, and a small last stage.
pub fn plan_of(work: &[&BucketWork], rules: &Rules, results: &Path) -> Arc<dyn ExecutionPlan> {
    let group = |work: &&BucketWork| {
        let files = work.files.iter();
        FileGroup::new(files.map(|file| PartitionedFile::new(file.path.display().to_string(), file.bytes)).collect())
    };
    let source = Arc::new(ParquetSource::new(point_schema()));
    let config = FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), source)
        .with_file_groups(work.iter().map(group).collect())
        // Without it partitions take files from each other, and the volumes of a bucket lose their states.
        .with_output_partitioning(Some(Partitioning::Hash(volume_key(), work.len())))
        .build();
    let buckets = work.iter().map(|work| work.spec.clone()).collect();
    let spec = Arc::new(ReplaySpec { rules: rules.clone(), buckets, results: results.to_owned() });
    let replay = Arc::new(ReplayExec::new(DataSourceExec::from_data_source(config), spec));
    // Ballista 55.0 forgets the output of a lost executor only in stages that feed another stage: with the operator as
    // the last stage, a client would read the verdicts of a restarted executor twice.
    Arc::new(CoalescePartitionsExec::new(replay))
}
