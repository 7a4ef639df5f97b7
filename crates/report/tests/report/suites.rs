//! Suites on databases as text, pages and CSV, with arbitrary recorded values.

use crate::support;

use plimsoll_load::Pace;
use plimsoll_record::{
    CpuTime, DdVerdict, Estimate, LimitEvidence, SUITE_FORMAT, SessionLimit, SessionRun, SessionTimes, SessionVerdict,
    SharedVerdict, Spent, Statements, StepQuantity, StepWork, SuiteRun, Verdict,
};
use plimsoll_report::{Charset, TextStyle, find_schema, page_csv, page_html, page_text, pages, suite_json};
use plimsoll_units::Span;
use serde_json::{Value, json};
use support::Dice;
use support::crowd::{self, crowd_in};
use support::page::check_page;

const WIDTHS: [usize; 3] = [40, 80, 160];

fn suite(run: &SuiteRun, style: &TextStyle) -> String {
    page_text(&pages::suites(std::slice::from_ref(run)), style)
}

fn suite_csv(run: &SuiteRun) -> String {
    page_csv(&pages::suites(std::slice::from_ref(run)))
}

fn suites_html(suites: &[SuiteRun]) -> String {
    page_html(&pages::suites(suites))
}

fn text(run: &SuiteRun, width: usize) -> String {
    suite(run, &TextStyle { width, ..TextStyle::default() })
}

/// Commands are not wrapped.
fn is_command(line: &str) -> bool {
    ["To repeat: ", "Its storage demand: ", "Storage that carries it: "].iter().any(|name| line.starts_with(name))
}

/// Checks every form of a suite.
fn check(name: &str, run: &SuiteRun) {
    for width in WIDTHS {
        let displayed = text(run, width);
        assert!(displayed.ends_with('\n') && !displayed.contains('\u{1b}'), "{name}");
        for line in displayed.lines() {
            assert!(is_command(line) || line.chars().count() <= width, "{name} at {width}: {line}");
            assert_eq!(line, line.trim_end(), "{name}: blanks at an end");
        }
        assert!(!displayed.contains("NaN") && !displayed.contains("inf "), "{name}: {displayed}");
        let ascii = suite(run, &TextStyle { width, unicode: Charset::Ascii, ..TextStyle::default() });
        assert!(ascii.is_ascii(), "{name}");
    }
    check_page(name, &suites_html(std::slice::from_ref(run)));
    let table = suite_csv(run);
    assert_eq!(table.matches("\r\n").count(), run.steps.len() + 1, "{name}: a row for each step");
    assert!(!table.contains("NaN"), "{name}");
}

#[test]
fn every_suite_has_all_forms() {
    for (name, run) in crowd::odd() {
        check(name, &run);
    }
}

#[test]
fn any_number_of_suites_is_compared() {
    let all: Vec<SuiteRun> = crowd::odd().into_iter().map(|(_, run)| run).collect();
    for count in [0, 2, 5, all.len()] {
        check_page(&format!("{count} suites"), &suites_html(&all[..count]));
    }
    check_page("several", &suites_html(&crowd::several()));
    check_page("tests", &suites_html(&crowd::tested()));
}

/// A suite with extreme recorded values.
fn shaken(mut run: SuiteRun, dice: &mut Dice) -> SuiteRun {
    for step in &mut run.steps {
        match &mut step.work {
            StepWork::Sessions(crowd) => shake(crowd, dice),
            StepWork::Statements(work) => shake_statements(work, dice),
            _ => {}
        }
    }
    if dice.uniform() < 0.3
        && let Some(side) = &mut run.database
    {
        (side.knee, side.load_line) = (None, None);
    }
    run
}

fn wild(dice: &mut Dice) -> f64 {
    const VALUES: [f64; 7] = [0.0, -1.0, 1e-12, 1e300, f64::NAN, f64::INFINITY, 3.7];
    VALUES[(dice.uniform() * VALUES.len() as f64) as usize]
}

fn count(dice: &mut Dice) -> Option<u64> {
    const VALUES: [Option<u64>; 5] = [None, Some(0), Some(1), Some(1_000_000), Some(u64::MAX)];
    VALUES[(dice.uniform() * VALUES.len() as f64) as usize]
}

fn shake(crowd: &mut SessionRun, dice: &mut Dice) {
    let figures = &mut crowd.run.figures;
    for estimate in [&mut figures.iops, &mut figures.mean_ns, &mut figures.p50_ns, &mut figures.p99_ns] {
        if dice.uniform() < 0.3 {
            *estimate = Estimate { value: wild(dice), interval: Some((wild(dice), wild(dice))) };
        }
    }
    let span = |dice: &mut Dice| count(dice).map(Span::from_nanos);
    let counted = &mut crowd.counted;
    (counted.hits, counted.reads, counted.writes) = (count(dice), count(dice), count(dice));
    (counted.log_flushes, counted.fetched_bytes) = (count(dice), count(dice));
    (counted.read_time, counted.log_flush_time) = (span(dice), span(dice));
    if let Some(disk) = &mut crowd.storage.disk {
        disk.reads = count(dice).unwrap_or_default();
        disk.read_time = span(dice).unwrap_or_default();
        disk.busy = span(dice).unwrap_or_default();
    }
    if dice.uniform() < 0.3 {
        crowd.run.span = span(dice).unwrap_or_default();
        crowd.run.warm_up = span(dice).unwrap_or_default();
    }
    if dice.uniform() < 0.3 {
        crowd.sessions = u32::MAX;
    }
    let shares = [Spent::Reading, Spent::Reading, Spent::Locked, Spent::Other].map(|part| (part, wild(dice))).to_vec();
    crowd.split = (dice.uniform() < 0.6).then(|| SessionTimes { shares, method: String::new() });
    crowd.marks = vec![(span(dice).unwrap_or_default(), "x".repeat(200)), (Span::ZERO, String::new())];
    crowd.client = span(dice).map(|user| CpuTime { user, system: user });
}

fn shake_statements(work: &mut Statements, dice: &mut Dice) {
    (work.requested, work.done) = (count(dice).unwrap_or_default(), count(dice).unwrap_or_default());
    work.wrong = count(dice).unwrap_or_default();
    work.span = count(dice).map(Span::from_nanos).unwrap_or_default();
    work.counted.log_flushes = count(dice);
}

#[test]
fn extreme_values_are_rendered() {
    let all = crowd::odd();
    let mut dice = Dice(17);
    for round in 0..4 {
        let runs: Vec<SuiteRun> = all.iter().map(|(_, run)| shaken(run.clone(), &mut dice)).collect();
        for (run, (name, _)) in runs.iter().zip(&all) {
            check(&format!("{name}, shaken {round}"), run);
        }
        check_page(&format!("all, shaken {round}"), &suites_html(&runs));
    }
}

#[test]
fn load_line_names_its_sessions_and_source() {
    let displayed = text(&crowd::crowds(&crowd::VOLUME, &[("", 0.25)]), 200);
    let line = displayed.lines().find(|line| line.starts_with("Load line: ")).unwrap();
    assert!(line.contains("transactions/s (") && line.contains(") keep p99 <= "), "{line}");
    assert!(line.ends_with(" sessions - measured"), "{line}");
    for required in [
        "Knee: ",
        "Maximum: ",
        "A model of a delay and a queue fits within 4.3 %",
        "CPU",
        "reads",
        "commits",
        "Session time by wait class",
    ] {
        assert!(displayed.contains(required), "{required} in {displayed}");
    }
    let place = displayed.split("Findings").nth(1).unwrap();
    for required in
        ["PostgreSQL 15.14, created for the run, blocks of 8 KiB, own cache 64 MiB", "fsync on", "plimsoll suite slob"]
    {
        assert!(place.contains(required), "{required} in {place}");
    }
}

#[test]
fn steps_with_a_common_prefix_are_a_curve() {
    let run = crowd::crowds(&crowd::DRIVE, &[("100 % reads", 0.0), ("75/25", 0.25)]);
    let displayed = text(&run, 120);
    for group in ["100 % reads: Load line: ", "75/25: Load line: "] {
        assert_eq!(displayed.matches(group).count(), 1, "{displayed}");
    }
    let page = suites_html(&[run]);
    assert!(page.contains("<h2>Load lines</h2>") && page.contains("vertical lines are load lines"));
}

#[test]
fn missing_counters_are_not_shown() {
    let named = |required: &str| crowd::odd().into_iter().find(|(name, _)| *name == required).unwrap().1;
    let displayed = text(&named("nothing counted"), 160);
    assert!(displayed.contains("Details"), "{displayed}");
    for absent in ["block reads", "page cache of", "Session time by wait class", "flush takes"] {
        assert!(!displayed.contains(absent), "{absent} in {displayed}");
    }
}

#[test]
fn comparable_suites_begin_with_a_comparison() {
    let page = suites_html(&crowd::several());
    let together = page.split("</header>").nth(1).unwrap();
    assert!(together.contains("Side by side") && together.contains("75/25"));
    // Throughputs differ by a factor of thirty: the logarithmic scale has both ticks.
    let chart = together.split("</svg>").next().unwrap();
    assert!(chart.contains(">100</text>") && chart.contains(">10k</text>"));
    let tests = suites_html(&crowd::tested());
    let table = tests.split("Seconds of each test").nth(1).unwrap().split("</table>").next().unwrap();
    for required in ["ATIS", "wisconsin", "total", "(× 1.35)", "+ (", "? ("] {
        assert!(table.contains(required), "{required} in {table}");
    }
    assert!(!suites_html(&[crowd::staged(), crowd::statements("a", 1.0)]).contains("Side by side"));
}

#[test]
fn changes_are_marked_at_their_times() {
    let page = suites_html(&[crowd::staged()]);
    assert!(page.contains("iops 3,000 to 6,000") && page.contains("after 12\u{a0}s"), "the change is also text");
}

#[test]
fn csv_columns_are_stable() {
    let run = crowd::crowds(&crowd::VOLUME, &[("", 0.25)]);
    let table = suite_csv(&run);
    let mut lines = table.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    assert_eq!(header[..4], ["suite", "subject", "source", "step"]);
    assert_eq!(header[19], "skipped");
    let first = run.steps.iter().find_map(|step| Some((&step.name, crowd_in(&step.work)?))).unwrap();
    let row: Vec<&str> = lines.find(|line| line.contains(first.0.as_str())).unwrap().split(',').collect();
    let cell = |name: &str| row[header.iter().position(|existing| *existing == name).unwrap()];
    assert_eq!(cell("sessions"), "1");
    assert_eq!(cell("block_reads"), first.1.counted.reads.unwrap().to_string());
    assert!(cell("kinds").starts_with("read ") && cell("kinds").contains("; update "));
    let shares: f64 = ["cpu", "reads", "commits", "locks", "client"]
        .map(|part| cell(&format!("split_{part}")).parse::<f64>().unwrap())
        .iter()
        .sum();
    assert!((shares - 1.0).abs() < 1e-9);
    assert_eq!(cell("lock_ns"), "", "unknown values are empty, not zero");
}

#[test]
fn long_names_are_replaced_by_unique_session_counts() {
    let mut run = crowd::crowds(&crowd::VOLUME, &[("UPDATE_PCT=25", 0.25)]);
    for step in &mut run.steps {
        step.name = step.name.replace("sessions", "threads for each of so many schemas");
    }
    let displayed = text(&run, 100);
    assert!(displayed.contains("\n8 sessions ") && !displayed.contains("for each of so many schemas "), "{displayed}");
}

#[test]
fn verdicts_of_the_first_version_are_texts() {
    let mut stored: Value = serde_json::from_slice(&crowd::staged().to_json()).expect("JSON");
    stored["format"] = json!("plimsoll.suite/1");
    stored["verdicts"] = json!(["the knee is at 8 clients"]);
    let read = SuiteRun::from_json(stored.to_string().as_bytes()).expect("a file of version 1");
    let expected = SharedVerdict::Text { text: "the knee is at 8 clients".into() };
    assert_eq!((read.format.as_str(), &read.verdicts[..]), (SUITE_FORMAT, &[expected.into()][..]));
    assert!(text(&read, 80).contains("The knee is at 8 clients."), "{}", text(&read, 80));
}

#[test]
fn json_of_verdicts_has_kind_figures_and_text() {
    let first = Some("offset 0".to_owned());
    let evidence = LimitEvidence { device: Some(("vda".into(), 0.97)), ..LimitEvidence::default() };
    let (offered, limit) = (Pace::Closed { depth: 8 }, Some(SessionLimit::Stage { stage: "IOPS".into() }));
    let verdicts: Vec<Verdict> = vec![
        DdVerdict::NoPageCache.into(),
        SharedVerdict::WrongData { blocks: 9, wrong: 2, first }.into(),
        SharedVerdict::Text { text: "a note".into() }.into(),
        SessionVerdict::BindingLimit { update_pct: Some(25), offered, limit, evidence }.into(),
    ];
    let written = SuiteRun { verdicts, ..crowd::staged() };
    let bytes = suite_json(&written);
    assert!(bytes.starts_with(b"{\"format\":\"plimsoll.suite/2\""), "{}", String::from_utf8_lossy(&bytes[..80]));
    let read = SuiteRun::from_json(&bytes).expect("a suite");
    assert_eq!(read.verdicts[..2], written.verdicts[..2]);
    assert_eq!(read.verdicts[3], written.verdicts[3]);
    let printed: Value = serde_json::from_slice(&bytes).expect("JSON");
    let wrong = json!({
        "kind": "wrong-data", "blocks": 9, "wrong": 2, "first": "offset 0",
        "text": "Of 9 blocks that were read, 2 had wrong data. The first: offset 0.",
    });
    assert_eq!(printed["verdicts"][1], wrong);
    assert_eq!(printed["verdicts"][2], json!({ "kind": "text", "text": "A note." }));
    let limit = "UPDATE_PCT=25: binding limit at 8 sessions: IOPS (vda for 97 %).";
    assert_eq!(printed["verdicts"][3]["text"], limit);
    assert_eq!(printed["verdicts"][3]["limit"], json!({ "kind": "stage", "stage": "IOPS", "text": "IOPS" }));
}

#[test]
fn quantities_and_limits_are_data_and_earlier_sentences_are_texts() {
    let mut written = crowd::staged();
    let step = written.steps.last_mut().expect("a step");
    step.measures = Some(StepQuantity::Transactions);
    if let StepWork::Sessions(sessions) = &mut step.work {
        sessions.limit = Some(SessionLimit::Device { device: "vda".into() });
    }
    let bytes = suite_json(&written);
    assert_eq!(SuiteRun::from_json(&bytes).expect("a suite"), written);
    let mut stored: Value = serde_json::from_slice(&bytes).expect("JSON");
    let step = stored["steps"].as_array_mut().and_then(|steps| steps.last_mut()).expect("a step");
    let words = "whole transactions as a session sees them, commit included";
    assert_eq!(step["measures"], json!({ "kind": "transactions", "text": words }));
    let limit = json!({ "kind": "device", "device": "vda", "text": "vda, which was never idle" });
    assert_eq!(step["work"]["crowd"]["limit"], limit);
    (step["measures"], step["work"]["crowd"]["limit"]) = (json!("commits"), json!("the disk"));
    let read = SuiteRun::from_json(stored.to_string().as_bytes()).expect("sentences");
    let step = read.steps.last().expect("a step");
    assert_eq!(step.measures, Some(StepQuantity::Text { text: "commits".into() }));
    assert!(matches!(&step.work, StepWork::Sessions(run) if run.limit == Some("the disk".to_owned().into())));
}

/// The kind determines the fields of a verdict, whatever its suite.
#[test]
fn kinds_of_verdicts_are_unique() {
    let schema: Value = serde_json::from_slice(&find_schema("suite").expect("a schema")).expect("JSON");
    let parts = schema["$defs"]["Verdict"]["anyOf"].as_array().expect("parts");
    let mut kinds: Vec<&str> = Vec::new();
    for part in parts {
        let name = part["$ref"].as_str().and_then(|path| path.rsplit('/').next()).expect("a definition");
        for kind in schema["$defs"][name]["oneOf"].as_array().expect("kinds") {
            let kind = kind["properties"]["kind"]["const"].as_str().expect("a kind");
            assert!(!kinds.contains(&kind), "{kind}");
            kinds.push(kind);
        }
    }
    assert!(kinds.len() > 80, "{kinds:?}");
}
