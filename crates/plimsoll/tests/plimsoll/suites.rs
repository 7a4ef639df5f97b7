//! Suites on models, in directories and over NBD; refused, interrupted and shown again.

mod blocks;
mod disk;
mod kept;
mod models;
mod refused;

use plimsoll_record::SuiteRun;

use crate::folder::Folder;

/// Name and flags of every suite, with minimum sizes and times.
const SMALL: [(&str, &[&str]); 8] = [
    ("articles", &["--article", "oci-levels", "--size", "5MiB"]),
    ("bonnie", &["--size", "1MiB", "--memory", "512KiB", "--files", "1:512:0:2"]),
    ("crystaldiskmark", &["--size", "2MiB", "--runs", "2", "--measure", "20ms", "--interval", "0s"]),
    ("dd", &["--bs", "256KiB", "--count", "4"]),
    ("snia", &["--size", "2MiB", "--point", "20ms", "--mixes", "100,0", "--blocks", "4KiB", "--rounds", "5"]),
    ("tiobench", &["--threads", "2", "--size", "1MiB", "--random", "50"]),
    ("verify", &["--size", "2MiB"]),
    ("walfsync", &["--size", "2MiB", "--measure", "20ms"]),
];

/// A directory with an empty `place` for targets.
fn directory(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.make("place");
    folder
}

/// The result of a suite, which has to succeed.
#[track_caller]
fn run_suite(folder: &Folder, name: &str, place: &str, more: &[&str]) -> SuiteRun {
    let suite = folder.text(&[&["suite", name, place, "--json", "-"], more].concat());
    SuiteRun::from_json(suite.as_bytes()).expect("it is a suite")
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
