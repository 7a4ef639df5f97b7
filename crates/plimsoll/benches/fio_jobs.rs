//! The same jobs with fio and `plimsoll fio`, in turns: operations per second and user time for each, or with
//! `PLIMSOLL_BENCH_DEVICE` the operations of jobs of many kinds and the requests that reach this block device.
//!
//! `cargo bench --bench fio_jobs` prints the table. Needs fio. `PLIMSOLL_BENCH_DIR` names the folder for files of 256 MiB,
//! `PLIMSOLL_BENCH_PAIRS` the number of pairs (5), `PLIMSOLL_BENCH_SECONDS` the length of each run (3). The contents of the
//! device are destroyed.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

#[path = "fio_jobs/requests.rs"]
mod requests;

use std::path::{Path, PathBuf};
use std::process::Command;

const JOBS: [(&str, &str); 6] = [
    ("random reads, 4k, direct, io_uring, depth 1", "--rw=randread --bs=4k --ioengine=io_uring --iodepth=1 --direct=1"),
    (
        "random reads, 4k, direct, io_uring, depth 32",
        "--rw=randread --bs=4k --ioengine=io_uring --iodepth=32 --direct=1",
    ),
    ("sequential writes, 1m, direct, libaio, depth 4", "--rw=write --bs=1m --ioengine=libaio --iodepth=4 --direct=1"),
    ("random reads, 4k, cached, psync", "--rw=randread --bs=4k --ioengine=psync --pre_read=1"),
    (
        "70 % random reads, 4k, direct, libaio, depth 16",
        "--rw=randrw --rwmixread=70 --bs=4k --ioengine=libaio --iodepth=16 --direct=1",
    ),
    ("nothing, depth 32", "--rw=randread --bs=4k --ioengine=null --iodepth=32"),
];

/// Operations per second, and user-mode nanoseconds per operation.
#[derive(Clone, Copy, Debug)]
struct Observation {
    iops: f64,
    user_ns: f64,
}

fn main() {
    // `cargo test --benches` passes --test: there are no tests here.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let Ok(version) = Command::new("fio").arg("--version").output() else {
        return println!("skipped: fio is not installed (Debian: apt-get install fio)");
    };
    let version = String::from_utf8_lossy(&version.stdout).trim().to_owned();
    if let Some(device) = std::env::var_os("PLIMSOLL_BENCH_DEVICE") {
        return requests::print(Path::new(&device), &version);
    }
    let folder = PathBuf::from(std::env::var_os("PLIMSOLL_BENCH_DIR").unwrap_or_else(|| std::env::temp_dir().into()));
    let folder = folder.join(format!("fio-jobs-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    println!("## Jobs, plimsoll over {version}\n");
    println!("| job | IOPS, plimsoll | IOPS, fio | ratio | user ns per I/O, plimsoll | fio | ratio |");
    println!("|---|---|---|---|---|---|---|");
    let (mut rates, mut users) = (Vec::new(), Vec::new());
    for (name, options) in JOBS {
        let (rate, user) = compare(name, options, &folder);
        rates.push(rate);
        users.push(user);
    }
    println!("| median | | | **{:.2}** | | | **{:.2}** |", median(rates), median(users));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Runs pairs of a job, prints its line, and returns the ratios.
fn compare(name: &str, options: &str, folder: &Path) -> (f64, f64) {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let own = || run(Command::new(env!("CARGO_BIN_EXE_plimsoll")).arg("fio"), options, &folder.join("plimsoll"));
    let other = || run(&mut Command::new("fio"), options, &folder.join("fio"));
    for pair in 0..read_number("PLIMSOLL_BENCH_PAIRS", 5) {
        // ABBA order cancels drift of the storage.
        if pair % 2 == 0 {
            ours.push(own());
            theirs.push(other());
        } else {
            theirs.push(other());
            ours.push(own());
        }
    }
    let of = |observations: &[Observation], of: fn(&Observation) -> f64| median(observations.iter().map(of).collect());
    let (a, b) = (of(&ours, |observation| observation.iops), of(&theirs, |observation| observation.iops));
    let (c, d) = (of(&ours, |observation| observation.user_ns), of(&theirs, |observation| observation.user_ns));
    println!("| {name} | {a:.0} | {b:.0} | **{:.2}** | {c:.0} | {d:.0} | **{:.2}** |", a / b, c / d);
    (a / b, c / d)
}

/// A run with the program's own results.
fn run(program: &mut Command, options: &str, file: &Path) -> Observation {
    let seconds = read_number("PLIMSOLL_BENCH_SECONDS", 3);
    let output = program
        .args(["--output-format=json", "--name=job", "--size=256m", "--time_based", "--thread"])
        .arg(format!("--runtime={seconds}"))
        .arg(format!("--filename={}", file.display()))
        .args(options.split(' '))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let report: serde_json::Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
    let job = &report["jobs"][0];
    let number = |way: &str, what: &str| job[way][what].as_f64().unwrap();
    let operations = number("read", "total_ios") + number("write", "total_ios");
    let user_ns = job["usr_cpu"].as_f64().unwrap() / 100.0 * job["job_runtime"].as_f64().unwrap() * 1e6;
    Observation { iops: number("read", "iops") + number("write", "iops"), user_ns: user_ns / operations }
}

fn read_number(variable: &str, usual: usize) -> usize {
    std::env::var(variable).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
