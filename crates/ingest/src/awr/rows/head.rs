//! Whom a report is about, and when: the tables at its beginning.

use super::{Cells, text_of};
use crate::awr::report::{Member, Reach, Report, Said};
use crate::awr::section::Section;
use crate::awr::words;
use crate::number::Numerals;
use crate::table::Table;

pub(super) fn read(report: &mut Report, section: Section, table: &Table) -> u32 {
    match section {
        Section::Snapshots => snapshots(report, table),
        Section::CacheSizes => cache_sizes(report, table),
        Section::ClusterInstances => members(report, table),
        Section::ClusterCaches => cluster_caches(report, table),
        Section::ClusterDatabase => cluster_database(report, table),
        _ => names(report, section, table),
    }
}

fn names(report: &mut Report, section: Section, table: &Table) -> u32 {
    let cells = Cells::of(report, table);
    let Some(row) = table.rows.first() else { return 0 };
    let text = |column: &str| text_of(row, table.column(column)).map(str::to_owned);
    let keep = |field: &mut String, column: &str| {
        if let Some(text) = text(column) {
            *field = text;
        }
    };
    match section {
        Section::Database => {
            keep(&mut report.database, "db name");
            keep(&mut report.database_id, "db id");
            keep(&mut report.release, "release");
            keep(&mut report.instance, "instance");
        }
        Section::Instance => keep(&mut report.instance, "instance"),
        Section::Container => {
            keep(&mut report.container, "container name");
            keep(&mut report.container_id, "container db id");
            return 1;
        }
        _ => {
            keep(&mut report.host, if table.column("host name").is_some() { "host name" } else { "name" });
            // Nought is what is printed of what is not known.
            let found = |column| cells.found(row, "host", column).filter(|said| said.value > 0.0);
            report.processors = found(table.column("cpus"));
            report.cores = found(table.column("cores"));
            report.memory_bytes =
                found(table.column_like("memory")).map(|said| Said { value: said.value * GIB, ..said });
            return [&report.processors, &report.cores, &report.memory_bytes]
                .iter()
                .filter(|said| said.is_some())
                .count() as u32;
        }
    }
    if let Some(moment) = text_of(row, table.column("startup time")).and_then(words::time) {
        report.startup = Some(moment);
    }
    1
}

const MIB: f64 = 1_048_576.0;
const GIB: f64 = 1_073_741_824.0;

fn snapshots(report: &mut Report, table: &Table) -> u32 {
    let time = table.column("snap time");
    for row in &table.rows {
        let cell = time.map_or("", |time| row.cell(time));
        match row.cell(0).trim_end_matches(':') {
            "Begin Snap" => report.begin = words::time(cell),
            "End Snap" => report.end = words::time(cell),
            name @ ("Elapsed" | "DB Time") => {
                // The only number of which it is known that it has two decimals: it tells how all are printed.
                let number = cell.split('(').next().unwrap_or_default().trim();
                if let Some(numerals) = Numerals::of(number).filter(|_| name == "Elapsed") {
                    report.numerals = numerals;
                }
                let seconds = words::minutes(report.numerals, cell);
                let cells = Cells::of(report, table);
                let said = seconds.zip(time).map(|(seconds, column)| cells.said(row, name, column, seconds));
                *if name == "Elapsed" { &mut report.elapsed_s } else { &mut report.database_s } = said;
            }
            _ => {}
        }
    }
    [&report.elapsed_s, &report.database_s].iter().filter(|said| said.is_some()).count() as u32
}

fn cache_sizes(report: &mut Report, table: &Table) -> u32 {
    let cells = Cells::of(report, table);
    for row in &table.rows {
        for (column, name) in row.cells.iter().enumerate() {
            let name = name.trim_end_matches(':');
            let field = match name {
                "Buffer Cache" => &mut report.cache_bytes,
                "Std Block Size" => &mut report.block_bytes,
                _ => continue,
            };
            let value = words::bytes(cells.numerals, row.cell(column + 1), 1.0);
            *field = value.map(|value| cells.said(row, name, column + 1, value));
        }
    }
    [&report.cache_bytes, &report.block_bytes].iter().filter(|said| said.is_some()).count() as u32
}

fn members(report: &mut Report, table: &Table) -> u32 {
    report.reach = Reach::Cluster;
    let elapsed = table.column("elapsed time(min)");
    for row in &table.rows {
        // The database's numbers have two decimals here as well.
        if let Some(numerals) = elapsed.and_then(|column| Numerals::of(row.cell(column))) {
            report.numerals = numerals;
        }
        let cells = Cells::of(report, table);
        let text = |column: &str| text_of(row, table.column(column)).unwrap_or_default().to_owned();
        let moment = |column: &str| text_of(row, table.column(column)).and_then(words::time);
        let name = text("instance");
        if name.is_empty() {
            continue;
        }
        let elapsed_s = cells.found(row, &name, elapsed).map(|mut said| {
            said.value *= 60.0;
            said
        });
        report.members.push(Member {
            name,
            host: text("host"),
            begin: moment("begin snap time"),
            startup: moment("startup"),
            elapsed_s,
            release: text("release"),
        });
    }
    report.members.len() as u32
}

fn cluster_caches(report: &mut Report, table: &Table) -> u32 {
    let cells = Cells::of(report, table);
    let column = table.column("db cache begin");
    for row in &table.rows {
        // Of all instances together: what is read by one is in its own cache.
        if let Some(mut said) = cells.found(row, row.cell(0), column) {
            said.value = said.value * MIB + report.cache_bytes.as_ref().map_or(0.0, |sum| sum.value);
            report.cache_bytes = Some(said);
        }
    }
    table.rows.len() as u32
}

fn cluster_database(report: &mut Report, table: &Table) -> u32 {
    report.reach = Reach::Cluster;
    let cells = Cells::of(report, table);
    let Some(row) = table.rows.first() else { return 0 };
    text_of(row, table.column("database name")).unwrap_or_default().clone_into(&mut report.database);
    text_of(row, table.column("database id")).unwrap_or_default().clone_into(&mut report.database_id);
    report.block_bytes = cells.found(row, "database", table.column("database block size"));
    2
}
