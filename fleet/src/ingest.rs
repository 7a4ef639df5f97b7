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

use crate::folder::{Folder, remove_leftovers, rename_durably, temporary_name};
use crate::merge::{Conflict, Conflicts, Inflow, Merged};
use crate::points::{HASH_START, METRICS, MetricPoint, hash_bytes};
use crate::runs::InputPoint;
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
    /// Points in memory; those of larger inputs wait in temporary files
    #[arg(long, hide = true, default_value_t = 1_500_000)]
    pub max_buffered: usize,
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
    for written in [folder.root.clone(), folder.root.join("rejected")] {
        if written.exists() {
            remove_leftovers(&written)?;
        }
    }
    let columns = options.columns.as_deref().map(DeclaredColumns::parse).transpose()?;
    let mut volumes = FleetVolumes::open(&folder)?;
    if let Some(inventory) = &options.inventory {
        let count = volumes.read_inventory(inventory)?;
        volumes.save()?;
        progress(&format!("{}: {count} volumes", inventory.display()));
    }
    let (mut result, mut inflow) = (Ingested::default(), Inflow::new(&folder, options.max_buffered)?);
    for (number, path) in (0..).zip(&options.files) {
        let rejected = Rejected::of_file(&folder, path);
        let mut input = Input { volumes: &mut volumes, inflow: &mut inflow, number, read: 0, rejected };
        let read = match &columns {
            Some(columns) => declared::read(path, columns, &mut input),
            None => report::read(path, options.interval, &mut input),
        };
        // Points that were read before the fault stay.
        let fault = read.err().map(|error| format!("{error:#}"));
        if let Some(fault) = &fault {
            input.reject(0, &format!("the rest of the file: {fault}"), "")?;
        }
        let (read, rejected) = (input.read, input.rejected.finish()?);
        result.rejected += rejected;
        result.refused_files += u64::from(fault.is_some());
        let fault = fault.map(|fault| format!("; refused: {fault}")).unwrap_or_default();
        progress(&format!("{}: {read} points, {rejected} rows rejected{fault}", path.display()));
    }
    // Numbers of volumes are durable before the points that refer to them.
    volumes.save()?;
    let mut contradictions = Rejected::of_contradictions(&folder, &options.files);
    result.merged =
        inflow.finish(&mut |conflicts| contradictions.add_conflicts(conflicts, &options.files, &volumes))?;
    contradictions.finish()?;
    result.rejected += result.merged.conflicts;
    result.volumes = volumes.list.len();
    result.without_config = volumes.list.iter().filter(|volume| volume.config.is_empty()).count();
    Ok(result)
}

/// A file that is read.
struct Input<'a, 'f> {
    volumes: &'a mut FleetVolumes,
    inflow: &'a mut Inflow<'f>,
    number: u32,
    /// Points so far.
    read: u64,
    rejected: Rejected,
}

impl Input<'_, '_> {
    /// Adds a point of a volume.
    fn point(&mut self, id: &str, point: MetricPoint) -> Result<()> {
        let volume = self.volumes.number(id);
        self.read += 1;
        self.inflow.push(InputPoint { point: MetricPoint { volume, ..point }, input: self.number })
    }

    /// Sets a row aside.
    fn reject(&mut self, line: u64, reason: &str, row: &str) -> Result<()> {
        self.rejected.add(line, reason, row)
    }
}

/// Rejected rows: a CSV file, which replaces that of an earlier reading of the same files.
struct Rejected {
    input: String,
    path: PathBuf,
    writer: Option<csv::Writer<File>>,
    count: u64,
}

/// Maximum characters of a rejected row.
const MAX_ROW: usize = 1_000;

impl Rejected {
    fn of_file(folder: &Folder, input: &Path) -> Self {
        let name = input.file_name().unwrap_or_default().to_string_lossy();
        let hash = hash_bytes(HASH_START, input.as_os_str().as_encoded_bytes());
        Self::new(folder, &format!("{name}-{hash:016x}"), input.display().to_string())
    }

    /// Points of all files that contradict each other or the fleet.
    fn of_contradictions(folder: &Folder, inputs: &[PathBuf]) -> Self {
        let paths = inputs.iter().map(|path| path.as_os_str().as_encoded_bytes());
        let hash = paths.fold(HASH_START, |hash, path| hash_bytes(hash_bytes(hash, path), b"\n"));
        Self::new(folder, &format!("contradictions-{hash:016x}"), String::new())
    }

    fn new(folder: &Folder, name: &str, input: String) -> Self {
        Self { input, path: folder.root.join(format!("rejected/{name}.csv")), writer: None, count: 0 }
    }

    fn add_conflicts(&mut self, conflicts: &Conflicts, inputs: &[PathBuf], volumes: &FleetVolumes) -> Result<()> {
        for Conflict { entry: InputPoint { point, input }, reason } in &conflicts.listed {
            let id = &volumes.list[point.volume as usize].id;
            let metrics = METRICS.iter().zip(point.metrics);
            let metrics = metrics.filter_map(|(name, value)| Some(format!(" {name}={}", value?))).collect::<String>();
            let row = format!("id={id} ts={} period_s={}{metrics}", point.at, point.period);
            self.input = inputs.get(*input as usize).map(|path| path.display().to_string()).unwrap_or_default();
            self.add(0, reason, &row)?;
        }
        if conflicts.others > 0 {
            self.input = String::new();
            self.add(0, &format!("{} more points that contradict others", conflicts.others), "")?;
        }
        Ok(())
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
        if self.without_config > 0 {
            let count = self.without_config;
            text.push_str(&format!("\nnote: {count} volumes have no configuration: give one with --inventory"));
        }
        text.push_str(&format!("\nnext: plimsoll-fleet rightsize {}", folder.display()));
        text
    }
}
