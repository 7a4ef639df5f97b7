//! Directories of the user: kept runs, and configuration.

use std::path::PathBuf;

use plimsoll_measure::RunStore;

/// Environment variable with the directory of kept runs.
const RUNS_VARIABLE: &str = "PLIMSOLL_RUNS";

/// The kept runs of the user.
pub fn runs() -> RunStore {
    RunStore { folder: runs_folder() }
}

/// `plimsoll` in the user's configuration directory (XDG base directories).
pub fn config_folder() -> Option<PathBuf> {
    let config = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".config"));
    Some(config.or_else(home)?.join("plimsoll"))
}

/// The directory of kept runs: `PLIMSOLL_RUNS`, or `plimsoll/runs` in the user's state directory (XDG base
/// directories).
pub fn runs_folder() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os(RUNS_VARIABLE) {
        return Some(folder.into());
    }
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/state"));
    Some(state.or_else(home)?.join("plimsoll/runs"))
}
