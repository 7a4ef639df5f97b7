//! The table of sync methods as `pg_test_fsync` lays it out, and one of percentiles.
//!
//! Knows nothing about steps.

use plimsoll_record::Bins;
use plimsoll_units::{Bytes, Span};

/// What a line of the table has to say.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// Index of its heading.
    pub(super) group: usize,
    /// What it is called.
    pub(super) label: String,
    /// What was measured; none where it could not be.
    pub(super) got: Option<Got>,
}

/// Figures of a line.
#[derive(Clone, Debug)]
pub(super) struct Got {
    /// Operations of the table, each of one or several writes.
    pub(super) operations: f64,
    /// How long they took.
    pub(super) span: Span,
    /// Bytes that were written.
    pub(super) bytes: u64,
    /// Times of the calls after which data are durable.
    pub(super) durable: Bins,
}

impl Got {
    /// Operations per second.
    pub(super) fn rate(&self) -> f64 {
        self.operations / self.span.as_secs_f64().max(1e-9)
    }
}

/// The table with its headings.
pub(super) fn table(span: Span, headings: &[Vec<String>], rows: &[Row], direct: &str) -> String {
    let plural = if span == Span::from_secs(1) { "" } else { "s" };
    let mut text = format!("{} second{plural} per test\n{direct}\n", trimmed(span.as_secs_f64()));
    for (group, heading) in headings.iter().enumerate() {
        text.push('\n');
        for line in heading {
            text.push_str(&format!("{line}\n"));
        }
        for row in rows.iter().filter(|row| row.group == group) {
            text.push_str(&format!("        {:<30}{}\n", row.label, figures(row.got.as_ref())));
        }
    }
    text
}

fn figures(got: Option<&Got>) -> String {
    match got {
        Some(got) if got.operations > 0.0 => {
            let rate = got.rate();
            format!("{rate:13.3} ops/sec  {:6.0} usecs/op", 1e6 / rate)
        }
        _ => format!("{:>21}", "n/a"),
    }
}

/// Seconds without a fraction where there is none.
fn trimmed(seconds: f64) -> String {
    let text = format!("{seconds:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Percentiles of the calls that make data durable, in microseconds, and the rate of bytes.
pub(super) fn percentiles(headings: &[Vec<String>], rows: &[Row]) -> String {
    let mut text = format!(
        "{:<38}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}\n",
        "durable call, usecs", "p50", "p90", "p99", "p99.9", "max", "MiB/s"
    );
    for (group, heading) in headings.iter().enumerate() {
        text.push_str(&format!("{}\n", heading.first().map_or("", String::as_str)));
        for row in rows.iter().filter(|row| row.group == group) {
            let Some(got) = row.got.as_ref().filter(|got| !got.durable.is_empty()) else { continue };
            let quantile = |share| got.durable.quantile(share).map_or_else(|| "-".into(), micros);
            text.push_str(&format!("        {:<30}", row.label));
            for share in [0.5, 0.9, 0.99, 0.999] {
                text.push_str(&format!("{:>10}", quantile(share)));
            }
            let rate = got.bytes as f64 / Bytes::mib(1).get() as f64 / got.span.as_secs_f64().max(1e-9);
            text.push_str(&format!("{:>10}{rate:>10.2}\n", micros(Span::from_nanos(got.durable.max_ns))));
        }
    }
    text
}

fn micros(span: Span) -> String {
    format!("{:.1}", span.as_nanos() as f64 / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_the_known_columns() {
        let got = Got { operations: 12_687.528, span: Span::from_secs(1), bytes: 1 << 20, durable: Bins::default() };
        let rows = [
            Row { group: 0, label: "open_datasync".into(), got: Some(got) },
            Row { group: 0, label: "fsync_writethrough".into(), got: None },
        ];
        let headings = [vec!["Compare:".to_owned(), "(two lines)".to_owned()]];
        let expected = "1 second per test\nDirect.\n\nCompare:\n(two lines)\n        open_datasync                     \
                        12687.528 ops/sec      79 usecs/op\n        fsync_writethrough                              n/a\n";
        assert_eq!(table(Span::from_secs(1), &headings, &rows, "Direct."), expected);
    }
}
