//! Tests of the exposition format and of the exported values.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::api::{Bin, BoundCount, Cost, Floor, KindCount, LimitedTimes, Period};

fn counted() -> VolumeCounters {
    let count = |kind: &str, ops, bytes| {
        let responses = vec![Bin { upto_ns: 500_000, count: 4 }, Bin { upto_ns: 1_000_000, count: 2 }];
        KindCount { kind: kind.into(), ops, bytes, errors: 1, responses, response_sum_ns: 12_000_000_000 }
    };
    let volume = Volume {
        name: "data".into(),
        like: "limit(3000) then station(1, \"x\\y\")".into(),
        level: Some(20),
        size_bytes: 50_000_000_000,
        cost: Some(Cost { currency: "USD".into(), so_far: "0.004512".into(), ..Cost::default() }),
        ..Volume::default()
    };
    let stats = Stats {
        counts: vec![count("read", 7, 4096), count("write", 8, 8192), count("flush", 9, 0), count("trim", 2, 512)],
        bound_by: vec![BoundCount { limit: "IOPS as provisioned".into(), count: 5 }],
        lateness: vec![Bin { upto_ns: 900, count: 3 }, Bin { upto_ns: 70_000, count: 2 }],
        lateness_sum_ns: 150_000,
        last: Some(Period { p50_ns: 1_000_000, p99_ns: 2_500_000, ..Period::default() }),
        faithful: 11,
        unfaithful: 1,
        ..Stats::default()
    };
    (volume, stats)
}

fn display() -> String {
    let about = About { slow: 10, floor: Floor { iops: 90_000, ..Floor::default() }, ..About::default() };
    render_page(&about, &[counted()])
}

/// The rules of the exposition format and of `promtool check metrics`: HELP and TYPE once and before the samples, one
/// group of samples per family, names with kind and unit, no duplicate sample.
#[test]
fn page_follows_exposition_format() {
    let page = display();
    let (mut types, mut helped, mut current) = (BTreeMap::new(), BTreeSet::new(), "");
    let mut samples = BTreeSet::new();
    for line in page.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, text) = help.split_once(' ').unwrap();
            assert!(text.ends_with('.') && helped.insert(name), "{line}");
        } else if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').unwrap();
            assert!(helped.contains(name) && types.insert(name, kind).is_none(), "{line}");
            assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
            current = name;
        } else {
            let (sample, value) = line.rsplit_once(' ').unwrap();
            value.parse::<f64>().unwrap();
            let name = sample.split('{').next().unwrap();
            let family = match types[current] {
                "histogram" => ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end)).unwrap(),
                _ => name,
            };
            assert_eq!(family, current, "{line}");
            assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{line}");
            assert!(!name.split('_').any(|word| ["ns", "ms", "us", "kb"].contains(&word)), "{line}");
            assert!(samples.insert(sample), "twice: {line}");
        }
    }
    assert!(page.ends_with('\n') && types.len() > 20);
}

#[test]
fn volumes_of_amazon_have_the_metrics_of_the_ebs_driver() {
    let (volume, stats) = counted();
    let limited = LimitedTimes { volume_operations_ns: 41_900_000_000, group_bytes_ns: 250_000_000, ..stats.limited };
    let volume = Volume { name: "vol-1".into(), like: "aws/gp3:10GiB".into(), group: Some("i-1".into()), ..volume };
    let page = render_page(&About::default(), &[counted(), (volume, Stats { limited, in_flight: 3, ..stats })]);
    let labels = "{instance_id=\"i-1\",volume_id=\"vol-1\"}";
    for (name, value) in [
        ("read_ops_total", "7"),
        ("write_bytes_total", "8192"),
        ("read_seconds_total", "12"),
        ("exceeded_iops_seconds_total", "41.9"),
        ("exceeded_tp_seconds_total", "0"),
        ("ec2_exceeded_iops_seconds_total", "0"),
        ("ec2_exceeded_tp_seconds_total", "0.25"),
        ("volume_queue_length", "3"),
    ] {
        let line = format!("aws_ebs_csi_{name}{labels} {value}");
        assert!(page.lines().any(|text| text == line), "no {line} in\n{page}");
    }
    // The other volume is no product of Amazon.
    assert_eq!(page.lines().filter(|line| line.starts_with("aws_ebs_csi_read_ops_total")).count(), 1);
}

#[test]
fn metrics_follow_prometheus_naming() {
    let page = display();
    for line in [
        "plimsoll_time_dilation 10",
        "plimsoll_floor_iops 90000",
        "plimsoll_volume_reads_completed_total{volume=\"data\"} 7",
        "plimsoll_volume_written_bytes_total{volume=\"data\"} 8192",
        "plimsoll_volume_flush_requests_total{volume=\"data\"} 9",
        "plimsoll_volume_discarded_bytes_total{volume=\"data\"} 512",
        "plimsoll_volume_errors_total{volume=\"data\",kind=\"read\"} 1",
        "plimsoll_volume_bound_by_total{volume=\"data\",limit=\"IOPS as provisioned\"} 5",
        "plimsoll_volume_level{volume=\"data\"} 20",
        "plimsoll_volume_faithful_seconds_total{volume=\"data\"} 11",
        "plimsoll_volume_response_seconds{volume=\"data\",quantile=\"0.99\"} 0.0025",
        "plimsoll_volume_lateness_seconds_bucket{volume=\"data\",le=\"0.000001\"} 3",
        "plimsoll_volume_lateness_seconds_bucket{volume=\"data\",le=\"0.00005\"} 3",
        "plimsoll_volume_lateness_seconds_bucket{volume=\"data\",le=\"0.0001\"} 5",
        "plimsoll_volume_lateness_seconds_bucket{volume=\"data\",le=\"+Inf\"} 5",
        "plimsoll_volume_lateness_seconds_sum{volume=\"data\"} 0.00015",
        "plimsoll_volume_response_histogram_seconds_bucket{volume=\"data\",kind=\"read\",le=\"0.0002\"} 0",
        "plimsoll_volume_response_histogram_seconds_bucket{volume=\"data\",kind=\"read\",le=\"0.0005\"} 4",
        "plimsoll_volume_response_histogram_seconds_bucket{volume=\"data\",kind=\"read\",le=\"10\"} 6",
        "plimsoll_volume_response_histogram_seconds_bucket{volume=\"data\",kind=\"read\",le=\"+Inf\"} 7",
        "plimsoll_volume_response_histogram_seconds_sum{volume=\"data\",kind=\"read\"} 12",
        "plimsoll_volume_response_histogram_seconds_count{volume=\"data\",kind=\"read\"} 7",
        "plimsoll_volume_cost_total{volume=\"data\",currency=\"USD\"} 0.004512",
    ] {
        assert!(page.lines().any(|text| text == line), "no {line} in\n{page}");
    }
    assert!(page.contains(r#"like="limit(3000) then station(1, \"x\\y\")""#), "{page}");
}
