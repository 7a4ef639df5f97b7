//! What Iozone prints of several processes.
//!
//! Knows figures only.

use super::print::{head, kilobytes};
use super::{Column, Iozone, Made, Unit};
use crate::recipe::Done;

/// What processes are called, what stands behind it, and the line of the report.
fn names(column: Column) -> Option<(&'static str, &'static str, &'static str)> {
    Some(match column {
        Column::Write => ("initial writers", " \t", "  Initial write "),
        Column::Rewrite => ("rewriters", " \t", "        Rewrite "),
        Column::Read => ("readers", " \t\t", "           Read "),
        Column::Reread => ("re-readers", " \t", "        Re-read "),
        Column::Backward => ("reverse readers", " \t", "   Reverse Read "),
        Column::Stride => ("stride readers", " \t", "    Stride read "),
        Column::RandomRead => ("random readers", " \t", "    Random read "),
        Column::Mixed => ("mixed workload", " \t", " Mixed workload "),
        Column::RandomWrite => ("random writers", " \t", "   Random write "),
        Column::Pwrite => ("pwrite writers", " \t", "         Pwrite "),
        Column::Pread => ("pread readers", " \t", "          Pread "),
        Column::Pwritev => ("pwritev writers", " \t", "        Pwritev "),
        Column::Preadv => ("preadv readers", " \t", "         Preadv "),
        Column::RecordRewrite | Column::Flush => return None,
    })
}

/// What all processes of a step reached.
pub(super) struct Reached {
    /// The sum of their own rates.
    pub children: f64,
    /// All that was moved, by the time from the first beginning to the last end.
    pub parent: f64,
    /// The rates of the slowest and the fastest.
    pub range: (f64, f64),
    /// kB or operations of the one that moved least.
    pub least: f64,
}

pub(super) fn reached(iozone: &Iozone, made: &Made<'_>) -> Reached {
    let record = iozone.pairs[made.pair].record;
    let workers = &made.seen.workers;
    let rates: Vec<f64> = workers.iter().map(|worker| iozone.figure(made, worker).unwrap_or(0.0)).collect();
    let bytes: Vec<f64> = workers.iter().map(|worker| worker.total().bytes() as f64).collect();
    let unit = if iozone.options.unit == Unit::Operations { f64::from(record) } else { 1024.0 };
    Reached {
        children: rates.iter().sum(),
        parent: iozone.in_unit(bytes.iter().sum(), record, made.seen.span()).unwrap_or(0.0),
        range: (rates.iter().copied().fold(f64::INFINITY, f64::min), rates.iter().copied().fold(0.0, f64::max)),
        least: bytes.iter().copied().fold(f64::INFINITY, f64::min) / unit,
    }
}

pub(super) fn text(iozone: &Iozone, done: &[Done]) -> String {
    let processes = iozone.processes;
    let plural = if processes == 1 { "process" } else { "processes" };
    let pair = iozone.pairs[0];
    let (size, record) = (kilobytes(pair.size.get()), kilobytes(pair.record.into()));
    let mut text = head(iozone);
    text += &format!("\tThroughput test with {processes} {plural}\n");
    text += &format!("\tEach process writes a {size} kByte file in {record} kByte records\n");
    let mut report = String::new();
    for made in iozone.made(done) {
        let Some((who, gap, line)) = names(made.column) else { continue };
        let reached = reached(iozone, &made);
        text += &paragraph(iozone, made.column, who, gap, &reached);
        report += &format!("\"{line}\" {:>10.2} \n\n", reached.children);
    }
    text += "\n\n";
    if iozone.options.report {
        text += "\n\"Throughput report Y-axis is type of test X-axis is number of processes\"\n";
        text += &format!("\"Record size = {record} kBytes \"\n\"Output is in {}\"\n\n{report}", rate_unit(iozone));
    }
    text + "\niozone test complete.\n"
}

fn rate_unit(iozone: &Iozone) -> &'static str {
    if iozone.options.unit == Unit::Operations { "ops/sec" } else { "kBytes/sec" }
}

fn paragraph(iozone: &Iozone, column: Column, who: &str, gap: &str, reached: &Reached) -> String {
    let (unit, amount) = if iozone.options.unit == Unit::Operations { ("ops/sec", "ops") } else { ("kB/sec", "kB") };
    let processes = iozone.processes;
    let is_first = matches!(column, Column::Write | Column::Rewrite | Column::Read);
    let count = if is_first { format!("{processes:>2}") } else { processes.to_string() };
    let Reached { children, parent, range: (slowest, fastest), least } = reached;
    let average = children / f64::from(processes.max(1));
    format!(
        "\n\tChildren see throughput for {count} {who}{gap}= {children:>10.2} {unit}\n\
         \tParent sees throughput for {count} {who}{gap}= {parent:>10.2} {unit}\n\
         \tMin throughput per process \t\t\t= {slowest:>10.2} {unit} \n\
         \tMax throughput per process \t\t\t= {fastest:>10.2} {unit}\n\
         \tAvg throughput per process \t\t\t= {average:>10.2} {unit}\n\
         \tMin xfer \t\t\t\t\t= {least:>10.2} {amount}\n"
    )
}
