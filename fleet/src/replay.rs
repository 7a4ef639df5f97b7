//! Replay of all volumes: a physical operator over the files of points, one partition for each bucket.
//!
//! The same plan runs in this process or on a cluster. The operator writes the verdicts and the end states of each
//! bucket itself, under a name that contains a hash of the rules and of the points, so that a run continues where an
//! earlier one ended, and a new month costs only that month.

mod codec;
mod operator;
mod plan;
mod results;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result, ensure};
use datafusion::arrow::array::RecordBatch;
use datafusion::physical_plan::collect;
use datafusion::prelude::SessionContext;
use plimsoll_fleet_engine::Rules;

pub use codec::{CLAIMED_VERSION, FleetCodec};
pub use operator::{ABORTS_AFTER_WRITE, BucketSpec, PAUSE, ReplayExec, ReplaySpec};
pub use results::{Verdict, read_verdicts, write_batch};

use crate::cluster::submit;
use crate::folder::{BucketFiles, Folder, remove_leftovers};
use crate::tls::TlsOptions;
use plan::{BucketWork, plan_of, prepare};
use results::{mark_used, remove_old};

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

/// Result of a replay.
#[derive(Debug)]
pub struct Replayed {
    /// A verdict for each volume, by number.
    pub verdicts: Vec<Verdict>,
    /// All buckets.
    pub buckets: usize,
    /// Buckets whose verdicts an earlier run wrote.
    pub finished_before: usize,
    /// Points that were read in this run.
    pub points_read: i64,
}

/// Replays all points of a folder under `rules`. Verdicts and states are in `results`, in files by bucket.
pub fn replay(folder: &Folder, rules: &Rules, results: &Path, place: &RunPlace) -> Result<Replayed> {
    std::fs::create_dir_all(results).with_context(|| format!("create {}", results.display()))?;
    let results = std::fs::canonicalize(results)?;
    remove_leftovers(&results)?;
    let files = folder.files()?;
    let work = files.iter().map(|files| prepare(files, rules, &results)).collect::<Result<Vec<_>>>()?;
    let (finished, open): (Vec<&BucketWork>, Vec<&BucketWork>) = work.iter().partition(|work| work.is_finished());
    let points_read = open.iter().map(|work| work.points()).sum();
    run(&open, rules, &results, place)?;
    let mut verdicts = Vec::new();
    for (work, files) in work.iter().zip(&files) {
        let of_bucket = read_verdicts(&work.verdict_path())?;
        check(&of_bucket, files)?;
        verdicts.extend(of_bucket);
    }
    mark_used(&results, work.iter().flat_map(BucketWork::used_names), SystemTime::now())?;
    remove_old(&results)?;
    verdicts.sort_unstable_by_key(|verdict| verdict.volume);
    let is_repeated = verdicts.windows(2).any(|pair| pair[0].volume == pair[1].volume);
    ensure!(
        !is_repeated,
        "a volume has verdicts in two buckets: the points are in the wrong folders, ingest them again"
    );
    Ok(Replayed { verdicts, buckets: files.len(), finished_before: finished.len(), points_read })
}

fn run(open: &[&BucketWork], rules: &Rules, results: &Path, place: &RunPlace) -> Result<()> {
    let parallel = match place {
        RunPlace::Embedded { parallel } => (*parallel).max(1),
        RunPlace::Cluster { .. } => open.len().max(1),
    };
    let threads = parallel.min(open.len().max(1));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads.min(16)).enable_all().build()?;
    for part in open.chunks(parallel) {
        let plan = plan_of(part, rules, results);
        let batches = match place {
            RunPlace::Embedded { .. } => runtime.block_on(collect(plan, SessionContext::new().task_ctx()))?,
            RunPlace::Cluster { address, tls } => runtime.block_on(submit(address, tls, plan))?,
        };
        // Verdicts are read from the files; the returned rows have to agree with them.
        let returned: usize = batches.iter().map(RecordBatch::num_rows).sum();
        let mut written = 0;
        for work in part {
            written += read_verdicts(&work.verdict_path())?.len();
        }
        ensure!(
            returned == written,
            "the run returned {returned} verdicts and wrote {written}: a part of it ran twice; start the executors with \
             empty work folders and run again"
        );
    }
    Ok(())
}

/// Checks that each point of a bucket is in exactly one verdict.
fn check(verdicts: &[Verdict], files: &BucketFiles) -> Result<()> {
    let expected: i64 = files.files.iter().map(|file| file.rows).sum();
    let found: i64 = verdicts.iter().map(|verdict| verdict.points).sum();
    let bucket = files.bucket;
    ensure!(
        found == expected,
        "bucket {bucket} has {expected} points, and its verdicts cover {found}: remove its files in the folder of results \
         and run again"
    );
    Ok(())
}

/// Removes all verdicts and states of a folder, and what interrupted runs left over. Other files stay.
pub fn forget(results: &Path) -> Result<()> {
    if !results.exists() {
        return Ok(());
    }
    for entry in std::fs::read_dir(results).with_context(|| format!("read {}", results.display()))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_result = [".verdicts.parquet", ".states.parquet"].iter().any(|end| name.contains(end));
        if is_result && name.trim_start_matches('.').starts_with("bucket=") {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// The folder of results of a fleet.
pub fn results_folder(folder: &Folder) -> PathBuf {
    folder.root.join("results")
}
