//! Installed programs of a server on this host.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use plimsoll_language::{label, say};

use crate::failure::{Failure, FailureKind};
use crate::server_process::User;

/// Directories of servers that are missing in the usual `PATH`.
const PLACES: [&str; 6] =
    ["/usr/sbin", "/usr/local/sbin", "/usr/libexec", "/usr/local/mysql/bin", "/usr/local/bin", "/usr/bin"];

/// A server program, and the program that installs its system tables.
pub(super) struct Programs {
    server: PathBuf,
    /// `None` for MySQL, whose server installs them.
    installer: Option<PathBuf>,
}

impl Programs {
    /// Finds MariaDB, or else MySQL.
    pub(super) fn find() -> Result<Self, Failure> {
        let server = first(&["mariadbd", "mysqld"]);
        let installer = first(&["mariadb-install-db", "mysql_install_db"]);
        let Some(server) = server else { return Err(missing(label!("mariadbd and mysqld are not installed"))) };
        if installer.is_some() || !is_mariadb(&server) {
            return Ok(Self { server, installer });
        }
        Err(missing(label!("mariadb-install-db is not installed")))
    }

    pub(super) const fn name(&self) -> &'static str {
        if self.installer.is_some() { "mariadb" } else { "mysql" }
    }

    pub(super) fn server(&self) -> &Path {
        &self.server
    }

    /// Command that installs the system tables; root gets no password.
    pub(super) fn install(&self, user: &User) -> Command {
        let mut command = user.command(self.installer.as_ref().unwrap_or(&self.server), "KILL", None);
        command.arg("--no-defaults");
        if self.installer.is_some() {
            command.args(["--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"]);
        } else {
            command.arg("--initialize-insecure");
        }
        if rustix::process::geteuid().is_root() && *user == User::Same {
            command.arg("--user=root");
        }
        command
    }
}

fn missing(what: &str) -> Failure {
    Failure::new(FailureKind::Unsupported, say!("{what}: install the package mariadb-server or mysql-server"))
}

fn first(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).chain(PLACES.iter().map(PathBuf::from)).collect();
    names.iter().find_map(|name| folders.iter().map(|folder| folder.join(name)).find(|program| program.is_file()))
}

fn is_mariadb(server: &Path) -> bool {
    let output = Command::new(server).arg("--no-defaults").arg("--version").stderr(Stdio::null()).output();
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("MariaDB"))
}
