//! Connection parameters from an address.
//!
//! The default password is `MYSQL_PWD`, the default user the user of this process. `localhost` without a port means the
//! server's Unix socket, as in the native clients.

use std::path::Path;
use std::time::Duration;

use mysql::consts::CapabilityFlags;
use mysql::{Conn, Opts, OptsBuilder};
use plimsoll_language::{label, say};

use super::failures::{connecting, failed};
use crate::address::DatabaseAddress;
use crate::failure::{Failure, FailureKind};

/// Timeout of a network connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Socket paths of distribution packages.
const SOCKETS: [&str; 4] =
    ["/run/mysqld/mysqld.sock", "/var/run/mysqld/mysqld.sock", "/var/lib/mysql/mysql.sock", "/tmp/mysql.sock"];

/// Server, user and database.
pub(super) struct MySqlLocation {
    opts: Opts,
    displayed: String,
}

impl MySqlLocation {
    /// Parses an address.
    pub(super) fn of(address: &DatabaseAddress) -> Result<Self, Failure> {
        let displayed = address.to_string();
        let (url, by_socket) = normal(&address.url);
        let opts = Opts::from_url(&url).map_err(|error| {
            let remedy = label!("write mysql://USER:PASSWORD@HOST:PORT/NAME, and ?socket=PATH for a Unix socket");
            Failure::new(FailureKind::Unreachable, format!("{displayed}: {error}: {remedy}"))
        })?;
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let user = opts.get_user().map(str::to_owned).or_else(|| variable("USER"));
        let password = opts.get_pass().map(str::to_owned).or_else(|| variable("MYSQL_PWD"));
        let socket = opts.get_socket().map(str::to_owned);
        let usual = || SOCKETS.into_iter().find(|socket| Path::new(socket).exists()).map(str::to_owned);
        let socket = socket.or_else(|| by_socket.then(usual).flatten());
        let builder = OptsBuilder::from_opts(opts).user(user).pass(password).socket(socket);
        Ok(Self { opts: session_options(builder), displayed })
    }

    /// Database `name` of a server whose socket accepts root without a password.
    pub(super) fn at_socket(socket: &Path, name: Option<&str>) -> Self {
        let displayed = say!("the server at {}", socket.display());
        let socket = socket.to_string_lossy().into_owned();
        let builder = OptsBuilder::new().user(Some("root")).socket(Some(socket)).db_name(name);
        Self { opts: session_options(builder), displayed }
    }

    pub(super) fn open(&self) -> Result<Conn, Failure> {
        Conn::new(self.opts.clone()).map_err(|error| connecting(&error, &self.displayed))
    }

    pub(super) fn database(&self) -> Result<&str, Failure> {
        self.opts.get_db_name().ok_or_else(|| {
            failed(
                FailureKind::Missing,
                &self.displayed,
                label!("the address names no database"),
                label!("write its name after the host"),
            )
        })
    }

    /// False if the server is on another host.
    pub(super) fn may_be_here(&self) -> bool {
        self.opts.get_socket().is_some() || self.opts.addr_is_loopback()
    }
}

fn session_options(builder: OptsBuilder) -> Opts {
    builder
        .prefer_socket(false)
        .tcp_connect_timeout(Some(CONNECT_TIMEOUT))
        // Sessions keep their statements: the driver's cache would evict some.
        .stmt_cache_size(0)
        // UPDATE counts matched rows, as in every other system, even if the value is unchanged.
        .additional_capabilities(CapabilityFlags::CLIENT_FOUND_ROWS)
        .into()
}

/// The address in the driver's syntax; true if it means the default socket of this host.
fn normal(url: &str) -> (String, bool) {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let (user, host) = authority.rsplit_once('@').map_or(("", authority), |(user, host)| (user, host));
    let at = if user.is_empty() { "" } else { "@" };
    let by_socket = host.is_empty() || host == "localhost";
    let host = if host.is_empty() { "localhost" } else { host };
    let slash = if path.starts_with('?') { "/" } else { "" };
    (format!("mysql://{user}{at}{host}{slash}{path}"), by_socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(url: &str) -> Result<MySqlLocation, Failure> {
        MySqlLocation::of(&url.parse().unwrap())
    }

    #[test]
    fn mysql_addresses_are_parsed() {
        let opts = place("mariadb://me:se%40cret@db.example:3307/shop").unwrap().opts;
        assert_eq!((opts.get_user(), opts.get_pass(), opts.get_db_name()), (Some("me"), Some("se@cret"), Some("shop")));
        assert_eq!(
            (opts.get_ip_or_hostname().as_ref(), opts.get_tcp_port(), opts.get_socket()),
            ("db.example", 3307, None)
        );
        for url in [
            "mysql://me@/shop?socket=/a%20b/s",
            "mysql:///shop?socket=/a b/s",
            "mysql://me@localhost/shop?socket=/a b/s",
        ] {
            let place = place(url).unwrap();
            assert_eq!((place.opts.get_socket(), place.database().unwrap()), (Some("/a b/s"), "shop"), "{url}");
            assert!(place.may_be_here());
        }
        assert!(!place("mysql://db.example/x").unwrap().may_be_here());
        assert!(place("mysql://127.0.0.1").unwrap().database().is_err());
    }

    #[test]
    fn invalid_mysql_address_is_refused_without_password() {
        for url in
            ["mysql://me:secret@h:port/x", "mysql://me:secret@h/x?sokcet=/s", "mysql://me:secret@h/x?pool_min=secret"]
        {
            let failure = place(url).err().expect(url);
            assert!(failure.message.contains("socket=PATH") && !failure.message.contains("secret@"), "{failure}");
        }
    }
}
