//! Files of imported prices in the user's directory.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use plimsoll_catalogue::ImportedPrices;
use plimsoll_device::write_whole;
use plimsoll_language::{label, say};

use crate::cli_error::CliError;
use crate::store::config_folder;

/// Environment variable with the directory of imported prices.
pub const PRICES_VARIABLE: &str = "PLIMSOLL_PRICES";
/// Maximum size of a file of imported prices.
const MAX_BYTES: u64 = 256 << 20;

/// Writes prices, with the rates of an earlier import that they lack or that are of a later date.
pub fn merge(folder: &Path, mut prices: ImportedPrices) -> Result<(), CliError> {
    let path = folder.join(prices.file_name());
    if path.exists() {
        prices.merge(read(&path)?);
    }
    let failed = |error: std::io::Error| CliError::usage(format!("{}: {error}", path.display()));
    fs::create_dir_all(folder).map_err(failed)?;
    Ok(write_whole(&path, prices.to_json().as_bytes()).map_err(anyhow::Error::new)?)
}

/// Imported prices, by name of their files.
pub fn read_all() -> Result<Vec<ImportedPrices>, CliError> {
    let Some(folder) = find_folder().filter(|folder| folder.is_dir()) else { return Ok(Vec::new()) };
    let entries = fs::read_dir(&folder).map_err(|error| CliError::usage(format!("{}: {error}", folder.display())))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| {
        let is_hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        !is_hidden && path.extension().is_some_and(|end| end == "json")
    });
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Result<ImportedPrices, CliError> {
    let refused = |why: &dyn std::fmt::Display| CliError::usage(format!("{}: {why}", path.display()));
    let mut text = String::new();
    let file = File::open(path).map_err(|error| refused(&error))?;
    let length = file.take(MAX_BYTES).read_to_string(&mut text).map_err(|error| refused(&error))?;
    if length as u64 == MAX_BYTES {
        return Err(refused(&label!("too large for imported prices: remove it and import the list again")));
    }
    ImportedPrices::from_json(&text).map_err(|error| refused(&say!("{error}; or remove the file")))
}

/// `PLIMSOLL_PRICES`, or `plimsoll/prices` in the user's configuration directory (XDG base directories).
pub fn find_folder() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os(PRICES_VARIABLE) {
        return Some(folder.into());
    }
    Some(config_folder()?.join("prices"))
}
