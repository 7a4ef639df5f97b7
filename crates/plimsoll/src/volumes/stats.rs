//! The counts of one volume in tables. Pure.

use plimsoll_report::{Column, ColumnKind, TextStyle, format_facts, grid};
use plimsoll_service::api::{Period, Stats};
use plimsoll_units::{Bytes, Span};

use super::show;

/// Seconds that are shown.
const SHOWN: usize = 10;

const fn figures(name: &'static str, unit: &'static str) -> Column {
    Column::new(name, unit, ColumnKind::Share, 0)
}

const fn words(name: &'static str) -> Column {
    Column::new(name, "", ColumnKind::Text, 0)
}

const KINDS: [Column; 4] = [words("kind"), figures("answered", ""), figures("moved", ""), figures("errors", "")];

const SECONDS: [Column; 8] = [
    figures("second", ""),
    figures("answers", "IOPS"),
    figures("model", "IOPS"),
    figures("moved", "MB/s"),
    figures("p50", "ms"),
    figures("p99", "ms"),
    figures("late p99", "us"),
    words("verdict"),
];

/// Counts, what binds, how faithful, and the last seconds.
pub fn format_stats(name: &str, stats: &Stats, style: &TextStyle) -> String {
    let mut head = vec![
        ("binds", show::binds(stats)),
        ("faithful", show::faithful(stats)),
        ("now", format!("{} in flight", stats.in_flight)),
        ("time", show::time(stats.slow)),
    ];
    head.extend(show::damaged(stats));
    let kinds: Vec<_> = stats
        .counts
        .iter()
        .map(|count| {
            let cells = [count.ops.to_string(), Bytes::new(count.bytes).to_string(), count.errors.to_string()];
            std::iter::once(count.kind.clone()).chain(cells).collect()
        })
        .collect();
    let last = stats.periods.iter().rev().take(SHOWN).rev();
    let seconds: Vec<_> = last.map(second).collect();
    let mut text = format_facts(&format!("{name}: emulated; counts since the service serves it"), &head, style);
    text += "\n";
    text += &grid(&KINDS, &kinds, &[], style);
    if !seconds.is_empty() {
        let note = "response times are the model's; lateness is what this host added until the client has the answer"
            .to_owned();
        text += "\n";
        text += &grid(&SECONDS, &seconds, &[note], style);
    }
    text
}

fn second(period: &Period) -> Vec<String> {
    let ms = |ns| format!("{:.3}", Span::from_nanos(ns).as_millis_f64());
    vec![
        period.start_s.to_string(),
        period.ops.to_string(),
        period.model_ops.to_string(),
        format!("{:.1}", period.bytes as f64 / 1e6),
        ms(period.p50_ns),
        ms(period.p99_ns),
        format!("{:.0}", period.late_p99_ns as f64 / 1e3),
        period.verdict.clone(),
    ]
}

#[cfg(test)]
mod tests {
    use plimsoll_service::api::KindCount;

    use super::*;

    #[test]
    fn counts_and_the_last_seconds_are_shown() {
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
        let text = format_stats("data", &stats, &TextStyle::default());
        assert!(text.contains("read      1234  4.82 MiB       1\n"), "{text}");
        assert!(text.contains("    19     3000   3000    0.0  10.670  0.000         0  faithful\n"), "{text}");
        assert!(!text.contains("\n     9 "), "{text}");
    }
}
