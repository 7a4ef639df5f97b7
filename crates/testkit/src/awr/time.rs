//! Time sections: time model, operating system, waits, and wait histograms.

use super::AwrFormat;
use crate::sheet::SheetTable;
use crate::{Workload, number, share_below};

pub(super) fn model(work: &Workload, dialect: AwrFormat) -> SheetTable {
    let mut table = match dialect {
        AwrFormat::Statspack => {
            SheetTable::new("Time Model System Stats", "", &[("Statistic", 35), ("Time (s)", 20), ("% DB time", 9)])
        }
        _ => SheetTable::new(
            "Time Model Statistics",
            "This table displays different time model statistics",
            &[("Statistic Name", 42), ("Time (s)", 18), ("% of DB Time", 12)],
        ),
    };
    let decimals = if matches!(dialect, AwrFormat::Html(_)) { 2 } else { 1 };
    for (name, seconds) in [("DB CPU", work.processor_s as f64), ("DB time", work.database_s())] {
        let share = if work.database_s() > 0.0 { seconds / work.database_s() * 100.0 } else { 0.0 };
        table.row([name, &number(seconds, decimals), &number(share, 1)]);
    }
    table
}

pub(super) fn system(work: &Workload, dialect: AwrFormat) -> SheetTable {
    let (heading, columns): (_, &[(&'static str, usize)]) = match dialect {
        AwrFormat::Statspack => ("OS Statistics", &[("Statistic", 25), ("Total", 23)]),
        _ => ("Operating System Statistics", &[("Statistic", 25), ("Value", 22), ("End Value", 16)]),
    };
    let mut table = SheetTable::new(heading, "This table displays operating systems statistics", columns);
    let centiseconds = work.seconds() * f64::from(work.processors) * 100.0;
    let busy = (work.processor_s as f64 * 100.0).min(centiseconds);
    for (name, value) in
        [("BUSY_TIME", busy), ("IDLE_TIME", centiseconds - busy), ("NUM_CPUS", f64::from(work.processors))]
    {
        let cells = [name.to_owned(), number(value, 0), String::new()];
        table.row(cells.into_iter().take(columns.len()));
    }
    table
}

/// Wait events with the waiting sessions, number of waits, and microseconds per wait.
fn events(work: &Workload) -> [(&'static str, &'static str, u64, u64); 2] {
    [
        ("Foreground Wait Events", "db file sequential read", work.single_reads, work.read_us),
        ("Background Wait Events", "log file parallel write", work.redo_writes, work.redo_us),
    ]
}

pub(super) fn waits(work: &Workload, dialect: AwrFormat) -> Vec<SheetTable> {
    let one = |(heading, event, waits, each_us): (&'static str, &'static str, u64, u64)| {
        let is_foreground = heading.starts_with('F');
        let share = if is_foreground { "% DB time" } else { "% bg time" };
        let text_share = if is_foreground { "% DB|time" } else { "% bg|time" };
        let columns = match dialect {
            AwrFormat::Html(_) if dialect.is_coarse() => [("Avg wait (ms)", 7), ("Waits /txn", 8), (share, 6)],
            AwrFormat::Html(_) => [("Avg wait", 7), ("Waits /txn", 8), (share, 6)],
            AwrFormat::Text => [("Avg|wait|(ms)", 7), ("Waits|/txn", 8), (text_share, 6)],
            AwrFormat::Statspack => [("Avg|wait|(ms)", 6), ("Waits|/txn", 8), ("%Total|Call|Time", 6)],
        };
        let (event_width, timeouts) =
            if dialect == AwrFormat::Statspack { (28, ("%Tim|out", 4)) } else { (26, ("%Time|-outs", 5)) };
        let fixed = [("Event", event_width), ("Waits", 12), timeouts, ("Total Wait|Time (s)", 10)];
        let columns: Vec<_> = fixed.into_iter().chain(columns).collect();
        let mut table = SheetTable::new(heading, "This table displays wait events and their statistics", &columns);
        let total = number((waits * each_us) as f64 / 1e6, 0);
        let each = if dialect.is_coarse() { format!("{:.0}", each_us as f64 / 1e3) } else { format!("{each_us}.00us") };
        table.row([event, &number(waits as f64, 0), "", &total, &each, "", ""]);
        table
    };
    events(work).into_iter().map(one).collect()
}

/// Bounds of a histogram: microseconds and title, the last for all above.
type Bounds = &'static [(f64, &'static str)];

const COARSE: Bounds = &[
    (1e3, "<1ms"),
    (2e3, "<2ms"),
    (4e3, "<4ms"),
    (8e3, "<8ms"),
    (16e3, "<16ms"),
    (32e3, "<32ms"),
    (1_024e3, "<=1s"),
    (f64::INFINITY, ">1s"),
];

const SHORT: Bounds = &[
    (8.0, "<8us"),
    (16.0, "<16us"),
    (32.0, "<32us"),
    (64.0, "<64us"),
    (128.0, "<128us"),
    (256.0, "<256us"),
    (512.0, "<512us"),
    (f64::INFINITY, ">=512us"),
];

const LONG: Bounds = &[
    (512.0, "<512us"),
    (1_024.0, "<1ms"),
    (2_048.0, "<2ms"),
    (4_096.0, "<4ms"),
    (8_192.0, "<8ms"),
    (16_384.0, "<16ms"),
    (32_768.0, "<32ms"),
    (f64::INFINITY, ">=32ms"),
];

pub(super) fn histograms(work: &Workload, dialect: AwrFormat) -> Vec<SheetTable> {
    let tables: &[(&'static str, Bounds)] = if dialect.is_coarse() {
        &[("Wait Event Histogram", COARSE)]
    } else {
        &[("Wait Event Histogram", SHORT), ("Wait Event Histogram (up to 32 ms)", LONG)]
    };
    tables.iter().map(|(heading, bounds)| histogram(work, dialect, heading, bounds)).collect()
}

fn histogram(work: &Workload, dialect: AwrFormat, heading: &'static str, bounds: Bounds) -> SheetTable {
    let titles = bounds.iter().map(|(_, title)| (*title, 5));
    let fixed = [("Event", 26), (if dialect == AwrFormat::Statspack { "Waits" } else { "Total|Waits" }, 5)];
    let columns: Vec<_> = fixed.into_iter().chain(titles).collect();
    let mut table = SheetTable::new(heading, "This table displays wait event histogram information", &columns);
    if dialect == AwrFormat::Statspack {
        table.ornament = "                           Total ----------------- % of Waits ------------------";
    } else {
        table.group = Some(("% of Waits", 2));
    }
    for (_, event, waits, each_us) in events(work).into_iter().filter(|(_, _, waits, _)| *waits > 0) {
        let mut below = 0.0;
        let shares = bounds.iter().map(|(bound, _)| {
            let share = if bound.is_finite() { share_below(*bound, each_us) } else { 1.0 };
            let tenths = ((share - below) * 100.0, share);
            below = tenths.1;
            // Zero is blank; a small value is not.
            if tenths.0 > 0.0 { format!("{:.1}", tenths.0) } else { String::new() }
        });
        let shares: Vec<String> = shares.collect();
        table.row([event.to_owned(), short(waits)].into_iter().chain(shares));
    }
    table
}

/// `35.9K`: counts as abbreviated in these tables.
fn short(count: u64) -> String {
    let units = [(1e9, "G"), (1e6, "M"), (1e3, "K")];
    let unit = units.into_iter().find(|(unit, _)| count as f64 >= 10.0 * unit);
    unit.map_or_else(|| count.to_string(), |(unit, name)| format!("{:.0}{name}", count as f64 / unit))
}
