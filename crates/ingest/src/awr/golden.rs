//! Reports of real systems outside of the repository: comparison with values read by other means, and consistency
//! checks within each report. `PLIMSOLL_SAMPLES` names their folder.
#![expect(clippy::disallowed_methods, reason = "tests of a pure crate that read files of the machine")]

use std::path::PathBuf;

use serde_json::Value;

use super::html::parse;
use super::report::{Reach, Report, StatedValue, Traffic};
use crate::text::MIB;
use crate::text::Numerals::Point;

fn samples() -> Option<PathBuf> {
    let folder = std::env::var_os("PLIMSOLL_SAMPLES").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: PLIMSOLL_SAMPLES names no folder of reports");
    }
    folder
}

fn html_reports() -> Vec<(String, Report)> {
    let Some(folder) = samples() else { return Vec::new() };
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder.join("awr_html")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    paths.iter().map(|path| (name(path), parse(&std::fs::read(path).unwrap()).0)).collect()
}

fn golden() -> Vec<Value> {
    let Some(folder) = samples() else { return Vec::new() };
    let text = std::fs::read_to_string(folder.join("awr_golden.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[track_caller]
fn assert_same(place: &str, found: Option<&StatedValue>, expected: &Value) {
    let expected = match expected {
        Value::String(text) => Point.number(text),
        other => other.as_f64(),
    };
    near(place, found.map(|stated| stated.value), expected);
}

#[track_caller]
fn near(place: &str, found: Option<f64>, expected: Option<f64>) {
    let same = match (found, expected) {
        (Some(found), Some(expected)) => (found - expected).abs() <= expected.abs() * 1e-9,
        (None, None) => true,
        _ => false,
    };
    assert!(same, "{place}: {found:?}, expected {expected:?}");
}

#[test]
fn values_agree_with_the_golden_file() {
    let reports = html_reports();
    for expected in golden() {
        let file = expected["file"].as_str().unwrap();
        let (_, report) = reports.iter().find(|(name, _)| name == file).unwrap_or_else(|| panic!("{file} is missing"));
        let reach = match expected["kind"].as_str().unwrap() {
            "global" => Reach::Cluster,
            "pdb" => Reach::Pluggable,
            _ => Reach::Instance,
        };
        assert_eq!(report.reach, reach, "{file}");
        check_numbers(file, report, &expected);
        tables(file, report, &expected);
    }
}

fn list_entries(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn check_numbers(file: &str, report: &Report, expected: &Value) {
    for (name, total) in list_entries(&expected["stats_total"]) {
        assert_same(&format!("{file}: {name}"), report.statistics.get(name), total);
    }
    for (name, rate) in list_entries(&expected["load_profile"]) {
        assert_same(&format!("{file}: {name}"), report.load.get(name), rate);
    }
    for (name, rates) in list_entries(&expected["io_profile"]) {
        let numbers = &report.profile[name];
        for (column, number) in numbers.iter().enumerate() {
            assert_same(&format!("{file}: {name}, column {column}"), number.as_ref(), &rates[column]);
        }
    }
    if let Some(release) = expected["release"].as_str().filter(|_| report.reach != Reach::Cluster) {
        assert_eq!(report.release, release, "{file}");
    }
    let minutes = |stated: Option<&StatedValue>| stated.map(|stated| stated.value / 60.0);
    if report.reach != Reach::Cluster {
        near(&format!("{file}: elapsed"), minutes(report.elapsed_s.as_ref()), expected["elapsed_min"].as_f64());
        near(&format!("{file}: DB time"), minutes(report.database_s.as_ref()), expected["db_time_min"].as_f64());
    }
    let cpus = expected["host"]["CPUs"].as_str().and_then(|text| Point.number(text)).filter(|number| *number > 0.0);
    near(&format!("{file}: CPUs"), report.processors.as_ref().map(|stated| stated.value), cpus);
}

fn tables(file: &str, report: &Report, expected: &Value) {
    for (key, rows) in [("iostat_filetype", &report.file_types), ("iostat_function", &report.functions)] {
        for (name, cells) in list_entries(&expected[key]) {
            let row = rows.iter().find(|row| &row.name.replace("TOTAL:", "TOTAL") == name);
            traffic(&format!("{file}: {name}"), row.unwrap_or_else(|| panic!("{file}: no {name}")), cells, key);
        }
    }
    for (index, row) in expected["buffer_pool_advisory"].as_array().into_iter().flatten().enumerate() {
        let found = &report.advice[index];
        let cell = |column: usize| Point.number(row[column].as_str().unwrap());
        near(&format!("{file}: advice {index}"), Some(found.size_bytes / MIB), cell(1));
        near(&format!("{file}: advice {index}"), Some(found.size_factor), cell(2));
        near(&format!("{file}: advice {index}"), Some(found.read_factor), cell(4));
        near(&format!("{file}: advice {index}"), Some(found.reads / 1000.0), cell(5));
    }
    for (name, event) in list_entries(&expected["events"]) {
        let (ground, name) = name.split_once(':').unwrap();
        let row = report.events.iter().find(|row| row.name == name && row.foreground == (ground == "fg"));
        let row = row.unwrap_or_else(|| panic!("{file}: no event {name}"));
        near(&format!("{file}: {name}, waits"), Some(row.waits), event["waits"].as_f64());
        near(&format!("{file}: {name}, seconds"), row.total_s.map(|total| total.value), event["total_s"].as_f64());
        near(&format!("{file}: {name}, mean"), row.average_s.map(|mean| mean.value * 1e3), event["avg_ms"].as_f64());
    }
}

fn traffic(place: &str, row: &Traffic, cells: &Value, table: &str) {
    let cell = |column: usize| cells[column].as_str().unwrap();
    assert_same(place, row.read_iops.as_ref(), &cells[1]);
    assert_same(place, row.write_iops.as_ref(), &cells[4]);
    let bytes = |column: usize| Point.bytes(cell(column), MIB);
    near(place, row.read_bytes_s.as_ref().map(|stated| stated.value), bytes(2));
    near(place, row.write_bytes_s.as_ref().map(|stated| stated.value), bytes(5));
    if table == "iostat_filetype" {
        let small = Point.seconds(cell(6), 1e-3);
        near(place, row.small_read_s.as_ref().map(|stated| stated.value), small);
    }
}

/// Values that a report contains twice.
#[test]
fn values_within_a_report_are_consistent() {
    let mut laws_of_clusters = 0;
    for (file, report) in html_reports() {
        // Clusters: the time of the instance with the longest window; they differ by seconds.
        let members = report.members.iter().filter_map(|member| Some(member.elapsed_s.as_ref()?.value));
        let Some(seconds) = report.window_s().or_else(|| members.max_by(f64::total_cmp)) else { continue };
        laws_of_clusters += usize::from(report.reach == Reach::Cluster);
        let rate = |name: &str| report.statistics.get(name).map(|stated| stated.value / seconds);
        let load = |name: &str| report.load.get(name).map(|stated| stated.value);
        let profile =
            |name: &str, column: usize| report.profile.get(name).and_then(|row| Some(row[column].as_ref()?.value));
        // a: the database's time, of which the elapsed minutes have two decimals.
        agree(
            &file,
            "a",
            report.database_s.as_ref().map(|stated| stated.value / seconds),
            load("DB Time(s)"),
            0.1,
            1e-3,
        );
        // b and c: requests.
        agree(&file, "b", rate("physical read total IO requests"), profile("Total Requests", 1), 0.1, 1e-3);
        agree(&file, "b", rate("physical write total IO requests"), profile("Total Requests", 2), 0.1, 1e-3);
        agree(&file, "c", rate("physical read IO requests"), load("Read IO requests"), 0.1, 1e-3);
        // d: members of a group of logs.
        if let (Some(requests), Some(writes)) = (profile("Redo Requests", 2), rate("redo writes"))
            && requests > 1.0
        {
            assert!((0.95..=3.2).contains(&(requests / writes)), "{file}: d: {requests} and {writes}");
        }
        // e: file types. Statistics of a pluggable database lack its writes.
        if let Some(total) = report.file_types.iter().find(|row| row.name.starts_with("TOTAL")) {
            let value = |stated: &Option<StatedValue>| stated.as_ref().map(|stated| stated.value);
            agree(&file, "e", rate("physical read total IO requests"), value(&total.read_iops), 0.1, 0.05);
            if report.reach != Reach::Pluggable {
                agree(&file, "e", rate("physical write total IO requests"), value(&total.write_iops), 0.1, 0.05);
            }
        }
        // f: bytes of a block.
        if let (Some(megabytes), Some(blocks)) = (profile("Database (MB)", 0), profile("Database (blocks)", 0))
            && megabytes > 50.0
        {
            let size = megabytes * MIB / blocks;
            let existing = [2_048.0, 4_096.0, 8_192.0, 16_384.0, 32_768.0];
            assert!(existing.iter().any(|existing| (size / existing - 1.0).abs() < 0.01), "{file}: f: {size}");
        }
    }
    assert!(laws_of_clusters > 0 || samples().is_none(), "no report of a cluster was found");
}

#[track_caller]
fn agree(file: &str, law: &str, a: Option<f64>, b: Option<f64>, slack: f64, share: f64) {
    if let (Some(a), Some(b)) = (a, b) {
        assert!((a - b).abs() <= slack + share * a.abs().max(b.abs()), "{file}: {law}: {a} and {b}");
    }
}

/// The text form of a report contains the same values as its HTML form, within the width of its columns.
#[test]
fn text_twins_agree_with_html() {
    let Some(folder) = samples() else { return };
    let mut twins = 0;
    for (name, html) in html_reports() {
        let path = folder.join("awr_text").join(name.replace(".html", ".txt"));
        let Ok(bytes) = std::fs::read_to_string(&path) else { continue };
        let text = super::text::parse_report(&bytes);
        twins += 1;
        assert_eq!((&text.database, &text.instance, &text.release), (&html.database, &html.instance, &html.release));
        assert_eq!((text.begin, text.end), (html.begin, html.end), "{name}");
        // Longer names are truncated, and some of the results are equal.
        let fits = |name: &str| name.len() <= 30 || name.starts_with("physical read total multi");
        for (statistic, stated) in html.statistics.iter().filter(|(name, _)| fits(name)) {
            near(
                &format!("{name}: {statistic}"),
                text.statistic(statistic).map(|stated| stated.value),
                Some(stated.value),
            );
        }
        assert_eq!(text.advice.len(), html.advice.len(), "{name}");
        for (a, b) in text.file_types.iter().zip(&html.file_types) {
            let value = |stated: &Option<StatedValue>| stated.as_ref().map(|stated| stated.value);
            agree(&name, &a.name, value(&a.read_iops), value(&b.read_iops), 0.06, 1e-3);
            agree(&name, &a.name, value(&a.write_iops), value(&b.write_iops), 0.06, 1e-3);
            near(&a.name, value(&a.read_bytes_s), value(&b.read_bytes_s));
        }
        for (a, b) in text.events.iter().zip(&html.events) {
            assert!(b.name.starts_with(&a.name), "{name}: {} and {}", a.name, b.name);
            near(&a.name, Some(a.waits), Some(b.waits));
        }
        assert_eq!(text.histograms.len(), html.histograms.len(), "{name}");
    }
    assert!(twins > 0, "no report was found as text and as HTML");
}

/// Statspack and AWR of nearly the same interval, with snapshots taken seconds apart.
#[test]
fn statspack_agrees_with_awr() {
    let Some(folder) = samples() else { return };
    let reports = html_reports();
    let mut twins = 0;
    for entry in std::fs::read_dir(folder.join("statspack")).unwrap() {
        let path = entry.unwrap().path();
        let statspack = super::text::parse_report(&String::from_utf8_lossy(&std::fs::read(&path).unwrap()));
        let near_in_time = |html: &Report| {
            let (Some(a), Some(b)) = (html.begin, statspack.begin) else { return false };
            html.database == statspack.database && b.duration_since(a).as_secs().abs() < 60
        };
        let Some((name, html)) = reports.iter().find(|(_, html)| near_in_time(html)) else { continue };
        twins += 1;
        for statistic in ["physical read total IO requests", "physical write total IO requests", "redo size"] {
            let rate = |report: &Report| Some(report.statistic(statistic)?.value / report.window_s()?);
            agree(name, statistic, rate(&statspack), rate(html), 0.0, 0.01);
            assert!(rate(&statspack).is_some(), "{name}: {statistic}");
        }
    }
    assert!(twins > 0, "no report was found as Statspack and as AWR");
}

/// A comparison of two periods has equal values as HTML and as text, and its second period equals that period's own
/// report.
#[test]
fn comparisons_are_two_periods() {
    let Some(folder) = samples() else { return };
    let read = |kind: &str| -> Vec<crate::Reading> {
        let entries = std::fs::read_dir(folder.join(kind)).unwrap();
        let outcome = |path: PathBuf| {
            let mut ingest = crate::Ingest::new("sample");
            ingest.feed(&std::fs::read(path).unwrap());
            ingest.finish().remove(0)
        };
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths.into_iter().map(outcome).map(|outcome| outcome.reading().unwrap().clone()).collect()
    };
    for (html, text) in read("awr_diff_html").iter().zip(&read("awr_diff_text")) {
        assert_eq!(html.scopes, text.scopes);
        for (a, b) in html.windows.iter().zip(&text.windows) {
            assert_eq!(a.begin, b.begin);
            // Text has seconds with decimals, HTML two timestamps.
            assert!((a.length.as_secs_f64() - b.length.as_secs_f64()).abs() < 1.0);
        }
        assert_eq!((html.windows.len(), html.figures.len()), (2, text.figures.len()));
        for (a, b) in html.figures.iter().zip(&text.figures) {
            assert_eq!((a.class, a.measure, a.window), (b.class, b.measure, b.window));
            // Text has a single decimal of rates and of milliseconds, and zero for small rates of files.
            let slack = if a.measure == crate::Measure::Throughput { 60_000.0 } else { 0.06 };
            agree("comparison", &a.origin.to_string(), Some(a.value), Some(b.value), slack, 0.05);
        }
    }
}
