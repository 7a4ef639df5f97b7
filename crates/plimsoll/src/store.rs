//! Files that are written whole or not at all, and the folder in which runs are kept.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use plimsoll_record::{Curve, FormatError, SuiteRun};
use plimsoll_units::Bytes;

use crate::database::Snapshots;
use crate::trouble::Trouble;

/// A larger file is no run.
const LARGEST_RUN: u64 = 1 << 30;

/// The environment variable that names the folder of kept runs.
pub const RUNS_VARIABLE: &str = "PLIMSOLL_RUNS";

/// Writes `bytes` to `path` so that it is there whole or not at all: beside it first, then under its name.
pub fn write_whole(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    // A link stays a link: what it leads to is replaced.
    let path = &resolved(path);
    if path.exists() && !path.is_file() {
        // Replacing a device's node by a file would be worse than any write to it.
        return Err(anyhow!("writing {}: it is no regular file; - stands for standard output", path.display()));
    }
    let draft = draft_of(path);
    let written = File::create(&draft).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    let placed = written.and_then(|()| fs::rename(&draft, path));
    if placed.is_err() {
        // The draft may not be there; what matters is the first error.
        let _ = fs::remove_file(&draft);
    }
    placed.with_context(|| format!("writing {}", path.display()))
}

/// Finds out before measuring whether `path` can be written afterwards.
pub fn check_writable(path: &Path) -> Result<(), Trouble> {
    let refused = |why: &dyn std::fmt::Display| {
        Trouble::usage(format!(
            "{}: cannot be written ({why}): give a file in a folder that you can write to",
            path.display()
        ))
    };
    if path.is_dir() {
        return Err(refused(&"it is a directory"));
    }
    if path.exists() && !path.is_file() {
        return Err(refused(&"it is no regular file; - stands for standard output"));
    }
    let draft = draft_of(&resolved(path));
    File::create(&draft).map_err(|error| refused(&error))?;
    fs::remove_file(&draft).map_err(|error| refused(&error))
}

fn resolved(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn draft_of(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.part", std::process::id()))
}

/// The folder of kept runs: `PLIMSOLL_RUNS`, or `plimsoll/runs` in the user's state folder (XDG base directories).
pub fn runs_folder() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os(RUNS_VARIABLE) {
        return Some(folder.into());
    }
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/state"));
    Some(state.or_else(home)?.join("plimsoll/runs"))
}

/// What can be kept.
#[derive(Debug)]
pub enum Kept {
    /// Runs of one load.
    Curve(Box<Curve>),
    /// Steps of a classic benchmark.
    Suite(Box<SuiteRun>),
}

/// Keeps a run under a name made of its moment and its subject. Returns where.
pub fn keep(curve: &Curve) -> anyhow::Result<PathBuf> {
    let name = format!("{}-{}", curve.source.word(), curve.subject.name);
    keep_as(curve.started.as_deref(), &name, &curve.to_json())
}

/// Keeps a suite under a name made of its moment, its own name and its subject, and beside it the snapshots of its database,
/// which it names from then on. Returns where.
pub fn keep_suite(suite: &mut SuiteRun, snapshots: Option<Snapshots>) -> anyhow::Result<PathBuf> {
    let name = format!("{SUITE}{}-{}-{}", suite.suite, suite.source.word(), suite.subject.name);
    let path = place(suite.started.as_deref(), &name)?;
    if let Some((side, snapshots)) = suite.database.as_mut().zip(snapshots) {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        side.snapshots = snapshots.keep(&path.with_file_name(format!("{stem}-snapshots.jsonl")))?;
    }
    write_whole(&path, &suite.to_json())?;
    Ok(path)
}

/// Names of kept suites begin so after their moment.
const SUITE: &str = "suite-";

fn keep_as(started: Option<&str>, name: &str, bytes: &[u8]) -> anyhow::Result<PathBuf> {
    let path = place(started, name)?;
    write_whole(&path, bytes)?;
    Ok(path)
}

/// Where nothing is kept yet.
fn place(started: Option<&str>, name: &str) -> anyhow::Result<PathBuf> {
    let folder = runs_folder().ok_or_else(|| anyhow!("there is no home folder: set {RUNS_VARIABLE} to keep runs"))?;
    fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    let moment: String = started.unwrap_or("").chars().filter(char::is_ascii_digit).take(14).collect();
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let name: String = name.chars().take(50).collect();
    let stem = format!("{moment}-{}", name.trim_matches('-'));
    let mut path = folder.join(format!("{stem}.json"));
    let mut number = 1;
    while path.exists() {
        number += 1;
        path = folder.join(format!("{stem}-{number}.json"));
    }
    Ok(path)
}

/// The kept runs, oldest first.
pub fn kept() -> Vec<PathBuf> {
    let folder = runs_folder().and_then(|folder| fs::read_dir(folder).ok());
    let entries = folder.into_iter().flatten().flatten().map(|entry| entry.path());
    let mut runs: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    runs.sort();
    runs
}

/// Reads a run, or the last curve that was kept.
pub fn load_or_last(name: Option<&Path>) -> Result<Curve, Trouble> {
    let is_suite = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.split_once('-').is_some_and(|(_, rest)| rest.starts_with(SUITE))
    };
    let last = || {
        let newest = kept().into_iter().rev().find(|path| !is_suite(path));
        newest.ok_or_else(|| Trouble::usage("no run was kept yet: start with `plimsoll measure .`"))
    };
    match name {
        Some(name) => load(name),
        None => load(&last()?),
    }
}

/// Reads a run whose load can be generated again, which that of a replay cannot.
pub fn load_generated(name: Option<&Path>) -> Result<Curve, Trouble> {
    let curve = load_or_last(name)?;
    match &curve.conditions.trace {
        None => Ok(curve),
        Some(trace) => Err(Trouble::usage(format!(
            "this run replayed {}: try its load on others with plimsoll simulate CONFIG --replay {0}",
            trace.name
        ))),
    }
}

/// Reads a run of one load: a path, or the name of a kept run with or without its ending.
pub fn load(name: &Path) -> Result<Curve, Trouble> {
    match load_any(name)? {
        Kept::Curve(curve) => Ok(*curve),
        Kept::Suite(suite) => Err(Trouble::usage(format!(
            "{}: it holds the suite {}, not the curve of one load: show it with plimsoll report {0}",
            name.display(),
            suite.suite
        ))),
    }
}

/// Reads a run or a suite: a path, or the name of a kept one with or without its ending.
pub fn load_any(name: &Path) -> Result<Kept, Trouble> {
    let (found, bytes) = read(name)?;
    let kept = match Curve::from_json(&bytes) {
        Ok(curve) => Ok(Kept::Curve(curve.into())),
        Err(FormatError::Version(version)) if version == plimsoll_record::SUITE_FORMAT => {
            SuiteRun::from_json(&bytes).map(|suite| Kept::Suite(suite.into()))
        }
        Err(error) => Err(error),
    };
    kept.map_err(|error| {
        let cause = std::error::Error::source(&error).map(|cause| format!(" ({cause})")).unwrap_or_default();
        Trouble::usage(format!("{}: {error}{cause}", found.display()))
    })
}

fn read(name: &Path) -> Result<(PathBuf, Vec<u8>), Trouble> {
    let candidates = [
        Some(name.to_owned()),
        runs_folder().map(|folder| folder.join(name)),
        runs_folder().map(|folder| folder.join(name).with_extension("json")),
    ];
    let found = candidates.into_iter().flatten().find(|path| path.is_file()).ok_or_else(|| {
        Trouble::usage(format!(
            "{}: no such run: give a run file, or a name that `plimsoll runs` lists",
            name.display()
        ))
    })?;
    let unreadable = |why: &dyn std::fmt::Display| Trouble::usage(format!("{}: {why}", found.display()));
    let length = fs::metadata(&found).map_err(|error| unreadable(&error))?.len();
    if length > LARGEST_RUN {
        return Err(unreadable(&format!("{} are more than any run file has", Bytes::new(length))));
    }
    let bytes = fs::read(&found).map_err(|error| unreadable(&error))?;
    Ok((found, bytes))
}
