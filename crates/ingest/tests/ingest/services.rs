//! SQL Server's files, exports of monitoring services, and `pg_test_fsync`.

use jiff::civil::date;
use plimsoll_ingest::{Class, Measure, join};

use crate::read::{cautions, cut_anywhere, reading, refusal};
use crate::series::{laws, near, values};

/// Two samples of three files as a grid of sqlcmd.
pub const SQL_SERVER: &str = "\
database_id file_id sample_ms            num_of_reads         num_of_bytes_read    io_stall_read_ms     num_of_writes        num_of_bytes_written io_stall_write_ms    io_stall
----------- ------- -------------------- -------------------- -------------------- -------------------- -------------------- -------------------- -------------------- --------
          2       1              1000000                 1000              8192000                 1000                 2000             16384000                 2000     3000
          5       1              1000000               500000           4096000000              1000000               100000            819200000               100000  1100000
          5       2              1000000                   10                81920                   10               900000           3686400000               450000   450010

(3 rows affected)
database_id file_id sample_ms            num_of_reads         num_of_bytes_read    io_stall_read_ms     num_of_writes        num_of_bytes_written io_stall_write_ms    io_stall
----------- ------- -------------------- -------------------- -------------------- -------------------- -------------------- -------------------- -------------------- --------
          2       1              1010000                 2000             16384000                 2000                 2000             16384000                 2000     4000
          5       1              1010000               510000           4177920000              1020000               101000            827392000               101000  1121000
          5       2              1010000                   10                81920                   10               905000           3706880000               452500   452510
";

pub const CONSOLE: &str = "\
Full label,vol-0a1 VolumeReadOps,vol-0a1 VolumeReadBytes
Metric name,VolumeReadOps,VolumeReadBytes
Namespace,AWS/EBS,AWS/EBS
Statistic,Sum,Sum
Period,300,300
2026/03/02 09:00:00,30000,245760000
2026/03/02 09:05:00,60000,491520000
";

pub const GOOGLE: &str = r#"[{"metric":{"type":"compute.googleapis.com/instance/disk/read_ops_count","labels":{"device_name":"data","instance_name":"pier1"}},
"metricKind":"DELTA","valueType":"INT64","resource":{"type":"gce_instance","labels":{"instance_id":"77"}},
"points":[{"interval":{"startTime":"2026-03-02T09:01:00Z","endTime":"2026-03-02T09:02:00Z"},"value":{"int64Value":"12000"}},
{"interval":{"startTime":"2026-03-02T09:00:00Z","endTime":"2026-03-02T09:01:00Z"},"value":{"int64Value":"6000"}}]},
{"metric":{"type":"compute.googleapis.com/instance/disk/read_bytes_count","labels":{"device_name":"data","instance_name":"pier1"}},
"points":[{"interval":{"startTime":"2026-03-02T09:01:00Z","endTime":"2026-03-02T09:02:00Z"},"value":{"int64Value":"98304000"}},
{"interval":{"startTime":"2026-03-02T09:00:00Z","endTime":"2026-03-02T09:01:00Z"},"value":{"int64Value":"49152000"}}]}]"#;

pub const INSIGHTS: &str = r#"{"AlignedStartTime":1772442000.0,"AlignedEndTime":1772442120.0,"Identifier":"db-QUAY","MetricList":[
{"Key":{"Metric":"os.diskIO.rdsdev.readIOsPS.avg"},"DataPoints":[{"Timestamp":1772442060.0,"Value":100.5},{"Timestamp":1772442120.0,"Value":200.5}]},
{"Key":{"Metric":"os.diskIO.rdsdev.readKbPS.avg"},"DataPoints":[{"Timestamp":1772442060.0,"Value":804.0},{"Timestamp":1772442120.0,"Value":1604.0}]},
{"Key":{"Metric":"os.diskIO.rdsdev.await.avg"},"DataPoints":[{"Timestamp":1772442060.0,"Value":0.5},{"Timestamp":1772442120.0,"Value":0.75}]},
{"Key":{"Metric":"db.load.avg"},"DataPoints":[{"Timestamp":1772442060.0,"Value":1.5}]}]}"#;

/// Counters of the storage of Aurora.
const AURORA_INSIGHTS: &str = r#"{"AlignedStartTime":1772442000.0,"AlignedEndTime":1772442120.0,"Identifier":"db-QUAY","MetricList":[
{"Key":{"Metric":"os.diskIO.auroraStorage.readIOsPS.avg"},"DataPoints":[{"Timestamp":1772442060.0,"Value":100.5},{"Timestamp":1772442120.0,"Value":200.5}]},
{"Key":{"Metric":"os.diskIO.auroraStorage.readThroughput.avg"},"DataPoints":[{"Timestamp":1772442060.0,"Value":823296.0},{"Timestamp":1772442120.0,"Value":1642496.0}]},
{"Key":{"Metric":"os.diskIO.auroraStorage.readLatency.avg"},"DataPoints":[{"Timestamp":1772442060.0,"Value":0.5},{"Timestamp":1772442120.0,"Value":0.75}]},
{"Key":{"Metric":"os.diskIO.auroraStorage.writeLatency.avg"},"DataPoints":[{"Timestamp":1772442060.0,"Value":2.5},{"Timestamp":1772442120.0,"Value":3.5}]},
{"Key":{"Metric":"os.diskIO.auroraStorage.diskQueueDepth.avg"},"DataPoints":[{"Timestamp":1772442060.0,"Value":2.0},{"Timestamp":1772442120.0,"Value":4.0}]}]}"#;

pub const FSYNC: &str = "\
5 seconds per test
O_DIRECT supported on this platform for open_datasync and open_sync.

Compare file sync methods using one 8kB write:
(in \"wal_sync_method\" preference order, except fdatasync is Linux's default)
        open_datasync                      2500.000 ops/sec     400 usecs/op
        fdatasync                          2000.000 ops/sec     500 usecs/op
        fsync_writethrough                              n/a
Compare file sync methods using two 8kB writes:
        fdatasync                          1000.000 ops/sec    1000 usecs/op

Compare open_sync with different write sizes:
(This is designed to compare the cost of writing 16kB in different write
open_sync sizes.)
         1 * 16kB open_sync write          1250.000 ops/sec     800 usecs/op
         2 *  8kB open_sync writes          625.000 ops/sec    1600 usecs/op

Non-sync'ed 8kB writes:
        write                            250000.000 ops/sec       4 usecs/op
";

/// The samples with these columns only, separated by commas.
fn with_columns(columns: &[&str]) -> String {
    let rows = SQL_SERVER.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let rows: Vec<Vec<&str>> = rows.filter(|row| row.len() == 10 && !row[0].starts_with('-')).collect();
    let chosen: Vec<usize> = (0..10).filter(|column| columns.contains(&rows[0][*column])).collect();
    let line = |row: &Vec<&str>| chosen.iter().map(|column| row[*column]).collect::<Vec<_>>().join(",") + "\n";
    rows.iter().map(line).collect()
}

#[test]
fn absent_columns_of_files_are_named() {
    let keys = ["database_id", "file_id", "sample_ms"];
    let (reads, writes) = (["num_of_reads", "num_of_bytes_read"], ["num_of_writes", "num_of_bytes_written"]);
    let stalls = ["io_stall_read_ms", "io_stall_write_ms"];
    for (columns, absent) in [
        ([&reads[..], &stalls].concat(), "num_of_writes, num_of_bytes_written"),
        ([&writes[..], &stalls].concat(), "num_of_reads, num_of_bytes_read"),
        ([&reads[..], &writes[..1], &stalls].concat(), "num_of_bytes_written"),
        (reads[..1].to_vec(), "num_of_bytes_read, num_of_writes, num_of_bytes_written"),
    ] {
        let message = refusal(&with_columns(&[&keys[..], &columns].concat()));
        let expected = format!("files of SQL Server: its heading lacks the columns {absent}: provide SELECT");
        assert!(message.starts_with(&expected), "{message}");
    }
    for (columns, absent) in [
        (&stalls[..], None),
        (&stalls[..1], Some("lacks the columns io_stall_write_ms,")),
        (&[], Some("lacks the columns io_stall_read_ms, io_stall_write_ms,")),
    ] {
        let found = reading(&with_columns(&[&keys[..], &reads, &writes, columns].concat()));
        assert!(cautions(&found).contains(absent.unwrap_or_default()), "{}", cautions(&found));
        assert_eq!(cautions(&found).contains("lacks the columns"), absent.is_some(), "{}", cautions(&found));
        near(&values(&found, "", Class::Write, Measure::Iops), &[600.0]);
    }
}

#[test]
fn files_of_sql_server_have_classes() {
    let found = reading(SQL_SERVER);
    laws(&found);
    near(&values(&found, "", Class::Read, Measure::Iops), &[1_100.0]);
    near(&values(&found, "", Class::TempRead, Measure::Iops), &[100.0]);
    near(&values(&found, "", Class::RedoWrite, Measure::Iops), &[500.0]);
    near(&values(&found, "", Class::RedoWrite, Measure::Size), &[4_096.0]);
    near(&values(&found, "", Class::RedoWrite, Measure::Latency), &[0.000_5]);
    near(&values(&found, "5/1", Class::Read, Measure::Latency), &[0.002]);
    cut_anywhere(SQL_SERVER);
}

#[test]
fn samples_of_sql_server_are_separated_or_in_two_files() {
    let words = |line: &str, mark: &str| line.split_whitespace().collect::<Vec<_>>().join(mark) + "\n";
    let is_row = |line: &&str| !line.starts_with("---") && !line.starts_with('(') && !line.is_empty();
    let expected = reading(SQL_SERVER).figures.len();
    for mark in ["\t", ",", ";", "|"] {
        let text: String = SQL_SERVER.lines().filter(is_row).map(|line| words(line, mark)).collect();
        assert_eq!(reading(&text).figures.len(), expected, "{text}");
    }
    let at = SQL_SERVER.rfind("database_id").unwrap();
    let readings = join(vec![reading(&SQL_SERVER[..at]), reading(&SQL_SERVER[at..])]);
    near(&values(&readings[1], "", Class::Read, Measure::Iops), &[1_100.0]);
    let single = join(vec![reading(&SQL_SERVER[..at])]);
    assert!(cautions(&single[0]).contains("a single sample the rates may be too low"));
    near(&values(&single[0], "5/1", Class::Read, Measure::Iops), &[500.0]);
    assert!(refusal(&SQL_SERVER.replace("num_of_bytes", "bytes")).contains("num_of_bytes_read"));
}

#[test]
fn storage_of_aurora_has_latencies_of_reads_and_of_writes() {
    let found = reading(AURORA_INSIGHTS);
    laws(&found);
    let of = |class, measure| values(&found, "auroraStorage", class, measure);
    near(&of(Class::Read, Measure::Iops), &[100.5, 200.5]);
    near(&of(Class::Read, Measure::Size), &[8_192.0, 8_192.0]);
    near(&of(Class::Read, Measure::Latency), &[0.000_5, 0.000_75]);
    near(&of(Class::Write, Measure::Latency), &[0.002_5, 0.003_5]);
    near(&of(Class::All, Measure::Depth), &[2.0, 4.0]);
}

#[test]
fn downloads_of_the_cloudwatch_console_are_read() {
    let found = reading(CONSOLE);
    laws(&found);
    near(&values(&found, "vol-0a1", Class::Read, Measure::Iops), &[100.0, 200.0]);
    near(&values(&found, "vol-0a1", Class::Read, Measure::Size), &[8_192.0, 8_192.0]);
    assert_eq!(found.windows[1].begin, Some(date(2026, 3, 2).at(9, 5, 0, 0)));
    assert!(refusal(&CONSOLE.replace("Sum", "Average")).contains("query the statistic Sum"));
    cut_anywhere(CONSOLE);
}

#[test]
fn time_series_of_google_cloud_are_sums_of_their_interval() {
    let found = reading(GOOGLE);
    laws(&found);
    near(&values(&found, "data", Class::Read, Measure::Iops), &[100.0, 200.0]);
    near(&values(&found, "data", Class::Read, Measure::Size), &[8_192.0, 8_192.0]);
    assert_eq!(
        (found.windows[0].begin, found.scopes[0].host.as_str()),
        (Some(date(2026, 3, 2).at(9, 0, 0, 0)), "pier1")
    );
    cut_anywhere(GOOGLE);
}

#[test]
fn performance_insights_end_at_their_time() {
    let found = reading(INSIGHTS);
    near(&values(&found, "rdsdev", Class::Read, Measure::Iops), &[100.5, 200.5]);
    near(&values(&found, "rdsdev", Class::Read, Measure::Throughput), &[823_296.0, 1_642_496.0]);
    near(&values(&found, "rdsdev", Class::All, Measure::Latency), &[0.000_5, 0.000_75]);
    assert_eq!(found.windows[0].begin, Some(date(2026, 3, 2).at(9, 0, 0, 0)));
    cut_anywhere(INSIGHTS);
}

#[test]
fn methods_of_pg_test_fsync_are_evidence() {
    let found = reading(FSYNC);
    let results: Vec<_> = found.evidence.iter().map(|one| (one.iops, one.mean_s, one.setting.block_bytes)).collect();
    let (page, two) = (Some(8_192.0), Some(16_384.0));
    assert_eq!(
        results,
        [
            (Some(2_500.0), Some(400e-6), page),
            (Some(2_000.0), Some(500e-6), page),
            (Some(1_000.0), Some(1e-3), page),
            (Some(1_250.0), Some(800e-6), two),
            (Some(625.0), Some(1.6e-3), page),
        ]
    );
    assert_eq!(found.evidence[4].test, "Compare open_sync with different write sizes: 2 * 8kB open_sync writes");
    assert_eq!(found.evidence[1].test, "Compare file sync methods using one 8kB write: fdatasync");
    assert!(found.figures.is_empty() && found.evidence.iter().all(|one| one.lasted_s == Some(5.0)));
    cut_anywhere(FSYNC);
}
