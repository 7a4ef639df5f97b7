//! Files of imported prices in a directory.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use plimsoll_catalogue::ImportedPrices;
use plimsoll_device::write_atomically;
use plimsoll_language::say;

use crate::error::{MeasureError, describe};
use crate::invalid::InvalidRequest;

/// Maximum size of a file of imported prices.
const MAX_BYTES: u64 = 256 << 20;

/// Writes prices, with the rates of an earlier import that they lack or that are of a later date.
///
/// # Errors
/// The earlier file is invalid, or the new one cannot be written.
pub fn merge_prices(folder: &Path, mut prices: ImportedPrices) -> Result<(), MeasureError> {
    let path = folder.join(prices.file_name());
    if path.exists() {
        prices.merge(read(&path)?);
    }
    let failed = |error: std::io::Error| MeasureError::usage(format!("{}: {error}", path.display()));
    fs::create_dir_all(folder).map_err(failed)?;
    write_atomically(&path, prices.to_json().as_bytes()).map_err(|fault| MeasureError::File(describe(&fault)))
}

/// Imported prices, by name of their files.
pub(crate) fn read_all(folder: Option<&Path>) -> Result<Vec<ImportedPrices>, MeasureError> {
    let Some(folder) = folder.filter(|folder| folder.is_dir()) else { return Ok(Vec::new()) };
    let mut paths = list_folder(folder)?;
    paths.retain(|path| {
        let is_hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        !is_hidden && path.extension().is_some_and(|end| end == "json")
    });
    paths.iter().map(|path| read(path)).collect()
}

/// Paths of the entries of a directory, by name.
pub(crate) fn list_folder(folder: &Path) -> Result<Vec<PathBuf>, MeasureError> {
    let entries =
        fs::read_dir(folder).map_err(|error| MeasureError::usage(format!("{}: {error}", folder.display())))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

fn read(path: &Path) -> Result<ImportedPrices, MeasureError> {
    let refused = |why: &dyn std::fmt::Display| MeasureError::usage(format!("{}: {why}", path.display()));
    let mut text = String::new();
    let file = File::open(path).map_err(|error| refused(&error))?;
    let length = file.take(MAX_BYTES).read_to_string(&mut text).map_err(|error| refused(&error))?;
    if length as u64 == MAX_BYTES {
        return Err(refused(&InvalidRequest::LargePriceFile));
    }
    ImportedPrices::from_json(&text).map_err(|error| refused(&say!("{error}; or remove the file")))
}
