//! The origin of the console, as browsers write it: scheme, accepted names, and port.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio_rustls::rustls::ServerConfig;

/// Names of the loopback interface.
const LOOPBACK: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];
/// Ports that browsers leave out of an origin of `http` and `https`.
const DEFAULT_PORTS: [u16; 2] = [80, 443];

/// TLS of a console that other hosts reach.
#[derive(Clone)]
pub struct WebTls {
    /// Certificate and key.
    pub config: Arc<ServerConfig>,
    /// Names and addresses by which browsers open the console; the first is printed.
    pub names: Vec<String>,
}

/// Scheme, names and port.
#[derive(Debug)]
pub struct WebOrigin {
    is_tls: bool,
    /// Lower case; an IPv6 address in brackets.
    names: Vec<String>,
    port: u16,
    /// Host of printed URLs.
    host: String,
}

impl WebOrigin {
    /// Origin of a listening address. Refused if other hosts reach it and there is no TLS, or no name.
    pub fn new(address: SocketAddr, tls: Option<&WebTls>) -> io::Result<Self> {
        let refused = |why: String| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        let port = address.port();
        let Some(tls) = tls else {
            if !address.ip().is_loopback() {
                return refused(format!("{address} is reachable from other hosts: TLS is needed"));
            }
            let own = host_name(&address.ip().to_string());
            let names = LOOPBACK.map(str::to_owned).into_iter().chain([own.clone()]).collect();
            return Ok(Self { is_tls: false, names, port, host: with_port(false, own, port) });
        };
        let names: Vec<String> = tls.names.iter().map(|name| host_name(name)).collect();
        let Some(first) = names.first() else {
            return refused(format!("{address}: the name by which browsers open the console is needed"));
        };
        let host = with_port(true, first.clone(), port);
        Ok(Self { is_tls: true, names, port, host })
    }

    /// URL of the console, without a path.
    pub fn url(&self) -> String {
        self.of_host(&self.host)
    }

    /// Value of `Origin` of a page that was opened by this value of `Host`.
    pub fn of_host(&self, host: &str) -> String {
        format!("{}://{host}", if self.is_tls { "https" } else { "http" })
    }

    /// True for an accepted name with the port of this server.
    pub fn has_host(&self, host: &str) -> bool {
        let port = self.port.to_string();
        let name = match host.rsplit_once(':') {
            Some((name, digits)) if digits == port => name,
            _ if self.port == default_port(self.is_tls) => host,
            _ => return false,
        };
        self.names.iter().any(|own| own.eq_ignore_ascii_case(name))
    }

    /// True if connections are encrypted.
    pub const fn is_tls(&self) -> bool {
        self.is_tls
    }

    /// Name of the session cookie. Cookies do not distinguish ports, so the name has to.
    pub fn cookie_name(&self) -> String {
        format!("plimsoll-{}", self.port)
    }
}

impl fmt::Debug for WebTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebTls").field("names", &self.names).finish_non_exhaustive()
    }
}

/// The port that browsers leave out.
const fn default_port(is_tls: bool) -> u16 {
    DEFAULT_PORTS[is_tls as usize]
}

/// The host as browsers write it.
fn with_port(is_tls: bool, name: String, port: u16) -> String {
    if port == default_port(is_tls) { name } else { format!("{name}:{port}") }
}

/// A name as in `Host`: IPv6 addresses have brackets.
fn host_name(name: &str) -> String {
    let is_bare = name.contains(':') && !name.starts_with('[');
    if is_bare { format!("[{name}]") } else { name.to_ascii_lowercase() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(origin: &WebOrigin, own: &[&str], foreign: &[&str]) {
        for host in own {
            assert!(origin.has_host(host), "{host}");
        }
        for host in foreign {
            assert!(!origin.has_host(host), "{host}");
        }
    }

    #[test]
    fn only_loopback_names_with_the_port_are_own() {
        let origin = WebOrigin::new("127.0.0.1:7580".parse().unwrap(), None).unwrap();
        let foreign =
            ["127.0.0.1", "127.0.0.1:80", "evil.example:7580", "localhost.evil.example:7580", "", "[::2]:7580"];
        check(&origin, &["127.0.0.1:7580", "localhost:7580", "[::1]:7580"], &foreign);
        assert_eq!(origin.url(), "http://127.0.0.1:7580");
        let other = WebOrigin::new("127.0.0.2:80".parse().unwrap(), None).unwrap();
        check(&other, &["127.0.0.2", "127.0.0.2:80", "localhost"], &["127.0.0.3", "127.0.0.2:8080", "evil.example"]);
        assert_eq!(other.url(), "http://127.0.0.2");
    }

    #[test]
    fn only_given_names_are_own_with_tls() {
        let of = |port: u16| WebOrigin {
            is_tls: true,
            names: ["Db1.example", "::2"].map(host_name).to_vec(),
            port,
            host: "db1.example".into(),
        };
        let foreign = ["127.0.0.1:7580", "db1.example", "db1.example:443", "db1.example.evil:7580", ""];
        check(&of(7580), &["db1.example:7580", "DB1.example:7580", "[::2]:7580"], &foreign);
        check(&of(443), &["db1.example", "db1.example:443", "[::2]"], &["127.0.0.1", "evil.example"]);
        assert_eq!(of(443).url(), "https://db1.example");
    }

    #[test]
    fn addresses_of_other_hosts_need_tls() {
        assert!(WebOrigin::new("0.0.0.0:7580".parse().unwrap(), None).is_err());
    }
}
