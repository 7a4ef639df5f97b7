//! Directories of the user: kept runs, and configuration.

use std::path::{Path, PathBuf};

use plimsoll_measure::RunStore;

/// Environment variable with the directory of kept runs.
const RUNS_VARIABLE: &str = "PLIMSOLL_RUNS";

/// The kept runs of the user.
pub fn runs() -> RunStore {
    RunStore { folder: runs_folder() }
}

/// The name of a run if it is a file: not of a kept run.
pub fn file_of(name: Option<&Path>) -> Option<&Path> {
    name.filter(|name| name.is_file())
}

/// A directory of the user by the variable of the XDG base directories, or below the home directory.
pub fn user_directory(variable: &str, below_home: &str) -> Option<PathBuf> {
    let named = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    named.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(below_home)))
}

/// `plimsoll` in the user's configuration directory.
pub fn config_folder() -> Option<PathBuf> {
    Some(user_directory("XDG_CONFIG_HOME", ".config")?.join("plimsoll"))
}

/// The directory of kept runs: `PLIMSOLL_RUNS`, or `plimsoll/runs` in the user's state directory.
fn runs_folder() -> Option<PathBuf> {
    let named = std::env::var_os(RUNS_VARIABLE).map(PathBuf::from);
    named.or_else(|| Some(user_directory("XDG_STATE_HOME", ".local/state")?.join("plimsoll/runs")))
}
