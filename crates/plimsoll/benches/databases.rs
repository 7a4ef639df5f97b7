//! Short transactions compared with pgbench on the same server, in turns; the client's cost with a server in memory; and
//! the cost of a watch to the server.
//!
//! `cargo bench --bench databases`, with PostgreSQL installed, prints tables; with `-- watch`, only those of the watch.
//! `PLIMSOLL_BENCH_SECONDS` is the length of each run (8; of a watch 30), `PLIMSOLL_BENCH_ROUNDS` how often both are run (3; 6).
//! Commits do not wait for storage here: programs are compared.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use plimsoll_record::{StepWork, SuiteRun};

const CLIENTS: &str = "4";
const SCALE: &str = "4";
/// Name, pgbench's flag, and plimsoll's.
const SCRIPTS: [(&str, &str, &str); 3] = [
    ("TPC-B", "tpcb-like", "tpc-b"),
    ("simple update", "simple-update", "simple-update"),
    ("select only", "select-only", "select-only"),
];

fn main() {
    // `cargo test --benches` passes --test: there are no tests here.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    match Server::start() {
        Err(why) => println!("skipped: {why}"),
        Ok(server) => {
            server.run("pgbench", &["-i", "-q", "-s", SCALE, "theirs"]);
            if !std::env::args().any(|argument| argument == "watch") {
                beside_pgbench(&server);
                from_memory(&server);
            }
            compare_watched(&server);
        }
    }
}

fn number(variable: &str, usual: u32) -> u32 {
    std::env::var(variable).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

/// Transactions per second, and microseconds of the client's processor time for each.
type Figures = (f64, f64);

fn beside_pgbench(server: &Server) {
    let (seconds, rounds) = (number("PLIMSOLL_BENCH_SECONDS", 8), number("PLIMSOLL_BENCH_ROUNDS", 3));
    println!(
        "| script, {CLIENTS} clients | pgbench, tps | plimsoll, tps | ratio | pgbench, client us | plimsoll, client us |"
    );
    println!("|---|---|---|---|---|---|");
    for (name, theirs, ours) in SCRIPTS {
        let mut pairs: Vec<(Figures, Figures)> = Vec::new();
        for round in 0..rounds {
            // Alternates the order.
            let pair = if round % 2 == 0 {
                let first = server.pgbench(theirs, seconds);
                (first, server.plimsoll(ours, seconds))
            } else {
                let first = server.plimsoll(ours, seconds);
                (server.pgbench(theirs, seconds), first)
            };
            pairs.push(pair);
        }
        let middle = |of: &dyn Fn(&(Figures, Figures)) -> f64| {
            let mut all: Vec<f64> = pairs.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        };
        println!(
            "| {name} | {:.0} | {:.0} | {:.2} | {:.0} | {:.0} |",
            middle(&|pair| pair.0.0),
            middle(&|pair| pair.1.0),
            middle(&|pair| pair.1.0 / pair.0.0),
            middle(&|pair| pair.0.1),
            middle(&|pair| pair.1.1)
        );
    }
}

/// Share of the server in the processor time of server and client.
fn from_memory(server: &Server) {
    println!("\n| cached | a second | server's share of server and client |\n|---|---|---|");
    let suites: [(&str, &[&str]); 2] = [
        (
            "TPC-B, one call each",
            &["oltp", "--script", "tpc-b", "--clients", CLIENTS, "--measure", "8s", "--scale", SCALE],
        ),
        (
            "select only, one call each",
            &["oltp", "--script", "select-only", "--clients", CLIENTS, "--measure", "8s", "--scale", SCALE],
        ),
    ];
    for (name, arguments) in suites {
        let suite = server.suite(arguments);
        let sessions = suite.steps.iter().find_map(|step| match &step.work {
            StepWork::Sessions(sessions) => Some(sessions),
            _ => None,
        });
        let sessions = sessions.unwrap();
        let seconds = |cpu: plimsoll_record::CpuTime| (cpu.user + cpu.system).as_secs_f64();
        let (server, client) = (seconds(sessions.counted.cpu.unwrap()), seconds(sessions.client.unwrap()));
        println!("| {name} | {:.0} | {:.1} % |", sessions.run.figures.iops.value, 100.0 * server / (server + client));
    }
}

/// Transactions with and without a watch at its default interval, in turns, and the processor time of its session.
fn compare_watched(server: &Server) {
    let (seconds, rounds) = (number("PLIMSOLL_BENCH_SECONDS", 30), number("PLIMSOLL_BENCH_ROUNDS", 6));
    println!("\n| round | tps without watch | with | ratio | session of the watch, of a processor |");
    println!("|---|---|---|---|---|");
    let (mut ratios, mut shares) = (Vec::new(), Vec::new());
    for round in 1..=rounds {
        // Alternates the order.
        let before = (round % 2 == 1).then(|| server.pgbench("tpcb-like", seconds).0);
        let (watched, share) = server.watched(seconds);
        let alone = before.unwrap_or_else(|| server.pgbench("tpcb-like", seconds).0);
        println!("| {round} | {alone:.0} | {watched:.0} | {:.3} | {:.4} % |", watched / alone, 100.0 * share);
        ratios.push((watched / alone).ln());
        shares.push(share);
    }
    let count = f64::from(rounds);
    let mean = ratios.iter().sum::<f64>() / count;
    let variance = ratios.iter().map(|ratio| (ratio - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let error = (variance / count).sqrt();
    let share = shares.iter().sum::<f64>() / count;
    println!("mean ratio {:.3}, standard error {:.1} %; session {:.4} %", mean.exp(), 100.0 * error, 100.0 * share);
}

/// A server with a database for each program.
struct Server {
    programs: PathBuf,
    folder: PathBuf,
}

impl Server {
    fn start() -> Result<Self, &'static str> {
        let versions = std::fs::read_dir("/usr/lib/postgresql").map_err(|_| "PostgreSQL is not installed")?;
        let bins = versions.flatten().map(|version| version.path().join("bin"));
        let programs = bins.filter(|bin| bin.join("initdb").exists()).max().ok_or("PostgreSQL is not installed")?;
        let folder = std::env::temp_dir().join(format!("plimsoll-pgbench-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        if rustix::process::geteuid().is_root() {
            assert!(Command::new("chown").arg("postgres").arg(&folder).status().unwrap().success());
        }
        let server = Self { programs, folder };
        let data = server.data();
        server.run("initdb", &["--pgdata", &data, "--auth", "trust", "--username", "tester"]);
        let options = format!(
            "-h '' -k {} -c fsync=off -c shared_buffers=512MB -c max_parallel_workers_per_gather=0 -c jit=off",
            server.folder.display()
        );
        let log = server.folder.join("log");
        server
            .run("pg_ctl", &["--pgdata", &data, "--wait", "-l", log.to_str().unwrap(), "--options", &options, "start"]);
        server.run("createdb", &["-U", "tester", "theirs"]);
        server.run("createdb", &["-U", "tester", "ours"]);
        Ok(server)
    }

    fn data(&self) -> String {
        self.folder.join("data").display().to_string()
    }

    /// A program of PostgreSQL's, which refuses to run as root.
    fn command(&self, program: &str) -> Command {
        let path = self.programs.join(program);
        let mut command = Command::new(if rustix::process::geteuid().is_root() { Path::new("runuser") } else { &path });
        if rustix::process::geteuid().is_root() {
            command.args(["-u", "postgres", "--"]).arg(&path);
        }
        command.env("PGHOST", &self.folder).env("PGUSER", "tester").current_dir("/");
        command
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Output {
        let output = self.command(program).args(arguments).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
        output
    }

    fn pgbench(&self, script: &str, seconds: u32) -> Figures {
        let pgbench = self.programs.join("pgbench");
        let line = format!(
            "TIMEFORMAT='%U %S'; time {} -n -M prepared -c {CLIENTS} -j {CLIENTS} -T {seconds} -b {script} theirs",
            pgbench.display()
        );
        let mut shell = Command::new("bash");
        shell.args(["-c", &line]).env("PGHOST", &self.folder).env("PGUSER", "tester");
        let output = shell.output().unwrap();
        let (reported, times) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let tps = reported.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse::<f64>().ok());
        let last = times.lines().last().unwrap_or_default();
        let used: f64 = last.split(' ').filter_map(|time| time.parse::<f64>().ok()).sum();
        let tps = tps.unwrap_or_else(|| panic!("{reported}{times}"));
        (tps, used * 1e6 / (tps * f64::from(seconds)))
    }

    /// Transactions per second beside a watch, and the share of a processor that its session took.
    fn watched(&self, seconds: u32) -> (f64, f64) {
        let url = format!("postgres://tester@/theirs?host={}", self.folder.display());
        let mut watch = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
        watch.args(["watch", &url]).stdout(Stdio::null()).stderr(Stdio::null());
        let (mut watch, begun) = (watch.spawn().unwrap(), Instant::now());
        let (tps, _) = self.pgbench("tpcb-like", seconds);
        let query = "SELECT pid FROM pg_stat_activity WHERE application_name = 'plimsoll'";
        let output = self.run("psql", &["-X", "-A", "-t", "-c", query, "theirs"]);
        let pid = String::from_utf8(output.stdout).unwrap();
        let schedstat = std::fs::read_to_string(format!("/proc/{}/schedstat", pid.trim())).unwrap();
        let processor_ns: f64 = schedstat.split(' ').next().unwrap().parse().unwrap();
        let share = processor_ns / 1e9 / begun.elapsed().as_secs_f64();
        watch.kill().unwrap();
        watch.wait().unwrap();
        (tps, share)
    }

    /// The same as [`Server::pgbench`] with separate statements.
    fn plimsoll(&self, script: &str, seconds: u32) -> Figures {
        let measure = format!("{seconds}s");
        let suite = self.suite(&[
            "oltp",
            "--statements",
            "--script",
            script,
            "--clients",
            CLIENTS,
            "--measure",
            &measure,
            "--scale",
            SCALE,
        ]);
        let sessions = suite.steps.iter().find_map(|step| match &step.work {
            StepWork::Sessions(sessions) => Some(sessions),
            _ => None,
        });
        let sessions = sessions.unwrap();
        let (tps, client) = (sessions.run.figures.iops.value, sessions.client.unwrap());
        (tps, (client.user + client.system).as_secs_f64() * 1e6 / (tps * sessions.run.span.as_secs_f64()))
    }

    fn suite(&self, arguments: &[&str]) -> SuiteRun {
        let url = format!("postgres://tester@/ours?host={}", self.folder.display());
        let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
        command.arg("suite").args(arguments).args([url.as_str(), "--destroy", "ours", "--json", "-", "--quiet"]);
        let output = command.env("PLIMSOLL_RUNS", self.folder.join("runs")).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        SuiteRun::from_json(&output.stdout).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let mut stop = self.command("pg_ctl");
        stop.args(["--pgdata", &self.data(), "--wait", "--mode", "immediate", "stop"]);
        let _ = stop.stdout(Stdio::null()).stderr(Stdio::null()).status();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
