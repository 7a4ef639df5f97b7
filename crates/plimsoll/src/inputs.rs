//! Reports, dumps and traces from files, folders and standard input, for every command that works on demand.
//!
//! Opens and reads; what the bytes mean is `plimsoll-ingest`'s.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::Context;
use plimsoll_ingest::{Ingest, Outcome, Reading, join};

use crate::trouble::Trouble;

/// The most files that are read of folders.
const MOST_FILES: usize = 100_000;

/// Folders below folders: more are a loop, or no place for reports.
const DEEPEST: usize = 32;

/// Reads the inputs: files, folders with all that is below them, or `-`. Snapshots that belong together are joined.
pub fn outcomes(paths: &[PathBuf]) -> Result<Vec<Outcome>, Trouble> {
    let mut outcomes = Vec::new();
    for path in paths {
        if path.as_os_str() == "-" {
            outcomes.extend(ingest("standard input", &mut std::io::stdin().lock())?);
            continue;
        }
        let mut files = Vec::new();
        collect(path, 0, &mut files)?;
        if files.is_empty() {
            return Err(Trouble::usage(format!("{}: the folder has no file in it", path.display())));
        }
        for file in files {
            let name = file.display().to_string();
            let mut opened = File::open(&file).with_context(|| format!("cannot read {name}"))?;
            outcomes.extend(ingest(&name, &mut opened)?);
        }
    }
    Ok(joined(outcomes))
}

/// The readings of outcomes that were read.
pub fn readings(outcomes: &[Outcome]) -> Result<Vec<&Reading>, Trouble> {
    let readings: Vec<&Reading> = outcomes.iter().filter_map(Outcome::reading).collect();
    if readings.is_empty() {
        return Err(Trouble::Failed(anyhow::anyhow!(
            "no input could be used: docs/inputs.md says what is read, and how to make it"
        )));
    }
    Ok(readings)
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
    let found = std::fs::metadata(path).with_context(cannot)?;
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
fn ingest(name: &str, input: &mut dyn Read) -> Result<Vec<Outcome>, Trouble> {
    let mut ingest = Ingest::new(name);
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
