//! The CSV that the console of `CloudWatch` downloads: a column for each metric, with rows about the metrics above the
//! samples.
//!
//! The order of those rows is not documented: they are recognised by their names. Inferred from the console's own labels.

use plimsoll_units::Span;

use super::{MetricSeries, Volumes, at_of, cap_owner, cap_scope, cloudwatch_metric, is_total, maximum, volume};
use crate::builder::Builder;
use crate::form::{Form, FormatInput, Head, Resemblance};
use crate::reading::{Doubt, Fate, Origin, ReadingScope};
use crate::refusal::Refusal;
use crate::sampled::Meaning;
use crate::text::table::cells;
use crate::text::{self, timestamp};

/// Downloads of the console.
pub(crate) const FORM: Form = Form::document("cloudwatch-csv", "CloudWatch metrics (CSV)", resembles, read);

/// Names of rows about the metrics, in lower case.
const NAMES: [&str; 9] =
    ["full label", "label", "metric name", "namespace", "statistic", "stat", "period", "region", "volumeid"];

fn resembles(head: &Head<'_>) -> Resemblance {
    let firsts =
        head.text().lines().take(40).filter_map(|line| cells(line, ',').next().map(|cell| cell.trim().to_lowercase()));
    // Keys of JSON are such names, too.
    let count = if head.begins(b"{[") { 0 } else { firsts.filter(|first| NAMES.contains(&first.as_str())).count() };
    Resemblance::is(7, count >= 2).or_near(2, count == 1 && head.has("AWS/"), "rows about its metrics")
}

/// The description of a column, from the rows above the samples.
#[derive(Default)]
struct Described {
    label: String,
    /// Its statistic; empty if it has none.
    statistic: String,
    period: Option<Span>,
}

fn read(input: &FormatInput, document: &[u8], out: &mut Builder) -> Result<(), Refusal> {
    let text = String::from_utf8_lossy(document);
    let mut columns: Vec<Described> = Vec::new();
    let mut points: Vec<Vec<_>> = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let fields: Vec<String> = cells(line, ',').map(|cell| cell.trim().to_owned()).collect();
        let Some((first, values)) = fields.split_first() else { continue };
        columns.resize_with(columns.len().max(values.len()), Described::default);
        points.resize_with(columns.len(), Vec::new);
        let stamp = first.parse().ok().and_then(timestamp::of_unix).or_else(|| at_of(&first.as_str().into(), out));
        let Some(at) = stamp else {
            for (column, value) in columns.iter_mut().zip(values) {
                describe(column, &first.to_lowercase(), value);
            }
            continue;
        };
        for (index, value) in values.iter().enumerate() {
            if let Some(value) = text::parse_decimal(value) {
                points[index].push((at, value, number));
            }
        }
    }
    let mut volumes = Volumes::default();
    for (column, points) in columns.iter().zip(points) {
        take(&mut volumes, column, &points, out);
    }
    let length = columns.iter().find_map(|column| column.period);
    volumes.find_other_statistics("the statistic Sum");
    volumes.put(length, input.interval, out)
}

fn describe(column: &mut Described, name: &str, value: &str) {
    match name {
        "statistic" | "stat" => value.clone_into(&mut column.statistic),
        "period" => {
            column.period = text::parse_seconds(value, 1.0).filter(|seconds| *seconds > 0.0).map(Span::from_secs_f64);
        }
        "region" | "namespace" | "account id" | "account" => {}
        _ if value.is_empty() || column.label.contains(value) => {}
        _ => {
            column.label.push(' ');
            column.label.push_str(value);
        }
    }
}

fn take(volumes: &mut Volumes, column: &Described, points: &[(jiff::civil::DateTime, f64, u64)], out: &mut Builder) {
    let label = column.label.trim();
    let Some((name, metric)) = cloudwatch_metric(label) else {
        let values = |out: &mut Builder| {
            let origin = |line, out: &mut Builder| Origin { line, table: None, field: out.text(label) };
            points.iter().map(|(at, value, line)| (*at, *value, origin(*line, out))).collect()
        };
        let (owner, scope) = (cap_owner(label), |out: &mut Builder| cap_scope(label, out));
        if !label.is_empty() && !volumes.add_cap((label, &owner), scope, values, out) {
            volumes.ignore(label);
        }
        return;
    };
    let is_sum = matches!(metric.meaning, Meaning::Sum(_));
    let meaning = match (is_sum, column.statistic.to_lowercase().as_str()) {
        (true, "sum" | "") | (false, "average" | "") => metric.meaning,
        (true, _) => {
            let doubt = Doubt::StatisticOfCounts { label: label.to_owned(), statistic: column.statistic.clone() };
            if is_total(&metric.meaning) {
                volumes.unknown_sum.get_or_insert(doubt.clone());
            }
            out.caution(None, doubt);
            return out.part(label, Fate::Broken);
        }
        (false, "maximum") => maximum(&metric.meaning).unwrap_or(metric.meaning),
        (false, _) => return volumes.ignore(label),
    };
    let scope = out.scope(ReadingScope { part: volume(label, &name), ..ReadingScope::default() });
    let points = points.iter().map(|(at, value, line)| {
        let origin = Origin { line: *line, table: None, field: out.text(label) };
        (*at, value * metric.unit, origin)
    });
    let points = points.collect();
    volumes.add(MetricSeries { name: label.to_owned(), scope, meaning, points });
}
