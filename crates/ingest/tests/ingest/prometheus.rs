//! Expositions of exporters and responses of Prometheus, of invented hosts.

use std::fmt::Write as _;

use plimsoll_ingest::{Class, Fate, FormatInput, Measure, Outcome, OutcomeSummary, join};
use plimsoll_units::Span;
use proptest::prelude::*;

use crate::series::{cut_anywhere, has_caution, laws, near, outcome, read, read_as, refused, samples, values};

const BEGIN: u64 = 1_772_442_000;

/// Exposition of an exporter `n` seconds after the first.
fn exposition(n: u64) -> String {
    let mut text = String::from("# HELP go_info About.\n# TYPE go_info gauge\ngo_info{version=\"x\"} 1\n");
    let _ = writeln!(text, "# TYPE node_boot_time_seconds gauge\nnode_boot_time_seconds {}", BEGIN - 1_000);
    for (name, rate) in [
        ("reads_completed", 100.0),
        ("read_bytes", 819_200.0),
        ("read_time_seconds", 0.05),
        ("writes_completed", 20.0),
        ("io_time_seconds", 0.25),
        ("io_time_weighted_seconds", 1.5),
        ("reads_merged", 9.0),
    ] {
        let _ = writeln!(text, "# HELP node_disk_{name}_total x\n# TYPE node_disk_{name}_total counter");
        for device in ["dm-0", "sda"] {
            let _ = writeln!(text, "node_disk_{name}_total{{device=\"{device}\"}} {:e}", 1e6 + rate * n as f64);
        }
    }
    let _ = writeln!(text, "node_time_seconds {:.3e}", 0.0);
    let zero = format!("node_time_seconds {:.3e}", 0.0);
    text.replace(&zero, &format!("node_time_seconds {}.5", BEGIN + n))
        + "node_uname_info{machine=\"x86_64\",nodename=\"db1\"} 1\n"
}

#[test]
fn expositions_are_windows_between_them() {
    let text = exposition(0) + &exposition(15) + &exposition(45);
    let reading = read(&text);
    laws(&reading);
    let check = |class, measure, expected: f64| near(&values(&reading, "sda", class, measure), &[expected, expected]);
    check(Class::Read, Measure::Iops, 100.0);
    check(Class::Read, Measure::Size, 8_192.0);
    check(Class::Write, Measure::Iops, 20.0);
    check(Class::All, Measure::Busy, 0.25);
    check(Class::All, Measure::Depth, 1.5);
    assert_eq!(
        reading.windows.iter().map(|window| window.length.as_nanos()).collect::<Vec<_>>(),
        [15_000_000_000, 30_000_000_000]
    );
    assert!(reading.scopes.iter().all(|scope| scope.host == "db1" && scope.part == "sda"), "{:?}", reading.scopes);
    assert!(reading.parts.iter().any(|part| part.name.contains("dm-0") && part.fate == Fate::Ignored));
    cut_anywhere(&text);
}

#[test]
fn a_single_exposition_is_the_mean_since_the_start() {
    let alone = join(vec![read(&exposition(0))]).remove(0);
    near(&values(&alone, "sda", Class::Read, Measure::Iops), &[1e6 / 1_000.5]);
    assert!(has_caution(&alone, "hide all peaks"));
    let joined = join(vec![read(&exposition(60)), read(&exposition(0))]);
    near(&values(&joined[0], "sda", Class::Read, Measure::Iops), &[100.0]);
    let disks = |n| {
        let text = exposition(n);
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("node_disk")).collect();
        lines.join("\n") + "\n"
    };
    let bare = disks(0) + &disks(10);
    assert!(refused(&bare).contains("specify their interval"));
    let interval = FormatInput { interval: Some(Span::from_secs(10)), ..FormatInput::default() };
    near(&values(&read_as(&bare, interval), "sda", Class::Read, Measure::Iops), &[100.0]);
    let plain = "node_cpu{cpu=\"1\"} 5\n".repeat(100);
    assert_eq!(outcome(plain.as_bytes(), 100, "test").kind().map(|kind| kind.id), Some("prometheus-text"));
    assert!(refused("# HELP a b\n# TYPE a counter\na 5\n").contains("no counters of disks"));
    assert!(refused("# HELP a b\n# TYPE a counter\n").contains("nearest is metrics of an exporter"));
}

#[test]
fn containers_are_counted_without_their_groups() {
    let line = |labels: &str, n: u64, rate: u64| {
        format!("container_fs_reads_total{{{labels},device=\"/dev/sda\"}} {} {}\n", rate * n, (BEGIN + n) * 1_000)
    };
    let at = |n| {
        line("id=\"/\"", n, 9)
            + &line("id=\"/pods\",pod=\"p\",namespace=\"s\"", n, 9)
            + &line("id=\"/pods/a\",pod=\"p\",namespace=\"s\",container=\"a\",image=\"i\"", n, 4)
            + &line("id=\"/pods/b\",pod=\"p\",namespace=\"s\",container=\"b\",image=\"i\"", n, 5)
    };
    let reading = read(&(at(10) + &at(20)));
    near(&values(&reading, "s/p/a sda", Class::Read, Measure::Iops), &[4.0]);
    assert_eq!(reading.figures.len(), 2);
}

fn series(name: &str, device: &str, points: impl Iterator<Item = (u64, f64)>) -> String {
    let name = if name.is_empty() { String::new() } else { format!("\"__name__\":\"{name}\",") };
    let values: Vec<String> = points.map(|(n, value)| format!("[{},\"{value}\"]", BEGIN + n)).collect();
    format!(
        "{{\"metric\":{{{name}\"device\":\"{device}\",\"instance\":\"db1:9100\"}},\"values\":[{}]}}",
        values.join(",")
    )
}

fn matrix(series: &[String]) -> String {
    format!("{{\"status\":\"success\",\"data\":{{\"resultType\":\"matrix\",\"result\":[{}]}}}}", series.join(","))
}

fn counters() -> String {
    let steps = || 0..6_u64;
    matrix(&[
        series("node_disk_reads_completed_total", "sda", steps().map(|n| (n * 60, 5_000.0 + 6_000.0 * n as f64))),
        series("node_disk_read_bytes_total", "sda", steps().map(|n| (n * 60, 819_200.0 * 60.0 * n as f64))),
        series("node_disk_reads_completed_total", "sda1", steps().map(|n| (n * 60, 6_000.0 * n as f64))),
        series("node_disk_reads_completed_total", "sdb", steps().map(|n| (n * 60, 600.0 * n as f64))),
    ])
}

#[test]
fn counters_of_a_matrix_are_differences() {
    let reading = read(&counters());
    laws(&reading);
    near(&values(&reading, "sda", Class::Read, Measure::Iops), &[100.0; 5]);
    near(&values(&reading, "sda", Class::Read, Measure::Size), &[8_192.0; 5]);
    near(&values(&reading, "sdb", Class::Read, Measure::Iops), &[10.0; 5]);
    assert_eq!((reading.windows.len(), reading.scopes[0].host.as_str()), (5, "db1:9100"));
    let origin = reading.figures[0].origin.to_string();
    assert!(origin.contains("data.result[0] node_disk_reads_completed_total{sda}: values[1]"), "{origin}");
    cut_anywhere(&counters());
    let two = counters() + "\n" + &counters().replace("db1", "db2");
    assert_eq!(read(&two).scopes.len(), 4);
}

#[test]
fn rates_are_recognised_by_values_or_names() {
    let wave = |n: u64| 100.25 + if n.is_multiple_of(2) { 7.0 } else { 0.0 };
    let points = || (0..6).map(|n| (n * 60, wave(n)));
    let reading = read(&matrix(&[series("node_disk_reads_completed_total", "sda", points())]));
    near(&values(&reading, "sda", Class::Read, Measure::Iops), &[107.25, 100.25, 107.25, 100.25, 107.25, 100.25]);
    assert!(has_caution(&reading, "interpreted as rates"));
    let counted = [98_765_432, 98_780_432, 98_795_432, 5_000, 20_000, 35_000];
    let restarted =
        series("node_disk_reads_completed_total", "sda", (0..6).map(|n| (n * 60, counted[n as usize] as f64)));
    near(&values(&read(&matrix(&[restarted])), "sda", Class::Read, Measure::Iops), &[250.0; 4]);
    let ruled = read(&matrix(&[series("instance_device:node_disk_reads_completed:rate1m", "sda", points())]));
    near(&values(&ruled, "sda", Class::Read, Measure::Iops), &[107.25, 100.25, 107.25, 100.25, 107.25, 100.25]);
    assert!(ruled.cautions.is_empty());
    let nameless = matrix(&[series("", "sda", points())]);
    assert!(refused(&nameless).contains("without functions"));
    let level = matrix(&[series("node_disk_reads_completed_total", "sda", (0..6).map(|n| (n * 60, 50.0)))]);
    assert!(refused(&level).contains("may be counters or rates"));
    let other = matrix(&[series("node_cpu_seconds_total", "", points())]);
    assert!(refused(&other).contains("use node_disk_*"));
    assert!(refused("{\"status\":\"error\",\"errorType\":\"bad_data\",\"error\":\"x\"}").contains("check the query"));
}

#[test]
fn a_truncated_response_is_read_partly() {
    let text = counters();
    let cut = outcome(&text.as_bytes()[..text.len() - 200], 100, "test");
    assert_eq!(cut.verdict(), OutcomeSummary::Partly, "{cut:?}");
    near(&values(cut.reading().unwrap(), "sda", Class::Read, Measure::Iops), &[100.0; 5]);
}

#[test]
fn real_files_are_read() {
    for (name, bytes) in samples("node_exporter") {
        let total = outcome(&bytes, 65_536, name.as_str());
        println!("{name}: {:?}", total.verdict());
        let Outcome::Read(reading) = &total else { panic!("{name}: {total:?}") };
        laws(reading);
        assert!(reading.snapshots.len() > 1, "{name}");
        assert_eq!(outcome(&bytes, 997, name.as_str()), total, "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_damage_yields_an_outcome(cut in 0_usize..3_000, at in 0_usize..3_000, junk in "[\\[\\]{}\",:0-9a-z\\\\ \n]{0,30}", step in 1_usize..500) {
        for mut text in [counters(), exposition(0) + &exposition(9)] {
            text.insert_str(at % text.len(), &junk);
            text.truncate(text.len() - cut % text.len());
            let total = outcome(text.as_bytes(), text.len(), "test");
            prop_assert_eq!(outcome(text.as_bytes(), step, "test"), total);
        }
    }
}
