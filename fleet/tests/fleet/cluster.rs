//! A scheduler and two executors on loopback: the same bytes as in one process, also when processes are killed.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

use crate::support::{TestFolder, arg, contents, fail, generate, program, succeed};

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

/// Ports of an address that are free now.
fn free_ports<const N: usize>(host: IpAddr) -> [u16; N] {
    let listeners = [(); N].map(|()| TcpListener::bind((host, 0)).unwrap());
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
    host: IpAddr,
    address: String,
    ports: [u16; 5],
    scheduler: Option<Process>,
    executors: Vec<Process>,
    starts: u32,
    /// Options of TLS, for all processes.
    tls: Vec<String>,
    /// Name by which the processes reach each other, in place of the address.
    name: Option<&'static str>,
}

impl<'a> Cluster<'a> {
    fn start(folder: &'a TestFolder, pause_ms: &str) -> Self {
        Self::start_with(folder, pause_ms, &[])
    }

    /// The options are those of the first executor.
    fn start_with(folder: &'a TestFolder, pause_ms: &str, options: &[&str]) -> Self {
        let mut cluster = Self::stopped(folder, Ipv4Addr::LOCALHOST.into());
        cluster.start_all(pause_ms, options);
        cluster
    }

    fn stopped(folder: &'a TestFolder, host: IpAddr) -> Self {
        let (ports, tls) = (free_ports(host), Vec::new());
        let address = SocketAddr::new(host, ports[0]).to_string();
        Self { folder, host, address, ports, scheduler: None, executors: Vec::new(), starts: 0, tls, name: None }
    }

    fn tls(&self) -> Vec<&str> {
        self.tls.iter().map(String::as_str).collect()
    }

    fn start_all(&mut self, pause_ms: &str, options: &[&str]) {
        self.starts += 1;
        let log = |name: &str| self.folder.path(&format!("{name}-{}.log", self.starts));
        let (port, host) = (self.ports[0].to_string(), self.host.to_string());
        let timeout = if self.tls.is_empty() { "4" } else { "10" };
        let arguments = ["scheduler", "--bind", &host, "--port", &port, "--executor-timeout", timeout];
        let named = self.name.map(|name| ["--host", name]);
        let named = named.as_ref().map_or(&[][..], |named| &named[..]);
        self.scheduler = Some(start(&[&arguments[..], named, &self.tls()].concat(), &log("scheduler")));
        wait_until("the start of the scheduler", || TcpStream::connect(&self.address).is_ok());
        for (name, ports) in [("a", [self.ports[1], self.ports[2]]), ("b", [self.ports[3], self.ports[4]])] {
            let [port, command_port] = ports.map(|port| port.to_string());
            let work = self.folder.path(&format!("work-{name}"));
            let arguments =
                ["executor", "--scheduler", &self.address, "--port", &port, "--command-port", &command_port];
            let rest = ["--bind", &host, "--work", arg(&work), "--heartbeat", "1", "--pause-ms", pause_ms];
            let own = if name == "a" { options } else { &[] };
            self.executors.push(start(&[&arguments[..], &rest, own, named, &self.tls()].concat(), &log(name)));
        }
        // With TLS there is no port of commands.
        let ports = self.ports[1..].iter().step_by(if self.tls.is_empty() { 1 } else { 2 });
        for port in ports {
            wait_until("the start of an executor", || TcpStream::connect((self.host, *port)).is_ok());
        }
    }

    fn replay(&self, fleet: &Path, out: &str) -> Process {
        self.replay_with(fleet, out, &self.tls())
    }

    fn replay_with(&self, fleet: &Path, out: &str, tls: &[&str]) -> Process {
        let (results, csv) = (self.folder.path(out), self.folder.path(&format!("{out}.csv")));
        let arguments = ["replay", arg(fleet), "--as-of", "2026-11", "--cluster", &self.address];
        let rest = ["--results", arg(&results), "--csv", arg(&csv)];
        start(&[&arguments[..], &rest, tls].concat(), &self.folder.path(&format!("{out}.log")))
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

/// Folders of executors below a folder.
fn work_folders(work: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(work).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn folders_of_killed_executors_are_removed_by_the_next_one() {
    let folder = TestFolder::new("folders");
    let mut cluster = Cluster::start(&folder, "0");
    let work = folder.path("work-a");
    let first = work_folders(&work);
    assert_eq!(first.len(), 1);
    cluster.executors.clear();
    cluster.scheduler = None;
    assert_eq!(work_folders(&work), first, "a killed process removes nothing");
    cluster.start_all("0", &[]);
    let second = work_folders(&work);
    assert!(second.len() == 1 && second != first, "{second:?}");
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
    let rightsize = |out: &str, options: &[&str]| {
        let out = folder.path(out);
        succeed(&[&["rightsize", arg(&fleet), "--as-of", "2026-11-28", "--out", arg(&out)], options].concat());
        fs::remove_dir_all(fleet.join("results")).unwrap();
        contents(&out)
    };
    let answers = rightsize("answers", &[]);
    assert!(answers.contains_key("verdicts.parquet"));
    assert!(answers == rightsize("answers-of-cluster", &["--cluster", &cluster.address]));
}

#[test]
fn a_cluster_on_ipv6_gives_the_same_bytes() {
    let host = IpAddr::from(Ipv6Addr::LOCALHOST);
    if TcpListener::bind((host, 0)).is_err() {
        println!("skipped: this host has no ::1");
        return;
    }
    let folder = TestFolder::new("ipv6");
    let fleet = generate(&folder, "fleet", &FLEET);
    let expected = embedded(&folder, &fleet);
    let mut cluster = Cluster::stopped(&folder, host);
    cluster.start_all("0", &[]);
    assert!(finish(&cluster, cluster.replay(&fleet, "plain"), "plain"));
    assert_same(&folder, &expected, "plain");
    (cluster.executors, cluster.scheduler, cluster.ports) = (Vec::new(), None, free_ports(host));
    cluster.address = SocketAddr::new(host, cluster.ports[0]).to_string();
    cluster.tls = certify(&folder, "own");
    cluster.start_all("0", &[]);
    assert!(finish(&cluster, cluster.replay(&fleet, "encrypted"), "encrypted"));
    assert_same(&folder, &expected, "encrypted");
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
    cluster.start_all("0", &[]);
    assert!(finish(&cluster, cluster.replay(&fleet, "all"), "all"));
    assert_same(&folder, &expected, "all");
}

#[test]
fn an_executor_that_dies_after_its_write_changes_no_byte() {
    let folder = TestFolder::new("write");
    let fleet = generate(&folder, "fleet", &FLEET);
    let expected = embedded(&folder, &fleet);
    let mut cluster = Cluster::start_with(&folder, "100", &["--abort-after-write"]);
    assert!(finish(&cluster, cluster.replay(&fleet, "write"), "write"));
    // It died in this run, and its bucket is in the answer once.
    assert!(cluster.executors[0].0.try_wait().unwrap().is_some());
    assert_same(&folder, &expected, "write");
}

#[test]
fn an_executor_of_another_version_is_refused_with_words() {
    let folder = TestFolder::new("version");
    let fleet = generate(&folder, "fleet", &FLEET);
    let expected = embedded(&folder, &fleet);
    let cluster = Cluster::start_with(&folder, "0", &["--claim-version", "0.0.9"]);
    assert!(!finish(&cluster, cluster.replay(&fleet, "version"), "version"));
    let log = cluster.log("version");
    assert!(log.contains("run client, scheduler and executors of one version"), "{log}");
    // Finished buckets stay, and the rest is done without it.
    let text = succeed(&["replay", arg(&fleet), "--as-of", "2026-11", "--results", arg(&folder.path("version"))]);
    assert!(text.contains("of 8 buckets were finished before"), "{text}");
    let mut found = contents(&folder.path("version"));
    found.retain(|name, _| !name.starts_with('.'));
    assert!(contents(&expected.0) == found);
}

/// Files of a new authority, and of a process that it certifies for loopback.
fn certify(folder: &TestFolder, name: &str) -> Vec<String> {
    certify_for(folder, name, &["127.0.0.1", "::1"])
}

/// The same for other names or addresses.
fn certify_for(folder: &TestFolder, name: &str, hosts: &[&str]) -> Vec<String> {
    let (authority_key, key) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority_pem = authority.self_signed(&authority_key).unwrap().pem();
    let issuer = Issuer::new(authority, authority_key);
    let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
    let cert = CertificateParams::new(hosts).unwrap().signed_by(&key, &issuer).unwrap();
    let files = [("--tls-cert", cert.pem()), ("--tls-key", key.serialize_pem()), ("--tls-ca", authority_pem)];
    let write = |(option, pem): (&str, String)| {
        let path = folder.write(&format!("{name}{option}.pem"), &pem);
        [option.to_owned(), arg(&path).to_owned()]
    };
    files.into_iter().flat_map(write).collect()
}

#[test]
fn an_encrypted_cluster_gives_the_same_bytes_and_refuses_strangers() {
    let folder = TestFolder::new("tls");
    let fleet = generate(&folder, "fleet", &FLEET);
    let expected = embedded(&folder, &fleet);
    let mut cluster = Cluster::stopped(&folder, Ipv4Addr::LOCALHOST.into());
    cluster.tls = certify(&folder, "own");
    cluster.start_all("0", &[]);
    let stranger = certify(&folder, "stranger");
    // Of another authority, with its trust in the cluster's; and without TLS.
    let mixed: Vec<&str> = stranger[..5].iter().chain(&cluster.tls[5..]).map(String::as_str).collect();
    for (out, tls) in [("stranger", &mixed[..]), ("plain", &[])] {
        assert!(!finish(&cluster, cluster.replay_with(&fleet, out, tls), out));
        assert_eq!(finished_buckets(&folder.path(out)), 0);
    }
    assert!(finish(&cluster, cluster.replay(&fleet, "encrypted"), "encrypted"));
    assert_same(&folder, &expected, "encrypted");
    // An executor is killed when some buckets are finished.
    cluster.executors.clear();
    cluster.scheduler = None;
    cluster.start_all("400", &[]);
    let job = cluster.replay(&fleet, "lost");
    wait_until("the first finished bucket", || finished_buckets(&folder.path("lost")) >= 1);
    drop(cluster.executors.remove(0));
    assert!(finished_buckets(&folder.path("lost")) < 8);
    assert!(finish(&cluster, job, "lost"));
    assert_same(&folder, &expected, "lost");
}

/// As in Kubernetes, where addresses change and certificates have names.
#[test]
fn an_encrypted_cluster_by_names_gives_the_same_bytes() {
    let folder = TestFolder::new("names");
    let fleet = generate(&folder, "fleet", &FLEET);
    let expected = embedded(&folder, &fleet);
    let mut cluster = Cluster::stopped(&folder, Ipv4Addr::LOCALHOST.into());
    cluster.name = Some("localhost");
    cluster.address = format!("localhost:{}", cluster.ports[0]);
    cluster.tls = certify_for(&folder, "named", &["localhost"]);
    cluster.start_all("0", &[]);
    assert!(finish(&cluster, cluster.replay(&fleet, "named"), "named"));
    assert_same(&folder, &expected, "named");
    // The certificate is not valid for the address.
    cluster.address = SocketAddr::new(cluster.host, cluster.ports[0]).to_string();
    assert!(!finish(&cluster, cluster.replay(&fleet, "address"), "address"));
    let error = fail(&["executor", "--work", arg(&folder.path("work")), "--scheduler", "::1:50050"]);
    assert!(error.contains("write [ADDRESS]:PORT for IPv6"), "{error}");
    let error = fail(&["executor", "--work", arg(&folder.path("work")), "--scheduler", "scheduler"]);
    assert!(error.contains("write HOST:PORT"), "{error}");
}

#[test]
fn addresses_outside_of_loopback_need_tls() {
    let folder = TestFolder::new("bind");
    let work = folder.path("work");
    for command in [&["scheduler"][..], &["executor", "--work", arg(&work)]] {
        let error = fail(&[command, &["--bind", "192.0.2.1"]].concat());
        assert!(error.contains("give --tls-cert, --tls-key and --tls-ca"), "{error}");
        let error = fail(&[command, &["--bind", "0.0.0.0"]].concat());
        assert!(error.contains("name the address"), "{error}");
        let error = fail(&[command, &["--tls-cert", "own.pem"]].concat());
        assert!(error.contains("--tls-key"), "{error}");
    }
}

/// Runs a script with a new file system of `size` at `disk`. False where this user may not make one.
fn with_small_disk(disk: &Path, size: &str, script: &str) -> Option<std::process::Output> {
    fs::create_dir_all(disk).unwrap();
    let mount = format!("mount -t tmpfs -o size={size} tmpfs {}", arg(disk));
    let run = |script: &str| std::process::Command::new("unshare").args(["-rm", "sh", "-c", script]).output();
    if !run(&mount).is_ok_and(|output| output.status.success()) {
        println!("skipped: unshare -rm and a tmpfs are not permitted here");
        return None;
    }
    Some(run(&format!("{mount} && {script}")).unwrap())
}

#[test]
fn a_full_disk_stops_with_words_and_loses_nothing() {
    let folder = TestFolder::new("full");
    let fleet = generate(&folder, "fleet", &FLEET);
    let expected = embedded(&folder, &fleet);
    let (disk, program) = (folder.path("disk"), env!("CARGO_BIN_EXE_plimsoll-fleet"));
    let (fleet, copy) = (arg(&fleet), folder.path("copy"));
    let replay = format!("{program} replay {fleet} --as-of 2026-11 --results {0}/results", arg(&disk));
    // Full in the first run; with more space the second one continues.
    let script = format!(
        "! {replay} --parallel 1 2>{0}/../first.log && mount -o remount,size=64m {0} && {replay} && cp -r {0}/results {1}",
        arg(&disk),
        arg(&copy)
    );
    let Some(output) = with_small_disk(&disk, "96k", &script) else { return };
    let (text, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}{error}");
    let first = fs::read_to_string(folder.path("first.log")).unwrap();
    assert!(first.contains("No space left on device"), "{first}");
    assert!(text.contains("of 8 buckets were finished before"), "{text}");
    assert!(contents(&expected.0) == contents(&copy));
}
