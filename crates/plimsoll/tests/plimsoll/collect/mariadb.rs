//! A temporary MariaDB server.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use super::{demand, end_of_credits_is_forecast, is_installed, plimsoll, read_lines, record_work, until};
use crate::folder::{Folder, stderr};

struct Server {
    folder: Folder,
    process: Child,
}

impl Server {
    /// `None`, with a message, if it cannot be started.
    fn start(name: &str) -> Option<Self> {
        if !["mariadbd", "mariadb-install-db", "mariadb"].iter().all(|program| is_there(program)) {
            eprintln!("skipped: needs MariaDB (the package mariadb-server)");
            return None;
        }
        let folder = Folder::short(name);
        let data = format!("--datadir={}", folder.join("data").display());
        let quiet = |command: &mut Command| {
            command.stdout(Stdio::null()).stderr(Stdio::null());
        };
        let mut install = Command::new("mariadb-install-db");
        install.args(["--no-defaults", &data, "--auth-root-authentication-method=normal", "--skip-test-db"]);
        // Servers clear their temporary directory at start, so each has its own.
        install.env("TMPDIR", folder.path());
        quiet(&mut install);
        assert!(install.status().unwrap().success(), "mariadb-install-db failed");
        let mut command = Command::new("mariadbd");
        command.args(["--no-defaults", &data, "--skip-networking", "--user=root"]);
        command.arg(format!("--socket={}", folder.join("s").display()));
        quiet(&mut command);
        let server = Self { process: command.spawn().unwrap(), folder };
        until("the server starts", || server.query("SELECT 1"));
        Some(server)
    }

    fn socket(&self) -> PathBuf {
        self.folder.join("s")
    }

    /// True if the server executed the statement.
    fn query(&self, sql: &str) -> bool {
        let mut client = Command::new("mariadb");
        client.arg("--no-defaults").arg(format!("--socket={}", self.socket().display())).args(["--user=root"]);
        let mut client = client.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let written = client.stdin.take().unwrap().write_all(sql.as_bytes());
        client.wait().unwrap().success() && written.is_ok()
    }

    fn collect(&self, arguments: &[&str], user: &str) -> Command {
        let mut command = plimsoll(&["collect", "mysql"]);
        let socket = format!("--socket={}", self.socket().display());
        command.args(arguments).args(["--", "--no-defaults", &socket, &format!("--user={user}")]);
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let process = rustix::process::Pid::from_child(&self.process);
        let _ = rustix::process::kill_process(process, rustix::process::Signal::TERM);
        let _ = self.process.wait();
    }
}

fn is_there(program: &str) -> bool {
    // The installer does not support --version.
    is_installed(program) || Command::new(program).arg("--help").output().is_ok()
}

#[test]
fn a_server_at_work_is_collected() {
    let Some(server) = Server::start("my") else { return };
    let file = server.folder.join("my.jsonl");
    let out = file.to_str().unwrap();
    let mut running = server
        .collect(&["--interval", "300ms", "--duration", "2s", "--out", out], "root")
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until("the first snapshot comes", || std::fs::read_to_string(&file).is_ok_and(|text| text.lines().count() > 1));
    let rows = "INSERT INTO d.t (s) VALUES (REPEAT('x', 100));\n".repeat(200);
    let created = "CREATE DATABASE d; CREATE TABLE d.t (i INT AUTO_INCREMENT PRIMARY KEY, s TEXT) ENGINE=InnoDB;\n";
    assert!(server.query(&(created.to_owned() + &rows)));
    let ended = running.wait().unwrap();
    let mut reported = String::new();
    std::io::Read::read_to_string(running.stderr.as_mut().unwrap(), &mut reported).unwrap();
    assert!(ended.success(), "{reported}");
    let lines = read_lines(&file);
    assert_eq!(lines[0]["source"], "mysql");
    assert!(lines[1]["status"]["Innodb_data_reads"].is_u64(), "{:?}", lines[1]);
    let demand = demand(&file).to_string();
    assert!(demand.contains("\"redo\"") && demand.contains("\"flushes\""), "{demand}");
}

#[test]
fn end_of_credits_is_forecast_for_a_server_at_work() {
    let Some(server) = Server::start("myw") else { return };
    let file = server.folder.join("my.jsonl");
    let running = server
        .collect(&["--interval", "200ms", "--duration", "60s", "--out", file.to_str().unwrap()], "root")
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let rows = "INSERT INTO d.t (s) VALUES (REPEAT('x', 100));\n".repeat(200);
    let created = "CREATE DATABASE d; CREATE TABLE d.t (i INT AUTO_INCREMENT PRIMARY KEY, s TEXT) ENGINE=InnoDB;\n";
    record_work(running, &file, 2, || assert!(server.query(&(created.to_owned() + &rows))));
    end_of_credits_is_forecast(&file);
}

/// `plimsoll watch mysql` reads the running server itself.
#[test]
fn a_running_server_is_watched() {
    let Some(server) = Server::start("myq") else { return };
    let socket = format!("--socket={}", server.socket().display());
    let mut command =
        plimsoll(&["watch", "mysql", "--on", "aws/gp3:100GiB", "--every", "1s", "--for", "4s", "--json", "-"]);
    let mut watch = command
        .args(["--", "--no-defaults", &socket, "--user=root"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let created = "CREATE DATABASE d; CREATE TABLE d.t (i INT AUTO_INCREMENT PRIMARY KEY, s TEXT) ENGINE=InnoDB;\n";
    assert!(server.query(created));
    while watch.try_wait().unwrap().is_none() {
        assert!(server.query(&"INSERT INTO d.t (s) VALUES (REPEAT('x', 100));\n".repeat(20)));
    }
    let output = watch.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let state: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(state["writes_per_second"].as_f64().is_some_and(|rate| rate > 0.0), "{state:#}");
    assert!(state["limits"].as_array().is_some_and(|limits| !limits.is_empty()), "{state:#}");
}

#[test]
fn denied_access_has_a_remedy() {
    let Some(server) = Server::start("myx") else { return };
    assert!(server.query("CREATE USER shut IDENTIFIED BY 'secret';"));
    let file = server.folder.join("none.jsonl");
    let output = server.collect(&["--out", file.to_str().unwrap()], "shut").output().unwrap();
    assert!(output.status.code() == Some(1) && stderr(&output).contains(".my.cnf"), "{}", stderr(&output));
    assert!(!file.exists());
}
