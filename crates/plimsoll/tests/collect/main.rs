//! `plimsoll collect` with temporary servers on Unix sockets.
//!
//! Needs PostgreSQL and MariaDB; tests are skipped with a message if a server is not installed.
#![allow(clippy::print_stderr, clippy::unwrap_used, reason = "a test that is skipped says why")]

mod host;
mod mariadb;
mod postgres;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A temporary directory, removed on drop.
struct Folder(PathBuf);

impl Folder {
    /// Short, as socket paths are limited.
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

/// The demand in a file, as JSON.
fn demand(file: &Path) -> serde_json::Value {
    let output = plimsoll(&["demand", file.to_str().unwrap(), "--json", "-"]).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Lines of a file of snapshots, all complete.
fn lines(file: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.ends_with('\n'), "the last line is whole");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Waits for a condition.
fn until(what: &str, is_so: impl Fn() -> bool) {
    let begin = std::time::Instant::now();
    while !is_so() {
        assert!(begin.elapsed().as_secs() < 120, "{what}");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

/// True if a program is installed.
fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
