//! `plimsoll measure --engine fio` compared with plimsoll's own loops, and on hosts that run fio servers on loopback.
//!
//! Needs fio; tests are skipped with a message if it is not installed.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::ops::Deref;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use plimsoll_load::Pace;
use plimsoll_record::{Curve, Finding, SlotRole, Source};
use plimsoll_testkit::undisturbed;

use crate::folder::{Folder, stderr};

/// Tolerance for two generators on a shared host, exceeded only by errors.
const FACTOR: f64 = 5.0;

const MEASURE: [&str; 4] = ["measure", "--json", "-", "--quiet"];

/// Serialises tests, as their figures must not affect each other.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A temporary directory for fio.
struct FioFolder {
    folder: Folder,
    _turn: MutexGuard<'static, ()>,
}

impl FioFolder {
    /// `None`, with a message, if fio is not installed.
    fn new(name: &str) -> Option<Self> {
        let found = Command::new("fio").arg("--version").output();
        if !found.is_ok_and(|output| output.status.success()) {
            eprintln!("skipped: needs fio (apt install fio)");
            return None;
        }
        let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        Some(Self { folder: Folder::new(name), _turn: turn })
    }

    /// Path of a new file, and its content.
    fn data(&self, name: &str, bytes: usize) -> (String, Vec<u8>) {
        let content = vec![0x5a; bytes];
        self.folder.write(name, &content);
        (self.folder.file(name), content)
    }

    fn curve(&self, arguments: &[&str]) -> Curve {
        let curve = self.text(&[&MEASURE, arguments].concat());
        Curve::from_json(curve.as_bytes()).expect("a curve")
    }

    #[track_caller]
    fn refuses(&self, arguments: &[&str], expected: &str) {
        self.folder.refuses(&[&MEASURE, arguments].concat(), expected);
    }
}

impl Deref for FioFolder {
    type Target = Folder;

    fn deref(&self) -> &Folder {
        &self.folder
    }
}

/// A fio server, killed on drop.
struct Server {
    child: Child,
    host: String,
}

impl Server {
    fn start() -> Self {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let port = free.local_addr().expect("it is bound").port();
        drop(free);
        let mut command = Command::new("fio");
        command.arg(format!("--server=127.0.0.1,{port}")).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().expect("fio starts");
        let server = Self { child, host: format!("127.0.0.1:{port}") };
        let began = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            assert!(began.elapsed() < Duration::from_secs(20), "no server of fio answers at {}", server.host);
            std::thread::sleep(Duration::from_millis(50));
        }
        server
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn depths(curve: &Curve) -> Vec<u32> {
    let depth = |pace| if let Pace::Closed { depth } = pace { depth } else { 0 };
    curve.runs.iter().map(|run| depth(run.offered)).collect()
}

fn find_engine(curve: &Curve) -> &str {
    let Source::Measured { engine } = &curve.source else { panic!("{:?}", curve.source) };
    engine
}

/// Checks that slices count all operations of `size` bytes, and add up to the total and the rate.
fn adds_up(curve: &Curve, size: u64) {
    for run in &curve.runs {
        let (operations, bytes) = (run.total.operations(), run.total.bytes());
        let difference = bytes.abs_diff(operations * size);
        assert!(difference * 100 <= bytes, "{operations} operations of {size} bytes are not {bytes} bytes");
        let rate = operations as f64 / run.span.as_secs_f64();
        let iops = run.figures.iops.value;
        assert!((rate / iops - 1.0).abs() < 0.02, "{operations} operations in {} are not {iops} a second", run.span);
        // Little's law: depth equals rate times response time.
        let Pace::Closed { depth } = run.offered else { continue };
        let in_flight = iops * run.figures.mean_ns.value / 1e9;
        assert!(in_flight < f64::from(depth) * 1.1 && in_flight > f64::from(depth) * 0.4, "{in_flight} at {depth}");
    }
}

#[test]
fn fio_and_the_loops_see_the_same_curve() {
    let Some(folder) = FioFolder::new("fio-beside") else { return };
    let place = folder.file("");
    let with = |engine: &str| {
        folder.curve(&[&place, "--engine", engine, "--duration", "6s", "--depth", "1,8", "--size", "64MiB"])
    };
    let (by_fio, own) = (with("fio"), with("auto"));
    assert!(
        find_engine(&by_fio).starts_with("fio 3.") && !find_engine(&own).starts_with("fio"),
        "{}",
        find_engine(&by_fio)
    );
    assert_eq!((depths(&by_fio), depths(&own)), (vec![1, 8], vec![1, 8]));
    for (fio, own) in by_fio.runs.iter().zip(&own.runs) {
        let near = |a: f64, b: f64| a < b * FACTOR && b < a * FACTOR;
        let (a, b) = (&fio.figures, &own.figures);
        assert!(near(a.iops.value, b.iops.value), "{:?} and {:?} IOPS", a.iops, b.iops);
        assert!(near(a.p50_ns.value, b.p50_ns.value), "{:?} and {:?} ns", a.p50_ns, b.p50_ns);
        assert!(fio.series.len() > 2 && fio.cpu.is_some(), "{} slices", fio.series.len());
        let reads = fio.total.only(|counter| counter.kind == plimsoll_units::Kind::Read).operations();
        let share = reads as f64 / fio.total.operations() as f64;
        assert!((0.75..0.85).contains(&share), "80 % are reads, and {share} were");
    }
    adds_up(&by_fio, 8192);
    assert_eq!(folder.names("."), ["runs"], "the file was removed");
}

#[test]
fn slots_by_fio_give_a_load_line() {
    undisturbed(line_by_slots);
}

fn line_by_slots() {
    let Some(folder) = FioFolder::new("fio-slots") else { return };
    let place = folder.file("");
    let effort = ["--engine", "fio", "--duration", "12s", "--objective", "p99<=100ms"];
    let curve = folder.curve(&[&effort[..], &["--size", "64MiB", "--reads", "100", &place]].concat());
    let of = |role: SlotRole| curve.slots.iter().filter(move |slot| slot.role == role);
    // How many of each fit into the duration, and how many depths the throughput rises for, depends on the host.
    let [max, scout, pass] = [SlotRole::Max, SlotRole::Scout, SlotRole::Pass].map(|role| of(role).count());
    assert!(max > 0 && scout > 0 && pass > 0, "{max}, {scout} and {pass} slots");
    for slot in curve.slots.iter().filter(|slot| slot.role != SlotRole::Hold) {
        let counted: u64 = slot.response.iter().map(|(_, bins)| bins.count).sum();
        assert!(slot.span > plimsoll_units::Span::ZERO && counted > 0, "{:?} {:?}", slot.role, slot.offered);
    }
    assert!(curve.slots.is_sorted_by_key(|slot| slot.start));
    assert!(curve.load_line.is_some() && curve.basis.is_some(), "{:?}", curve.load_line);
}

#[test]
fn open_loads_keep_their_rate_and_report_limitations() {
    let Some(folder) = FioFolder::new("fio-open") else { return };
    let place = folder.file("");
    let arguments = ["--engine", "fio", "--duration", "3s", "--rate", "200", "--size", "32MiB"];
    for (arrival, sizes) in [("constant", "4KiB:50,12KiB:50"), ("poisson", "8KiB")] {
        let more = ["--arrival", arrival, "--block-size", sizes, place.as_str()];
        let curve = folder.curve(&[&arguments[..], &more[..]].concat());
        let rate = curve.runs[0].figures.iops.value;
        assert!((120.0..280.0).contains(&rate), "{arrival}: 200 a second, and {rate} were");
        let reported = curve.findings.iter().find(|finding| matches!(finding, Finding::OfferedOtherwise { .. }));
        assert!(
            reported.is_some_and(|finding| finding.text().contains("coordinated omission")),
            "{:?}",
            curve.findings
        );
    }
}

#[test]
fn a_file_that_was_not_named_is_only_read() {
    let Some(folder) = FioFolder::new("fio-read") else { return };
    let (path, before) = folder.data("da ta", 16 << 20);
    let path = path.as_str();
    let curve = folder.curve(&[path, "--engine", "fio", "--duration", "1s", "--depth", "2"]);
    assert!(curve.findings.contains(&Finding::ReadOnly), "{:?}", curve.findings);
    assert!(folder.bytes("da ta") == before, "it was written to");
    let curve = folder.curve(&[path, "--engine", "fio", "--duration", "1s", "--depth", "2", "--destroy", path]);
    assert!(!curve.findings.contains(&Finding::ReadOnly));
    let after = folder.bytes("da ta");
    assert!(after != before && after.len() == before.len());
}

#[test]
fn hosts_share_a_load_and_their_counts_are_added() {
    let Some(folder) = FioFolder::new("fio-hosts") else { return };
    let (path, before) = folder.data("data", 16 << 20);
    let path = path.as_str();
    let (one, other) = (Server::start(), Server::start());
    let hosts = format!("{},{}", one.host, other.host);
    let flags = ["--engine", "fio", "--duration", "2s", "--depth", "1,4"];
    let curve = folder.curve(&[&flags[..], &[path, "--hosts", &hosts, "--size", "16MiB"]].concat());
    assert_eq!(depths(&curve), [1, 4]);
    assert!(find_engine(&curve).ends_with("2 hosts"), "{}", find_engine(&curve));
    adds_up(&curve, 8192);
    // fio replaces a file that is smaller than the size option.
    let too_large = folder.run(&[&MEASURE, &flags[..], &[path, "--hosts", &hosts, "--size", "64MiB"]].concat());
    assert_eq!(too_large.status.code(), Some(2), "{}", stderr(&too_large));
    assert!(folder.bytes("data") == before, "it was written to");
    let missing = folder.file("missing");
    folder.refuses(&[&flags[..], &[&missing, "--hosts", &hosts, "--size", "16MiB"]].concat(), "fio --server");
}

#[test]
fn invalid_arguments_are_refused_in_one_line() {
    let Some(folder) = FioFolder::new("fio-refused") else { return };
    let (path, _) = folder.data("data", 1 << 20);
    let path = path.as_str();
    folder.refuses(&[path, "--hosts", "db1", "--size", "1MiB"], "--engine fio");
    folder.refuses(&[path, "--engine", "fio", "--hosts", "db1"], "--hosts requires --size");
    folder.refuses(&[path, "--engine", "fio", "--hosts", "a b", "--size", "1MiB"], "is not a host");
    folder.refuses(&["data", "--engine", "fio", "--hosts", "db1", "--size", "1MiB"], "must not contain blanks");
    folder.refuses(&[path, "--engine", "fio", "--hosts", "db1", "--size", "1MiB", "--reads", "50"], "add --destroy");
    folder.refuses(&["nbd://localhost/x", "--engine", "fio"], "--engine fio is for files and devices");
    let mut measure = folder.command(&["measure", path, "--engine", "fio"]);
    let none = measure.env("PATH", folder.join("nowhere")).output().expect("the command starts");
    assert!(stderr(&none).contains("apt install fio"), "{none:?}");
}
