//! Limits that change with time: burst credits in simulations and explanations.

use serde_json::Value;

use crate::folder::{Folder, words};

/// The steady part of a run is what its figures, its limit and its explanation are about.
#[test]
fn exhausted_credits_are_the_limit_and_the_first_cause() {
    let folder = Folder::new("credits");
    let run = &folder.file("b.json");
    folder.text(&["simulate", "aws/gp2:30GiB", "--depth", "4", "--duration", "2500s", "--json", run]);
    let report = words(&folder.text(&["report", run]));
    assert!(report.contains("Limited by IOPS of the size"), "{report}");
    let explained = words(&folder.text(&["explain", run, "--as", "aws/gp2:30GiB"]));
    assert!(explained.contains("Maximum throughput: 100 IOPS measured, 100 in theory (100 %"), "{explained}");
    assert!(explained.contains("burst credits are used up (5.4 M credits, at 2,8"), "{explained}");
    assert!(explained.contains("100 IOPS from then on"), "{explained}");
    assert!(explained.contains("theory for a run without credits: 100 IOPS, 40 ms at depth 4"), "{explained}");
    let parsed = folder.json(&["explain", run, "--as", "aws/gp2:30GiB"]);
    assert_eq!(parsed["loads"][0]["credits_used_up"], true);
    // While credits last, another stage holds the load, and the theory has credits.
    let burst = &folder.file("burst.json");
    folder.text(&["simulate", "aws/gp2:30GiB", "--depth", "4", "--duration", "60s", "--json", burst]);
    assert!(words(&folder.text(&["report", burst])).contains("Limited by media and network"));
    let explained = words(&folder.text(&["explain", burst, "--as", "aws/gp2:30GiB"]));
    assert!(!explained.contains("used up"), "{explained}");
}

/// 500 GiB of st1: 20 MiB/s, and credits for up to 125 MiB/s.
#[test]
fn credits_of_bytes_are_named_in_bytes() {
    let folder = Folder::new("credits-of-bytes");
    let run = &folder.file("scan.json");
    let line = "simulate aws/st1:500GiB --preset scan --depth 4 --duration 9000s --json";
    let arguments: Vec<&str> = line.split(' ').chain([run.as_str()]).collect();
    folder.text(&arguments);
    let report = words(&folder.text(&["report", run]));
    assert!(report.contains("Limited by baseline throughput of the size"), "{report}");
    let explained = words(&folder.text(&["explain", run, "--as", "aws/st1:500GiB"]));
    assert!(explained.contains("of credits, at ") && explained.contains("IOPS from then on"), "{explained}");
}

fn find<'a>(result: &'a Value, finding: &str) -> Option<&'a Value> {
    result["findings"].as_array().into_iter().flatten().find(|found| found["finding"] == finding)
}

/// 100 GiB of gp2: 300 IOPS, and 5.4 million credits for up to 3,000. A quick run ends long before its credits.
#[test]
fn load_line_is_without_credits_at_any_effort() {
    let folder = Folder::new("lasting");
    let run = |effort: &[&str]| {
        let simulated = folder.json(&[&["simulate", "aws/gp2:100GiB"], effort].concat());
        let line = simulated["load_line"]["iops"]["value"].as_f64().expect("a load line");
        assert!((270.0..=305.0).contains(&line), "{effort:?}: {line}");
        assert_eq!(simulated["source"]["credits"], "used-up");
        let found = find(&simulated, "line-on-credits").expect("credits raise the line");
        assert_eq!(found["lasting"], line);
        let (burst, seconds) = (found["burst"].as_f64().unwrap(), found["seconds"].as_f64().unwrap());
        assert!((2_400.0..=3_020.0).contains(&burst), "{effort:?}: {burst}");
        assert!((seconds - 5.4e6 / (burst - 300.0)).abs() < 1.0, "{seconds} s at {burst}");
        assert!(find(&simulated, "full-credits").is_none() && find(&simulated, "burst-credits").is_none());
    };
    run(&["--quick"]);
    run(&[]);
    let screen = Folder::new("lasting-screen").env("PLIMSOLL_DETAILS", "0");
    let text = words(&screen.text(&["simulate", "aws/gp2:100GiB", "--quick"]));
    assert!(text.contains("caution with burst credits 2"), "{text}");
    let details = words(&folder.text(&["simulate", "aws/gp2:100GiB", "--quick", "--details"]));
    assert!(details.contains("by the catalogue's model without burst credits"), "{details}");
}

/// The limit of random operations on hard disks is a stage of the model.
#[test]
fn credits_of_a_stage_are_used_up_too() {
    let folder = Folder::new("stage-credits");
    let simulated = folder.json(&["simulate", "aws/st1:500GiB", "--quick", "--block-size", "1MiB"]);
    let line = simulated["load_line"]["iops"]["value"].as_f64().expect("a load line");
    // 40 MiB/s for each TiB, on a disk that random arrivals keep waiting.
    assert!((11.0..=19.6).contains(&line), "{line}");
    assert!(find(&simulated, "line-on-credits").is_some(), "{}", simulated["findings"]);
    let none = folder.json(&["simulate", "aws/gp3:100GiB", "--quick"]);
    assert!(find(&none, "line-on-credits").is_none() && none["source"].get("credits").is_none());
}

/// An explanation of a run without credits compares with a product without credits.
#[test]
fn runs_without_credits_are_explained_without_credits() {
    let folder = Folder::new("explained-lasting");
    let run = &folder.file("a.json");
    folder.text(&["simulate", "aws/gp2:100GiB", "--quick", "--json", run]);
    let explained = folder.json(&["explain", run, "--as", "aws/gp2:100GiB"]);
    let loads = explained["loads"].as_array().expect("loads");
    assert!(loads.iter().all(|load| load["credits_used_up"] == true), "{loads:?}");
}

/// Programs of others have their own durations, and begin with full credits.
#[test]
fn products_of_suites_jobs_and_requirements_carry_their_doubts() {
    let folder = Folder::new("doubts");
    let suite = ["suite", "crystaldiskmark", "aws/gp2:100GiB", "--version", "3", "--runs", "1", "--size", "4MiB"];
    let parsed = folder.json(&[&suite[..], &["--measure", "1s"]].concat());
    assert_eq!(parsed["source"]["credits"], "spent");
    assert!(find(&parsed, "full-credits").is_some() && find(&parsed, "model-doubted").is_some());
    let screen = Folder::new("doubts-screen").env("PLIMSOLL_DETAILS", "0");
    let text = screen.text(&[&suite[..], &["--measure", "1s"]].concat());
    assert!(text.lines().count() <= 25, "{text}");
    let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("no {part} in\n{text}"));
    assert!(place("Random Read 4KB (QD=32)") < place("Details"), "{text}");
    if let Some(caution) = text.find("caution") {
        assert!(place("Random Read 4KB (QD=32)") < caution, "{text}");
    }
    let page = &folder.file("jobs.md");
    let jobs = "--name=j --rw=randread --size=1m --on=aws/gp2:100GiB".split(' ').collect::<Vec<_>>();
    folder.text(&[&["fio"], &jobs[..], &[&format!("--markdown={page}")]].concat());
    let page = words(&std::fs::read_to_string(page).expect("a page"));
    assert!(page.contains("began with full burst credits") && page.contains("its latency is"), "{page}");
    let output = folder.run(&["check", "etcd", "aws/gp2:100GiB", "--details"]);
    let checked = words(&String::from_utf8_lossy(&output.stdout));
    assert!(checked.contains("began with full burst credits") && checked.contains("its latency is"), "{checked}");
}
