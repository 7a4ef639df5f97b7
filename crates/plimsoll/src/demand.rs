//! `plimsoll demand`: what reports of databases and hosts ask of storage.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::Context;
use plimsoll_ingest::{Demand, Ingest, Outcome};
use plimsoll_report::Telling;

use crate::args::DemandArgs;
use crate::output::{Outputs, put};
use crate::trouble::Trouble;

/// The most files that are read of folders.
const MOST_FILES: usize = 100_000;

/// Folders below folders: more are a loop, or no place for reports.
const DEEPEST: usize = 32;

/// Reads the inputs and shows their demand.
pub fn run(args: &DemandArgs) -> Result<(), Trouble> {
    let outputs = Outputs::plain(args.shown.no_color);
    let mut outcomes = Vec::new();
    for path in &args.files {
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
    let readings: Vec<_> = outcomes.iter().filter_map(Outcome::reading).collect();
    let demand = Demand::of(&readings);
    if let Some(path) = &args.shown.json {
        put(path, &plimsoll_report::demand_json(&outcomes, &demand))?;
    } else {
        let telling = if args.origins { Telling::Origins } else { Telling::Figures };
        outputs.print(&plimsoll_report::demand(&outcomes, &demand, telling, outputs.style()))?;
    }
    if readings.is_empty() {
        return Err(Trouble::Failed(anyhow::anyhow!("no input could be used: give an AWR or Statspack report")));
    }
    Ok(())
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
            // Of a thousand reports these would fill the memory, and the demand has no use for them.
            reading.waits = Vec::new();
        }
    }
    Ok(outcomes)
}
