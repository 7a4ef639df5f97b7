//! The table of one process, and its report for spreadsheets.
//!
//! Knows figures only.

use plimsoll_device::SyncMode;
use plimsoll_units::Bytes;

use super::options::doubling;
use super::{Column, Extent, Iozone, Unit};
use crate::recipe::Done;

/// The columns with their widths and what their reports are called.
const COLUMNS: [(Column, usize, &str); 9] = [
    (Column::Write, 9, "Writer report"),
    (Column::Rewrite, 9, "Re-writer report"),
    (Column::Read, 9, "Reader report"),
    (Column::Reread, 9, "Re-Reader report"),
    (Column::RandomRead, 9, "Random read report"),
    (Column::RandomWrite, 9, "Random write report"),
    (Column::Backward, 9, "Backward read report"),
    (Column::RecordRewrite, 10, "Record rewrite report"),
    (Column::Stride, 10, "Stride read report"),
];
/// Room for tests that are left out here: fwrite, frewrite, fread, freread.
const REST: usize = 35;

pub(super) fn text(iozone: &Iozone, done: &[Done]) -> String {
    let mut text = head(iozone);
    text += &format!("{:62}random    random     bkwd    record    stride{:36}\n", "", "");
    text += "              kB  reclen    write  rewrite    read    reread    read     write     read   rewrite      read   \
             fwrite frewrite    fread  freread\n";
    let figures = figures(iozone, done);
    for (index, pair) in iozone.pairs.iter().enumerate() {
        let row = COLUMNS.map(|(column, width, _)| match figure(&figures, index, column) {
            Some(value) => format!("{value:>width$}"),
            None => " ".repeat(width),
        });
        if row.iter().any(|cell| !cell.trim().is_empty()) {
            let (size, record) = (kilobytes(pair.size.get()), kilobytes(pair.record.into()));
            text += &format!("{size:>16}{record:>8}{}{}\n", row.concat(), " ".repeat(REST));
        }
    }
    text += "\niozone test complete.\n";
    if iozone.options.report {
        text += &report(iozone, &figures);
    }
    text
}

/// What is said about the settings before any figure.
pub(super) fn head(iozone: &Iozone) -> String {
    let options = &iozone.options;
    let mut lines =
        vec!["Iozone: Performance Test of File I/O".to_owned(), "        Version $Revision: 3.471 $".into()];
    lines.push(String::new());
    match options.extent {
        Extent::Matrix { sizes, small_records_always, .. } => {
            lines.push("Auto Mode".into());
            if small_records_always {
                lines.push("Cross over of record size disabled.".into());
            }
            lines.push(format!("Using minimum file size of {} kilobytes.", kilobytes(sizes.0.get())));
            lines.push(format!("Using maximum file size of {} kilobytes.", kilobytes(sizes.1.get())));
        }
        Extent::One { size, record } | Extent::Processes { size, record, .. } => {
            lines.push(format!("File size set to {} kB", kilobytes(size.get())));
            lines.push(format!("Record Size {} kB", kilobytes(record.into())));
        }
    }
    let mut say = |holds: bool, line: &str| {
        if holds {
            lines.push(line.to_owned());
        }
    };
    say(options.report, "Excel chart generation enabled");
    say(options.timed.flush(), "Include fsync in write timing");
    say(options.timed.close(), "Include close in write timing");
    say(options.direct, "O_DIRECT feature enabled");
    say(options.opened == SyncMode::Sync, "SYNC Mode. ");
    say(options.opened == SyncMode::Dsync, ">>> O_DSYNC mode enabled. <<<");
    say(options.unit == Unit::Kilobytes, "Output is in kBytes/sec");
    say(options.unit == Unit::Operations, "OPS Mode. Output is in operations per second.");
    say(options.unit == Unit::Microseconds, "Microseconds/op Mode. Output is in microseconds per operation.");
    say(true, "File stride size set to 17 * record size.");
    lines.iter().map(|line| if line.is_empty() { "\n".into() } else { format!("\t{line}\n") }).collect()
}

pub(super) const fn kilobytes(bytes: u64) -> u64 {
    bytes / 1024
}

/// Whole figures by pair and column.
type Figures = Vec<(usize, Column, u64)>;

fn figures(iozone: &Iozone, done: &[Done]) -> Figures {
    let value = |made: super::Made<'_>| {
        let value = iozone.figure(&made, made.seen.workers.first()?)?;
        Some((made.pair, made.column, value as u64))
    };
    iozone.made(done).filter_map(value).collect()
}

fn figure(figures: &Figures, pair: usize, column: Column) -> Option<u64> {
    figures.iter().find(|(at, of, _)| (*at, *of) == (pair, column)).map(|(_, _, value)| *value)
}

/// A table for each test: files downwards, records across; 0 where a record was left out.
fn report(iozone: &Iozone, figures: &Figures) -> String {
    let (sizes, records): (Vec<u64>, Vec<u64>) = match iozone.options.extent {
        Extent::Matrix { sizes, records, .. } => {
            let sizes = doubling(sizes.0.get(), sizes.1.get()).collect();
            (sizes, doubling(records.0.into(), records.1.into()).collect())
        }
        Extent::One { size, record } | Extent::Processes { size, record, .. } => {
            (vec![size.get()], vec![record.into()])
        }
    };
    let mut text = "Excel output is below:\n".to_owned();
    for (column, _, title) in COLUMNS {
        if !figures.iter().any(|(_, of, _)| *of == column) {
            continue;
        }
        let heads: Vec<String> = records.iter().map(|record| format!("\"{}\"", kilobytes(*record))).collect();
        text += &format!("\n\"{title}\"\n        {}\n", heads.join("  "));
        for size in &sizes {
            let cell = |record: &u64| {
                let at = |pair: &super::Pair| (pair.size, u64::from(pair.record)) == (Bytes::new(*size), *record);
                let pair = iozone.pairs.iter().position(at);
                format!(" {} ", pair.and_then(|pair| figure(figures, pair, column)).unwrap_or(0))
            };
            let cells: String = records.iter().filter(|record| *record <= size).map(cell).collect();
            text += &format!("\"{}\"  {cells}\n", kilobytes(*size));
        }
    }
    text
}
