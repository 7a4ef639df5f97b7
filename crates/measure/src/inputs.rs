//! Reports, dumps and traces from files, directories and standard input. Parsing is in `plimsoll-ingest`.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use jiff::fmt::temporal::DateTimeParser;
use jiff::tz::TimeZone;
use plimsoll_catalogue::{nearest, one_of};
use plimsoll_choose::what_if::{keep_parts, parts};
use plimsoll_ingest::{FormatInput, Ingest, Outcome, Reading, Refusal, join, time_in_utc};
use plimsoll_language::{label, say};
use plimsoll_units::Span;

use crate::error::MeasureError;
use crate::invalid::InvalidRequest;
use crate::words::InvalidValue;

/// Maximum number of files in directories.
const MAX_FILES: usize = 100_000;

/// Maximum number of refused inputs in a message.
const MAX_REASONS: usize = 5;

/// Maximum number of part names in a message.
const MAX_NAMES: usize = 20;

/// Maximum depth of directories.
const MAX_DEPTH: usize = 32;

/// Inputs, and properties that they lack.
#[derive(Clone, Debug, Default)]
pub struct InputFiles {
    /// Files, directories (recursive), or `-` for standard input.
    pub files: Vec<PathBuf>,
    /// Start time of inputs without timestamps, in ISO 8601.
    pub begin: Option<String>,
    /// Time zone of timestamps without an offset; UTC by default.
    pub time_zone: Option<TimeZone>,
    /// Sampling interval of inputs that lack it.
    pub interval: Option<Span>,
    /// The device, file or tablespace whose figures are kept.
    pub only: Option<String>,
}

impl InputFiles {
    /// Reads the inputs. Snapshots of the same source are joined; unusable inputs are outcomes, too.
    ///
    /// # Errors
    /// An input is missing or cannot be read, a directory exceeds the limits, or no figure is of the part `only`.
    pub fn read(&self) -> Result<Vec<Outcome>, MeasureError> {
        let mut outcomes = Vec::new();
        for path in &self.files {
            if path.as_os_str() == "-" {
                outcomes.extend(self.read_input(label!("standard input"), &mut io::stdin().lock())?);
                continue;
            }
            for file in list_files(path)? {
                let name = file.display().to_string();
                match open(&file, path) {
                    Ok(mut opened) => outcomes.extend(self.read_input(&name, &mut opened)?),
                    Err(error) if file == *path => return Err(unreadable(&file, &error)),
                    Err(error) => {
                        let refusal = Refusal::Unreadable { why: error.to_string() };
                        outcomes.push(Outcome::Refused { name, refusal });
                    }
                }
            }
        }
        let mut outcomes = join_outcomes(outcomes);
        if let Some(part) = &self.only {
            keep_part(&mut outcomes, part)?;
        }
        Ok(outcomes)
    }

    /// Checks that the inputs exist, before any processing.
    ///
    /// # Errors
    /// An input is missing, or a directory exceeds the limits.
    pub fn check(&self) -> Result<(), MeasureError> {
        self.files.iter().filter(|path| path.as_os_str() != "-").try_for_each(|path| list_files(path).map(drop))
    }

    fn read_input(&self, name: &str, input: &mut dyn Read) -> Result<Vec<Outcome>, MeasureError> {
        let zone = self.time_zone.clone();
        let begin = self.begin.as_deref().and_then(|begin| time_in_utc(begin, zone.as_ref()));
        let format =
            FormatInput { name: name.to_owned(), begin, interval: self.interval, zone, ..FormatInput::default() };
        read_input(format, input).map_err(|error| MeasureError::File(say!("cannot read {name}: {error}")))
    }
}

/// Reads an input in chunks.
///
/// # Errors
/// The input cannot be read.
pub fn read_input(format: FormatInput, input: &mut dyn Read) -> io::Result<Vec<Outcome>> {
    let mut ingest = Ingest::new(format);
    let mut buffer = vec![0; 256 << 10];
    loop {
        let length = input.read(&mut buffer)?;
        if length == 0 || !ingest.feed(&buffer[..length]) {
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

/// Checks the start time of an input without times.
///
/// # Errors
/// It is no time of ISO 8601.
pub fn parse_begin(text: &str) -> Result<String, InvalidValue> {
    time_in_utc(text, None).map(|_| text.to_owned()).ok_or(InvalidValue::Begin)
}

/// Parses an offset or the name of a time zone.
///
/// # Errors
/// This host does not know the zone.
pub fn parse_zone(text: &str) -> Result<TimeZone, InvalidValue> {
    DateTimeParser::new().parse_time_zone(text).map_err(|_| InvalidValue::Zone)
}

/// Parses an interval of samples.
///
/// # Errors
/// It is no time, or zero.
pub fn parse_interval(text: &str) -> Result<Span, InvalidValue> {
    let interval: Span = text.parse()?;
    if interval == Span::ZERO { Err(InvalidValue::Interval) } else { Ok(interval) }
}

/// The readings of accepted inputs.
///
/// # Errors
/// There are none: the reasons of the first refused inputs.
pub fn list_readings(outcomes: &[Outcome]) -> Result<Vec<&Reading>, MeasureError> {
    let readings: Vec<&Reading> = outcomes.iter().filter_map(Outcome::reading).collect();
    if !readings.is_empty() {
        return Ok(readings);
    }
    let reasons = outcomes.iter().filter_map(|outcome| match outcome {
        Outcome::Refused { name, refusal } => Some(format!("{name}: {refusal}")),
        Outcome::Read(_) => None,
    });
    let reasons: Vec<String> = reasons.take(MAX_REASONS).collect();
    Err(MeasureError::File(InvalidRequest::NoUsableInput(reasons.join("; ")).to_string()))
}

/// An input that cannot be opened; a usage error if it is missing.
fn unreadable(path: &Path, error: &io::Error) -> MeasureError {
    match error.kind() {
        io::ErrorKind::NotFound => InvalidRequest::MissingInput { path: path.display().to_string() }.into(),
        _ => MeasureError::File(say!("cannot read {}: {error}", path.display())),
    }
}

/// The files of a path, at least one.
fn list_files(path: &Path) -> Result<Vec<PathBuf>, MeasureError> {
    let mut files = Vec::new();
    collect(path, 0, &mut files)?;
    if files.is_empty() {
        return Err(InvalidRequest::EmptyDirectory(path.to_owned()).into());
    }
    Ok(files)
}

/// Keeps the figures of a part; fails if there are none.
fn keep_part(outcomes: &mut [Outcome], part: &str) -> Result<(), MeasureError> {
    let names = parts(outcomes.iter().filter_map(Outcome::reading));
    if !names.iter().any(|name| name.eq_ignore_ascii_case(part)) {
        let near = nearest(part, names.iter().copied());
        let choose = match (near.as_slice(), names.len()) {
            (_, 0) => return Err(InvalidRequest::NoParts { part: part.to_owned() }.into()),
            ([], _) => say!("parts are {}", names.into_iter().take(MAX_NAMES).collect::<Vec<_>>().join(", ")),
            (near, _) => say!("did you mean {}?", one_of(near)),
        };
        return Err(InvalidRequest::UnknownPart { part: part.to_owned(), choose }.into());
    }
    for outcome in outcomes {
        if let Outcome::Read(reading) = outcome {
            keep_parts(reading, |name| name.eq_ignore_ascii_case(part));
        }
    }
    Ok(())
}

/// Joins counters of the same scope from several inputs.
pub fn join_outcomes(outcomes: Vec<Outcome>) -> Vec<Outcome> {
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

/// All files of a directory and its subdirectories by name, or a file. A subdirectory that cannot be listed is returned as a
/// file, whose opening fails.
fn collect(path: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), MeasureError> {
    let paths = match list_entries(path) {
        Ok(Some(paths)) => paths,
        Err(error) if depth == 0 => return Err(unreadable(path, &error)),
        Ok(None) | Err(_) => {
            files.push(path.to_path_buf());
            return Ok(());
        }
    };
    if depth > MAX_DEPTH {
        return Err(InvalidRequest::DeepDirectory(path.to_owned()).into());
    }
    for path in paths {
        collect(&path, depth + 1, files)?;
        if files.len() > MAX_FILES {
            return Err(InvalidRequest::ManyFiles { max: MAX_FILES }.into());
        }
    }
    Ok(())
}
