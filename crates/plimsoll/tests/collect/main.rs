//! `plimsoll collect` against servers of the test's own, on Unix sockets in folders of their own.
//!
//! Needs PostgreSQL and MariaDB; each test says when its server is not installed, and is skipped.
#![allow(clippy::print_stderr, clippy::unwrap_used, reason = "a test that is skipped says why")]

mod host;
mod mariadb;
mod postgres;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder of a test's own, which is removed in the end.
struct Folder(PathBuf);

impl Folder {
    /// Paths of Unix sockets are short: so is this one.
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("plimsoll-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn plimsoll(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
    command.args(arguments).env_remove("PGHOST").env_remove("PGPASSWORD");
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The demand that a file tells, as JSON.
fn demand(file: &Path) -> serde_json::Value {
    let output = plimsoll(&["demand", file.to_str().unwrap(), "--json", "-"]).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Lines of a file of snapshots, each of them whole.
fn lines(file: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.ends_with('\n'), "the last line is whole");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Waits until something is so.
fn until(what: &str, is_so: impl Fn() -> bool) {
    let begin = std::time::Instant::now();
    while !is_so() {
        assert!(begin.elapsed().as_secs() < 120, "{what}");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

/// True when a program is there to be started.
fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
