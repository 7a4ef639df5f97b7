//! Busy periods, statements, segments and compression in reports of Oracle, in synthetic form.

use plimsoll_ingest::{BusyPeriod, Class, DatabaseDemand, Demand, Measure};
use plimsoll_testkit::Workload;

use crate::read::reading as read;

/// Six days at a constant load.
fn days() -> Workload {
    Workload { minutes: 8_640, ..Workload::small_shop(9) }
}

/// A table of HTML: its columns, then its rows.
fn table(columns: &[&str], rows: &[&[&str]]) -> String {
    let cells = |tag: &str, cells: &[&str]| {
        let cells: Vec<String> = cells.iter().map(|cell| format!("<{tag} class='awr'>{cell}</{tag}>")).collect();
        cells.concat()
    };
    let rows: Vec<String> = rows.iter().map(|row| format!("<tr>{}</tr>\n", cells("td", row))).collect();
    format!("<table class=\"tdiff\"><tr>{}</tr>\n{}</table>\n", cells("th", columns), rows.concat())
}

fn with(report: &str, more: &str) -> String {
    report.replacen("End of Report", &format!("{more}End of Report"), 1)
}

fn subject(report: &str) -> DatabaseDemand {
    Demand::of(&[&read(report)]).subjects.remove(0)
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-6 * expected.abs(), "{found}, expected {expected}");
}

const ADDM: [&str; 6] = [
    "Finding Name",
    "Avg active sessions of the task",
    "Percent active sessions of finding",
    "Task Name",
    "Begin Snap Time",
    "End Snap Time",
];

/// The only busy period.
fn busy(report: &str) -> BusyPeriod {
    let mut periods = subject(report).busy_periods;
    assert_eq!(periods.len(), 1, "{periods:?}");
    periods.remove(0)
}

#[test]
fn active_sessions_of_analysed_periods_are_read() {
    let report = days().awr_html();
    let mean = read(&report).times[0].database_s / 518_400.0;
    let row = |finding, task, [begin, end]: [&'static str; 2]| [finding, "10.00", "41.50", task, begin, end];
    let own = ["04-Mar-26 10:00", "04-Mar-26 11:00"];
    let rows = [row("Top SQL Statements", "ADDM:7_1_52", own), row("\"User I/O\" wait Class", "ADDM:7_1_52", own)];
    let rows: Vec<&[&str]> = rows.iter().map(<[&str; 6]>::as_slice).collect();
    let period = busy(&with(&report, &table(&ADDM, &rows)));
    near(period.times_mean(), 10.0 / mean);
    assert_eq!(period.begin, jiff::civil::date(2026, 3, 4).at(10, 0, 0, 0));
    assert_eq!((period.length.as_secs_f64(), period.user_io), (3_600.0, Some(0.415)));
    let more = ["Hard Parse", "10.00", "1.5E+02", "ADDM:7_1_52", own[0], own[1]];
    let found = busy(&with(&report, &table(&ADDM, &[rows[0], &more, rows[1]])));
    assert_eq!(found.finding, Some(("Hard Parse".into(), 1.5)));
    assert_eq!(period.place.origin.table.as_deref(), Some("Top ADDM Findings"));

    // Other orders of columns, names of months and findings in another language.
    let order = [4, 5, 0, 3, 2, 1];
    let russian = row("Фиксации и откаты", "ADDM:7_1_52", ["04-Мар-26 10:00", "04-Мар-26 11:00"]);
    let cells = order.map(|column| russian[column]);
    let period = busy(&with(&report, &table(&order.map(|column| ADDM[column]), &[&cells])));
    assert_eq!((period.active_sessions, period.user_io), (10.0, None));
}

#[test]
fn periods_of_other_scopes_or_without_a_peak_are_not_busy() {
    let report = days().awr_html();
    let none = |task, active, [begin, end]: [&'static str; 2]| {
        let row = ["Top SQL Statements", active, "41.50", task, begin, end];
        let found = subject(&with(&report, &table(&ADDM, &[&row]))).busy_periods;
        assert_eq!(found, [], "{row:?}");
    };
    let hour = ["04-Mar-26 10:00", "04-Mar-26 11:00"];
    // All instances of a cluster; fewer sessions than the mean; the whole window; damaged cells.
    none("ADDM:7_52", "90.00", hour);
    none("ADDM:7_1_52", "0.001", hour);
    none("ADDM:7_1_52", "90.00", ["02-Mar-26 09:00", "08-Mar-26 09:00"]);
    none("ADDM:7_1_52", "", hour);
    none("ADDM:7_1_52", "90.00", ["", ""]);
    none("ADDM:7_1_52", "90.00", ["04-Mar-26 11:00", "04-Mar-26 10:00"]);
}

#[test]
fn analysed_periods_of_text_are_read() {
    let page = "Top ADDM Findings by Average Active Sessions  DB/Inst: SHOP/shop1  Snaps: 1-2\n\n\
                \x20                              Avg active   Percent active\n\
                \x20                              sessions of  sessions of\n\
                Finding Name                   the task     finding        Task Name      Begin Snap Time  End Snap Time\n\
                ------------------------------ ------------ -------------- -------------- ---------------- ----------------\n\
                \"User I/O\" wait Class                 90.00          41.50 ADDM:7_1_52    04-Mar-26 10:00  04-Mar-26 11:00\n\
                \x20                         ------------------------------------------------------\n\n";
    let period = busy(&with(&days().awr_text(), page));
    assert_eq!((period.active_sessions, period.user_io), (90.0, Some(0.415)));
}

/// Requests and bytes of reads, and executions, of a part: `500 8192000 10`; -1 if they are not counted.
fn part(report: &str, name: &str) -> String {
    let works = subject(report).works;
    let names: Vec<&str> = works.iter().map(|work| work.part.as_str()).collect();
    let work = works.iter().find(|work| work.part == name).unwrap_or_else(|| panic!("no {name} in {names:?}"));
    format!("{} {} {}", work.reads, work.bytes_read, work.tally("calls").unwrap_or(-1.0))
}

#[test]
fn statements_and_segments_have_their_reads() {
    let report = Workload::small_shop(9).awr_html();
    let blocks: &[&str] = &["1,000", "10", "100.00", "41.0", "7abc123defgh4", "Shop (web)", "select 1"];
    let columns = ["Physical Reads", "Executions", "Reads     per Exec", "%Total", "SQL Id", "SQL Module", "SQL Text"];
    let requests: &[&str] = &["400", "500", "10", "7abc123defgh4", "Shop (web)", "select 1"];
    let of_requests =
        ["UnOptimized Read Reqs", "Physical  Read Reqs", "Executions", "SQL Id", "SQL Module", "SQL Text"];
    let block: &[&str] = &["900", "1", "900.00", "40.0", "9abc123defgh4", "", "DECLARE job"];
    let segment: &[&str] = &["SHOP", "DATA", "ORDERS", "P1", "TABLE PARTITION", "800", "30.0"];
    let of_segments =
        ["Owner", "Tablespace    Name", "Object Name", "Subobject   Name", "Obj. Type", "Physical Reads", "%Total"];
    let more = table(&columns, &[blocks, block]) + &table(&of_requests, &[requests]) + &table(&of_segments, &[segment]);
    let found = with(&report, &more);
    assert_eq!(part(&found, "statement 7abc123defgh4 (Shop (web))"), "500 8192000 10");
    assert_eq!(part(&found, "statement 9abc123defgh4 (PL/SQL)"), "0 7372800 1");
    assert_eq!(part(&found, "segment SHOP.ORDERS.P1"), "0 6553600 -1");
    let reading = read(&found);
    let top = reading.times[0].counters.top_reader.as_deref().expect("the statement with most bytes");
    assert_eq!((top.statement.as_str(), top.bytes), ("7abc123defgh4", 8_192_000.0));
    // Tablespaces are places and no parts of the work.
    assert_eq!(subject(&found).works.len(), 4);
    // The figures of the whole are unchanged.
    assert_eq!(reading.figures, read(&report).figures);
}

#[test]
fn statements_of_text_end_with_blank_lines() {
    let sections = "SQL ordered by Reads                 DB/Inst: SHOP/shop1  Snaps: 1-2\n-> %Total - Physical Reads\n\n\
                    \x20  Physical              Reads              Elapsed\n\
                    \x20     Reads  Executions per Exec   %Total   Time (s)   %CPU    %IO    SQL Id\n\
                    ----------- ----------- ---------- ------ ---------- ------ ------ -------------\n\
                    \x20     1,000          10        1.5   35.1    3,625.7    1.4   98.8 7abc123defgh4\n\
                    Module: Shop (web) of the north\nselect customer_id, cust_first_name ,cust_last_name\n1\n\n\
                    \x20       900           9        0.8   14.5    1,327.3    3.9   95.7 8abc123defgh4\nDECLARE job\n\n\
                    \x20                         ------------------------------------------------------\n\n";
    let report = with(&Workload::small_shop(9).awr_text(), sections);
    assert_eq!(part(&report, "statement 7abc123defgh4 (Shop (web) of the north)"), "0 8192000 10");
    assert_eq!(part(&report, "statement 8abc123defgh4"), "0 7372800 9");

    let statspack = "SQL ordered by Reads  DB/Inst: SHOP/shop1  Snaps: 1-2\n-> End Disk Reads Threshold:      1000\n\n\
                     \x20                                                    CPU      Elapsd     Old\n\
                     \x20 Physical Rds   Executions  Rds per Exec   %Total Time (s)  Time (s) Hash Value\n\
                     --------------- ------------ -------------- ------ -------- --------- ----------\n\
                     \x20         1,000           10            6.3   66.7   337.71    404.33 3851979199\n\
                     Module: refresh@node (TNS V1-V3)\nSELECT TABLE_ID, ISN\n\n\
                     \x20           800            2      228,875.0   15.1   318.37    319.34 3774594237\n BEGIN  x; END;\n\n\
                     \x20         -------------------------------------------------------------\n\n";
    let report = with(&Workload::small_shop(9).statspack(), statspack);
    assert_eq!(part(&report, "statement 3851979199 (refresh@node (TNS V1-V3))"), "0 8192000 10");
    assert_eq!(part(&report, "statement 3774594237"), "0 6553600 2");
}

#[test]
fn work_on_columnar_compression_is_counted() {
    let report = Workload::small_shop(9).awr_html();
    let columns = ["Statistic", "Total", "per Second", "per Trans"];
    let columnar = |rows: &[(&str, &str)]| {
        let rows: Vec<Vec<&str>> = rows.iter().map(|(name, total)| vec![*name, *total, "0.00", "0.00"]).collect();
        let rows: Vec<&[&str]> = rows.iter().map(Vec::as_slice).collect();
        read(&with(&report, &table(&columns, &rows))).times[0].counters.columnar
    };
    let found = columnar(&[
        ("HCC scan cell CUs decompressed", "1,000"),
        ("HCC scan rdbms CUs decompressed", "200"),
        ("HCC scan cell bytes compressed", "40,000"),
        ("HCC scan cell bytes decompressed", "70,000"),
        ("HCC load direct bytes compressed", "1,000,000,000"),
        ("HCC load direct bytes uncompressed", "8,000,000,000"),
        ("HCC load conventional bytes uncompressed", "0"),
    ]);
    let found = found.expect("it is in use");
    assert_eq!((found.units, found.stored_bytes, found.expanded_bytes), (1_200.0, 40_000.0, 70_000.0));
    near(found.ratio().expect("loads have a ratio"), 8.0);
    // Earlier names; scans of cells without the sizes of units.
    let found = columnar(&[
        ("EHCC CUs Decompressed", "50"),
        ("EHCC Compressed Length Decompressed", "900"),
        ("EHCC Decompressed Length Decompressed", "9,000"),
    ]);
    assert_eq!(found.map(|found| (found.units, found.stored_bytes, found.ratio())), Some((50.0, 900.0, None)));
    let found = columnar(&[("cell CUs sent uncompressed", "60"), ("cell CUs sent compressed", "1")]);
    assert_eq!(found.map(|found| (found.units, found.stored_bytes)), Some((61.0, 0.0)));
    // Not in use, or not counted.
    assert_eq!(columnar(&[("HCC scan cell CUs decompressed", "0"), ("EHCC CUs Decompressed", "0")]), None);
    assert_eq!(columnar(&[]), None);
}

#[test]
fn writes_of_a_pluggable_database_are_those_of_its_files() {
    let report = Workload::small_shop(9).awr_html();
    let pluggable = report.replacen("WORKLOAD REPOSITORY report", "WORKLOAD REPOSITORY PDB report", 1);
    for total in ["TOTAL", "TOTAL:"] {
        let pluggable = pluggable.replace(">TOTAL:<", ">TOTAL<").replace(">TOTAL<", &format!(">{total}<"));
        let reading = read(&pluggable);
        let is_writes =
            |figure: &&plimsoll_ingest::Figure| (figure.class, figure.measure) == (Class::Write, Measure::Iops);
        let figure = reading.figures.iter().find(is_writes).expect("its writes");
        assert_eq!(figure.origin.table.as_deref(), Some("IOStat by Filetype"), "{total}");
    }
}
