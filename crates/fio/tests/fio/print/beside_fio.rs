//! The same figures printed by an installed fio and by plimsoll. fio runs with `ioengine=null`, and once on a small
//! temporary file.
#![expect(clippy::disallowed_types, reason = "a test of a pure crate runs fio where there is one")]

use std::process::Command;

use plimsoll_fio::print::{Detail, FioReport, TerseVersion, json, normal, terse};
use plimsoll_testkit::undisturbed;
use serde_json::Value;

use crate::print::read_back::{paths, report};

/// Output of a run of fio.
struct Run {
    terse: String,
    document: Value,
    /// The text of the JSON document.
    json: String,
    normal: String,
}

/// Runs fio with `ioengine=null`; `None` if it is not installed.
fn run_fio(options: &str, version: &str) -> Option<Run> {
    let all = format!("--name=j --ioengine=null --size=32m --rw=randrw --bs=4k {options}");
    let output = Command::new("fio")
        .args(all.split_whitespace())
        .args(["--output-format=normal,json+,terse", "--terse-version", version])
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{options}: {text}");
    let begin = text.find("\n{\n").expect("JSON begins") + 1;
    let mut stream = serde_json::Deserializer::from_str(&text[begin..]).into_iter();
    let document: Value = stream.next().unwrap().unwrap();
    let end = begin + stream.byte_offset();
    let lines: Vec<&str> = text[..begin].lines().filter(|line| line.starts_with(&format!("{version};"))).collect();
    Some(Run {
        terse: lines.join("\n") + "\n",
        document,
        json: text[begin..end].to_owned(),
        normal: text[end..].to_owned(),
    })
}

/// Reads values missing in JSON from other formats: process, number of members, and time of the normal text.
fn completed(run: &Run) -> FioReport {
    let mut report = report(&run.document);
    let headers = run.normal.lines().filter(|line| line.contains(": (groupid="));
    for (job, header) in report.jobs.iter_mut().zip(headers) {
        let number = |key: &str| {
            let rest = header.split(key).nth(1).unwrap();
            rest.split(|letter: char| !letter.is_ascii_digit()).next().unwrap().parse().unwrap()
        };
        (job.members, job.pid) = (number("jobs="), number(": pid="));
        report.created = header.split(": pid=").nth(1).unwrap().split_once(": ").unwrap().1.to_owned();
    }
    report
}

/// Removes differences between fio's versions from normal text, unless this fio has the layouts of 3.42: latency
/// target, zone resets, disk sectors, and names of flushes.
fn leveled(text: &str, version: &str) -> String {
    let minor: u32 = version.trim_start_matches("fio-3.").split('-').next().unwrap().parse().unwrap_or(0);
    if minor >= 42 {
        return text.to_owned();
    }
    let line = |line: &str| {
        let line = line.replace("; 0 zone resets", "").replace("/syncfs", "");
        let target = line.split_once("latency   : target=").map(|(before, _)| before.to_owned());
        let sectors =
            line.split_once("sectors=").and_then(|(before, rest)| Some(before.to_owned() + rest.split_once(", ")?.1));
        target.or(sectors).unwrap_or(line)
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn check(options: &str) {
    check_with(options, TerseVersion::V5);
}

fn check_with(options: &str, version: TerseVersion) {
    let number = 2 + version as u32;
    let Some(run) = run_fio(options, &number.to_string()) else {
        println!("skipped: fio is not installed");
        return;
    };
    assert_eq!(TerseVersion::of(number), Some(version));
    let report = completed(&run);
    same_line(&terse(&report, version), &run.terse, options);
    same_text(&leveled(&normal(&report), &report.version), &leveled(&run.normal, &report.version), options);
    same_document(&report, &run.document, options);
    let of_fio = list_keys(&run.json);
    let printed = json(&report, Detail::Buckets);
    let mut found = list_keys(&printed);
    found.retain(|key| of_fio.contains(key));
    assert_eq!(found, of_fio, "{options}: the order of keys");
}

/// Keys in the order of a text, without options: a parser reorders these.
fn list_keys(json: &str) -> Vec<&str> {
    let mut in_options = false;
    let mut keys = Vec::new();
    for line in json.lines() {
        let key = line.trim().split("\" : ").next().unwrap_or_default();
        in_options = (in_options && !line.trim().starts_with('}')) || key.ends_with("options");
        if line.contains("\" : ") && !in_options {
            keys.push(key);
        }
    }
    keys
}

/// Asserts equal lines, up to the last digit of values that fio rounded once and this code twice.
fn same_text(found: &str, expected: &str, options: &str) {
    fn numbers(line: &str) -> Vec<&str> {
        line.split(['=', ',', ' ']).collect()
    }
    fn is_near((found, expected): (&&str, &&str)) -> bool {
        let pair = found.parse::<f64>().ok().zip(expected.parse::<f64>().ok());
        found == expected
            || (found.contains('.') && pair.is_some_and(|(a, b)| (a - b).abs() < (b.abs() * 2e-3).max(0.0101)))
    }
    let (found, expected) = (found.trim(), expected.trim());
    assert_eq!(found.lines().count(), expected.lines().count(), "{options}: {found} {expected}");
    for (found, expected) in found.lines().zip(expected.lines()) {
        let (parts, of_fio) = (numbers(found), numbers(expected));
        let is_same = parts.len() == of_fio.len() && parts.iter().zip(&of_fio).all(is_near);
        assert!(is_same, "{options}:\n{found}\n{expected}");
    }
}

/// Asserts equal fields, up to the last digit of values that fio rounded once and this code twice.
fn same_line(found: &str, expected: &str, options: &str) {
    let is_same = |(found, expected): (&str, &str)| {
        let real = |field: &str| field.trim_end_matches('%').parse::<f64>().ok();
        let decimals = expected.trim_end_matches('%').split_once('.').map(|(_, decimals)| decimals.len());
        let is_near = |(a, b): (f64, f64)| {
            decimals.is_some_and(|count| (a - b).abs() < (b.abs() * 2e-3).max(1.1 * 0.1_f64.powf(count as f64)))
        };
        found == expected || real(found).zip(real(expected)).is_some_and(is_near)
    };
    assert_eq!(found.matches(';').count(), expected.matches(';').count(), "{options}: {found} {expected}");
    let other: Vec<_> = found.split(';').zip(expected.split(';')).filter(|pair| !is_same(*pair)).collect();
    assert_eq!(other, [], "{options}: {found}");
}

/// Asserts that all of fio's keys exist with equal values.
fn same_document(report: &FioReport, expected: &Value, options: &str) {
    let mut found: Value = serde_json::from_str(&json(report, Detail::Buckets)).unwrap();
    found["time"] = expected["time"].clone();
    let missing: Vec<String> = paths(expected).difference(&paths(&found)).cloned().collect();
    assert_eq!(missing, [""; 0], "{options}");
    same_value(&found, expected, options);
}

fn same_value(found: &Value, expected: &Value, path: &str) {
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => {
            for (key, expected) in expected {
                // The base of percentages of batches is not reported.
                if !key.starts_with("iodepth_") {
                    same_value(&found[key], expected, &format!("{path}/{key}"));
                }
            }
        }
        (Value::Array(found), Value::Array(expected)) => {
            assert_eq!(found.len(), expected.len(), "{path}");
            found.iter().zip(expected).for_each(|(found, expected)| same_value(found, expected, path));
        }
        (Value::Number(a), Value::Number(b)) if a.is_f64() && b.is_f64() => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            assert!((a - b).abs() <= 2e-6 * b.abs().max(1.0), "{path}: {a}, fio {b}");
        }
        _ => assert_eq!(found, expected, "{path}"),
    }
}

#[test]
fn latencies_match_fio() {
    check("");
    check("--iodepth=8 --lat_percentiles=1 --slat_percentiles=1 --percentile_list=50:99.9:99.99999");
    check("--percentile_list=10:20:30:40:50:60:100 --clat_percentiles=0 --lat_percentiles=1");
    check("--iodepth=64 --disable_lat=1");
    check("--gtod_reduce=1");
}

/// Below 128 ns bins have a width of one nanosecond, and determine the limit of each latency.
#[test]
fn limits_from_bins_match_fio() {
    let Some(run) = run_fio("--size=256m", "5") else {
        println!("skipped: fio is not installed");
        return;
    };
    let mut report = completed(&run);
    report.jobs[0].latency_counts = None;
    let found: Value = serde_json::from_str(&json(&report, Detail::Buckets)).unwrap();
    let limits = |document: &Value| document["jobs"][0]["latency_ns"].clone();
    let (found, of_fio) = (limits(&found), limits(&run.document));
    for limit in ["2", "4", "10", "20", "50", "100"] {
        same_value(&found[limit], &of_fio[limit], limit);
    }
}

#[test]
fn terse_lines_have_the_fields_of_their_version() {
    for version in [TerseVersion::V2, TerseVersion::V3, TerseVersion::V4] {
        check_with("--iodepth=2", version);
        check_with("--rw=trim --unified_rw_reporting=mixed", version);
    }
}

#[test]
fn units_match_fio() {
    check("--kb_base=1000");
    check("--unit_base=1 --significant_figures=3");
    check("--significant_figures=9 --rw=trim");
}

#[test]
fn groups_match_fio() {
    check("--numjobs=2 --group_reporting");
    check("--numjobs=2 --description=two --name=k --ioengine=null --size=8m --rw=write --bs=64k --new_group");
    check("--unified_rw_reporting=mixed --numjobs=2");
}

#[test]
fn samples_match_fio() {
    undisturbed(|| {
        check("--rw=randrw --rate=2m,3m --runtime=2 --time_based --numjobs=2");
        check("--rw=read --bs=1m --runtime=2 --time_based --rate=1500m --group_reporting --numjobs=2");
    });
}

#[test]
fn disks_and_flushes_match_fio() {
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("beside_fio");
    check(&format!("--ioengine=psync --size=1m --fsync=8 --end_fsync=1 --filename={}", file.display()));
}
