//! Addresses of exports: `nbd://host:port/export` and `nbd+unix:///export?socket=PATH` of the NBD URI specification
//! (NetworkBlockDevice/nbd, `doc/uri.md`); `nbds` instead of `nbd` for TLS, with the parameters of libnbd.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use super::wire::{PORT, TEXT_MAX};
use crate::tls::ServerNames;

/// Address of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NbdHost {
    Tcp {
        /// Host name or IP address.
        name: String,
        port: u16,
    },
    /// Unix socket.
    Unix(PathBuf),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportAddress {
    pub host: NbdHost,
    /// Export name; empty for the server's default.
    pub export: String,
    /// TLS, if requested.
    pub tls: Option<Encryption>,
}

/// TLS parameters of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encryption {
    /// Directory of the authority's and the client's certificate (`tls-certificates`).
    pub certificates: Option<PathBuf>,
    /// Required names in the server's certificate (`tls-verify-peer`).
    pub names: ServerNames,
    /// Required name in the server's certificate (`tls-hostname`), if not the host of the address.
    pub hostname: Option<String>,
}

/// Not an address of an export.
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not an NBD export: {why}; write nbd://host:port/export or nbd+unix:///export?socket=PATH")]
pub struct NoNbdAddress {
    text: String,
    why: &'static str,
}

impl ExportAddress {
    /// True if a text is intended as an NBD address rather than a path.
    pub fn is_meant(text: &str) -> bool {
        ["nbd:", "nbds:", "nbd+", "nbds+"].iter().any(|scheme| text.starts_with(scheme))
    }
}

impl FromStr for ExportAddress {
    type Err = NoNbdAddress;

    fn from_str(text: &str) -> Result<Self, NoNbdAddress> {
        parsed(text).map_err(|why| NoNbdAddress { text: text.to_owned(), why })
    }
}

fn parsed(text: &str) -> Result<ExportAddress, &'static str> {
    let (scheme, rest) = text.split_once("://").ok_or("it has no scheme with ://")?;
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, path) = place.split_once('/').unwrap_or((place, ""));
    let export = decoded(path).ok_or("its name has a % without two hexadecimal digits")?;
    if export.len() > TEXT_MAX {
        return Err("a name has at most 4096 bytes");
    }
    let (network, tls) = match scheme {
        "nbd" => (Network::Tcp, false),
        "nbds" => (Network::Tcp, true),
        "nbd+unix" => (Network::Unix, false),
        "nbds+unix" => (Network::Unix, true),
        _ => return Err("its scheme is none of nbd, nbd+unix, nbds and nbds+unix"),
    };
    let parameters = parse_parameters(query)?;
    let host = match network {
        Network::Tcp => tcp(authority)?,
        Network::Unix if !authority.is_empty() => return Err("nbd+unix is followed by :/// and has no host"),
        Network::Unix => {
            let socket = parameters.iter().find(|(name, _)| *name == "socket");
            NbdHost::Unix(socket.ok_or("?socket=PATH is missing")?.1.as_str().into())
        }
    };
    let tls = if tls { Some(encryption(&host, &parameters)?) } else { None };
    Ok(ExportAddress { host, export, tls })
}

enum Network {
    Tcp,
    Unix,
}

/// Names and values of the query. Unknown parameters are ignored.
fn parse_parameters(query: &str) -> Result<Vec<(&str, String)>, &'static str> {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let read = |(name, value)| Some((name, decoded(value)?));
    pairs.map(|pair| read(pair).ok_or("a parameter has a % without two hexadecimal digits")).collect()
}

fn encryption(host: &NbdHost, parameters: &[(&str, String)]) -> Result<Encryption, &'static str> {
    let value = |name: &str| parameters.iter().find(|(found, _)| *found == name).map(|(_, value)| value);
    if value("tls-psk-file").is_some() || value("tls-username").is_some() {
        return Err("pre-shared keys are not supported: use certificates");
    }
    let hostname = value("tls-hostname").cloned();
    let names = match value("tls-verify-peer").map(String::as_str) {
        Some("false" | "0" | "no" | "off") => ServerNames::Anyone,
        None | Some("true" | "1" | "yes" | "on") if hostname.is_some() || matches!(host, NbdHost::Tcp { .. }) => {
            ServerNames::Matching
        }
        None | Some("true" | "1" | "yes" | "on") => ServerNames::Any,
        Some(_) => return Err("tls-verify-peer is neither true nor false"),
    };
    Ok(Encryption { certificates: value("tls-certificates").map(PathBuf::from), names, hostname })
}

fn tcp(authority: &str) -> Result<NbdHost, &'static str> {
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
    Ok(NbdHost::Tcp { name: name.to_owned(), port })
}

/// Decodes percent-encoding; `None` for an incomplete escape or invalid UTF-8.
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

impl fmt::Display for ExportAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, export, tls } = self;
        let (s, export) = (if tls.is_some() { "s" } else { "" }, Encoded(export));
        match host {
            NbdHost::Tcp { name, port } if name.contains(':') => write!(f, "nbd{s}://[{name}]:{port}/{export}")?,
            NbdHost::Tcp { name, port } => write!(f, "nbd{s}://{name}:{port}/{export}")?,
            NbdHost::Unix(path) => write!(f, "nbd{s}+unix:///{export}?socket={}", Encoded(&path.to_string_lossy()))?,
        }
        let Some(Encryption { certificates, names, hostname }) = tls else { return Ok(()) };
        let certificates = certificates.iter().map(|path| ("tls-certificates", path.to_string_lossy()));
        let anyone = (*names == ServerNames::Anyone).then_some(("tls-verify-peer", "false".into()));
        let hostname = hostname.iter().map(|name| ("tls-hostname", name.into()));
        let first = if matches!(host, NbdHost::Tcp { .. }) { '?' } else { '&' };
        for (number, (name, value)) in certificates.chain(anyone).chain(hostname).enumerate() {
            write!(f, "{}{name}={}", if number == 0 { first } else { '&' }, Encoded(&value))?;
        }
        Ok(())
    }
}

/// Percent-encodes all characters that are special in an address or on a command line.
struct Encoded<'a>(&'a str);

impl fmt::Display for Encoded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~/:@+,".contains(&byte) {
                write!(f, "{}", char::from(byte))?;
            } else {
                write!(f, "%{byte:02X}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&str, &str>) {
        match (text.parse::<ExportAddress>(), expected) {
            (Ok(address), Ok(displayed)) => assert_eq!(address.to_string(), displayed, "{text}"),
            (Err(error), Err(why)) => assert!(error.to_string().contains(why), "{text}: {error}"),
            (found, expected) => panic!("{text}: {found:?}, not {expected:?}"),
        }
    }

    #[test]
    fn addresses_are_parsed() {
        check("nbd://localhost", Ok("nbd://localhost:10809/"));
        check("nbd://db1:9000/data", Ok("nbd://db1:9000/data"));
        check("nbd://[::1]:9000/a/b", Ok("nbd://[::1]:9000/a/b"));
        check("nbd:///data", Ok("nbd://localhost:10809/data"));
        check("nbd+unix:///my%20data?socket=/run/p.sock", Ok("nbd+unix:///my%20data?socket=/run/p.sock"));
        check("nbd+unix:///?x=1&socket=a%2fb", Ok("nbd+unix:///?socket=a/b"));
        check("nbd+unix:///", Err("?socket=PATH is missing"));
        check("nbd+unix://host/?socket=x", Err("has no host"));
        check("nbds://localhost", Ok("nbds://localhost:10809/"));
        check("nbds://a/x?tls-certificates=/pki%20x", Ok("nbds://a:10809/x?tls-certificates=/pki%20x"));
        check(
            "nbds+unix:///?tls-hostname=db&socket=s&tls-certificates=p",
            Ok("nbds+unix:///?socket=s&tls-certificates=p&tls-hostname=db"),
        );
        check("nbds://a/?tls-verify-peer=false", Ok("nbds://a:10809/?tls-verify-peer=false"));
        check("nbds://a/?tls-verify-peer=maybe", Err("neither true nor false"));
        check("nbds://a/?tls-psk-file=keys", Err("pre-shared keys"));
        check("nbd://a:b/", Err("port"));
        check("nbd://a/%2", Err("%"));
        check("nbd:host", Err("://"));
        check("http://a/", Err("scheme"));
        let names = |text: &str| text.parse::<ExportAddress>().unwrap().tls.unwrap().names;
        assert_eq!(names("nbds://a/"), ServerNames::Matching);
        assert_eq!(names("nbds+unix:///?socket=s"), ServerNames::Any);
        assert_eq!(names("nbds+unix:///?socket=s&tls-hostname=db"), ServerNames::Matching);
        assert!(ExportAddress::is_meant("nbds://x") && !ExportAddress::is_meant("./nbd"));
    }
}
