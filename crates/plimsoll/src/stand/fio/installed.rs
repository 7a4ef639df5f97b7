//! Which fio is installed, and whether it can be used.

use std::process::{Command, Output};

use thiserror::Error;

/// The oldest version that is asked: the first with `sync=dsync`.
const OLDEST: (u32, u32) = (3, 20);

/// A fio that is installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// Its version, such as `3.33`.
    pub version: String,
    /// It has `io_uring` compiled in.
    pub has_ring: bool,
}

/// No fio that can be used.
#[derive(Debug, Error)]
pub enum NoFio {
    /// It could not be started.
    #[error("fio cannot be started ({0}): install it (apt install fio), or leave out --engine")]
    Absent(std::io::Error),
    /// What answered is no fio.
    #[error("fio --version says {0:?}, which is no version of it: install fio (apt install fio)")]
    Unknown(String),
    /// It lacks what is asked of it.
    #[error("fio {0} is too old: install {major}.{minor} or newer (apt install fio)", major = OLDEST.0, minor = OLDEST.1)]
    Old(String),
}

impl Installed {
    /// The fio that the search path leads to.
    pub fn find() -> Result<Self, NoFio> {
        let said =
            |argument| Command::new("fio").arg(argument).output().map(|output| text(&output)).map_err(NoFio::Absent);
        let version = version(&said("--version")?)?;
        Ok(Self { version, has_ring: said("--enghelp")?.split_whitespace().any(|word| word == "io_uring") })
    }

    /// A command that starts it.
    #[expect(clippy::unused_self, reason = "there is a command only where it is installed")]
    pub fn command(&self) -> Command {
        Command::new("fio")
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// `fio-3.33`, `fio-3.36-117-gb2403`, as `3.33` and `3.36-117-gb2403`.
fn version(said: &str) -> Result<String, NoFio> {
    let unknown = || NoFio::Unknown(said.lines().next().unwrap_or_default().chars().take(80).collect());
    let version = said.trim().strip_prefix("fio-").ok_or_else(unknown)?;
    let mut numbers = version.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    let (Some(Ok(major)), Some(Ok(minor))) = (numbers.next(), numbers.next()) else { return Err(unknown()) };
    if (major, minor) < OLDEST {
        return Err(NoFio::Old(version.into()));
    }
    Ok(version.into())
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn versions_are_read() {
        let check = |said: &str, expected: Result<&str, &str>| match (version(said), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected),
            (Err(error), Err(expected)) => assert!(error.to_string().contains(expected), "{said:?}: {error}"),
            (found, _) => panic!("{said:?}: {found:?}"),
        };
        check("fio-3.33\n", Ok("3.33"));
        check("fio-3.36-117-gb2403\n", Ok("3.36-117-gb2403"));
        check("fio-4.0\n", Ok("4.0"));
        check("fio-3.19\n", Err("too old: install 3.20"));
        check("fio-2.2.10\n", Err("too old"));
        check("fio: command\nnot found", Err("no version of it"));
        check("", Err("no version"));
    }
}
