//! Addresses of Oracle services: `oracle://USER:PASSWORD@HOST:PORT/SERVICE`.

use plimsoll_database::{DatabaseAddress, Failure, FailureKind};

/// A parsed address. Its password is never printed.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct OracleLocation {
    pub(super) user: String,
    pub(super) password: String,
    /// Host name without port.
    pub(super) host: String,
    /// Easy Connect string: `host:port/service`.
    pub(super) service: String,
}

impl OracleLocation {
    /// Parses an address.
    pub(super) fn of(address: &DatabaseAddress) -> Result<Self, Failure> {
        let wrong = || {
            let advice = "write oracle://USER:PASSWORD@HOST:PORT/SERVICE, with %40 for an @ in a name or password";
            Failure::new(FailureKind::Unreachable, format!("{address}: {advice}"))
        };
        let rest = address.url.strip_prefix("oracle://").ok_or_else(wrong)?;
        let rest = rest.split('?').next().unwrap_or_default();
        // A password may contain an unescaped @; a host name cannot.
        let (who, at) = rest.rsplit_once('@').ok_or_else(wrong)?;
        let (user, password) = who.split_once(':').unwrap_or((who, ""));
        let (server, service) = at.split_once('/').ok_or_else(wrong)?;
        let (host, port) = split_port(server);
        if user.is_empty()
            || host.is_empty()
            || service.is_empty()
            || port.is_some_and(|port| port.parse::<u16>().is_err())
        {
            return Err(wrong());
        }
        Ok(Self {
            user: decoded(user),
            password: decoded(password),
            host: host.trim_matches(['[', ']']).into(),
            service: format!("{host}:{}/{service}", port.unwrap_or("1521")),
        })
    }

    /// True if the service is on this machine.
    pub(super) fn is_here(&self) -> bool {
        ["localhost", "127.0.0.1", "::1"].contains(&self.host.as_str())
    }
}

/// Splits host and port. IPv6 addresses are in brackets.
fn split_port(server: &str) -> (&str, Option<&str>) {
    let named = server.rfind(']').map_or(0, |end| end + 1);
    match server[named..].find(':') {
        Some(colon) => (&server[..named + colon], Some(&server[named + colon + 1..])),
        None => (server, None),
    }
}

/// Decodes `%40` and the like.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = after.get(..2).filter(|_| *first == b'%').and_then(|hex| std::str::from_utf8(hex).ok());
        let encoded = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        bytes.push(encoded.unwrap_or(*first));
        rest = if encoded.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oracle_addresses_are_parsed() {
        let check = |url: &str, user: &str, password: &str, service: &str, here: bool| {
            let place = OracleLocation::of(&url.parse().unwrap()).unwrap();
            let observed = (place.user.as_str(), place.password.as_str(), place.service.as_str(), place.is_here());
            assert_eq!(observed, (user, password, service, here));
        };
        check("oracle://slob:slob@db.example/orcl", "slob", "slob", "db.example:1521/orcl", false);
        check("oracle://a:b%40c%3a@localhost:1522/x.y?z=1", "a", "b@c:", "localhost:1522/x.y", true);
        check("oracle://a:b@c@[::1]:1522/x", "a", "b@c", "[::1]:1522/x", true);
        check("oracle://a:100%@[::1]/x", "a", "100%", "[::1]:1521/x", true);
        check("oracle://a@h/x", "a", "", "h:1521/x", false);
        for wrong in
            ["oracle://h/x", "oracle://a:b@h", "oracle://a:b@h:no/x", "oracle://:b@h/x", "oracle://a:secret@/x"]
        {
            let failure = OracleLocation::of(&wrong.parse().unwrap()).err().unwrap();
            assert!(failure.kind == FailureKind::Unreachable && !failure.message.contains("secret"), "{failure}");
        }
    }
}
