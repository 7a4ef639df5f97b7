//! Processors in use, from each tool of a host: their number where the format has it, otherwise their busy share.

use plimsoll_ingest::{Demand, Resource};

use crate::read::reading;

/// Compares the processors in use and their busy share, of which a text has one.
#[track_caller]
fn check(text: &str, expected: &[(Resource, f64)]) {
    let resources = reading(text).resources;
    let is_use = |resource: &Resource| matches!(resource, Resource::UsedProcessors | Resource::BusyShare);
    let found: Vec<(Resource, f64)> =
        resources.iter().map(|one| (one.resource, one.value)).filter(|(resource, _)| is_use(resource)).collect();
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for ((resource, value), (own, other)) in found.iter().zip(expected) {
        assert!(resource == own && (value - other).abs() < 1e-9, "{found:?}, expected {expected:?}");
    }
}

#[test]
fn vmstat_has_a_share_of_an_unknown_number() {
    let text = "\
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 UTC
 1  0      0 999999   1000  50000    0    0     1     2   10   20 99  0  1  0  0 2025-03-24 10:00:00
 1  0      0 999999   1000  50000    0    0    10    20   10   20 20 10 50 15  5 2025-03-24 10:00:10
 1  0      0 999999   1000  50000    0    0    10    20   10   20 30 20 50  0  0 2025-03-24 10:00:20
";
    check(text, &[(Resource::BusyShare, 0.4)]);
}

#[test]
fn dstat_has_a_share_of_an_unknown_number() {
    let text = "\
\"Dstat 0.7.2 CSV output\"
\"Host:\",\"db1\",,,,\"User:\",\"op\"
\"Cmdline:\",\"dstat -tcd\",,,,\"Date:\",\"24 Mar 2025 10:00:00 UTC\"

\"system\",\"total cpu usage\",,,,,,\"dsk/total\",
\"time\",\"usr\",\"sys\",\"idl\",\"wai\",\"hiq\",\"siq\",\"read\",\"writ\"
24-03 10:00:00,9.0,9.0,1.0,1.0,0.0,0.0,100.0,100.0
24-03 10:00:05,20.0,5.0,60.0,15.0,0.0,0.0,8192.0,4096.0
";
    check(text, &[(Resource::BusyShare, 0.25)]);
}

#[test]
fn sadf_has_a_number_if_it_lists_each_processor() {
    let lines = |rows: &str| {
        format!(
            "# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle\n{rows}\
             # hostname;interval;timestamp;DEV;tps;rkB/s;wkB/s;dkB/s;areq-sz;aqu-sz;await;%util\n\
             host1;10;2025-03-24 10:00:10 UTC;sda;20.00;160.00;0.00;0.00;8.00;0.20;1.00;10.00\n"
        )
    };
    let row =
        |processor: &str| format!("host1;10;2025-03-24 10:00:10 UTC;{processor};20.00;0.00;10.00;15.00;5.00;50.00\n");
    check(&lines(&row("-1")), &[(Resource::BusyShare, 0.3)]);
    check(&lines(&["-1", "0", "1", "2", "3"].map(row).concat()), &[(Resource::UsedProcessors, 1.2)]);
}

#[test]
fn pidstat_sums_its_tasks() {
    let text = "\
Linux 5.15.0 (host1) \t03/24/25 \t_x86_64_\t(8 CPU)

10:00:00      UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command
10:00:10        0       100   50.00   10.00    0.00    0.00   60.00     1  postgres
10:00:10        0       101  100.00   40.00    0.00    0.00  140.00     2  postgres

10:00:00      UID       PID   kB_rd/s   kB_wr/s kB_ccwr/s iodelay  Command
10:00:10        0       100    160.00     80.00      0.00       0  postgres
";
    check(text, &[(Resource::UsedProcessors, 2.0)]);
}

#[test]
fn node_exporter_has_counters_of_each_processor() {
    let exposition = |time: u32, busy: u32, reads: u32| {
        let counter = |processor: u32, mode: &str, seconds: u32| {
            format!("node_cpu_seconds_total{{cpu=\"{processor}\",mode=\"{mode}\"}} {seconds}\n")
        };
        let processors: String = (0..4)
            .flat_map(|one| [counter(one, "idle", 9 * time), counter(one, "iowait", time), counter(one, "user", busy)])
            .collect();
        format!(
            "{processors}node_disk_reads_completed_total{{device=\"sda\"}} {reads}\n\
             node_disk_writes_completed_total{{device=\"sda\"}} {reads}\nnode_time_seconds {}\n",
            1_742_810_400 + time
        )
    };
    let text = exposition(0, 1_000, 5_000) + &exposition(60, 1_030, 5_600);
    check(&text, &[(Resource::UsedProcessors, 2.0)]);
    let count =
        reading(&text).resources.iter().find(|one| one.resource == Resource::HostProcessors).map(|one| one.value);
    assert_eq!(count, Some(4.0));
    check(&exposition(0, 1_000, 5_000), &[]);
}

#[test]
fn performance_counters_have_a_number_if_they_list_each_processor() {
    let log = |names: &str, values: &str| {
        format!(
            "\"(PDH-CSV 4.0) (UTC)(0)\",\"\\\\DB1\\PhysicalDisk(_Total)\\Disk Reads/sec\"{names}\n\
             \"03/24/2025 10:00:00.000\",\" \"{}\n\"03/24/2025 10:00:15.000\",\"100\"{values}\n",
            ",\" \"".repeat(names.matches(',').count())
        )
    };
    let name = |instance: &str| format!(",\"\\\\DB1\\Processor({instance})\\% Processor Time\"");
    check(&log(&name("_Total"), ",\"25\""), &[(Resource::BusyShare, 0.25)]);
    let each = ["0", "1"].map(name).concat();
    check(&log(&(each.clone() + &name("_Total")), ",\"20\",\"40\",\"30\""), &[(Resource::UsedProcessors, 0.6)]);
    check(&log(&each, ",\"20\",\"40\""), &[(Resource::UsedProcessors, 0.6)]);
}

/// Compares the mean load of a host: its busy share, and that of idle time with I/O in flight.
#[track_caller]
fn check_load(text: &str, expected: (f64, Option<f64>)) {
    let demand = Demand::of(&[&reading(text)]);
    let [subject] = demand.subjects.as_slice() else { panic!("{:?}", demand.subjects) };
    let host = subject.host.as_ref().expect("the load of its processors");
    assert!((host.busy - expected.0).abs() < 1e-9, "{host:?}");
    assert_eq!(host.io_wait.map(|share| (share * 1e6).round() / 1e6), expected.1, "{host:?}");
    assert!(host.place.origin.line > 0, "{host:?}");
}

#[test]
fn iostat_has_the_load_of_the_processors_over_all_reports_but_the_first() {
    let report = |time: &str, busy: f64, io_wait: f64| {
        let idle = 100.0 - busy - io_wait;
        format!(
            "{time}\navg-cpu:  %user   %nice %system %iowait  %steal   %idle\n          {busy:.2}    0.00   0.00    \
             {io_wait:.2}    0.00   {idle:.2}\n\nDevice            r/s     rkB/s     w/s     wkB/s  %util\nsda  10.00 80.00 0.00 \
             0.00 0.90\n\n"
        )
    };
    let text = format!(
        "Linux 5.15.0 (db1) \t03/05/2025 \t_x86_64_\t(8 CPU)\n\n{}{}{}",
        report("03/05/2025 10:00:00 AM", 1.0, 50.0),
        report("03/05/2025 10:00:10 AM", 80.0, 2.0),
        report("03/05/2025 10:00:20 AM", 90.0, 0.0)
    );
    check_load(&text, (0.85, Some(0.01)));
    check_load(&text.replace("%iowait", "%soft"), (0.86, None));
}

#[test]
fn other_tools_have_the_load_of_the_processors() {
    let text = "\
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 UTC
 1  0      0 999999   1000  50000    0    0     1     2   10   20 99  0  1  0  0 2025-03-24 10:00:00
 1  0      0 999999   1000  50000    0    0    10    20   10   20 20 10 50 15  5 2025-03-24 10:00:10
 1  0      0 999999   1000  50000    0    0    10    20   10   20 30 20 50  0  0 2025-03-24 10:00:20
";
    check_load(text, (0.4, Some(0.075)));
    let text = "\
# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle
host1;10;2025-03-24 10:00:10 UTC;-1;20.00;0.00;10.00;15.00;5.00;50.00
# hostname;interval;timestamp;DEV;tps;rkB/s;wkB/s;dkB/s;areq-sz;aqu-sz;await;%util
host1;10;2025-03-24 10:00:10 UTC;sda;20.00;160.00;0.00;0.00;8.00;0.20;1.00;10.00
";
    check_load(text, (0.3, Some(0.15)));
}
