//! Reading metrics into the folder of a fleet: appending, repeatable, in bounded memory.
//!
//! Rows that cannot be used are written to `rejected/`, each with its reason; the rest of the input is used.

mod batch;
mod blocks;
mod declared;
mod parts;
mod report;

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, Result};
use clap::Args;
use plimsoll_ingest::time_in_utc;
use plimsoll_units::Span;

use crate::folder::{Folder, remove_leftovers, rename_durably, temporary_name};
use crate::merge::{Conflict, Conflicts, Inflow, Merged};
use crate::parallel::map_in_order;
use crate::points::{HASH_START, METRICS, MetricPoint, hash_bytes};
use crate::runs::InputPoint;
use crate::volumes::FleetVolumes;

use batch::{Batch, RejectedRow};
use declared::DeclaredColumns;
use parts::{InputPart, InputParts, PartContent};
use report::ReportReader;

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
    /// Time of the first sample, for files without times, such as iostat without -t
    #[arg(long)]
    pub begin: Option<String>,
    /// Volume of files that name none, such as statistics of a database: the one that holds its files
    #[arg(long)]
    pub volume: Option<String>,
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
    /// Values that were rates, and became sums.
    pub rates: u64,
    /// Volumes of the fleet.
    pub volumes: usize,
    /// Volumes without a configuration.
    pub without_config: usize,
}

/// Reads files into a folder. `progress` gets lines for each file.
pub fn ingest(options: &IngestOptions, progress: &mut dyn FnMut(&str)) -> Result<Ingested> {
    let columns = options.columns.as_deref().map(DeclaredColumns::parse).transpose()?;
    let reports = report_reader(options)?;
    let folder = Folder::open_or_create(&options.folder, options.buckets)?;
    let _lock = folder.lock()?;
    for written in [folder.root.clone(), folder.root.join("rejected")] {
        if written.exists() {
            remove_leftovers(&written)?;
        }
    }
    let mut volumes = FleetVolumes::open(&folder)?;
    if let Some(inventory) = &options.inventory {
        let count = volumes.read_inventory(inventory)?;
        volumes.save()?;
        progress(&format!("{}: {count} volumes", inventory.display()));
    }
    let mut inflow = Inflow::new(&folder, options.max_buffered)?;
    let mut sink = PointSink {
        folder: &folder,
        files: &options.files,
        volumes: &mut volumes,
        inflow: &mut inflow,
        progress,
        result: Ingested::default(),
        current: None,
    };
    let parts = InputParts::new(&options.files, columns.as_ref());
    map_in_order(parts, |part| read_part(part, options, &reports), |batch| sink.take(batch))?;
    sink.finish_file()?;
    let mut result = sink.result;
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

fn report_reader(options: &IngestOptions) -> Result<ReportReader> {
    let begin = options.begin.as_deref().map(|text| {
        time_in_utc(text, None).with_context(|| format!("--begin {text:?} is no time: write 2026-01-31T12:00:00Z"))
    });
    let interval = options.interval.map(Span::from_secs);
    Ok(ReportReader { begin: begin.transpose()?, interval, volume: options.volume.clone(), large: Mutex::new(()) })
}

fn read_part(part: InputPart, options: &IngestOptions, reports: &ReportReader) -> Batch {
    let mut batch = Batch::of_file(part.file);
    match part.content {
        PartContent::Rows(columns, block) => declared::read(&block, &columns, &mut batch),
        PartContent::Report => {
            // Points that were read before the fault stay.
            let read = reports.read(&options.files[part.file], &mut batch);
            batch.fault = read.err().map(|error| format!("{error:#}"));
        }
        PartContent::Fault(fault) => batch.fault = Some(fault),
    }
    batch
}

/// Points of a file before a line of progress.
const PROGRESS_POINTS: u64 = 10_000_000;

/// The destination of all batches, in the order of the input.
struct PointSink<'a, 'f> {
    folder: &'a Folder,
    files: &'a [PathBuf],
    volumes: &'a mut FleetVolumes,
    inflow: &'a mut Inflow<'f>,
    progress: &'a mut dyn FnMut(&str),
    result: Ingested,
    current: Option<CurrentFile>,
}

struct CurrentFile {
    number: usize,
    /// Points so far.
    read: u64,
    rejected: Rejected,
    notes: Vec<String>,
    fault: Option<String>,
}

impl PointSink<'_, '_> {
    fn take(&mut self, batch: Batch) -> Result<()> {
        if self.current.as_ref().is_some_and(|current| current.number != batch.file) {
            self.finish_file()?;
        }
        let path = &self.files[batch.file];
        let current = self.current.get_or_insert_with(|| CurrentFile {
            number: batch.file,
            read: 0,
            rejected: Rejected::of_file(self.folder, path),
            notes: Vec::new(),
            fault: None,
        });
        let numbers: Vec<u32> =
            batch.volumes.iter().map(|volume| self.volumes.number(&volume.id, &volume.name)).collect();
        let before = current.read / PROGRESS_POINTS;
        current.read += batch.points.len() as u64;
        for point in batch.points {
            let volume = numbers[point.volume as usize];
            self.inflow.push(InputPoint { point: MetricPoint { volume, ..point }, input: batch.file as u32 })?;
        }
        for RejectedRow { line, reason, row } in &batch.rejected {
            current.rejected.add(*line, reason, row)?;
        }
        if current.read / PROGRESS_POINTS > before {
            (self.progress)(&format!("{}: {} points so far", path.display(), current.read));
        }
        self.result.rates += batch.rates;
        current.notes.extend(batch.notes);
        current.fault = current.fault.take().or(batch.fault);
        Ok(())
    }

    fn finish_file(&mut self) -> Result<()> {
        let Some(mut current) = self.current.take() else { return Ok(()) };
        if let Some(fault) = &current.fault {
            current.rejected.add(0, &format!("the rest of the file: {fault}"), "")?;
        }
        let rejected = current.rejected.finish()?;
        self.result.rejected += rejected;
        self.result.refused_files += u64::from(current.fault.is_some());
        let fault = current.fault.map(|fault| format!("; refused: {fault}")).unwrap_or_default();
        let (path, read) = (self.files[current.number].display(), current.read);
        (self.progress)(&format!("{path}: {read} points, {rejected} rows rejected{fault}"));
        for note in current.notes {
            (self.progress)(&format!("{path}: note: {note}"));
        }
        Ok(())
    }
}

/// Rejected rows: a CSV file, which replaces that of an earlier reading of the same files.
struct Rejected {
    input: String,
    path: PathBuf,
    writer: Option<csv::Writer<File>>,
    count: u64,
}

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
        let line = if line > 0 { line.to_string() } else { String::new() };
        self.count += 1;
        match &mut self.writer {
            Some(writer) => Ok(writer.write_record([&*self.input, &*line, reason, row])?),
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
        if self.rates > 0 {
            let count = self.rates;
            text.push_str(&format!(
                "\nnote: {count} values were rates: sums of their windows, in whole operations and bytes"
            ));
        }
        if self.without_config > 0 {
            let count = self.without_config;
            text.push_str(&format!("\nnote: {count} volumes have no configuration: give one with --inventory"));
        }
        text.push_str(&format!("\nnext: plimsoll-fleet rightsize {}", folder.display()));
        text
    }
}
