//! The database's time with a choice, as the sum of its parts.

use plimsoll_choose::diagnosis::{DatabaseEffect, EffectRule, FilterWork};
use plimsoll_language::{label, say};
use plimsoll_units::Span;

use crate::number;
use crate::page::{Cell, Column, ColumnKind, Table};
use crate::words::sizing as words;

/// A row of the table: its name, seconds today and then, and the reason of the factor.
struct TimeRow {
    name: String,
    seconds: [Option<f64>; 2],
    reason: String,
}

/// Time today x factor = time then, by class of waits; the last sum and its share are those of the headline.
pub(super) fn database_time(effect: &DatabaseEffect) -> Table {
    let columns = [
        Column::text(label!("time of sessions"), 0),
        Column::time(label!("today"), "s", 0),
        Column::new(label!("factor"), "x", ColumnKind::Share, 0),
        Column::time(label!("then"), "s", 0),
        Column::text(label!("reason of the factor"), 0),
    ];
    let cells = |row: TimeRow| {
        let [today, then] = row.seconds;
        let factor = today.zip(then).filter(|(today, _)| *today > 0.0).map(|(today, then)| then / today);
        vec![
            Cell::text(row.name),
            Cell::or_unknown(today, Cell::three),
            Cell::or_unknown(factor, Cell::three),
            Cell::or_unknown(then, Cell::three),
            Cell::text(row.reason),
        ]
    };
    Table::of(label!("Database time for the same work"), columns, list_rows(effect), cells)
        .with_notes(std::iter::once(state_change(effect)).chain(words::assumed_reads(effect)))
}

fn list_rows(effect: &DatabaseEffect) -> Vec<TimeRow> {
    let row = |name: &str, [today, then]: [f64; 2], reason: String| TimeRow {
        name: name.to_owned(),
        seconds: [Some(today), Some(then)],
        reason,
    };
    let mut rows: Vec<TimeRow> = Vec::new();
    for part in &effect.parts {
        let reason = match (part.rule, part.latencies_s) {
            (EffectRule::Latency, Some(latencies_s)) => {
                let [today, then] = latencies_s.map(Span::from_secs_f64);
                say!("mean {then} instead of {today}")
            }
            (EffectRule::Latency, None) => String::new(),
            (EffectRule::LikeReads, _) => label!("like the other reads (assumed)").to_owned(),
            (EffectRule::UncountedReads, _) => label!("in no counter, like the reads (assumed)").to_owned(),
        };
        rows.push(row(part.class.label(), [part.before_s, part.after_s], reason));
    }
    let unchanged = |name: &str, seconds: f64, reason: &str| row(name, [seconds; 2], reason.to_owned());
    let unknown = label!("latency unknown: assumed unchanged");
    rows.extend(effect.retained.iter().map(|(class, seconds)| unchanged(class.label(), *seconds, unknown)));
    rows.push(unchanged(label!("all other time"), effect.other_s(), label!("not storage: unchanged")));
    rows.push(row(label!("database time"), [effect.before_s, effect.after_s], label!("sum").to_owned()));
    let filtering = |name: &str, seconds: Option<f64>| TimeRow {
        name: name.to_owned(),
        seconds: [None, seconds],
        reason: label!("processors filter scans that storage cells filter today").to_owned(),
    };
    match effect.filter {
        FilterWork::None => {}
        FilterWork::Unknown => rows.push(filtering(label!("filtering, in addition"), None)),
        FilterWork::Seconds([least_s, greatest_s]) => {
            rows.push(filtering(label!("filtering in addition, at least"), Some(least_s)));
            rows.push(filtering(label!("filtering in addition, at most"), Some(greatest_s)));
        }
    }
    rows
}

fn state_change(effect: &DatabaseEffect) -> String {
    let (before, after) = (number::three(effect.before_s), number::three(effect.after_s));
    let alone = if effect.filter == FilterWork::None { "" } else { label!(" by storage alone") };
    say!(
        "Database time: {}, {before} s to {after} s{alone} for the same work. The share is 1 - then / today.",
        words::format_time_change(effect)
    )
}
