//! Comparison with fio in a single run: interleaved pairs, ratios of medians.
//!
//! `cargo bench --bench peer` prints the tables of `docs/performance.md`. Needs fio; as root it adds a RAM-backed block
//! device (zram) of its own. `PLIMSOLL_BENCH_DIR` names the folder for the file, `PLIMSOLL_BENCH_PAIRS` the number of
//! pairs (5), `PLIMSOLL_BENCH_SECONDS` the length of each measurement (3), `PLIMSOLL_BENCH_T_IO_URING` the program
//! `t/io_uring`, which is built from the source of fio. `PLIMSOLL_BENCH_BASELINE` names another build of plimsoll, which
//! takes the place of fio in a table of its own: a comparison of two versions. The argument `reads` restricts it to the
//! random reads.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

#[path = "peer/fio.rs"]
mod fio;
#[path = "peer/loops.rs"]
mod loops;
#[path = "peer/t_io_uring.rs"]
mod t_io_uring;
#[path = "peer/zram.rs"]
mod zram;

use std::path::{Path, PathBuf};
use std::process::Command;

/// The build that is measured.
const OURS: &str = env!("CARGO_BIN_EXE_plimsoll");

/// Operations per second, and user-mode nanoseconds per operation.
#[derive(Clone, Copy, Debug)]
pub struct Observation {
    pub iops: f64,
    pub user_ns: f64,
}

fn main() {
    // `cargo test --benches` passes --test: there are no tests here.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let only_reads = std::env::args().any(|argument| argument == "reads");
    if !only_reads {
        println!("## The loop alone, on one core\n");
        loops::table();
    }
    if !fio::there() {
        println!("\nskipped: fio is not installed (Debian: apt-get install fio)");
        return;
    }
    if !only_reads {
        fio::null_engine();
    }
    let folder = PathBuf::from(std::env::var_os("PLIMSOLL_BENCH_DIR").unwrap_or_else(|| std::env::temp_dir().into()));
    let file = folder.join("peer-bench.data");
    make_file(&file);
    println!("\n## 4 KiB random reads, plimsoll over fio\n");
    let zram = zram::Zram::new(1 << 30);
    let mut targets = vec![("file, direct I/O", file.as_path())];
    match &zram {
        Ok(zram) => targets.push(("zram", zram.path())),
        Err(why) => println!("skipped zram: {why}\n"),
    }
    compare(&format!("fio {}", fio::version()), &targets, fio::random_reads);
    if let Some(baseline) = std::env::var_os("PLIMSOLL_BENCH_BASELINE").map(PathBuf::from) {
        println!("\n## 4 KiB random reads, plimsoll over another build of it\n");
        compare("the other build", &targets, |path, depth| plimsoll(&baseline, path, depth, 1));
    }
    std::fs::remove_file(&file).unwrap();
    if let Ok(zram) = &zram {
        compare_with_t_io_uring(zram.path());
        compare_threads(zram.path());
    }
    if !only_reads {
        println!("\n## From start to the first figure\n");
        start_up();
    }
}

fn pairs() -> usize {
    number("PLIMSOLL_BENCH_PAIRS", 5)
}

pub fn seconds() -> usize {
    number("PLIMSOLL_BENCH_SECONDS", 3)
}

fn number(variable: &str, usual: usize) -> usize {
    std::env::var(variable).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

fn make_file(path: &Path) {
    let filled = Command::new("dd")
        .args(["if=/dev/urandom", "bs=1M", "count=1024", "conv=fsync", "status=none"])
        .arg(format!("of={}", path.display()))
        .status()
        .unwrap();
    assert!(filled.success(), "dd could not make {}", path.display());
}

/// Measures two programs in ABBA order, which cancels drift of the storage.
fn alternate(a: impl Fn() -> Observation, b: impl Fn() -> Observation) -> (Vec<Observation>, Vec<Observation>) {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for pair in 0..pairs() {
        if pair % 2 == 0 {
            first.push(a());
            second.push(b());
        } else {
            second.push(b());
            first.push(a());
        }
    }
    (first, second)
}

/// A table of the targets at several depths, against a peer.
fn compare(peer: &str, targets: &[(&str, &Path)], reads: impl Fn(&Path, u32) -> Observation) {
    println!("| target | depth | IOPS, plimsoll | IOPS, {peer} | ratio | user ns per I/O, plimsoll | {peer} | ratio |");
    println!("|---|---|---|---|---|---|---|---|");
    for (name, path) in targets {
        for depth in [1, 8, 32, 128] {
            let (ours, theirs) = alternate(|| plimsoll(OURS.as_ref(), path, depth, 1), || reads(path, depth));
            let (a, b) =
                (median(&ours, |observation| observation.iops), median(&theirs, |observation| observation.iops));
            let (c, d) =
                (median(&ours, |observation| observation.user_ns), median(&theirs, |observation| observation.user_ns));
            println!("| {name} | {depth} | {a:.0} | {b:.0} | **{:.2}** | {c:.0} | {d:.0} | **{:.2}** |", a / b, c / d);
        }
    }
}

fn compare_with_t_io_uring(path: &Path) {
    let Some(program) = t_io_uring::program() else {
        println!(
            "\nskipped t/io_uring: PLIMSOLL_BENCH_T_IO_URING does not name the program (built from the source of fio)"
        );
        return;
    };
    println!("\n| zram, depth | IOPS, plimsoll | IOPS, t/io_uring | ratio |\n|---|---|---|---|");
    for depth in [32, 128] {
        let (ours, theirs) =
            alternate(|| plimsoll(OURS.as_ref(), path, depth, 1), || t_io_uring::random_reads(&program, path, depth));
        let (a, b) = (median(&ours, |observation| observation.iops), median(&theirs, |observation| observation.iops));
        println!("| {depth} | {a:.0} | {b:.0} | **{:.2}** |", a / b);
    }
}

fn compare_threads(path: &Path) {
    println!("\n| zram, depth | IOPS, 1 thread | IOPS, 2 threads | ratio |\n|---|---|---|---|");
    let depth = 32;
    let (one, two) = alternate(|| plimsoll(OURS.as_ref(), path, depth, 1), || plimsoll(OURS.as_ref(), path, depth, 2));
    let (a, b) = (median(&one, |observation| observation.iops), median(&two, |observation| observation.iops));
    println!("| {depth} | {a:.0} | {b:.0} | **{:.2}** |", b / a);
}

/// The command with histograms and series, as run by users.
fn plimsoll(program: &Path, path: &Path, depth: u32, threads: u32) -> Observation {
    let (depth, threads, duration) = (depth.to_string(), threads.to_string(), format!("{}s", seconds()));
    let run = measured(program, path, &["--depth", &depth, "--threads", &threads, "--duration", &duration]);
    let run = &run["runs"][0];
    let lasted_ns: f64 = run["series"].as_array().unwrap().iter().map(|slice| slice["span_ns"].as_f64().unwrap()).sum();
    let iops = run["figures"]["iops"]["value"].as_f64().unwrap();
    Observation { iops, user_ns: run["cpu"]["user_ns"].as_f64().unwrap() / (iops * lasted_ns / 1e9) }
}

fn measured(program: &Path, path: &Path, arguments: &[&str]) -> serde_json::Value {
    let output = Command::new(program)
        .args(["measure", "--quiet", "--json", "-", "--reads", "100", "--block-size", "4KiB"])
        .args(arguments)
        .arg(path)
        .env("PLIMSOLL_RUNS", std::env::temp_dir().join("plimsoll-bench-runs"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Overhead of the whole process on an existing file, excluding the measurement.
fn start_up() {
    let file = std::env::temp_dir().join("plimsoll-bench-start");
    std::fs::write(&file, vec![1; 64 << 20]).unwrap();
    let mut extra_ms: Vec<f64> = (0..9)
        .map(|_| {
            let start = std::time::Instant::now();
            let curve = measured(OURS.as_ref(), &file, &["--depth", "1", "--duration", "200ms"]);
            let runs = curve["runs"].as_array().unwrap();
            let series = runs.iter().flat_map(|run| run["series"].as_array().unwrap());
            let measuring: f64 = series.map(|slice| slice["span_ns"].as_f64().unwrap()).sum();
            start.elapsed().as_secs_f64() * 1e3 - measuring / 1e6
        })
        .collect();
    std::fs::remove_file(&file).unwrap();
    extra_ms.sort_by(f64::total_cmp);
    println!(
        "Everything but measuring, process start to exit, median of 9: {:.0} ms, 20 ms of them the check of the generator.",
        extra_ms[4]
    );
}

pub fn median(observations: &[Observation], of: impl Fn(&Observation) -> f64) -> f64 {
    let mut values: Vec<f64> = observations.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
