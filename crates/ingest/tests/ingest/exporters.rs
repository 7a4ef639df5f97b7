//! Metrics of clouds from exporters, and Enhanced Monitoring, of invented databases and volumes.

use std::fmt::Write as _;

use plimsoll_ingest::{CapBasis, CapOwner, Class, Demand, Fate, FormatInput, Measure, Reading, Statistic};
use plimsoll_units::Span;

use crate::series::{cut_anywhere, has_caution, laws, near, read, read_as, refused, values};

const BEGIN: u64 = 1_772_442_000;

fn with_interval(text: &str, seconds: u64) -> Reading {
    read_as(text, FormatInput { interval: Some(Span::from_secs(seconds)), ..FormatInput::default() })
}

/// A page of gauges `n` seconds after the first, after its time.
fn page(n: u64, labels: &str, metrics: &[(&str, f64)]) -> String {
    let mut text = format!("2026-03-02T09:{:02}:{:02}Z\n", n / 60, n % 60);
    for (name, value) in metrics {
        let _ = writeln!(text, "# HELP {name} Help\n# TYPE {name} gauge\n{name}{{{labels}}} {value:e}");
    }
    text
}

/// 100 reads of 8 KiB in 0.6 ms and 200 writes a second, by sums over five minutes.
const SUMS: [(&str, f64); 6] = [
    ("aws_ebs_volume_read_ops_sum", 30_000.0),
    ("aws_ebs_volume_write_ops_sum", 60_000.0),
    ("aws_ebs_volume_read_bytes_sum", 30_000.0 * 8_192.0),
    ("aws_ebs_volume_total_read_time_sum", 18.0),
    ("aws_ebs_volume_queue_length_average", 0.25),
    ("aws_ebs_volume_idle_time_sum", 200.0),
];
const YACE: &str =
    "name=\"arn:aws:ec2:eu-west-1:1:volume/vol-0a1\",dimension_VolumeId=\"vol-0a1\",region=\"eu-west-1\"";

#[test]
fn sums_of_cloudwatch_need_the_period_of_the_exporter() {
    let limits = |n: f64| {
        let balance = if n > 0.0 { 0.0 } else { 40.0 };
        [("aws_ebs_burst_balance_minimum", balance), ("aws_ebs_volume_iopsexceeded_check_maximum", n)]
    };
    let at = |n: u64, reached: f64| page(n, YACE, &[SUMS.as_slice(), &limits(reached)].concat());
    let text = at(0, 0.0) + &at(300, 1.0);
    let refusal = refused(&text);
    assert!(refusal.contains("aws_ebs_volume_read_bytes_sum") && refusal.contains("--interval"), "{refusal}");
    let reading = with_interval(&text, 300);
    laws(&reading);
    near(&values(&reading, "vol-0a1", Class::Read, Measure::Iops), &[100.0; 2]);
    near(&values(&reading, "vol-0a1", Class::Read, Measure::Size), &[8_192.0; 2]);
    near(&values(&reading, "vol-0a1", Class::Read, Measure::Latency), &[0.000_6; 2]);
    near(&values(&reading, "vol-0a1", Class::Write, Measure::Iops), &[200.0; 2]);
    near(&values(&reading, "vol-0a1", Class::All, Measure::Depth), &[0.25; 2]);
    let demand = Demand::of(&[&reading]);
    let caps: Vec<_> = demand.subjects[0].caps.iter().map(|cap| (cap.limit.basis, &*cap.slots, cap.of)).collect();
    assert_eq!(caps, [(CapBasis::Credits, &[1][..], 2), (CapBasis::Exceeded, &[1][..], 2)]);
    assert!(has_caution(&reading, "aws_ebs_volume_iopsexceeded_check_maximum is at its limit in 1 of 2 points"));
    // Pages that are taken more often than the period repeat it.
    let often = at(0, 0.0) + &at(60, 0.0) + &at(120, 0.0) + &at(180, 0.0) + &at(240, 0.0) + &at(300, 0.0);
    near(&values(&with_interval(&often, 300), "vol-0a1", Class::Read, Measure::Iops), &[100.0; 2]);
    // A single page is a window.
    near(&values(&with_interval(&at(0, 0.0), 300), "vol-0a1", Class::Read, Measure::Iops), &[100.0]);
    cut_anywhere(&text);
}

#[test]
fn statistics_that_allow_no_rate_are_refused() {
    let check = |names: &[&str], remedy: &str| {
        let metrics: Vec<_> = names.iter().map(|name| (*name, 1.0)).collect();
        let labels = "job=\"aws\",instance=\"\",volume_id=\"vol-0a1\",dbinstance_identifier=\"db1\"";
        let refusal = refused(&(page(0, labels, &metrics) + &page(60, labels, &metrics)));
        assert!(refusal.contains(remedy) && refusal.contains(names[0]), "{refusal}");
    };
    check(&["aws_ebs_volume_read_ops_average", "aws_ebs_volume_total_read_time_sum"], "query the statistic Sum");
    check(&["aws_rds_read_iops_sum", "aws_rds_read_latency_average"], "export the statistic Average");
    // Beside a usable statistic of the same metric they are left out.
    let both = [("aws_rds_read_iops_sum", 600.0), ("aws_rds_read_iops_average", 10.0)];
    let labels = "dbinstance_identifier=\"db1\"";
    let reading = read(&(page(0, labels, &both) + &page(60, labels, &both)));
    near(&values(&reading, "", Class::Read, Measure::Iops), &[10.0; 2]);
    assert!(reading.parts.iter().any(|part| part.name == "aws_rds_read_iops_sum" && part.fate == Fate::Ignored));
}

#[test]
fn databases_of_rds_are_rates_of_each_instance() {
    let at = |n: u64| {
        let of = |labels: &str, reads: f64| {
            let metrics = [
                ("aws_rds_read_iops_average", reads),
                ("aws_rds_read_iops_maximum", 2.0 * reads),
                ("aws_rds_read_throughput_average", reads * 16_384.0),
                ("aws_rds_read_latency_average", 0.002),
                ("aws_rds_disk_queue_depth_average", 0.5),
                ("aws_rds_network_receive_throughput_average", 1e6),
            ];
            page(n, labels, &metrics).split_once('\n').expect("a time").1.to_owned()
        };
        format!("2026-03-02T09:{:02}:00Z\n", n / 60)
            + &of("instance=\"db1\",region=\"us-east-1\"", 354.0)
            + &of("instance=\"db2\",region=\"us-east-1\"", 10.5)
            // The sum over a cluster has no instance.
            + &of("dbcluster_identifier=\"c\",instance=\"\"", 364.5)
    };
    let reading = read(&(at(0) + &at(60) + &at(120)));
    laws(&reading);
    let demand = Demand::of(&[&reading]);
    assert_eq!(demand.subjects.len(), 2, "{:?}", reading.scopes);
    let of = |host: &str, measure, statistic| {
        let scope = reading.scopes.iter().position(|scope| scope.host == host).expect("a scope") as u32;
        let found = reading.figures.iter().filter(|figure| figure.scope == scope && figure.measure == measure);
        found.filter(|figure| figure.statistic == statistic).map(|figure| figure.value).collect::<Vec<_>>()
    };
    near(&of("db1", Measure::Iops, Statistic::Mean), &[354.0; 3]);
    near(&of("db1", Measure::Iops, Statistic::Maximum), &[708.0; 3]);
    near(&of("db2", Measure::Size, Statistic::Mean), &[16_384.0; 3]);
    near(&of("db2", Measure::Latency, Statistic::Mean), &[0.002; 3]);
    assert!(reading.windows.iter().all(|window| window.length == Span::from_secs(60)));
}

#[test]
fn the_operating_system_of_rds_replaces_the_counters_of_its_exporter() {
    let at = |n: u64| {
        let device = |device: &str, writes: f64| {
            format!(
                "# TYPE node_disk_written_bytes_total counter\nnode_disk_written_bytes_total{{device=\"{device}\",instance=\"db1\"}} {}\n\
                 rdsosmetrics_diskIO_writeIOsPS{{device=\"{device}\",instance=\"db1\"}} {writes}\n\
                 rdsosmetrics_diskIO_writeKbPS{{device=\"{device}\",instance=\"db1\"}} {}\n\
                 rdsosmetrics_diskIO_avgQueueLen{{device=\"{device}\",instance=\"db1\"}} 2783.31\n\
                 rdsosmetrics_diskIO_await{{device=\"{device}\",instance=\"db1\"}} 74.67\n",
                120_000 + 7 * n,
                writes * 8.0,
            )
        };
        device("rdsdev", 300.0)
            + &device("filesystem", 7.5)
            + &format!(
                "rdsosmetrics_timestamp{{instance=\"db1\"}} {}\naws_rds_write_iops_average{{instance=\"db1\"}} 301\n",
                BEGIN + n
            )
    };
    let reading = read(&(at(0) + &at(60)));
    laws(&reading);
    near(&values(&reading, "rdsdev", Class::Write, Measure::Iops), &[300.0; 2]);
    near(&values(&reading, "rdsdev", Class::Write, Measure::Size), &[8_192.0; 2]);
    near(&values(&reading, "rdsdev", Class::All, Measure::Latency), &[0.074_67; 2]);
    assert!(reading.figures.iter().all(|figure| figure.measure != Measure::Depth));
    assert!(reading.snapshots.is_empty() && has_caution(&reading, "filesystem is a disk of the instance itself"));
    assert_eq!(reading.scopes.len(), 1, "{:?}", reading.scopes);
    let series = |value: &str| {
        format!(
            "{{\"metric\":{{\"__name__\":\"node_disk_written_bytes_total\",\"device\":\"rdsdev\",\"instance\":\"db1\"}},\
             \"values\":[[{BEGIN},\"5\"],[{},\"{value}\"]]}}",
            BEGIN + 60
        )
    };
    refused(&format!("{{\"data\":{{\"resultType\":\"matrix\",\"result\":[{}]}}}}", series("9")));
}

#[test]
fn volumes_are_counted_without_their_machine() {
    let volumes = [("aws_ebs_volume_read_ops_sum", 6_000.0)];
    let machine = [("aws_ec2_ebsread_ops_sum", 6_000.0), ("aws_ec2_instance_ebsiopsexceeded_check_maximum", 1.0)];
    let at = |n: u64| page(n, "VolumeId=\"vol-0a1\"", &volumes) + &page(n, "InstanceId=\"i-0b1\"", &machine);
    let reading = with_interval(&(at(0) + &at(60)), 60);
    let demand = Demand::of(&[&reading]);
    near(&values(&reading, "vol-0a1", Class::Read, Measure::Iops), &[100.0; 2]);
    assert!(values(&reading, "i-0b1", Class::Read, Measure::Iops).is_empty());
    let owners: Vec<_> = demand.subjects.iter().flat_map(|subject| &subject.caps).map(|cap| cap.limit.owner).collect();
    assert_eq!(owners, [CapOwner::Machine]);
    let alone = with_interval(&page(0, "InstanceId=\"i-0b1\"", &machine), 60);
    near(&values(&alone, "i-0b1", Class::Read, Measure::Iops), &[100.0]);
}

#[test]
fn metrics_of_azure_and_google_have_their_period() {
    let azure = |metric: &str, unit: &str, value: f64| {
        format!(
            "azurerm_resource_metric{{aggregation=\"average\",dimension=\"0\",interval=\"PT1M\",metric=\"{metric}\",\
             resourceID=\"/subscriptions/0/providers/Microsoft.Compute/virtualMachines/db1\",timespan=\"PT1M\",unit=\"{unit}\"}} {value}\n"
        )
    };
    let scrape = |minute: u32| {
        format!("2026-03-02T09:{minute:02}:00Z\n")
            + &azure("Data Disk Read Operations/Sec", "CountPerSecond", 100.0)
            + &azure("Data Disk IOPS Consumed Percentage", "Percent", 100.0)
            + &azure("Data Disk Used Burst IO Credits Percentage", "Percent", 40.0)
    };
    let reading = read(&(scrape(0) + &scrape(1)));
    laws(&reading);
    near(&values(&reading, "LUN 0", Class::Read, Measure::Iops), &[100.0; 2]);
    assert!(has_caution(&reading, "Data Disk IOPS Consumed Percentage (average) is at its limit in all 2 points"));
    assert!(!has_caution(&reading, "Credits"));
    let google = |n: u64, kind: &str, reads: u64| {
        let name = "stackdriver_gce_instance_compute_googleapis_com_instance_disk_";
        let labels = "device_name=\"data\",instance_name=\"db1\",unit=\"1\"";
        format!(
            "# TYPE {name}read_ops_count {kind}\n{name}read_ops_count{{{labels}}} {reads} {at}\n\
             # TYPE {name}throttled_read_ops_count gauge\n{name}throttled_read_ops_count{{{labels}}} 5 {at}\n",
            at = (BEGIN + n) * 1_000
        )
    };
    let deltas = read(&(google(0, "gauge", 6_000) + &google(300, "gauge", 12_000)));
    near(&values(&deltas, "data", Class::Read, Measure::Iops), &[100.0, 200.0]);
    assert!(has_caution(&deltas, "throttled_read_ops_count is at its limit"));
    let sums = read(&(google(0, "counter", 6_000) + &google(300, "counter", 12_000)));
    near(&values(&sums, "data", Class::Read, Measure::Iops), &[20.0]);
}

#[test]
fn lines_of_telegraf_are_counters() {
    let line = |n: u64| {
        format!(
            "diskio,host=db1,name=nvme0n1 reads={}i,read_bytes={}i,read_time={}i,writes=0i {}\n",
            1_000 + 100 * n,
            819_200 * n,
            60 * n,
            (BEGIN + n) * 1_000_000_000
        )
    };
    let reading = read(&(line(0) + &line(10) + &line(20)));
    laws(&reading);
    near(&values(&reading, "nvme0n1", Class::Read, Measure::Iops), &[100.0; 2]);
    near(&values(&reading, "nvme0n1", Class::Read, Measure::Latency), &[0.000_6; 2]);
    assert_eq!(reading.windows[0].length, Span::from_secs(10));
}

#[test]
fn exporters_without_operations_name_the_input_that_has_them() {
    let check = |name: &str, remedy: &str| {
        let refusal = refused(&page(0, "", &[(name, 5.0), ("go_threads", 1.0)]));
        assert!(refusal.contains(remedy), "{name}: {refusal}");
    };
    check("mysql_global_status_innodb_data_reads", "SHOW GLOBAL STATUS");
    check("pg_stat_database_blks_read", "pg_stat_io");
    check("oracledb_wait_time_user_io", "AWR report");
    check("aws_elb_request_count_sum", "aws_ebs_* or aws_rds_*");
    check("node_load1", "diskstats collector");
}

/// A sample of Enhanced Monitoring in the minute.
fn sample(minute: u32) -> String {
    format!(
        "{{\"engine\":\"MYSQL\",\"instanceID\":\"db1\",\"instanceResourceID\":\"db-X\",\"timestamp\":\"2026-03-02T09:{minute:02}:00Z\",\
         \"numVCPUs\":2,\"cpuUtilization\":{{\"wait\":10.0,\"idle\":50.0,\"total\":50.0}},\
         \"diskIO\":[{{\"device\":\"rdsdev\",\"readIOsPS\":350.0,\"writeIOsPS\":250.0,\"readKbPS\":5600.0,\"await\":75.0,\
         \"avgQueueLen\":2783.31,\"util\":99.0}},{{\"device\":\"filesystem\",\"writeIOsPS\":7.5}}],\
         \"physicalDeviceIO\":[{{\"device\":\"nvme1n1\",\"writeIOsPS\":250.0}}]}}"
    )
}

#[test]
fn enhanced_monitoring_is_read_alone_and_from_logs() {
    let check = |text: &str| {
        let reading = read(text);
        laws(&reading);
        near(&values(&reading, "rdsdev", Class::Read, Measure::Iops), &[350.0; 3]);
        near(&values(&reading, "rdsdev", Class::Read, Measure::Size), &[16_384.0; 3]);
        near(&values(&reading, "rdsdev", Class::All, Measure::Latency), &[0.075; 3]);
        near(&values(&reading, "rdsdev", Class::All, Measure::Busy), &[0.99; 3]);
        assert!(reading.scopes.iter().all(|scope| scope.host == "db1" && matches!(&*scope.part, "" | "rdsdev")));
        assert_eq!(reading.windows[0].begin, Some(jiff::civil::date(2026, 3, 2).at(8, 59, 0, 0)));
        assert!(has_caution(&reading, "filesystem is a disk of the instance itself"));
        near(&[reading.hosts[0].busy_s, reading.hosts[0].idle_s], &[0.4 * 2.0 * 180.0, 0.6 * 2.0 * 180.0]);
    };
    let samples = [sample(0), sample(1), sample(2)];
    check(&samples.join("\n"));
    check(&format!("[{}]", samples.join(",")));
    let messages = samples.clone().map(|sample| serde_json::json!({"timestamp": 1, "message": sample}));
    check(&serde_json::json!({ "events": messages, "nextForwardToken": "f/1" }).to_string());
    let fields = samples.map(|sample| serde_json::json!([{"field": "@message", "value": sample}]));
    check(&serde_json::json!({ "results": fields, "status": "Complete" }).to_string());
    assert!(refused(&sample(0)).contains("specify the interval"));
    near(&values(&with_interval(&sample(0), 60), "rdsdev", Class::Read, Measure::Iops), &[350.0]);
    cut_anywhere(&(sample(0) + "\n" + &sample(1)));
}
