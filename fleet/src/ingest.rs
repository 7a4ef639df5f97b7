//! Reading metrics into the folder of a fleet: appending, repeatable, in bounded memory.
//!
//! Rows that cannot be used are written to `rejected/`, each with its reason; the rest of the input is used.

mod declared;
mod report;

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;

use crate::folder::{Folder, rename_durably, temporary_name};
use crate::merge::{Conflict, Inflow, Merged};
use crate::points::{HASH_START, METRICS, MetricPoint, hash_bytes};
use crate::volumes::FleetVolumes;

use declared::DeclaredColumns;

/// Options of `ingest`.
#[derive(Debug, Args)]
pub struct IngestOptions {
    /// Folder of the fleet; made if it does not exist
    pub folder: PathBuf,
    /// Metrics: CSV with --columns; otherwise files that `plimsoll demand` reads, such as responses of CloudWatch's
    /// get-metric-data and Prometheus' query_range as JSON
    pub files: Vec<PathBuf>,
    /// Columns of CSV files: FIELD=COLUMN, separated by commas. Fields: id, time, period (a column, or seconds), read_ops,
    /// write_ops, read_bytes, write_bytes, iops_exceeded, throughput_exceeded
    #[arg(long)]
    pub columns: Option<String>,
    /// Volumes with their configurations: CSV with the columns id, config, region, account, team
    #[arg(long)]
    pub inventory: Option<PathBuf>,
    /// Buckets of volumes of a new folder, the unit of parallel work
    #[arg(long, default_value_t = 16)]
    pub buckets: u32,
    /// Interval of the points in seconds, for files that do not state it
    #[arg(long)]
    pub interval: Option<u64>,
}

/// Result of an ingestion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ingested {
    /// Points.
    pub merged: Merged,
    /// Rows that were set aside, conflicts included.
    pub rejected: u64,
    /// Files without any usable row.
    pub refused_files: u64,
    /// Volumes of the fleet.
    pub volumes: usize,
    /// Volumes without a configuration.
    pub without_config: usize,
}

/// Reads files into a folder. `progress` gets a line for each file.
pub fn ingest(options: &IngestOptions, progress: &mut dyn FnMut(&str)) -> Result<Ingested> {
    let folder = Folder::open_or_create(&options.folder, options.buckets)?;
    let _lock = folder.lock()?;
    let columns = options.columns.as_deref().map(DeclaredColumns::parse).transpose()?;
    let mut volumes = FleetVolumes::open(&folder)?;
    if let Some(inventory) = &options.inventory {
        let count = volumes.read_inventory(inventory)?;
        volumes.save()?;
        progress(&format!("{}: {count} volumes", inventory.display()));
    }
    let mut result = Ingested::default();
    for path in &options.files {
        let mut input = Input::begin(&folder, &mut volumes, path);
        let read = match &columns {
            Some(columns) => declared::read(path, columns, &mut input),
            None => report::read(path, options.interval, &mut input),
        };
        // Points that were read before the fault stay.
        let finished = input.finish(&read)?;
        let merged = finished.merged;
        result.merged.added += merged.added;
        result.merged.present += merged.present;
        result.merged.conflicts += merged.conflicts;
        result.rejected += finished.rejected;
        let fault = read.err().map(|error| format!("; refused: {error:#}")).unwrap_or_default();
        result.refused_files += u64::from(!fault.is_empty());
        progress(&format!(
            "{}: {} points added, {} present, {} rows rejected{fault}",
            path.display(),
            merged.added,
            merged.present,
            finished.rejected
        ));
    }
    result.volumes = volumes.list.len();
    result.without_config = volumes.list.iter().filter(|volume| volume.config.is_empty()).count();
    Ok(result)
}

/// A file that is read.
struct Input<'a> {
    volumes: &'a mut FleetVolumes,
    inflow: Inflow<'a>,
    rejected: Rejected,
}

/// Counts of a file.
struct Finished {
    merged: Merged,
    rejected: u64,
}

impl<'a> Input<'a> {
    fn begin(folder: &'a Folder, volumes: &'a mut FleetVolumes, path: &Path) -> Self {
        Self { volumes, inflow: Inflow::new(folder), rejected: Rejected::of(folder, path) }
    }

    /// Adds a point of a volume.
    fn point(&mut self, id: &str, point: MetricPoint) -> Result<()> {
        let volume = self.volumes.number(id);
        if self.inflow.is_full() {
            // Numbers of volumes are durable before the points that refer to them.
            self.volumes.save()?;
            let conflicts = self.inflow.flush()?;
            self.reject_conflicts(&conflicts)?;
        }
        self.inflow.push(MetricPoint { volume, ..point })
    }

    /// Sets a row aside.
    fn reject(&mut self, line: u64, reason: &str, row: &str) -> Result<()> {
        self.rejected.add(line, reason, row)
    }

    fn reject_conflicts(&mut self, conflicts: &[Conflict]) -> Result<()> {
        for Conflict { point, reason } in conflicts {
            let id = &self.volumes.list[point.volume as usize].id;
            let metrics = METRICS.iter().zip(point.metrics);
            let metrics = metrics.filter_map(|(name, value)| Some(format!(" {name}={}", value?))).collect::<String>();
            let row = format!("id={id} ts={} period_s={}{metrics}", point.at, point.period);
            self.rejected.add(0, reason, &row)?;
        }
        Ok(())
    }

    fn finish(mut self, read: &Result<()>) -> Result<Finished> {
        self.volumes.save()?;
        let conflicts = self.inflow.flush()?;
        self.reject_conflicts(&conflicts)?;
        if let Err(error) = read {
            self.rejected.add(0, &format!("the rest of the file: {error:#}"), "")?;
        }
        Ok(Finished { merged: self.inflow.merged(), rejected: self.rejected.finish()? })
    }
}

/// The rejected rows of a file: a CSV file, which replaces that of an earlier reading of the same file.
struct Rejected {
    input: String,
    path: PathBuf,
    writer: Option<csv::Writer<File>>,
    count: u64,
}

/// Maximum characters of a rejected row.
const MAX_ROW: usize = 1_000;

impl Rejected {
    fn of(folder: &Folder, input: &Path) -> Self {
        let name = input.file_name().unwrap_or_default().to_string_lossy();
        let hash = hash_bytes(HASH_START, input.as_os_str().as_encoded_bytes());
        let path = folder.root.join(format!("rejected/{name}-{hash:016x}.csv"));
        Self { input: input.display().to_string(), path, writer: None, count: 0 }
    }

    fn add(&mut self, line: u64, reason: &str, row: &str) -> Result<()> {
        if self.writer.is_none() {
            let parent = self.path.parent().context("a file of rejected rows is in a folder")?;
            fs::create_dir_all(parent)?;
            let mut writer = csv::Writer::from_path(temporary_name(&self.path))?;
            writer.write_record(["input", "line", "reason", "row"])?;
            self.writer = Some(writer);
        }
        let row: String = row.chars().take(MAX_ROW).collect();
        let line = if line > 0 { line.to_string() } else { String::new() };
        self.count += 1;
        match &mut self.writer {
            Some(writer) => Ok(writer.write_record([&self.input, &line, reason, &row])?),
            None => Ok(()),
        }
    }

    fn finish(self) -> Result<u64> {
        match self.writer {
            Some(mut writer) => {
                writer.flush()?;
                let mut file = writer.into_inner().map_err(csv::IntoInnerError::into_error)?;
                file.flush()?;
                file.sync_all()?;
                rename_durably(&temporary_name(&self.path), &self.path)?;
            }
            None if self.path.exists() => fs::remove_file(&self.path)?,
            None => {}
        }
        Ok(self.count)
    }
}

impl Ingested {
    /// The answer.
    pub fn to_text(self, folder: &Path) -> String {
        let Merged { added, present, conflicts } = self.merged;
        let mut text = format!(
            "{added} points added, {present} were present, {} rows rejected ({conflicts} contradict others); {} volumes",
            self.rejected, self.volumes
        );
        if self.rejected > 0 {
            text.push_str(&format!("\nrejected rows with reasons: {}", folder.join("rejected").display()));
        }
        if self.refused_files > 0 {
            text.push_str(&format!("\nnote: {} files were not read to their end", self.refused_files));
        }
        if self.without_config > 0 {
            let count = self.without_config;
            text.push_str(&format!("\nnote: {count} volumes have no configuration: give one with --inventory"));
        }
        text.push_str(&format!("\nnext: plimsoll-fleet rightsize {}", folder.display()));
        text
    }
}
