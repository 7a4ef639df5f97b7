//! Reports, dumps and traces from files, directories and standard input, for the commands that use demand.
//!
//! Parsing is in `plimsoll-ingest`.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::Context;
use plimsoll_catalogue::{nearest, one_of};
use plimsoll_choose::what_if::{keep_parts, parts};
use plimsoll_ingest::{FormatInput, Ingest, Outcome, Reading, Refusal, join, time_in_utc};
use plimsoll_language::{label, say};

use crate::args::InputArgs;
use crate::cli_error::CliError;

/// Maximum number of files in directories.
const MAX_FILES: usize = 100_000;

/// Maximum number of refused inputs in a message.
const MAX_REASONS: usize = 5;

/// Maximum number of part names in a message.
const MAX_NAMES: usize = 20;

/// Maximum depth of directories.
const DEEPEST: usize = 32;

/// Reads the inputs: files, directories (recursive), or `-`. Snapshots of the same source are joined; with `--only`,
/// only figures of that part are kept.
pub fn read_inputs(args: &InputArgs) -> Result<Vec<Outcome>, CliError> {
    let mut outcomes = Vec::new();
    for path in &args.files {
        if path.as_os_str() == "-" {
            outcomes.extend(ingest_input("standard input", args, &mut io::stdin().lock())?);
            continue;
        }
        for file in list_files(path)? {
            let name = file.display().to_string();
            match open(&file, path) {
                Ok(mut opened) => outcomes.extend(ingest_input(&name, args, &mut opened)?),
                Err(error) if file == *path => return Err(CliError::reading(&file, error)),
                Err(error) => {
                    let refusal = Refusal::Unreadable { why: error.to_string() };
                    outcomes.push(Outcome::Refused { name, refusal });
                }
            }
        }
    }
    let mut outcomes = joined(outcomes);
    if let Some(part) = &args.only {
        keep_part(&mut outcomes, part)?;
    }
    Ok(outcomes)
}

/// Fails if an input is missing, before any processing.
pub fn check(args: &InputArgs) -> Result<(), CliError> {
    args.files.iter().filter(|path| path.as_os_str() != "-").try_for_each(|path| list_files(path).map(drop))
}

/// The files of a path, at least one.
fn list_files(path: &Path) -> Result<Vec<PathBuf>, CliError> {
    let mut files = Vec::new();
    collect(path, 0, &mut files)?;
    if files.is_empty() {
        return Err(CliError::usage(say!(
            "{}: the directory has no files: use reports (AWR, Statspack, pg_stat_io, iostat, ...); plimsoll guide inputs \
             describes how to create them",
            path.display()
        )));
    }
    Ok(files)
}

/// Keeps the figures of a part; fails if there are none.
fn keep_part(outcomes: &mut [Outcome], part: &str) -> Result<(), CliError> {
    let existing = parts(outcomes.iter().filter_map(Outcome::reading));
    if !existing.iter().any(|existing| existing.eq_ignore_ascii_case(part)) {
        let near = nearest(part, existing.iter().copied());
        let choose = match (near.as_slice(), existing.len()) {
            (_, 0) => label!("they do not distinguish parts: omit --only").to_owned(),
            ([], _) => format!("parts are {}", existing.into_iter().take(MAX_NAMES).collect::<Vec<_>>().join(", ")),
            (near, _) => say!("did you mean {}?", one_of(near)),
        };
        return Err(CliError::usage(say!("the inputs have no part {part:?}: {choose}")));
    }
    for outcome in outcomes {
        if let Outcome::Read(reading) = outcome {
            keep_parts(reading, |own| own.eq_ignore_ascii_case(part));
        }
    }
    Ok(())
}

/// The readings of accepted inputs.
pub fn list_readings(outcomes: &[Outcome]) -> Result<Vec<&Reading>, CliError> {
    let readings: Vec<&Reading> = outcomes.iter().filter_map(Outcome::reading).collect();
    if !readings.is_empty() {
        return Ok(readings);
    }
    let reasons = outcomes.iter().filter_map(|outcome| match outcome {
        Outcome::Refused { name, refusal } => Some(format!("{name}: {refusal}")),
        Outcome::Read(_) => None,
    });
    let reasons: Vec<String> = reasons.take(MAX_REASONS).collect();
    Err(CliError::Failed(anyhow::anyhow!(say!(
        "no usable input ({}): plimsoll guide inputs describes the formats and how to create them",
        reasons.join("; ")
    ))))
}

/// Joins counters of the same scope from several inputs.
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

/// Opens a file that was `named` or found in the named directory. Only a named one may be a pipe or a device.
fn open(file: &Path, named: &Path) -> io::Result<File> {
    if file != named && !std::fs::metadata(file)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, label!("it is not a regular file")));
    }
    File::open(file)
}

/// The entries of a directory by name; none if it is a file.
fn list_entries(path: &Path) -> io::Result<Option<Vec<PathBuf>>> {
    if !std::fs::metadata(path)?.is_dir() {
        return Ok(None);
    }
    let entries = std::fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.path()));
    let mut paths: Vec<PathBuf> = entries.collect::<Result<_, _>>()?;
    paths.sort();
    Ok(Some(paths))
}

/// All files of a directory and its subdirectories by name; a file itself. What cannot be listed below the named path is a
/// file that cannot be opened.
fn collect(path: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), CliError> {
    let paths = match list_entries(path) {
        Ok(Some(paths)) => paths,
        Err(error) if depth == 0 => return Err(CliError::reading(path, error)),
        Ok(None) | Err(_) => {
            files.push(path.to_path_buf());
            return Ok(());
        }
    };
    if depth > DEEPEST {
        return Err(CliError::usage(say!("{}: the directory nesting is too deep", path.display())));
    }
    for path in paths {
        collect(&path, depth + 1, files)?;
        if files.len() > MAX_FILES {
            return Err(CliError::usage(say!("more than {MAX_FILES} files: use fewer directories")));
        }
    }
    Ok(())
}

/// Reads an input in chunks.
fn ingest_input(name: &str, args: &InputArgs, input: &mut dyn Read) -> Result<Vec<Outcome>, CliError> {
    let zone = args.time_zone.clone();
    let begin = args.begin.as_deref().and_then(|begin| time_in_utc(begin, zone.as_ref()));
    let existing = FormatInput { name: name.to_owned(), begin, interval: args.interval, zone };
    let mut ingest = Ingest::new(existing);
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
            // The waits of a thousand reports would exceed the memory.
            reading.thin();
        }
    }
    Ok(outcomes)
}
