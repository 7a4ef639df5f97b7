//! Reports generated from a workload and read again, and inputs that are not reports.

use plimsoll_ingest::{Class, Demand, Doubt, Fate, Measure, Outcome, OutcomeSummary, Reading, Resource};
use plimsoll_testkit::Workload;
use proptest::prelude::*;

use crate::read::{reading as read, refusal as refused};

fn read_outcome(bytes: &[u8], step: usize) -> Outcome {
    crate::read::outcome("test", bytes, step)
}

fn workload(hour: i8, single_reads: u64) -> Workload {
    Workload {
        host: "db<1>".to_owned(),
        begin: jiff::civil::date(2026, 3, 2).at(hour, 0, 4, 0),
        single_reads,
        ..Workload::small_shop(hour)
    }
}

fn value(reading: &Reading, class: Class, measure: Measure) -> f64 {
    let mut figures = reading.figures.iter().filter(|figure| (figure.class, figure.measure) == (class, measure));
    let figure = figures.next().unwrap_or_else(|| panic!("no {measure:?} of {class:?}"));
    assert!(figures.next().is_none(), "{measure:?} of {class:?} twice");
    figure.value
}

fn near(found: f64, expected: f64, share: f64) {
    assert!((found - expected).abs() <= expected * share, "{found}, expected {expected}");
}

#[test]
fn a_removed_name_is_taken_from_the_title() {
    let total = workload(9, 1_000).awr_html();
    let cut = total.replacen(">SHOP</td>", ">/td>", 1);
    assert!(cut.len() < total.len() && cut.contains("DB: SHOP, Inst"), "the name is in a cell and in the title");
    assert_eq!(Demand::of(&[&read(&cut)]).subjects[0].name, Demand::of(&[&read(&total)]).subjects[0].name);
}

#[test]
fn a_generated_report_yields_its_workload() {
    let work = workload(9, 3_600_000);
    let reading = read(&work.awr_html());
    let scope = &reading.scopes[0];
    assert_eq!((scope.database.as_str(), scope.instance.as_str(), scope.host.as_str()), ("SHOP", "shop1", "db<1>"));
    assert_eq!(reading.windows[0].begin, Some(work.begin));
    near(value(&reading, Class::RandomRead, Measure::Iops), 1_000.0, 1e-9);
    near(value(&reading, Class::RandomRead, Measure::Latency), 850e-6, 1e-9);
    near(value(&reading, Class::SequentialRead, Measure::Iops), 100.0, 1e-9);
    near(value(&reading, Class::SequentialRead, Measure::Size), 524_288.0, 1e-9);
    near(value(&reading, Class::Write, Measure::Iops), 250.0, 1e-9);
    near(value(&reading, Class::RedoWrite, Measure::Iops), 50.0, 1e-9);
    near(value(&reading, Class::RedoWrite, Measure::Latency), 410e-6, 1e-9);
    near(reading.times[0].database_s, 8_060.0, 1e-9);
    assert_eq!(reading.advice.len(), 3);
    assert!(reading.cautions.is_empty(), "{:?}", reading.cautions);
    let text = work.awr_html();
    let lines: Vec<&str> = text.lines().collect();
    for figure in &reading.figures {
        let row = figure.origin.field.split(" / ").next().unwrap();
        assert!(lines[figure.origin.line as usize - 1].contains(row), "{}", figure.origin);
    }
}

/// Replaces the total of a statistic in the tables of a report.
fn restate(report: &str, statistic: &str, total: u64) -> String {
    let row = report.find(&format!(">{statistic}<")).expect("the statistic");
    let cell = row + report[row..].find("<td class='awrc'>").expect("its total");
    let begin = cell + "<td class='awrc'>".len();
    let end = begin + report[begin..].find('<').expect("its end");
    format!("{}{total}{}", &report[..begin], &report[end..])
}

#[test]
fn reads_of_backups_are_separate() {
    let work = workload(9, 3_600_000);
    let report = work.awr_html();
    // 50 reads a second of 1 MiB in the hour, beside 1,100 of the database.
    let with = |reads: u64, bytes: u64| {
        let more = restate(&report, "physical read total IO requests", 3_960_000 + reads);
        let database_bytes = (3_600_000 + 360_000 * 64) * 8_192;
        read(&restate(&more, "physical read total bytes", database_bytes + bytes))
    };
    let backup = with(180_000, 180_000 << 20);
    near(value(&backup, Class::BackupRead, Measure::Iops), 50.0, 1e-9);
    near(value(&backup, Class::BackupRead, Measure::Throughput), 50.0 * 1_048_576.0, 1e-9);
    near(value(&backup, Class::RandomRead, Measure::Iops), 1_000.0, 1e-9);
    let has_backup = |reading: &Reading| reading.figures.iter().any(|figure| figure.class == Class::BackupRead);
    assert!(!has_backup(&with(180_000, 180_000 * 16_384)), "control files");
    assert!(!has_backup(&read(&report)));
}

/// Inserts a row above the one that begins with `above`.
fn insert_row(report: &str, above: &str, cells: &[&str]) -> String {
    let at = report.find(&format!(">{above}<")).expect("the row");
    let at = report[..at].rfind("<tr>").expect("its begin");
    let row = cells.join("</td><td class='awrc'>");
    format!("{}<tr><td class='awrc'>{row}</td></tr>\n{}", &report[..at], &report[at..])
}

/// A report of Exadata whose sessions waited for single blocks so often, and in these variants of the event with their waits
/// and seconds.
fn exadata(waits: u64, variants: &[(&str, u64, u64)]) -> Reading {
    let event = "cell single block physical read";
    let report = workload(9, 3_600_000).awr_html().replace("db file sequential read", event);
    let (before, events) = report.split_at(report.find("Foreground Wait Events").expect("the table"));
    let mut events = restate(events, event, waits);
    for (variant, waits, total_s) in variants {
        let cells = [format!("{event}: {variant}"), waits.to_string(), String::new(), total_s.to_string()];
        let cells = cells.iter().map(String::as_str).chain(["", "", ""]);
        events = insert_row(&events, event, &cells.collect::<Vec<_>>());
    }
    read(&format!("{before}{events}"))
}

/// 1,000 single-block reads per second.
#[test]
fn waits_for_few_reads_are_not_the_latency_of_all() {
    let is_latency =
        |figure: &&plimsoll_ingest::Figure| (figure.class, figure.measure) == (Class::RandomRead, Measure::Latency);
    let latency = |reading: &Reading| reading.figures.iter().find(is_latency).map(|figure| figure.value);
    let is_doubted =
        |reading: &Reading| reading.cautions.iter().any(|caution| caution.doubt.to_string().contains(" cover "));
    let fifth = exadata(720_000, &[]);
    near(latency(&fifth).unwrap(), 850e-6, 1e-9);
    assert!(!is_doubted(&fifth));
    let few = exadata(36_000, &[]);
    assert_eq!((latency(&few), is_doubted(&few)), (None, true));
    // The mean over the event and its variants, by waits.
    let flash = exadata(36_000, &[("flash cache", 684_000, 684), ("RDMA", 1_280_000, 64)]);
    near(latency(&flash).unwrap(), (36_000.0 * 850e-6 + 684.0 + 64.0) / 2_000_000.0, 1e-9);
    assert!(!is_doubted(&flash));
}

#[test]
fn latency_of_another_event_is_not_called_unknown() {
    let report = workload(9, 3_600_000).awr_html().replace("db file sequential read", "direct path read");
    let (before, events) = report.split_at(report.find("Foreground Wait Events").expect("the table"));
    let scattered = ["db file scattered read", "1000", "", "1", "", "", ""];
    let reading = read(&format!("{before}{}", insert_row(events, "direct path read", &scattered)));
    near(value(&reading, Class::SequentialRead, Measure::Latency), 850e-6, 1e-9);
    let doubts: Vec<_> = reading.cautions.iter().map(|caution| caution.doubt.to_string()).collect();
    let coverage: Vec<_> = doubts.iter().filter(|doubt| doubt.contains(" cover ")).collect();
    assert!(coverage.len() == 1 && coverage[0].ends_with("direct-path-read waits, a minimum"), "{doubts:?}");
}

/// The counter of multi-block reads lacks reads of scans that are divided among cells.
#[test]
fn reads_of_single_blocks_are_at_most_the_blocks_of_the_cache() {
    let report = workload(9, 3_600_000).awr_html();
    let (before, events) = report.split_at(report.find("Foreground Wait Events").expect("the table"));
    let waits = |waits| format!("{before}{}", restate(events, "db file sequential read", waits));
    let with = |cached: u64, waited: u64| {
        let report = waits(waited);
        let direct = (3_600_000 + 360_000 * 64 - cached).to_string();
        let cached = cached.to_string();
        let row =
            |report: &str, name: &str, total: &str| insert_row(report, "physical read bytes", &[name, total, "", ""]);
        read(&row(&row(&report, "physical reads cache", &cached), "physical reads direct", &direct))
    };
    let few = with(36_000, 36_000);
    near(value(&few, Class::RandomRead, Measure::Iops), 10.0, 1e-9);
    near(value(&few, Class::SequentialRead, Measure::Iops), 1_090.0, 1e-9);
    near(value(&with(3_600_000, 36_000), Class::RandomRead, Measure::Iops), 1_000.0, 1e-9);
    // Sessions waited for single blocks that bypass the cache.
    near(value(&with(36_000, 1_800_000), Class::RandomRead, Measure::Iops), 500.0, 1e-9);
}

#[test]
fn each_read_counts_once() {
    // Beside 1,000 single-block and 100 multi-block reads per second of the database, 10 of the latter of temporary files:
    // 20 reads of control files of 16 KiB and 50 of a backup of 1 MiB.
    let seconds = 3_600;
    let report = workload(9, 3_600_000).awr_html();
    let database_bytes = (3_600_000 + 360_000 * 64) * 8_192;
    let aside = seconds * (20 * 16_384 + (50 << 20));
    let report = restate(&report, "physical read total IO requests", 3_960_000 + seconds * 70);
    let report = restate(&report, "physical read total bytes", database_bytes + aside);
    let control = ["Control File", "1.1G", "20.00", ".3125M", "0M", "0.00", "0M", "", ""];
    let temp = ["Temp File", "17.6G", "10.00", "5M", "0M", "0.00", "0M", "", ""];
    let reading = read(&insert_row(&insert_row(&report, "TOTAL:", &control), "TOTAL:", &temp));
    let iops = |class: Class| value(&reading, class, Measure::Iops);
    near(iops(Class::BackupRead), 50.0, 1e-9);
    near(value(&reading, Class::BackupRead, Measure::Size), 1_048_576.0, 1e-9);
    near(iops(Class::SequentialRead), 90.0, 1e-9);
    near(value(&reading, Class::SequentialRead, Measure::Throughput), 100.0 * 524_288.0 - 5.0 * 1_048_576.0, 1e-9);
    let classes = [Class::RandomRead, Class::SequentialRead, Class::TempRead, Class::BackupRead, Class::Other];
    near(classes.into_iter().map(iops).sum(), iops(Class::Read), 1e-9);
    // Sorts of single blocks are random reads, and control files alone are no backup.
    let small = ["Temp File", "280M", "10.00", ".078125M", "0M", "0.00", "0M", "", ""];
    let aside = restate(&report, "physical read total IO requests", 3_960_000 + seconds * 20);
    let aside = restate(&aside, "physical read total bytes", database_bytes + seconds * 20 * 16_384);
    let reading = read(&insert_row(&insert_row(&aside, "TOTAL:", &control), "TOTAL:", &small));
    near(value(&reading, Class::RandomRead, Measure::Iops), 990.0, 1e-9);
    near(value(&reading, Class::SequentialRead, Measure::Iops), 100.0, 1e-9);
    assert!(!reading.figures.iter().any(|figure| figure.class == Class::BackupRead));
}

/// A write of the log is a request to each member of a group; the function of the log writer includes control files.
#[test]
fn redo_is_counted_in_requests_to_log_files_or_in_log_writes() {
    let report = restate(&workload(9, 3_600_000).awr_html(), "redo writes", 72_000);
    let check = |report: &str, iops: f64, caution: &str| {
        let reading = read(report);
        near(value(&reading, Class::RedoWrite, Measure::Iops), iops, 1e-9);
        assert!(
            reading.cautions.iter().any(|one| one.doubt.to_string().contains(caution)),
            "{caution}: {:?}",
            reading.cautions
        );
    };
    check(&report, 50.0, "requests to log files, 50.0/s: members of groups and pieces of the 20.0 log writes/s");
    let without = report.replace("Log File", "Flashback Log").replace("Redo Requests", "Cache Requests");
    check(&without, 20.0, "in log writes (redo writes), once for all members of a group");
}

/// 36 TB may be filtered and 3.6 TB are returned, in an hour.
#[test]
fn bytes_that_cells_filter_are_those_not_returned() {
    let (eligible, returned) = (
        "cell physical IO bytes eligible for predicate offload",
        "cell physical IO interconnect bytes returned by smart scan",
    );
    let with = |rows: &[(&str, &str)]| {
        let report = rows.iter().fold(workload(9, 3_600_000).awr_html(), |report, (name, bytes)| {
            insert_row(&report, "redo size", &[name, bytes, "", ""])
        });
        let reading = read(&report);
        let rate = reading.resources.iter().find(|resource| resource.resource == Resource::FilteredBytes);
        let bytes = Demand::of(&[&reading]).subjects[0].account.as_ref().unwrap().total.counters.filtered_bytes;
        (bytes, rate.map(|rate| rate.value))
    };
    let both = with(&[(eligible, "36,000,000,000,000"), (returned, "3,600,000,000,000")]);
    assert_eq!(both, (Some(32.4e12), Some(9e9)));
    // Rows of compressed blocks are larger than these: nothing is saved.
    assert_eq!(with(&[(eligible, "36,000"), (returned, "72,000")]), (Some(0.0), None));
    assert_eq!(with(&[(eligible, "36,000")]), (None, None), "unknown is not zero");
}

/// An hour of two instances: 300 and 100 MB/s of reads, 50 MB/s of writes each.
#[test]
fn busiest_instance_of_a_cluster_has_the_highest_rates() {
    let row = |name: &str, total: u64, maximum: u64| {
        format!(
            "<tr><td>{name}</td><td>{total}</td><td>0</td><td>0</td><td>0</td><td>0</td><td>0</td><td>{maximum}</td></tr>\n"
        )
    };
    let table = |maximum: &str| {
        let rows = [
            row("physical read total IO requests", 7_200_000, 1_200),
            row("physical write total IO requests", 3_600_000, 600),
            row("physical read total bytes", 1_440_000_000_000, 300_000_000),
            row("physical write total bytes", 360_000_000_000, 50_000_000),
            row("cell physical IO bytes eligible for predicate offload", 720_000_000_000, 150_000_000),
            row("cell physical IO interconnect bytes returned by smart scan", 72_000_000_000, 20_000_000),
        ];
        let instance = |number: u8| {
            format!(
                "<tr><td>{number}</td><td>shop{number}</td><td>db{number}</td><td>01-Mar-26 10:00</td>\
                 <td>02-Mar-26 09:00</td><td>02-Mar-26 10:00</td><td>19.0.0.0.0</td><td>60.00</td></tr>\n"
            )
        };
        format!(
            "<html><head><title>AWR RAC Report for DB: SHOP, Snaps: 1-2</title></head>\n\
             <body><h1>WORKLOAD REPOSITORY REPORT (RAC)</h1>\n<table><tr><th>I#</th><th>Instance</th><th>Host</th>\
             <th>Startup</th><th>Begin Snap Time</th><th>End Snap Time</th><th>Release</th><th>Elapsed Time(min)</th></tr>\n\
             {}{}</table>\n<table><tr><td></td><td></td><td></td><td></td><th colspan=\"4\">per Second</th></tr>\n\
             <tr><th>Statistic</th><th>Total</th><th>per Second</th><th>per Trans</th><th>Average</th><th>Std Dev</th>\
             <th>Min</th><th>{maximum}</th></tr>\n{}</table>\nEnd of Report</body></html>\n",
            instance(1),
            instance(2),
            rows.concat()
        )
    };
    let resources = |report: &str| {
        let reading = read(report);
        let rate_of =
            |resource| reading.resources.iter().find(|found| found.resource == resource).map(|found| found.value);
        [Resource::BusiestOperations, Resource::BusiestBytes, Resource::FilteredBytes].map(rate_of)
    };
    // Nine tenths of the eligible bytes are filtered.
    assert_eq!(resources(&table("Max")), [Some(0.6), Some(0.7), Some(135e6)]);
    assert_eq!(resources(&table("Other")), [None, None, Some(180e6)], "all of it without the column");
    let systems = "<table><tr><td></td><th colspan=\"3\">CPU</th></tr>\n<tr><th>I#</th><th>#CPUs</th><th>#Cores</th>\
                   <th>#Sckts</th></tr>\n<tr><td>1</td><td>28</td><td>14</td><td>1</td></tr>\n\
                   <tr><td>2</td><td>16</td><td>16</td><td>1</td></tr></table>\nEnd of Report";
    let reading = read(&table("Max").replace("End of Report", systems));
    let of_hosts = |resource: Resource| -> Vec<(&str, f64)> {
        let found = reading.resources.iter().filter(|found| found.resource == resource);
        found.map(|found| (found.instance.as_str(), found.value)).collect()
    };
    assert_eq!(of_hosts(Resource::HostProcessors), [("1", 28.0), ("2", 16.0)]);
    assert_eq!(of_hosts(Resource::HostCores), [("1", 14.0), ("2", 16.0)]);
}

#[test]
fn waiting_on_the_host_and_hard_parses_are_read() {
    let work = workload(9, 3_600_000);
    let report = insert_row(&work.awr_html(), "NUM_CPUS", &["IOWAIT_TIME", "72,000", ""]);
    let report = insert_row(&report, "NUM_CPUS", &["OS_CPU_WAIT_TIME", "1,440,000", ""]);
    let report = insert_row(&report, "NUM_CPUS", &["VM_IN_BYTES", "1,800,000,000", ""]);
    let report = insert_row(&report, "NUM_CPUS", &["VM_OUT_BYTES", "3,600,000,000", ""]);
    let report = insert_row(&report, "redo size", &["parse count (hard)", "360,000", "100.00", ""]);
    let report = insert_row(&report, "redo size", &["physical read requests optimized", "990,000", "275.00", ""]);
    let report = insert_row(&report, "DB time", &["hard parse elapsed time", "806.00", "10.00"]);
    let demand = Demand::of(&[&read(&report)]);
    let spent = &demand.subjects[0].account.as_ref().unwrap().total;
    let all_s = 3_600.0 * f64::from(work.processors);
    near(spent.host.io_wait.unwrap(), 720.0 / all_s, 1e-9);
    near(spent.host.processors_in_io_wait.unwrap(), 0.2, 1e-9);
    near(spent.host.processes.unwrap(), 4.0, 1e-9);
    let of_load = demand.subjects[0].host.as_ref().unwrap().paged_bytes_s;
    for [paged_in, paged_out] in [spent.host.paged_bytes_s.unwrap(), of_load.unwrap()] {
        near(paged_in, 500e3, 1e-9);
        near(paged_out, 1e6, 1e-9);
    }
    let origin = &spent.host.place.as_ref().unwrap().origin;
    assert_eq!(origin.table.as_deref(), Some("Operating System Statistics"));
    let counters = &spent.counters;
    assert_eq!((counters.hard_parses, counters.hard_parse_s), (Some(360_000.0), Some(806.0)));
    near(counters.flash_reads.unwrap() / counters.read_requests.unwrap(), 0.25, 1e-9);
    let absent = Demand::of(&[&read(&work.awr_html())]);
    let spent = &absent.subjects[0].account.as_ref().unwrap().total;
    assert_eq!((spent.host.io_wait, spent.host.processes, spent.counters.flash_reads), (None, None, None));
    assert_eq!((spent.host.paged_bytes_s, absent.subjects[0].host.as_ref().unwrap().paged_bytes_s), (None, None));
}

#[test]
fn idle_waits_of_another_class_are_listed() {
    let report = workload(9, 3_600_000).awr_html();
    let row = |event: &str| {
        format!("<tr><td>{event}</td><td>1,000</td><td></td><td>400</td><td></td><td></td><td></td></tr>\n")
    };
    let at = report.find("db file sequential read").unwrap();
    let at = report[..at].rfind("<tr>").unwrap();
    let waits = row("virtual circuit wait") + &row("SQL*Net message from client");
    let top = "<table summary=\"This table displays top 10 wait events by total wait time\"><tr><th>Event</th><th>Waits</th>\
               <th>Total Wait Time (sec)</th><th>Wait Avg(ms)</th><th>% DB time</th><th>Wait Class</th></tr>\n\
               <tr><td>virtual circuit wait</td><td>1,000</td><td>400</td><td>400</td><td>5.0</td><td>Network</td></tr></table>\n";
    let report = format!("{}{waits}{}", &report[..at], &report[at..]);
    let first = report.find("<table").unwrap();
    let reading = read(&format!("{}{top}{}", &report[..first], &report[first..]));
    assert_eq!(reading.times[0].counters.idle_waits, [("virtual circuit wait".into(), 400.0)]);
}

#[test]
fn shares_of_the_front_page_replace_missing_counters_of_the_host() {
    let table = "<table summary=\"This table displays system load statistics\"><tr><th>Load Average Begin</th>\
                 <th>%User</th><th>%System</th><th>%WIO</th><th>%Idle</th></tr>\n\
                 <tr><td>2.00</td><td>20.0</td><td>5.0</td><td>18.46</td><td>75.0</td></tr></table>\n";
    let report = workload(9, 3_600_000).awr_html().replace("BUSY_TIME", "OTHER_TIME");
    let at = report.find("<table").expect("a table");
    let demand = Demand::of(&[&read(&format!("{}{table}{}", &report[..at], &report[at..]))]);
    let spent = &demand.subjects[0].account.as_ref().unwrap().total;
    near(spent.host_busy.unwrap(), 0.25, 1e-9);
    near(spent.host.io_wait.unwrap(), 0.1846, 1e-9);
}

#[test]
fn direct_reads_without_a_counter_of_multi_block_reads_are_sequential() {
    let work = workload(9, 3_600_000);
    let without = work.awr_html().replace("physical read total multi block requests", "physical reads direct");
    let direct = |blocks: u64, cached: u64| {
        let text =
            restate(&without, "physical reads direct", blocks).replace(">redo writes<", ">physical reads cache<");
        read(&restate(&text, "physical reads cache", cached))
    };
    let reading = direct(3_960_000 * 8, 36_000);
    near(value(&reading, Class::SequentialRead, Measure::Iops), 1_090.0, 1e-9);
    near(value(&reading, Class::SequentialRead, Measure::Size), 8.0 * 8_192.0 * 3_960.0 / 3_924.0, 1e-9);
    let has_kinds = |reading: &Reading| {
        reading.figures.iter().any(|f| f.class == Class::SequentialRead && f.measure == Measure::Iops)
    };
    assert!(!has_kinds(&direct(3_960_000 * 8, 3_960_000)), "reads into the cache are of unknown size");
    assert!(!has_kinds(&direct(3_960_000, 36_000)), "single blocks, also if they are direct");
}

#[test]
fn direct_reads_that_the_counter_of_multi_block_reads_lacks_are_sequential() {
    let report = workload(9, 3_600_000).awr_html();
    let direct = restate(&report, "physical read total multi block requests", 0)
        .replace(">redo size<", ">physical reads direct<")
        .replace(">redo writes<", ">physical reads cache<");
    let direct = restate(&direct, "physical reads direct", 3_960_000 * 8);
    let reading = read(&restate(&direct, "physical reads cache", 0));
    near(value(&reading, Class::SequentialRead, Measure::Iops), 1_100.0, 1e-9);
    near(value(&reading, Class::SequentialRead, Measure::Size), 65_536.0, 1e-9);
    assert!(reading.cautions.is_empty(), "{:?}", reading.cautions);
}

#[test]
fn waits_for_direct_reads_are_the_latency_of_sequential_reads() {
    let single = workload(9, 3_600_000).awr_html();
    let direct = single.replace("db file sequential read", "direct path read");
    near(value(&read(&direct), Class::SequentialRead, Measure::Latency), 850e-6, 1e-9);
    let temp = read(&single.replace("db file sequential read", "direct path read temp"));
    near(value(&temp, Class::TempRead, Measure::Latency), 850e-6, 1e-9);
}

#[test]
fn several_reports_are_combined_into_a_demand() {
    let second = Workload { instance: "shop2".to_owned(), ..workload(9, 7_200_000) };
    let other = Workload { database: "PAY".to_owned(), ..workload(9, 36_000) };
    let works = [workload(9, 3_600_000), second, workload(10, 1_800_000), workload(10, 1_800_000), other];
    let readings: Vec<Reading> = works.iter().map(|work| read(&work.awr_html())).collect();
    let demand = Demand::of(&readings.iter().collect::<Vec<_>>());
    let names: Vec<&str> = demand.subjects.iter().map(|subject| subject.name.as_str()).collect();
    assert_eq!(names, ["PAY", "SHOP"], "the two databases are separate");
    let shop = &demand.subjects[1];
    assert_eq!((shop.instances.len(), shop.slots.len(), shop.doubts.len()), (2, 2, 1), "{:?}", shop.doubts);
    assert!(matches!(shop.doubts[0], Doubt::WindowGivenTwice { .. }));
    let series = shop.series(Class::RandomRead, Measure::Iops).unwrap();
    near(series.values[0].unwrap(), 3_000.0, 1e-9);
    near(series.values[1].unwrap(), 500.0, 1e-9);
    let summary = shop.summary(series).unwrap();
    near(summary.mean, 1_750.0, 1e-9);
    near(summary.maximum, 3_000.0, 1e-9);
}

#[test]
fn refusals_name_the_missing_part() {
    assert!(refused("<html><body>hello</body></html>").contains("no heading WORKLOAD REPOSITORY"));
    assert!(refused("<html><h1>WORKLOAD REPOSITORY report for</h1></html>").contains("no table below its heading"));
    let total = workload(9, 3_600_000).awr_html();
    assert!(refused(&total.replace("report for", "COMPARE PERIOD REPORT")).contains("compares two periods"));
    assert!(refused(&total.replace("Snap Time", "Time")).contains("it lacks the length of its window"));
}

#[test]
fn several_reports_in_a_file_are_refused() {
    let [nine, ten] = [9, 10].map(|hour| workload(hour, 3_600_000));
    for of in [Workload::awr_html, Workload::awr_text, Workload::statspack] {
        let both = [of(&nine), of(&ten)].concat();
        let refusal = refused(&both);
        assert!(refusal.contains("several reports: split it"), "{refusal}");
    }
}

#[test]
fn a_truncated_report_is_read_partly() {
    let total = workload(9, 3_600_000).awr_html();
    let cut = total.find("redo size").unwrap();
    let outcome = read_outcome(&total.as_bytes()[..cut], 100);
    assert_eq!(outcome.verdict(), OutcomeSummary::Partly);
    let reading = outcome.reading().unwrap();
    assert!(reading.parts.iter().any(|part| part.fate == Fate::Broken && part.name == "Instance Activity Stats"));
    near(value(reading, Class::Read, Measure::Iops), 1_100.0, 1e-9);
}

#[test]
fn a_report_without_its_end_is_read_partly() {
    let total = workload(9, 3_600_000).awr_html();
    let cut = read_outcome(&total.as_bytes()[..total.find("End of Report").unwrap()], 100);
    assert_eq!(cut.verdict(), OutcomeSummary::Partly);
    let reading = cut.reading().unwrap();
    assert!(reading.parts.iter().any(|part| part.fate == Fate::Broken && part.name == "End of Report"));
    assert_eq!(reading.figures, read(&total).figures, "the part before is used");
}

#[test]
fn databases_with_equal_names_are_distinguished_by_number() {
    let shop = workload(9, 3_600_000).awr_html();
    let cells = |id: &str| format!("<td class='awrc'>SHOP</td><td class='awrc'>{id}</td>");
    assert!(shop.contains(&cells("1")), "the number follows the name");
    let other = shop.replace(&cells("1"), &cells("77"));
    let unknown = workload(10, 3_600_000).awr_html().replace(&cells("1"), &cells(""));
    let names = |texts: &[&str]| {
        let readings: Vec<Reading> = texts.iter().map(|text| read(text)).collect();
        let demand = Demand::of(&readings.iter().collect::<Vec<_>>());
        let named = |subject: &plimsoll_ingest::DatabaseDemand| (subject.name.clone(), subject.doubts.len());
        demand.subjects.iter().map(named).collect::<Vec<_>>()
    };
    assert_eq!(names(&[&shop, &unknown]), [("SHOP".to_owned(), 0)], "no number is no other database");
    let two = [("SHOP (DBID 1)".to_owned(), 1), ("SHOP (DBID 77)".to_owned(), 1)];
    assert_eq!(names(&[&shop, &other]), two);
    let three = [&[("SHOP".to_owned(), 1)], two.as_slice()].concat();
    assert_eq!(names(&[&shop, &other, &unknown]), three);
}

const COMPARED: &str = "\
WORKLOAD REPOSITORY COMPARE PERIOD REPORT

Snapshot Set    DB Id    Instance     Inst Num Release     Cluster Host          Std Block Size
------------ ----------- ------------ -------- ----------- ------- ------------ ---------------
First (1st)         4711 shop1               1 11.2.0.3.0  NO      db1                     8192
Second (2nd)        4711 shop1               1 11.2.0.3.0  NO      db1                     8192

Snapshot Set  Begin Snap Id Begin Snap Time            End Snap Id End Snap Time                  Avg Active Users           Elapsed Time (min)            DB time (min)
------------ -------------- ------------------------- ------------ ------------------------- -------------------------- -------------------------- --------------------------
1st                      10 02-Mar-26 09:00:00 (Mon)            11 02-Mar-26 10:00:00 (Mon)                       7.1                      60.0                     426.0
2nd                      20 02-Mar-26 07:00:00 (Mon)            21 02-Mar-26 07:30:02 (Mon)                       1.0                      30.0                      30.0
                                                                                      ~~~~~~~ ~~~~~~~~~~~~~~~~~~~~~~~~~~
                                                                                      %Diff:                       1.0

Time Model Statistics   First DB/Inst: SHOP/shop1 Snaps: 10-11 (Elapsed time: 3600 sec),  Second DB/Inst: SHOP/shop1 Snaps: 20-21 (Elapsed)
-> Ordered

                     % of DB time                                Time (seconds)
                     -----------------------------------------   ----------------------------------
Statistic Name                  1st            2nd        Diff            1st          2nd    %Diff
------------------   -------------- -------------- -----------   ------------ ------------ --------
DB time                       100.0          100.0         0.0       25,560.0      1,800.0     96.9

Key Instance Activity Stats   First DB/Inst: SHOP/shop1 Snaps: 10-11 (Elapsed time: 3600 sec),  Second DB/Inst: SHOP/shop1 Snaps: 20-21 (Elapsed)

                                                    Value                    per Second (Elapsed Time)
                                 -----------------------------------------   -------------------------
Statistic                                     1st              2nd   %Diff            1st          2nd
------------------------------   ---------------- ---------------- -------   ------------ ------------
physical read total IO request          3,600,000          180,200    48.0        1,000.0        100.0
physical read total bytes          29,491,200,000    1,476,198,400    48.0    8,192,000.0    819,200.0
                          -----------------------------------------------------------------------------
";

#[test]
fn a_report_comparing_two_periods_yields_two_windows() {
    let reading = read(COMPARED);
    let begins: Vec<String> = reading.windows.iter().map(|window| window.begin.unwrap().to_string()).collect();
    assert_eq!(begins, ["2026-03-02T07:00:00", "2026-03-02T09:00:00"], "in the order of time");
    let scope = &reading.scopes[0];
    assert_eq!((scope.database.as_str(), scope.database_id.as_str(), reading.scopes.len()), ("SHOP", "4711", 1));
    let reads = reading.figures.iter().filter(|figure| (figure.class, figure.measure) == (Class::Read, Measure::Iops));
    let found: Vec<f64> = reads.map(|figure| figure.value).collect();
    assert_eq!(found, [100.0, 1_000.0]);
    assert_eq!(reading.times.iter().map(|time| time.database_s).collect::<Vec<_>>(), [1_800.0, 25_560.0]);
    near(reading.windows[0].length.as_secs_f64(), 1_802.0, 1e-9);
    let lines: Vec<&str> = COMPARED.lines().collect();
    let at = |figure: &plimsoll_ingest::Figure| lines[figure.origin.line as usize - 1].contains("physical read total");
    assert!(reading.figures.iter().all(at));
    assert!(refused(&COMPARED.replace("PERIOD REPORT", "PERIOD REPORT (RAC)")).contains("all instances of a cluster"));
    assert!(refused(&COMPARED[..COMPARED.find("Time Model").unwrap()]).contains("provide the two original reports"));
}

#[test]
fn a_text_without_rulers_is_refused() {
    let text = "WORKLOAD REPOSITORY report for\n\nDB Name  DB Id\nSHOP  1\n\nBegin Snap: 1811   06-Mar-26 11:00:00\n\
                End Snap:   1812   06-Mar-26 12:00:00\nElapsed:     60.00 (mins)\n\nStatistic    Total   per Second\n\
                physical read total IO requests   3,600   1.0\n";
    assert!(refused(text).contains("line of dashes"));
}

#[test]
fn long_windows_and_restarts_cause_cautions() {
    let day = read(&Workload { minutes: 1_440, ..workload(9, 3_600_000) }.awr_html());
    assert!(day.cautions.iter().any(|caution| caution.doubt.to_string().contains("hides shorter peaks")));
    let long = read(&Workload { minutes: 10_080, ..workload(9, 3_600_000) }.awr_html());
    assert!(long.cautions.iter().any(|caution| caution.doubt.to_string().contains("it is unsuitable for sizing")));
    let restarted = read(&workload(9, 3_600_000).awr_html().replace("02-Mar-26 00:00:00", "02-Mar-26 09:30:00"));
    assert!(restarted.cautions.iter().any(|caution| caution.doubt.to_string().contains("started inside the window")));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_workload_survives_a_round_trip(
        single in 1_000_u64..10_000_000_000, several in 0_u64..1_000_000, blocks in 2_u64..128,
        writes in 0_u64..10_000_000, minutes in 1_u32..10_000, read_us in 1_u64..1_000_000,
    ) {
        let work = Workload {
            single_reads: single, several_reads: several, blocks_a_read: blocks, data_writes: writes, minutes, read_us,
            ..workload(1, 0)
        };
        let reading = read(&work.awr_html());
        let seconds = f64::from(minutes) * 60.0;
        near(value(&reading, Class::RandomRead, Measure::Iops), single as f64 / seconds, 1e-9);
        near(value(&reading, Class::SequentialRead, Measure::Iops), several as f64 / seconds, 1e-9);
        near(value(&reading, Class::Write, Measure::Iops), (writes + 180_000) as f64 / seconds, 1e-9);
        near(value(&reading, Class::RandomRead, Measure::Latency), read_us as f64 / 1e6, 0.02);
    }

    #[test]
    fn any_damage_yields_an_outcome(cut in 0_usize..20_000, at in 0_usize..20_000, junk in "[<>a-z\"'&#; =/\\n-]{0,40}", step in 1_usize..5_000) {
        let mut text = workload(9, 3_600_000).awr_html();
        text.insert_str(at % text.len(), &junk);
        text.truncate(text.len() - cut % text.len());
        let total = read_outcome(text.as_bytes(), text.len().max(1));
        prop_assert_eq!(read_outcome(text.as_bytes(), step), total);
    }

    #[test]
    fn any_text_below_a_heading_yields_an_outcome(
        heading in "(WORKLOAD REPOSITORY report for|STATSPACK report for|<h1>WORKLOAD REPOSITORY)",
        lines in prop::collection::vec("([ -~]{0,60}|[- ~]{3,60}|Begin Snap: 1 [0-9a-zA-Z: -]{0,30}|Elapsed: [0-9.,]{1,8} \\(mins\\)|X DB/Inst: a/b|OUTPUT|\u{e4}{0,9})", 0..60),
    ) {
        let text = format!("{heading}\n{}\n", lines.join("\n"));
        prop_assert_eq!(read_outcome(text.as_bytes(), 7), read_outcome(text.as_bytes(), text.len()));
    }
}

#[test]
fn real_reports_are_read_completely_and_imitations_are_refused() {
    for kind in ["awr_html", "awr_text", "statspack", "awr_diff_html", "awr_diff_text"] {
        for (file, outcome) in crate::bench_real::outcomes(kind) {
            let broken = outcome.reading().map(|reading| {
                reading
                    .parts
                    .iter()
                    .filter(|part| part.fate == Fate::Broken)
                    .map(|part| part.name.clone())
                    .collect::<Vec<_>>()
            });
            assert_eq!(outcome.verdict(), OutcomeSummary::Read, "{file}: {broken:?}");
        }
    }
    for (file, outcome) in crate::bench_real::outcomes("awr_text_synthetic") {
        let Outcome::Refused { refusal, .. } = outcome else { panic!("{file} was read") };
        assert!(refusal.to_string().contains("line of dashes"), "{file}: {refusal}");
    }
}
