//! Waits of a report: tables of sessions, of background processes, of all of them together, and the events with most
//! time, which substitute missing tables.
//!
//! Releases before 11.1 have a single table of the waits of all processes. Waits of background processes are not part
//! of the database's time, so they are separated by their own table or by the names of events.

use std::collections::BTreeMap;

use super::report::{Report, Rounded, StatedValue, TopEvents, TopRow, WaitRow};
use super::rows::{Cells, text_of};
use super::section::AwrSection;
use super::top::{INSTANCE, is_overflow, is_processor};
use crate::text::table::{NamedTable, Row};

/// The column of averages, and the unit of cells without unit.
fn find_average(table: &NamedTable) -> (Option<usize>, f64) {
    let in_ms = ["avg wait (ms)", "avg wait(ms)", "wait avg(ms)", "wait avg (ms)"];
    match in_ms.iter().find_map(|name| table.column(name)) {
        Some(column) => (Some(column), 1e-3),
        None => (table.column("avg wait").or(table.column("wait time avg wait")), 1.0),
    }
}

/// Reads a complete table of waits. Returns the number of values.
pub(super) fn read_events(report: &mut Report, section: AwrSection, table: &NamedTable) -> u32 {
    let columns = match section {
        AwrSection::ClusterWaits => ("wait event", "event waits", "wait time total(s)"),
        _ => ("event", "waits", "total wait time (s)"),
    };
    // Tables of the top events repeat the full tables by instance, with rounded numbers.
    if section == AwrSection::ClusterWaits && table.column_like("i#").is_some() {
        return 0;
    }
    let foreground = section == AwrSection::ForegroundWaits || table.column_like("wait time %db time").is_some();
    let cells = Cells::of(report, table);
    let (average, unit) = find_average(table);
    let (name, waits, total) = (table.column(columns.0), table.column(columns.1), table.column(columns.2));
    let class = table.column("wait class");
    let mut rows = Vec::with_capacity(table.rows.len());
    for row in &table.rows {
        let Some(name) = text_of(row, name) else { continue };
        let is_counted = !waits.is_some_and(|column| is_overflow(row.cell(column)));
        let Some(waits) = cells.number(row, waits).or((!is_counted).then_some(0.0)) else { continue };
        let mut event = WaitRow {
            name: name.to_owned(),
            foreground,
            waits,
            total_s: total.and_then(|column| Rounded::of(cells.numerals, row.cell(column), 1.0)),
            average_s: average.and_then(|column| Rounded::of(cells.numerals, row.cell(column), unit)),
            class: text_of(row, class).unwrap_or_default().to_owned(),
            line: row.line,
        };
        if !is_counted {
            event.count_by_time();
        }
        if event.sum_s().is_none() && foreground && total.is_some_and(|column| is_overflow(row.cell(column))) {
            report.unreadable.get_or_insert(row.line);
        }
        rows.push(event);
    }
    let count = rows.len() as u32 * 3;
    if section == AwrSection::AllWaits { &mut report.all_events } else { &mut report.events }.extend(rows);
    count
}

/// Reads the events with most time. Returns the number of values.
pub(super) fn read_top(report: &mut Report, table: &NamedTable) -> u32 {
    let cells = Cells::of(report, table);
    let (average, unit) = find_average(table);
    let time = ["time(s)", "time (s)", "total wait time (sec)"].iter().find_map(|name| table.column(name));
    let share = table.columns.iter().position(|name| name.starts_with('%'));
    let (Some(time), waits, class) = (time, table.column("waits"), table.column("wait class")) else { return 0 };
    let instance = table.column(INSTANCE);
    let name_column = usize::from(instance == Some(0));
    let is_total = |row: &Row| instance.is_none_or(|column| row.cell(column) == "*");
    let has_totals = table.rows.iter().any(is_total);
    let mut top = TopEvents::default();
    let mut count = 0;
    for row in table.rows.iter().filter(|row| !has_totals || is_total(row)) {
        let name = row.cell(name_column);
        let total_s = abbreviated(cells, row.cell(time)).filter(|_| !name.is_empty());
        let of_all = share.and_then(|column| cells.number(row, Some(column))).map(|percent| percent / 100.0);
        if name.is_empty() || total_s.is_none() && of_all.is_none() {
            if row.cells.iter().any(|cell| cell.contains(|letter: char| letter.is_ascii_digit() || letter == '#')) {
                top.unreadable.get_or_insert(row.line);
            }
            continue;
        }
        // The shares of an instance are of its own time.
        let of_all = of_all.filter(|_| has_totals);
        if let (Some(of_all), Some(total_s)) = (of_all.filter(|of_all| *of_all > top.largest_share), total_s) {
            top.largest_share = of_all;
            top.database_s = Some(cells.stated(row, name, time, total_s.value / of_all));
        }
        let counted = waits.and_then(|column| abbreviated(cells, row.cell(column)));
        let is_uncounted = text_of(row, waits).is_some() && counted.is_none();
        let found = TopRow {
            name: name.to_owned(),
            waits: counted.map(|counted| counted.value),
            total_s,
            average_s: average.and_then(|column| Rounded::of(cells.numerals, row.cell(column), unit)),
            share: of_all,
            class: wait_class(row, class).to_owned(),
            line: row.line,
            field: cells.stated(row, name, time, 0.0).field,
        };
        if is_processor(name) {
            top.processor = Some(add_instance(top.processor.take(), found));
        } else if counted.is_some() || is_uncounted || total_s.is_none() {
            match top.rows.iter_mut().find(|other| !has_totals && other.name == found.name) {
                Some(other) => *other = add_instance(Some(other.clone()), found),
                None => top.rows.push(found),
            }
        }
        count += 3;
    }
    if count > 0 || top.unreadable.is_some() {
        report.top = top;
    }
    count
}

/// The row of an event with that of another instance; a number that either lacks is absent.
fn add_instance(sum: Option<TopRow>, row: TopRow) -> TopRow {
    let Some(sum) = sum else { return row };
    let total_s = sum.total_s.zip(row.total_s).map(|(a, b)| Rounded { value: a.value + b.value, ..a });
    let waits = sum.waits.zip(row.waits).map(|(a, b)| a + b);
    TopRow { waits, total_s, average_s: None, share: None, ..sum }
}

/// Completes rows of the events with most time whose numbers are too long for their columns, by their share of the
/// database's time and by their mean.
fn complete_top(report: &mut Report) {
    let database_s = report.time_model.get("DB time").or(report.database_s.as_ref()).or(report.top.database_s.as_ref());
    let database_s = database_s.map(|stated| stated.value);
    // A printed share has a decimal.
    let by_share = |share: f64| Some(Rounded { value: share * database_s?, step: 1e-3 * database_s? });
    let total_of = |row: &TopRow| row.total_s.or_else(|| by_share(row.share?));
    let top = &mut report.top;
    top.processor_s = (top.processor.take())
        .and_then(|row| Some(StatedValue { value: total_of(&row)?.value, line: row.line, field: row.field }));
    for row in std::mem::take(&mut top.rows) {
        let total_s = total_of(&row);
        let TopRow { name, waits, average_s, class, line, .. } = row;
        let mut event =
            WaitRow { name, foreground: true, waits: waits.unwrap_or_default(), total_s, average_s, class, line };
        if waits.is_none() {
            event.count_by_time();
        }
        if event.sum_s().is_none() {
            top.unreadable.get_or_insert(event.line);
        }
        top.waits.push(event);
    }
}

/// A count or seconds with a decimal suffix, as in `195.6K`.
fn abbreviated(cells: Cells<'_>, text: &str) -> Option<Rounded> {
    let text = text.trim();
    let unit = match text.bytes().last()? {
        b'K' => 1e3,
        b'M' => 1e6,
        b'G' => 1e9,
        _ => 1.0,
    };
    Rounded::of(cells.numerals, text.trim_end_matches(['K', 'M', 'G']), unit)
}

fn wait_class(row: &Row, column: Option<usize>) -> &str {
    text_of(row, column).unwrap_or_default()
}

/// Completes the waits of sessions after the last table: from the table of all processes, otherwise from the events
/// with most time, which also give missing classes, processor time and the time of sessions.
pub(super) fn settle(report: &mut Report) {
    complete_top(report);
    let is_of_sessions = report.events.iter().any(|event| event.foreground);
    report.session_waits = if is_of_sessions {
        Some(AwrSection::ForegroundWaits)
    } else if !report.all_events.is_empty() {
        separate(report);
        Some(AwrSection::AllWaits)
    } else if !report.top.waits.is_empty() || report.top.unreadable.is_some() {
        substitute(report);
        report.unreadable = report.top.unreadable;
        Some(AwrSection::TopEvents)
    } else {
        None
    };
    if report.unreadable.is_some() {
        report.events.retain(|event| !event.foreground);
        report.session_waits = None;
    }
    let classes: BTreeMap<&str, &str> = (report.top.waits.iter())
        .filter(|event| !event.class.is_empty())
        .map(|event| (event.name.as_str(), event.class.as_str()))
        .collect();
    for event in report.events.iter_mut().filter(|event| event.class.is_empty()) {
        if let Some(class) = classes.get(event.name.as_str()) {
            (*class).clone_into(&mut event.class);
        }
    }
}

/// Divides the waits of all processes. Without an own table, events of background processes are recognised by name.
fn separate(report: &mut Report) {
    let background = std::mem::take(&mut report.events);
    for mut event in std::mem::take(&mut report.all_events) {
        if let Some(own) = background.iter().find(|own| own.name == event.name) {
            event.waits -= own.waits;
            let own_s = own.sum_s();
            event.total_s =
                event.total_s.map(|total| Rounded { value: (total.value - own_s.unwrap_or(0.0)).max(0.0), ..total });
            // The mean is that of all processes.
            event.average_s = event.average_s.filter(|_| event.total_s.is_none());
            event.foreground = true;
            if event.waits <= 0.0 {
                continue;
            }
        } else {
            event.foreground = !is_of_background(&event.name);
        }
        report.events.push(event);
    }
    report.events.extend(background);
}

fn substitute(report: &mut Report) {
    let others = std::mem::take(&mut report.events);
    let is_new = |event: &&WaitRow| others.iter().all(|other| other.name != event.name);
    let top = report.top.waits.iter().filter(is_new).cloned();
    let top = top.map(|event| WaitRow { foreground: !is_of_background(&event.name), ..event });
    report.events.extend(top);
    report.events.extend(others);
}

/// True for events that only background processes wait for. Text truncates long names.
fn is_of_background(name: &str) -> bool {
    const NARROWEST: usize = 20;
    const STARTS: [&str; 6] = ["ARCH ", "LNS ", "LGWR", "RFS ", "Log archive", "RMAN"];
    const NAMES: [&str; 7] = [
        "log file parallel write",
        "log file single write",
        "log file sequential read",
        "db file parallel write",
        "db file async I/O submit",
        "control file parallel write",
        "control file single write",
    ];
    let is = |existing: &str| existing == name || name.len() >= NARROWEST && existing.starts_with(name);
    NAMES.iter().any(|existing| is(existing)) || STARTS.iter().any(|start| name.starts_with(start))
}
