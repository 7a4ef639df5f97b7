//! Each suite in a directory: it succeeds, leaves no files, and has all forms.

use std::process::Stdio;
use std::time::{Duration, Instant};

use plimsoll_record::{EndReason, Source, StepWork, SuiteRun};

use crate::folder::{stderr, stdout};
use crate::suites::{SMALL, directory, run_suite};

/// Fields of a CSV line without commas or quotes, as numbers if possible.
fn figures(line: &str) -> Vec<Option<f64>> {
    line.split(',').map(|field| field.parse().ok()).collect()
}

/// Checks that apply to every suite in a directory.
fn runs(name: &str, flags: &[&str]) {
    let folder = directory(&format!("disk-{name}"));
    let forms = ["--json", "suite.json", "--csv", "suite.csv", "--html", "suite.html"];
    let output = folder.run(&[&["suite", name, "place"], flags, &forms].concat());
    assert!(output.status.success(), "{name}: {}", stderr(&output));
    assert!(folder.names("place").is_empty(), "{name} left {:?}", folder.names("place"));

    let suite = SuiteRun::from_json(folder.read("suite.json").as_bytes()).expect("it is a suite");
    assert!(matches!(suite.source, Source::Measured { .. }) && suite.host.is_some(), "{name}: {:?}", suite.source);
    assert_eq!((suite.suite.as_str(), suite.ended), (name, EndReason::Complete));
    let printed = stdout(&output);
    assert!(printed.contains(&suite.follows.split(':').next().unwrap_or_default().to_owned()), "{name}: {printed}");
    assert!(!suite.listings.is_empty(), "{name} has no listing");
    for line in suite.listings.iter().flat_map(|listing| listing.text.lines()) {
        assert!(printed.contains(line.trim_end()), "{name} does not print {line:?}, or in pieces");
    }

    for step in &suite.steps {
        let (operations, errors) = match &step.work {
            StepWork::Io { jobs, .. } => {
                let sum = |of: fn(&plimsoll_record::Tally) -> u64| jobs.iter().map(|job| of(&job.total)).sum::<u64>();
                (sum(plimsoll_record::Tally::operations), sum(plimsoll_record::Tally::errors))
            }
            StepWork::Files { files, .. } => (*files, 0),
            _ => continue,
        };
        assert!(operations > 0 && errors == 0, "{name}: {} made {operations} and {errors} errors", step.name);
    }
    let csv = folder.read("suite.csv");
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(rows.len(), suite.steps.len() + 1, "{name}: a row for each step below the names");
    let at = rows[0].split(',').position(|column| column == "operations").expect("a column of operations");
    // A commit of several writes may take longer than a short step.
    for row in rows[1..].iter().filter(|row| !row.contains('"') && !row.contains(" open_sync writes")) {
        assert!(figures(row)[at].is_some_and(|operations| operations > 0.0), "{name}: {row}");
    }
    let page = folder.read("suite.html");
    for outside in ["<script src", "<link", "src=\"http", "href=\"http", "url(http", "@import"] {
        assert!(!page.contains(outside), "{name}: the page needs {outside}");
    }
    assert!(page.contains("Details") && page.contains("</html>"), "{name}");
}

#[test]
fn every_suite_measures_a_directory_and_leaves_it_as_it_was() {
    for (name, flags) in SMALL {
        runs(name, flags);
    }
}

#[test]
fn a_byte_that_changed_is_found_with_its_place() {
    let folder = directory("verify");
    let options = ["--size", "2MiB", "--keep", "data", "--seed", "7"];
    run_suite(&folder, "verify", "place", &options);
    assert_eq!(folder.names("place"), ["data"]);
    let check = || folder.run(&[&["suite", "verify", "place", "--check"], &options[..]].concat());
    let good = check();
    assert!(good.status.success(), "{}", stderr(&good));
    assert!(stdout(&good).contains("of 512 blocks that were read"), "{}", stdout(&good));

    let path = folder.join("place/data");
    let mut data = std::fs::read(&path).expect("it was kept");
    data[3 * 4096 + 100] ^= 1;
    std::fs::write(&path, data).expect("it can be written");
    let bad = check();
    assert_eq!(bad.status.code(), Some(1), "{}", stderr(&bad));
    let printed = stdout(&bad);
    assert!(printed.contains("  4096 bytes at 12288: byte 100 is wrong"), "{printed}");
    assert!(printed.contains("mismatches    1\n"), "{printed}");

    // Data of another run are foreign.
    let other = ["suite", "verify", "place", "--check", "--size", "2MiB", "--keep", "data", "--seed", "8"];
    let other = folder.run(&other);
    assert_eq!(other.status.code(), Some(1));
    assert!(stdout(&other).contains("mismatches    512\n"), "{}", stdout(&other));
}

/// Old versions are detected only with the state of the last writes.
#[test]
fn a_lost_write_is_found_by_what_is_remembered() {
    let folder = directory("lost");
    let options = ["--size", "2MiB", "--keep", "data"];
    run_suite(&folder, "verify", "place", &[&options[..], &["--passes", "0"]].concat());
    let path = folder.join("place/data");
    let old = std::fs::read(&path).expect("it was kept");
    let again = folder.run(&[&["suite", "verify", "place"], &options[..]].concat());
    assert_eq!(again.status.code(), Some(2));
    assert!(stderr(&again).contains("place/data: it may be of an earlier run: add --check"), "{}", stderr(&again));
    std::fs::remove_file(&path).expect("it is a file");
    run_suite(&folder, "verify", "place", &[&options[..], &["--overwrite", "100", "--state", "state"]].concat());
    let mut data = std::fs::read(&path).expect("it was kept");
    let block = (0..512).map(|block| block * 4096).find(|at| data[*at..*at + 4096] != old[*at..*at + 4096]);
    let at = block.expect("some block was written over");
    data[at..at + 4096].copy_from_slice(&old[at..at + 4096]);
    std::fs::write(&path, data).expect("it can be written");

    let check = |more: &[&str]| folder.run(&[&["suite", "verify", "place", "--check"], &options[..], more].concat());
    assert!(check(&[]).status.success(), "it is a version that was written");
    let more = folder.run(&["suite", "verify", "place", "--size", "2MiB", "--state", "state"]);
    assert_eq!(more.status.code(), Some(2), "the state of the kept data is not overwritten");
    let checked = check(&["--state", "state"]);
    let printed = stdout(&checked);
    assert_eq!(checked.status.code(), Some(1), "{printed}");
    assert!(printed.contains(&format!("  4096 bytes at {at}: ")) && printed.contains("mismatches    1\n"), "{printed}");
}

/// A long suite is interrupted after its first step.
#[test]
fn an_interrupt_keeps_the_steps_that_were_made() {
    let folder = directory("interrupted");
    let long = ["suite", "crystaldiskmark", "place", "--size", "2MiB", "--measure", "60s", "--json", "part.json"];
    let errors = std::fs::File::create(folder.join("progress")).expect("a file can be made");
    let mut child = folder.command(&long).stdout(Stdio::null()).stderr(errors).spawn().expect("the command starts");
    let began = Instant::now();
    // Filling the file is the first step, and its line the only one for a minute.
    while !folder.read("progress").contains("filling the file") && began.elapsed() < Duration::from_secs(50) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).expect("it is our child");
    assert_eq!(child.wait().expect("it ends").code(), Some(130), "{}", folder.read("progress"));
    let part = SuiteRun::from_json(folder.read("part.json").as_bytes()).expect("it is a suite");
    assert_eq!(part.ended, EndReason::Interrupted);
    assert_eq!(part.steps[0].name, "filling the file");
    assert!(part.steps.len() <= 2, "{}", part.steps.len());
    assert!(folder.names("place").is_empty(), "{:?}", folder.names("place"));
    let run_names = folder.names("runs");
    assert_eq!(run_names.len(), 1, "its steps until then are kept");
    assert_eq!(folder.run(&["report"]).status.code(), Some(2), "an interrupted run is no default");
    let report = folder.run(&["report", &run_names[0]]);
    assert!(stdout(&report).contains("crystaldiskmark on"), "{}", stderr(&report));
}
