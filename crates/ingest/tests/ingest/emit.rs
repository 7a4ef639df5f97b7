//! Generated reports of every format, read again: their workload is recovered.

use plimsoll_ingest::{Class, Demand, Ingest, Measure, OutcomeSummary, Reading, Statistic};
use plimsoll_testkit::{DailyWorkload, Release, Workload, Writing};
use proptest::prelude::*;

pub use crate::read::reading as read;

pub fn workload() -> Workload {
    Workload {
        database: "ORDERS".to_owned(),
        instance: "orders_a".to_owned(),
        host: "quay7.example".to_owned(),
        ..Workload::small_shop(0)
    }
}

/// Formats of Oracle's reports.
pub fn oracle() -> impl Iterator<Item = Writing> {
    let is_oracle = |form: &Writing| matches!(form, Writing::AwrHtml(_) | Writing::AwrText | Writing::Statspack);
    Writing::ALL.into_iter().map(|(_, form)| form).filter(is_oracle)
}

/// The figure of the whole, not of a part.
fn find_value(reading: &Reading, class: Class, measure: Measure) -> Option<f64> {
    let total = |scope: u32| reading.scopes[scope as usize].part.is_empty();
    let mut found = reading.figures.iter().filter(|figure| {
        (figure.class, figure.measure, figure.statistic) == (class, measure, Statistic::Mean) && total(figure.scope)
    });
    let value = found.next().map(|figure| figure.value);
    assert!(found.next().is_none(), "{measure:?} of {class:?} twice");
    value
}

/// Checks a report of Oracle against its workload, with tolerance for the rounding of its columns.
fn check(work: &Workload, form: Writing) {
    let course = DailyWorkload { busiest: work.clone(), windows: 1, instances: 1 };
    let work = &course.workloads()[0];
    let text = form.write(&course).remove(0).text;
    let reading = read(&text);
    let is_text = matches!(form, Writing::AwrText | Writing::Statspack);
    let rate = |count: u64| count as f64 / work.seconds();
    let near = |class: Class, measure: Measure, expected: f64, slack: f64| {
        let found =
            find_value(&reading, class, measure).unwrap_or_else(|| panic!("{form:?}: no {measure:?} of {class:?}"));
        assert!((found - expected).abs() <= slack, "{form:?}: {measure:?} of {class:?}: {found}, not {expected}");
    };
    let exact = |expected: f64| expected * 1e-9;
    near(Class::RandomRead, Measure::Iops, rate(work.single_reads), exact(rate(work.reads())));
    near(Class::SequentialRead, Measure::Iops, rate(work.several_reads), exact(rate(work.reads())));
    near(Class::Read, Measure::Throughput, rate(work.read_bytes()), exact(rate(work.read_bytes())));
    let writes = rate(work.data_writes + work.redo_writes);
    near(Class::Write, Measure::Iops, writes, exact(writes));
    // Rates of the log are printed with a decimal or two.
    near(Class::RedoWrite, Measure::Iops, rate(work.redo_writes), 0.06);
    if work.single_reads >= 10 {
        let mean = work.read_us as f64 / 1e6;
        // Whole seconds of all waits, or whole milliseconds of a wait, whichever is finer.
        let step = if is_text || form == Writing::AwrHtml(Release::R11) { 1e-3 } else { 1e-8 };
        let rounding = (0.51 / work.single_reads as f64).min(step * 0.51);
        // Without operations there is no mean.
        if mean > 2.0 * rounding {
            near(Class::RandomRead, Measure::Latency, mean, rounding + mean * 1e-9);
        }
    }
    let scope = &reading.scopes[0];
    assert_eq!((&scope.database, &scope.host), (&work.database, &work.host), "{form:?}");
    assert_eq!(reading.windows[0].begin, Some(work.begin), "{form:?}");
    assert_eq!(reading.advice.len(), 3, "{form:?}");
    let event = reading.waits.iter().find(|wait| wait.event == "db file sequential read");
    if let Some(wait) = event.filter(|wait| !wait.histogram.is_empty()) {
        let sum: f64 = wait.histogram.iter().map(|(_, share)| share).sum();
        assert!((sum - 1.0).abs() < 0.01, "{form:?}: {sum}");
    }
}

#[test]
fn every_format_yields_its_workload() {
    for form in oracle() {
        check(&workload(), form);
    }
}

#[test]
fn generated_reports_are_recognised_as_their_format() {
    let ids: Vec<&str> = oracle()
        .map(|form| {
            let course = DailyWorkload { busiest: workload(), windows: 1, instances: 1 };
            read(&form.write(&course)[0].text).kind.id
        })
        .collect();
    assert_eq!(ids, ["awr-html", "awr-html", "awr-html", "awr-text", "statspack"]);
}

#[test]
fn latencies_have_a_histogram() {
    for form in oracle() {
        let course = DailyWorkload { busiest: workload(), windows: 1, instances: 1 };
        let work = &course.workloads()[0];
        let reading = read(&form.write(&course)[0].text);
        let wait = reading.waits.iter().find(|wait| wait.event == "db file sequential read").unwrap();
        let below: f64 = wait.histogram.iter().filter(|(bound, _)| *bound < 1.1e-3).map(|(_, share)| share).sum();
        let median = work.read_us as f64 * std::f64::consts::FRAC_2_PI;
        let bound =
            wait.histogram.iter().map(|(bound, _)| *bound).filter(|bound| *bound < 1.1e-3).fold(0.0, f64::max) * 1e6;
        let expected = bound * bound / (bound * bound + median * median);
        assert!((below - expected).abs() < 0.01, "{form:?}: {below}, not {expected}");
    }
}

#[test]
fn a_week_has_days_and_nights() {
    let course = DailyWorkload { busiest: workload(), windows: 24 * 7, instances: 2 };
    let written = Writing::AwrHtml(Release::R19).write(&course);
    assert_eq!(written.len(), 2 * 24 * 7);
    let readings: Vec<Reading> = written.iter().map(|file| read(&file.text)).collect();
    let demand = Demand::of(&readings.iter().collect::<Vec<_>>());
    assert_eq!(demand.subjects.len(), 1);
    let subject = &demand.subjects[0];
    assert_eq!((subject.instances.len(), subject.slots.len()), (2, 24 * 7));
    let series = subject.series(Class::RandomRead, Measure::Iops).unwrap();
    let busiest = series.values.iter().enumerate().max_by(|a, b| a.1.unwrap().total_cmp(&b.1.unwrap())).unwrap().0;
    assert_eq!(busiest % 24, 10, "the busiest hour is before noon");
    let scans = subject.series(Class::SequentialRead, Measure::Iops).unwrap();
    let busiest = scans.values.iter().enumerate().max_by(|a, b| a.1.unwrap().total_cmp(&b.1.unwrap())).unwrap().0;
    assert!(busiest % 24 < 6, "scans have the night");
    assert!(series.values[24 * 5 + 10] < series.values[10], "a Saturday asks for less than a Monday");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_workload_survives_a_round_trip(
        single in 100_u64..500_000_000, several in 0_u64..1_000_000, blocks in 2_u64..128, writes in 0_u64..10_000_000,
        redo in 0_u64..10_000_000, minutes in 1_u32..10_000, read_us in 20_u64..1_000_000, which in 0_usize..5,
    ) {
        let work = Workload {
            single_reads: single, several_reads: several, blocks_a_read: blocks, data_writes: writes, redo_writes: redo,
            minutes, read_us, host: "quay7".to_owned(), ..workload()
        };
        check(&work, oracle().nth(which).unwrap());
    }
}

#[test]
fn a_text_report_is_read_to_its_end() {
    for form in oracle() {
        let course = DailyWorkload { busiest: workload(), windows: 1, instances: 1 };
        let mut ingest = Ingest::new("test");
        ingest.feed(form.write(&course)[0].text.as_bytes());
        assert_eq!(ingest.finish()[0].verdict(), OutcomeSummary::Read, "{form:?}");
    }
}

/// Rows below titles that begin with a word, as names and numbers.
fn list_rows<'a>(text: &'a str, title: &str) -> Vec<Vec<(&'a str, &'a str)>> {
    let (mut titles, mut rows): (Vec<&str>, _) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.iter().position(|word| word.trim_end_matches(':') == title) {
            Some(at) => titles = words[at..].to_vec(),
            None if words.is_empty() => titles.clear(),
            None if titles.is_empty() => {}
            None => {
                let cells = words[words.len() - titles.len()..].iter();
                rows.push(titles.iter().copied().zip(cells.copied()).collect());
            }
        }
    }
    rows
}

#[test]
fn devices_obey_littles_law_in_every_version() {
    let course = DailyWorkload { busiest: workload(), windows: 30, instances: 1 };
    for (name, form) in Writing::ALL.into_iter().filter(|(_, form)| matches!(form, Writing::Iostat(_) | Writing::Sar)) {
        let text = form.write(&course).remove(0).text;
        let rows = list_rows(&text, if form == Writing::Sar { "DEV" } else { "Device" });
        // The first report of iostat is the mean since boot.
        let expected = if form == Writing::Sar { 60 } else { 62 };
        assert_eq!(rows.len(), expected, "{name}: {text}");
        for row in &rows {
            let value = |names: &[&str]| -> Option<f64> {
                row.iter().find(|(title, _)| names.contains(title)).and_then(|(_, cell)| cell.parse().ok())
            };
            let queue = value(&["aqu-sz", "avgqu-sz"]).unwrap();
            let served = match (value(&["r/s"]), value(&["r_await"])) {
                (Some(reads), Some(wait)) => reads * wait + value(&["w/s"]).unwrap() * value(&["w_await"]).unwrap(),
                _ => value(&["tps"]).unwrap() * value(&["await"]).unwrap(),
            };
            assert!((queue - served / 1e3).abs() <= 0.02 + queue * 0.02, "{name}: {queue} and {served}");
        }
    }
}

#[test]
fn generated_json_is_valid() {
    let course = DailyWorkload { busiest: workload(), windows: 2, instances: 1 };
    let work = &course.workloads()[0];
    let json = |form: Writing| -> serde_json::Value { serde_json::from_str(&form.write(&course)[0].text).unwrap() };
    let disks = &json(Writing::IostatJson)["sysstat"]["hosts"][0]["statistics"][1]["disk"];
    assert_eq!(disks[0]["disk_device"], "nvme0n1");
    assert!(disks[1]["w/s"].as_f64().unwrap() > 0.0);
    let read = &json(Writing::Fio)["jobs"][0]["read"];
    assert_eq!(read["total_ios"], work.single_reads);
    assert_eq!(read["io_bytes"], work.single_reads * work.block_bytes);
    assert!((read["iops"].as_f64().unwrap() - work.single_reads as f64 / work.seconds()).abs() < 1e-9);
}

#[test]
fn counters_of_snapshots_rise_by_the_operations() {
    let course = DailyWorkload { busiest: workload(), windows: 1, instances: 1 };
    let work = &course.workloads()[0];
    let text = Writing::PgStatIo.write(&course).remove(0).text;
    let reads: Vec<u64> = text
        .lines()
        .filter(|line| line.contains("client backend"))
        .map(|line| line.split('|').nth(4).unwrap().trim().parse().unwrap())
        .collect();
    assert_eq!(reads, [0, work.read_bytes() / work.block_bytes]);
}
