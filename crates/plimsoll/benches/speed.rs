//! Fails if the shipped binary takes twice the recorded processor time: times of commands, as multiples of that of a fixed
//! loop in this process.
//!
//! `cargo bench --bench speed`, or without the other dependencies of the benches:
//! `rustc -O --edition 2024 -o target/speed crates/plimsoll/benches/speed.rs && target/speed target/release/plimsoll`.
//!
//! Each round runs the loop before each command, and the smallest ratio of all rounds counts: other processes and a
//! hypervisor slow both, and only ever add time. Caches and processors still move ratios by a third: a row that is slower
//! by half is marked, and fails from twice its ratio. A change that is slower for a reason raises the ratio of its row,
//! with the reason in the commit.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// Ratios to the recorded ratio from which a command is marked, and from which it fails.
const MARKED: f64 = 1.5;
const MAX_SLOWDOWN: f64 = 2.0;
const MIN_ROUNDS: u32 = 3;
/// Further rounds while a command is marked.
const MAX_ROUNDS: u32 = 9;
/// Events of the loop: about half a second.
const EVENTS: u32 = 20_000_000;
/// Reports of the generated iostat file: four weeks of minutes.
const REPORTS: u32 = 28 * 24 * 60;
/// Stands for the path of that file in arguments.
const IOSTAT: &str = "IOSTAT";
/// Kernel ticks a second in `/proc/self/stat`: constant on Linux.
const TICKS: f64 = 100.0;

/// The root of the source tree: cargo starts a bench in the directory of its package.
const ROOT: &str = if option_env!("CARGO_MANIFEST_DIR").is_some() { "../.." } else { "." };

/// A command, and its processor time as a multiple of that of the loop.
struct Row {
    name: &'static str,
    arguments: &'static [&'static str],
    ratio: f64,
}

const ROWS: &[Row] = &[
    Row {
        name: "simulate, exponential station",
        arguments: &["simulate", "station(8, 80us, exponential)", "--depth", "32", "--duration", "40s", "--json", "-"],
        ratio: 0.8,
    },
    Row {
        name: "simulate, constant station",
        arguments: &["simulate", "station(8, 80us)", "--depth", "32", "--duration", "40s", "--json", "-"],
        ratio: 0.5,
    },
    Row {
        name: "simulate, all-flash array",
        arguments: &["simulate", "netapp/aff-a800", "--depth", "32", "--duration", "10s", "--json", "-"],
        ratio: 1.1,
    },
    Row {
        name: "simulate, OCI volume",
        arguments: &["simulate", "oci:1024GB@20vpu", "--depth", "32", "--duration", "60s", "--json", "-"],
        ratio: 1.45,
    },
    Row {
        name: "simulate, gp3 volume",
        arguments: &["simulate", "aws/gp3:500GiB,iops=12000", "--depth", "32", "--duration", "100s", "--json", "-"],
        ratio: 0.4,
    },
    Row {
        name: "size, an AWR report",
        arguments: &["size", "samples/awr.html", "--capacity", "500GiB", "--json", "-"],
        ratio: 2.8,
    },
    Row { name: "demand, four weeks of iostat", arguments: &["demand", IOSTAT, "--json", "-"], ratio: 1.0 },
];

fn main() -> ExitCode {
    // `cargo test --benches` passes --test: there are no tests here.
    if std::env::args().any(|argument| argument == "--test") {
        return ExitCode::SUCCESS;
    }
    let named = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let Some(binary) = named.or(option_env!("CARGO_BIN_EXE_plimsoll").map(str::to_owned)) else {
        eprintln!("usage: speed BINARY");
        return ExitCode::FAILURE;
    };
    let binary = std::path::absolute(binary).expect("the path is not empty");
    let iostat = std::env::temp_dir().join(format!("plimsoll-speed-{}.txt", std::process::id()));
    std::fs::write(&iostat, reports()).expect("the temporary directory is writable");
    let verdict = compare(&binary, &iostat);
    // A file that is left behind is no failure.
    let _ = std::fs::remove_file(&iostat);
    verdict
}

/// Runs all rows, and prints their table.
fn compare(binary: &Path, iostat: &Path) -> ExitCode {
    let mut best = vec![f64::INFINITY; ROWS.len()];
    let mut seconds = vec![f64::INFINITY; ROWS.len()];
    let exceeds = |row: &Row, ratio: f64, slowdown: f64| ratio > row.ratio * slowdown;
    for round in 0..MAX_ROUNDS {
        for (index, row) in ROWS.iter().enumerate() {
            if round >= MIN_ROUNDS && !exceeds(row, best[index], MARKED) {
                continue;
            }
            let by_loop = time_loop();
            let Some(by_command) = time_command(binary, row.arguments, iostat) else {
                eprintln!("{} {}: failed", binary.display(), row.arguments.join(" "));
                return ExitCode::FAILURE;
            };
            best[index] = best[index].min(by_command / by_loop);
            seconds[index] = seconds[index].min(by_command);
        }
    }
    println!("{:32} {:>9} {:>12} {:>9}", "command", "CPU", "of the loop", "recorded");
    let mut slow = 0;
    for (index, row) in ROWS.iter().enumerate() {
        let verdict = match best[index] {
            ratio if exceeds(row, ratio, MAX_SLOWDOWN) => "  too slow",
            ratio if exceeds(row, ratio, MARKED) => "  slower than recorded",
            _ => "",
        };
        slow += u32::from(exceeds(row, best[index], MAX_SLOWDOWN));
        println!("{:32} {:>7.2} s {:>12.2} {:>9.2}{verdict}", row.name, seconds[index], best[index], row.ratio);
    }
    if slow > 0 {
        println!("{slow} of {} commands are slower than {MAX_SLOWDOWN} times the recorded ratio", ROWS.len());
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// The output of `iostat -xt 60` with two devices.
fn reports() -> String {
    let mut text = String::from("Linux 6.8.0 (dbhost) \t02/01/2026 \t_x86_64_\t(16 CPU)\n\n");
    for minute in 0..REPORTS {
        let (day, hour) = (minute / 1440 + 1, minute / 60 % 24);
        let rate = 500 + minute.wrapping_mul(2_654_435_761) % 1000;
        text.push_str(&format!(
            "02/{day:02}/2026 {hour:02}:{:02}:00\navg-cpu:  %user   %nice %system %iowait  %steal   %idle\n           3.00    \
             0.00    0.00    0.00    0.00   97.00\n\nDevice r/s rkB/s rrqm/s %rrqm r_await rareq-sz w/s wkB/s wrqm/s %wrqm \
             w_await wareq-sz aqu-sz %util\n",
            minute % 60
        ));
        for device in ["nvme0n1", "nvme1n1"] {
            text.push_str(&format!(
                "{device} {rate}.00 {}.00 0.00 0.00 0.33 8.00 120.00 960.00 0.00 0.00 0.48 8.00 0.30 22.96\n",
                rate * 8
            ));
        }
        text.push('\n');
    }
    text
}

/// Seconds of processor time of the loop: events of a queue with eight servers, ordered in a heap.
fn time_loop() -> f64 {
    let before = cpu_ticks()[0];
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut free: BinaryHeap<Reverse<u64>> = (0..8).map(Reverse).collect();
    let mut counts = [0_u32; 64];
    for _ in 0..EVENTS {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let share = (state >> 11) as f64 / (1_u64 << 53) as f64;
        let service = (-(1.0 - share).ln() * 80_000.0) as u64;
        let Reverse(at) = free.pop().unwrap_or(Reverse(0));
        counts[(service | 1).ilog2() as usize] += 1;
        free.push(Reverse(at + service));
    }
    std::hint::black_box((free, counts));
    (cpu_ticks()[0] - before) / TICKS
}

/// Seconds of processor time of a command; `None` if it fails.
fn time_command(binary: &Path, arguments: &[&str], iostat: &Path) -> Option<f64> {
    let before = cpu_ticks()[1];
    let mut command = Command::new(binary);
    let path = |argument: &&str| if *argument == IOSTAT { iostat.into() } else { PathBuf::from(*argument) };
    command.args(arguments.iter().map(path)).current_dir(ROOT).stdout(Stdio::null()).stderr(Stdio::null());
    let status = command.status().ok()?;
    status.success().then(|| (cpu_ticks()[1] - before) / TICKS)
}

/// Ticks of processor time, user and system, of this process and of the children that it waited for.
fn cpu_ticks() -> [f64; 2] {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux has /proc");
    // The second field is the program's name in parentheses, which may contain spaces.
    let (_, rest) = stat.rsplit_once(')').expect("the name is in parentheses");
    let field = |number: usize| -> f64 {
        rest.split_whitespace().nth(number - 3).and_then(|value| value.parse().ok()).expect("proc(5) has the fields")
    };
    [field(14) + field(15), field(16) + field(17)]
}
