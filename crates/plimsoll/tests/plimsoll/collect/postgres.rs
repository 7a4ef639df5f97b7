//! A temporary PostgreSQL server with pgbench.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{demand, end_of_credits_is_forecast, is_installed, is_root, plimsoll, read_lines, record_work, until};
use crate::folder::{Folder, stderr};

struct Server {
    programs: PathBuf,
    folder: Folder,
}

impl Server {
    /// `None`, with a message, if it cannot be started.
    fn start(name: &str) -> Option<Self> {
        let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
        let newest = versions.map(|version| version.path().join("bin")).filter(|bin| bin.join("initdb").exists()).max();
        let Some(programs) = newest else {
            eprintln!("skipped: needs PostgreSQL (the package postgresql)");
            return None;
        };
        if is_root() && !(is_installed("chown") && is_installed("runuser")) {
            eprintln!("skipped: needs chown and runuser, as PostgreSQL refuses to run as root");
            return None;
        }
        let folder = Folder::short(name);
        if is_root() {
            assert!(Command::new("chown").arg("postgres").arg(folder.path()).status().unwrap().success());
        }
        let server = Self { programs, folder };
        let data = server.data();
        server.run("initdb", &["--pgdata", &data, "--auth", "trust", "--username", "tester"]);
        server.up();
        server.run("pgbench", &["--initialize", "--quiet", "--scale", "1", "-U", "tester", "postgres"]);
        Some(server)
    }

    fn up(&self) {
        let options = format!("-h '' -k {} -c fsync=off -c track_io_timing=on", self.sockets().display());
        let log = self.folder.join("log");
        let arguments =
            ["--pgdata", &self.data(), "--wait", "-l", log.to_str().unwrap(), "--options", &options, "start"];
        self.run("pg_ctl", &arguments);
    }

    fn down(&self) {
        self.run("pg_ctl", &["--pgdata", &self.data(), "--wait", "--mode", "fast", "stop"]);
    }

    fn data(&self) -> String {
        self.folder.join("data").display().to_string()
    }

    fn sockets(&self) -> &Path {
        self.folder.path()
    }

    /// A program of PostgreSQL, which refuses to run as root.
    fn command(&self, program: &str) -> Command {
        let path = self.programs.join(program);
        let mut command = Command::new(if is_root() { Path::new("runuser") } else { &path });
        if is_root() {
            command.args(["-u", "postgres", "--"]).arg(&path);
        }
        command.env("PGHOST", self.sockets()).current_dir("/");
        command
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let ended = self.command(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
        assert!(ended.unwrap().success(), "{program} failed");
    }

    fn collect(&self, arguments: &[&str]) -> Command {
        let mut command = plimsoll(&["collect", "postgres"]);
        command.args(arguments).env("PGHOST", self.sockets()).env("PGUSER", "tester").env("PGDATABASE", "postgres");
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let mut stop = self.command("pg_ctl");
        stop.args(["--pgdata", &self.data(), "--wait", "--mode", "immediate", "stop"]);
        let _ = stop.stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

#[test]
fn a_server_at_work_is_collected() {
    let Some(server) = Server::start("pg") else { return };
    let mut pgbench = server.command("pgbench");
    pgbench.args(["--client", "2", "--time", "4", "--no-vacuum", "-U", "tester", "postgres"]);
    let mut load = pgbench.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let file = server.folder.join("pg.jsonl");
    let out = file.to_str().unwrap();
    let output = server.collect(&["--interval", "1s", "--duration", "3s", "--out", out]).output().unwrap();
    load.wait().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let lines = read_lines(&file);
    assert_eq!((lines[0]["source"].as_str(), lines[0]["block_bytes"].as_u64()), (Some("postgres"), Some(8192)));
    assert!(lines.len() >= 3 && lines[1]["pg_stat_database"].is_array(), "{:?}", lines[1]);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(!text.contains("pgbench_accounts") && !text.contains("tester"), "no names of users and objects");
    let demand = demand(&file);
    assert_eq!(demand["inputs"][0]["kind"], "plimsoll-snapshots", "{demand:#}");
    let series = demand.to_string();
    assert!(series.contains("\"redo\"") && series.contains("\"reads\""), "{demand:#}");
}

#[test]
fn end_of_credits_is_forecast_for_a_server_at_work() {
    let Some(server) = Server::start("pgw") else { return };
    let file = server.folder.join("pg.jsonl");
    let running = server.collect(&["--interval", "200ms", "--duration", "60s", "--out", file.to_str().unwrap()]);
    let running = { running }.stderr(Stdio::null()).spawn().unwrap();
    // Sessions report their work after some snapshots.
    record_work(running, &file, 8, || {
        server.run("pgbench", &["--transactions", "200", "--no-vacuum", "-U", "tester", "postgres"]);
        server.run(
            "psql",
            &["-q", "-U", "tester", "postgres", "-c", "CREATE TABLE copy AS TABLE pgbench_accounts; CHECKPOINT"],
        );
    });
    end_of_credits_is_forecast(&file);
}

#[test]
fn times_that_the_server_does_not_keep_are_reported_at_once() {
    let Some(server) = Server::start("pgt") else { return };
    let stderr_of = |options: &str| {
        let file = server.folder.join("pg.jsonl");
        let mut collect =
            server.collect(&["--interval", "100ms", "--duration", "200ms", "--out", file.to_str().unwrap()]);
        let stderr = stderr(&collect.env("PGOPTIONS", options).output().unwrap());
        std::fs::remove_file(file).unwrap();
        stderr
    };
    assert!(stderr_of("-c track_io_timing=off").starts_with("plimsoll: track_io_timing is off: "));
    assert!(!stderr_of("-c track_io_timing=on").contains("track_io_timing"));
}

#[test]
fn server_restart_keeps_collected_snapshots() {
    let Some(server) = Server::start("pgr") else { return };
    let file = server.folder.join("pg.jsonl");
    let out = file.to_str().unwrap();
    let running = server.collect(&["--interval", "200ms", "--duration", "60s", "--out", out]);
    let mut running = { running }.stderr(Stdio::piped()).spawn().unwrap();
    let has = |count| std::fs::read_to_string(&file).is_ok_and(|text| text.lines().count() >= count);
    until("three snapshots come", || has(4));
    server.down();
    until("the loss is noted", || std::fs::read_to_string(&file).is_ok_and(|text| text.contains("\"note\"")));
    server.up();
    let before = read_lines(&file).len();
    until("more snapshots come", || has(before + 2));
    let process = rustix::process::Pid::from_child(&running);
    rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
    assert_eq!(running.wait().unwrap().code(), Some(130));
    let mut reported = String::new();
    std::io::Read::read_to_string(running.stderr.as_mut().unwrap(), &mut reported).unwrap();
    assert!(reported.contains("retrying every interval") && reported.contains("snapshots in"), "{reported}");
    assert_eq!(demand(&file)["inputs"][0]["kind"], "plimsoll-snapshots");
}

#[test]
fn unreachable_server_has_a_remedy() {
    let Some(server) = Server::start("pgx") else { return };
    let file = server.folder.join("none.jsonl");
    let out = file.to_str().unwrap();
    // A server that requires a password.
    let access = server.folder.join("data").join("pg_hba.conf");
    std::fs::write(&access, "local all all scram-sha-256\n").unwrap();
    server.run("pg_ctl", &["--pgdata", &server.data(), "reload"]);
    until("the rule holds", || {
        let mut psql = server.command("psql");
        psql.args(["-w", "-U", "tester", "postgres", "-c", "SELECT 1"]);
        !psql.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success()
    });
    let output = server.collect(&["--out", out]).output().unwrap();
    assert!(output.status.code() == Some(1) && stderr(&output).contains(".pgpass"), "{}", stderr(&output));
    server.down();
    let output = server.collect(&["--out", out]).output().unwrap();
    assert!(output.status.code() == Some(1) && stderr(&output).contains("test psql"), "{}", stderr(&output));
    assert_eq!(stderr(&output).lines().count(), 1, "{}", stderr(&output));
    assert!(!file.exists(), "nothing was collected, so there is no file");
}

/// The load of an interval lies between what the server counted within it and around it, and the page has sessions.
#[test]
fn watched_load_agrees_with_the_counters() {
    let Some(server) = Server::start("pgw") else { return };
    let mut pgbench = server.command("pgbench");
    pgbench.args(["--client", "2", "--time", "12", "--no-vacuum", "-U", "tester", "postgres"]);
    let mut load = pgbench.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let writes = || {
        let query = "SELECT (SELECT wal_write FROM pg_stat_wal) + buffers_checkpoint + buffers_clean + buffers_backend \
                     FROM pg_stat_bgwriter";
        let output =
            server.command("psql").args(["-X", "-At", "-U", "tester", "postgres", "-c", query]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().parse::<f64>().unwrap()
    };
    until("pgbench writes", || writes() > 100.0);
    let before = writes();
    let begun = std::time::Instant::now();
    let mut watch =
        plimsoll(&["watch", "postgres:///postgres", "--on", "aws/gp2:500GiB", "--every", "5s", "--for", "5s"]);
    watch.args(["--json=-", "--listen", "127.0.0.1:0"]).env("PGHOST", server.sockets()).env("PGUSER", "tester");
    let output = watch.output().unwrap();
    let (elapsed, after) = (begun.elapsed().as_secs_f64(), writes());
    load.kill().unwrap();
    load.wait().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("metrics at http://127.0.0.1:"), "{}", stderr(&output));
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let (observed, counted) = (result["observed_s"].as_f64().unwrap(), after - before);
    let watched = result["writes_per_second"].as_f64().unwrap() * observed;
    println!(
        "{watched:.0} writes in {observed:.1} s, the server counted {counted:.0} in {elapsed:.1} s; readings take {:.3} %",
        result["counters_share"].as_f64().unwrap() * 100.0
    );
    // Statistics are up to a second late at both ends.
    let least = counted * (observed - 1.0) / elapsed * 0.6;
    assert!((least..=counted * 1.3).contains(&watched), "{watched} of {counted}: {result:#}");
    let limit = &result["limits"][0];
    assert!(limit["used_now"].as_f64().unwrap() > 0.0, "{limit}");
    assert!(result["active_sessions"].as_f64().is_some_and(|active| active > 0.1), "{result:#}");
    assert!(result["connections"].as_f64().is_some_and(|used| (2.0..8.0).contains(&used)), "{result:#}");
    assert!(result["credits"][0]["left_at_most"].as_f64().is_some_and(|left| left > 0.9), "{result:#}");
}
