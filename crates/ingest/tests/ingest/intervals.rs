//! The caller's interval: times of the input precede it, and a contradiction is doubted.

use plimsoll_ingest::{Class, FormatInput, Measure, Reading, join};
use plimsoll_units::Span;

use crate::series::{has_caution, laws, near, read, read_as, values};

fn read_at(text: &str, seconds: u64) -> Reading {
    read_as(text, FormatInput { interval: Some(Span::from_secs(seconds)), ..FormatInput::default() })
}

/// Inputs with points every five minutes, of 10 reads a second.
fn inputs() -> [(&'static str, String); 5] {
    let at = |n: u32| format!("2026-03-02T10:{:02}:00Z", 5 * n);
    let list = |item: &dyn Fn(u32) -> String| (0..4).map(item).collect::<Vec<_>>().join(",");
    let times = list(&|n| format!("\"{}\"", at(n)));
    let rows = (0..4).map(|n| format!("{},10\n", at(n))).collect::<Vec<_>>().concat();
    let pages = (0..4)
        .map(|n| {
            let (count, seconds) = (3_000 * n, 1_772_442_000 + 300 * n);
            format!("node_disk_reads_completed_total{{device=\"sda\"}} {count} {seconds}000\n")
        })
        .collect::<Vec<_>>()
        .concat();
    [
        (
            "cloudwatch",
            format!(
                "{{\"MetricDataResults\": [{{\"Id\":\"m1\",\"Label\":\"VolumeReadOps\",\"Timestamps\":[{times}],\
                 \"Values\":[3000,3000,3000,3000],\"StatusCode\":\"Complete\"}}]}}\n"
            ),
        ),
        (
            "oci",
            format!(
                "{{\"data\":[{{\"namespace\":\"oci_blockstore\",\"name\":\"VolumeReadOps\",\"dimensions\":{{}},\
                 \"aggregated-datapoints\":[{}]}}]}}\n",
                list(&|n| format!("{{\"timestamp\":\"{}\",\"value\":3000}}", at(n)))
            ),
        ),
        (
            "azure",
            format!(
                "{{\"interval\":\"PT5M\",\"value\":[{{\"id\":\"x\",\"name\":{{\"value\":\"Disk Read Operations/Sec\"}},\
                 \"timeseries\":[{{\"metadatavalues\":[],\"data\":[{}]}}]}}],\"timespan\":\"x\"}}\n",
                list(&|n| format!("{{\"timeStamp\":\"{}\",\"average\":10}}", at(n)))
            ),
        ),
        ("table", format!("time,read_iops\n{rows}")),
        ("prometheus", format!("# TYPE node_disk_reads_completed_total counter\n{pages}")),
    ]
}

fn part_values(reading: &Reading) -> Vec<f64> {
    let part = reading.scopes.first().map_or("", |scope| scope.part.as_str());
    values(reading, part, Class::Read, Measure::Iops)
}

#[test]
fn times_of_the_input_precede_the_interval_of_the_caller() {
    for (name, text) in inputs() {
        let own = read(&text);
        laws(&own);
        for (seconds, is_doubted) in [(60, true), (3_600, true), (300, false), (299, false)] {
            let reading = read_at(&text, seconds);
            near(&part_values(&reading), &vec![10.0; part_values(&own).len()]);
            let lengths = |reading: &Reading| reading.windows.iter().map(|window| window.length).collect::<Vec<_>>();
            if is_doubted {
                assert_eq!(lengths(&reading), lengths(&own), "{name} at {seconds} s");
            }
            let found = has_caution(&reading, "contradicts its times");
            assert_eq!(found, is_doubted, "{name} at {seconds} s: {:?}", reading.cautions);
        }
    }
}

#[test]
fn an_interval_is_used_where_times_are_missing() {
    let page = |count: u32| format!("node_disk_reads_completed_total{{device=\"sda\"}} {count}\n");
    let both = read_at(&(page(0) + &page(600)), 60);
    near(&values(&both, "sda", Class::Read, Measure::Iops), &[10.0]);
    assert!(!has_caution(&both, "contradicts"));
    let apart = join([0, 600, 1_800].map(|count| read_at(&page(count), 60)).into());
    let rates: Vec<f64> = apart.iter().flat_map(|reading| values(reading, "sda", Class::Read, Measure::Iops)).collect();
    near(&rates, &[10.0, 20.0]);
    assert!(apart.iter().all(|reading| !has_caution(reading, "did not advance")));
    // A page alone has no rate.
    let alone = join(vec![read_at(&page(600), 60)]);
    assert!(alone[0].figures.is_empty() && has_caution(&alone[0], "a single snapshot"));
    let untimed = join([0, 600].map(|count| read(&page(count))).into());
    assert!(has_caution(&untimed[1], "specify their interval"), "{:?}", untimed[1].cautions);
}

#[test]
fn a_line_of_date_precedes_a_page() {
    let page = |minute: u32, count: u32| {
        format!(
            "Mon Mar  2 09:{minute:02}:00 UTC 2026\n# TYPE node_disk_reads_completed_total counter\nnode_disk_reads_completed_total{{device=\"sda\"}} {count}\n"
        )
    };
    let together = read(&(page(30, 0) + &page(31, 600)));
    near(&values(&together, "sda", Class::Read, Measure::Iops), &[10.0]);
    let apart = join(vec![read(&page(30, 0)), read(&page(31, 600))]);
    near(&values(&apart[1], "sda", Class::Read, Measure::Iops), &[10.0]);
}
