//! How a database spent its time: the front page, the time model, the operating system and the waits.

use super::{Cells, text_of};
use crate::awr::histogram::Bound;
use crate::awr::report::{Event, Report, Said};
use crate::awr::section::Section;
use crate::awr::words;
use crate::table::{Row, Table};

pub(super) fn read(report: &mut Report, section: Section, table: &Table) -> u32 {
    match section {
        Section::LoadProfile => load_profile(report, table),
        Section::TimeModel => by_name(report, table, table.column("time (s)"), |report| &mut report.time_model),
        Section::OperatingSystem => {
            by_name(report, table, table.column("value").or(table.column("total")), |report| &mut report.systems)
        }
        Section::Histogram => histogram(report, table),
        Section::ClusterTimeModel => cluster_time_model(report, table),
        Section::ClusterSystems => cluster_systems(report, table),
        _ => events(report, section, table),
    }
}

type Numbers = std::collections::BTreeMap<String, Said>;

fn by_name(report: &mut Report, table: &Table, column: Option<usize>, numbers: fn(&mut Report) -> &mut Numbers) -> u32 {
    let cells = Cells::of(report, table);
    let mut count = 0;
    for row in &table.rows {
        let name = row.cell(0);
        if let Some(said) = cells.found(row, name, column) {
            numbers(report).entry(name.to_owned()).or_insert(said);
            count += 1;
        }
    }
    count
}

fn load_profile(report: &mut Report, table: &Table) -> u32 {
    // Another table has the same first columns: that of the cluster's traffic between instances.
    if !table.rows.iter().any(|row| row.cell(0).starts_with("DB Time") || row.cell(0).starts_with("Redo size")) {
        return 0;
    }
    let cells = Cells::of(report, table);
    let column = table.column("per second");
    let mut count = 0;
    for row in &table.rows {
        let name = row.cell(0).trim_end_matches(':');
        if let Some(said) = cells.found(row, name, column) {
            report.load.insert(name.to_owned(), said);
            count += 1;
        }
    }
    count
}

/// The column of averages, and the unit of cells that name none.
fn average(table: &Table) -> (Option<usize>, f64) {
    match table.column("avg wait (ms)") {
        Some(column) => (Some(column), 1e-3),
        None => (table.column("avg wait").or(table.column("wait time avg wait")), 1.0),
    }
}

fn events(report: &mut Report, section: Section, table: &Table) -> u32 {
    let columns = match section {
        Section::ClusterWaits => ("wait event", "event waits", "wait time total(s)"),
        _ => ("event", "waits", "total wait time (s)"),
    };
    // Tables of the most important events repeat what the full ones say, in rounded numbers, by instance.
    if section == Section::ClusterWaits && table.column_like("i#").is_some() {
        return 0;
    }
    let foreground = section == Section::ForegroundWaits || table.column_like("wait time %db time").is_some();
    let cells = Cells::of(report, table);
    let (average, unit) = average(table);
    let (name, waits, total) = (table.column(columns.0), table.column(columns.1), table.column(columns.2));
    let mut count = 0;
    for row in &table.rows {
        let Some(name) = text_of(row, name) else { continue };
        let Some(waits) = cells.number(row, waits) else { continue };
        report.events.push(Event {
            name: name.to_owned(),
            foreground,
            waits,
            total_s: total.and_then(|column| words::rounded(cells.numerals, row.cell(column), 1.0)),
            average_s: average.and_then(|column| words::rounded(cells.numerals, row.cell(column), unit)),
            line: row.line,
        });
        count += 3;
    }
    count
}

fn histogram(report: &mut Report, table: &Table) -> u32 {
    let cells = Cells::of(report, table);
    let bounds: Vec<(usize, Bound)> =
        table.columns.iter().enumerate().filter_map(|(column, name)| Some((column, Bound::of(name)?))).collect();
    let Some(event) = table.column("event").or(table.column("wait event")) else { return 0 };
    // An empty cell is truly none.
    let shares = |row: &Row| -> Vec<(Bound, f64)> {
        bounds.iter().map(|(column, bound)| (*bound, cells.number(row, Some(*column)).unwrap_or(0.0))).collect()
    };
    for row in &table.rows {
        let row_shares = shares(row);
        if row_shares.iter().any(|(_, share)| *share > 0.0) {
            report.histograms.entry(row.cell(event).to_owned()).or_default().add(&row_shares);
        }
    }
    (table.rows.len() * bounds.len()) as u32
}

/// Sums over instances, with the place of the last.
fn cluster_time_model(report: &mut Report, table: &Table) -> u32 {
    let cells = Cells::of(report, table);
    let names = [("db time (s)", "DB time"), ("db cpu (s)", "DB CPU"), ("bg time (s)", "background elapsed time")];
    let names = names.into_iter().chain([("bg cpu (s)", "background cpu time")]);
    let mut count = 0;
    for (column, name) in names {
        count += sum(&mut report.time_model, cells, column, name);
    }
    count
}

fn cluster_systems(report: &mut Report, table: &Table) -> u32 {
    let cells = Cells::of(report, table);
    sum(&mut report.systems, cells, "cpu #cpus", "NUM_CPUS")
        + sum(&mut report.systems, cells, "cpu #cores", "NUM_CPU_CORES")
}

fn sum(numbers: &mut Numbers, cells: Cells<'_>, column: &str, name: &str) -> u32 {
    let column = cells.table.column(column);
    let instances = cells.table.rows.iter().filter(|row| cells.numerals.number(row.cell(0)).is_some());
    let found: Vec<Said> = instances.filter_map(|row| cells.found(row, name, column)).collect();
    let value = found.iter().map(|said| said.value).sum();
    if let Some(last) = found.last() {
        numbers.insert(name.to_owned(), Said { value, ..last.clone() });
    }
    found.len() as u32
}
