//! `plimsoll prices`: lists what has prices, and imports the price lists of clouds into the user's directory.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use plimsoll_catalogue::{Date, ImportedPrices, PriceListFile, PriceListImport, read_price_list};
use plimsoll_report::{pages, prices_json};

use crate::args::{PricesArgs, PricesCommand};
use crate::cli_error::CliError;
use crate::offers::{Offers, today};
use crate::output::Forms;
use crate::store;

/// Environment variable with the directory of imported prices.
const PRICES_VARIABLE: &str = "PLIMSOLL_PRICES";
/// Maximum size of a file of imported prices.
const MAX_BYTES: u64 = 256 << 20;
/// Bytes read at once from a price list.
const BUFFER_BYTES: usize = 1 << 20;

/// Lists prices, or imports lists.
pub fn run(args: &PricesArgs) -> Result<(), CliError> {
    let forms = Forms::new(&args.forms)?;
    let imports = match &args.command {
        None | Some(PricesCommand::List) => Vec::new(),
        Some(PricesCommand::Import { files, date }) => import(args, files, *date)?,
    };
    let catalogue = Offers::new(&args.terms)?.catalogue;
    let folder = folder().map(|folder| folder.display().to_string()).unwrap_or_default();
    forms.write(&pages::prices(&catalogue, &imports, &folder), || prices_json(&catalogue, &imports, &folder))
}

/// Reads all files before any is stored: a refused one leaves the prices as they were.
fn import(
    args: &PricesArgs,
    files: &[PathBuf],
    date: Option<Date>,
) -> Result<Vec<(String, PriceListImport)>, CliError> {
    let folder = folder().ok_or_else(|| {
        CliError::usage(format!("there is no directory for prices: set {PRICES_VARIABLE}, XDG_CONFIG_HOME or HOME"))
    })?;
    let meters = Offers::new(&args.terms)?.catalogue.meters();
    let mut imports = Vec::new();
    for path in files {
        let refused = |why: &dyn std::fmt::Display| CliError::usage(format!("{}: {why}", path.display()));
        let (from, modified): (Box<dyn BufRead>, _) = if path == Path::new("-") {
            (Box::new(std::io::stdin().lock()), today())
        } else {
            let file = File::open(path).map_err(|error| refused(&error))?;
            let modified = file.metadata().and_then(|metadata| metadata.modified()).map_or_else(|_| today(), day_of);
            (Box::new(BufReader::with_capacity(BUFFER_BYTES, file)), modified)
        };
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let file = PriceListFile { name: name.clone(), date: date.unwrap_or(modified), imported: today() };
        imports.push((name, read_price_list(from, &meters, &file).map_err(|why| refused(&why))?));
    }
    for prices in imports.iter().flat_map(|(_, import)| &import.prices) {
        store(&folder, prices.clone())?;
    }
    Ok(imports)
}

/// Writes prices, with the rates of an earlier import that they lack or that are of a later date.
fn store(folder: &Path, mut prices: ImportedPrices) -> Result<(), CliError> {
    let path = folder.join(prices.file_name());
    if path.exists() {
        prices.merge(read(&path)?);
    }
    let failed = |error: std::io::Error| CliError::usage(format!("{}: {error}", path.display()));
    fs::create_dir_all(folder).map_err(failed)?;
    store::write_whole(&path, prices.to_json().as_bytes()).map_err(CliError::Failed)
}

/// Imported prices, by name of their files.
pub fn imported() -> Result<Vec<ImportedPrices>, CliError> {
    let Some(folder) = folder().filter(|folder| folder.is_dir()) else { return Ok(Vec::new()) };
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
        return Err(refused(&"too large for imported prices: remove it and import the list again"));
    }
    ImportedPrices::from_json(&text).map_err(|error| refused(&format!("{error}; or remove the file")))
}

/// `PLIMSOLL_PRICES`, or `plimsoll/prices` in the user's configuration directory (XDG base directories).
fn folder() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os(PRICES_VARIABLE) {
        return Some(folder.into());
    }
    let config = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".config"));
    Some(config.or_else(home)?.join("plimsoll/prices"))
}

fn day_of(time: SystemTime) -> Date {
    let day = jiff::Timestamp::try_from(time).map(|time| time.to_zoned(jiff::tz::TimeZone::system()).date());
    day.map_or_else(
        |_| today(),
        |day| Date::day(day.year().unsigned_abs(), day.month().unsigned_abs(), day.day().unsigned_abs()),
    )
}
