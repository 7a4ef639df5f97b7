//! The web console: its first page, figures under a slider, a search under a slider, and 50 volumes at work.
//!
//! `cargo bench --bench web` prints tables. `PLIMSOLL_BENCH_AWR` names the report of the search (default: the one in
//! `samples/`), `PLIMSOLL_BENCH_SECONDS` the length of a part with volumes at work (10).
//! `cargo bench --bench web -- soak MINUTES` uses the console from two browsers, and prints memory by minute.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::unwrap_used)]

#[path = "../tests/plimsoll/web/browser.rs"]
#[allow(dead_code, reason = "tests use all of it")]
mod browser;
#[path = "../tests/plimsoll/web/console.rs"]
#[allow(dead_code, reason = "tests use all of it")]
mod console;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use browser::Browser;
use console::WebServer;
use serde_json::json;

const AWR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/awr.html");
const VOLUMES: usize = 50;
/// Reads a second of a volume.
const RATE: u32 = 100;
const REPEATS: usize = 41;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    // `cargo test --benches` passes --test: there are no tests here.
    if arguments.iter().any(|argument| argument == "--test") {
        return;
    }
    let after_soak = arguments.iter().skip_while(|argument| *argument != "soak").nth(1);
    if let Some(minutes) = after_soak {
        return soak(minutes.parse().expect("a number of minutes"));
    }
    first_page();
    sliders();
    volumes_at_work();
}

/// Median and maximum of repeated measurements, in milliseconds.
fn repeated(mut work: impl FnMut(usize)) -> (f64, f64) {
    let mut times: Vec<f64> = (0..REPEATS)
        .map(|index| {
            let begun = Instant::now();
            work(index);
            begun.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    (times[REPEATS / 2], times[REPEATS - 1])
}

fn first_page() {
    let server = WebServer::start("bench-page");
    let cookie = server.session();
    let (median, max) = repeated(|_| assert_eq!(server.get("/", &cookie).status, 200));
    let page = server.get("/", &cookie);
    let assets = page.body.split('"').filter(|part| part.starts_with("/assets/"));
    let bytes: usize = page.body.len() + assets.map(|asset| server.get(asset, &cookie).body.len()).sum::<usize>();
    println!("first page: median {median:.1} ms, maximum {max:.1} ms of {REPEATS}; {} KB in all", bytes / 1_000);
}

fn sliders() {
    let server = WebServer::start("bench-slider");
    let cookie = server.session();
    let create = json!({ "name": "data", "like": "oci:50GB@0vpu" }).to_string();
    assert_eq!(server.post("/api/control/v1/volumes", &cookie, &create).status, 201);
    let (median, max) = repeated(|index| {
        let body = json!({ "volume": "data", "level": index % 13 * 10 }).to_string();
        assert_eq!(server.post("/api/figures", &cookie, &body).status, 200);
    });
    println!("figures of the level slider: median {median:.1} ms, maximum {max:.1} ms of {REPEATS}");

    let report = std::env::var("PLIMSOLL_BENCH_AWR").unwrap_or_else(|_| AWR.to_owned());
    let case = uploaded(&server, &cookie, Path::new(&report));
    let size = |required: serde_json::Value| {
        let reply = server.post(&format!("/api/reports/{case}/size"), &cookie, &required.to_string());
        assert_eq!(reply.status, 200, "{reply:?}");
    };
    let begun = Instant::now();
    size(json!({ "capacity": "2TiB", "extent": "ranking" }));
    let ranking = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    size(json!({ "capacity": "2TiB", "extent": "report" }));
    let full = begun.elapsed().as_secs_f64();
    let (median, max) = repeated(|index| {
        let (growth, headroom) = (index % 21 * 5, index % 7 * 10);
        size(json!({ "capacity": "2TiB", "growth": growth, "headroom": headroom, "months": 36, "extent": "leaders" }));
    });
    let name = Path::new(&report).file_name().unwrap().to_string_lossy().into_owned();
    println!("what-if slider with {name}: median {median:.0} ms, maximum {max:.0} ms of {REPEATS}");
    println!("the same report: first ranking of all products {ranking:.1} s, whole report {full:.1} s");
}

/// Uploads a report; returns its case.
fn uploaded(server: &WebServer, cookie: &str, path: &Path) -> String {
    let case = server.post("/api/reports", cookie, "{}").json()["id"].as_str().unwrap().to_owned();
    let (host, origin) = (server.host(), server.origin());
    let headers = [
        ("host", host.as_str()),
        ("cookie", cookie),
        ("origin", &origin),
        ("content-type", "application/octet-stream"),
        ("x-file-name", "report"),
    ];
    let bytes = std::fs::read(path).unwrap();
    assert_eq!(server.send("PUT", &format!("/api/reports/{case}"), &headers, &bytes).status, 200);
    case
}

fn read_seconds() -> u64 {
    std::env::var("PLIMSOLL_BENCH_SECONDS").ok().and_then(|value| value.parse().ok()).unwrap_or(10)
}

fn volumes_at_work() {
    let server = WebServer::start("bench-work");
    let cookie = server.session();
    let load = Load::start(&server, &cookie, VOLUMES);
    let span = Duration::from_secs(read_seconds());
    println!(
        "| {VOLUMES} volumes, {RATE} reads a second each | events a second | threads of the console | whole process | reads a second |"
    );
    println!("|---|---|---|---|---|");
    for pages in [0, 1, 3, 0] {
        let streams: Vec<Stream> = (0..pages).map(|_| Stream::open(&server, &cookie)).collect();
        let (begun, before, reads) = (Instant::now(), Cpu::of(server.pid()), load.reads());
        let counted: u64 = streams.iter().map(Stream::events).sum();
        std::thread::sleep(span);
        let seconds = begun.elapsed().as_secs_f64();
        let (after, reads) = (Cpu::of(server.pid()), load.reads() - reads);
        let events = streams.iter().map(Stream::events).sum::<u64>() - counted;
        println!(
            "| {pages} open pages | {:.1} | {:.1} % | {:.1} % | {:.0} |",
            events as f64 / seconds,
            after.console.saturating_sub(before.console) as f64 / seconds,
            (after.all - before.all) as f64 / seconds,
            reads as f64 / seconds,
        );
    }
}

/// Processor time of a process in hundredths of a second. Idle threads of the console end, and their time with them.
struct Cpu {
    console: u64,
    all: u64,
}

impl Cpu {
    fn of(pid: u32) -> Self {
        let threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
        let mut cpu = Self { console: 0, all: 0 };
        for thread in threads {
            let Ok(stat) = std::fs::read_to_string(thread.path().join("stat")) else { continue };
            let (name, rest) = stat.split_once('(').unwrap().1.rsplit_once(')').unwrap();
            let fields: Vec<&str> = rest.split_whitespace().collect();
            let ticks = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
            cpu.all += ticks;
            cpu.console += if name.starts_with("web") { ticks } else { 0 };
        }
        cpu
    }
}

/// An event stream of all volumes.
struct Stream {
    events: Arc<AtomicU64>,
    socket: TcpStream,
}

impl Stream {
    fn open(server: &WebServer, cookie: &str) -> Self {
        let mut socket = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        let head = format!("GET /events/volumes HTTP/1.1\r\nhost: {}\r\ncookie: {cookie}\r\n\r\n", server.host());
        socket.write_all(head.as_bytes()).unwrap();
        let (events, mut reader) = (Arc::new(AtomicU64::new(0)), socket.try_clone().unwrap());
        let counter = Arc::clone(&events);
        std::thread::spawn(move || {
            let mut piece = vec![0; 1 << 20];
            while let Ok(length @ 1..) = reader.read(&mut piece) {
                let found = String::from_utf8_lossy(&piece[..length]).matches("event: volumes").count();
                counter.fetch_add(found as u64, Ordering::Relaxed);
            }
        });
        Self { events, socket }
    }

    fn events(&self) -> u64 {
        self.events.load(Ordering::Relaxed)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
    }
}

/// Volumes with a client each, which reads at a fixed rate.
struct Load {
    stop: Arc<AtomicBool>,
    reads: Arc<AtomicU64>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Load {
    fn start(server: &WebServer, cookie: &str, volumes: usize) -> Self {
        let socket: PathBuf = server.folder.join("data/nbd.sock");
        let mut clients: Vec<UnixStream> = (0..volumes)
            .map(|number| {
                let name = format!("v{number:02}");
                let create = json!({ "name": name, "like": "oci:500GB@20vpu" }).to_string();
                assert_eq!(server.post("/api/control/v1/volumes", cookie, &create).status, 201);
                connected(&socket, &name)
            })
            .collect();
        let (stop, reads) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (stopped, counter) = (Arc::clone(&stop), Arc::clone(&reads));
        let thread = std::thread::spawn(move || {
            let (begun, mut round) = (Instant::now(), 0_u32);
            while !stopped.load(Ordering::Relaxed) {
                for client in &mut clients {
                    ask(client, round);
                }
                for client in &mut clients {
                    answered(client);
                }
                counter.fetch_add(clients.len() as u64, Ordering::Relaxed);
                round += 1;
                std::thread::sleep((Duration::from_secs(1) / RATE * round).saturating_sub(begun.elapsed()));
            }
        });
        Self { stop, reads, thread: Some(thread) }
    }

    fn reads(&self) -> u64 {
        self.reads.load(Ordering::Relaxed)
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().unwrap().join();
    }
}

/// An NBD client in the transmission phase of an export.
fn connected(socket: &Path, export: &str) -> UnixStream {
    let mut client = UnixStream::connect(socket).unwrap();
    client.read_exact(&mut [0; 18]).unwrap();
    client.write_all(&3_u32.to_be_bytes()).unwrap();
    let option =
        [b"IHAVEOPT".as_slice(), &1_u32.to_be_bytes(), &(export.len() as u32).to_be_bytes(), export.as_bytes()];
    client.write_all(&option.concat()).unwrap();
    client.read_exact(&mut [0; 10]).unwrap();
    client
}

/// Requests a read of 4 KiB.
fn ask(client: &mut UnixStream, round: u32) {
    let offset = u64::from(round.wrapping_mul(2_654_435_761) % 100_000) * 4_096;
    let request = [
        &0x2560_9513_u32.to_be_bytes()[..],
        &[0; 4],
        &u64::from(round).to_be_bytes(),
        &offset.to_be_bytes(),
        &4_096_u32.to_be_bytes(),
    ];
    client.write_all(&request.concat()).unwrap();
}

fn answered(client: &mut UnixStream) {
    let mut reply = [0; 16 + 4_096];
    client.read_exact(&mut reply).unwrap();
    assert_eq!(reply[4..8], [0; 4], "the volume answers with an error");
}

/// Two browsers: the first stays at a page, the second goes round. Memory by minute.
fn soak(minutes: u64) {
    if !browser::is_installed() {
        return;
    }
    let server = WebServer::start("bench-soak");
    let (resident, visitor) = (Browser::start("soak-resident"), Browser::start("soak-visitor"));
    for browser in [&resident, &visitor] {
        browser.look(1280, 900, "light");
    }
    visitor.open(&server.url);
    let url = visitor.eval("request('POST', '/api/links').then(({ url }) => url)");
    resident.open(url.as_str().unwrap());
    let url = visitor.eval("request('POST', '/api/links').then(({ url }) => url)");
    let token = json!({ "token": url.as_str().unwrap().split('#').nth(1).unwrap() }).to_string();
    let reply = server.post("/api/enter", "", &token);
    let cookie = reply.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let load = Load::start(&server, &cookie, VOLUMES);
    let case = uploaded(&server, &cookie, Path::new(AWR));
    resident.open(&server.page("/volumes/v00"));
    println!("| minute | service, MB | heap of a page that stays, MB | rounds | reads |");
    println!("|---|---|---|---|---|");
    let (begun, mut rounds, mut minute) = (Instant::now(), 0_u32, 0);
    while minute <= minutes {
        if begun.elapsed().as_secs() >= minute * 60 {
            println!(
                "| {minute} | {:.1} | {:.1} | {rounds} | {} |",
                resident_mb(server.pid()),
                heap_mb(&resident),
                load.reads()
            );
            minute += 1;
        }
        around(&server, &visitor, &case, rounds);
        rounds += 1;
    }
    for (name, browser) in [("resident", &resident), ("visitor", &visitor)] {
        assert_eq!(browser.errors(), Vec::<String>::new(), "{name}");
    }
}

/// Every page once: sliders moved, a level changed, a model typed, a ranking searched.
fn around(server: &WebServer, browser: &Browser, case: &str, round: u32) {
    const SLIDER: &str = "[data-slider=level] input";
    browser.open(&server.page("/"));
    browser.wait("document.querySelectorAll('#volumes tbody tr').length >= 50");
    browser.open(&server.page(&format!("/volumes/v{:02}", round % 50)));
    browser.wait(&format!("document.querySelector('{SLIDER}').max === '120'"));
    // The tiles above the slider have their final height.
    browser.wait(
        "document.querySelector('#cost').textContent !== '–' && document.querySelector('#clients').textContent !== '–'",
    );
    let (from, to) = if (round / 50).is_multiple_of(2) { (20.0, 10.0) } else { (10.0, 20.0) };
    let is_changed = format!("document.querySelector('#like').textContent !== 'oci/block-volume:500GB,vpu={from}'");
    // A tile that grows by a line moves the slider away from the pointer.
    for attempt in 1.. {
        browser.drag(SLIDER, from / 120.0, to / 120.0, 5, || {});
        if browser.is_true_within(&is_changed, Duration::from_secs(10)) {
            break;
        }
        assert!(attempt < 3, "the level does not change");
    }
    browser.open(&server.page("/model"));
    browser.wait("document.querySelectorAll('#lines li').length === 2");
    browser.set("#model [name=models]", &format!("oci:{}GB@20vpu", 100 + round % 400));
    browser.wait("document.querySelectorAll('#lines li').length === 1");
    browser.open(&server.page(&format!("/choose/{case}")));
    browser.wait("document.querySelector('#report h1') !== null");
    browser.set("#wanted [name=growth]", &(round % 20 * 5).to_string());
    browser.wait("document.querySelector('#choices tbody tr') !== null");
    browser.open(&server.page("/measure"));
    browser.wait("typeof request === 'function'");
}

/// Resident memory of a process.
fn resident_mb(pid: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").trim().parse::<f64>().unwrap() * 1_024.0 / 1e6
}

/// Heap of the page after a collection of garbage.
fn heap_mb(browser: &Browser) -> f64 {
    browser.call("HeapProfiler.collectGarbage", json!({}));
    browser.call("Runtime.getHeapUsage", json!({}))["usedSize"].as_f64().unwrap() / 1e6
}
