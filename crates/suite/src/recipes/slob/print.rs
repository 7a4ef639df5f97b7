//! The curve as a table, and its best point in the layout of Oracle's load profile.

use plimsoll_record::{Bins, Spent};
use plimsoll_units::Span;

use super::points::{SlobCurve, SlobPoint};

/// Placeholder for unknown values.
const UNKNOWN: &str = "-";

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| UNKNOWN.into(), |value| format!("{value:.0}"))
}

fn span(value: Option<Span>) -> String {
    value.map_or_else(|| UNKNOWN.into(), |value| value.to_string())
}

fn percent(value: Option<f64>) -> String {
    value.map_or_else(|| UNKNOWN.into(), |value| format!("{:.0} %", value * 100.0))
}

fn quantile(bins: &Bins, share: f64) -> String {
    span(bins.quantile(share))
}

/// A line per point, grouped by the share of updates.
pub(super) fn format_curve(points: &[SlobPoint], update_pcts: &[u32], block: u64) -> String {
    let mut text = String::new();
    for pct in update_pcts {
        let curve = SlobCurve::of(points, *pct);
        if curve.points.is_empty() {
            continue;
        }
        text += &format!("UPDATE_PCT={pct}\n");
        text += &format!(
            "{:>7} {:>8} {:>10} {:>10} {:>9} {:>9} {:>10}  {:>9} {:>9} {:>9} {:>9} {:>9} {:>8} {:>7}  limit\n",
            "threads",
            "sessions",
            "reads/s",
            "writes/s",
            "read",
            "device",
            "page cache",
            "units/s",
            "sel. p50",
            "sel. p99",
            "commit",
            "c. p99",
            "log MB/s",
            "server",
        );
        curve.points.iter().for_each(|point| text += &line(point, block));
    }
    text += "\nthreads: of each schema. reads/s, writes/s, read: blocks of data files and the mean time of a read, as the database \
             counted them.\ndevice: mean time of a read of the device below. page cache: share of the database's reads that the \
             operating system\nanswered from memory. sel., commit: times in the server's loop. log: MB of 1,000,000 bytes. server: \
             its share of this\nhost's processors.\n";
    text
}

fn line(point: &SlobPoint, block: u64) -> String {
    let megabytes = point.log_s().map_or_else(|| UNKNOWN.into(), |bytes| format!("{:.1}", bytes / 1e6));
    let text = format!(
        "{:>7} {:>8} {:>10} {:>10} {:>9} {:>9} {:>10}  {:>9} {:>9} {:>9} {:>9} {:>9} {:>8} {:>7}  {}",
        point.spec.threads,
        point.measured.sessions,
        number(point.reads_s()),
        number(point.writes_s()),
        span(point.read_latency()),
        span(point.disk_latency()),
        percent(point.page_cache_share(block)),
        number(Some(point.units_s())),
        quantile(&point.selects, 0.5),
        quantile(&point.selects, 0.99),
        span(point.commits.mean()),
        quantile(&point.commits, 0.99),
        megabytes,
        percent(point.server_share()),
        point.measured.limit.as_ref().map(ToString::to_string).unwrap_or_default()
    );
    text.trim_end().to_owned() + "\n"
}

/// Number of threads as text.
pub(super) fn threads(count: u32) -> String {
    if count == 1 { "1 thread".into() } else { format!("{count} threads") }
}

/// Load per second and per unit of work, and the wait times of sessions.
pub(super) fn profile(point: &SlobPoint) -> String {
    let mut text = format!(
        "UPDATE_PCT={}, {} for each schema, {} sessions, {}\n\n{:<28}{:>16}{:>16}\n",
        point.spec.update_pct,
        threads(point.spec.threads),
        point.measured.sessions,
        point.window,
        "",
        "per second",
        "per unit"
    );
    let units_s = point.units_s();
    let seconds = point.window.as_secs_f64().max(1e-9);
    let mut row = |name: &str, each: Option<f64>, digits: usize| {
        let Some(each) = each else { return };
        let of_unit = if units_s > 0.0 { format!("{:.*}", digits + 2, each / units_s) } else { UNKNOWN.into() };
        text += &format!("{name:<28}{each:>16.digits$}{of_unit:>16}\n");
    };
    let busy = |bins: &Bins| bins.sum_ns as f64 / 1e9;
    let work = busy(&point.selects) + busy(&point.updates) + busy(&point.commits);
    let measured = point.measured.run.span.as_secs_f64().max(1e-9);
    row("DB time (s)", Some(work / measured), 2);
    row("DB processor (s)", point.measured.counted.cpu.map(|cpu| cpu.total().as_secs_f64() / seconds), 2);
    row("log (bytes)", point.log_s(), 0);
    row("logical reads (blocks)", point.hits_s().zip(point.reads_s()).map(|(hits, reads)| hits + reads), 0);
    row("physical reads (blocks)", point.reads_s(), 0);
    row("physical writes (blocks)", point.writes_s(), 0);
    row("commits", point.commits_s(), 1);
    row("log flushes", point.measured.counted.log_flushes.map(|flushes| flushes as f64 / seconds), 1);
    row("client processor (s)", point.measured.client.map(|cpu| cpu.total().as_secs_f64() / seconds), 3);
    row("units of work", Some(units_s), 1);
    text += &waits(point);
    text
}

fn waits(point: &SlobPoint) -> String {
    let mut text = format!("\n{:<28}{:>16}{:>16}\n", "", "share of time", "mean wait");
    let Some(split) = point.measured.split.as_ref().filter(|split| !split.shares.is_empty()) else {
        return "\nWhere sessions spent their time is not known here.\n".into();
    };
    let mut shares = split.shares.clone();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    for (spent, share) in shares.into_iter().filter(|(_, share)| *share > 0.0) {
        let (name, mean) = match spent {
            Spent::Processor => ("processor", None),
            Spent::Reading => ("reading blocks", point.read_latency()),
            Spent::Writing => ("writing blocks", None),
            Spent::Committing => {
                ("flushing the log", point.measured.counted.log_flush_latency().or_else(|| point.commits.mean()))
            }
            Spent::Locked => ("locks", None),
            Spent::Internal => ("latches", None),
            Spent::Client => ("idle: the client", None),
            Spent::Other => ("other", None),
        };
        let mean = mean.map_or_else(String::new, |mean| mean.to_string());
        text += format!("{name:<28}{:>16}{mean:>16}", percent(Some(share))).trim_end();
        text += "\n";
    }
    text + &format!("({})\n", split.method)
}

/// Rows per block by schema.
pub(super) fn rows(counted: &[(i64, f64, f64)], block: u64) -> String {
    let mut text = format!("{:>6} {:>12} {:>12} {:>15}\n", "schema", "rows", "blocks", "rows to a block");
    for (schema, rows, blocks) in counted {
        text += &format!("{schema:>6} {rows:>12.0} {blocks:>12.0} {:>15.2}\n", rows / blocks.max(1.0));
    }
    text + &format!("Blocks of {block} bytes, by the database's own count of its tables' pages.\n")
}
