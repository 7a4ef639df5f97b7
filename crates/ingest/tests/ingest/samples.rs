//! Inputs of real systems, in the folder named by `PLIMSOLL_SAMPLES`: they are not part of the repository.
#![expect(clippy::disallowed_methods, reason = "tests of a pure crate that read files of the machine")]
#![expect(clippy::print_stderr, reason = "skipped tests report the reason")]

use std::path::{Path, PathBuf};

/// Name and bytes of every sample in the folders of these kinds, or of all kinds if none is listed. Without the variable,
/// prints a notice and returns none.
pub fn samples(kinds: &[&str]) -> Vec<(String, Vec<u8>)> {
    let Some(folder) = std::env::var_os("PLIMSOLL_SAMPLES").map(PathBuf::from) else {
        eprintln!("skipped: PLIMSOLL_SAMPLES names no folder of reports");
        return Vec::new();
    };
    let inside = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).expect("the folder of samples can be read");
        entries.map(|entry| entry.expect("its entries can be read").path()).collect()
    };
    let is_wanted = |path: &PathBuf| {
        let is_kind = |kind: &&str| path.file_name().is_some_and(|name| name == *kind);
        path.is_dir() && (kinds.is_empty() || kinds.iter().any(is_kind))
    };
    let folders = inside(&folder).into_iter().filter(is_wanted);
    let mut paths: Vec<PathBuf> = folders.flat_map(|folder| inside(&folder)).filter(|path| path.is_file()).collect();
    paths.sort();
    let name = |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let read = |path: &PathBuf| std::fs::read(path).expect("a sample can be read");
    paths.iter().map(|path| (name(path), read(path))).collect()
}
