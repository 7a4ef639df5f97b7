//! Converts the tables of a report row by row.

use super::readers;
use super::report::{Advice, ColumnBound, FileRow, Member, Reach, Report, ResourceRow, StatedValue, Traffic};
use super::section::AwrSection;
use super::waits;
use crate::reading::Resource;
use crate::text::table::{NamedTable, Row};
use crate::text::timestamp;
use crate::text::{GIB, MIB, Numerals};

/// Reads a table of a section.
pub(super) fn read(report: &mut Report, section: AwrSection, table: &NamedTable) {
    let before = *report.met.entry(section).or_default();
    let numbers = match section {
        AwrSection::Snapshots => snapshots(report, table),
        AwrSection::CacheSizes => cache_sizes(report, table),
        AwrSection::Memory => memory(report, table),
        AwrSection::ResourceLimits => resource_limits(report, table),
        AwrSection::SgaAdvice => target(report, table, Resource::SharedMemory, "sga target size (m)"),
        AwrSection::PgaAdvice => target(report, table, Resource::ProcessMemory, "pga target est (mb)"),
        AwrSection::ClusterInstances => members(report, table),
        AwrSection::ClusterCaches => cluster_caches(report, table),
        AwrSection::ClusterPga => {
            of_instances(report, section, table, Resource::ProcessMemory, &["pga mem alloc begin", "pga mem alloc end"])
        }
        AwrSection::ClusterDatabase => cluster_database(report, table),
        AwrSection::Database | AwrSection::Instance | AwrSection::Container | AwrSection::Host => {
            read_names(report, section, table)
        }
        AwrSection::LoadProfile => load_profile(report, table),
        AwrSection::TimeModel => by_name(report, table, table.column("time (s)"), |report| &mut report.time_model),
        AwrSection::OperatingSystem => {
            by_name(report, table, table.column("value").or(table.column("total")), |report| &mut report.systems)
        }
        AwrSection::Histogram => histogram(report, table),
        AwrSection::HostProcessors => host_processors(report, table),
        AwrSection::ClusterTimeModel => cluster_time_model(report, table),
        AwrSection::ClusterSystems => cluster_systems(report, table),
        AwrSection::ForegroundWaits | AwrSection::BackgroundWaits | AwrSection::AllWaits | AwrSection::ClusterWaits => {
            waits::read_events(report, section, table)
        }
        AwrSection::TopEvents => waits::read_top(report, table),
        AwrSection::Analyses => readers::read_analyses(report, table),
        AwrSection::Statements => readers::read_statements(report, table),
        AwrSection::Segments => readers::read_segments(report, table),
        AwrSection::IoProfile => profile(report, table),
        AwrSection::FileTypes | AwrSection::Functions => read_traffic(report, section, table),
        AwrSection::ClusterFileTypes => cluster_file_types(report, table),
        AwrSection::Tablespaces | AwrSection::Files => places(report, section, table),
        AwrSection::BufferPoolAdvice => advice(report, table),
        // Important statistics appear in two tables with equal values.
        AwrSection::Statistics | AwrSection::ThreadActivity | AwrSection::ClusterStatistics => {
            if section == AwrSection::ClusterStatistics {
                by_name(report, table, table.column("per second max"), |report| &mut report.maxima);
            }
            by_name(report, table, table.column("total"), |report| &mut report.statistics)
        }
    };
    report.met.insert(section, before + numbers);
    if table.cut {
        report.cut.push(section);
    }
}

/// A table with helpers for reading its cells.
#[derive(Clone, Copy)]
pub(super) struct Cells<'a> {
    table: &'a NamedTable,
    pub(super) numerals: Numerals,
}

impl<'a> Cells<'a> {
    pub(super) fn of(report: &Report, table: &'a NamedTable) -> Self {
        Self { table, numerals: report.numerals }
    }

    /// The number of a row under a column.
    pub(super) fn number(self, row: &Row, column: Option<usize>) -> Option<f64> {
        column.and_then(|column| self.numerals.number(row.cell(column)))
    }

    /// A value with its place: the row called `name`, and the column.
    pub(super) fn stated(self, row: &Row, name: &str, column: usize, value: f64) -> StatedValue {
        let title = self.table.columns.get(column).map_or("", String::as_str);
        let field = if title.is_empty() { name.to_owned() } else { format!("{name} / {title}") };
        StatedValue { value, line: row.line, field }
    }

    /// The number of a row under a column, with its place.
    pub(super) fn found(self, row: &Row, name: &str, column: Option<usize>) -> Option<StatedValue> {
        let column = column?;
        let value = self.numerals.number(row.cell(column))?;
        Some(self.stated(row, name, column, value))
    }

    /// Seconds of a row under a column: milliseconds unless the column or the cell has a unit.
    fn time(self, row: &Row, name: &str, column: Option<usize>) -> Option<StatedValue> {
        let column = column?;
        let value = self.numerals.seconds(row.cell(column), 1e-3)?;
        Some(self.stated(row, name, column, value))
    }
}

/// The number of known values.
fn present<'a>(values: impl IntoIterator<Item = &'a Option<StatedValue>>) -> u32 {
    values.into_iter().flatten().count() as u32
}

/// The text of a row under a column, if not empty.
pub(super) fn text_of(row: &Row, column: Option<usize>) -> Option<&str> {
    column.map(|column| row.cell(column)).filter(|text| !text.is_empty())
}

fn read_names(report: &mut Report, section: AwrSection, table: &NamedTable) -> u32 {
    let cells = Cells::of(report, table);
    let Some(row) = table.rows.first() else { return 0 };
    let text = |column: &str| text_of(row, table.column(column)).map(str::to_owned);
    let keep = |field: &mut String, column: &str| {
        if let Some(text) = text(column) {
            *field = text;
        }
    };
    match section {
        AwrSection::Database => {
            keep(&mut report.database, "db name");
            keep(&mut report.database_id, "db id");
            keep(&mut report.release, "release");
            keep(&mut report.instance, "instance");
            keep(&mut report.rac, "rac");
        }
        AwrSection::Instance => keep(&mut report.instance, "instance"),
        AwrSection::Container => {
            keep(&mut report.container, "container name");
            keep(&mut report.container_id, "container db id");
            return 1;
        }
        _ => {
            keep(&mut report.host, if table.column("host name").is_some() { "host name" } else { "name" });
            keep(&mut report.platform, "platform");
            // Unknown values are printed as zero.
            let found = |column| cells.found(row, "host", column).filter(|stated| stated.value > 0.0);
            report.processors = found(table.column("cpus"));
            report.cores = found(table.column("cores"));
            report.memory_bytes = found(table.column_like("memory")).map(|stated| stated.times(GIB));
            return present([&report.processors, &report.cores, &report.memory_bytes]);
        }
    }
    if let Some(moment) = text_of(row, table.column("startup time")).and_then(timestamp::local) {
        report.startup = Some(moment);
    }
    1
}

fn snapshots(report: &mut Report, table: &NamedTable) -> u32 {
    let time = table.column("snap time");
    let instances = table.column("instances");
    for row in &table.rows {
        let cell = time.map_or("", |time| row.cell(time));
        let stated = Cells::of(report, table).found(row, row.cell(0), instances);
        report.add_resource(AwrSection::Snapshots, "", Resource::Instances, stated);
        match row.cell(0).trim_end_matches(':') {
            "Begin Snap" => report.begin = timestamp::local(cell),
            "End Snap" => report.end = timestamp::local(cell),
            name @ ("Elapsed" | "DB Time") => {
                // The only number known to have two decimals: it determines the decimal separator of the report.
                let number = cell.split('(').next().unwrap_or_default().trim();
                if let Some(numerals) = Numerals::of(number).filter(|_| name == "Elapsed") {
                    report.numerals = numerals;
                }
                let seconds = report.numerals.number(number).map(|minutes| minutes * 60.0);
                let cells = Cells::of(report, table);
                let stated = seconds.zip(time).map(|(seconds, column)| cells.stated(row, name, column, seconds));
                *if name == "Elapsed" { &mut report.elapsed_s } else { &mut report.database_s } = stated;
            }
            _ => {}
        }
    }
    present([&report.elapsed_s, &report.database_s])
}

fn cache_sizes(report: &mut Report, table: &NamedTable) -> u32 {
    let cells = Cells::of(report, table);
    for row in &table.rows {
        for (column, name) in row.cells.iter().enumerate() {
            let name = name.trim_end_matches(':');
            let field = match name {
                "Buffer Cache" => &mut report.cache_bytes,
                "Std Block Size" => &mut report.block_bytes,
                _ => continue,
            };
            let value = cells.numerals.bytes(row.cell(column + 1), 1.0);
            *field = value.map(|value| cells.stated(row, name, column + 1, value));
        }
    }
    present([&report.cache_bytes, &report.block_bytes])
}

/// Memory in use at begin and end: the higher one counts.
fn memory(report: &mut Report, table: &NamedTable) -> u32 {
    let cells = Cells::of(report, table);
    let mut count = 0;
    for row in &table.rows {
        let name = row.cell(0).trim_end_matches(':');
        let resource = match name.split_whitespace().next() {
            Some("SGA") if name.starts_with("SGA use") => Resource::SharedMemory,
            Some("PGA") if name.starts_with("PGA use") => Resource::ProcessMemory,
            _ => continue,
        };
        let columns = [1, 2].map(|column| cells.found(row, name, Some(column)));
        let highest = columns.into_iter().flatten().max_by(|a, b| a.value.total_cmp(&b.value));
        count += report.add_resource(AwrSection::Memory, "", resource, highest.map(|stated| stated.times(MIB)));
    }
    count
}

/// Limits of the resource manager, the higher of begin and end.
fn resource_limits(report: &mut Report, table: &NamedTable) -> u32 {
    let cells = Cells::of(report, table);
    let mut limits = Vec::new();
    for row in &table.rows {
        let name = row.cell(0).trim_end_matches(':');
        let resource = match name {
            "CPUs" => Resource::ProcessorLimit,
            "SGA Target" => Resource::SharedMemory,
            "PGA Target" => Resource::ProcessMemory,
            _ => continue,
        };
        let columns = [1, 2].map(|column| cells.found(row, name, Some(column)));
        let highest = columns.into_iter().flatten().max_by(|a, b| a.value.total_cmp(&b.value));
        let Some(stated) = highest.filter(|stated| stated.value > 0.0) else { continue };
        limits.push(ResourceRow { section: AwrSection::ResourceLimits, instance: String::new(), resource, stated });
    }
    report.limits.extend(limits);
    report.limits.len() as u32
}

/// The present target of an advisory, in the row with factor 1.
fn target(report: &mut Report, table: &NamedTable, resource: Resource, column: &str) -> u32 {
    let cells = Cells::of(report, table);
    let (size, factor) =
        (table.column_like(column), table.column_like("size fact").or(table.column_like("sga size fact")));
    let is_present = |row: &&Row| cells.number(row, factor).is_some_and(|factor| (factor - 1.0).abs() < 0.005);
    let stated = table.rows.iter().find(is_present).and_then(|row| cells.found(row, "factor 1", size));
    let section = if resource == Resource::SharedMemory { AwrSection::SgaAdvice } else { AwrSection::PgaAdvice };
    report.add_resource(section, "", resource, stated.map(|stated| stated.times(MIB)))
}

/// The pools of the SGA of each instance, where it has no target.
fn sga_pools(report: &mut Report, table: &NamedTable) {
    let cells = Cells::of(report, table);
    let columns = ["db cache", "shared pool", "large pool", "java pool", "streams pool"];
    let columns = columns.map(|pool| table.column(&format!("{pool} begin")));
    for row in table.rows.iter().filter(|row| cells.numerals.number(row.cell(0)).is_some()) {
        let megabytes: f64 = columns.iter().filter_map(|column| cells.number(row, *column)).sum();
        let stated = columns[0].map(|column| cells.stated(row, row.cell(0), column, megabytes * MIB));
        report.add_resource(AwrSection::ClusterCaches, row.cell(0), Resource::SharedMemory, stated);
    }
}

/// Megabytes of each instance: the highest of the columns.
fn of_instances(
    report: &mut Report,
    section: AwrSection,
    table: &NamedTable,
    resource: Resource,
    columns: &[&str],
) -> u32 {
    let cells = Cells::of(report, table);
    let mut count = 0;
    // The other rows are means and extremes over the instances.
    for row in table.rows.iter().filter(|row| cells.numerals.number(row.cell(0)).is_some()) {
        let found = columns.iter().filter_map(|column| cells.found(row, row.cell(0), table.column(column)));
        let highest = found.max_by(|a, b| a.value.total_cmp(&b.value));
        count += report.add_resource(section, row.cell(0), resource, highest.map(|stated| stated.times(MIB)));
    }
    count
}

fn members(report: &mut Report, table: &NamedTable) -> u32 {
    report.reach = Reach::Cluster;
    let elapsed = table.column("elapsed time(min)");
    for row in &table.rows {
        // The database's numbers have two decimals here as well.
        if let Some(numerals) = elapsed.and_then(|column| Numerals::of(row.cell(column))) {
            report.numerals = numerals;
        }
        let cells = Cells::of(report, table);
        let text = |column: &str| text_of(row, table.column(column)).unwrap_or_default().to_owned();
        let moment = |column: &str| text_of(row, table.column(column)).and_then(timestamp::local);
        let name = text("instance");
        if name.is_empty() {
            continue;
        }
        let elapsed_s = cells.found(row, &name, elapsed).map(|stated| stated.times(60.0));
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

fn cluster_caches(report: &mut Report, table: &NamedTable) -> u32 {
    let targets = ["sga target begin", "sga target end"];
    if of_instances(report, AwrSection::ClusterCaches, table, Resource::SharedMemory, &targets) == 0 {
        sga_pools(report, table);
    }
    let cells = Cells::of(report, table);
    let column = table.column("db cache begin");
    // The other rows are means and extremes over the instances.
    for row in table.rows.iter().filter(|row| cells.numerals.number(row.cell(0)).is_some()) {
        // Sum over all instances: each caches its own reads.
        if let Some(mut stated) = cells.found(row, row.cell(0), column) {
            stated.value = stated.value * MIB + report.cache_bytes.as_ref().map_or(0.0, |sum| sum.value);
            report.cache_bytes = Some(stated);
        }
    }
    table.rows.len() as u32
}

fn cluster_database(report: &mut Report, table: &NamedTable) -> u32 {
    report.reach = Reach::Cluster;
    let cells = Cells::of(report, table);
    let Some(row) = table.rows.first() else { return 0 };
    text_of(row, table.column("database name")).unwrap_or_default().clone_into(&mut report.database);
    text_of(row, table.column("database id")).unwrap_or_default().clone_into(&mut report.database_id);
    report.block_bytes = cells.found(row, "database", table.column("database block size"));
    let instances = cells.found(row, "database", table.column("number of instances total"));
    2 + report.add_resource(AwrSection::ClusterDatabase, "", Resource::Instances, instances)
}

type Numbers = std::collections::BTreeMap<String, StatedValue>;

/// Reads a row for each name; the first of a name counts.
pub(super) fn by_name(
    report: &mut Report,
    table: &NamedTable,
    column: Option<usize>,
    numbers: fn(&mut Report) -> &mut Numbers,
) -> u32 {
    let cells = Cells::of(report, table);
    let mut count = 0;
    for row in &table.rows {
        let name = row.cell(0);
        if let Some(stated) = cells.found(row, name, column) {
            numbers(report).entry(name.to_owned()).or_insert(stated);
            count += 1;
        }
    }
    count
}

fn load_profile(report: &mut Report, table: &NamedTable) -> u32 {
    // The table of the cluster's interconnect traffic has the same first columns.
    if !table.rows.iter().any(|row| row.cell(0).starts_with("DB Time") || row.cell(0).starts_with("Redo size")) {
        return 0;
    }
    let cells = Cells::of(report, table);
    let column = table.column("per second");
    let mut count = 0;
    for row in &table.rows {
        let name = row.cell(0).trim_end_matches(':');
        if let Some(stated) = cells.found(row, name, column) {
            report.load.insert(name.to_owned(), stated);
            count += 1;
        }
    }
    count
}

fn histogram(report: &mut Report, table: &NamedTable) -> u32 {
    let cells = Cells::of(report, table);
    let bounds: Vec<(usize, ColumnBound)> =
        table.columns.iter().enumerate().filter_map(|(column, name)| Some((column, ColumnBound::of(name)?))).collect();
    let Some(event) = table.column("event").or(table.column("wait event")) else { return 0 };
    // An empty cell is zero.
    let shares = |row: &Row| -> Vec<(ColumnBound, f64)> {
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
fn cluster_time_model(report: &mut Report, table: &NamedTable) -> u32 {
    let cells = Cells::of(report, table);
    let names = [
        ("db time (s)", "DB time"),
        ("db cpu (s)", "DB CPU"),
        ("bg time (s)", "background elapsed time"),
        ("bg cpu (s)", "background cpu time"),
        ("hard parse ela (s)", "hard parse elapsed time"),
    ];
    for row in table.rows.iter().filter(|row| cells.numerals.number(row.cell(0)).is_some()) {
        let seconds = |column: &str| cells.found(row, row.cell(0), table.column(column));
        let stated = seconds("db cpu (s)").map(|own| {
            let background = seconds("bg cpu (s)").map_or(0.0, |background| background.value);
            StatedValue { value: own.value + background, ..own }
        });
        report.add_resource(AwrSection::ClusterTimeModel, row.cell(0), Resource::Processors, stated);
    }
    names.into_iter().map(|(column, name)| sum(&mut report.time_model, cells, column, name)).sum()
}

/// Processors and their times over all instances, the latter in hundredths of a second, as in reports of an instance.
fn cluster_systems(report: &mut Report, table: &NamedTable) -> u32 {
    const HUNDREDTHS: f64 = 100.0;
    let cells = Cells::of(report, table);
    let [busy, idle, io_wait] = ["time (s) busy", "time (s) idle", "% cpu % wio"].map(|name| table.column(name));
    let instances = || table.rows.iter().filter(|row| cells.numerals.number(row.cell(0)).is_some());
    let waited = |row: &Row| {
        let all_s = cells.found(row, "", busy)?.value + cells.found(row, "", idle)?.value;
        let percent = cells.found(row, row.cell(0), io_wait)?;
        Some(percent.times(all_s / 100.0 * HUNDREDTHS))
    };
    let waits: Vec<StatedValue> = instances().filter_map(waited).collect();
    if let Some(first) = waits.first().filter(|_| waits.len() == instances().count()) {
        let value = waits.iter().map(|stated| stated.value).sum();
        report.systems.insert("IOWAIT_TIME".to_owned(), StatedValue { value, ..first.clone() });
    }
    let times = sum(&mut report.systems, cells, "time (s) busy", "BUSY_TIME")
        + sum(&mut report.systems, cells, "time (s) idle", "IDLE_TIME");
    for name in ["BUSY_TIME", "IDLE_TIME"] {
        if let Some(stated) = report.systems.get_mut(name) {
            stated.value *= HUNDREDTHS;
        }
    }
    for row in instances() {
        for (column, resource) in [("cpu #cpus", Resource::HostProcessors), ("cpu #cores", Resource::HostCores)] {
            let stated = cells.found(row, row.cell(0), table.column(column));
            report.add_resource(AwrSection::ClusterSystems, row.cell(0), resource, stated);
        }
    }
    let processors = sum(&mut report.systems, cells, "cpu #cpus", "NUM_CPUS")
        + sum(&mut report.systems, cells, "cpu #cores", "NUM_CPU_CORES");
    processors + times + waits.len() as u32
}

/// Shares of the processors' time on the front page.
fn host_processors(report: &mut Report, table: &NamedTable) -> u32 {
    let cells = Cells::of(report, table);
    let Some(row) = table.rows.first() else { return 0 };
    let shares = ["%user", "%system", "%wio", "%idle"];
    let found = shares.map(|name| Some((name, cells.found(row, name, table.column(name))?)));
    let found: Vec<(&str, StatedValue)> = found.into_iter().flatten().collect();
    let count = found.len() as u32;
    report.systems.extend(found.into_iter().map(|(name, stated)| (name.to_owned(), stated)));
    count
}

fn sum(numbers: &mut Numbers, cells: Cells<'_>, column: &str, name: &str) -> u32 {
    let column = cells.table.column(column);
    let instances = cells.table.rows.iter().filter(|row| cells.numerals.number(row.cell(0)).is_some());
    let found: Vec<StatedValue> = instances.filter_map(|row| cells.found(row, name, column)).collect();
    let value = found.iter().map(|stated| stated.value).sum();
    if let Some(last) = found.last() {
        numbers.insert(name.to_owned(), StatedValue { value, ..last.clone() });
    }
    found.len() as u32
}

fn profile(report: &mut Report, table: &NamedTable) -> u32 {
    let cells = Cells::of(report, table);
    let mut count = 0;
    for row in &table.rows {
        let name = row.cell(0).trim_end_matches(':');
        let numbers = [1, 2, 3].map(|column| cells.found(row, name, Some(column)));
        count += present(&numbers);
        report.profile.insert(name.to_owned(), numbers);
    }
    count
}

fn read_traffic(report: &mut Report, section: AwrSection, table: &NamedTable) -> u32 {
    let cells = Cells::of(report, table);
    let of = |names: [&str; 2]| -> Vec<usize> {
        let fits = |column: &String| names.iter().any(|name| column.starts_with(name));
        table.columns.iter().enumerate().filter(|(_, column)| fits(column)).map(|(index, _)| index).collect()
    };
    // Reads come before writes, under equal names.
    let (requests, data) = (of(["reqs per sec", "requests /sec"]), of(["data per sec", "data vol/sec"]));
    // Without a suffix the unit is MB, as in 11.2.0.3.
    let bytes = |row: &Row, name: &str, column: Option<&usize>| {
        let column = *column?;
        let value = cells.numerals.bytes(row.cell(column), MIB)?;
        Some(cells.stated(row, name, column, value))
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
            small_read_s: cells.time(row, name, small),
            large_read_s: cells.time(row, name, large),
        };
        count += present([&traffic.read_iops, &traffic.read_bytes_s, &traffic.write_iops, &traffic.write_bytes_s]);
        let rows = if section == AwrSection::FileTypes { &mut report.file_types } else { &mut report.functions };
        rows.push(traffic);
    }
    count
}

fn cluster_file_types(report: &mut Report, table: &NamedTable) -> u32 {
    let cells = Cells::of(report, table);
    let column = |name: &str| table.column(name);
    let mut count = 0;
    for row in table.rows.iter().filter(|row| row.cell(0) == "*") {
        let name = row.cell(1);
        let scaled = |column: Option<usize>, unit: f64| cells.found(row, name, column).map(|stated| stated.times(unit));
        report.file_types.push(Traffic {
            name: if name == "Total" { "TOTAL".to_owned() } else { name.to_owned() },
            read_iops: scaled(column("requests reads/s"), 1.0),
            read_bytes_s: scaled(column("mb read mb/s"), MIB),
            write_iops: scaled(column("requests writes/s"), 1.0),
            write_bytes_s: scaled(column("mb write mb/s"), MIB),
            small_read_s: cells.time(row, name, column("service time small read")),
            large_read_s: cells.time(row, name, column("service time large read")),
        });
        count += 4;
    }
    count
}

fn places(report: &mut Report, section: AwrSection, table: &NamedTable) -> u32 {
    let cells = Cells::of(report, table);
    let name_column = table.column(if section == AwrSection::Files { "filename" } else { "tablespace" });
    let (reads, writes) = (table.column("reads"), table.column("writes"));
    let (latency, blocks) = (table.column("av rd(ms)"), table.column("av blks/rd"));
    let mut count = 0;
    for row in &table.rows {
        let Some(name) = text_of(row, name_column) else { continue };
        let place = FileRow {
            name: name.to_owned(),
            reads: cells.found(row, name, reads),
            writes: cells.found(row, name, writes),
            read_s: cells.found(row, name, latency).map(|stated| stated.times(1e-3)),
            blocks_a_read: cells.number(row, blocks),
        };
        count += 4;
        if section == AwrSection::Files { &mut report.files } else { &mut report.tablespaces }.push(place);
    }
    count
}

fn advice(report: &mut Report, table: &NamedTable) -> u32 {
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
