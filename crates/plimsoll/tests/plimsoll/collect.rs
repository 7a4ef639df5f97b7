//! `plimsoll collect` with temporary servers on Unix sockets.
//!
//! Needs PostgreSQL and MariaDB; tests are skipped with a message if a server is not installed.

mod host;
mod mariadb;
mod postgres;

use std::path::Path;
use std::process::Command;

use crate::folder::{PROGRAM, stderr};

fn plimsoll(arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).env_remove("PGHOST").env_remove("PGPASSWORD");
    command
}

/// The demand in a file, as JSON.
fn demand(file: &Path) -> serde_json::Value {
    let output = plimsoll(&["demand", file.to_str().unwrap(), "--json", "-"]).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
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
pub fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
