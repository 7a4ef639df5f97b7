//! Operations, flushes, queue depths and device requests of jobs of many kinds, with fio and `plimsoll fio` in turns.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{median, read_number};

/// Jobs and their options; later options override earlier ones.
const JOBS: [(&str, &str); 45] = [
    ("sequential reads, libaio, depth 16", "--rw=read --ioengine=libaio --iodepth=16"),
    ("sequential reads, io_uring, depth 16", "--rw=read --ioengine=io_uring --iodepth=16"),
    ("sequential reads, psync", "--rw=read --ioengine=psync"),
    ("sequential reads, sync, 128k", "--rw=read --ioengine=sync --bs=128k"),
    ("sequential writes, libaio, depth 16", "--rw=write --ioengine=libaio --iodepth=16"),
    ("sequential writes, pvsync2, 64k", "--rw=write --ioengine=pvsync2 --bs=64k"),
    ("random reads, libaio, depth 32", "--rw=randread --ioengine=libaio --iodepth=32"),
    ("random reads, io_uring, depth 32", "--rw=randread --ioengine=io_uring --iodepth=32"),
    ("random writes, posixaio, depth 8", "--rw=randwrite --ioengine=posixaio --iodepth=8"),
    ("random writes, mmap", "--rw=randwrite --ioengine=mmap --direct=0"),
    ("random reads, null, depth 32", "--rw=randread --ioengine=null --iodepth=32"),
    ("random reads, null, batches of 8", "--rw=randread --ioengine=null --iodepth=32 --iodepth_batch=8"),
    ("70 % reads, libaio, depth 16", "--rw=randrw --rwmixread=70 --ioengine=libaio --iodepth=16"),
    ("rwmixread=0.0, libaio", "--rw=randrw --rwmixread=0.0 --ioengine=libaio"),
    ("batches of 16 of 16", "--rw=read --ioengine=libaio --iodepth=16 --iodepth_batch=16"),
    (
        "batches of 8, 8 completed",
        "--rw=read --ioengine=libaio --iodepth=16 --iodepth_batch=8 --iodepth_batch_complete_min=8",
    ),
    (
        "batches of 4, 1 to 32 completed, refill at 8",
        "--rw=read --ioengine=libaio --iodepth=32 --iodepth_batch=4 --iodepth_batch_complete_max=32 --iodepth_low=8",
    ),
    (
        "io_uring, batches of 8, 4 completed",
        "--rw=read --ioengine=io_uring --iodepth=32 --iodepth_batch=8 --iodepth_batch_complete_min=4",
    ),
    ("polled completions", "--rw=read --ioengine=libaio --iodepth=16 --iodepth_batch_complete_min=0"),
    (
        "pauses of 5 ms after 10",
        "--rw=randread --ioengine=libaio --iodepth=20 --thinktime=5ms --thinktime_blocks=10 --size=4m",
    ),
    (
        "pauses of 5 ms after 10 issued",
        "--rw=randread --ioengine=libaio --iodepth=20 --thinktime=5ms --thinktime_blocks=10 --thinktime_blocks_type=issue \
         --size=4m",
    ),
    ("random reads, psync, buffered, 16k", "--rw=randread --ioengine=psync --direct=0 --bs=16k"),
    ("sequential reads, psync, buffered", "--rw=read --ioengine=psync --direct=0"),
    (
        "pauses of 50 ms after 50 ms",
        "--rw=randread --ioengine=psync --thinktime=50ms --thinktime_iotime=50ms --time_based --runtime=1",
    ),
    (
        "batches of 100 and pauses of 5 ms",
        "--rw=randread --ioengine=libaio --iodepth=100 --iodepth_batch=100 --iodepth_batch_complete=100 --thinktime=5000 \
         --thinktime_blocks=100",
    ),
    (
        "2,000 per second, depth 16",
        "--rw=randread --ioengine=libaio --iodepth=16 --rate_iops=2000 --time_based --runtime=1",
    ),
    ("4 MiB per second, psync", "--rw=write --ioengine=psync --rate=4m --time_based --runtime=1"),
    (
        "1,000 reads and 500 writes per second",
        "--rw=randrw --ioengine=psync --rate_iops=1000,500 --time_based --runtime=1",
    ),
    ("fsync=1, libaio, depth 8", "--rw=write --ioengine=libaio --iodepth=8 --fsync=1"),
    ("fdatasync=4, io_uring, depth 8", "--rw=write --ioengine=io_uring --iodepth=8 --fdatasync=4"),
    ("fsync=8, psync", "--rw=write --ioengine=psync --fsync=8"),
    ("sync_file_range, psync, buffered", "--rw=write --ioengine=psync --direct=0 --sync_file_range=write,wait_after:8"),
    ("sync=dsync, psync", "--rw=write --ioengine=psync --sync=dsync"),
    ("half 4k, half 16k", "--rw=randwrite --ioengine=libaio --iodepth=8 --bssplit=4k/50:16k/50"),
    ("4k to 64k", "--rw=randread --ioengine=libaio --iodepth=8 --bsrange=4k-64k"),
    ("60 % on 10 % of the space", "--rw=randread --ioengine=psync --random_distribution=zoned:60/10:40/90"),
    ("zipf:1.2", "--rw=randread --ioengine=libaio --iodepth=8 --random_distribution=zipf:1.2"),
    ("offset", "--rw=randread --ioengine=psync --offset=8m"),
    ("gaps of 12k", "--rw=read:12k --ioengine=psync"),
    ("three loops", "--rw=randread --ioengine=libaio --iodepth=4 --loops=3"),
    ("io_size of twice the size", "--rw=read --ioengine=libaio --iodepth=4 --io_size=32m"),
    ("1,000 operations", "--rw=randread --ioengine=libaio --iodepth=4 --number_ios=1000"),
    ("warm-up of 500 ms", "--rw=randread --ioengine=libaio --iodepth=4 --time_based --runtime=1 --ramp_time=500ms"),
    ("four jobs", "--rw=randread --ioengine=psync --numjobs=4 --group_reporting"),
    ("random trims", "--rw=randtrim --ioengine=libaio --iodepth=4"),
];

/// Labels of queue depths in results.
const LEVELS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];

/// Result of a run.
struct Observation {
    operations: f64,
    bytes: f64,
    flushes: f64,
    iops: f64,
    /// Percentages of [`LEVELS`].
    levels: [f64; 7],
    /// Requests that reached the device, and requests that were merged into others before: reads, and writes with
    /// discards.
    requests: [f64; 2],
    merges: [f64; 2],
}

/// Prints the table for a device, whose contents are destroyed.
pub fn print(device: &Path, version: &str) {
    println!(
        "Each cell is the value of both programs, or those of plimsoll and {version}, as medians of their runs.\n"
    );
    println!("| job | operations | MiB | flushes | device reads | device writes | merged | usual depth | IOPS |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for (name, options) in JOBS {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for pair in 0..read_number("PLIMSOLL_BENCH_PAIRS", 3) {
            let own = || {
                run(
                    Command::new(env!("CARGO_BIN_EXE_plimsoll")).args(["fio", "--destroy"]).arg(device),
                    options,
                    device,
                )
            };
            let other = || run(&mut Command::new("fio"), options, device);
            // ABBA order cancels drift of the storage.
            if pair % 2 == 0 {
                ours.push(own());
                theirs.push(other());
            } else {
                theirs.push(other());
                ours.push(own());
            }
        }
        let cell = |of: &dyn Fn(&Observation) -> f64| {
            let of = |observations: &[Observation]| format!("{:.0}", median(observations.iter().map(of).collect()));
            joined(&of(&ours), &of(&theirs))
        };
        let depth = |observations: &[Observation]| {
            let level =
                |index: usize| median(observations.iter().map(|observation| observation.levels[index]).collect());
            let usual = (0..LEVELS.len()).max_by(|a, b| level(*a).total_cmp(&level(*b))).unwrap();
            format!("{}: {:.1} %", LEVELS[usual], level(usual))
        };
        println!(
            "| {name} | {} | {} | {} | {} | {} | {} | {} | {} |",
            cell(&|observation| observation.operations),
            cell(&|observation| observation.bytes / f64::from(1 << 20)),
            cell(&|observation| observation.flushes),
            cell(&|observation| observation.requests[0]),
            cell(&|observation| observation.requests[1]),
            cell(&|observation| observation.merges.iter().sum()),
            joined(&depth(&ours), &depth(&theirs)),
            cell(&|observation| observation.iops),
        );
    }
}

/// Both values, or the common one.
fn joined(ours: &str, theirs: &str) -> String {
    if ours == theirs { ours.to_owned() } else { format!("{ours} / {theirs}") }
}

/// A run with the program's own results and the device's counters.
fn run(program: &mut Command, options: &str, device: &Path) -> Observation {
    let before = counters(device);
    let output = program
        .args(["--output-format=json", "--name=job", "--bs=4k", "--size=16m", "--direct=1", "--thread"])
        .arg(format!("--filename={}", device.display()))
        .args(options.split_whitespace())
        .output()
        .unwrap();
    assert!(output.status.success(), "{options}: {}", String::from_utf8_lossy(&output.stderr));
    let after = counters(device);
    let text = String::from_utf8_lossy(&output.stdout);
    let report: Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
    let job = &report["jobs"][0];
    let sum = |key: &str| ["read", "write", "trim"].map(|way| job[way][key].as_f64().unwrap()).iter().sum();
    Observation {
        operations: sum("total_ios"),
        bytes: sum("io_bytes"),
        flushes: job["sync"]["lat_ns"]["N"].as_f64().unwrap_or(0.0),
        iops: sum("iops"),
        levels: LEVELS.map(|level| job["iodepth_level"][level].as_f64().unwrap()),
        requests: [0, 1].map(|way| after[way][0] - before[way][0]),
        merges: [0, 1].map(|way| after[way][1] - before[way][1]),
    }
}

/// Completed and merged requests of a device: reads, and writes with discards (Documentation/block/stat.rst of Linux).
fn counters(device: &Path) -> [[f64; 2]; 2] {
    let name = device.file_name().unwrap().to_string_lossy().into_owned();
    let text = std::fs::read_to_string(format!("/sys/class/block/{name}/stat")).unwrap();
    let fields: Vec<f64> = text.split_whitespace().map(|field| field.parse().unwrap()).collect();
    let sum = |groups: &[usize], kind: usize| groups.iter().filter_map(|group| fields.get(group + kind)).sum();
    [[sum(&[0], 0), sum(&[0], 1)], [sum(&[4, 11], 0), sum(&[4, 11], 1)]]
}
