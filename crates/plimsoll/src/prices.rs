//! `plimsoll prices`: lists regions and dates of prices, and imports price lists of clouds into the user's directory.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use plimsoll_catalogue::{Date, PriceListFile, PriceListImport, read_price_list};
use plimsoll_language::say;
use plimsoll_measure::{date_of, merge_prices};
use plimsoll_report::{pages, prices_json};

use crate::args::{PricesArgs, PricesCommand};
use crate::cli_error::CliError;
use crate::offers::{PRICES_VARIABLE, current_date, prices_folder, read_offers};
use crate::output::Forms;

/// Bytes read at once from a price list.
const BUFFER_BYTES: usize = 1 << 20;

/// Lists prices, or imports lists.
pub fn run(args: &PricesArgs) -> Result<(), CliError> {
    let forms = Forms::new(&args.forms)?;
    let imports = match &args.command {
        None | Some(PricesCommand::List) => Vec::new(),
        Some(PricesCommand::Import { files, date }) => import(args, files, *date)?,
    };
    let catalogue = read_offers(&args.terms)?.catalogue;
    let folder = prices_folder().map(|folder| folder.display().to_string()).unwrap_or_default();
    forms.write(&pages::prices(&catalogue, &imports, &folder), || prices_json(&catalogue, &imports, &folder))
}

/// Reads all files before any is stored, so that a refused file changes no prices.
fn import(
    args: &PricesArgs,
    files: &[PathBuf],
    date: Option<Date>,
) -> Result<Vec<(String, PriceListImport)>, CliError> {
    let folder = prices_folder().ok_or_else(|| {
        CliError::usage(say!("there is no directory for prices: set {PRICES_VARIABLE}, XDG_CONFIG_HOME or HOME"))
    })?;
    let meters = read_offers(&args.terms)?.catalogue.meters();
    let mut imports = Vec::new();
    for path in files {
        let refused = |why: &dyn std::fmt::Display| CliError::usage(format!("{}: {why}", path.display()));
        let (from, modified): (Box<dyn BufRead>, _) = if path == Path::new("-") {
            (Box::new(std::io::stdin().lock()), current_date())
        } else {
            let file = File::open(path).map_err(|error| refused(&error))?;
            let modified =
                file.metadata().and_then(|metadata| metadata.modified()).map_or_else(|_| current_date(), day_of);
            (Box::new(BufReader::with_capacity(BUFFER_BYTES, file)), modified)
        };
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let file = PriceListFile { name: name.clone(), date: date.unwrap_or(modified), imported: current_date() };
        imports.push((name, read_price_list(from, &meters, &file).map_err(|why| refused(&why))?));
    }
    for prices in imports.iter().flat_map(|(_, import)| &import.prices) {
        merge_prices(&folder, prices.clone())?;
    }
    Ok(imports)
}

fn day_of(time: SystemTime) -> Date {
    let time = jiff::Timestamp::try_from(time).map(|time| time.to_zoned(jiff::tz::TimeZone::system()));
    time.map_or_else(|_| current_date(), |time| date_of(&time))
}
