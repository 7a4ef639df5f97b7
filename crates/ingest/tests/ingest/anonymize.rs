//! Inputs without names say of storage what they said with them, and say nothing else.

use plimsoll_ingest::{Anonymizer, Course, Demand, Ingest, Outcome, Reading, Workload, Writing};
use proptest::prelude::*;

use super::emit::{oracle, workload};
use super::samples::samples;

fn outcome(bytes: &[u8]) -> Outcome {
    let mut ingest = Ingest::new("test");
    ingest.feed(bytes);
    ingest.finish().remove(0)
}

fn anonymous(bytes: &[u8]) -> String {
    Anonymizer::new().file(bytes).expect("it is text").text
}

/// All that a reading says but for names and places, in an order of its own.
fn numbers(reading: &Reading) -> Vec<String> {
    let demand = Demand::of(&[reading]);
    let series = demand.subjects.iter().flat_map(|subject| &subject.series);
    let series = series.map(|s| format!("{:?} {:?} {:?} {:?}", s.class, s.measure, s.statistic, s.values));
    let figures =
        reading.figures.iter().map(|f| format!("{:?} {:?} {:?} {}", f.class, f.measure, f.statistic, f.value));
    let waits = reading.waits.iter().map(|w| format!("{} {} {} {:?}", w.event, w.count, w.total_s, w.histogram));
    let advice = reading.advice.iter().map(|a| format!("{} {} {}", a.size_bytes, a.read_factor, a.reads));
    let times = reading.times.iter().map(|t| format!("{} {:?} {:?}", t.database_s, t.processor_s, t.processors));
    let windows = reading.windows.iter().map(|window| format!("{window:?}"));
    let mut all: Vec<String> = series.chain(figures).chain(waits).chain(advice).chain(times).chain(windows).collect();
    all.sort();
    all
}

/// The law: what is left says the same of storage, and names nobody of the tables at the beginning.
fn check(name: &str, bytes: &[u8]) -> bool {
    let Outcome::Read(before) = outcome(bytes) else { return false };
    let text = anonymous(bytes);
    let after = match outcome(text.as_bytes()) {
        Outcome::Read(after) => after,
        Outcome::Refused { refusal, .. } => panic!("{name}: {refusal}"),
    };
    assert_eq!(after.kind, before.kind, "{name}");
    for (after, before) in numbers(&after).iter().zip(&numbers(&before)) {
        assert_eq!(after, before, "{name}");
    }
    assert_eq!(numbers(&after).len(), numbers(&before).len(), "{name}");
    for scope in &before.scopes {
        for name_of in [&scope.database, &scope.instance, &scope.host] {
            // A tag that is broken is read as a name.
            let short = name_of.len() < 4 || name_of.contains('>') || name_of.bytes().all(|byte| byte.is_ascii_digit());
            let lower = text.to_lowercase();
            let found = lower.find(&name_of.to_lowercase()).filter(|_| !short);
            assert!(
                found.is_none(),
                "{name}: a name is left: {}",
                lower[found.unwrap_or(0)..].lines().next().unwrap_or_default()
            );
        }
    }
    true
}

#[test]
fn reports_say_the_same_without_names() {
    for form in oracle() {
        let course = Course { busiest: workload(), windows: 1, instances: 1 };
        assert!(check(&format!("{form:?}"), form.write(&course)[0].text.as_bytes()));
    }
}

#[test]
fn names_are_the_same_in_all_files_of_a_call() {
    let course = Course { busiest: workload(), windows: 2, instances: 2 };
    let mut anonymizer = Anonymizer::new();
    let written = Writing::AwrText.write(&course);
    let readings: Vec<Reading> = written
        .iter()
        .map(|file| match outcome(anonymizer.file(file.text.as_bytes()).unwrap().text.as_bytes()) {
            Outcome::Read(reading) => *reading,
            Outcome::Refused { refusal, .. } => panic!("{refusal}"),
        })
        .collect();
    let names: Vec<_> = readings
        .iter()
        .map(|reading| {
            let scope = &reading.scopes[0];
            format!("{}/{} on {}", scope.database, scope.instance, scope.host)
        })
        .collect();
    assert_eq!(names, ["db1/inst1 on host1", "db1/inst2 on host2", "db1/inst1 on host1", "db1/inst2 on host2"]);
}

#[test]
fn statements_addresses_and_notes_go() {
    let page = "<html><h1>WORKLOAD REPOSITORY report for</h1><p>made by joe@quay.example</p><script>x('quay')</script>\
        <!-- quay --><table summary=\"quay\"><tr><th>DB Name</th><th>DB Id</th><th>Release</th></tr>\
        <tr><td>QUAY</td><td>123456789</td><td>19.0.0.0.0</td></tr></table>\
        <h3>SQL ordered by Gets</h3><table><tr><th>Buffer Gets</th><th>SQL Id</th><th>SQL Module</th><th>SQL Text</th></tr>\
        <tr><td>1,234</td><td><a href=\"#quay\">4p8nkdv2xq</a></td><td>quay.exe</td><td>select quay from berth where id = 4711</td></tr>\
        </table><table><tr><th>Parameter Name</th><th>Value</th></tr><tr><td>local_quay</td><td>10.1.2.3</td></tr></table></html>";
    let text = anonymous(page.as_bytes());
    for name in ["quay", "joe", "berth", "4711", "10.1.2.3", "4p8nk", "123456789", "select"] {
        assert!(!text.to_lowercase().contains(name), "{name} is left:\n{text}");
    }
    for kept in ["1,234", "(38 letters)", "db1", "sql1", "program1", "ip1", "19.0.0.0.0", "SQL ordered by Gets"] {
        assert!(text.contains(kept), "{kept} is gone:\n{text}");
    }
}

#[test]
fn sections_of_statements_keep_their_rows_alone() {
    let text = "WORKLOAD REPOSITORY report for\n\nSQL ordered by Gets   DB/Inst: QUAY/quay1  Snaps: 1-2\n\n     Buffer\n       Gets   Executions   per Exec  %Total    SQL Id\n----------- ------------ ---------- ------- -------------\n      1,234           12      102.8    10.0 4p8nkdv2xq001\nModule: quay.exe\nselect berth from quay where id in (\n4711, 4712, 4713, 4714,\n   4715)\n";
    let out = anonymous(text.as_bytes());
    for name in ["quay", "QUAY", "4711", "4715", "berth", "4p8nk"] {
        assert!(!out.contains(name), "{name} is left:\n{out}");
    }
    assert!(out.contains("1,234           12      102.8    10.0 sql1"), "{out}");
    assert!(out.contains("DB/Inst: db1/inst1  Snaps: 1-2"), "{out}");
}

#[test]
fn numbers_of_statements_stand_for_them() {
    let text = "STATSPACK report for\n\nSQL ordered by Gets  DB/Inst: QUAY/quay1  Snaps: 1-2\n\n    CPU                           Old\n  Time (s)   Executions Gets   Hash Value\n---------- ------------ ------ ----------\n   1241.76        7,087  0.18  1481390170\n";
    let out = anonymous(text.as_bytes());
    assert!(out.contains("7,087  0.18  sql1") && !out.contains("1481390170"), "{out}");
}

#[test]
fn lists_of_programs_keep_their_columns() {
    let table = [
        (
            "Linux 5.4.0-quay (berth.example) \t12/01/2021 \t_x86_64_\t(1 CPU)\n\nDevice            r/s     w/s  %util\nsda              1.00    2.00   3.00\nvgquay-data      1.00    2.00   3.00\n",
            "Linux 5.4.0 (host1) \t12/01/2021 \t_x86_64_\t(1 CPU)\n\nDevice            r/s     w/s  %util\nsda              1.00    2.00   3.00\nname1            1.00    2.00   3.00\n",
        ),
        (
            " datname | calls | query\n---------+-------+------------\n quay    |    12 | select 4711\n",
            " datname | calls | query\n---------+-------+------------\n db1     |    12 | (11 letters)\n",
        ),
        (
            "# hostname;interval;timestamp;DEV;tps;rd_sec/s\nberth;10;2026-03-02 10:00:00 UTC;sda;1.0;2.0\n",
            "# hostname;interval;timestamp;DEV;tps;rd_sec/s\nhost1;10;2026-03-02 10:00:00 UTC;sda;1.0;2.0\n",
        ),
        (
            "{\"hosts\": [{\"nodename\": \"berth\", \"disk_device\": \"sda\", \"r/s\": 1.5, \"query\": \"select \\\"quay\\\" 4711\"}]}\n",
            "{\"hosts\": [{\"nodename\": \"host1\", \"disk_device\": \"sda\", \"r/s\": 1.5, \"query\": \"(20 letters)\"}]}\n",
        ),
        (
            "Innodb_data_reads\t1234\nsome_quay\tberth\nTRANSACTIONS\n------------\nupdate quay set id = 4711\nFILE I/O\n12 reads\n",
            "Innodb_data_reads\t1234\nname1\tname2\nTRANSACTIONS\n------------\n(25 letters)\nFILE I/O\n12 reads\n",
        ),
    ];
    for (text, expected) in table {
        assert_eq!(anonymous(text.as_bytes()), expected);
    }
}

#[test]
fn what_cannot_be_read_is_refused() {
    let refused = |bytes: &[u8]| Anonymizer::new().file(bytes).unwrap_err().to_string();
    assert!(refused(b"").contains("empty"));
    assert!(refused(b"PK\x03\x04...").contains("unpack it first"));
    assert!(
        refused(b"a program, and no text at all \0\x01\x02\x03 of any kind that is known")
            .contains("not a form that is known")
    );
}

#[test]
fn every_form_that_can_be_written_loses_its_names_and_no_number() {
    let digits = |text: &str| -> Vec<String> {
        let is_number = |word: &&str| word.parse::<f64>().is_ok();
        text.split([' ', '\n', ';', ',', '<', '>', ':', '"']).filter(is_number).map(str::to_owned).collect()
    };
    let course = Course { busiest: workload(), windows: 3, instances: 1 };
    for (name, form) in Writing::ALL {
        for file in form.write(&course) {
            let text = anonymous(file.text.as_bytes());
            for name_of in ["ORDERS", "orders_a", "quay7"] {
                assert!(!text.contains(name_of), "{name}: {name_of} is left in {text}");
            }
            if !matches!(form, Writing::AwrHtml(_)) {
                assert_eq!(digits(&text), digits(&file.text), "{name}");
            }
        }
    }
}

/// Reports of real systems, each as it is.
#[test]
fn samples_say_the_same_without_names() {
    let (mut count, mut wrong) = ([0_usize; 2], Vec::new());
    for (name, bytes) in samples(&["awr_html", "awr_text", "awr_text_synthetic", "statspack", "awr_diff_html"]) {
        // All of them are tried before the first that is wrong is shown.
        match std::panic::catch_unwind(|| check(&name, &bytes)) {
            Ok(read) => count[usize::from(read)] += 1,
            Err(_) => wrong.push(name),
        }
    }
    eprintln!("{} of {} samples could be read and compared", count[1], count[0] + count[1]);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_report_says_the_same(
        database in "[A-Z][A-Z0-9]{3,7}Q", instance in "[a-z]{4}[a-z0-9_]{0,6}q", host in "[a-z]{5,12}q",
        single in 1_u64..1_000_000_000, minutes in 1_u32..10_000, which in 0_usize..5,
    ) {
        let work = Workload { database, instance, host, single_reads: single, minutes, ..workload() };
        let course = Course { busiest: work, windows: 1, instances: 1 };
        let form = oracle().nth(which).unwrap();
        let name = format!("{form:?}");
        prop_assert!(check(&name, form.write(&course)[0].text.as_bytes()));
    }

    #[test]
    fn any_text_has_an_outcome(text in "([ -~\u{e4}\n\t]{0,300})", page in any::<bool>()) {
        let text = if page { format!("<html><table><tr><td>{text}") } else { text };
        let _ = Anonymizer::new().file(text.as_bytes());
    }
}
