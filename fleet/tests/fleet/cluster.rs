//! A scheduler and two executors on loopback: the same bytes as in one process, also when processes are killed.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{TestFolder, arg, contents, generate, program, succeed};

/// Upper bound of every wait.
const PATIENCE: Duration = Duration::from_mins(2);

/// A process that ends with the test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(arguments: &[&str], log: &Path) -> Process {
    let log = fs::File::create(log).unwrap();
    let child = program(arguments).stdout(Stdio::null()).stderr(log).spawn();
    Process(child.unwrap())
}

/// Ports that are free now.
fn free_ports<const N: usize>() -> [u16; N] {
    let listeners = [(); N].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}

fn wait_until(what: &str, mut is_done: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_done() {
        assert!(Instant::now() < end, "{what} did not happen in {PATIENCE:?}");
        thread::sleep(Duration::from_millis(50));
    }
}

/// A cluster with two executors.
struct Cluster<'a> {
    folder: &'a TestFolder,
    address: String,
    ports: [u16; 5],
    scheduler: Option<Process>,
    executors: Vec<Process>,
    starts: u32,
}

impl<'a> Cluster<'a> {
    fn start(folder: &'a TestFolder, pause_ms: &str) -> Self {
        let ports = free_ports();
        let address = format!("127.0.0.1:{}", ports[0]);
        let mut cluster = Self { folder, address, ports, scheduler: None, executors: Vec::new(), starts: 0 };
        cluster.start_all(pause_ms);
        cluster
    }

    fn start_all(&mut self, pause_ms: &str) {
        self.starts += 1;
        let log = |name: &str| self.folder.path(&format!("{name}-{}.log", self.starts));
        let port = self.ports[0].to_string();
        self.scheduler = Some(start(&["scheduler", "--port", &port, "--executor-timeout", "4"], &log("scheduler")));
        wait_until("the start of the scheduler", || std::net::TcpStream::connect(&self.address).is_ok());
        for (name, ports) in [("a", [self.ports[1], self.ports[2]]), ("b", [self.ports[3], self.ports[4]])] {
            let [port, command_port] = ports.map(|port| port.to_string());
            let work = self.folder.path(&format!("work-{name}"));
            let arguments =
                ["executor", "--scheduler", &self.address, "--port", &port, "--command-port", &command_port];
            let rest = ["--work", arg(&work), "--heartbeat", "1", "--pause-ms", pause_ms];
            self.executors.push(start(&[&arguments[..], &rest].concat(), &log(name)));
        }
        for port in &self.ports[1..] {
            wait_until("the start of an executor", || std::net::TcpStream::connect(("127.0.0.1", *port)).is_ok());
        }
    }

    fn replay(&self, fleet: &Path, out: &str) -> Process {
        let (results, csv) = (self.folder.path(out), self.folder.path(&format!("{out}.csv")));
        let arguments = ["replay", arg(fleet), "--as-of", "2026-11", "--cluster", &self.address];
        let rest = ["--results", arg(&results), "--csv", arg(&csv)];
        start(&[&arguments[..], &rest].concat(), &self.folder.path(&format!("{out}.log")))
    }

    fn log(&self, out: &str) -> String {
        fs::read_to_string(self.folder.path(&format!("{out}.log"))).unwrap_or_default()
    }
}

fn finish(cluster: &Cluster<'_>, mut job: Process, out: &str) -> bool {
    let mut status = None;
    wait_until("the end of the replay", || {
        status = job.0.try_wait().unwrap();
        status.is_some()
    });
    let succeeded = status.unwrap().success();
    if !succeeded {
        println!("{out}: {}", cluster.log(out));
    }
    succeeded
}

fn finished_buckets(results: &Path) -> usize {
    let Ok(entries) = fs::read_dir(results) else { return 0 };
    let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    names.filter(|name| name.ends_with(".verdicts.parquet") && !name.starts_with('.')).count()
}

/// Results of a replay in this process: table and folder of results.
fn embedded(folder: &TestFolder, fleet: &Path) -> (PathBuf, PathBuf) {
    let (results, csv) = (folder.path("embedded"), folder.path("embedded.csv"));
    let arguments = ["replay", arg(fleet), "--as-of", "2026-11"];
    succeed(&[&arguments[..], &["--results", arg(&results), "--csv", arg(&csv)]].concat());
    (results, csv)
}

fn assert_same(folder: &TestFolder, (results, csv): &(PathBuf, PathBuf), out: &str) {
    assert!(fs::read(csv).unwrap() == fs::read(folder.path(&format!("{out}.csv"))).unwrap(), "tables differ: {out}");
    let mut found = contents(&folder.path(out));
    // Left over by processes that were killed.
    found.retain(|name, _| !name.starts_with('.'));
    assert!(contents(results) == found, "files differ: {out}");
}

const FLEET: [&str; 8] = ["--volumes", "64", "--days", "40", "--period", "1800", "--buckets", "8"];

#[test]
fn a_cluster_gives_the_same_bytes() {
    let folder = TestFolder::new("cluster");
    let fleet = generate(&folder, "fleet", &FLEET);
    let expected = embedded(&folder, &fleet);
    let cluster = Cluster::start(&folder, "0");
    assert!(finish(&cluster, cluster.replay(&fleet, "cluster"), "cluster"));
    assert_same(&folder, &expected, "cluster");
}

#[test]
fn the_loss_of_an_executor_and_of_the_scheduler_changes_no_byte() {
    let folder = TestFolder::new("loss");
    let fleet = generate(&folder, "fleet", &FLEET);
    let expected = embedded(&folder, &fleet);
    let mut cluster = Cluster::start(&folder, "400");
    // An executor is killed when some buckets are finished.
    let job = cluster.replay(&fleet, "executor");
    wait_until("the first finished bucket", || finished_buckets(&folder.path("executor")) >= 1);
    drop(cluster.executors.remove(0));
    assert!(finished_buckets(&folder.path("executor")) < 8);
    assert!(finish(&cluster, job, "executor"));
    assert_same(&folder, &expected, "executor");
    // Everything is killed, started again, and the command repeated.
    let job = cluster.replay(&fleet, "all");
    wait_until("the first finished bucket", || finished_buckets(&folder.path("all")) >= 1);
    cluster.executors.clear();
    cluster.scheduler = None;
    drop(job);
    let finished = finished_buckets(&folder.path("all"));
    assert!((1..8).contains(&finished), "{finished} of 8 buckets are finished");
    cluster.start_all("0");
    assert!(finish(&cluster, cluster.replay(&fleet, "all"), "all"));
    assert_same(&folder, &expected, "all");
}
