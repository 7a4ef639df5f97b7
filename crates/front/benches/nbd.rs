//! Comparison of the NBD server with nbdkit and qemu-nbd: operations per second, and processor time of the server.
//!
//! `cargo bench -p plimsoll-front --bench nbd`. All servers use memory; this server runs a model without effective
//! limits. fio is the client. Servers run in turns, forwards and backwards, and each figure is the median over the
//! turns of the ratio within a turn, so that background load affects all servers.
//!
//! `PLIMSOLL_BENCH_SECONDS` (3) sets the duration of each run, `PLIMSOLL_BENCH_TURNS` (6) the number of turns,
//! `PLIMSOLL_BENCH_ONLY` filters loads by name. Peers that are not installed are skipped.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)] // a program for developers

use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use self::peer::{Process, format_median, number};

#[path = "shared/peer.rs"]
mod peer;

const SIZE: u64 = 512 << 20;
const MODEL: &str = "limit(2M) then limit(20GB/s) then link(1us)";
const START_TIMEOUT: Duration = Duration::from_secs(20);

/// Loads: name, block size and fio arguments.
const LOADS: [(&str, u64, &[&str]); 6] = [
    ("4 KiB read, depth 1", 4096, &["--rw=randread", "--bs=4k", "--iodepth=1"]),
    ("4 KiB read, depth 32", 4096, &["--rw=randread", "--bs=4k", "--iodepth=32"]),
    ("4 KiB read, depth 128", 4096, &["--rw=randread", "--bs=4k", "--iodepth=128"]),
    ("4 KiB write, depth 32", 4096, &["--rw=randwrite", "--bs=4k", "--iodepth=32"]),
    ("1 MiB read, depth 1", 1 << 20, &["--rw=read", "--bs=1m", "--iodepth=1"]),
    ("1 MiB read, depth 8", 1 << 20, &["--rw=read", "--bs=1m", "--iodepth=8"]),
];

/// A server under test.
struct Peer {
    name: &'static str,
    process: Process,
    socket: PathBuf,
}

/// Result of a server in a turn.
#[derive(Clone, Copy)]
struct Observation {
    /// Operations per second.
    rate: f64,
    /// Median of fio's completion latency, in microseconds.
    p50_us: f64,
    /// Processor time of the server per operation, in microseconds.
    cost_us: f64,
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "serve") {
        return serve(arguments[at + 1].as_ref());
    }
    let home = std::env::temp_dir().join(format!("plimsoll-bench-{}", std::process::id()));
    std::fs::create_dir_all(&home).unwrap();
    let disk = PathBuf::from("/dev/shm").join(format!("plimsoll-bench-{}", std::process::id()));
    std::fs::File::create(&disk).unwrap().set_len(SIZE).unwrap();
    let mut peers = start(&home, &disk);
    if Command::new("fio").arg("--version").output().is_ok() {
        bench(&mut peers);
    } else {
        eprintln!("skipped: fio is not installed (Debian: apt-get install fio)");
    }
    drop(peers);
    let _ = std::fs::remove_file(disk);
    let _ = std::fs::remove_dir_all(home);
}

fn start(home: &Path, disk: &Path) -> Vec<Peer> {
    let socket = |name: &str| home.join(name);
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let own = std::env::current_exe().unwrap();
    let size = SIZE.to_string();
    let commands = [
        ("plimsoll", text(&own), vec!["serve".into(), text(&socket("plimsoll"))]),
        ("nbdkit", "nbdkit".into(), vec!["-f".into(), "-U".into(), text(&socket("nbdkit")), "memory".into(), size]),
        (
            "qemu-nbd",
            "qemu-nbd".into(),
            ["-f", "raw", "--cache=writeback", "-t", "-e", "8", "-k"]
                .map(String::from)
                .into_iter()
                .chain([text(&socket("qemu-nbd")), text(disk)])
                .collect(),
        ),
    ];
    let started = commands.into_iter().filter_map(|(name, program, arguments)| {
        let Some(process) = Process::start(Command::new(program).args(arguments)) else {
            eprintln!("skipped: {name} is not installed");
            return None;
        };
        Some(Peer { name, process, socket: socket(name) })
    });
    let peers: Vec<Peer> = started.collect();
    let begun = Instant::now();
    while peers.iter().any(|peer| !peer.socket.exists()) {
        assert!(begun.elapsed() < START_TIMEOUT, "a server has not started");
        std::thread::sleep(Duration::from_millis(10));
    }
    peers
}

fn bench(peers: &mut [Peer]) {
    let (seconds, turns) = (number("PLIMSOLL_BENCH_SECONDS", 3), number("PLIMSOLL_BENCH_TURNS", 6));
    let only = std::env::var("PLIMSOLL_BENCH_ONLY").unwrap_or_default();
    for peer in &*peers {
        // Reads of unwritten data would be too cheap.
        fio(peer, &["--rw=write", "--bs=1m", "--iodepth=4"]);
    }
    println!("{turns} turns of {seconds} s for each server; medians, in parentheses the range over the turns\n");
    println!(
        "| load | server | IOPS | p50, us | CPU, us per operation | IOPS ratio of plimsoll | CPU ratio of plimsoll |"
    );
    println!("|---|---|---:|---:|---:|---:|---:|");
    for (name, bytes, arguments) in LOADS.iter().filter(|(name, ..)| name.contains(&only)) {
        let mut observed: Vec<Vec<Observation>> = vec![Vec::new(); peers.len()];
        for turn in 0..turns {
            let mut order: Vec<usize> = (0..peers.len()).collect();
            if turn % 2 == 1 {
                order.reverse();
            }
            for index in order {
                observed[index].push(measure(&peers[index], *bytes, arguments, seconds));
            }
        }
        for (peer, own) in peers.iter().zip(&observed) {
            let ratio = |of: fn(&Observation) -> f64| {
                let each = observed[0].iter().zip(own).map(|(ours, theirs)| of(ours) / of(theirs));
                format_median(each.collect(), 2)
            };
            let middle = |of: fn(&Observation) -> f64, digits| format_median(own.iter().map(of).collect(), digits).0;
            let (rate, cost) = (ratio(|observed| observed.rate), ratio(|observed| observed.cost_us));
            let (rate, cost) = if peer.name == "plimsoll" {
                (String::new(), String::new())
            } else {
                (format!("{} ({})", rate.0, rate.1), format!("{} ({})", cost.0, cost.1))
            };
            let (iops, p50, cpu) = (
                middle(|observed| observed.rate, 0),
                middle(|observed| observed.p50_us, 1),
                middle(|observed| observed.cost_us, 2),
            );
            println!("| {name} | {} | {iops} | {p50} | {cpu} | {rate} | {cost} |", peer.name);
        }
    }
}

fn measure(peer: &Peer, bytes: u64, arguments: &[&str], seconds: u32) -> Observation {
    let before = peer.process.processor_us();
    let runtime = format!("--runtime={seconds}");
    let line = fio(peer, &[arguments, &["--time_based", &runtime, "--norandommap", "--randrepeat=0"]].concat());
    let spent = peer.process.processor_us() - before;
    let fields: Vec<&str> = line.split(';').collect();
    // Terse format 3: kilobytes, bandwidth, IOPS and milliseconds of reads; those of writes are 41 fields later.
    let side = if fields[5] == "0" { 46 } else { 5 };
    let field = |at: usize| fields[side + at].parse::<f64>().unwrap();
    let operations = field(0) * 1024.0 / bytes as f64;
    let half = fields[side..].iter().find_map(|field| field.strip_prefix("50.000000%=")).unwrap();
    Observation { rate: operations / (field(3) / 1000.0), p50_us: half.parse().unwrap(), cost_us: spent / operations }
}

/// Runs fio and returns its line of results.
fn fio(peer: &Peer, arguments: &[&str]) -> String {
    let uri = format!("--uri=nbd+unix:///?socket={}", peer.socket.display());
    let size = format!("--size={SIZE}");
    let usual = ["--name=bench", "--ioengine=nbd", &uri, &size, "--output-format=terse", "--terse-version=3"];
    let output = Command::new("fio").args(usual).args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find(|line| line.starts_with("3;")).map(str::to_owned);
    line.unwrap_or_else(|| panic!("{}: fio fails: {text}{}", peer.name, String::from_utf8_lossy(&output.stderr)))
}

/// The measured server: a volume in memory.
fn serve(socket: &Path) {
    peer::serve(MODEL, SIZE, |server| {
        server.listen(UnixListener::bind(socket).unwrap()).unwrap();
    });
}
