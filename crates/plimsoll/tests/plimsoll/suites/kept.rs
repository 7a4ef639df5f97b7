//! Kept suites: listed, shown, and distinguished from curves.

use plimsoll_record::SuiteRun;

use crate::folder::{stderr, stdout};
use crate::suites::directory;

#[test]
fn stored_suite_result_is_printed_again() {
    let folder = directory("kept");
    let first = folder.run(&["suite", "dd", "place", "--bs", "64KiB", "--count", "4", "--no-probe"]);
    assert!(first.status.success(), "{}", stderr(&first));
    let listed = folder.text(&["runs"]);
    let name = listed.split_whitespace().next().expect("a name").to_owned();
    assert!(name.contains("-suite-dd-measured-") && listed.contains("dd of GNU coreutils, "), "{listed}");

    // The same text, except for the line with the path.
    let report = folder.run(&["report", &name]);
    let [reported, printed] = [&report, &first].map(stdout);
    assert!(printed.starts_with(reported.trim_end()), "{printed}\nand\n{reported}");
    assert!(printed.contains(&format!("{name}.json")), "{printed}");
    assert_eq!(folder.text(&["report"]), reported, "the last one is shown without a name");

    let copied = folder.run(&["report", &name, "--json", "copy.json", "--html", "copy.html", "--csv", "-"]);
    assert!(stdout(&copied).starts_with("suite,subject,source,step,"), "{}", stderr(&copied));
    let suite = |path: &str| SuiteRun::from_json(folder.read(path).as_bytes()).expect("it is a suite");
    let (original, copy) = (suite(&format!("runs/{name}.json")), suite("copy.json"));
    assert_eq!(
        (&copy.listings, &copy.verdicts, &copy.command),
        (&original.listings, &original.verdicts, &original.command)
    );
    assert_eq!((copy.steps.len(), &copy.started), (original.steps.len(), &original.started));
    assert!(folder.read("copy.html").contains("262144 bytes (262 kB, 256 KiB) copied"));
}

#[test]
fn several_suites_go_on_one_page_and_no_curve_with_them() {
    let folder = directory("mixed");
    let simulate = |name: &str, file: &str| {
        let output = folder.run(&[
            "suite",
            name,
            "station(1, 1ms)",
            "--bs",
            "64KiB",
            "--count",
            "1",
            "--kinds",
            "direct",
            "--no-probe",
            "--json",
            file,
            "--quiet",
        ]);
        assert!(output.status.success() && output.stdout.is_empty(), "{name}: {}", stderr(&output));
    };
    simulate("dd", "a.json");
    simulate("dd", "b.json");
    assert!(folder.run(&["report", "a.json", "b.json", "--html", "both.html", "--quiet"]).status.success());
    assert_eq!(folder.read("both.html").matches("65536 bytes (66 kB, 64 KiB) copied").count(), 2);

    let curve = ["simulate", "link(1ms)", "--depth", "1", "--duration", "1s", "--json", "curve.json", "--quiet"];
    assert!(folder.run(&curve).status.success());
    let refused = folder.run(&["report", "a.json", "curve.json"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("suites and curves cannot be in the same report"), "{}", stderr(&refused));
    let refused = folder.run(&["compare", "a.json", "curve.json"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("this is the suite dd"), "{}", stderr(&refused));
}
