//! The files in `samples/` are up to date with the formats.
#![expect(clippy::disallowed_methods, reason = "the test of a pure crate compares files of the repository")]

use std::path::Path;

use plimsoll_testkit::{DailyWorkload, Workload, Writing};

/// Single-window formats cover the hour before noon, series a day. `UPDATE_GENERATED=1` writes the file.
fn check(name: &str, form: Writing, windows: u32) {
    let busiest = Workload::shop(if windows == 1 { 10 } else { 0 });
    let text = form.write(&DailyWorkload { busiest, windows, instances: 1 }).remove(0).text;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples").join(name);
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        std::fs::write(&path, &text).expect("the sample can be written");
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == text, "samples/{name} is stale: run UPDATE_GENERATED=1 cargo test -p plimsoll-testkit");
}

#[test]
fn samples_are_fresh() {
    let form = |name: &str| Writing::ALL.into_iter().find(|(existing, _)| *existing == name).expect("a known form").1;
    check("awr.html", form("awr-html"), 1);
    check("awr.txt", form("awr-text"), 1);
    check("statspack.txt", form("statspack"), 1);
    check("fio.json", form("fio-json"), 1);
    check("iostat.txt", form("iostat"), 24);
    check("iostat.json", form("iostat-json"), 24);
    check("sar.txt", form("sar"), 24);
    check("sadf.csv", form("sadf"), 24);
    check("pg_stat_io.txt", form("pg-stat-io"), 24);
}
