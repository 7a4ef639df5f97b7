//! Suites on models, in directories and over NBD; refused, interrupted and shown again.

#![allow(clippy::print_stderr)] // it says when it is skipped

mod blocks;
mod disk;
mod kept;
mod models;
mod refused;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use plimsoll_record::SuiteRun;

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");

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

/// A temporary directory, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("suites-{name}-{}", std::process::id()));
        fs::create_dir_all(path.join("place")).expect("the folder can be made");
        Self(path)
    }

    /// A file in the directory.
    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The program in this directory, with runs kept in `runs` and targets in `place`.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(arguments).current_dir(&self.0).env("PLIMSOLL_RUNS", self.file("runs")).env("LC_ALL", "C.UTF-8");
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the command starts")
    }

    /// JSON of a suite, which has to succeed.
    #[track_caller]
    fn suite(&self, name: &str, place: &str, more: &[&str]) -> SuiteRun {
        let arguments = [&["suite", name, place, "--json", "-"], more].concat();
        let output = self.run(&arguments);
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        SuiteRun::from_json(&output.stdout).expect("it is a suite")
    }

    /// Files in a directory.
    fn names(&self, of: &str) -> Vec<String> {
        let entries = fs::read_dir(self.file(of)).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Standard error.
fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
