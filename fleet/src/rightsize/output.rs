//! Answers as files: a page, a table as Parquet, CSV and JSON, totals of owners, and changes in the forms of providers.

use std::fs;
use std::sync::Arc;

use anyhow::{Context, Result};
use datafusion::arrow::array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray};
use serde::Serialize;

use super::totals::{TotalRow, totals_of};
use super::{Answer, Rightsized, forms, page};
use crate::folder::write_atomically;
use crate::replay::write_batch;

/// A row of the table as text; money in millionths.
#[derive(Serialize)]
struct AnswerRow<'a> {
    id: &'a str,
    account: &'a str,
    region: &'a str,
    team: &'a str,
    config: &'a str,
    action: String,
    throttled: bool,
    throttled_permille: i64,
    need_iops: i64,
    need_bytes_per_second: i64,
    cost_micros: Option<i64>,
    new_config: Option<&'a str>,
    new_cost_micros: Option<i64>,
    saving_micros: i64,
    new_delayed_permille: Option<i64>,
    risks: String,
    command: Option<&'a str>,
}

impl<'a> AnswerRow<'a> {
    fn of(answer: &'a Answer) -> Result<Self> {
        let volume = &answer.volume;
        let risks = answer.risks.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            id: &volume.id,
            account: &volume.account,
            region: &volume.region,
            team: &volume.team,
            config: &volume.config,
            action: serde_json::to_value(answer.action)?.as_str().unwrap_or_default().to_owned(),
            throttled: answer.throttled,
            throttled_permille: answer.throttled_permille,
            need_iops: answer.need_iops,
            need_bytes_per_second: answer.need_bytes_per_second,
            cost_micros: answer.cost_micros,
            new_config: answer.new_config.as_deref(),
            new_cost_micros: answer.new_cost_micros,
            saving_micros: answer.saving_micros,
            new_delayed_permille: answer.new_delayed_permille,
            risks: risks.join(" "),
            command: answer.command.as_deref(),
        })
    }
}

/// All answers as JSON.
#[derive(Serialize)]
struct AnswerDocument<'a> {
    format: &'static str,
    currency: &'a str,
    points: i64,
    totals: &'a [TotalRow<'a>],
    volumes: &'a [Answer],
    without_points: &'a [String],
}

/// Writes all files.
pub fn write(rightsized: &Rightsized) -> Result<()> {
    let out = &rightsized.out;
    fs::create_dir_all(out).with_context(|| format!("create {}", out.display()))?;
    let rows = rightsized.answers.iter().map(AnswerRow::of).collect::<Result<Vec<_>>>()?;
    let mut table = csv::Writer::from_writer(Vec::new());
    for row in &rows {
        table.serialize(row)?;
    }
    write_atomically(&out.join("verdicts.csv"), &table.into_inner()?)?;
    write_batch(&out.join("verdicts.parquet"), &batch_of(&rows)?)?;
    let totals = totals_of(&rightsized.answers);
    let document = AnswerDocument {
        format: "plimsoll.fleet/1",
        currency: &rightsized.currency,
        points: rightsized.points,
        totals: &totals,
        volumes: &rightsized.answers,
        without_points: &rightsized.without_points,
    };
    write_atomically(&out.join("verdicts.json"), &serde_json::to_vec_pretty(&document)?)?;
    // Rows by hand: the writer of CSV does not flatten.
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(["by", "name", "volumes", "throttled", "cost_micros", "saving_micros", "raise_micros"])?;
    for TotalRow { by, name, total } in &totals {
        let sums = [total.volumes, total.throttled, total.cost_micros, total.saving_micros, total.raise_micros];
        let sums = sums.map(|sum| sum.to_string());
        table.write_record([(*by).to_owned(), (*name).to_owned()].iter().chain(&sums))?;
    }
    write_atomically(&out.join("totals.csv"), &table.into_inner()?)?;
    let mut commands = String::from("# Changes of volumes. Read each line before it is run.\n");
    for row in &rows {
        if let Some(command) = row.command {
            commands.push_str(&format!("{command}\n"));
        }
    }
    write_atomically(&out.join("commands.sh"), commands.as_bytes())?;
    forms::write(rightsized)?;
    if let Some(comparison) = &rightsized.comparison {
        comparison.write(&out.join("compute-optimizer.csv"))?;
    }
    let html = plimsoll_report::page_html(&page::page_of(rightsized, &totals));
    write_atomically(&out.join("rightsize.html"), html.as_bytes())
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
        ("action", text(|row| Some(row.action.clone()))),
        ("throttled", Arc::new(throttled)),
        ("throttled_permille", number(|row| Some(row.throttled_permille))),
        ("need_iops", number(|row| Some(row.need_iops))),
        ("need_bytes_per_second", number(|row| Some(row.need_bytes_per_second))),
        ("cost_micros", number(|row| row.cost_micros)),
        ("new_config", text(|row| row.new_config.map(str::to_owned))),
        ("new_cost_micros", number(|row| row.new_cost_micros)),
        ("saving_micros", number(|row| Some(row.saving_micros))),
        ("new_delayed_permille", number(|row| row.new_delayed_permille)),
        ("risks", text(|row| Some(row.risks.clone()))),
        ("command", text(|row| row.command.map(str::to_owned))),
    ];
    Ok(RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true)))?)
}
