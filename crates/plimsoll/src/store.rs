//! Files that are written whole or not at all, and the folder in which runs are kept.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use plimsoll_analyse::{History, different_load};
use plimsoll_load::StreamSpec;
use plimsoll_record::{Curve, Ended, FormatError, LoadLine, Objective, ObjectiveOrigin, SuiteRun};
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

/// A limit shorter than this many times the generator's lateness cannot be judged.
const LATENESS_MARGIN: u64 = 5;
/// So many characters of a subject are in the names of its runs.
const LEAST_NAME: usize = 30;
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
    let name: String = file_name(name).chars().take(50).collect();
    let stem = format!("{moment}-{}", name.trim_matches('-'));
    let mut path = folder.join(format!("{stem}.json"));
    let mut number = 1;
    while path.exists() {
        number += 1;
        path = folder.join(format!("{stem}-{number}.json"));
    }
    Ok(path)
}

/// A name as a part of file names.
fn file_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

/// The kept runs, oldest first.
pub fn kept() -> Vec<PathBuf> {
    let folder = runs_folder().and_then(|folder| fs::read_dir(folder).ok());
    let entries = folder.into_iter().flatten().flatten().map(|entry| entry.path());
    let mut runs: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    runs.sort();
    runs
}

/// The objective that the last complete run of this load on this subject chose or took over from an earlier one.
pub fn chosen_objective(subject: &str, streams: &[StreamSpec]) -> Option<Objective> {
    let same_load = |kept: &[StreamSpec]| {
        let both = || kept.iter().zip(streams);
        kept.len() == streams.len() && both().all(|(a, b)| a.mix == b.mix && a.pattern == b.pattern)
    };
    complete_runs_of(subject).find_map(|curve| {
        let chose = curve.basis.is_some_and(|basis| match basis.origin {
            ObjectiveOrigin::Given | ObjectiveOrigin::Shared => false,
            // A late generator rules out the short limits: that says nothing about the storage.
            ObjectiveOrigin::Chosen { light_p99 } => basis.lateness_p99 * LATENESS_MARGIN <= light_p99 * 2,
            ObjectiveOrigin::Kept => true,
        });
        (chose && same_load(&curve.conditions.streams)).then(|| curve.load_line.map(|line| line.objective())).flatten()
    })
}

/// So many earlier runs give the scatter between runs.
const MAX_HISTORY: usize = 20;

/// Scatter of the load line between the newest complete runs of the subject, load and objective of `like`, the runs
/// `compared` left out.
pub fn history(like: &Curve, objective: Objective, compared: &[&Curve]) -> Option<History> {
    let is_compared =
        |run: &Curve| compared.iter().any(|other| other.started == run.started && other.slots == run.slots);
    let lines = complete_runs_of(&like.subject.name).filter_map(|run| match run.load_line? {
        LoadLine::At { objective: own, iops } if own == objective => {
            (!is_compared(&run) && different_load(like, &run).is_none()).then_some(iops.value)
        }
        _ => None,
    });
    History::of(&lines.take(MAX_HISTORY).collect::<Vec<_>>())
}

/// The complete runs that were kept of a subject, newest first.
fn complete_runs_of(subject: &str) -> impl Iterator<Item = Curve> {
    let name = file_name(subject).trim_matches('-').to_owned();
    // Names are cut after 50 characters.
    let begin = name.get(..LEAST_NAME).unwrap_or(&name).to_owned();
    let named = move |path: &PathBuf| path.file_stem().is_some_and(|stem| stem.to_string_lossy().contains(&begin));
    kept().into_iter().rev().filter(named).filter_map(move |path| match load_found(&path) {
        Ok(Kept::Curve(curve)) if curve.ended == Ended::Complete && curve.subject.name == subject => Some(*curve),
        _ => None,
    })
}

/// Reads a run, or the last complete curve that was kept.
pub fn load_or_last(name: Option<&Path>) -> Result<Curve, Trouble> {
    load(name.unwrap_or(Path::new(LAST)))
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

/// Reads a run of one load: a path, or a kept run by its name, the beginning of it, or `last`, which passes over suites.
pub fn load(name: &Path) -> Result<Curve, Trouble> {
    load_named(name).map(|(_, curve)| curve)
}

/// Reads a run of one load, with its path as given or the name under which it was kept.
pub fn load_named(name: &Path) -> Result<(String, Curve), Trouble> {
    let found = find(name, Among::Curves)?;
    match load_found(&found)? {
        Kept::Curve(curve) => Ok((if found == name { name.display().to_string() } else { stem(&found) }, *curve)),
        Kept::Suite(suite) => Err(Trouble::usage(format!(
            "{}: it holds the suite {}, not the curve of one load: show it with plimsoll report {0}",
            name.display(),
            suite.suite
        ))),
    }
}

/// Reads a run or a suite: a path, or a kept one by its name, the beginning of it, or `last`.
pub fn load_any(name: &Path) -> Result<Kept, Trouble> {
    load_found(&find(name, Among::Both)?)
}

fn load_found(found: &Path) -> Result<Kept, Trouble> {
    let bytes = read(found)?;
    let kept = match Curve::from_json(&bytes) {
        Ok(curve) => Ok(Kept::Curve(curve.into())),
        Err(FormatError::Version(version)) if version == plimsoll_record::SUITE_FORMAT => {
            SuiteRun::from_json(&bytes).map(|suite| Kept::Suite(suite.into()))
        }
        Err(error) => Err(error),
    };
    kept.map_err(|error| {
        let cause = std::error::Error::source(&error).map(|cause| format!(" ({cause})")).unwrap_or_default();
        let remedy = match &error {
            FormatError::Version(_) => "",
            _ if found.extension().is_some_and(|end| end == "toml") => {
                ": a product file is simulated: plimsoll simulate FILE"
            }
            _ => {
                ": give a file that measure, simulate or suite wrote with --json, or a name that `plimsoll runs` lists"
            }
        };
        Trouble::usage(format!("{}: {error}{cause}{remedy}", found.display()))
    })
}

/// Which kept runs `last` counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Among {
    Curves,
    Both,
}

/// The name of the newest complete run; `last~1` is the one before it.
pub const LAST: &str = "last";
/// Names in a message.
const MAX_NAMES: usize = 5;

/// The file of a run: the path itself, `last`, `last~N`, or a kept run by its name or an unambiguous beginning of it.
fn find(name: &Path, among: Among) -> Result<PathBuf, Trouble> {
    if name.is_file() {
        return Ok(name.to_owned());
    }
    let text = name.to_string_lossy();
    let kept: Vec<PathBuf> = kept().into_iter().filter(|path| among == Among::Both || !is_suite(path)).collect();
    if let Some(before) = text.strip_prefix(LAST).and_then(|rest| match rest {
        "" => Some(0),
        rest => rest.strip_prefix('~')?.parse::<usize>().ok(),
    }) {
        let mut complete = kept.iter().rev().filter(|path| is_complete(path));
        return complete.nth(before).cloned().ok_or_else(|| match before {
            0 => Trouble::usage("no complete run was kept yet: start with `plimsoll measure .`"),
            _ => Trouble::usage(format!("{text}: fewer complete runs were kept: `plimsoll runs` lists them")),
        });
    }
    let wanted = text.strip_suffix(".json").unwrap_or(&text);
    let begin: Vec<&PathBuf> =
        kept.iter().filter(|path| !wanted.is_empty() && stem(path).starts_with(wanted)).collect();
    match begin.iter().find(|path| stem(path) == wanted).or(begin.first()) {
        Some(found) if begin.len() == 1 || stem(found) == wanted => Ok((*found).clone()),
        Some(_) => {
            let names: Vec<String> = begin.iter().map(|path| stem(path)).take(MAX_NAMES).collect();
            let more = if begin.len() > MAX_NAMES { ", ..." } else { "" };
            Err(Trouble::usage(format!(
                "{text}: several runs begin so: {}{more}: write more of the name",
                names.join(", ")
            )))
        }
        None => Err(Trouble::usage(format!(
            "{text}: no such run: give a run file, `last`, or the beginning of a name that `plimsoll runs` lists"
        ))),
    }
}

/// The name of a kept run.
pub fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Interrupted and failed runs have no verdict.
fn is_complete(path: &Path) -> bool {
    match load_found(path) {
        Ok(Kept::Curve(curve)) => curve.ended == Ended::Complete,
        Ok(Kept::Suite(suite)) => suite.ended == Ended::Complete,
        Err(_) => false,
    }
}

fn is_suite(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split_once('-').is_some_and(|(_, rest)| rest.starts_with(SUITE))
}

fn read(found: &Path) -> Result<Vec<u8>, Trouble> {
    let unreadable = |why: &dyn std::fmt::Display| Trouble::usage(format!("{}: {why}", found.display()));
    let length = fs::metadata(found).map_err(|error| unreadable(&error))?.len();
    if length > LARGEST_RUN {
        return Err(unreadable(&format!("{} are more than any run file has", Bytes::new(length))));
    }
    fs::read(found).map_err(|error| unreadable(&error))
}
