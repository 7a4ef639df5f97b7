//! Installed programs of PostgreSQL.

use std::path::{Path, PathBuf};
use std::process::Command;

use plimsoll_language::{label, say};

use crate::failure::{Failure, FailureKind};

/// Directories of side-by-side versions: parent and prefix.
const PLACES: [(&str, &str); 2] = [("/usr/lib/postgresql", ""), ("/usr", "pgsql-")];

/// Variable with the directory of the programs to use.
const VARIABLE: &str = "PLIMSOLL_POSTGRES_BIN";

/// Directory with `initdb` and `postgres` named by the user, or else of the newest installed version.
///
/// # Errors
/// No version is installed, or the named directory has none.
pub(super) fn newest() -> Result<PathBuf, Failure> {
    if let Some(folder) = std::env::var_os(VARIABLE).map(PathBuf::from) {
        return if is_complete(&folder) {
            Ok(folder)
        } else {
            let line = say!("{VARIABLE}: {}: there is no initdb or postgres: correct or unset it", folder.display());
            Err(Failure::new(FailureKind::Unsupported, line))
        };
    }
    let side_by_side = PLACES.iter().filter_map(|(folder, prefix)| newest_in(Path::new(folder), prefix)).max();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = || std::env::split_paths(&path).find(|folder| is_complete(folder));
    side_by_side.map(|(_, folder)| folder).or_else(on_path).ok_or_else(|| {
        Failure::new(
            FailureKind::Unsupported,
            label!("no PostgreSQL server is installed here: install the package postgresql (or postgresql-server), or give the address of a server"),
        )
    })
}

/// Major version of the server program; 0 if unknown.
pub(super) fn read_version(programs: &Path) -> u32 {
    let output = Command::new(programs.join("postgres")).arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    major(&text)
}

/// From `postgres (PostgreSQL) 15.13 (Debian 15.13-0+deb12u1)`.
fn major(text: &str) -> u32 {
    let number = text.split_whitespace().find(|word| word.starts_with(|first: char| first.is_ascii_digit()));
    let digits = number.and_then(|word| word.split(|letter: char| !letter.is_ascii_digit()).next());
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

fn newest_in(folder: &Path, prefix: &str) -> Option<(u32, PathBuf)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let versions = entries.filter_map(|entry| {
        let version = entry.file_name().to_str()?.strip_prefix(prefix)?.parse().ok()?;
        Some((version, entry.path().join("bin")))
    });
    versions.filter(|(_, folder)| is_complete(folder)).max()
}

fn is_complete(folder: &Path) -> bool {
    ["initdb", "postgres"].iter().all(|name| folder.join(name).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_is_parsed() {
        assert_eq!(major("postgres (PostgreSQL) 15.13 (Debian 15.13-0+deb12u1)\n"), 15);
        assert_eq!(major("postgres (PostgreSQL) 18beta1"), 18);
        assert_eq!(major(""), 0);
    }

    #[test]
    fn newest_version_is_numeric() {
        let top = std::env::temp_dir().join(format!("plimsoll-programs-{}", std::process::id()));
        for version in ["9", "15", "16"] {
            let folder = top.join(version).join("bin");
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("initdb"), "").unwrap();
            // The newest version has only client programs.
            if version != "16" {
                std::fs::write(folder.join("postgres"), "").unwrap();
            }
        }
        assert_eq!(newest_in(&top, "").unwrap().1, top.join("15/bin"));
        assert!(newest_in(&top, "pgsql-").is_none() && newest_in(&top.join("none"), "").is_none());
        std::fs::remove_dir_all(&top).unwrap();
    }
}
