//! Suites beside the tools that they follow, in one run: pairs in turns, on one directory.
//!
//! `cargo bench --bench suites` prints the tables of `docs/performance.md`. Each tool that is not installed is named and
//! left out. `PLIMSOLL_BENCH_DIR` names the directory, `PLIMSOLL_BENCH_PAIRS` the number of pairs (3),
//! `PLIMSOLL_BENCH_MIB` the size of dd's and CrystalDiskMark's file (512; Bonnie++'s is four times as large).
//! `PLIMSOLL_BENCH_ONLY` takes the name of one suite.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

#[path = "suites/pairs.rs"]
mod pairs;
#[path = "suites/read.rs"]
mod read;
#[path = "suites/tools.rs"]
mod tools;

use std::path::PathBuf;

use pairs::{Figures, compare, plimsoll};
use tools::tool;

/// Where both sides write.
pub fn folder() -> PathBuf {
    std::env::var_os("PLIMSOLL_BENCH_DIR").map_or_else(std::env::temp_dir, PathBuf::from)
}

pub fn number(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

fn mib() -> u64 {
    number("PLIMSOLL_BENCH_MIB", 512)
}

fn main() {
    // `cargo test --benches` passes --test: there is nothing to test here.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let only = std::env::var("PLIMSOLL_BENCH_ONLY").unwrap_or_default();
    let suites: [(&str, fn()); 5] = [
        ("dd", dd),
        ("bonnie", bonnie),
        ("walfsync", walfsync),
        ("crystaldiskmark", crystaldiskmark),
        ("tiobench", tiobench),
    ];
    for (_, run) in suites.iter().filter(|(name, _)| only.is_empty() || only == *name) {
        run();
    }
}

fn dd() {
    let Some(theirs) = tool("dd", &[]) else { return };
    let count = mib().to_string();
    let kinds = ["buffered", "fdatasync", "direct", "read-direct"];
    let ours = || -> Figures {
        let listed = plimsoll("dd", &["--bs", "1MiB", "--count", &count, "--no-probe", "--kinds", &kinds.join(",")]);
        kinds.map(str::to_owned).into_iter().zip(read::dd(&listed)).collect()
    };
    let theirs = || -> Figures {
        let file = folder().join("suites-bench.dd");
        let (data, named) = (format!("of={}", file.display()), format!("if={}", file.display()));
        let figures = kinds.map(|kind| {
            let arguments: &[&str] = match kind {
                "buffered" => &["if=/dev/zero", &data],
                "fdatasync" => &["if=/dev/zero", &data, "conv=fdatasync"],
                "direct" => &["if=/dev/zero", &data, "oflag=direct"],
                _ => &[&named, "of=/dev/null", "iflag=direct"],
            };
            if data == arguments[1] {
                let _ = std::fs::remove_file(&file);
            }
            let reported = theirs.run(&[arguments, &["bs=1M", &format!("count={count}")]].concat());
            if kind == "buffered" {
                // What it left would be a part of the next one's time.
                std::fs::File::open(&file).and_then(|file| file.sync_all()).unwrap();
            }
            read::dd(&reported)[0]
        });
        std::fs::remove_file(&file).unwrap();
        kinds.map(str::to_owned).into_iter().zip(figures).collect()
    };
    compare(&format!("dd, {count} blocks of 1 MiB, beside GNU dd"), "MB/s", ours, theirs);
}

fn bonnie() {
    let Some(theirs) = tool("bonnie++", &[]) else { return };
    let (size, memory) = (4 * mib(), 2 * mib());
    let ours = || {
        let (size, memory) = (format!("{size}MiB"), format!("{memory}MiB"));
        read::bonnie(&plimsoll("bonnie", &["--size", &size, "--memory", &memory, "--files", "0"]))
    };
    let theirs = || {
        let (size, memory, place) = (size.to_string(), memory.to_string(), folder().display().to_string());
        // It gives up being root only when it is told to stay.
        let user = if rustix::process::geteuid().is_root() { &["-u", "root"][..] } else { &[] };
        read::bonnie(
            &theirs.run(&[&["-d", &place, "-s", &size, "-r", &memory, "-n", "0", "-m", "m", "-q"], user].concat()),
        )
    };
    compare(&format!("bonnie, {size} MiB, beside Bonnie++"), "KiB/s, seeks/s", ours, theirs);
}

fn walfsync() {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let elsewhere: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    let Some(theirs) = tool("pg_test_fsync", &elsewhere) else { return };
    let ours = || read::walfsync(&plimsoll("walfsync", &["--measure", "1s"]));
    let theirs = || {
        let file = folder().join("suites-bench.fsync");
        let reported = theirs.run(&["-f", &file.display().to_string(), "-s", "1"]);
        let _ = std::fs::remove_file(&file);
        read::walfsync(&reported)
    };
    compare("walfsync, one second each, beside pg_test_fsync", "ops/s", ours, theirs);
}

fn crystaldiskmark() {
    let Some(theirs) = tool("fio", &[]) else { return };
    let size = mib();
    let file = folder().join("suites-bench.fio");
    theirs.run(&["--name=fill", "--rw=write", "--bs=1m", "--direct=1", &name_suite(&file), &format!("--size={size}m")]);
    let ours = || {
        let size = format!("{size}MiB");
        let flags = ["--size", &size, "--runs", "1", "--measure", "1s", "--interval", "0s"];
        read::crystaldiskmark(&plimsoll("crystaldiskmark", &flags))
    };
    let tests = [(true, "1m", 8), (true, "1m", 1), (false, "4k", 32), (false, "4k", 1)];
    let fio = || {
        let mut figures = Figures::new();
        for direction in ["read", "write"] {
            for (sequential, block, depth) in tests {
                let order = if sequential { direction.to_owned() } else { format!("rand{direction}") };
                let of_test = [format!("--rw={order}"), format!("--bs={block}"), format!("--iodepth={depth}")];
                let usual = format!(
                    "--name=kdiskmark --ioengine=libaio --direct=1 --randrepeat=0 --refill_buffers=0 --end_fsync=1 \
                     --rwmixread=70 --size={size}m --runtime=1 --group_reporting --output-format=json"
                );
                let file = name_suite(&file);
                let mut arguments: Vec<&str> = usual.split(' ').chain(of_test.iter().map(String::as_str)).collect();
                arguments.push(&file);
                let name = format!("{} {}, Q{depth}", block.replace('m', " MiB").replace('k', " KiB"), order);
                figures.push((name, read::fio(&theirs.run(&arguments), direction)));
            }
        }
        figures
    };
    compare(&format!("crystaldiskmark 8, {size} MiB, a second each, beside KDiskMark's fio"), "MB/s", ours, fio);
    std::fs::remove_file(&file).unwrap();
}

fn name_suite(file: &std::path::Path) -> String {
    format!("--filename={}", file.display())
}

fn tiobench() {
    let Some(theirs) = tool("tiotest", &[]) else { return };
    let (size, place) = (mib() / 4, folder().display().to_string());
    let ours = || {
        let size = format!("{size}MiB");
        read::tiotest(&plimsoll("tiobench", &["--threads", "4", "--size", &size, "--random", "4000"]))
    };
    let theirs =
        || read::tiotest(&theirs.run(&["-d", &place, "-t", "4", "-f", &size.to_string(), "-b", "4096", "-r", "4000"]));
    compare(&format!("tiobench, 4 threads of {size} MiB, beside tiotest"), "MiB/s", ours, theirs);
}
