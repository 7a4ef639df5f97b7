//! The directory of kept runs: runs are written once, and found by path, name or age.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use plimsoll_analyse::{LineHistory, different_load};
use plimsoll_device::write_atomically;
use plimsoll_drive::Fault;
use plimsoll_ingest::ImportedCurve;
use plimsoll_load::StreamSpec;
use plimsoll_record::{Curve, EndReason, FormatError, LoadLine, Objective, ObjectiveOrigin, SuiteRun};
use plimsoll_suite::snapshots::Snapshots;
use plimsoll_units::Bytes;

use crate::error::MeasureError;
use crate::imports;
use crate::invalid::InvalidRequest;

/// Maximum size of a run file.
const MAX_RUN_BYTES: u64 = 1 << 30;
/// The objective has to be at least this multiple of the generator's lateness.
const LATENESS_MARGIN: u64 = 5;
/// Number of characters of a subject that are compared with names of runs, which are truncated.
const SUBJECT_PREFIX: usize = 30;
/// Number of characters of a name after its time.
const MAX_NAME: usize = 80;
/// Maximum number of characters of a note.
const MAX_NOTE: usize = 120;
/// Maximum number of characters of a label.
const MAX_LABEL: usize = 30;
/// Prefix of names of kept suites after their time.
const SUITE_PREFIX: &str = "suite-";
/// Maximum number of earlier runs for the scatter between runs.
const MAX_HISTORY: usize = 20;
/// Name of the newest complete run; `last~1` is the previous.
pub const LAST: &str = "last";
/// Maximum number of names in a message.
const MAX_LISTED: usize = 5;

/// A kept result.
#[derive(Debug)]
pub enum StoredRun {
    /// Runs of a load.
    Curve(Box<Curve>),
    /// Steps of a benchmark.
    Suite(Box<SuiteRun>),
}

/// A name that a user gives to a run: 1 to 30 ASCII letters, digits and hyphens, beginning with a letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunLabel(String);

/// A text that is not a label.
#[plimsoll_language::say_errors]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a label has 1 to 30 letters, digits and hyphens, begins with a letter, and is not `last` or `suite-`")]
pub struct InvalidLabel;

impl FromStr for RunLabel {
    type Err = InvalidLabel;

    fn from_str(text: &str) -> Result<Self, InvalidLabel> {
        let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let is_label = text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(is_letter);
        // These have a meaning as the names of runs.
        let is_reserved = text == LAST || text.starts_with(SUITE_PREFIX);
        if is_label && !is_reserved && text.len() <= MAX_LABEL { Ok(Self(text.to_owned())) } else { Err(InvalidLabel) }
    }
}

impl RunLabel {
    /// A name of letters, digits, dots and hyphens as a label: cut, without dots, and after `pvc-` if it would not be one, as
    /// names of claims.
    pub fn of_name(name: &str) -> Self {
        let label = |text: &str| text.replace('.', "-").chars().take(MAX_LABEL).collect::<String>().parse();
        label(name)
            .or_else(|_| label(&format!("pvc-{name}")))
            .expect("letters, digits and hyphens after a letter are a label")
    }
}

/// Label, source and subject of a run.
fn name_curve(curve: &Curve, label: Option<&RunLabel>) -> String {
    let label = label.map_or_else(String::new, |label| format!("{}-", label.0));
    format!("{label}{}-{}", curve.source.word(), curve.subject.name)
}

/// The directory of kept runs.
#[derive(Clone, Debug)]
pub struct RunStore {
    /// The directory; `None` if there is no home directory.
    pub folder: Option<PathBuf>,
}

impl RunStore {
    /// Keeps a run, once, under a name of its time, its label, if any, and its subject. Returns the path.
    pub fn keep(&self, curve: &Curve, label: Option<&RunLabel>) -> Result<PathBuf, MeasureError> {
        let json = curve.to_json();
        let is_same = |path: &Path| fs::read(path).is_ok_and(|bytes| bytes == json);
        let path = self.unused_path_unless(curve.started.as_deref(), &name_curve(curve, label), is_same)?;
        write_atomically(&path, &json)?;
        Ok(path)
    }

    /// Renames a kept run to a label. Returns the new path.
    pub fn relabel(&self, name: &Path, label: &RunLabel) -> Result<PathBuf, MeasureError> {
        let from = self.find(name, RunKinds::All)?;
        let StoredRun::Curve(curve) = load_run_file(&from)? else {
            return Err(InvalidRequest::SuiteLabel(name.display().to_string()).into());
        };
        let to = self.unused_path(curve.started.as_deref(), &name_curve(&curve, Some(label)))?;
        let attempt = || format!("renaming {}", from.display());
        fs::rename(&from, &to).map_err(|source| Fault { attempt: attempt(), source })?;
        // Few runs have notes.
        let _ = fs::rename(note_path(&from), note_path(&to));
        Ok(to)
    }

    /// Removes kept runs and the snapshots next to them, all or, if a name is unknown or no name of a kept run, none. Returns
    /// their names.
    pub fn remove(&self, names: &[PathBuf]) -> Result<Vec<String>, MeasureError> {
        let all = self.list();
        let mut paths: Vec<PathBuf> =
            names.iter().map(|name| self.find(name, RunKinds::All)).collect::<Result<_, _>>()?;
        paths.sort();
        paths.dedup();
        if let Some(other) = paths.iter().find(|path| !all.contains(path)) {
            return Err(InvalidRequest::NotKept(other.display().to_string()).into());
        }
        paths.iter().try_for_each(|path| remove_run(path))?;
        Ok(paths.iter().map(|path| name_run(path)).collect())
    }

    /// Removes the oldest kept runs except the newest `count`. Returns their names.
    pub fn prune(&self, count: usize) -> Result<Vec<String>, MeasureError> {
        let all = self.list();
        let oldest = &all[..all.len().saturating_sub(count)];
        oldest.iter().try_for_each(|path| remove_run(path))?;
        Ok(oldest.iter().map(|path| name_run(path)).collect())
    }

    /// The kept run of exactly this name.
    pub fn find_exact(&self, name: &str) -> Option<RunFile> {
        let is_name = Path::new(name).file_name().is_some_and(|file| file == name);
        let path = self.folder.as_ref().filter(|_| is_name)?.join(format!("{name}.json"));
        path.is_file().then_some(RunFile(path))
    }

    /// Keeps a suite under a name of its time, suite and subject, and the snapshots of its database next to it, to which
    /// the suite refers. Returns the path.
    pub fn keep_suite(&self, suite: &mut SuiteRun, snapshots: Option<Snapshots>) -> Result<PathBuf, MeasureError> {
        let name = format!("{SUITE_PREFIX}{}-{}-{}", suite.suite, suite.source.word(), suite.subject.name);
        let path = self.unused_path(suite.started.as_deref(), &name)?;
        if let Some((side, snapshots)) = suite.database.as_mut().zip(snapshots) {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let path = path.with_file_name(format!("{stem}-snapshots.jsonl"));
            let attempt = || format!("writing {}", path.display());
            side.snapshots = snapshots.keep(&path).map_err(|source| Fault { attempt: attempt(), source })?;
        }
        write_atomically(&path, &suite.to_json())?;
        Ok(path)
    }

    /// Checks that a run can be kept.
    ///
    /// # Errors
    /// There is no directory, or it cannot be made or written.
    pub fn check_writable(&self) -> Result<(), MeasureError> {
        let path = self.unused_path(None, "")?;
        plimsoll_device::check_writable(&path).map_err(MeasureError::usage)
    }

    /// An unused path.
    fn unused_path(&self, started: Option<&str>, name: &str) -> Result<PathBuf, MeasureError> {
        self.unused_path_unless(started, name, |_| false)
    }

    /// An unused path, or that of the same run.
    fn unused_path_unless(
        &self,
        started: Option<&str>,
        name: &str,
        is_same: impl Fn(&Path) -> bool,
    ) -> Result<PathBuf, MeasureError> {
        let folder = self.folder.as_ref().ok_or(InvalidRequest::NoHome)?;
        let attempt = || format!("making {}", folder.display());
        fs::create_dir_all(folder).map_err(|source| Fault { attempt: attempt(), source })?;
        let moment: String = started.unwrap_or("").chars().filter(char::is_ascii_digit).take(14).collect();
        let name: String = file_name(name).chars().take(MAX_NAME).collect();
        let stem = format!("{moment}-{}", name.trim_matches('-'));
        let mut path = folder.join(format!("{stem}.json"));
        let mut number = 1;
        while path.exists() && !is_same(&path) {
            number += 1;
            path = folder.join(format!("{stem}-{number}.json"));
        }
        Ok(path)
    }

    /// The kept runs, oldest first.
    pub fn list(&self) -> Vec<PathBuf> {
        let folder = self.folder.as_ref().and_then(|folder| fs::read_dir(folder).ok());
        let entries = folder.into_iter().flatten().flatten().map(|entry| entry.path());
        let mut runs: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
        runs.sort();
        runs
    }

    /// The objective chosen or reused by the last complete run of this load on this subject.
    pub fn chosen_objective(&self, subject: &str, streams: &[StreamSpec]) -> Option<Objective> {
        let same_load = |earlier: &[StreamSpec]| {
            let both = || earlier.iter().zip(streams);
            earlier.len() == streams.len() && both().all(|(a, b)| a.mix == b.mix && a.pattern == b.pattern)
        };
        self.complete_runs_of(subject).find_map(|curve| {
            let is_reusable = curve.basis.is_some_and(|basis| match basis.origin {
                ObjectiveOrigin::Given | ObjectiveOrigin::Shared => false,
                // An objective chosen for a late generator does not depend on the storage.
                ObjectiveOrigin::Chosen { light_p99 } => basis.lateness_p99 * LATENESS_MARGIN <= light_p99 * 2,
                ObjectiveOrigin::Retained => true,
            });
            (is_reusable && same_load(&curve.conditions.streams))
                .then(|| curve.load_line.map(|line| line.objective()))
                .flatten()
        })
    }

    /// Scatter of the load line between the newest complete runs with the subject, load and objective of `like`, except the
    /// runs in `compared`.
    pub fn history(&self, like: &Curve, objective: Objective, compared: &[&Curve]) -> Option<LineHistory> {
        let is_compared =
            |run: &Curve| compared.iter().any(|other| other.started == run.started && other.slots == run.slots);
        let lines = self.complete_runs_of(&like.subject.name).filter_map(|run| match run.load_line? {
            LoadLine::At { objective: own, iops } if own == objective => {
                (!is_compared(&run) && different_load(like, &run).is_none()).then_some(iops.value)
            }
            _ => None,
        });
        LineHistory::of(&lines.take(MAX_HISTORY).collect::<Vec<_>>())
    }

    /// The complete runs with the subject and load of `like`, oldest first, with their names.
    pub fn series(&self, like: &Curve) -> Vec<(String, Curve)> {
        let is_like = |(_, run): &(String, Curve)| different_load(like, run).is_none();
        let mut runs: Vec<(String, Curve)> = self.named_runs_of(&like.subject.name).filter(is_like).collect();
        runs.sort_by(|a, b| a.1.started.cmp(&b.1.started));
        runs
    }

    /// The complete runs that were kept of a subject, newest first.
    fn complete_runs_of(&self, subject: &str) -> impl Iterator<Item = Curve> {
        self.named_runs_of(subject).map(|(_, run)| run)
    }

    /// The same with their names.
    fn named_runs_of(&self, subject: &str) -> impl Iterator<Item = (String, Curve)> {
        let name = file_name(subject).trim_matches('-').to_owned();
        // Names are truncated.
        let begin = name.get(..SUBJECT_PREFIX).unwrap_or(&name).to_owned();
        let named = move |path: &PathBuf| path.file_stem().is_some_and(|stem| stem.to_string_lossy().contains(&begin));
        self.list().into_iter().rev().filter(named).filter_map(move |path| match load_run_file(&path) {
            Ok(StoredRun::Curve(curve)) if curve.ended == EndReason::Complete && curve.subject.name == subject => {
                Some((name_run(&path), *curve))
            }
            _ => None,
        })
    }

    /// Reads a run, or the last complete kept curve.
    pub fn load_or_last(&self, name: Option<&Path>) -> Result<Curve, MeasureError> {
        self.load(name.unwrap_or(Path::new(LAST)))
    }

    /// Reads a run of a generated load; fails for a replay.
    pub fn load_generated(&self, name: Option<&Path>) -> Result<Curve, MeasureError> {
        let curve = self.load_or_last(name)?;
        match &curve.conditions.trace {
            None => Ok(curve),
            Some(trace) => Err(InvalidRequest::ReplayRun(trace.name.clone()).into()),
        }
    }

    /// Reads a curve: a path, or a kept run by name, prefix, or `last`, which skips suites.
    pub fn load(&self, name: &Path) -> Result<Curve, MeasureError> {
        self.load_named(name).map(|(_, curve)| curve)
    }

    /// Reads all curves of a file: of a run, or of each load of a benchmark's results.
    pub fn load_all(&self, name: &Path) -> Result<Vec<Curve>, MeasureError> {
        match read_imported(name)? {
            Some((_, imported)) => Ok(imported.into_iter().map(|entry| entry.curve).collect()),
            None => self.load(name).map(|curve| vec![curve]),
        }
    }

    /// Reads a curve, with its path as given or its name.
    pub fn load_named(&self, name: &Path) -> Result<(String, Curve), MeasureError> {
        if let Some((path, imported)) = read_imported(name)? {
            return Ok((name.display().to_string(), imports::single_curve(&path, imported)?));
        }
        let found = self.find(name, RunKinds::Curves)?;
        match load_run_file(&found)? {
            StoredRun::Curve(curve) => {
                Ok((if found == name { name.display().to_string() } else { name_run(&found) }, *curve))
            }
            StoredRun::Suite(suite) => {
                Err(InvalidRequest::SuiteRun { name: name.display().to_string(), suite: suite.suite }.into())
            }
        }
    }

    /// Reads curves or a suite: a path, or a kept run by name, prefix, or `last`.
    pub fn load_any(&self, name: &Path) -> Result<Vec<StoredRun>, MeasureError> {
        match read_imported(name)? {
            Some((_, imported)) => Ok(imported.into_iter().map(|entry| StoredRun::Curve(entry.curve.into())).collect()),
            None => load_run_file(&self.find(name, RunKinds::All)?).map(|run| vec![run]),
        }
    }

    /// True if a complete curve is kept.
    pub fn has_curve(&self) -> bool {
        self.list().iter().any(|path| !is_suite(path) && is_complete(path))
    }

    /// The file of a run: a path, `last`, `last~N`, or a kept run by name or unambiguous prefix.
    fn find(&self, name: &Path, kinds: RunKinds) -> Result<PathBuf, MeasureError> {
        if name.is_file() {
            return Ok(name.to_owned());
        }
        let text = name.to_string_lossy();
        let listed: Vec<PathBuf> =
            self.list().into_iter().filter(|path| kinds == RunKinds::All || !is_suite(path)).collect();
        if let Some(steps_back) = text.strip_prefix(LAST).and_then(|rest| match rest {
            "" => Some(0),
            rest => rest.strip_prefix('~')?.parse::<usize>().ok(),
        }) {
            let mut complete = listed.iter().rev().filter(|path| is_complete(path));
            return complete.nth(steps_back).cloned().ok_or_else(|| match steps_back {
                0 => InvalidRequest::NoRuns.into(),
                _ => InvalidRequest::FewerRuns(text.into_owned()).into(),
            });
        }
        let prefix = text.strip_suffix(".json").unwrap_or(&text);
        // A label is behind the time.
        let has_prefix = |name: &str| {
            name.starts_with(prefix) || name.split_once('-').is_some_and(|(_, label)| label.starts_with(prefix))
        };
        let candidates: Vec<&PathBuf> =
            listed.iter().filter(|path| !prefix.is_empty() && has_prefix(&name_run(path))).collect();
        match candidates.iter().find(|path| name_run(path) == prefix).or(candidates.first()) {
            Some(found) if candidates.len() == 1 || name_run(found) == prefix => Ok((*found).clone()),
            Some(_) => {
                let names: Vec<String> = candidates.iter().map(|path| name_run(path)).take(MAX_LISTED).collect();
                let more = if candidates.len() > MAX_LISTED { ", ..." } else { "" };
                let runs = format!("{}{more}", names.join(", "));
                Err(InvalidRequest::AmbiguousRun { prefix: text.into_owned(), runs }.into())
            }
            None => Err(InvalidRequest::NoRun(text.into_owned()).into()),
        }
    }
}

/// The file of a kept run, with the note of its user next to it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunFile(pub PathBuf);

impl RunFile {
    /// Reads the run.
    pub fn load(&self) -> Result<StoredRun, MeasureError> {
        load_run_file(&self.0)
    }

    /// The note; empty if there is none.
    pub fn note(&self) -> String {
        fs::read_to_string(note_path(&self.0)).unwrap_or_default()
    }

    /// Replaces the note, of at most 120 characters without control characters; an empty one is removed.
    pub fn set_note(&self, note: &str) -> Result<(), MeasureError> {
        let path = note_path(&self.0);
        let note: String = note.chars().filter(|c| !c.is_control()).take(MAX_NOTE).collect();
        let done = if note.trim().is_empty() { fs::remove_file(&path) } else { fs::write(&path, note.trim()) };
        match done {
            Err(source) if source.kind() != ErrorKind::NotFound => {
                Err(Fault { attempt: format!("writing {}", path.display()), source }.into())
            }
            _ => Ok(()),
        }
    }

    /// Removes the run, its note and its snapshots.
    pub fn remove(&self) -> Result<(), MeasureError> {
        remove_run(&self.0)
    }
}

/// The file with the note about a run.
fn note_path(path: &Path) -> PathBuf {
    path.with_extension("label")
}

/// Removes a run with the files next to it.
fn remove_run(path: &Path) -> Result<(), MeasureError> {
    let attempt = || format!("removing {}", path.display());
    fs::remove_file(path).map_err(|source| Fault { attempt: attempt(), source })?;
    // Few runs have notes, and only suites on a database have snapshots.
    let _ = fs::remove_file(note_path(path));
    let _ = fs::remove_file(path.with_file_name(format!("{}-snapshots.jsonl", name_run(path))));
    Ok(())
}

fn file_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

/// The results of another program in a file that was given by its path; `None` for run files.
fn read_imported(name: &Path) -> Result<Option<(PathBuf, Vec<ImportedCurve>)>, MeasureError> {
    let Some((path, result)) = imports::split(name) else { return Ok(None) };
    let bytes = read(&path)?;
    if is_plimsoll_file(&bytes) {
        return Ok(None);
    }
    let imported = imports::read(&path, &bytes, result.as_deref()).transpose()?;
    Ok(imported.map(|imported| (path, imported)))
}

/// True for files of plimsoll, which name their format at the beginning.
fn is_plimsoll_file(bytes: &[u8]) -> bool {
    const MARK: &[u8] = b"\"plimsoll.";
    bytes[..bytes.len().min(4096)].windows(MARK.len()).any(|part| part == MARK)
}

/// The run in the log of a Job, whose standard output and error are one stream: from the first line that begins an object to
/// the last one that ends an object.
fn find_document(file: &[u8]) -> &[u8] {
    let begins = |at: usize| file[at] == b'{' && (at == 0 || file[at - 1] == b'\n');
    let ends = |at: usize| file[at] == b'}' && file.get(at + 1).is_none_or(|byte| matches!(byte, b'\n' | b'\r'));
    let Some(begin) = (0..file.len()).find(|at| begins(*at)) else { return file };
    let Some(end) = (begin..file.len()).rfind(|at| ends(*at)) else { return file };
    &file[begin..=end]
}

/// Reads a run file, or a log with a run.
pub fn load_run_file(found: &Path) -> Result<StoredRun, MeasureError> {
    parse_run_file(found, &read(found)?)
}

/// Parses a run file, or a log with a run; `found` is its name in errors.
pub fn parse_run_file(found: &Path, file: &[u8]) -> Result<StoredRun, MeasureError> {
    let bytes = find_document(file);
    let parsed = match Curve::from_json(bytes) {
        Ok(curve) => Ok(StoredRun::Curve(curve.into())),
        Err(FormatError::Version(version)) if version.starts_with("plimsoll.suite/") => {
            SuiteRun::from_json(bytes).map(|suite| StoredRun::Suite(suite.into()))
        }
        Err(error) => Err(error),
    };
    parsed.map_err(|error| {
        let cause = std::error::Error::source(&error).map(|cause| format!(" ({cause})")).unwrap_or_default();
        let (path, text) = (found.display().to_string(), format!("{error}{cause}"));
        match &error {
            FormatError::Version(_) => MeasureError::usage(format!("{path}: {text}")),
            _ if found.extension().is_some_and(|end| end == "toml") => {
                InvalidRequest::ProductFile { path, error: text }.into()
            }
            _ => InvalidRequest::NotARun { path, error: text }.into(),
        }
    })
}

/// Kinds of kept runs that a name may refer to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RunKinds {
    Curves,
    All,
}

pub fn name_run(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Interrupted and failed runs have no verdict.
fn is_complete(path: &Path) -> bool {
    match load_run_file(path) {
        Ok(StoredRun::Curve(curve)) => curve.ended == EndReason::Complete,
        Ok(StoredRun::Suite(suite)) => suite.ended == EndReason::Complete,
        Err(_) => false,
    }
}

fn is_suite(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split_once('-').is_some_and(|(_, rest)| rest.starts_with(SUITE_PREFIX))
}

fn read(found: &Path) -> Result<Vec<u8>, MeasureError> {
    let unreadable = |why: &dyn std::fmt::Display| MeasureError::usage(format!("{}: {why}", found.display()));
    let length = fs::metadata(found).map_err(|error| unreadable(&error))?.len();
    if length > MAX_RUN_BYTES {
        let (path, size) = (found.display().to_string(), Bytes::new(length));
        return Err(InvalidRequest::LargeRun { path, size }.into());
    }
    fs::read(found).map_err(|error| unreadable(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_claim_has_a_label() {
        let check = |claim: &str, label: &str| assert_eq!(Ok(RunLabel::of_name(claim)), label.parse(), "{claim}");
        check("data-postgres-0", "data-postgres-0");
        check("data.postgres", "data-postgres");
        check("0-data", "pvc-0-data");
        check("last", "pvc-last");
        check("suite-a", "pvc-suite-a");
        check(&"a".repeat(55), &"a".repeat(30));
    }
}
