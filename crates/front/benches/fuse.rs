//! Comparison of a served file and a loop device on it with those of qemu-storage-daemon: interleaved pairs, ratios of
//! medians.
//!
//! `cargo bench -p plimsoll-front --bench fuse` prints the tables. Needs root, /dev/fuse, loop devices, fio and
//! qemu-storage-daemon. `PLIMSOLL_BENCH_DIR` names the folder for the files, `PLIMSOLL_BENCH_PAIRS` the number of pairs
//! (5), `PLIMSOLL_BENCH_SECONDS` the length of each measurement (3).
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use plimsoll_device::{AccessMode, Clock, LoopDevice};
use plimsoll_front::{DataFiles, Limits, Offer, Server, fuse};
use plimsoll_units::Span;
use plimsoll_volume::{Export, Volumes};

use self::peer::{Process, number};

#[allow(dead_code)] // the server of this comparison has a file
#[path = "shared/peer.rs"]
mod peer;

const SIZE: u64 = 512 << 20;

/// Timeout of server start and end.
const DEADLINE: Duration = Duration::from_secs(20);

/// Loads: name, fio direction, block size and queue depth.
const WORK: [(&str, &str, &str, u32); 8] = [
    ("4 KiB reads", "randread", "4k", 1),
    ("4 KiB reads", "randread", "4k", 32),
    ("4 KiB reads", "randread", "4k", 128),
    ("4 KiB writes", "randwrite", "4k", 1),
    ("4 KiB writes", "randwrite", "4k", 32),
    ("1 MiB reads", "read", "1m", 4),
    ("1 MiB writes", "write", "1m", 4),
    ("64 KiB reads", "randread", "64k", 16),
];

/// A measurement: IOPS, median latency, and processor time of the server per operation.
#[derive(Clone, Copy)]
struct Observation {
    iops: f64,
    p50_us: f64,
    cpu_us: f64,
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.iter().any(|argument| argument == "--test") {
        return;
    }
    if let Some(at) = arguments.iter().position(|argument| argument == "--serve") {
        return serve(arguments[at + 1].as_ref());
    }
    for (program, flag) in [("fio", "--version"), ("qemu-storage-daemon", "--version")] {
        if Command::new(program).arg(flag).output().is_err() {
            return println!("skipped: {program} is not installed");
        }
    }
    let home = PathBuf::from(std::env::var_os("PLIMSOLL_BENCH_DIR").unwrap_or_else(|| std::env::temp_dir().into()));
    let home = home.join(format!("fuse-bench-{}", std::process::id()));
    fs::create_dir_all(&home).unwrap();
    let (ours, theirs) = (Rig::ours(&home.join("ours")), Rig::theirs(&home.join("theirs")));
    let version = Command::new("qemu-storage-daemon").arg("--version").output().unwrap().stdout;
    println!("Compared with {}\n", String::from_utf8_lossy(&version).lines().next().unwrap_or_default());
    table("the file", &ours, &theirs, |rig| &rig.file);
    table("the loop device on it", &ours, &theirs, |rig| rig.device.as_ref().unwrap().device());
    drop((ours, theirs));
    fs::remove_dir_all(home).unwrap();
}

/// Serves a plain file without a model until it is unmounted.
fn serve(home: &Path) {
    let files = File::options().read(true).write(true).create(true).truncate(false).open(home.join("data.0")).unwrap();
    let files = DataFiles::given([files.into()]);
    let mut server = Server::new(Volumes::plain([SIZE], Span::ZERO), files, Limits::default(), Clock::start()).unwrap();
    server.offer(Offer::new(Export(0), "data", SIZE));
    let (device, mountpoint) = fuse::mount(&home.join("mnt")).unwrap();
    server.mount(Export(0), device).unwrap();
    server.run().unwrap();
    drop(mountpoint);
}

/// A server with its file and a loop device on it.
struct Rig {
    /// qemu-storage-daemon ends with its process only.
    server: Process,
    file: PathBuf,
    mounted: PathBuf,
    device: Option<LoopDevice>,
}

impl Rig {
    fn ours(home: &Path) -> Self {
        let mounted = home.join("mnt");
        fs::create_dir_all(&mounted).unwrap();
        fill(&home.join("data.0"));
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg("--serve").arg(home);
        Self::start(command, mounted.join(fuse::NAME), mounted)
    }

    fn theirs(home: &Path) -> Self {
        fs::create_dir_all(home).unwrap();
        let (data, mounted) = (home.join("data"), home.join("mnt"));
        fill(&data);
        File::create(&mounted).unwrap();
        let mut command = Command::new("qemu-storage-daemon");
        command
            .arg("--blockdev")
            .arg(format!("driver=file,node-name=data,filename={}", data.display()))
            .arg("--export")
            .arg(format!("type=fuse,id=data,node-name=data,writable=on,mountpoint={}", mounted.display()));
        Self::start(command, mounted.clone(), mounted)
    }

    fn start(mut command: Command, file: PathBuf, mounted: PathBuf) -> Self {
        let server = Process::start(&mut command).unwrap();
        let begun = Instant::now();
        while !fs::read_to_string("/proc/self/mounts").unwrap().contains(mounted.to_str().unwrap()) {
            assert!(begun.elapsed() < DEADLINE, "the server has not mounted {}", mounted.display());
            std::thread::sleep(Duration::from_millis(20));
        }
        let device = LoopDevice::over(&file, AccessMode::Write).unwrap();
        Self { server, file, mounted, device: Some(device) }
    }

    fn measure(&self, path: &Path, (_, direction, block, depth): (&str, &str, &str, u32)) -> Observation {
        let before = self.server.processor_us();
        let output = Command::new("fio")
            .args(["--name=bench", "--ioengine=io_uring", "--direct=1", "--time_based", "--norandommap", "--thread"])
            .args(["--output-format=terse", "--terse-version=3"])
            .args([format!("--rw={direction}"), format!("--bs={block}"), format!("--iodepth={depth}")])
            .args([format!("--size={SIZE}"), format!("--runtime={}", number("PLIMSOLL_BENCH_SECONDS", 3))])
            .arg(format!("--filename={}", path.display()))
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let line = text.lines().find(|line| line.starts_with("3;")).unwrap_or_else(|| panic!("fio: {text}"));
        let fields: Vec<&str> = line.split(';').collect();
        // Fields of reads begin at 5, of writes at 46: KiB, rate, IOPS, milliseconds.
        let first = if direction.contains("read") { 5 } else { 46 };
        let number = |at: usize| fields[first + at].parse::<f64>().unwrap();
        let p50 = fields[first..].iter().find_map(|field| field.strip_prefix("50.000000%=")).unwrap();
        let operations = number(2) * number(3) / 1e3;
        Observation {
            iops: number(2),
            p50_us: p50.parse().unwrap(),
            cpu_us: (self.server.processor_us() - before) / operations,
        }
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        if let Some(device) = self.device.take() {
            device.detach().unwrap();
        }
        let _ = Command::new("umount").arg(&self.mounted).status();
    }
}

fn fill(path: &Path) {
    let noise = File::open("/dev/urandom").unwrap();
    let mut file = File::create(path).unwrap();
    std::io::copy(&mut std::io::Read::take(noise, SIZE), &mut file).unwrap();
    file.sync_all().unwrap();
}

fn table(name: &str, ours: &Rig, theirs: &Rig, path: impl Fn(&Rig) -> &Path) {
    println!("### {name}\n");
    println!("| work | depth | IOPS | theirs | ratio | p50 us | theirs | server CPU us per I/O | theirs | ratio |");
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for work in WORK {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for pair in 0..number("PLIMSOLL_BENCH_PAIRS", 5) {
            // ABBA order cancels drift of the host.
            if pair % 2 == 0 {
                a.push(ours.measure(path(ours), work));
                b.push(theirs.measure(path(theirs), work));
            } else {
                b.push(theirs.measure(path(theirs), work));
                a.push(ours.measure(path(ours), work));
            }
        }
        let of = |observed: &[Observation], of: fn(&Observation) -> f64| median(observed, of);
        let (iops, their_iops) = (of(&a, |observed| observed.iops), of(&b, |observed| observed.iops));
        let (p50, their_p50) = (of(&a, |observed| observed.p50_us), of(&b, |observed| observed.p50_us));
        let (cpu, their_cpu) = (of(&a, |observed| observed.cpu_us), of(&b, |observed| observed.cpu_us));
        println!(
            "| {} | {} | {iops:.0} | {their_iops:.0} | **{:.2}** | {p50:.0} | {their_p50:.0} | {cpu:.1} | {their_cpu:.1} | **{:.2}** |",
            work.0,
            work.3,
            iops / their_iops,
            cpu / their_cpu
        );
    }
    println!();
}

fn median(observed: &[Observation], of: fn(&Observation) -> f64) -> f64 {
    let mut values: Vec<f64> = observed.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
