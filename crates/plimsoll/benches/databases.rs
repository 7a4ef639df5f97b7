//! Short transactions compared with pgbench on the same server, in turns; and the client's cost with a server in
//! memory.
//!
//! `cargo bench --bench databases`, with PostgreSQL installed, prints tables. `PLIMSOLL_BENCH_SECONDS` is the length of each run
//! (8), `PLIMSOLL_BENCH_ROUNDS` how often both are run (3). Commits do not wait for storage here: programs are compared.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

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
            beside_pgbench(&server);
            from_memory(&server);
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
    server.run("pgbench", &["-i", "-q", "-s", SCALE, "theirs"]);
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

    /// The same with separate statements.
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
