//! Where an export is: `nbd://host:port/export` and `nbd+unix:///export?socket=PATH`, as the NBD URI specification
//! (NetworkBlockDevice/nbd, `doc/uri.md`) has them.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use super::wire::{PORT, TEXT_MAX};

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// On a network.
    Tcp {
        /// Name or number.
        name: String,
        /// Port.
        port: u16,
    },
    /// On this machine.
    Unix(PathBuf),
}

/// An export of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Its server.
    pub host: Host,
    /// Its name; empty for the server's default.
    pub export: String,
}

/// A text that is no address of an export.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not an NBD export: {why}; write nbd://host:port/export or nbd+unix:///export?socket=PATH")]
pub struct NoAddress {
    text: String,
    why: &'static str,
}

impl Address {
    /// True when a text is meant as an address of NBD rather than as a path.
    pub fn is_meant(text: &str) -> bool {
        ["nbd:", "nbds:", "nbd+", "nbds+"].iter().any(|scheme| text.starts_with(scheme))
    }
}

impl FromStr for Address {
    type Err = NoAddress;

    fn from_str(text: &str) -> Result<Self, NoAddress> {
        parsed(text).map_err(|why| NoAddress { text: text.to_owned(), why })
    }
}

fn parsed(text: &str) -> Result<Address, &'static str> {
    let (scheme, rest) = text.split_once("://").ok_or("it has no scheme with ://")?;
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, path) = place.split_once('/').unwrap_or((place, ""));
    let export = decoded(path).ok_or("its name has a % without two hexadecimal digits")?;
    if export.len() > TEXT_MAX {
        return Err("a name has at most 4096 bytes");
    }
    let host = match scheme {
        "nbd" => tcp(authority)?,
        "nbd+unix" if !authority.is_empty() => return Err("nbd+unix is followed by :/// and has no host"),
        "nbd+unix" => {
            let socket = query.split('&').find_map(|pair| pair.strip_prefix("socket="));
            let path = decoded(socket.ok_or("?socket=PATH is missing")?);
            Host::Unix(path.ok_or("its socket has a % without two hexadecimal digits")?.into())
        }
        "nbds" | "nbds+unix" => return Err("TLS is not spoken here"),
        _ => return Err("its scheme is none of nbd and nbd+unix"),
    };
    Ok(Address { host, export })
}

fn tcp(authority: &str) -> Result<Host, &'static str> {
    let after_user = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (name, port) = match after_user.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((name, port)) => (name, port.strip_prefix(':')),
        None => match after_user.rsplit_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (after_user, None),
        },
    };
    let port = match port.filter(|port| !port.is_empty()) {
        Some(port) => port.parse().map_err(|_| "its port is not a number up to 65535")?,
        None => PORT,
    };
    let name = if name.is_empty() { "localhost" } else { name };
    Ok(Host::Tcp { name: name.to_owned(), port })
}

/// Without percent signs; `None` where one is not followed by two hexadecimal digits, or no UTF-8 comes of it.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        if first == b'%' {
            let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).ok()
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, export } = self;
        match host {
            Host::Tcp { name, port } if name.contains(':') => write!(f, "nbd://[{name}]:{port}/{export}"),
            Host::Tcp { name, port } => write!(f, "nbd://{name}:{port}/{export}"),
            Host::Unix(path) => write!(f, "nbd+unix:///{export}?socket={}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&str, &str>) {
        match (text.parse::<Address>(), expected) {
            (Ok(address), Ok(shown)) => assert_eq!(address.to_string(), shown, "{text}"),
            (Err(error), Err(why)) => assert!(error.to_string().contains(why), "{text}: {error}"),
            (found, expected) => panic!("{text}: {found:?}, not {expected:?}"),
        }
    }

    #[test]
    fn addresses_are_read() {
        check("nbd://localhost", Ok("nbd://localhost:10809/"));
        check("nbd://db1:9000/data", Ok("nbd://db1:9000/data"));
        check("nbd://[::1]:9000/a/b", Ok("nbd://[::1]:9000/a/b"));
        check("nbd:///data", Ok("nbd://localhost:10809/data"));
        check("nbd+unix:///my%20data?socket=/run/p.sock", Ok("nbd+unix:///my data?socket=/run/p.sock"));
        check("nbd+unix:///?x=1&socket=a%2fb", Ok("nbd+unix:///?socket=a/b"));
        check("nbd+unix:///", Err("?socket=PATH is missing"));
        check("nbd+unix://host/?socket=x", Err("has no host"));
        check("nbds://localhost", Err("TLS"));
        check("nbd://a:b/", Err("port"));
        check("nbd://a/%2", Err("%"));
        check("nbd:host", Err("://"));
        check("http://a/", Err("scheme"));
        assert!(Address::is_meant("nbds://x") && !Address::is_meant("./nbd"));
    }
}
