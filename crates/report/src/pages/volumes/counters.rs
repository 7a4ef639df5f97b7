//! Counters of a volume.

use plimsoll_api::{KindCount, Period, Stats};
use plimsoll_language::{label, say};
use plimsoll_units::{Bytes, Span};

use crate::page::{Block, Cell, Column, ColumnKind, Page, PageSection, Table};
use crate::words::{name_kind, volume as words};

/// Maximum number of seconds in the table.
const MAX_SECONDS: usize = 10;

/// Counts, binding limits, fidelity, and the last seconds.
pub fn counters(name: &str, stats: &Stats) -> Page {
    let mut head = vec![
        (label!("binds"), words::binds(stats)),
        (label!("faithful"), words::faithful(stats)),
        (label!("now"), say!("{} in flight", stats.in_flight)),
        (label!("time"), words::time(stats.slow)),
    ];
    head.extend(words::damaged(stats).map(|text| (label!("damaged"), text)));
    let heading = say!("{name}: emulated; counts since the service serves it");
    let mut page = Page::of_facts(say!("Counters of volume {name}"), heading, head);
    let tables = [count_table(&stats.counts), second_table(&stats.periods)];
    page.sections.extend(tables.map(|table| PageSection::bare(table.label.clone(), vec![Block::Table(table)])));
    page
}

fn count_table(counts: &[KindCount]) -> Table {
    let figures = |name| Column::new(name, "", ColumnKind::Share, 0);
    Table::rows(label!("Counts"), counts)
        .column(Column::text(label!("kind"), 0), |count| name_kind(&count.kind))
        .column(figures(label!("answered")), |count| count.ops.to_string())
        .column(figures(label!("moved")), |count| Cell::figure(Bytes::new(count.bytes).to_string(), count.bytes as f64))
        .column(figures(label!("errors")), |count| count.errors.to_string())
        .table()
}

fn second_table(periods: &[Period]) -> Table {
    let figures = |name, unit| Column::new(name, unit, ColumnKind::Share, 0);
    let ms = |ns| format!("{:.3}", Span::from_nanos(ns).as_millis_f64());
    let note =
        label!("response times are the model's; lateness is what this host added until the client has the answer");
    Table::rows(label!("Last seconds"), &periods[periods.len().saturating_sub(MAX_SECONDS)..])
        .column(figures(label!("begin"), "s"), |period| period.start_s.to_string())
        .column(figures(label!("answers"), "IOPS"), |period| period.ops.to_string())
        .column(figures(label!("model"), "IOPS"), |period| period.model_ops.to_string())
        .column(figures(label!("moved"), "MB/s"), |period| format!("{:.1}", period.bytes as f64 / 1e6))
        .column(figures("p50", "ms"), |period| ms(period.p50_ns))
        .column(figures("p99", "ms"), |period| ms(period.p99_ns))
        .column(figures(label!("late p99"), "us"), |period| format!("{:.0}", period.late_p99_ns as f64 / 1e3))
        .column(Column::text(label!("verdict"), 0), |period| words::name_fidelity(&period.verdict))
        .table()
        .with_notes([note.to_owned()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TextStyle, page_text};

    #[test]
    fn counters_list_kinds_and_the_last_seconds() {
        let count =
            KindCount { kind: "read".into(), ops: 1_234, bytes: 1_234 << 12, errors: 1, ..KindCount::default() };
        let period = |start_s| Period {
            start_s,
            ops: 3_000,
            model_ops: 3_000,
            p50_ns: 10_670_000,
            verdict: "faithful".into(),
            ..Period::default()
        };
        let stats = Stats { counts: vec![count], periods: (0..20).map(period).collect(), ..Stats::default() };
        let text = page_text(&counters("data", &stats), &TextStyle::default());
        assert!(text.contains("read      1234  4.82 MiB       1\n"), "{text}");
        assert!(text.contains("   19     3000   3000    0.0  10.670  0.000         0  faithful\n"), "{text}");
        assert!(!text.contains("\n    9 "), "{text}");
    }
}
