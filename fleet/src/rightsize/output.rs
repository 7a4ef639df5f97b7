//! Answers as files: a page, a table as Parquet, CSV and JSON, totals of owners, and changes in the forms of providers.
//!
//! Tables are written while the answers pass through, so that their number is not bound by memory.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use datafusion::arrow::array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray};
use plimsoll_catalogue::Offer;
use serde::Serialize;

use super::forms::{ChangeForms, FormFiles};
use super::optimizer::{EbsVolume, OptimizerComparison};
use super::summary::{Summary, TotalRow};
use super::{Answer, page};
use crate::folder::{AtomicFile, remove_leftovers, write_atomically};
use crate::records::{Scratch, SortedRecords};
use crate::replay::TableFile;
use crate::volumes::finish_table;

/// Answers that are written at a time.
const ROWS_OF_BATCH: usize = 4_096;
/// Rows of a row group of Parquet, which is in memory while it is written.
const ROWS_OF_GROUP: usize = 32_768;

/// An answer after its check.
pub struct FinalAnswer {
    /// The answer.
    pub answer: Answer,
    /// The proposal as a volume of EBS.
    pub proposed: Option<EbsVolume>,
    json: Vec<u8>,
    risks: String,
    forms: ChangeForms,
}

impl FinalAnswer {
    /// An answer with its proposed offer.
    pub fn of(answer: Answer, best: Option<&Offer>) -> Result<Self> {
        let risks = answer.risks.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            json: serde_json::to_vec(&answer)?,
            risks: risks.join(" "),
            forms: best.map(|best| ChangeForms::of(&answer, best)).unwrap_or_default(),
            proposed: best.and_then(EbsVolume::of),
            answer,
        })
    }
}

/// A row of the table as text; money in millionths.
#[derive(Serialize)]
struct AnswerRow<'a> {
    id: &'a str,
    account: &'a str,
    region: &'a str,
    team: &'a str,
    config: &'a str,
    action: &'static str,
    throttled: bool,
    throttled_permille: i64,
    need_iops: i64,
    need_bytes_per_second: i64,
    cost_micros: Option<i64>,
    new_config: Option<&'a str>,
    new_cost_micros: Option<i64>,
    saving_micros: i64,
    new_delayed_permille: Option<i64>,
    risks: &'a str,
    command: Option<&'a str>,
}

impl<'a> AnswerRow<'a> {
    fn of(row: &'a FinalAnswer) -> Self {
        let FinalAnswer { answer, risks, .. } = row;
        let volume = &answer.volume;
        Self {
            id: &volume.id,
            account: &volume.account,
            region: &volume.region,
            team: &volume.team,
            config: &volume.config,
            action: answer.action.name(),
            throttled: answer.throttled,
            throttled_permille: answer.throttled_permille,
            need_iops: answer.need_iops,
            need_bytes_per_second: answer.need_bytes_per_second,
            cost_micros: answer.cost_micros,
            new_config: answer.new_config.as_deref(),
            new_cost_micros: answer.new_cost_micros,
            saving_micros: answer.saving_micros,
            new_delayed_permille: answer.new_delayed_permille,
            risks,
            command: answer.command.as_deref(),
        }
    }
}

/// The files of answers, which appear when they are finished.
pub struct AnswerFiles<'a> {
    table: csv::Writer<AtomicFile>,
    parquet: TableFile,
    json: JsonFile,
    commands: AtomicFile,
    forms: FormFiles<'a>,
    summary: Summary,
    buffer: Vec<FinalAnswer>,
}

impl<'a> AnswerFiles<'a> {
    /// Begins the files in a folder, which is made if it does not exist.
    pub fn create(out: &Path, currency: &str, points: i64, scratch: &'a Scratch) -> Result<Self> {
        fs::create_dir_all(out).with_context(|| format!("create {}", out.display()))?;
        remove_leftovers(out)?;
        let schema = batch_of(&[])?.schema();
        let mut commands = AtomicFile::create(&out.join("commands.sh"))?;
        commands.write_all(b"# Changes of volumes. Read each line before it is run.\n")?;
        Ok(Self {
            table: csv::Writer::from_writer(AtomicFile::create(&out.join("verdicts.csv"))?),
            parquet: TableFile::create(&out.join("verdicts.parquet"), schema, ROWS_OF_GROUP)?,
            json: JsonFile::create(&out.join("verdicts.json"), currency, points)?,
            commands,
            forms: FormFiles::new(out, scratch),
            summary: Summary::new(currency, points, out),
            buffer: Vec::new(),
        })
    }

    /// Adds an answer, in the order of volumes.
    pub fn push(&mut self, mut row: FinalAnswer) -> Result<()> {
        self.summary.add(&row.answer);
        self.json.push(&row.json)?;
        if let Some(command) = &row.answer.command {
            writeln!(self.commands, "{command}")?;
        }
        self.forms.push(&row.answer, std::mem::take(&mut row.forms))?;
        self.buffer.push(row);
        if self.buffer.len() == ROWS_OF_BATCH { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<()> {
        let rows: Vec<AnswerRow<'_>> = self.buffer.iter().map(AnswerRow::of).collect();
        for row in &rows {
            self.table.serialize(row)?;
        }
        self.parquet.write(&batch_of(&rows)?)?;
        self.buffer.clear();
        Ok(())
    }

    /// Puts the files into place, with those of the sums.
    pub fn finish(mut self, without_points: SortedRecords, comparison: Option<OptimizerComparison>) -> Result<Summary> {
        self.write()?;
        finish_table(self.table)?;
        self.parquet.finish()?;
        self.commands.finish()?;
        self.forms.finish()?;
        let mut summary = self.summary;
        summary.comparison = comparison;
        summary.without_points = self.json.finish(without_points, &summary)?;
        write_totals(&summary)?;
        let html = plimsoll_report::page_html(&page::page_of(&summary));
        write_atomically(&summary.out.join("rightsize.html"), html.as_bytes())?;
        Ok(summary)
    }
}

/// Rows by hand: the writer of CSV does not flatten.
fn write_totals(summary: &Summary) -> Result<()> {
    let mut table = csv::Writer::from_writer(AtomicFile::create(&summary.out.join("totals.csv"))?);
    table.write_record(["by", "name", "volumes", "throttled", "cost_micros", "saving_micros", "raise_micros"])?;
    for TotalRow { by, name, total } in summary.totals() {
        let sums = [total.volumes, total.throttled, total.cost_micros, total.saving_micros, total.raise_micros];
        let sums = sums.map(|sum| sum.to_string());
        table.write_record([by, name].into_iter().chain(sums.iter().map(String::as_str)))?;
    }
    finish_table(table)
}

/// All answers as JSON, an answer in each line.
struct JsonFile {
    file: AtomicFile,
    is_first: bool,
}

impl JsonFile {
    fn create(path: &Path, currency: &str, points: i64) -> Result<Self> {
        let mut file = AtomicFile::create(path)?;
        let currency = serde_json::to_string(currency)?;
        write!(
            file,
            "{{\n\"format\": \"plimsoll.fleet/1\",\n\"currency\": {currency},\n\"points\": {points},\n\"volumes\": ["
        )?;
        Ok(Self { file, is_first: true })
    }

    /// Adds an item of the present array.
    fn push(&mut self, json: &[u8]) -> Result<()> {
        self.file.write_all(if self.is_first { &b"\n"[..] } else { &b",\n"[..] })?;
        self.is_first = false;
        Ok(self.file.write_all(json)?)
    }

    fn next_array(&mut self, name: &str) -> Result<()> {
        self.is_first = true;
        Ok(write!(self.file, "\n],\n\"{name}\": [")?)
    }

    /// Puts the file into place. Returns the number of volumes without points.
    fn finish(mut self, without_points: SortedRecords, summary: &Summary) -> Result<usize> {
        self.next_array("without_points")?;
        let mut count = 0;
        for volume in without_points {
            let id = String::from_utf8(volume?.value)?;
            self.push(&serde_json::to_vec(&id)?)?;
            count += 1;
        }
        self.next_array("totals")?;
        for total in summary.totals() {
            self.push(&serde_json::to_vec(&total)?)?;
        }
        self.file.write_all(b"\n]\n}\n")?;
        self.file.finish()?;
        Ok(count)
    }
}

fn batch_of(rows: &[AnswerRow<'_>]) -> Result<RecordBatch> {
    let text =
        |of: fn(&AnswerRow<'_>) -> Option<String>| Arc::new(rows.iter().map(of).collect::<StringArray>()) as ArrayRef;
    let number =
        |of: fn(&AnswerRow<'_>) -> Option<i64>| Arc::new(rows.iter().map(of).collect::<Int64Array>()) as ArrayRef;
    let throttled = rows.iter().map(|row| Some(row.throttled)).collect::<BooleanArray>();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", text(|row| Some(row.id.to_owned()))),
        ("account", text(|row| Some(row.account.to_owned()))),
        ("region", text(|row| Some(row.region.to_owned()))),
        ("team", text(|row| Some(row.team.to_owned()))),
        ("config", text(|row| Some(row.config.to_owned()))),
        ("action", text(|row| Some(row.action.to_owned()))),
        ("throttled", Arc::new(throttled)),
        ("throttled_permille", number(|row| Some(row.throttled_permille))),
        ("need_iops", number(|row| Some(row.need_iops))),
        ("need_bytes_per_second", number(|row| Some(row.need_bytes_per_second))),
        ("cost_micros", number(|row| row.cost_micros)),
        ("new_config", text(|row| row.new_config.map(str::to_owned))),
        ("new_cost_micros", number(|row| row.new_cost_micros)),
        ("saving_micros", number(|row| Some(row.saving_micros))),
        ("new_delayed_permille", number(|row| row.new_delayed_permille)),
        ("risks", text(|row| Some(row.risks.to_owned()))),
        ("command", text(|row| row.command.map(str::to_owned))),
    ];
    Ok(RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true)))?)
}
