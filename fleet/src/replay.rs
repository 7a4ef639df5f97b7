//! Replay of all volumes: a physical operator over the files of points, one partition for each bucket.
//!
//! The same plan runs in this process or on a cluster. The operator writes the verdicts and the end states of each
//! bucket itself, under a name that contains a hash of the rules and of the points, so that a run continues where an
//! earlier one ended, and a new month costs only that month.

mod codec;
mod operator;
mod plan;
mod results;
mod states;

use std::fs;
use std::iter;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result, bail, ensure};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::execute_stream;
use datafusion::prelude::SessionContext;
use futures::StreamExt;
use tokio::runtime::Runtime;

pub use codec::{CLAIMED_VERSION, FleetCodec};
pub use operator::{ABORTS_AFTER_WRITE, BucketSpec, PAUSE, ReplayExec, ReplaySpec};
pub use plan::{FleetLimits, LimitRecords};
pub use results::{TableFile, Verdict};

use crate::cluster::submit;
use crate::folder::{Folder, remove_leftovers};
use crate::records::{Scratch, SortedRecords};
use crate::tls::TlsOptions;
use plan::{BucketWork, plan_of, prepare};
use results::{count_verdicts, mark_used, read_verdicts, remove_old};

/// Where a plan runs.
#[derive(Clone, Debug)]
pub enum RunPlace {
    /// In this process, so many buckets at a time.
    Embedded {
        /// Number of buckets.
        parallel: usize,
    },
    /// On a cluster.
    Cluster {
        /// Its scheduler.
        address: String,
        /// Certificates of the connection.
        tls: TlsOptions,
    },
}

/// Result of a replay: its verdicts are in files.
#[derive(Debug)]
pub struct Replayed {
    /// Number, points and file of verdicts of each bucket.
    files: Vec<(u32, i64, PathBuf)>,
    /// All buckets.
    pub buckets: usize,
    /// Buckets whose verdicts an earlier run wrote.
    pub finished_before: usize,
    /// Points that were read in this run.
    pub points_read: i64,
    /// Points of the fleet.
    pub points: i64,
}

/// Replays all points of a folder under limits. Verdicts and states are in `results`, in files by bucket.
pub fn replay(folder: &Folder, mut limits: LimitRecords, results: &Path, place: &RunPlace) -> Result<Replayed> {
    fs::create_dir_all(results).with_context(|| format!("create {}", results.display()))?;
    let results = fs::canonicalize(results)?;
    remove_leftovers(&results)?;
    let files = folder.files()?;
    let runner = Runner::new(&results, place, files.len())?;
    let mut replayed =
        Replayed { files: Vec::new(), buckets: files.len(), finished_before: 0, points_read: 0, points: 0 };
    let (mut open, mut used) = (Vec::new(), Vec::new());
    for files in &files {
        let work = prepare(files, &mut limits, &results)?;
        used.extend(work.used_names());
        replayed.points += work.all_points;
        replayed.files.push((work.bucket(), work.all_points, work.verdict_path()));
        if work.is_finished() {
            replayed.finished_before += 1;
            continue;
        }
        replayed.points_read += work.points();
        open.push(work);
        if open.len() == runner.parallel {
            runner.run(&std::mem::take(&mut open))?;
        }
    }
    // A fault in the limits of volumes without points.
    limits.try_for_each(|record| record.map(|_| ()))?;
    runner.run(&open)?;
    mark_used(&results, used.into_iter(), SystemTime::now())?;
    remove_old(&results)?;
    Ok(replayed)
}

/// Runs plans.
struct Runner<'a> {
    results: &'a Path,
    place: &'a RunPlace,
    /// Buckets of a plan.
    parallel: usize,
    runtime: Runtime,
}

impl<'a> Runner<'a> {
    fn new(results: &'a Path, place: &'a RunPlace, buckets: usize) -> Result<Self> {
        let parallel = match place {
            RunPlace::Embedded { parallel } => (*parallel).max(1),
            RunPlace::Cluster { .. } => buckets.max(1),
        };
        let threads = parallel.min(buckets.max(1)).min(16);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build()?;
        Ok(Self { results, place, parallel, runtime })
    }

    fn run(&self, open: &[BucketWork]) -> Result<()> {
        if open.is_empty() {
            return Ok(());
        }
        let plan = plan_of(open, self.results);
        let returned = self.runtime.block_on(async {
            match self.place {
                RunPlace::Embedded { .. } => {
                    let batches = execute_stream(plan, SessionContext::new().task_ctx())?;
                    Ok(count_rows(batches).await?)
                }
                RunPlace::Cluster { address, tls } => submit(address, tls, plan).await,
            }
        })?;
        // Verdicts are read from the files; the returned rows have to agree with them.
        let mut written = 0;
        for work in open {
            written += count_verdicts(&work.verdict_path())?;
        }
        ensure!(
            returned == written,
            "the run returned {returned} verdicts and wrote {written}: a part of it ran twice; start the executors with \
             empty work folders and run again"
        );
        open.iter().try_for_each(BucketWork::remove_limits)
    }
}

/// The number of rows of a stream.
pub async fn count_rows(mut batches: SendableRecordBatchStream) -> datafusion::error::Result<usize> {
    let mut rows = 0;
    while let Some(batch) = batches.next().await {
        rows += batch?.num_rows();
    }
    Ok(rows)
}

impl Replayed {
    /// The verdicts by number of the volume, a bounded part of them in memory.
    pub fn verdicts(&self, scratch: &Scratch) -> Result<Verdicts> {
        let mut sorter = scratch.sorter();
        for (bucket, expected, path) in &self.files {
            let mut found = 0;
            read_verdicts(path, &mut |verdict| {
                found += verdict.points;
                sorter.push(&verdict.volume.to_be_bytes(), &verdict.to_bytes())
            })?;
            // Each point of a bucket is in exactly one verdict.
            ensure!(
                found == *expected,
                "bucket {bucket} has {expected} points, and its verdicts cover {found}: remove its files in the folder of \
                 results and run again"
            );
        }
        Ok(Verdicts { records: sorter.finish()?, last: None })
    }
}

/// Verdicts by number of the volume.
pub struct Verdicts {
    records: SortedRecords,
    last: Option<u32>,
}

impl Verdicts {
    fn read(&mut self) -> Result<Option<Verdict>> {
        let Some(record) = self.records.next().transpose()? else { return Ok(None) };
        let volume = record.number()?;
        ensure!(
            self.last != Some(volume),
            "volume {volume} has verdicts in two buckets: the points are in the wrong folders, ingest them again"
        );
        self.last = Some(volume);
        Ok(Some(Verdict::from_bytes(volume, &record.value).context("a verdict in a temporary file")?))
    }
}

impl Iterator for Verdicts {
    type Item = Result<Verdict>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// Pairs items in the order of their volumes with the verdicts; volumes without points have none.
pub fn with_verdicts<T>(
    mut items: impl Iterator<Item = Result<T>>,
    volume_of: impl Fn(&T) -> u32,
    verdicts: Verdicts,
) -> impl Iterator<Item = Result<(T, Option<Verdict>)>> {
    let mut verdicts = verdicts.peekable();
    iter::from_fn(move || {
        let item = match items.next() {
            Some(Ok(item)) => item,
            Some(Err(error)) => return Some(Err(error)),
            None => {
                return verdicts.next().map(|verdict| {
                    verdict.and_then(|other| bail!("volume {} is not in volumes.csv: restore the file", other.volume))
                });
            }
        };
        let volume = volume_of(&item);
        let is_own = |verdict: &Result<Verdict>| verdict.as_ref().map_or(true, |verdict| verdict.volume == volume);
        Some(verdicts.next_if(is_own).transpose().map(|verdict| (item, verdict)))
    })
}

/// Removes all verdicts and states of a folder, and what interrupted runs left over. Other files stay.
pub fn forget(results: &Path) -> Result<()> {
    if !results.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(results).with_context(|| format!("read {}", results.display()))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_result = [".verdicts.parquet", ".states.parquet"].iter().any(|end| name.contains(end));
        if is_result && name.trim_start_matches('.').starts_with("bucket=") {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// The folder of results of a fleet.
pub fn results_folder(folder: &Folder) -> PathBuf {
    folder.root.join("results")
}
