//! Inputs of real systems, which are not kept here: they are looked for where `PLIMSOLL_SAMPLES` says.
#![expect(clippy::disallowed_methods, reason = "tests of a pure crate that read files of the machine")]

use std::path::PathBuf;

/// Every sample in the folders of these kinds, or of all: its name and its bytes. None, and a word about it, without
/// the variable.
pub fn samples(kinds: &[&str]) -> Vec<(String, Vec<u8>)> {
    let Some(folder) = std::env::var_os("PLIMSOLL_SAMPLES").map(PathBuf::from) else {
        eprintln!("skipped: PLIMSOLL_SAMPLES names no folder of reports");
        return Vec::new();
    };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let kind = entry.file_name().unwrap().to_string_lossy().into_owned();
        if entry.is_dir() && (kinds.is_empty() || kinds.contains(&kind.as_str())) {
            paths.extend(std::fs::read_dir(&entry).unwrap().map(|file| file.unwrap().path()));
        }
    }
    paths.retain(|path| path.is_file());
    paths.sort();
    paths.iter().map(|path| (path.display().to_string(), std::fs::read(path).unwrap())).collect()
}
