//! Limits that change with time: burst credits in simulations and explanations.

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
