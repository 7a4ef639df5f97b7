//! Reports, dumps and traces from files, folders and standard input, for every command that works on demand.
//!
//! Opens and reads; what the bytes mean is `plimsoll-ingest`'s.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::Context;
use plimsoll_catalogue::{nearest, one_of};
use plimsoll_choose::what_if::{keep_parts, parts};
use plimsoll_ingest::{Ingest, Input, Outcome, Reading, join, time_in_utc};

use crate::args::InputArgs;
use crate::trouble::Trouble;

/// The most files that are read of folders.
const MOST_FILES: usize = 100_000;

/// Refused inputs in a message.
const MOST_REASONS: usize = 5;

/// Names of parts in a message.
const MOST_NAMES: usize = 20;

/// Folders below folders: more are a loop, or no place for reports.
const DEEPEST: usize = 32;

/// Reads the inputs: files, folders with all that is below them, or `-`. Snapshots that belong together are joined; of
/// one part only what is said of that part is kept.
pub fn outcomes(args: &InputArgs) -> Result<Vec<Outcome>, Trouble> {
    let mut outcomes = Vec::new();
    for path in &args.files {
        if path.as_os_str() == "-" {
            outcomes.extend(ingest("standard input", args, &mut std::io::stdin().lock())?);
            continue;
        }
        for file in files(path)? {
            let name = file.display().to_string();
            let mut opened = File::open(&file).map_err(|error| Trouble::reading(&file, error))?;
            outcomes.extend(ingest(&name, args, &mut opened)?);
        }
    }
    let mut outcomes = joined(outcomes);
    if let Some(part) = &args.only {
        keep_part(&mut outcomes, part)?;
    }
    Ok(outcomes)
}

/// Refuses inputs that are not there, before anything else is looked at.
pub fn check(args: &InputArgs) -> Result<(), Trouble> {
    args.files.iter().filter(|path| path.as_os_str() != "-").try_for_each(|path| files(path).map(drop))
}

/// The files of a path, at least one.
fn files(path: &Path) -> Result<Vec<PathBuf>, Trouble> {
    let mut files = Vec::new();
    collect(path, 0, &mut files)?;
    if files.is_empty() {
        return Err(Trouble::usage(format!(
            "{}: the folder has no file in it: give reports (AWR, Statspack, pg_stat_io, iostat, ...); docs/inputs.md says \
             how to make them",
            path.display()
        )));
    }
    Ok(files)
}

/// Keeps what is said of one part; refuses a part that nothing is said of.
fn keep_part(outcomes: &mut [Outcome], part: &str) -> Result<(), Trouble> {
    let known = parts(outcomes.iter().filter_map(Outcome::reading));
    if !known.iter().any(|known| known.eq_ignore_ascii_case(part)) {
        let near = nearest(part, known.iter().copied());
        let choose = match (near.as_slice(), known.len()) {
            (_, 0) => "they tell no parts apart: leave out --only".to_owned(),
            ([], _) => format!("parts are {}", known.into_iter().take(MOST_NAMES).collect::<Vec<_>>().join(", ")),
            (near, _) => format!("did you mean {}?", one_of(near)),
        };
        return Err(Trouble::usage(format!("the inputs say nothing of a part {part:?}: {choose}")));
    }
    for outcome in outcomes {
        if let Outcome::Read(reading) = outcome {
            keep_parts(reading, |own| own.eq_ignore_ascii_case(part));
        }
    }
    Ok(())
}

/// The readings of outcomes that were read.
pub fn readings(outcomes: &[Outcome]) -> Result<Vec<&Reading>, Trouble> {
    let readings: Vec<&Reading> = outcomes.iter().filter_map(Outcome::reading).collect();
    if !readings.is_empty() {
        return Ok(readings);
    }
    let reasons = outcomes.iter().filter_map(|outcome| match outcome {
        Outcome::Refused { name, refusal } => Some(format!("{name}: {refusal}")),
        Outcome::Read(_) => None,
    });
    let reasons: Vec<String> = reasons.take(MOST_REASONS).collect();
    Err(Trouble::Failed(anyhow::anyhow!(
        "no input could be used ({}): docs/inputs.md says what is read, and how to make it",
        reasons.join("; ")
    )))
}

/// Counters of one scope may stand in several inputs.
fn joined(outcomes: Vec<Outcome>) -> Vec<Outcome> {
    let (mut places, mut readings, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for (place, outcome) in outcomes.into_iter().enumerate() {
        match outcome {
            Outcome::Read(reading) => {
                places.push(place);
                readings.push(*reading);
            }
            refused @ Outcome::Refused { .. } => all.push((place, refused)),
        }
    }
    let read = places.into_iter().zip(join(readings));
    all.extend(read.map(|(place, reading)| (place, Outcome::Read(Box::new(reading)))));
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, outcome)| outcome).collect()
}

/// All files of a folder and those below it, by name; a file is itself.
fn collect(path: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), Trouble> {
    let cannot = || format!("cannot read {}", path.display());
    let found = std::fs::metadata(path).map_err(|error| Trouble::reading(path, error))?;
    if !found.is_dir() {
        files.push(path.to_path_buf());
        return Ok(());
    }
    if depth > DEEPEST {
        return Err(Trouble::usage(format!("{}: too deep below the folder that was given", path.display())));
    }
    let entries = std::fs::read_dir(path).with_context(cannot)?;
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>().with_context(cannot)?;
    paths.sort();
    for path in paths {
        collect(&path, depth + 1, files)?;
        if files.len() > MOST_FILES {
            return Err(Trouble::usage(format!("more than {MOST_FILES} files: give fewer folders")));
        }
    }
    Ok(())
}

/// One input, piece by piece.
fn ingest(name: &str, args: &InputArgs, input: &mut dyn Read) -> Result<Vec<Outcome>, Trouble> {
    let zone = args.time_zone.clone();
    let begin = args.begin.as_deref().and_then(|begin| time_in_utc(begin, zone.as_ref()));
    let known = Input { name: name.to_owned(), begin, interval: args.interval, zone };
    let mut ingest = Ingest::new(known);
    let mut buffer = vec![0; 256 << 10];
    loop {
        let read = input.read(&mut buffer).with_context(|| format!("cannot read {name}"))?;
        if read == 0 || !ingest.feed(&buffer[..read]) {
            break;
        }
    }
    let mut outcomes = ingest.finish();
    for outcome in &mut outcomes {
        if let Outcome::Read(reading) = outcome {
            // Of a thousand reports all waits would fill the memory.
            reading.thin();
        }
    }
    Ok(outcomes)
}
