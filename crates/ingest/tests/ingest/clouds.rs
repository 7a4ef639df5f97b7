//! Metrics of invented volumes, as clouds export them.

use jiff::civil::date;
use plimsoll_ingest::{CapKind, Class, Demand, Fate, FormatInput, Measure, Outcome, OutcomeSummary, Statistic};
use plimsoll_units::Span;
use proptest::prelude::*;

use crate::series::{cut_anywhere, has_caution, laws, near, outcome, read, read_as, refused, samples, values};
use crate::services::CONSOLE;

fn list_times(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("2026-03-02T09:{:02}:00+00:00", n * 5)).collect()
}

/// A result of `get-metric-data`, newest first.
fn result(id: &str, label: &str, values: &[f64]) -> String {
    let times: Vec<String> = list_times(values.len()).iter().rev().map(|at| format!("\"{at}\"")).collect();
    let values: Vec<String> = values.iter().rev().map(f64::to_string).collect();
    let (times, values) = (times.join(","), values.join(","));
    format!(
        "{{\"Id\":\"{id}\",\"Label\":\"{label}\",\"Timestamps\":[{times}],\"Values\":[{values}],\"StatusCode\":\"Complete\"}}"
    )
}

fn metric_data(results: &[String]) -> String {
    format!("{{\n \"MetricDataResults\": [{}], \"Messages\": []\n}}\n", results.join(",\n"))
}

fn volume() -> String {
    metric_data(&[
        result("m1", "vol-01 VolumeReadOps", &[30_000.0, 60_000.0, 0.0]),
        result("m2", "vol-01 VolumeReadBytes", &[30_000.0 * 8_192.0, 60_000.0 * 8_192.0, 0.0]),
        result("m3", "vol-01 VolumeTotalReadTime", &[30.0, 45.0, 0.0]),
        result("m4", "vol-01 VolumeQueueLength", &[0.5, 1.25, 0.0]),
        result("m5", "vol-01 BurstBalance", &[100.0, 99.0, 100.0]),
        result("m6", "vol-02 VolumeWriteOps", &[300.0, 600.0, 0.0]),
    ])
}

#[test]
fn cloudwatch_sums_are_divided_by_their_period() {
    let reading = read(&volume());
    laws(&reading);
    near(&values(&reading, "vol-01", Class::Read, Measure::Iops), &[100.0, 200.0, 0.0]);
    near(&values(&reading, "vol-01", Class::Read, Measure::Size), &[8_192.0, 8_192.0]);
    near(&values(&reading, "vol-01", Class::Read, Measure::Latency), &[0.001, 0.000_75]);
    near(&values(&reading, "vol-01", Class::All, Measure::Depth), &[0.5, 1.25, 0.0]);
    near(&values(&reading, "vol-02", Class::Write, Measure::Iops), &[1.0, 2.0, 0.0]);
    assert_eq!(reading.windows[0].begin, Some(date(2026, 3, 2).at(9, 0, 0, 0)));
    assert!(reading.windows.iter().all(|window| window.length == Span::from_secs(300)) && reading.windows.len() == 3);
    assert!(has_caution(&reading, "assumed to be sums"));
    assert!(reading.parts.iter().any(|part| part.name.contains("BurstBalance") && part.fate == Fate::Read(3)));
    let reads = reading.figures.iter().find(|figure| figure.measure == Measure::Iops).unwrap();
    let origin = reads.origin.to_string();
    assert!(origin.ends_with("vol-01 VolumeReadOps: MetricDataResults[0].Values[2]"), "{origin}");
    cut_anywhere(&volume());
}

/// A line of a metric stream, `minute` after 09:00 UTC of 2 March 2026.
fn stream_line(namespace: &str, metric: &str, dimensions: &str, minute: u64, [count, sum, max]: [f64; 3]) -> String {
    let at = 1_772_442_000_000 + 60_000 * minute;
    format!(
        "{{\"metric_stream_name\":\"all\",\"account_id\":\"1\",\"region\":\"us-east-1\",\"namespace\":\"{namespace}\",\
         \"metric_name\":\"{metric}\",\"dimensions\":{{{dimensions}}},\"timestamp\":{at},\"value\":{{\"max\":{max},\"min\":0.0,\
         \"sum\":{sum},\"count\":{count}}},\"unit\":\"Count\"}}\n"
    )
}

#[test]
fn a_metric_stream_has_volumes_and_databases_in_minutes() {
    let dimension = "\"VolumeId\":\"vol-01\"";
    let checked = format!("{dimension},\"InstanceId\":\"i-1\"");
    let database = "\"DBInstanceIdentifier\":\"db-1\"";
    let of = |metric: &str, minute: u64, sum: f64| stream_line("AWS/EBS", metric, dimension, minute, [4.0, sum, sum]);
    // In any order, and with a line that was delivered twice.
    let text = [
        of("VolumeReadOps", 2, 600.0),
        of("VolumeReadOps", 0, 6_000.0),
        of("VolumeReadBytes", 0, 6_000.0 * 8_192.0),
        of("VolumeTotalReadTime", 0, 6.0),
        of("VolumeReadOps", 0, 6_000.0),
        stream_line("AWS/EBS", "VolumeQueueLength", dimension, 0, [4.0, 2.0, 1.0]),
        of("VolumeAvgIOPS", 0, 400.0),
        stream_line("AWS/EBS", "VolumeIOPSExceededCheck", &checked, 0, [60.0, 12.0, 1.0]),
        stream_line("AWS/EBS", "VolumeIOPSExceededCheck", &checked, 2, [60.0, 0.0, 0.0]),
        stream_line("AWS/RDS", "WriteIOPS", database, 0, [2.0, 30.0, 20.0]),
        stream_line("AWS/RDS", "WriteIOPS", "\"EngineName\":\"postgres\"", 0, [2.0, 300.0, 200.0]),
        stream_line("AWS/EC2", "EBSReadOps", "\"InstanceId\":\"i-1\"", 0, [1.0, 9.0, 9.0]),
    ]
    .concat();
    let reading = read(&text);
    laws(&reading);
    assert_eq!(reading.kind.id, "cloudwatch-stream");
    near(&values(&reading, "vol-01", Class::Read, Measure::Iops), &[100.0, 10.0]);
    near(&values(&reading, "vol-01", Class::Read, Measure::Size), &[8_192.0]);
    near(&values(&reading, "vol-01", Class::Read, Measure::Latency), &[0.001]);
    near(&values(&reading, "vol-01", Class::All, Measure::Depth), &[0.5]);
    assert_eq!(values(&reading, "vol-01", Class::All, Measure::Iops), [0.0; 0]);
    near(&values(&reading, "db-1", Class::Write, Measure::Iops), &[15.0]);
    let highest =
        reading.figures.iter().find(|figure| figure.statistic == Statistic::Maximum && figure.class == Class::Write);
    near(&[highest.unwrap().value], &[20.0]);
    assert_eq!(reading.windows[0].begin, Some(date(2026, 3, 2).at(9, 0, 0, 0)));
    assert!(reading.windows.iter().all(|window| window.length == Span::from_secs(60)));
    let cap = &reading.caps[0];
    assert_eq!((cap.limit.kind, cap.of, cap.points), (CapKind::Operations, 2, 1));
    assert!(reading.parts.iter().any(|part| part.name == "AWS/EC2 EBSReadOps" && part.fate == Fate::Ignored));
    assert!(reading.parts.iter().all(|part| part.fate != Fate::Broken));
    let is_read = |origin: &plimsoll_ingest::Origin| origin.to_string() == "line 2, vol-01: VolumeReadOps";
    assert!(reading.figures.iter().any(|figure| is_read(&figure.origin)));
    // Points two minutes apart are of a minute each, unless the caller states another period.
    assert!(has_caution(&reading, "although they are "), "{:?}", reading.cautions);
    let longer = read_as(&text, FormatInput { interval: Some(Span::from_secs(120)), ..FormatInput::default() });
    near(&values(&longer, "vol-01", Class::Read, Measure::Iops), &[50.0, 5.0]);
    cut_anywhere(&text);
}

#[test]
fn lines_of_a_metric_stream_that_are_broken_or_contradict_are_named() {
    let dimension = "\"VolumeId\":\"vol-01\"";
    let of = |minute: u64, sum: f64| stream_line("AWS/EBS", "VolumeWriteOps", dimension, minute, [1.0, sum, sum]);
    let text =
        [of(0, 60.0), "{\"metric_stream_name\":\"all\",\"names".to_owned() + "\n", of(1, 120.0), of(0, 61.0)].concat();
    let reading = read(&text);
    near(&values(&reading, "vol-01", Class::Write, Measure::Iops), &[1.0, 2.0]);
    let broken: Vec<_> =
        reading.parts.iter().filter(|part| part.fate == Fate::Broken).map(|part| &*part.name).collect();
    assert_eq!(broken, ["line 2", "line 4"]);
    let none = stream_line("AWS/Lambda", "Duration", "\"FunctionName\":\"f\"", 0, [1.0, 1.0, 1.0]);
    assert!(refused(&none).contains("volume"), "{}", refused(&none));
}

#[test]
fn indented_json_is_not_the_csv_of_the_console() {
    let indented = volume().replace(",\"", ",\n    \"").replace("{\"", "{\n    \"");
    assert_eq!(outcome(indented.as_bytes(), 100, "test").kind().map(|kind| kind.id), Some("cloudwatch"));
    assert_eq!(read(&indented).figures.len(), read(&volume()).figures.len());
}

#[test]
fn statistics_of_the_agent_are_sums_in_microseconds() {
    let agent = metric_data(&[
        result("m1", "vol-01 diskio_ebs_total_read_ops", &[30_000.0, 60_000.0, 0.0]),
        result("m2", "vol-01 diskio_ebs_total_read_time", &[18e6, 36e6, 0.0]),
        result("m3", "vol-01 diskio_ebs_volume_performance_exceeded_iops", &[0.0, 4e6, 0.0]),
    ]);
    let check = |text: &str| {
        let reading = read(text);
        near(&values(&reading, "vol-01", Class::Read, Measure::Iops), &[100.0, 200.0, 0.0]);
        near(&values(&reading, "vol-01", Class::Read, Measure::Latency), &[0.000_6; 2]);
        assert!(has_caution(&reading, "exceeded_iops is at its limit in 1 of 3 points"));
    };
    check(&agent);
    // Container Insights has those of the CSI driver.
    check(&agent.replace("diskio", "node_diskio").replace("18000000", "18").replace("36000000", "36"));
}

#[test]
fn volumes_are_counted_without_the_sums_of_their_machine() {
    let reads = [30_000.0, 60_000.0, 0.0];
    let reading =
        read(&metric_data(&[result("m1", "vol-01 VolumeReadOps", &reads), result("m2", "i-01 EBSReadOps", &reads)]));
    near(&values(&reading, "vol-01", Class::Read, Measure::Iops), &[100.0, 200.0, 0.0]);
    assert!(values(&reading, "i-01", Class::Read, Measure::Iops).is_empty());
    let machine = read(&metric_data(&[result("m2", "i-01 EBSReadOps", &reads)]));
    near(&values(&machine, "i-01", Class::Read, Measure::Iops), &[100.0, 200.0, 0.0]);
}

#[test]
fn incomplete_results_and_missing_points_are_doubted() {
    let reads = [
        result("r", "vol-1 VolumeReadOps", &[300.0, 600.0, 300.0]),
        result("s", "vol-2 VolumeReadOps", &[300.0, 600.0]),
    ];
    let interval = || FormatInput { interval: Some(Span::from_secs(300)), ..FormatInput::default() };
    let reading = read_as(&metric_data(&reads), interval());
    assert!(has_caution(&reading, "vol-2 lacks values of reads in 1 of 3 windows"));
    assert!(!has_caution(&reading, "further pages"));
    let partial = metric_data(&reads).replacen("Complete", "PartialData", 1).replacen("Complete", "InternalError", 1);
    let reading = read_as(&partial, interval());
    assert!(has_caution(&reading, "further pages") && has_caution(&reading, "vol-2 VolumeReadOps: InternalError"));
}

#[test]
fn metrics_of_limits_are_evidence_of_throttling() {
    let check = |text: &str, expected: &[(&str, CapKind, usize, &[usize])]| {
        let reading = read(text);
        let demand = Demand::of(&[&reading]);
        let found: Vec<_> = demand.subjects[0]
            .caps
            .iter()
            .map(|cap| (cap.metric.as_str(), cap.limit.kind, cap.of, cap.slots.as_slice()))
            .collect();
        assert_eq!(found, expected, "{text}");
        reading
    };
    let cloudwatch = metric_data(&[
        result("m1", "vol-01 VolumeReadOps", &[30_000.0, 60_000.0, 0.0]),
        result("m2", "vol-01 VolumeIOPSExceededCheck", &[0.0, 1.0, 0.0]),
        result("m3", "BurstBalance", &[20.0, 0.0, 0.5]),
        result("m4", "vol-01 VolumeStalledIOCheck", &[0.0, 0.0, 1.0]),
    ]);
    let expected: [(&str, CapKind, usize, &[usize]); 3] = [
        ("vol-01 VolumeIOPSExceededCheck", CapKind::Operations, 3, &[1]),
        ("BurstBalance", CapKind::Either, 3, &[1, 2]),
        ("vol-01 VolumeStalledIOCheck", CapKind::Either, 3, &[2]),
    ];
    let reading = check(&cloudwatch, &expected);
    assert!(has_caution(&reading, "VolumeIOPSExceededCheck is at its limit in 1 of 3 points"));
    let throttled =
        oci(&[("VolumeReadOps", "v1", [30_000.0, 60_000.0, 0.0]), ("VolumeThrottledIOs", "v1", [0.0, 5.0, 0.0])]);
    check(&throttled, &[("VolumeThrottledIOs", CapKind::Either, 3, &[1])]);
    // 30,000 and 60,000 operations in five minutes, of 100 and of 210 a second.
    let guaranteed = oci(&[
        ("VolumeReadOps", "v1", [20_000.0, 60_000.0, 0.0]),
        ("VolumeWriteOps", "v1", [10_000.0, 0.0, 0.0]),
        ("VolumeGuaranteedIOPS", "v1", [100.0, 215.0, 215.0]),
    ]);
    check(&guaranteed, &[("VolumeGuaranteedIOPS", CapKind::Operations, 3, &[0])]);
    // 2.4 MB/s of 2.4 and then of 24, stated by the second and by the minute; without a limit of operations the unit is unknown.
    for unit in [1.0, 60.0] {
        let bytes = [300.0 * 2.4e6, 300.0 * 2.4e6, 0.0];
        let throughput = [2.4 * unit, 24.0 * unit, 24.0 * unit];
        let limits = [
            ("VolumeReadThroughput", "v1", bytes),
            ("VolumeGuaranteedIOPS", "v1", [300.0, 3_000.0, 3_000.0]),
            ("VolumeGuaranteedThroughput", "v1", throughput),
        ];
        check(&oci(&limits), &[("VolumeGuaranteedThroughput", CapKind::Bytes, 3, &[0])]);
        assert!(read(&oci(&[limits[0], limits[2]])).caps.is_empty());
    }
    let rate = azure("Data Disk Read Operations/Sec", "average", [Some(12.5), Some(20.0), Some(30.0)]);
    let share = azure("Data Disk IOPS Consumed Percentage", "average", [Some(40.0), Some(99.0), Some(100.0)]);
    check(&(rate + &share), &[("Data Disk IOPS Consumed Percentage", CapKind::Operations, 3, &[1, 2])]);
    // A limit without rates is no demand, but not a useless input.
    assert!(read(&share).figures.is_empty() && has_caution(&read(&share), "in 2 of 3 points"));
}

/// Responses as command lines print them, with a value in each line, and those of limits that are reached in all points.
#[test]
fn figures_and_cautions_of_printed_responses_have_their_line() {
    let short = |checks: &[f64]| {
        metric_data(&[
            result("m1", "vol-01 VolumeReadOps", &[300.0, 600.0, 900.0]),
            result("m2", "vol-01 VolumeIOPSExceededCheck", checks),
        ])
    };
    let printed =
        |text: &str| serde_json::to_string_pretty(&serde_json::from_str::<serde_json::Value>(text).unwrap()).unwrap();
    let cautions = |text: &str| -> Vec<String> {
        let reading = read(text);
        reading
            .cautions
            .iter()
            .map(|one| one.origin.clone().unwrap_or_default().to_string() + ": " + &one.doubt.to_string())
            .collect()
    };
    let text = printed(&short(&[1.0, 1.0, 1.0]));
    let reading = read(&text);
    assert_eq!(reading.kind.to_string(), "CloudWatch metrics", "{text}");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(reading.figures.len(), 3);
    for figure in &reading.figures {
        let line = lines[figure.origin.line as usize - 1];
        let value: f64 = line.trim().trim_end_matches(',').parse().unwrap_or_else(|_| panic!("{line} of {figure:?}"));
        assert!((value / 300.0 - figure.value).abs() < 1e-9, "{line} of {figure:?}");
    }
    let all = cautions(&text);
    let first = all.iter().find(|text| text.contains("VolumeIOPSExceededCheck")).unwrap();
    let line = lines.iter().rposition(|line| line.contains("\"Values\"")).unwrap() + 2;
    assert!(first.starts_with(&format!("line {line}, ")), "{first}");
    assert!(first.contains("throttled all the time: ") && first.contains("at its limit in all 3 points"), "{first}");
    let some = cautions(&printed(&short(&[1.0, 0.0, 1.0])));
    assert!(
        some.iter().any(|text| text.contains("throttled at times: ") && text.contains("in 2 of 3 points")),
        "{some:?}"
    );
}

#[test]
fn cloudwatch_without_a_period_is_refused_until_it_is_provided() {
    let one = metric_data(&[result("m1", "Avg Total IOPS", &[96.85])]);
    assert!(refused(&one).contains("specify the interval"));
    let interval = FormatInput { interval: Some(Span::from_secs(60)), ..FormatInput::default() };
    near(&values(&read_as(&one, interval), "", Class::All, Measure::Iops), &[96.85]);
    let averages = metric_data(&[result("m1", "VolumeReadOps", &[30.5, 60.25, 0.0])]);
    assert!(refused(&averages).contains("statistic Sum"));
    assert!(refused(&metric_data(&[])).contains("export reads"));
    let twice =
        metric_data(&[result("a", "VolumeReadOps", &[300.0, 600.0]), result("b", "VolumeReadOps", &[900.0, 0.0])]);
    let reading = read(&twice);
    near(&values(&reading, "b", Class::Read, Measure::Iops), &[3.0, 0.0]);
    assert!(has_caution(&reading, "distinguished by their ids"));
}

#[test]
fn cloudwatch_statistics_may_be_in_any_order() {
    let point = |minute: u32, sum: f64| {
        format!("{{\"Timestamp\":\"2026-03-02T09:{minute:02}:00Z\",\"Sum\":{sum},\"Average\":1.5,\"Unit\":\"Count\"}}")
    };
    let text = format!(
        "{{\"Label\":\"VolumeReadOps\",\"Datapoints\":[{},{},{}]}}",
        point(10, 0.0),
        point(0, 300.0),
        point(5, 600.0)
    );
    near(&values(&read(&text), "", Class::Read, Measure::Iops), &[1.0, 2.0, 0.0]);
    let indented = text.replace("\"Label\":", "\n    \"Label\": ");
    let both = format!("{indented}\n{}\n", indented.replace("VolumeReadOps", "VolumeWriteOps"));
    near(&values(&read(&both), "", Class::Write, Measure::Iops), &[1.0, 2.0, 0.0]);
    for output in
        ["VolumeReadOps\nDATAPOINTS\t300.0\t2026-03-02T09:00:00+00:00\tCount\n", "Datapoints:\n- Sum: 300.0\n"]
    {
        assert!(refused(output).contains("--output json"), "{output}");
    }
    let averages = text.replace("\"Sum\"", "\"Minimum\"");
    assert!(refused(&averages).contains("query Sum"));
    let counted = averages.replace("\"Unit\"", "\"SampleCount\":200,\"Unit\"");
    near(&values(&read(&counted), "", Class::Read, Measure::Iops), &[1.0, 1.0, 1.0]);
    let database = text.replace("VolumeReadOps", "ReadIOPS").replace("\"Sum\"", "\"Maximum\"");
    let reading = read(&database);
    near(&values(&reading, "", Class::Read, Measure::Iops), &[1.5, 1.5, 1.5]);
    assert_eq!(reading.figures.iter().filter(|figure| figure.statistic == Statistic::Maximum).count(), 3);
}

fn oci(values: &[(&str, &str, [f64; 3])]) -> String {
    let series = values.iter().map(|(name, volume, values)| {
        let points = values.iter().zip(list_times(3));
        let points: Vec<String> =
            points.map(|(value, at)| format!("{{\"timestamp\":\"{at}\",\"value\":{value}}}")).collect();
        format!(
            "{{\"namespace\":\"oci_blockstore\",\"name\":\"{name}\",\"dimensions\":{{\"resourceId\":\"{volume}\"}},\
             \"metadata\":{{}},\"aggregated-datapoints\":[{}]}}",
            points.join(",")
        )
    });
    format!("{{\"data\":[{}]}}", series.collect::<Vec<_>>().join(","))
}

#[test]
fn oci_values_are_sums_of_each_interval() {
    let text = oci(&[
        ("VolumeReadOps", "v1", [30_000.0, 60_000.0, 0.0]),
        ("VolumeReadThroughput", "v1", [30_000.0 * 8_192.0, 0.0, 0.0]),
        ("VolumeWriteOps", "v1", [300.0, 0.0, 0.0]),
        ("VolumeThrottledIOs", "v1", [0.0, 5.0, 0.0]),
        ("VolumeGuaranteedIOPS", "v1", [3_000.0, 3_000.0, 3_000.0]),
    ]);
    let reading = read(&text);
    laws(&reading);
    near(&values(&reading, "v1", Class::Read, Measure::Iops), &[100.0, 200.0, 0.0]);
    near(&values(&reading, "v1", Class::Read, Measure::Throughput), &[819_200.0, 0.0, 0.0]);
    near(&values(&reading, "v1", Class::Write, Measure::Iops), &[1.0, 0.0, 0.0]);
    assert!(has_caution(&reading, "throttled at times") && has_caution(&reading, "assumed to be sums"));
    cut_anywhere(&text);
    // Volumes of the same display name are told apart by their identifiers.
    let (first, second) = ([30_000.0, 0.0, 0.0], [60_000.0, 0.0, 0.0]);
    let named = oci(&[("VolumeReadOps", "ocid1.volume.a", first), ("VolumeReadOps", "ocid1.volume.b", second)]);
    let reading = read(&named.replace("\"resourceId\"", "\"resourceDisplayName\":\"data\",\"resourceId\""));
    let ids: Vec<_> = reading.scopes.iter().map(|scope| (&*scope.part, &*scope.part_id)).collect();
    assert_eq!(ids, [("data", "ocid1.volume.a"), ("data", "ocid1.volume.b")]);
    // Each attachment of a shared volume counts its own operations; a repeated one counts once.
    let attached = |attachment: &str| {
        let text = oci(&[("VolumeReadOps", "v1", [30_000.0, 60_000.0, 0.0])]);
        text.replace("\"resourceId\"", &format!("\"attachmentId\":\"{attachment}\",\"resourceId\""))
    };
    let shared = [attached("a"), attached("b"), attached("b")].join("\n");
    near(&values(&read(&shared), "v1", Class::Read, Measure::Iops), &[200.0, 400.0, 0.0]);
    let camel =
        text.replace("aggregated-datapoints", "aggregatedDatapoints").replace("{\"data\":", "").replace("]}]}", "]}]");
    near(&values(&read(&camel), "v1", Class::Read, Measure::Iops), &[100.0, 200.0, 0.0]);
    assert!(refused(&oci(&[("VolumeReadOps", "v1", [0.5, 60.25, 0.0])])).contains(".sum()"));
    assert!(
        refused(&oci(&[("CpuUtilization", "v1", [0.5, 60.25, 0.0])])).contains("no values of a known volume metric")
    );
    assert!(refused("{\"namespace\":\"oci_blockstore\"}").contains("nearest is OCI Monitoring"));
}

fn azure(metric: &str, key: &str, values: [Option<f64>; 3]) -> String {
    let points = values.iter().zip(list_times(3)).map(|(value, at)| match value {
        Some(value) => format!("{{\"timeStamp\":\"{at}\",\"{key}\":{value}}}"),
        None => format!("{{\"timeStamp\":\"{at}\"}}"),
    });
    let points = points.collect::<Vec<_>>().join(",");
    format!(
        "{{\"cost\":0,\"timespan\":\"2026-03-02T09:00:00Z/2026-03-02T09:15:00Z\",\"interval\":\"PT5M\",\"value\":[{{\
         \"id\":\"/subscriptions/x/providers/Microsoft.Compute/virtualMachines/db1/providers/Microsoft.Insights/metrics/m\",\
         \"name\":{{\"value\":\"{metric}\",\"localizedValue\":\"x\"}},\"unit\":\"CountPerSecond\",\"timeseries\":[{{\
         \"metadatavalues\":[{{\"name\":{{\"value\":\"LUN\"}},\"value\":\"3\"}}],\"data\":[{points}]}}]}}]}}"
    )
}

#[test]
fn azure_declares_its_interval_and_absent_values_are_skipped() {
    let text = azure("Data Disk Read Operations/Sec", "average", [Some(12.5), None, Some(30.0)]);
    let reading = read(&text);
    laws(&reading);
    near(&values(&reading, "LUN 3", Class::Read, Measure::Iops), &[12.5, 30.0]);
    assert_eq!((reading.scopes[0].host.as_str(), reading.windows[0].length), ("db1", Span::from_secs(300)));
    assert_eq!(reading.windows[1].begin, Some(date(2026, 3, 2).at(9, 10, 0, 0)));
    let disk = read(&text.replace("virtualMachines/db1", "disks/data1"));
    assert_eq!(disk.scopes[0].part_id, "/subscriptions/x/providers/Microsoft.Compute/disks/data1");
    cut_anywhere(&text);
    let bytes = azure("Disk Read Bytes", "total", [Some(300.0), Some(600.0), Some(0.0)]);
    near(&values(&read(&bytes), "3", Class::Read, Measure::Throughput), &[1.0, 2.0, 0.0]);
    let latency = azure("Data Disk Latency", "average", [Some(1.5), None, None]);
    near(&values(&read(&latency), "LUN 3", Class::All, Measure::Latency), &[0.001_5]);
    let total = azure("Data Disk Read Operations/Sec", "total", [Some(1.5), None, None]);
    assert!(refused(&total).contains("query Total of bytes"));
    let other = azure("BlobCapacity", "average", [Some(1.0), None, None]);
    assert!(refused(&other).contains("no values of a known volume metric"));
    let highest = read(&azure("OS Disk Write Bytes/sec", "maximum", [Some(9.0), None, None]));
    assert_eq!((highest.figures.len(), highest.figures[0].statistic), (1, Statistic::Maximum));
}

#[test]
fn a_truncated_export_is_read_partly() {
    let text = volume();
    let cut = outcome(&text.as_bytes()[..text.len() - 150], 64, "test");
    assert_eq!(cut.verdict(), OutcomeSummary::Partly, "{cut:?}");
    near(&values(cut.reading().unwrap(), "vol-01", Class::Read, Measure::Iops), &[100.0, 200.0, 0.0]);
}

#[test]
fn real_files_are_recognised() {
    for kind in ["cloudwatch", "oci_monitoring", "azure_monitor"] {
        for (name, bytes) in samples(kind) {
            let total = outcome(&bytes, 65_536, name.as_str());
            let Outcome::Refused { refusal, .. } = &total else { panic!("{name}: it has no period or no volume") };
            println!("{name}: {refusal}");
            let expected = kind.replace('_', "-");
            assert_eq!(total.kind().map(|kind| kind.id), Some(expected.as_str()), "{name}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_damage_yields_an_outcome(cut in 0_usize..2_000, at in 0_usize..2_000, junk in "[\\[\\]{}\",:0-9a-z\\\\ \n]{0,30}", step in 1_usize..500) {
        let texts = [
            volume(),
            oci(&[("VolumeReadOps", "v1", [1.0, 2.0, 3.0])]),
            azure("Data Disk Read Operations/Sec", "average", [Some(12.5), None, Some(30.0)]),
        ];
        for mut text in texts {
            text.insert_str(at % text.len(), &junk);
            text.truncate(text.len() - cut % text.len());
            let total = outcome(text.as_bytes(), text.len(), "test");
            prop_assert_eq!(outcome(text.as_bytes(), step, "test"), total);
        }
    }
}

#[test]
fn counts_without_their_sums_are_no_demand() {
    // Known reads and unknown writes are half of a demand.
    let reads = result("m1", "vol-01 VolumeReadOps", &[30_000.0, 60_000.0, 0.0]);
    let check = |other: String| {
        let refusal = refused(&metric_data(&[reads.clone(), other]));
        assert!(refusal.contains("Sum"), "{refusal}");
    };
    check(result("m2", "vol-01 VolumeWriteOps", &[30.5, 60.25, 0.0]));
    check(result("m2", "vol-01 VolumeWriteOps (Average)", &[30.0, 60.0, 0.0]));
    check(result("write_avg", "vol-01 VolumeWriteOps", &[30.0, 60.0, 0.0]));
    let console = |statistic: &str| CONSOLE.replace("Sum,Sum", &format!("Sum,{statistic}"));
    for statistic in ["Average", "Maximum", "p99", "SampleCount"] {
        let refusal = refused(&console(statistic));
        assert!(refusal.contains("query the statistic Sum") && refusal.contains(statistic), "{refusal}");
    }
    near(&values(&read(&console("Sum")), "vol-0a1", Class::Read, Measure::Iops), &[100.0, 200.0]);
    // Times without a sum leave latencies unknown, and operations known.
    let times = console("Average").replace("VolumeReadBytes", "VolumeTotalReadTime");
    let reading = read(&times);
    near(&values(&reading, "vol-0a1", Class::Read, Measure::Iops), &[100.0, 200.0]);
    assert!(values(&reading, "vol-0a1", Class::Read, Measure::Latency).is_empty());
    assert!(has_caution(&reading, "query the statistic Sum"));
    // A maximum is no mean.
    let depth = console("Maximum").replace("VolumeReadBytes", "VolumeQueueLength");
    assert!(values(&read(&depth), "vol-0a1", Class::All, Measure::Depth).is_empty());
}
