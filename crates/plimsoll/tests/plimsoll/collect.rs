//! `plimsoll collect` with temporary servers on Unix sockets.
//!
//! Needs PostgreSQL and MariaDB; tests are skipped with a message if a server is not installed.

mod host;
mod mariadb;
mod postgres;

use std::path::Path;
use std::process::{Child, Command};

use serde_json::Value;

use crate::folder::{PROGRAM, stderr};

fn plimsoll(arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).env_remove("PGHOST").env_remove("PGPASSWORD");
    command
}

/// The demand in a file, as JSON.
fn demand(file: &Path) -> Value {
    let output = plimsoll(&["demand", file.to_str().unwrap(), "--json", "-"]).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Lines of a file of snapshots, all complete.
fn read_lines(file: &Path) -> Vec<Value> {
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

/// A load above 999 IOPS, the rate of the volume.
const LOAD_IOPS: f64 = 2_000.0;
/// 333 GiB of gp2 have 5.4 million credits, which are used at the difference.
const VOLUME: &str = "aws/gp2:333GiB";
const CREDITS: f64 = 5.4e6;
const RATE_IOPS: f64 = 999.0;

/// Snapshots of a server at work with the times of a clock of the test: each adds the work between the first and the last
/// snapshot as often as `iops` need, so that the speed of the host has no effect.
struct RepeatedWork {
    head: Value,
    first: Value,
    last: Value,
    /// Operations between both.
    operations: f64,
}

impl RepeatedWork {
    fn new(file: &Path) -> Self {
        let lines = read_lines(file);
        let snapshots: Vec<&Value> = lines[1..].iter().filter(|line| line["note"].is_null()).collect();
        let (first, last) = (snapshots[0].clone(), (*snapshots.last().unwrap()).clone());
        let mut work = Self { head: lines[0].clone(), first, last, operations: 1.0 };
        // At an assumed operation per second the watch states those of an interval.
        let intervals = file.with_extension("intervals.jsonl");
        work.write(&intervals, 1.0, 8.0 * INTERVAL_S);
        let state = watch(&intervals, &[]);
        let rate = |kind: &str| state[kind].as_f64().unwrap_or(0.0);
        work.operations = rate("reads_per_second") + rate("writes_per_second");
        assert!(work.operations > 0.0, "the server did no I/O: {state:#}");
        work
    }

    /// Writes a load of `iops` for `seconds`.
    fn write(&self, file: &Path, iops: f64, seconds: f64) {
        let times = (iops * INTERVAL_S / self.operations).ceil();
        let interval_s = times * self.operations / iops;
        let begin: jiff::Timestamp = "2026-03-02T00:00:00Z".parse().unwrap();
        let mut text = format!("{}\n", self.head);
        for n in 0..=(seconds / interval_s).floor() as u64 {
            let elapsed_s = n as f64 * interval_s;
            let mut line = repeat(&self.first, &self.last, n as f64 * times, elapsed_s);
            let at = begin + jiff::SignedDuration::from_secs_f64(elapsed_s);
            line["at"] = Value::from(format!("{at:.3}"));
            text += &format!("{line}\n");
        }
        std::fs::write(file, text).unwrap();
    }
}

/// Approximate time between two snapshots.
const INTERVAL_S: f64 = 10.0;

/// A snapshot whose counters rose `times` as often as between two others.
fn repeat(first: &Value, last: &Value, times: f64, elapsed_s: f64) -> Value {
    match (first, last) {
        (Value::Number(before), Value::Number(after)) => {
            if let (Some(before), Some(after)) = (before.as_u64(), after.as_u64()) {
                Value::from(before + (after.saturating_sub(before) as f64 * times).round() as u64)
            } else {
                let [before, after] = [before, after].map(|number| number.as_f64().unwrap());
                Value::from(before + (after - before).max(0.0) * times)
            }
        }
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
            before.iter().zip(after).map(|(before, after)| repeat(before, after, times, elapsed_s)).collect()
        }
        (Value::Object(before), Value::Object(after)) => {
            let fields = before.iter().map(|(name, before)| {
                let value = match (name.as_str(), before.as_f64()) {
                    // The server runs by the clock of the test.
                    ("Uptime", Some(_)) => Value::from(1_000_000 + elapsed_s.round() as u64),
                    _ => repeat(before, after.get(name).unwrap_or(before), times, elapsed_s),
                };
                (name.clone(), value)
            });
            Value::Object(fields.collect())
        }
        _ => first.clone(),
    }
}

/// The last state of a watch of a file.
fn watch(file: &Path, arguments: &[&str]) -> Value {
    let output = plimsoll(&["watch", file.to_str().unwrap(), "--json", "-"]).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Records snapshots to a file around some work, until `more` of them came after it.
fn record_work(mut running: Child, file: &Path, more: usize, work: impl FnOnce()) {
    let count = || std::fs::read_to_string(file).map_or(0, |text| text.lines().count());
    until("the first snapshot comes", || count() >= 2);
    work();
    let before = count();
    until("snapshots of the work come", || count() >= before + more);
    let process = rustix::process::Pid::from_child(&running);
    rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
    running.wait().unwrap();
}

/// Watches the work of a server on a volume whose credits it uses up, and below the rate of that volume.
fn end_of_credits_is_forecast(file: &Path) {
    const HOUR_S: f64 = 3_600.0;
    let work = RepeatedWork::new(file);
    let load = file.with_extension("load.jsonl");
    let end_s = CREDITS / (LOAD_IOPS - RATE_IOPS);
    let on = ["--on", VOLUME, "--credits", "100%", "--warn-before", "30m"];
    let watch_until = |seconds: f64| {
        work.write(&load, LOAD_IOPS, seconds);
        watch(&load, &on)
    };
    let is_raised =
        |state: &Value, kind: &str| state["alerts"].as_array().unwrap().iter().any(|alert| alert["kind"] == kind);
    let ahead = watch_until(end_s - HOUR_S);
    let forecast_s = ahead["credits"][0]["ends_in_s"].as_f64().unwrap_or_else(|| panic!("{ahead:#}"));
    assert!((forecast_s / HOUR_S - 1.0).abs() < 0.1, "{forecast_s} s ahead: {ahead:#}");
    assert!(!is_raised(&ahead, "credits-end"), "{ahead:#}");
    let before = watch_until(end_s - 600.0);
    assert!(is_raised(&before, "credits-end") && !is_raised(&before, "credits-used-up"), "{before:#}");
    assert!(is_raised(&watch_until(end_s + 600.0), "credits-used-up"));
    work.write(&load, 0.8 * RATE_IOPS, 20.0 * HOUR_S);
    let quiet = watch(&load, &on);
    assert_eq!(quiet["alerts"].as_array().map(Vec::len), Some(0), "{quiet:#}");
}

/// True if a program is installed.
pub fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
