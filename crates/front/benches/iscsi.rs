//! The iSCSI target beside tgtd (Debian package tgt): throughput and the processor time of each server.
//!
//! ```sh
//! cargo bench -p plimsoll-front --bench iscsi     # needs libiscsi-bin, tgt, qemu-utils and qemu-block-extra
//! ```
//!
//! Both serve from memory: plimsoll a volume with a model that delays no request, tgtd a file in `/dev/shm`. The servers
//! are measured in turns, in pairs whose order alternates. `PLIMSOLL_BENCH_SECONDS` and `PLIMSOLL_BENCH_TURNS` set how
//! long and how often, `PLIMSOLL_BENCH_ONLY` selects loads by a part of their names. A virtual machine has to be quiet:
//! the ratios hold elsewhere, the figures do not.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::unwrap_used)] // a bench prints and may fail

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use plimsoll_front::SocketProtocol;
use plimsoll_front::iscsi::{TargetSettings, Targets};

use self::peer::{Process, format_median, number};

#[path = "shared/peer.rs"]
mod peer;

/// Bytes of the unit.
const SIZE: u64 = 1 << 30;

/// Keeps count of everything, and delays no request noticeably.
const MODEL: &str = "limit(10M) then station(1024, 1us) then link(1us, 40GB/s)";

/// Name of both targets.
const TARGET: &str = "iqn.2026-01.local.bench:disk";

/// The control port of tgtd.
const CONTROL: &str = "1077";

/// How long a server may take to start.
const START_TIMEOUT: Duration = Duration::from_secs(20);

#[derive(Clone, Copy)]
enum Client {
    /// Random reads by iscsi-perf.
    Perf,
    /// Reads, or writes if `true`, in order by qemu-img.
    Qemu(bool),
}

/// Name, client, bytes of a request, and requests in flight.
const LOADS: [(&str, Client, u64, u32); 8] = [
    ("4 KiB random reads, depth 1", Client::Perf, 4 << 10, 1),
    ("4 KiB random reads, depth 32", Client::Perf, 4 << 10, 32),
    ("4 KiB random reads, depth 128", Client::Perf, 4 << 10, 128),
    ("1 MiB random reads, depth 8", Client::Perf, 1 << 20, 8),
    ("4 KiB reads by QEMU, depth 32", Client::Qemu(false), 4 << 10, 32),
    ("4 KiB writes by QEMU, depth 32", Client::Qemu(true), 4 << 10, 32),
    ("1 MiB reads by QEMU, depth 8", Client::Qemu(false), 1 << 20, 8),
    ("1 MiB writes by QEMU, depth 8", Client::Qemu(true), 1 << 20, 8),
];

struct Peer {
    name: &'static str,
    process: Process,
    url: String,
}

/// One measurement.
#[derive(Clone, Copy)]
struct Observation {
    /// Operations per second.
    rate: f64,
    /// The server's processor time for each operation, in microseconds.
    cost_us: f64,
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "serve") {
        return serve(&arguments[at + 1]);
    }
    for (program, package) in [("tgtd", "tgt"), ("iscsi-perf", "libiscsi-bin"), ("qemu-img", "qemu-utils")] {
        if Command::new(program).arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
            return eprintln!("skipped: {program} is not installed (Debian: apt-get install {package})");
        }
    }
    let disk = PathBuf::from("/dev/shm").join(format!("plimsoll-bench-iscsi-{}", std::process::id()));
    std::fs::File::create(&disk).unwrap().set_len(SIZE).unwrap();
    let peers = [start_own(), start_tgtd(&disk)];
    bench(&peers);
    drop(peers);
    std::fs::remove_file(disk).unwrap();
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn start(name: &'static str, command: &mut Command, port: u16, unit: u8) -> Peer {
    let process = Process::start(command.stderr(Stdio::null())).unwrap();
    let url = format!("iscsi://127.0.0.1:{port}/{TARGET}/{unit}");
    let peer = Peer { name, process, url };
    let begun = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(begun.elapsed() < START_TIMEOUT, "{name} does not come up");
        std::thread::sleep(Duration::from_millis(20));
    }
    peer
}

fn start_own() -> Peer {
    let (own, port) = (std::env::current_exe().unwrap(), free_port());
    start("plimsoll", Command::new(own).args(["serve", &port.to_string()]), port, 0)
}

fn start_tgtd(disk: &Path) -> Peer {
    let port = free_port();
    let portal = format!("portal=127.0.0.1:{port}");
    let peer = start("tgtd", Command::new("tgtd").args(["-f", "-C", CONTROL, "--iscsi", &portal]), port, 1);
    let disk = disk.to_str().unwrap();
    for arguments in [
        &["new", "--mode", "target", "--tid", "1", "-T", TARGET][..],
        &["new", "--mode", "logicalunit", "--tid", "1", "--lun", "1", "-b", disk],
        &["bind", "--mode", "target", "--tid", "1", "-I", "ALL"],
    ] {
        let done = Command::new("tgtadm").args(["-C", CONTROL, "--lld", "iscsi", "--op"]).args(arguments).status();
        assert!(done.unwrap().success(), "{arguments:?}");
    }
    peer
}

fn bench(peers: &[Peer; 2]) {
    let (seconds, turns) = (number("PLIMSOLL_BENCH_SECONDS", 3), number("PLIMSOLL_BENCH_TURNS", 5));
    let only = std::env::var("PLIMSOLL_BENCH_ONLY").unwrap_or_default();
    for peer in peers {
        // Never written blocks cost nothing to read.
        run_qemu(peer, true, 1 << 20, 4, SIZE >> 20);
    }
    println!("{turns} pairs of {seconds} s; medians, in parentheses the range over the pairs\n");
    println!("| load | IOPS, plimsoll | IOPS, tgtd | ratio | CPU us per I/O, plimsoll | tgtd | ratio |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for (name, client, bytes, depth) in LOADS.into_iter().filter(|(name, ..)| name.contains(&only)) {
        let mut observed = [Vec::new(), Vec::new()];
        for turn in 0..turns as usize {
            for index in [turn % 2, 1 - turn % 2] {
                observed[index].push(measure(&peers[index], client, (bytes, depth), seconds));
            }
        }
        let middle = |server: usize, of: fn(&Observation) -> f64, digits| {
            format_median(observed[server].iter().map(of).collect(), digits).0
        };
        let ratio = |of: fn(&Observation) -> f64| {
            let (ratio, range) =
                format_median(observed[0].iter().zip(&observed[1]).map(|(own, peer)| of(own) / of(peer)).collect(), 2);
            format!("{ratio} ({range})")
        };
        let rates = [0, 1].map(|server| middle(server, |observed| observed.rate, 0));
        let costs = [0, 1].map(|server| middle(server, |observed| observed.cost_us, 1));
        let (rate, cost) = (ratio(|observed| observed.rate), ratio(|observed| observed.cost_us));
        println!("| {name} | {} | {} | {rate} | {} | {} | {cost} |", rates[0], rates[1], costs[0], costs[1]);
    }
}

fn measure(peer: &Peer, client: Client, (bytes, depth): (u64, u32), seconds: u32) -> Observation {
    let before = peer.process.processor_us();
    let (rate, operations) = match client {
        Client::Perf => {
            let rate = run_perf(peer, bytes, depth, seconds);
            (rate, rate * f64::from(seconds))
        }
        Client::Qemu(writes) => {
            // As many operations as fill the time at the rate of a short run.
            let short = run_qemu(peer, writes, bytes, depth, (64 << 20) / bytes);
            let count = (short * f64::from(seconds)) as u64;
            let between = peer.process.processor_us();
            let rate = run_qemu(peer, writes, bytes, depth, count);
            return Observation { rate, cost_us: (peer.process.processor_us() - between) / count as f64 };
        }
    };
    Observation { rate, cost_us: (peer.process.processor_us() - before) / operations }
}

/// Operations per second of iscsi-perf.
fn run_perf(peer: &Peer, bytes: u64, depth: u32, seconds: u32) -> f64 {
    let (depth, blocks, seconds) = (depth.to_string(), (bytes / 512).to_string(), seconds.to_string());
    let output = Command::new("iscsi-perf")
        .args(["-m", &depth, "-b", &blocks, "-t", &seconds, "-r", &peer.url])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let found = number_behind(&output, "iops average ");
    found.unwrap_or_else(|| panic!("{}: iscsi-perf fails: {}", peer.name, read_text(&output)))
}

/// Operations per second of `count` operations by qemu-img.
fn run_qemu(peer: &Peer, writes: bool, bytes: u64, depth: u32, count: u64) -> f64 {
    let (bytes, depth, requests) = (bytes.to_string(), depth.to_string(), count.to_string());
    let output = Command::new("qemu-img")
        .args(["bench", "-f", "raw", "-s", &bytes, "-d", &depth, "-c", &requests])
        .args(writes.then_some("-w"))
        .arg(&peer.url)
        .output()
        .unwrap();
    let seconds = number_behind(&output, "Run completed in ");
    count as f64 / seconds.unwrap_or_else(|| panic!("{}: qemu-img fails: {}", peer.name, read_text(&output)))
}

fn read_text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

/// The number behind the last occurrence of some words.
fn number_behind(output: &Output, words: &str) -> Option<f64> {
    let text = read_text(output);
    text.rsplit_once(words)?.1.split_whitespace().next()?.parse().ok()
}

/// The server that is measured: one volume in memory.
fn serve(port: &str) {
    peer::serve(MODEL, SIZE, |server| {
        let listener = TcpListener::bind(format!("127.0.0.1:{port}")).unwrap();
        let targets = Targets::new(TargetSettings { name: TARGET.into(), ..TargetSettings::default() });
        server.listen_for(listener, SocketProtocol::Iscsi(targets)).unwrap();
    });
}
