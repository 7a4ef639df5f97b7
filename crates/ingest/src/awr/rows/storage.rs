//! What was read and written: the statistics, the profile, file types, functions, places, and the advice about caches.

use super::{Cells, text_of};
use crate::awr::report::{Advice, Place, Report, Said, Traffic};
use crate::awr::section::Section;
use crate::awr::words;
use crate::table::{Row, Table};

const MIB: f64 = 1_048_576.0;

pub(super) fn read(report: &mut Report, section: Section, table: &Table) -> u32 {
    match section {
        Section::IoProfile => profile(report, table),
        Section::FileTypes | Section::Functions => traffic(report, section, table),
        Section::ClusterFileTypes => cluster_file_types(report, table),
        Section::Tablespaces | Section::Files => places(report, section, table),
        Section::BufferPoolAdvice => advice(report, table),
        _ => statistics(report, table),
    }
}

fn statistics(report: &mut Report, table: &Table) -> u32 {
    let cells = Cells::of(report, table);
    let total = table.column("total");
    let mut count = 0;
    for row in &table.rows {
        let name = row.cell(0);
        if let Some(said) = cells.found(row, name, total) {
            // Important ones stand in two tables, with the same number.
            report.statistics.entry(name.to_owned()).or_insert(said);
            count += 1;
        }
    }
    count
}

fn profile(report: &mut Report, table: &Table) -> u32 {
    let cells = Cells::of(report, table);
    let mut count = 0;
    for row in &table.rows {
        let name = row.cell(0).trim_end_matches(':');
        let numbers = [1, 2, 3].map(|column| cells.found(row, name, Some(column)));
        count += numbers.iter().flatten().count() as u32;
        report.profile.insert(name.to_owned(), numbers);
    }
    count
}

fn traffic(report: &mut Report, section: Section, table: &Table) -> u32 {
    let cells = Cells::of(report, table);
    let of = |names: [&str; 2]| -> Vec<usize> {
        let fits = |column: &String| names.iter().any(|name| column.starts_with(name));
        table.columns.iter().enumerate().filter(|(_, column)| fits(column)).map(|(index, _)| index).collect()
    };
    // Reads stand before writes, under the same names.
    let (requests, data) = (of(["reqs per sec", "requests /sec"]), of(["data per sec", "data vol/sec"]));
    // Times are milliseconds where the column or the cell names no unit.
    let time = |row: &Row, name: &str, column: Option<usize>| {
        let column = column?;
        let value = words::seconds(cells.numerals, row.cell(column), 1e-3)?;
        Some(cells.said(row, name, column, value))
    };
    // Without a suffix it is MB: so in 11.2.0.3.
    let bytes = |row: &Row, name: &str, column: Option<&usize>| {
        let column = *column?;
        let value = words::bytes(cells.numerals, row.cell(column), MIB)?;
        Some(cells.said(row, name, column, value))
    };
    let (small, large) = (table.column_like("small read"), table.column_like("large read"));
    let mut count = 0;
    for row in &table.rows {
        let name = row.cell(0);
        let traffic = Traffic {
            name: name.to_owned(),
            read_iops: cells.found(row, name, requests.first().copied()),
            read_bytes_s: bytes(row, name, data.first()),
            write_iops: cells.found(row, name, requests.get(1).copied()),
            write_bytes_s: bytes(row, name, data.get(1)),
            small_read_s: time(row, name, small),
            large_read_s: time(row, name, large),
        };
        count += [&traffic.read_iops, &traffic.read_bytes_s, &traffic.write_iops, &traffic.write_bytes_s]
            .iter()
            .filter(|said| said.is_some())
            .count() as u32;
        let rows = if section == Section::FileTypes { &mut report.file_types } else { &mut report.functions };
        rows.push(traffic);
    }
    count
}

fn cluster_file_types(report: &mut Report, table: &Table) -> u32 {
    let cells = Cells::of(report, table);
    let column = |name: &str| table.column(name);
    let mut count = 0;
    for row in table.rows.iter().filter(|row| row.cell(0) == "*") {
        let name = row.cell(1);
        let scaled = |column: Option<usize>, scale: f64| {
            cells.found(row, name, column).map(|said| Said { value: said.value * scale, ..said })
        };
        let time = |column: Option<usize>| {
            let column = column?;
            let value = words::seconds(cells.numerals, row.cell(column), 1e-3)?;
            Some(cells.said(row, name, column, value))
        };
        report.file_types.push(Traffic {
            name: if name == "Total" { "TOTAL".to_owned() } else { name.to_owned() },
            read_iops: scaled(column("requests reads/s"), 1.0),
            read_bytes_s: scaled(column("mb read mb/s"), MIB),
            write_iops: scaled(column("requests writes/s"), 1.0),
            write_bytes_s: scaled(column("mb write mb/s"), MIB),
            small_read_s: time(column("service time small read")),
            large_read_s: time(column("service time large read")),
        });
        count += 4;
    }
    count
}

fn places(report: &mut Report, section: Section, table: &Table) -> u32 {
    let cells = Cells::of(report, table);
    let name_column = table.column(if section == Section::Files { "filename" } else { "tablespace" });
    let (reads, writes) = (table.column("reads"), table.column("writes"));
    let (latency, blocks) = (table.column("av rd(ms)"), table.column("av blks/rd"));
    let mut count = 0;
    for row in &table.rows {
        let Some(name) = text_of(row, name_column) else { continue };
        let place = Place {
            name: name.to_owned(),
            reads: cells.found(row, name, reads),
            writes: cells.found(row, name, writes),
            read_s: cells.found(row, name, latency).map(|said| Said { value: said.value * 1e-3, ..said }),
            blocks_a_read: cells.number(row, blocks),
        };
        count += 4;
        if section == Section::Files { &mut report.files } else { &mut report.tablespaces }.push(place);
    }
    count
}

fn advice(report: &mut Report, table: &Table) -> u32 {
    let cells = Cells::of(report, table);
    let columns = [
        ["size for est (m)"; 2],
        ["size factor", "size factr"],
        ["est phys read factor", "est phys read factr"],
        ["estimated phys reads (thousands)"; 2],
    ];
    let columns = columns.map(|names| names.iter().find_map(|name| table.column(name)));
    let mut count = 0;
    for row in &table.rows {
        let [Some(size), Some(factor), Some(reads_factor), Some(reads)] =
            columns.map(|column| cells.number(row, column))
        else {
            continue;
        };
        report.advice.push(Advice {
            pool: row.cell(0).to_owned(),
            size_bytes: size * MIB,
            size_factor: factor,
            read_factor: reads_factor,
            reads: reads * 1000.0,
            line: row.line,
        });
        count += 4;
    }
    count
}
