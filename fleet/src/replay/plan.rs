//! The plan of a run: what each bucket has to read, and the scan of its files.

use std::fs;
use std::iter::Peekable;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::{ExecutionPlan, Partitioning};
use plimsoll_fleet_engine::LevelLimits;

use super::operator::{BucketSpec, ReplayExec, ReplaySpec, volume_key};
use super::results::{limits_path, states_path, verdicts_path};
use crate::folder::{BucketFiles, Folder, PointsFile, temporary_name};
use crate::points::{HASH_START, hash_bytes, hash_word, point_schema};
use crate::records::{Record, RecordWriter, Scratch, SortedRecords, Sorter};

/// Version of verdicts and states: part of their names.
const VERSION: &str = "results 3";

/// The limits of a fleet by bucket and volume, as JSON; volumes without limits are absent.
pub type LimitRecords = Peekable<SortedRecords>;

/// Collects the limits of a fleet.
pub struct FleetLimits<'a> {
    folder: &'a Folder,
    sorter: Sorter<'a>,
}

impl<'a> FleetLimits<'a> {
    /// No volume has limits.
    pub fn new(folder: &'a Folder, scratch: &'a Scratch) -> Self {
        Self { folder, sorter: scratch.sorter() }
    }

    /// Adds the limits of a volume.
    pub fn push(&mut self, volume: u32, limits: &LevelLimits) -> Result<()> {
        if limits.levels.iter().all(Vec::is_empty) {
            return Ok(());
        }
        self.sorter.push_json(&key_of(self.folder.bucket_of(volume), volume), limits)
    }

    /// All limits.
    pub fn finish(self) -> Result<LimitRecords> {
        Ok(self.sorter.finish()?.peekable())
    }
}

/// The key of a volume's limits.
fn key_of(bucket: u32, volume: u32) -> [u8; 8] {
    let mut key = [0; 8];
    key[..4].copy_from_slice(&bucket.to_be_bytes());
    key[4..].copy_from_slice(&volume.to_be_bytes());
    key
}

/// The work of a bucket.
#[derive(Debug)]
pub struct BucketWork {
    spec: BucketSpec,
    /// The files that have to be read.
    files: Vec<PointsFile>,
    results: PathBuf,
    /// Points of the bucket, in all files.
    pub all_points: i64,
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

    /// Number of the bucket.
    pub fn bucket(&self) -> u32 {
        self.spec.bucket
    }

    /// The file of verdicts.
    pub fn verdict_path(&self) -> PathBuf {
        verdicts_path(&self.results, &self.spec.name)
    }

    /// Removes the file of limits.
    pub fn remove_limits(&self) -> Result<()> {
        let path = limits_path(&self.results, &self.spec.name);
        let removed = if self.spec.has_limits { fs::remove_file(&path) } else { Ok(()) };
        removed.with_context(|| format!("remove {}", path.display()))
    }

    /// Points that have to be read.
    pub fn points(&self) -> i64 {
        self.files.iter().map(|file| file.rows).sum()
    }
}

/// Finds what a bucket has to read: the months after the last one with states of the same limits and points. Unless it is
/// finished, its limits are in a file of their own, because a plan with those of a million volumes would exceed the
/// messages of a cluster.
///
/// The name of a result has a hash of all points so far, and of the limits of their volumes: volumes that come later do
/// not change it.
pub fn prepare(files: &BucketFiles, limits: &mut LimitRecords, results: &Path) -> Result<BucketWork> {
    let bucket = files.bucket;
    let mut volumes: Vec<(u32, usize)> = Vec::new();
    for (month, file) in files.files.iter().enumerate() {
        volumes.extend(file.read_volumes()?.into_iter().map(|volume| (volume, month)));
    }
    // The first month of each volume.
    volumes.sort_unstable();
    volumes.dedup_by_key(|(volume, _)| *volume);
    let mut of_limits = vec![HASH_START; files.files.len()];
    let path = results.join(format!("bucket={bucket:04}.limits"));
    let mut writer = RecordWriter::create(&temporary_name(&path))?;
    let mut has_limits = false;
    for (volume, month) in volumes {
        let key = key_of(bucket, volume);
        let is_before = |record: &Result<Record>| record.as_ref().is_ok_and(|record| *record.key < key[..]);
        while limits.next_if(is_before).is_some() {}
        let is_own = |record: &Result<Record>| record.as_ref().map_or(true, |record| record.key == key);
        let own = limits.next_if(is_own).transpose()?.map(|record| record.value).unwrap_or_default();
        if !own.is_empty() {
            writer.push(&volume.to_be_bytes(), &own)?;
            has_limits = true;
        }
        let hash = hash_bytes(hash_bytes(HASH_START, &key), &own);
        for of_month in &mut of_limits[month..] {
            *of_month = hash_word(*of_month, hash);
        }
    }
    writer.finish()?;
    let mut points = hash_bytes(HASH_START, VERSION.as_bytes());
    let mut names = Vec::new();
    for (file, of_month) in files.files.iter().zip(of_limits) {
        points = hash_bytes(points, format!("{} {} {}\n", file.month, file.rows, file.content).as_bytes());
        names.push(format!("bucket={bucket:04}-{:016x}", hash_bytes(points, &of_month.to_le_bytes())));
    }
    let Some((name, earlier)) = names.split_last() else { bail!("bucket {bucket} has no files") };
    let start = earlier.iter().rposition(|name| states_path(results, name).exists());
    let spec = BucketSpec { bucket, from: start.map(|index| earlier[index].clone()), name: name.clone(), has_limits };
    let rest = files.files[start.map_or(0, |index| index + 1)..].to_vec();
    let all_points = files.files.iter().map(|file| file.rows).sum();
    let work = BucketWork { spec, files: rest, results: results.to_owned(), all_points };
    if work.is_finished() || !has_limits {
        fs::remove_file(temporary_name(&path))?;
    } else {
        // The name has the hash of the limits: a task that an earlier run left over finds its own or none.
        fs::rename(temporary_name(&path), limits_path(results, name))?;
    }
    Ok(work)
}

/// The plan: a scan with one partition for each bucket, the operator, and a small last stage.
pub fn plan_of(work: &[BucketWork], results: &Path) -> Arc<dyn ExecutionPlan> {
    let group = |work: &BucketWork| {
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
    let spec = Arc::new(ReplaySpec { buckets, results: results.to_owned() });
    let replay = Arc::new(ReplayExec::new(DataSourceExec::from_data_source(config), spec));
    // Ballista 55.0 forgets the output of a lost executor only in stages that feed another stage: with the operator as
    // the last stage, a client would read the verdicts of a restarted executor twice.
    Arc::new(CoalescePartitionsExec::new(replay))
}
