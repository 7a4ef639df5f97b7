//! The installed fio and its version.

use std::process::{Command, Output};

use thiserror::Error;

/// The oldest supported version: the first with `sync=dsync`.
const MIN_VERSION: (u32, u32) = (3, 20);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// Its version, such as `3.33`.
    pub version: String,
    /// It has `io_uring` compiled in.
    pub has_ring: bool,
}

/// No usable fio.
#[plimsoll_language::say_errors]
#[derive(Debug, Error)]
pub enum FioError {
    /// It cannot be started.
    #[error("fio cannot be started ({0}): install it (apt install fio), or omit --engine")]
    Absent(std::io::Error),
    /// The program is not fio.
    #[error("unexpected output {0:?} of fio --version: install fio (apt install fio)")]
    Unknown(String),
    /// The version is too old.
    #[error("fio {} is too old: install {}.{} or newer (apt install fio)", .0, MIN_VERSION.0, MIN_VERSION.1)]
    Old(String),
}

impl Installed {
    /// The fio in the search path.
    pub fn find() -> Result<Self, FioError> {
        let output_of = |argument| {
            Command::new("fio").arg(argument).output().map(|output| join_output(&output)).map_err(FioError::Absent)
        };
        let version = parse_version(&output_of("--version")?)?;
        Ok(Self { version, has_ring: output_of("--enghelp")?.split_whitespace().any(|word| word == "io_uring") })
    }

    pub fn command(&self) -> Command {
        Command::new("fio")
    }
}

fn join_output(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Parses `fio-3.33`, `fio-3.36-117-gb2403` as `3.33` and `3.36-117-gb2403`.
fn parse_version(output: &str) -> Result<String, FioError> {
    let unknown = || FioError::Unknown(output.lines().next().unwrap_or_default().chars().take(80).collect());
    let version = output.trim().strip_prefix("fio-").ok_or_else(unknown)?;
    let mut numbers = version.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    let (Some(Ok(major)), Some(Ok(minor))) = (numbers.next(), numbers.next()) else { return Err(unknown()) };
    if (major, minor) < MIN_VERSION {
        return Err(FioError::Old(version.into()));
    }
    Ok(version.into())
}

#[cfg(test)]
mod tests {
    use super::parse_version;

    #[test]
    fn versions_are_parsed() {
        let check = |output: &str, expected: Result<&str, &str>| match (parse_version(output), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected),
            (Err(error), Err(expected)) => assert!(error.to_string().contains(expected), "{output:?}: {error}"),
            (found, _) => panic!("{output:?}: {found:?}"),
        };
        check("fio-3.33\n", Ok("3.33"));
        check("fio-3.36-117-gb2403\n", Ok("3.36-117-gb2403"));
        check("fio-4.0\n", Ok("4.0"));
        check("fio-3.19\n", Err("too old: install 3.20"));
        check("fio-2.2.10\n", Err("too old"));
        check("fio: command\nnot found", Err("unexpected output"));
        check("", Err("unexpected output"));
    }
}
