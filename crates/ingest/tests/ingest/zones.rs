//! An hour in every notation of time: offsets, seconds since 1970, UTC, and clocks of hosts without an offset.

use jiff::civil::date;
use jiff::tz::{TimeZone, offset};
use plimsoll_ingest::{Demand, FormatInput, Outcome, Reading, join, time_in_utc};
use plimsoll_testkit::Workload;

use crate::emit::workload;
use crate::hosts::outcome;

/// Reads a text with an assumed offset of nine hours ahead of UTC.
fn read(name: &str, text: &str) -> Reading {
    let input = FormatInput { zone: Some(TimeZone::fixed(offset(9))), ..FormatInput::from(name) };
    match outcome(input, text.as_bytes(), 4_096) {
        Outcome::Read(reading) => *reading,
        Outcome::Refused { refusal, .. } => panic!("{name}: {refusal}"),
    }
}

const IOSTAT: &str = "Device r/s rkB/s rrqm/s %rrqm r_await rareq-sz w/s wkB/s wrqm/s %wrqm w_await wareq-sz aqu-sz %util\n\
                      sda 10.00 80.00 0.00 0.00 0.50 8.00 5.00 40.00 0.00 0.00 1.00 8.00 0.01 1.00\n\n";

/// The hour from nine to ten UTC on 2 March 2026, from every source.
fn inputs() -> Vec<(&'static str, String)> {
    let seconds = |ten: bool| 1_772_442_000 + if ten { 3_600 } else { 0 };
    let disk =
        |time: &str, n: u64| format!("# {time}\n8 0 sda {} 0 {} 1 {} 0 {} 1 0 1 1\n", 10 * n, 80 * n, 5 * n, 40 * n);
    let metric = |ten: bool| {
        let count = if ten { 36_000 } else { 0 };
        format!(
            "# TYPE node_disk_reads_completed_total counter\nnode_disk_reads_completed_total{{device=\"sda\"}} {count} {}000\n",
            seconds(ten)
        )
    };
    let awr = Workload { begin: date(2026, 3, 2).at(18, 0, 0, 0), minutes: 60, ..workload() };
    vec![
        ("diskstats +09:00", disk("2026-03-02T18:00:00+09:00", 1) + &disk("2026-03-02T19:00:00+09:00", 3_601)),
        ("diskstats unix", disk(&seconds(false).to_string(), 1) + &disk(&format!("{} 2026-03-02 19:00:00", seconds(true)), 9)),
        (
            "iostat +0900",
            format!(
                "Linux 6.1.0 (db1) 2026-03-02 _x86_64_ (4 CPU)\n\n2026-03-02T18:00:00+0900\n{IOSTAT}2026-03-02T19:00:00+0900\n{IOSTAT}"
            ),
        ),
        (
            "sar",
            "Linux 6.1.0 (db1)  2026-03-02  _x86_64_  (4 CPU)\n\n\
             18:00:00          tps      rtps      wtps   bread/s   bwrtn/s\n\
             19:00:00        15.00     10.00      5.00    160.00     80.00\n"
                .to_owned(),
        ),
        (
            "sadf",
            "# hostname;interval;timestamp;DEV;tps;rkB/s;wkB/s;dkB/s;areq-sz;aqu-sz;await;%util\n\
             db1;3600;2026-03-02 10:00:00 UTC;sda;15.00;80.00;40.00;0.00;8.00;0.01;0.60;1.00\n"
                .to_owned(),
        ),
        (
            "sadf, local",
            "# hostname;interval;timestamp;DEV;tps;rkB/s;wkB/s;dkB/s;areq-sz;aqu-sz;await;%util\n\
             db1;3600;2026-03-02 19:00:00;sda;15.00;80.00;40.00;0.00;8.00;0.01;0.60;1.00\n"
                .to_owned(),
        ),
        ("prometheus", metric(false) + &metric(true)),
        ("awr", awr.awr_text()),
        ("awr, HTML", awr.awr_html()),
        (
            "cloudwatch",
            "{\"MetricDataResults\": [{\"Id\":\"m1\",\"Label\":\"vol-01 VolumeReadOps\",\"Timestamps\":[\
             \"2026-03-02T18:00:00+09:00\",\"2026-03-02T10:00:00Z\",\"2026-03-02T11:00:00+00:00\"],\
             \"Values\":[36000,36000,36000],\"StatusCode\":\"Complete\"}]}\n"
                .to_owned(),
        ),
        (
            "azure",
            "{\"interval\":\"PT1H\",\"value\":[{\"id\":\"x\",\"name\":{\"value\":\"Disk Read Bytes\"},\"timeseries\":[{\
             \"metadatavalues\":[],\"data\":[{\"timeStamp\":\"2026-03-02T09:00:00Z\",\"total\":4096.0}]}]}],\"timespan\":\"x\"}"
                .to_owned(),
        ),
    ]
}

#[test]
fn an_instant_is_equal_from_every_source() {
    let nine = date(2026, 3, 2).at(9, 0, 0, 0);
    let readings: Vec<Reading> = inputs().into_iter().flat_map(|(name, text)| join(vec![read(name, &text)])).collect();
    for reading in &readings {
        let window = reading.windows.first().unwrap_or_else(|| panic!("{} has no window", reading.name));
        assert_eq!(window.begin, Some(nine), "{}", reading.name);
        assert!((window.length.as_secs_f64() - 3_600.0).abs() < 1.0, "{}: {}", reading.name, window.length);
    }
    for subject in Demand::of(&readings.iter().collect::<Vec<_>>()).subjects {
        assert_eq!(subject.slots[0].begin, Some(nine), "{}", subject.name);
    }
}

#[test]
fn a_zone_is_assumed_only_without_an_offset() {
    let assumed = |name: &str| {
        let (_, text) = inputs().into_iter().find(|(existing, _)| *existing == name).expect("an input of this name");
        read(name, &text).assumed_zone
    };
    for name in ["sar", "awr", "sadf, local"] {
        assert_eq!(assumed(name).as_deref(), Some("+09:00"), "{name}");
    }
    for name in ["diskstats +09:00", "iostat +0900", "sadf", "prometheus", "cloudwatch", "azure"] {
        assert_eq!(assumed(name), None, "{name}");
    }
}

#[test]
fn the_policy_applies_to_times_of_the_caller() {
    let (nine, tokyo) = (Some(date(2026, 3, 2).at(9, 0, 0, 0)), TimeZone::fixed(offset(9)));
    assert_eq!(time_in_utc("2026-03-02T18:00:00", Some(&tokyo)), nine);
    assert_eq!(time_in_utc("2026-03-02T09:00:00", None), nine);
    assert_eq!(time_in_utc("2026-03-02T04:00:00-05:00", Some(&tokyo)), nine);
    assert_eq!(time_in_utc("soon", None), None);
}

const TABLE: &str = "time,read_iops,write_iops\n";

/// A table with the reads of each sample, in local time.
fn table(times: &[&str]) -> String {
    let rows = times.iter().zip(1..).map(|(time, reads)| format!("{time},{reads}.00,5.00\n"));
    TABLE.to_owned() + &rows.collect::<String>()
}

/// The begins of windows in a zone, and whether a change of clocks is doubted.
fn begins(zone: Option<&str>, text: &str) -> (Vec<String>, bool) {
    let zone = zone.map(|name| TimeZone::get(name).expect("a zone of this name"));
    let input = FormatInput { zone, ..FormatInput::from("test") };
    let Outcome::Read(reading) = outcome(input, text.as_bytes(), 4_096) else { panic!("it was refused: {text}") };
    let times = reading.windows.iter().filter_map(|window| window.begin).map(|begin| begin.time().to_string());
    let is_doubted = reading.cautions.iter().any(|caution| caution.doubt.kind() == "clock-change");
    (times.collect(), is_doubted)
}

#[test]
fn repeated_hours_of_a_zone_are_in_order() {
    let half_hours = ["01:30", "02:00", "02:30", "02:00", "02:30", "03:00"].map(|time| format!("2026-10-25 {time}:00"));
    let text = table(&half_hours.each_ref().map(String::as_str));
    let expected = ["23:00:00", "23:30:00", "00:00:00", "00:30:00", "01:00:00", "01:30:00"].map(str::to_owned);
    assert_eq!(begins(Some("Europe/Berlin"), &text), (expected.to_vec(), false));
    // Samples of an hour repeat a time.
    let hours = ["01:00", "02:00", "02:00", "03:00"].map(|time| format!("2026-10-25 {time}:00"));
    let text = table(&hours.each_ref().map(String::as_str));
    let expected = ["22:00:00", "23:00:00", "00:00:00", "01:00:00"].map(str::to_owned);
    assert_eq!(begins(Some("Europe/Berlin"), &text), (expected.to_vec(), false));
    let america = ["00:30", "01:00", "01:30", "01:00", "01:30", "02:00"].map(|time| format!("2026-11-01 {time}:00"));
    let text = table(&america.each_ref().map(String::as_str));
    let expected = ["04:00:00", "04:30:00", "05:00:00", "05:30:00", "06:00:00", "06:30:00"].map(str::to_owned);
    assert_eq!(begins(Some("America/New_York"), &text), (expected.to_vec(), false));
}

#[test]
fn missing_hours_of_a_zone_are_no_gap() {
    let spring = ["01:00", "01:30", "03:00", "03:30"].map(|time| format!("2026-03-29 {time}:00"));
    let text = table(&spring.each_ref().map(String::as_str));
    let expected = ["23:30:00", "00:00:00", "00:30:00", "01:00:00"].map(str::to_owned);
    assert_eq!(begins(Some("Europe/Berlin"), &text), (expected.to_vec(), false));
}

#[test]
fn changes_of_clocks_without_a_zone_are_doubted() {
    let is_doubted = |date: &str, times: &[&str]| {
        let times: Vec<String> = times.iter().map(|time| format!("{date} {time}:00")).collect();
        begins(None, &table(&times.iter().map(String::as_str).collect::<Vec<_>>())).1
    };
    assert!(is_doubted("2026-10-25", &["01:30", "02:00", "02:30", "02:00", "02:30", "03:00"]));
    assert!(is_doubted("2026-10-25", &["02:40", "02:50", "02:00", "02:10"]));
    assert!(is_doubted("2026-11-01", &["01:58", "01:59", "01:00", "01:01"]));
    assert!(is_doubted("2026-03-29", &["01:00", "01:30", "03:00", "03:30"]));
    assert!(is_doubted("2026-03-08", &["01:50", "01:55", "03:00", "03:05"]));
    assert!(!is_doubted("2026-10-26", &["01:30", "02:00", "02:30", "02:00", "02:30"]), "no Sunday");
    assert!(!is_doubted("2026-03-29", &["01:00", "01:30", "02:00", "02:30"]), "no change");
    assert!(!is_doubted("2026-03-29", &["01:00", "01:00", "02:00", "02:00", "03:00"]), "samples of an hour");
    assert!(!is_doubted("2026-03-29", &["01:00", "01:30", "05:00", "05:30"]), "an outage");
    assert!(!is_doubted("2026-03-29", &["11:00", "11:30", "13:00", "13:30"]), "at noon");
}
