//! Activity of volumes between two readings of their counters.

use std::collections::BTreeMap;

use plimsoll_api::{Stats, Volume};
use plimsoll_language::{label, say};
use plimsoll_units::Span;

use crate::page::{Cell, Column, ColumnKind, Page, Table};
use crate::words::product_text;
use crate::words::volume::{name_fidelity, time};

/// Volumes with their counters, by name.
pub type VolumeView = BTreeMap<String, (Volume, Stats)>;

/// Columns of a limit's name.
const LIMIT: usize = 26;

const fn figures(name: &'static str, unit: &'static str, priority: u8) -> Column {
    Column::new(name, unit, ColumnKind::Share, priority)
}

const fn words(name: &'static str, priority: u8) -> Column {
    Column::new(name, "", ColumnKind::Text, priority)
}

fn columns() -> [Column; 11] {
    [
        words(label!("volume"), 0),
        words(label!("like"), 4),
        figures(label!("answers"), "IOPS", 0),
        figures(label!("read"), "MB/s", 3),
        figures(label!("written"), "MB/s", 3),
        figures("p50", "ms", 0),
        figures("p99", "ms", 0),
        figures(label!("in flight"), "", 2),
        figures(label!("late p99"), "us", 1),
        words(label!("binds"), 0),
        words(label!("faithful"), 0),
    ]
}

/// A row for each volume: its activity between two readings that are `apart` seconds of the model's time.
pub fn activity(before: &VolumeView, after: &VolumeView, apart: f64, slow: u32) -> Page {
    let existing = after.iter().filter_map(|(name, now)| Some((before.get(name)?, now)));
    let rows: Vec<_> = existing.map(|((_, then), (volume, now))| build_row(volume, then, now, apart)).collect();
    let mut notes = vec![label!("emulated; response times of the last second that had answers").to_owned()];
    notes.extend(Some(time(slow)).filter(|text| !text.is_empty()));
    let rows = rows.into_iter().map(|row| row.into_iter().map(Cell::from).collect()).collect();
    let table = Table {
        label: label!("Activity of volumes").into(),
        columns: columns().to_vec(),
        rows,
        notes,
        ..Table::default()
    };
    Page::of_table(table, label!("no volumes"))
}

fn build_row(volume: &Volume, then: &Stats, now: &Stats, apart: f64) -> Vec<String> {
    let moved = |kind: &str| per_second(bytes(now, kind).saturating_sub(bytes(then, kind)), apart) / 1e6;
    let answered = ops(now).saturating_sub(ops(then));
    let none = || "–".to_owned();
    let last = now.last.as_ref().filter(|_| answered > 0);
    let ms = |ns: u64| format!("{:.3}", Span::from_nanos(ns).as_millis_f64());
    let verdict = match (last, now.last.as_ref()) {
        (Some(last), _) if last.verdict == "faithful" => label!("yes").into(),
        (Some(last), _) => say!("NO: {}", name_fidelity(&last.verdict)),
        (None, Some(_)) => label!("idle").into(),
        (None, None) => none(),
    };
    vec![
        volume.name.clone(),
        volume.like.clone(),
        format!("{:.0}", per_second(answered, apart)),
        format!("{:.1}", moved("read")),
        format!("{:.1}", moved("write")),
        last.map_or_else(none, |last| ms(last.p50_ns)),
        last.map_or_else(none, |last| ms(last.p99_ns)),
        now.in_flight.to_string(),
        last.map_or_else(none, |last| format!("{:.0}", last.late_p99_ns as f64 / 1e3)),
        binding(then, now).map_or_else(none, |limit| short(&product_text(&limit))),
        verdict,
    ]
}

/// The limit that held most replies in between.
fn binding(then: &Stats, now: &Stats) -> Option<String> {
    let before = |limit: &str| then.bound_by.iter().find(|bound| bound.limit == limit).map_or(0, |bound| bound.count);
    let sustained = now.bound_by.iter().map(|bound| (bound.count.saturating_sub(before(&bound.limit)), &bound.limit));
    sustained.filter(|(count, _)| *count > 0).max_by_key(|(count, _)| *count).map(|(_, limit)| limit.clone())
}

/// A limit's name, cut to the width of its column.
fn short(limit: &str) -> String {
    if limit.chars().count() <= LIMIT {
        return limit.to_owned();
    }
    limit.chars().take(LIMIT - 1).chain(['…']).collect()
}

fn ops(stats: &Stats) -> u64 {
    stats.counts.iter().map(|count| count.ops + count.errors).sum()
}

fn bytes(stats: &Stats, kind: &str) -> u64 {
    stats.counts.iter().filter(|count| count.kind == kind).map(|count| count.bytes).sum()
}

fn per_second(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use plimsoll_api::{BoundCount, KindCount, Period};
    use plimsoll_language::Language;

    use super::*;
    use crate::{TextStyle, page_text};

    fn observe(ops: u64, sustained: u64) -> VolumeView {
        let stats = Stats {
            counts: vec![KindCount { kind: "read".into(), ops, bytes: ops * 8_192, ..KindCount::default() }],
            bound_by: vec![
                BoundCount { limit: "link".into(), count: 90 },
                BoundCount { limit: "IOPS".into(), count: sustained },
            ],
            last: Some(Period {
                p50_ns: 10_670_000,
                p99_ns: 10_900_000,
                late_p99_ns: 41_000,
                verdict: "faithful".into(),
                ..Period::default()
            }),
            in_flight: 32,
            ..Stats::default()
        };
        let volume = Volume { name: "data".into(), like: "limit(3000)".into(), ..Volume::default() };
        VolumeView::from([("data".into(), (volume, stats))])
    }

    #[test]
    fn rates_are_those_between_two_readings() {
        let style = TextStyle { width: 120, ..TextStyle::default() };
        let text = page_text(&activity(&observe(1_000, 5), &observe(4_000, 20), 1.0, 1), &style);
        let row = text.lines().nth(2).unwrap();
        let cells: Vec<_> = row.split_whitespace().collect();
        let expected = ["data", "limit(3000)", "3000", "24.6", "0.0", "10.670", "10.900", "32", "41", "IOPS", "yes"];
        assert_eq!(cells, expected);
        let row = || {
            build_row(&observe(4_000, 20)["data"].0, &observe(1_000, 5)["data"].1, &observe(4_000, 20)["data"].1, 1.0)
        };
        let is_figure = |cell: &String| cell.parse::<f64>().is_ok();
        let figures = |language: Language| language.scope(row).into_iter().filter(is_figure).collect::<Vec<_>>();
        assert_eq!(figures(Language::Japanese), figures(Language::English));
        let idle = page_text(&activity(&observe(1_000, 5), &observe(1_000, 5), 1.0, 10), &style);
        assert!(idle.contains("idle") && idle.contains("10 times slower"), "{idle}");
        assert_eq!(page_text(&activity(&VolumeView::new(), &observe(1, 1), 1.0, 1), &style), "no volumes\n");
    }
}
