//! Hosts that run fio as a server, and the client's arguments for them.

use std::str::FromStr;

use thiserror::Error;

use super::command::JobFile;

/// Hosts that share the load, with the same path on each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts {
    /// In the format of fio's client: `name`, `name,port`, `ip6:address,port`.
    names: Vec<String>,
    /// The file or device on each host.
    pub path: String,
}

/// Invalid hosts or path.
#[plimsoll_language::say_errors]
#[derive(Debug, Error, PartialEq, Eq)]
pub enum HostError {
    #[error("{0:?} is not a host: use names separated by commas, with optional ports, such as db1,db2:8766")]
    Name(String),
    /// A path that a job file cannot express.
    #[error("{0}: paths on other hosts must not contain blanks or any of ; # $ \\: use another path")]
    Path(String),
}

impl Hosts {
    /// Parses hosts such as `db1,db2:8766,[::1]:8765`, and the absolute path on each.
    pub fn new(names: &[String], path: &str) -> Result<Self, HostError> {
        let is_plain = |c: char| !c.is_whitespace() && !c.is_control() && !";#$\\".contains(c);
        if !path.starts_with('/') || !path.chars().all(is_plain) {
            return Err(HostError::Path(path.into()));
        }
        let each: Result<Vec<_>, _> = names.iter().map(|name| name.parse().map(|FioHostName(name)| name)).collect();
        Ok(Self { names: each?, path: path.into() })
    }

    /// Number of hosts.
    pub const fn count(&self) -> u32 {
        self.names.len() as u32
    }

    /// Arguments of a client with the job file of each host; hosts without jobs are omitted.
    pub(super) fn arguments(&self, files: &[JobFile]) -> Vec<String> {
        let with_jobs = self.names.iter().zip(files).filter(|(_, file)| !file.is_empty());
        with_jobs.flat_map(|(name, file)| [format!("--client={name}"), file.path()]).collect()
    }
}

struct FioHostName(String);

impl FromStr for FioHostName {
    type Err = HostError;

    fn from_str(text: &str) -> Result<Self, HostError> {
        let invalid = || HostError::Name(text.into());
        let (kind, name, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (address, rest) = rest.split_once(']').ok_or_else(invalid)?;
                let port = if rest.is_empty() { None } else { Some(rest.strip_prefix(':').ok_or_else(invalid)?) };
                address.parse::<std::net::Ipv6Addr>().map_err(|_| invalid())?;
                ("ip6:", address, port)
            }
            None => match text.split_once(':') {
                Some((name, port)) => ("", name, Some(port)),
                None => ("", text, None),
            },
        };
        let is_name_char = |c: char| c.is_ascii_alphanumeric() || ".-_:".contains(c);
        if name.is_empty() || !name.chars().all(is_name_char) || name.starts_with('-') {
            return Err(invalid());
        }
        Ok(Self(match port {
            None => format!("{kind}{name}"),
            Some(port) => format!("{kind}{name},{}", port.parse::<u16>().map_err(|_| invalid())?),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_the_format_of_fio() {
        let check = |name: &str, expected: Option<&str>| {
            let hosts = Hosts::new(&[name.to_owned()], "/dev/vdb");
            let found = hosts.as_ref().ok().map(|hosts| hosts.names.join(" "));
            assert_eq!(found.as_deref(), expected, "{name:?}");
        };
        check("db1", Some("db1"));
        check("db1.example:8766", Some("db1.example,8766"));
        check("127.0.0.1:1", Some("127.0.0.1,1"));
        check("[::1]:8765", Some("ip6:::1,8765"));
        check("[::1]", Some("ip6:::1"));
        for invalid in ["", "db1:", "db1:99999", "::1", "-x", "a b", "[::1", "[x]", "sock:/x", "a,b"] {
            check(invalid, None);
        }
    }

    #[test]
    fn paths_that_job_files_cannot_express_are_refused() {
        let names = ["db1".to_owned()];
        for path in ["/a b", "/a;b", "/a#b", "/${HOME}", "relative", "/a\nb", "", "/a\\b"] {
            assert!(Hosts::new(&names, path).is_err(), "{path:?}");
        }
        assert!(Hosts::new(&names, "/dev/disk/by-id/nvme-x:1").is_ok());
    }
}
