//! A PostgreSQL server on a mounted volume. Needs root, FUSE, loop devices, mkfs.ext4 and PostgreSQL, and runs only with
//! `PLIMSOLL_ROOT_TESTS=1`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// The directory of PostgreSQL's programs; `None`, with the reason, where this test cannot run.
pub fn find_programs() -> Option<PathBuf> {
    if std::env::var_os("PLIMSOLL_ROOT_TESTS").is_none_or(|value| value != "1") {
        eprintln!("skipped: needs root, and runs only with PLIMSOLL_ROOT_TESTS=1");
        return None;
    }
    let is_installed =
        |program: &str| Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if let Some(missing) = ["mkfs.ext4", "runuser", "chown"].iter().find(|program| is_installed(program).is_err()) {
        eprintln!("skipped: {missing} is not installed");
        return None;
    }
    if !Path::new("/dev/fuse").exists() {
        eprintln!("skipped: /dev/fuse is missing");
        return None;
    }
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let newest = versions.map(|version| version.path().join("bin")).filter(|bin| bin.join("initdb").exists()).max();
    if newest.is_none() {
        eprintln!("skipped: needs PostgreSQL (the package postgresql)");
    }
    newest
}

/// A PostgreSQL server on a mounted volume, on a Unix socket.
pub struct Postgres {
    programs: PathBuf,
    data: PathBuf,
    sockets: PathBuf,
}

impl Postgres {
    pub fn start(programs: PathBuf, mount: &Path) -> Self {
        static STARTED: AtomicU32 = AtomicU32::new(0);
        // Short, as socket paths are limited. Tests of a process run at the same time, and all servers have the same port.
        let name = format!("plimsoll-pg-{}-{}", std::process::id(), STARTED.fetch_add(1, Ordering::Relaxed));
        let sockets = std::env::temp_dir().join(name);
        let postgres = Self { programs, data: mount.join("data"), sockets };
        for folder in [&postgres.data, &postgres.sockets] {
            std::fs::create_dir_all(folder).unwrap();
            assert!(Command::new("chown").arg("postgres").arg(folder).status().unwrap().success());
        }
        let data = postgres.data.to_str().unwrap();
        let options = format!("-h '' -k {}", postgres.sockets.display());
        postgres.run("initdb", &["--pgdata", data, "--no-sync"]);
        postgres.run("pg_ctl", &["--pgdata", data, "--wait", "--options", &options, "start"]);
        postgres.run("pgbench", &["--initialize", "--quiet", "--scale", "2", "postgres"]);
        postgres
    }

    /// Directory of its socket.
    pub fn sockets(&self) -> &Path {
        &self.sockets
    }

    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new("runuser");
        command.args(["-u", "postgres", "--"]).arg(self.programs.join(program));
        command.env("PGHOST", &self.sockets).current_dir("/").stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        assert!(self.command(program).args(arguments).status().unwrap().success(), "{program} failed");
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let mut stop = self.command("pg_ctl");
        let _ = stop.arg("--pgdata").arg(&self.data).args(["--wait", "--mode", "immediate", "stop"]).status();
        let _ = std::fs::remove_dir_all(&self.sockets);
    }
}
