//! PostgreSQL on an emulated volume whose level changes: transactions per second.
//!
//! `cargo bench --bench postgres` as root, with PostgreSQL installed, prints progress and results, and writes a chart
//! to `PLIMSOLL_BENCH_SVG` (default `postgres.svg` in the temporary directory). `PLIMSOLL_BENCH_SECONDS` is the length
//! of each level (30), `PLIMSOLL_BENCH_SCALE` the size of the database (10).
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use plimsoll_report::{Mark, Panel, PanelScale, Timeline, Track, timeline};

const PRODUCT: &str = "oci:50GB@0vpu";
const LEVELS: [&str; 2] = ["10vpu", "20vpu"];
const CLIENTS: &str = "8";

fn main() {
    // `cargo test --benches` passes --test: there are no tests here.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    match programs() {
        Err(why) => println!("skipped: {why}"),
        Ok(programs) => measure_story(&programs),
    }
}

/// The directory of PostgreSQL's programs.
fn programs() -> Result<PathBuf, &'static str> {
    if !rustix::process::geteuid().is_root() {
        return Err("attaching a volume needs root");
    }
    let versions = std::fs::read_dir("/usr/lib/postgresql").map_err(|_| "PostgreSQL is not installed")?;
    let newest = versions.flatten().map(|version| version.path().join("bin")).filter(|bin| bin.join("initdb").exists());
    newest.max().ok_or("PostgreSQL is not installed")
}

fn number(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

fn measure_story(programs: &Path) {
    let home = std::env::temp_dir().join(format!("plimsoll-postgres-{}", std::process::id()));
    std::fs::create_dir_all(&home).unwrap();
    let service = Service::start(&home.join("service"));
    println!("$ plimsoll volume create db --like {PRODUCT}");
    service.volume(&["create", "db", "--like", PRODUCT]);
    let mount = home.join("mnt");
    std::fs::create_dir_all(&mount).unwrap();
    println!("$ plimsoll volume attach db {} --mkfs ext4", mount.display());
    let begin = Instant::now();
    service.volume(&["attach", "db", mount.to_str().unwrap(), "--mkfs", "ext4"]);
    println!("attached and mounted after {:.1} s", begin.elapsed().as_secs_f64());
    {
        let database = Database::start(programs, &home, &mount);
        let (seconds, changes) = transactions(programs, &database, &service);
        report(&seconds, &changes);
    }
    service.volume(&["detach", "db"]);
    drop(service);
    std::fs::remove_dir_all(&home).unwrap();
}

/// Second, transactions per second, and mean latency in milliseconds.
type Second = (f64, f64, f64);

/// Runs pgbench, and changes the level after each part. Returns the seconds, and the start of each level.
fn transactions(programs: &Path, database: &Database, service: &Service) -> (Vec<Second>, Vec<(f64, String)>) {
    let part = number("PLIMSOLL_BENCH_SECONDS", 30);
    let lasts = (part * (LEVELS.len() as u64 + 1)).to_string();
    let mut pgbench = database.as_user(&programs.join("pgbench"));
    pgbench.args(["--client", CLIENTS, "--time", &lasts, "--progress", "1", "--no-vacuum", "postgres"]);
    let mut running = pgbench.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut levels = LEVELS.iter();
    let (mut seconds, mut changes) = (Vec::new(), Vec::new());
    for line in BufReader::new(running.stderr.take().unwrap()).lines().map_while(Result::ok) {
        let Some(second) = progress(&line) else { continue };
        println!("{line}");
        seconds.push(second);
        if seconds.len() as u64 >= part * (changes.len() as u64 + 1)
            && let Some(level) = levels.next()
        {
            println!("$ plimsoll volume level db {level}");
            service.volume(&["level", "db", level]);
            changes.push((second.0, (*level).to_owned()));
        }
    }
    assert!(running.wait().unwrap().success(), "pgbench failed");
    (seconds, changes)
}

/// `progress: 12.0 s, 812.3 tps, lat 9.842 ms stddev 3.100, 0 failed`
fn progress(line: &str) -> Option<Second> {
    let (at, rest) = line.strip_prefix("progress: ")?.split_once(" s, ")?;
    let (tps, rest) = rest.split_once(" tps, lat ")?;
    let (latency, _) = rest.split_once(" ms")?;
    let tps: f64 = tps.parse().ok()?;
    // A second in which nothing ended says nothing of latency.
    let latency = if tps > 0.0 { latency.parse().ok()? } else { f64::NAN };
    Some((at.parse().ok()?, tps, latency))
}

fn report(seconds: &[Second], changes: &[(f64, String)]) {
    let begins: Vec<f64> = std::iter::once(0.0).chain(changes.iter().map(|(at, _)| *at)).collect();
    let names = std::iter::once(PRODUCT).chain(LEVELS);
    println!("\n| level | transactions a second, median | mean latency, median, ms |\n|---|---|---|");
    for (index, name) in names.enumerate() {
        // The second of a change belongs to neither level.
        let from = begins.get(index).copied().unwrap_or(f64::INFINITY) + 1.0;
        let until = begins.get(index + 1).copied().unwrap_or(f64::INFINITY);
        let part = || seconds.iter().filter(|(at, ..)| *at > from && *at <= until);
        let (tps, latency) = (median(part().map(|second| second.1)), median(part().map(|second| second.2)));
        println!("| {name} | {tps:.0} | {latency:.1} |");
    }
    let track = |of: fn(&Second) -> f64| {
        let points = seconds.iter().map(|second| (second.0, of(second))).collect();
        vec![Track { name: String::new(), points }]
    };
    let panel = |name: &str, scale, tracks| Panel { name: name.into(), scale, tracks, limits: Vec::new() };
    let story = Timeline {
        title: format!("PostgreSQL on {PRODUCT}, whose level is raised twice"),
        source: format!("Measured by pgbench with {CLIENTS} clients; the volume is emulated"),
        panels: vec![
            panel("transactions a second", PanelScale::Rate, track(|second| second.1)),
            panel("mean latency of a transaction", PanelScale::Time, track(|second| second.2 * 1e6)),
        ],
        marks: changes.iter().map(|(at, label)| Mark { at: *at, label: label.clone() }).collect(),
        ticks: Vec::new(),
    };
    let path = std::env::var_os("PLIMSOLL_BENCH_SVG").map(PathBuf::from);
    let path = path.unwrap_or_else(|| std::env::temp_dir().join("postgres.svg"));
    std::fs::write(&path, timeline(&story)).unwrap();
    println!("\n{}", path.display());
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A volume service of its own.
struct Service {
    process: Child,
    control: PathBuf,
}

impl Service {
    fn start(directory: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
        let process = command.arg("serve").arg(directory).stdout(Stdio::null()).spawn().unwrap();
        let control = directory.join("control.sock");
        let begin = Instant::now();
        while !control.exists() {
            assert!(begin.elapsed() < Duration::from_secs(30), "the service does not start");
            std::thread::sleep(Duration::from_millis(50));
        }
        Self { process, control }
    }

    fn volume(&self, arguments: &[&str]) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
        let ended = command.arg("volume").arg("--service").arg(&self.control).args(arguments).status().unwrap();
        assert!(ended.success(), "plimsoll volume {arguments:?} failed");
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let process = rustix::process::Pid::from_child(&self.process);
        let _ = rustix::process::kill_process(process, rustix::process::Signal::TERM);
        let _ = self.process.wait();
    }
}

/// A PostgreSQL server of its own, on a Unix socket.
struct Database {
    programs: PathBuf,
    sockets: PathBuf,
    data: PathBuf,
}

impl Database {
    /// Makes the database on the volume, fills it and starts it.
    fn start(programs: &Path, home: &Path, mount: &Path) -> Self {
        let (sockets, data) = (home.join("sockets"), mount.join("data"));
        for folder in [&sockets, &data] {
            std::fs::create_dir_all(folder).unwrap();
            assert!(Command::new("chown").arg("postgres").arg(folder).status().unwrap().success());
        }
        let database = Self { programs: programs.into(), sockets, data };
        let begin = Instant::now();
        let run = |program: &str, arguments: &[&str]| {
            let mut command = database.as_user(&programs.join(program));
            let ended = command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
            assert!(ended.success(), "{program} failed");
        };
        let data = database.data.to_str().unwrap();
        run("initdb", &["--pgdata", data]);
        println!("initdb after {:.1} s", begin.elapsed().as_secs_f64());
        let options = format!("-h '' -k {} -c max_wal_size=4GB", database.sockets.display());
        run("pg_ctl", &["--pgdata", data, "--wait", "--options", &options, "start"]);
        let scale = number("PLIMSOLL_BENCH_SCALE", 10).to_string();
        run("pgbench", &["--initialize", "--quiet", "--scale", &scale, "postgres"]);
        println!("pgbench's tables (scale {scale}) after {:.1} s", begin.elapsed().as_secs_f64());
        database
    }

    /// A program as the user of PostgreSQL, who is not root.
    fn as_user(&self, program: &Path) -> Command {
        let mut command = Command::new("runuser");
        command.args(["-u", "postgres", "--"]).arg(program).env("PGHOST", &self.sockets);
        command
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let mut stop = self.as_user(&self.programs.join("pg_ctl"));
        let _ = stop.args(["--pgdata"]).arg(&self.data).args(["--wait", "--mode", "fast", "stop"]).status();
    }
}
